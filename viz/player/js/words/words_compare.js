// The words of Compare, beside those of words.js. {r} is a request, {X} and {Y} are names of runs; **...** is bold.
WORDS.en.compare = {
  all: "all runs",
  pills: {steps: "clock: iteration", time: "clock: time", memory: "memory"},
  pillTitles: {steps: "One clock: the same iteration in all runs (t)", time: "One clock: the same time in all runs (t)",
    memory: "Show or hide the memory of each run"},
  subtitle: runs => `${plural(runs[0].requests.length, "request")} · ${differingSettings(runs) || "the same settings"}`,
  atTime: time => `At ${time}`,
  sameClock: count => `same clock in ${count > 2 ? `all ${count}` : "both"} panes`,
  places: count => `${formatNumber(count)} places`,
  waiting: "waiting",
  doneAt: text => `done at ${text}`,
  at: text => `at ${text}`,
  short: step => `it. ${formatNumber(step + 1)}`,
  ago: long => long + " ago",
  flag: (where, text) => `first difference, ${where}: ${text}`,
  difference: "First difference",
  numbers: {
    tokens: "Tokens so far", idle: "Idle places so far", memory: "Memory holding tokens", waiting: "Waiting now",
    willFinish: name => `${name} will finish at`, finished: name => `${name} finished at`,
  },
  noNumber: "–",
  nobody: "nobody",
  ofAll: (used, all) => `${Math.round((100 * used) / Math.max(1, all))} %`,
  same: "**The runs are the same** from beginning to end.",
  notYet: "**No difference so far.** Press d for the first one.",
  waitsNow: "waits", early: (who, count) => `${who} ${count > 1 ? "wait" : "waits"} for the first iteration.`,
  waits: "**In {Y}, {r} {why}**; {X} lets it in now.",
  waitsSince: "**In {Y}, {r} {why}**; {X} let it in {ago}.",
  isDone: "**{r} is done in {X}**, {ago}; {Y} still works on it.",
  ahead: "**{X} is ahead of {Y}** by {n} so far.",
  alike: "**The runs stand alike here**, {n} each.",
  allDone: "**{X} took {a}**, {Y} {b}.",
  waitsWhy: reason => (/^(needs|waits|would|is) /.test(reason) ? reason : `waits: ${reason}`),
  label: (names, where) => `Lanes of ${names.join(" and ")} on one axis, ${where}`,
  settings: {
    policy: value => `${value} batching`, kv_manager: value => MANAGER_NAMES[value] ?? value, block_size: value => `blocks of ${value}`,
    num_blocks: value => (value === null ? "unlimited memory" : plural(value, "block")), max_num_seqs: value => (value === null ? "places without limit" : plural(value, "place")),
    max_num_batched_tokens: value => (value === null ? "no token budget" : `budget of ${formatNumber(value)} tokens`),
  },
};

// "static against continuous batching": what the settings of the runs do not have in common, three at most.
function differingSettings(runs) {
  const all = runs.map(run => run.header.settings ?? {});
  const names = Object.keys(all[0]).filter(name => all.some(other => JSON.stringify(other[name]) !== JSON.stringify(all[0][name])));
  const tell = WORDS.en.compare.settings;
  const known = names.filter(name => tell[name]).slice(0, 2);
  return known.map(name => [...new Set(all.map(settings => tell[name](settings[name])))].join(" against ")).join(" · ");
}
