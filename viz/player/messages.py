"""The templates of the sentences, one table a language; the player only substitutes.

`**...**` is the bold first clause. Fields name an operand by its number: {b0} a block, {s1} a sequence, {r0} a request,
{n2} a number, {n2|block|blocks} a number with the word for one or for any other count, {S3} a list of sequences,
{w0} the words of a node of the radix tree. A sentence has six operands, 0 to 5.
The order of the table is the order of rarity: of all that happens in a frame, the first one in the table speaks.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """`kind` says which happening it is, for its tag and its glyph."""

    kind: str
    text: str


def _all(kind: str, **texts: str) -> dict[str, Message]:
    return {name: Message(kind, text) for name, text in texts.items()}


def _ends(ends: dict[str, str], **texts: str) -> dict[str, str]:
    """Each text with each of the ends, under the name of both."""
    return {name + suffix: text + end for name, text in texts.items() for suffix, end in ends.items()}


_FOUND = {
    "found": "**{r0} finds {n1|block|blocks} of {s2}** because both begin with the same {n3|token|tokens}",
    "found_left": "**{r0} finds {n1|block|blocks} that {s2} left** because both begin with the same {n3|token|tokens}",
    "found_again": "**{r0} finds {n1|block|blocks}** because its first {n3|token is|tokens are} still in memory",
}
"""Blocks that are known by their content, and whose they are."""
_NEEDS = {"": "; it needs {n4} more and {n5|is|are} free.", "_more": "; it gets {n4} more."}
_NEEDS_ROOM = {
    "_evicts": "; for {n4} more, what {s5} left, unused longest, is forgotten.",
    "_evicts_several": "; for {n4} more, what was unused longest is forgotten.",
}
_FORGETS = {
    "_evicts": "; what {s3} left in {n4} of them, unused longest, is forgotten.",
    "_evicts_several": "; what was left in {n4} of them, unused longest, is forgotten.",
}
_FORGETS_ONE = {
    "_evicts": "; what {s2} left in it, unused longest, is forgotten.",
    "_evicts_several": "; what was left in it, unused longest, is forgotten.",
}
_STANDS = {"": "; no block changes hands.", "_then": "."}


ENGLISH: dict[str, Message] = {
    **_all(
        "reject",
        stopped="**The run stops here** because it reached its limit of {n0|step|steps}; raise max_steps.",
        empty_prompt="**{r0} is refused** because its prompt is empty; give it at least one token.",
        zero_output="**{r0} is refused** because it asks for no output; ask for at least one token.",
        never_fits_blocks="**{r0} is refused** because it needs {n1|block|blocks} of {n2}; raise num_blocks.",
        never_fits_blocks_of_capacity="**{r0} is refused** because it needs {n1|block|blocks} of {n2}; "
        "raise kv_capacity_tokens.",
        never_fits_slots="**{r0} is refused** because it needs {n1|slot|slots} of {n2}; raise num_blocks.",
        never_fits_slots_of_capacity="**{r0} is refused** because it needs {n1|slot|slots} of {n2}; "
        "raise kv_capacity_tokens.",
        exceeds_token_budget="**{r0} is refused** because its {n1|token|tokens} exceed the {n2} of a step; "
        "raise max_num_batched_tokens.",
        prompt_too_long="**{r0} is refused** because it needs a context of {n1|token|tokens}, not {n2}; "
        "raise max_model_len.",
        no_room_for_token="**{r0} is refused** because an answer needs a context of {n1|token|tokens}, not {n2}; "
        "raise max_model_len.",
        too_many_samples="**{r0} is refused** because it needs {n1|seat|seats} of {n2}; raise max_num_seqs.",
        rejected="**{r0} is refused** because it can never run.",
    ),
    **_all(
        "preempt",
        preempted_last="**{r0} is preempted** because {r1} needs a block, none is free, and {r0} was admitted last.",
        preempted_shortest="**{r0} is preempted** because {r1} needs a block, none is free, and {r0} has written least.",
        preempted_itself="**{r0} is preempted** because it needs a block and none is free.",
        preempted_short="**{r0} is preempted** because {r1} needs more than the {n2|block that is|blocks that are} free.",
        preempted="**{r0} is preempted** because memory is full.",
        oversize="**{r0} runs alone** because its {n1|token|tokens} exceed the {n2} of a step.",
    ),
    **_all(
        "evict",
        evicted="**{w0} is evicted** because {n1|more slot is|more slots are} needed "
        "than the {n2|free one|free ones}, and it was unused for longest.",
        evicted_by_policy="**{w0} is evicted** because {n1|more slot is|more slots are} needed "
        "than the {n2|free one|free ones}, and the policy puts it first.",
        **_ends(_NEEDS_ROOM, **_FOUND),
        **_ends(
            _FORGETS,
            admitted="**{r0} is admitted** because it needs {n1|block|blocks} and {n2|is|are} free",
            resumed="**{r0} is admitted again** because it needs {n1|block|blocks} and {n2|is|are} free",
            allocated_many="**{s0} gets {n1|block|blocks}**, the last one is {b2}",
        ),
        **_ends(
            _FORGETS_ONE,
            allocated="**{s0} gets block {b1}** because its last block is full",
            allocated_ahead="**{s0} gets block {b1}** because its next tokens do not fit into its last block",
        ),
    ),
    **_all(
        "copy",
        copied="**Block {b0} is copied to {b1}** because {s2} is about to write where {S3} still read.",
        copied_from_one="**Block {b0} is copied to {b1}** because {s2} is about to write where {S3} still reads.",
        copied_from_none="**Block {b0} is copied to {b1}**, which {s2} writes from now on.",
    ),
    **_all(
        "no_copy",
        written_in_place="**{s0} writes into block {b1} in place** because nobody else reads it any more.",
    ),
    **_all("split", split="**A node is split after {w0}** because another prompt goes on differently from there."),
    **_all(
        "hit",
        hit="**{n0} of {n1|token|tokens} are reused** because {r2} left them in the tree.",
        hit_words="**{n0} of {n1|word|words} are reused** because {r2} left them in the tree.",
        hit_own="**{n0} of {n1|token|tokens} are reused** because they are still in the tree.",
        **_ends(_NEEDS, **_FOUND),
    ),
    **_all(
        "share",
        shared="**{s0} reads {n1|block|blocks} of {s2}** because both continue the same prompt.",
    ),
    **_all(
        "admit",
        admitted_to_seat="**{r0} is admitted** because {s1} left its seat.",
        admitted_after_batch="**{r0} is admitted** because the batch before it has ended.",
        admitted_to_batch="**{r0} is admitted** because a new batch can start.",
        admitted="**{r0} is admitted** because it needs {n1|block|blocks} and {n2|is|are} free.",
        admitted_freely="**{r0} is admitted** and gets {n1|block|blocks}: there is a seat, and memory has no limit.",
        admitted_to_strip="**{r0} is admitted** because {n1|slot|slots} in one piece are free.",
        admitted_at_once="**{r0} is admitted** with {n1|token|tokens} to compute.",
        resumed="**{r0} is admitted again** because it needs {n1|block|blocks} and {n2|is|are} free.",
        resumed_at_once="**{r0} is admitted again** with {n1|token|tokens} to compute.",
    ),
    **_all(
        "wait",
        no_block="**{r0} waits** because it needs {n1|block|blocks} and {n2|is|are} free.",
        no_slot="**{r0} waits** because it needs {n1|slot|slots} in one piece and the largest hole has {n2}.",
        watermark="**{r0} waits** because its {n1|block|blocks} of {n2} free would leave less than the watermark.",
        no_seat="**{r0} waits** because it needs {n1|seat|seats} and {n2|is|are} free.",
        no_token="**{r0} waits** because it computes {n1|token|tokens} and {n2|is|are} left in this step.",
        behind_head="**{r0} waits although it would fit** because {r1} is before it, first come, first served.",
        batch_running="**{r0} waits** because the running batch has to end first.",
        batch_not_full="**{r0} waits** because a batch starts with {n1|sequence|sequences} and {n2|waits|wait}.",
        skipped="**{r0} waits** because it cannot run yet.",
    ),
    **_all(
        "finish",
        cut_short="**{s0} ends here** after {n1|token|tokens}, because it fills all memory; raise num_blocks.",
        aborted="**{s0} is stopped by its user** after {n1|token|tokens}.",
        ended_by_token="**{s0} ends with its stop token** after {n1|token|tokens}; "
        "{n2|block returns|blocks return} to the pool.",
        ended_by_token_only="**{s0} ends with its stop token** after {n1|token|tokens}.",
        finished="**{r0} is finished** after {n1|token|tokens}; {n2|block returns|blocks return} to the pool.",
        finished_strip="**{r0} is finished** after {n1|token|tokens}; {n2|slot returns|slots return}.",
        finished_in_tree="**{r0} is finished** after {n1|token|tokens}; what it computed stays in the tree.",
        finished_held="**{r0} is finished** after {n1|token|tokens}; its seat stays taken until the batch ends.",
        finished_only="**{r0} is finished** after {n1|token|tokens}.",
    ),
    **_all(
        "prefill",
        **_ends(
            {
                "_of_budget": ", {n2|is|are} left,** because the budget of {n3} is used up.",
                "_of_chunk": ", {n2|is|are} left,** because a step reads {n3} of a prompt at most.",
            },
            part="**{s0} reads {n1|token|tokens} of its prompt",
            part_again="**{s0} computes {n1|token|tokens} again",
        ),
    ),
    **_all("store", inserted="**{r0} leaves {n1|token|tokens} in the tree:** {w2}."),
    **_all("lock", locked="**{r0} locks {n1|token|tokens}** down to {w2}, so that nobody evicts them."),
    **_all(
        "allocate",
        allocated_of_preempted="**{s0} gets block {b1} of {s2}** because its last block is full and {s2} was preempted.",
        allocated="**{s0} gets block {b1}** because its last block is full.",
        allocated_ahead="**{s0} gets block {b1}** because its next tokens do not fit into its last block.",
        allocated_many="**{s0} gets {n1|block|blocks}**, the last one is {b2}.",
        reserved="**{s0} reserves {n1|slot|slots}** from slot {n2} on.",
    ),
    **_all(
        "release",
        released="**{s0} ends**; {n1|block returns|blocks return} to the pool.",
        released_strip="**{s0} gives back {n1|slot|slots}**.",
    ),
    **_all(
        "swap",
        moved_out="**{n1|block|blocks} of {r0} move to the host** because the device needs the room.",
        moved_in="**{n1|block|blocks} of {r0} come back from the host** because there is room again.",
    ),
    **_all("arrive", arrived="**{r0} arrives** with a prompt of {n1|token|tokens}."),
    **_all(
        "prefill",
        prefill_in_strips="**{n0|token is|tokens are} computed** for {n1|sequence|sequences}, each in its own strip.",
        **_ends(_STANDS, prefill="**{n0|token is|tokens are} computed** for {n1|sequence|sequences}"),
    ),
    **_all(
        "decode",
        decode_in_strips="**Each sequence writes one token** into its own strip.",
        idle_in_strips="**Nothing is computed** in this step.",
        decode_some_in_strips="**{n0|sequence writes|sequences write} one token each**, "
        "{n1|other waits for its turn|others wait for their turn}.",
        **_ends(
            _STANDS,
            decode="**Each sequence writes one token**",
            decode_some="**{n0|sequence writes|sequences write} one token each**, "
            "{n1|other waits for its turn|others wait for their turn}",
            idle="**Nothing is computed** in this step",
        ),
    ),
}
MESSAGES: dict[str, dict[str, Message]] = {"en": ENGLISH}

TAGS: dict[str, dict[str, str]] = {
    "en": {
        "reject": "Refused",
        "preempt": "Preemption",
        "evict": "Eviction",
        "copy": "Copy on write",
        "no_copy": "Write in place",
        "split": "Split",
        "hit": "Hit",
        "share": "Sharing",
        "admit": "Admission",
        "wait": "Waiting",
        "finish": "Finished",
        "store": "Stored",
        "lock": "Lock",
        "allocate": "New block",
        "release": "Release",
        "swap": "Swap",
        "arrive": "Arrival",
        "prefill": "Prefill",
        "decode": "Decode",
    }
}

CODES: dict[str, int] = {name: code for code, name in enumerate(ENGLISH)}
"""The number of each message: its place in the table, the same in every language."""

DIFFERENCES: dict[str, dict[str, str]] = {
    "en": {
        # what one run does: {run} is its name, {requests} a list of ids, {before} the request whose place it is
        "admitted": "{run} admits {requests}",
        "admitted_in_place": "{run} admits {requests} in {before}'s place",
        "preempted": "{run} preempts {requests}",
        "finished": "{run} finishes {requests}",
        "scheduled": "{run} computes {tokens} of {requests}",
        "tokens": "{count:,} tokens",
        "token": "1 token",
        "no_token": "none",
        # what the other does meanwhile, and why
        "computes": "{run} computes {tokens}",
        "no_block": "{run} has no room in memory",
        "no_seat": "{run} has no free seat",
        "no_token_left": "{run} has used up the tokens of this step",
        "behind_head": "{run} keeps to the order of the queue",
        "batch_running": "{run} waits for the end of its batch",
        "batch_not_full": "{run} waits for a full batch",
        "not_arrived": "in {run} the arrival is still to come",
        "rejected": "{run} has refused the request",
        "has_ended": "{run} has ended",
        "does_not": "{run} does not",
        "both": "{first}; {second}",
        "list_last": "{items} and {last}",
        "list_more": "{count:,} more",
    }
}
"""Sentences about the first difference of two runs, one table a language."""
