// What Compare tells beyond its templates, as in words.js.
TOLD.compare = {
  subtitle: (runs, managers) => `${plural(runs[0].requests.length, "request")} · ${differingSettings(runs, managers) || "the same settings"}`,
  sameClock: count => `same clock in ${count > 2 ? `all ${count}` : "both"} panes`,
  short: step => `it. ${formatNumber(step + 1)}`,
  early: (who, count) => `${who} ${count > 1 ? "wait" : "waits"} for the first iteration.`,
  waitsWhy: reason => (/^(needs|waits|would|is) /.test(reason) ? reason : `waits: ${reason}`),
  label: (names, where) => `Lanes of ${names.join(" and ")} on one axis, ${where}`,
};

// "static against continuous batching": what the settings of the runs do not have in common, two at most.
function differingSettings(runs, managers) {
  const all = runs.map(run => run.header.settings ?? {});
  const names = Object.keys(all[0]).filter(name => all.some(other => JSON.stringify(other[name]) !== JSON.stringify(all[0][name])));
  const tell = {
    policy: value => `${value} batching`, kv_manager: value => managers[value] ?? value, block_size: value => `blocks of ${value}`,
    num_blocks: value => (value === null ? "unlimited memory" : plural(value, "block")), max_num_seqs: value => (value === null ? "places without limit" : plural(value, "place")),
    max_num_batched_tokens: value => (value === null ? "no token budget" : `budget of ${formatNumber(value)} tokens`),
  };
  const known = [...names.filter(name => tell[name]), ...names.filter(name => !tell[name])].slice(0, 2);
  const told = name => tell[name] ?? (value => `${name} ${value ?? "none"}`);
  return known.map(name => [...new Set(all.map(settings => told(name)(settings[name])))].join(" against ")).join(" · ");
}
