// What sets the runs apart at this moment, in one sentence: the first difference where it happens, else a request that runs here
// and waits there, else one that is done here and not there, else who is how many tokens ahead.
// {tag, place, nodes, subjects}: subjects are request numbers by pane, -1 for none.
function compareSentence(panes, course, position, words) {
  const {compare} = words;
  const where = momentText(course, position, words);
  const tag = course.isTime ? compare.atTime(where) : words.iteration(Math.max(0, Math.min(position.step, course.numSteps - 1)));
  const place = compare.sameClock(panes.length);
  const subjects = panes.map(() => -1);
  const say = (template, values = {}, found = subjects, title = tag) =>
    ({tag: title, place: title === tag ? place : where, nodes: fillTemplate(template, values), subjects: found});
  const difference = differenceOf(panes, course.isTime);
  if (!difference) return say(panes.some(({run}) => run.isRunning) ? compare.notYet : compare.same);
  const away = course.at(position) - (course.isTime ? difference.time : difference.step);
  if (Math.abs(away) < 1e-9 && position.event == null)
    return {...say("**{text}.**", {text: capitalized(difference.text)}, difference.requests.map(list => list[0] ?? -1)),
      tag: compare.difference, place: compare.at(where)};
  if (away < 0) return say(compare.notYet);
  if (panes.every(({frame}) => frame.isDone)) return say(compare.allDone, lengthsOf(panes, course, words), subjects, words.done);
  const {pairs, status} = statusesOf(panes);
  const isIn = s => s === STATUS.PREFILL || s === STATUS.DECODE;
  const isOut = s => s === STATUS.WAITING || s === STATUS.PREEMPTED || s === STATUS.SWAPPED;
  for (const [here, there] of [[isIn, isOut], [s => s === STATUS.FINISHED, s => isIn(s) || isOut(s)]])
    for (const pair of pairs) {
      const x = pair.findIndex((r, i) => r >= 0 && here(status[i][r]));
      const y = pair.findIndex((r, i) => r >= 0 && there(status[i][r]));
      if (x < 0 || y < 0) continue;
      const values = {r: () => requestChip(panes[x].run, pair[x]), X: panes[x].run.name, Y: panes[y].run.name};
      const since = sinceText(panes[x], pair[x], here === isIn ? ["admitted", "resumed"] : ["finished"], course, position, words);
      if (here !== isIn) return say(compare.isDone, {...values, ago: since}, pair);
      const decision = panes[y].frame.decision(pair[y]);
      const why = decision ? compare.waitsWhy(reasonText(decision, other => panes[y].run.requests[other]?.id ?? "?")) : compare.waitsNow;
      return say(since ? compare.waitsSince : compare.waits, {...values, why, ago: since}, pair);
    }
  return say(...tokensAhead(panes, words));
}

// Requests by id: for each of the first pane its number in every pane (-1 where it is unknown), and the statuses by pane.
function statusesOf(panes) {
  const [first] = panes;
  const pairs = (first.pairs ??= first.run.requests.map(({id}, r) =>
    panes.map(({run}) => (run.requests[r]?.id === id ? r : run.requests.findIndex(request => request.id === id)))));
  return {pairs, status: panes.map(({frame}) => frame.columns("requests")?.status ?? [])};
}

function capitalized(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

function momentText(course, position, words) {
  return course.isTime ? formatTime(position.time) : words.compare.iteration(Math.max(0, Math.min(position.step, course.numSteps - 1)));
}

// "23 ms ago": how long since the last happening of these kinds; "" when it is now.
function sinceText({run, frame}, request, kinds, course, position, words) {
  const numbers = new Set(kinds.map(kind => HAPPENING[kind]));
  const {event, kind, request: about} = run.happenings;
  let i = upperBound(event, frame.event) - 1;
  while (i >= 0 && !(about[i] === request && numbers.has(kind[i]))) i--;
  if (i < 0) return "";
  if (course.isTime) {
    const ago = position.time - eventTime(run, event[i]);
    return ago > 1e-9 ? words.compare.ago(0, formatTime(ago)) : "";
  }
  const ago = position.step - run.firstStepShowing(event[i]);
  return ago > 0 ? words.compare.ago(ago) : "";
}

function tokensAhead(panes, words) {
  const sums = panes.map(tokensSoFar);
  const [most, least] = [Math.max(...sums), Math.min(...sums)];
  if (most === least) return [words.compare.alike, {n: plural(most, "token")}];
  const nameOfSum = sum => panes[sums.indexOf(sum)].run.name;
  return [words.compare.ahead, {X: nameOfSum(most), Y: nameOfSum(least), n: plural(most - least, "token")}];
}

function lengthsOf(panes, course, words) {
  const lengths = panes.map(({run}) => (course.isTime ? run.endTime[run.numSteps - 1] ?? 0 : run.numSteps));
  const order = panes.map((_, i) => i).sort((a, b) => lengths[a] - lengths[b]);
  const text = i => (course.isTime ? formatTime(lengths[i]) : words.ofRun(panes[i].run));
  const [x, ...others] = order;
  const last = order.at(-1);
  const Y = others.map(i => panes[i].run.name + (i === last ? "" : ` ${text(i)}, `)).join("");
  return {X: panes[x].run.name, a: text(x), Y, b: text(last)};
}

// Nodes of a template with **bold** and {name}; a value is a text or makes a node.
function fillTemplate(template, values) {
  return template.split("**").flatMap((part, i) => {
    const nodes = part.split(/\{(\w+)\}/).map((text, j) => {
      if (j % 2 === 0) return text;
      const value = values[text];
      return typeof value === "function" ? value() : String(value ?? "");
    });
    return i % 2 ? [element("b", {}, ...nodes)] : nodes;
  });
}
