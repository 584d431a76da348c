// What Compare tells beyond its templates.
function compareSubtitle(runs, {managers, compare, requests}) {
  const differing = differingSettings(runs, managers, compare);
  const names = runs.map((run, i) => run.name || String(i + 1)).join(compare.against);
  return `${compare.compared(names, requests(runs[0].requests.length))} · ${differing ? compare.differ(differing) : compare.sameSettings}`;
}

function whyWaiting(reason, words) { return /^(needs|waits|would|is) /.test(reason) ? reason : words.waitsWhy(reason); }

// "static against continuous batching": what the settings of the runs do not have in common, two at most. When a batch of
// static batching starts is nothing to tell where another run has no such batches.
function differingSettings(runs, managers, words) {
  const all = runs.map(run => run.header.settings ?? {});
  const names = Object.keys({...words.settings, ...all[0]}).filter(name => all.some(other => String(other[name]) !== String(all[0][name])))
    .filter(name => name !== "static_start" || all.every(({policy}) => policy === "static"));
  const label = name => (words.labels[name] ? `${words.labels[name]}: ` : "");
  const tell = (name, value) => (value === null && words.without[name]) || (told(words.settings[name], managers[value] ?? value) ?? words.values[value] ?? value);
  return names.slice(0, 2).map(name => label(name) + [...new Set(all.map(settings => tell(name, settings[name])))].join(words.against)).join(", ");
}
