// Places in a run and their names in a link. `12` is step 12 at its scheduled cut, `12.3` the state after its third event,
// counted over its schedule events and then its update events. A place also says since when things count as changed.
// Step -1 is the start, where nothing has arrived; step numSteps is the end of the run.
function stepPlace(run, step) {
  const k = clamp(step, -1, run.numSteps);
  const event = k < 0 ? 0 : k < run.numSteps ? run.steps.scheduled[k] : run.numEvents;
  // at the end of a run that goes on, what its last step did counts as changed
  const since = run.steps.scheduled[k - 1 - (run.isRunning && k === run.numSteps)] ?? 0;
  return {event, since, step: k, isStep: true};
}

function eventPlace(run, event) {
  const e = clamp(event, 0, run.numEvents);
  if (e === 0) return stepPlace(run, -1);
  if (e === run.numEvents) return stepPlace(run, run.numSteps);
  return {event: e, since: e - 1, step: stepOfEvent(run, e).step, isStep: false};
}

// What is shown at a time in seconds: the step that contains it, the end of the last step in a gap, the end of the run.
function timePlace(run, time) {
  const k = upperBound(run.startTime, time) - 1;
  if (k < 0) return stepPlace(run, run.numSteps ? -1 : 0);
  if (time < run.endTime[k]) return stepPlace(run, k);
  if (k + 1 >= run.numSteps) return stepPlace(run, run.numSteps);
  return {event: run.steps.updated[k], since: run.steps.scheduled[k], step: k, isStep: false, isGap: true};
}

// The time at which a place is reached: schedule events happen when their step begins, update events when it ends.
function placeTime(run, place) {
  if (!run.numSteps || place.event === 0) return 0;
  if (place.isStep && place.step < run.numSteps) return run.startTime[Math.max(0, place.step)];
  return eventTime(run, place.event);
}

function eventTime(run, event) {
  const {step, isUpdate, number} = stepOfEvent(run, event);
  const k = clamp(step, 0, run.numSteps - 1);
  return (number > 0 && !isUpdate ? run.startTime : run.endTime)[k] ?? 0;
}

// The step whose schedule or update range holds the event, and the number of the event in it.
function stepOfEvent(run, event) {
  const {begin, scheduled, update_begin: updateBegin, updated} = run.steps;
  const k = run.firstStepShowing(event);
  if (k < run.numSteps && event > begin[k]) return {step: k, number: event - begin[k], isUpdate: false};
  const u = upperBound(updated, event - 1);
  if (u < run.numSteps && event > updateBegin[u])
    return {step: u, number: scheduled[u] - begin[u] + event - updateBegin[u], isUpdate: true};
  return {step: k - 1, number: 0, isUpdate: true};
}

function placeName(run, place) {
  if (place.isStep && place.step >= 0 && place.step < run.numSteps) return String(place.step);
  if (place.event === 0) return "start";
  const {step, number} = stepOfEvent(run, place.event);
  return number > 0 ? `${step}.${number}` : "end";
}

// {place, problem}: the nearest place that exists, and why it is not the one asked for (null when it is).
function readPlace(run, text) {
  if (text === "start") return {place: stepPlace(run, -1), problem: null};
  if (text === "end") return {place: stepPlace(run, run.numSteps), problem: null};
  const match = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text);
  if (!match) return {place: stepPlace(run, 0), problem: "frame_text"};
  const step = Number(match[1]);
  if (step >= run.numSteps) return {place: stepPlace(run, run.numSteps - 1), problem: "frame_step"};
  if (match[2] === undefined) return {place: stepPlace(run, step), problem: null};
  const {begin, scheduled, update_begin: updateBegin, updated} = run.steps;
  const numScheduled = scheduled[step] - begin[step];
  const numEvents = numScheduled + updated[step] - updateBegin[step];
  const number = Number(match[2]);
  if (number < 1 || number > numEvents) return {place: stepPlace(run, step), problem: "frame_event"};
  const event = number <= numScheduled ? begin[step] + number : updateBegin[step] + number - numScheduled;
  return {place: eventPlace(run, event), problem: null};
}

// The place of an event: its step where it is a scheduled cut.
function placeOfEvent(run, event) {
  const step = run.firstStepShowing(event);
  return step < run.numSteps && run.steps.scheduled[step] === event ? stepPlace(run, step) : eventPlace(run, event);
}

function nextStep(run, place, count) {
  if (place.isStep) return stepPlace(run, place.step + count);
  const after = upperBound(run.steps.scheduled, place.event);
  const next = count > 0 ? after + count - 1 : run.firstStepShowing(place.event) + count;
  return stepPlace(run, next);
}
