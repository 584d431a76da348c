// The words of a trace: tracks with their fields, kinds of happenings, reasons of decisions, columns of tables. They come with
// the labels from viz/player/vocabulary.py, before the first run is read.
const VOCABULARY = {}, STATUS = {};

function learn(vocabulary) {
  Object.assign(VOCABULARY, vocabulary);
  vocabulary.statuses.forEach((name, number) => { STATUS[name] = number; });
}

function isInBatch(status) { return status === STATUS.PREFILL || status === STATUS.DECODE; }

function isQueued(status) { return status === STATUS.WAITING || status === STATUS.PREEMPTED || status === STATUS.SWAPPED; }
