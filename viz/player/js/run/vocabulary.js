// The words of a trace: tracks with their fields, kinds of happenings, reasons of decisions, columns of tables.
// The value is plain JSON and equal to engine/trace/track.py and engine/request.py, which a test compares.
const VOCABULARY = {
  "tracks": [
    {"name": "requests", "fields": ["status", "rank", "num_preemptions"], "defaults": [0, 0, 0], "ramps": []},
    {"name": "sequences", "fields": ["status", "seat", "num_tokens", "num_computed_tokens"], "defaults": [0, -1, 0, 0],
     "ramps": ["num_tokens", "num_computed_tokens"]},
    {"name": "tables", "fields": ["block"], "defaults": [-1], "ramps": []},
    {"name": "blocks", "fields": ["state", "ref_count", "owner", "fill"], "defaults": [0, 0, -1, 0], "ramps": ["fill"]},
    {"name": "strips", "fields": ["start", "size", "used"], "defaults": [-1, 0, 0], "ramps": ["used"]}
  ],
  "statuses": ["PENDING", "WAITING", "PREFILL", "DECODE", "PREEMPTED", "SWAPPED", "FINISHED", "REJECTED"],
  "happenings": ["arrived", "rejected", "admitted", "allocated", "shared", "copied", "written_in_place", "released",
    "preempted", "resumed", "finished", "moved_out", "moved_in", "advanced"],
  "happening_columns": ["event", "kind", "request", "sequence", "block", "target", "amount"],
  "actions": ["admit", "skip", "preempt", "reject", "oversize", "stop"],
  "reasons": ["fits", "no_block", "no_seat", "no_token", "behind_head", "batch_running", "batch_not_full", "alone",
    "empty_prompt", "zero_output", "never_fits", "exceeds_token_budget", "prompt_too_long", "no_room_for_token",
    "too_many_samples", "step_limit"],
  "resources": ["none", "blocks", "slots", "seats", "tokens", "context", "steps"],
  "decision_columns": ["event", "action", "reason", "request", "resource", "needed", "available", "other"],
  "step_columns": ["begin", "scheduled", "update_begin", "updated", "num_scheduled_tokens", "num_scheduled_sequences",
    "num_running", "num_waiting", "num_used", "num_emitted"]
};

const STATUS = Object.fromEntries(VOCABULARY.statuses.map((name, number) => [name, number]));

function isInBatch(status) { return status === STATUS.PREFILL || status === STATUS.DECODE; }

function isQueued(status) { return status === STATUS.WAITING || status === STATUS.PREEMPTED || status === STATUS.SWAPPED; }
