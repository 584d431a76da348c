// What sets the runs apart at this moment, in one sentence: the first difference where it happens, else a request that runs here
// and waits there, else one that is done here and not there, else who is how many tokens ahead.
// {tag, place, nodes, subjects}: subjects are request numbers by pane, -1 for none.
function compareSentence(panes, course, position, words) {
  const {compare} = words;
  const where = momentText(course, position, words);
  const tag = course.isTime ? compare.atTime(where) : words.iteration(clamp(position.step, 0, course.numSteps - 1));
  const place = panes.length > 2 ? compare.clockOfAll(panes.length) : compare.sameClock;
  const subjects = panes.map(() => -1);
  const say = (template, values = {}, found = subjects, title = tag) =>
    ({tag: title, place: title === tag ? place : where, nodes: templateNodes(template, name => [values[name]]), subjects: found});
  const difference = differenceOf(panes, course.isTime);
  if (!difference) return say(panes.some(({run}) => run.isRunning) ? compare.notYet : compare.same);
  const away = course.at(position) - difference.at;
  if (Math.abs(away) < 1e-9 && position.event == null)
    return {...say("**{text}.**", {text: capitalized(difference.text)}, difference.requests.map(list => list[0] ?? -1)),
      tag: compare.difference, place: compare.at(where)};
  if (away < 0) return say(compare.notYet);
  if (panes.every(({frame}) => frame.isDone)) return say(compare.allDone, lengthsOf(panes, course, words), subjects, words.done);
  const {pairs, status} = statusesOf(panes);
  for (const [here, there] of [[isInBatch, isQueued], [s => s === STATUS.FINISHED, s => isInBatch(s) || isQueued(s)]])
    for (const pair of pairs) {
      const x = pair.findIndex((r, i) => r >= 0 && here(status[i][r]));
      const y = pair.findIndex((r, i) => r >= 0 && there(status[i][r]));
      if (x < 0 || y < 0) continue;
      const values = {r: requestChip(panes[x].run, pair[x]), X: panes[x].run.name, Y: panes[y].run.name};
      const since = sinceText(panes[x], pair[x], here === isInBatch ? ["admitted", "resumed"] : ["finished"], course, position, words);
      if (here !== isInBatch) return say(compare.isDone, {...values, ago: since}, pair);
      const decision = panes[y].frame.decision(pair[y]);
      const why = decision ? whyWaiting(reasonText(decision, panes[y].run, words), compare) : compare.waitsNow;
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
  return course.isTime ? formatTime(position.time) : words.inIteration(clamp(position.step, 0, course.numSteps - 1));
}

// "23 ms ago": how long since the last happening of these kinds; "" when it is now.
function sinceText({run, frame}, request, kinds, course, position, words) {
  const {event, request: about} = run.happenings;
  const i = run.happeningsOf(...kinds).findLast(row => about[row] === request && event[row] <= frame.event);
  if (i === undefined) return "";
  const ago = course.at(position) - course.valueOf(run, event[i]);
  return ago > 1e-9 ? words.compare.ago(course.isTime ? formatTime(ago) : plural(ago, "iteration")) : "";
}

function tokensAhead(panes, words) {
  const sums = panes.map(tokensSoFar);
  const [most, least] = [Math.max(...sums), Math.min(...sums)];
  if (most === least) return [words.compare.alike, {n: plural(most, "token")}];
  const nameOfSum = sum => panes[sums.indexOf(sum)].run.name;
  return [words.compare.ahead, {X: nameOfSum(most), Y: nameOfSum(least), n: plural(most - least, "token")}];
}

function lengthsOf(panes, course, words) {
  const lengths = panes.map(({run}) => (course.isTime ? run.lastTime : run.numSteps));
  const order = panes.map((_, i) => i).sort((a, b) => lengths[a] - lengths[b]);
  const text = i => (course.isTime ? formatTime(lengths[i]) : words.ofRun(panes[i].run.numSteps));
  const [x, ...others] = order;
  const last = order.at(-1);
  const Y = others.map(i => panes[i].run.name + (i === last ? "" : ` ${text(i)}, `)).join("");
  return {X: panes[x].run.name, a: text(x), Y, b: text(last)};
}
