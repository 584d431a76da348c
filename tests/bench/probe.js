// Looks at a page from outside: when an input arrived, when the picture that answers it stood on the screen.
// The picture of a frame is there in the task after the animation frame in which the last panel, the transport line, named
// its step. A chart of Streamlit is there when its title names the step, in SVG or on a canvas.
(() => {
  const nextFrame = window.requestAnimationFrame.bind(window);
  const attachShadow = Element.prototype.attachShadow;
  const begun = new WeakMap();
  const bench = (window.bench = {mounts: [], root: null, pending: null, isRecording: false});
  let script = [], scriptFrame = -1, canvasTitle = "";

  // Script time of each animation frame of the page, all callbacks together.
  window.requestAnimationFrame = callback => nextFrame(now => {
    const start = performance.now();
    callback(now);
    if (!bench.isRecording) return;
    const took = performance.now() - start;
    if (now === scriptFrame) script[script.length - 1] += took; else script.push(took);
    scriptFrame = now;
  });

  // The time at which the next animation frame is done with.
  const frameDone = () => new Promise(resolve => nextFrame(() => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => { port1.close(); resolve(performance.now()); };
    port2.postMessage(0);
  }));
  const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

  const chartTitle = () =>
    [...document.querySelectorAll(".vega-embed svg text")].map(node => node.textContent).find(text => text.startsWith("step ")) ?? canvasTitle;
  bench.title = chartTitle;
  const drawn = () => (bench.root?.isConnected ? bench.root.querySelector(".kv-where b").textContent : chartTitle());
  const number = text => Number(text.replace(/\D/g, ""));

  // Milliseconds from `start` until another frame than `before` stands there; null after ten seconds.
  async function untilOther(before, start) {
    for (;;) {
      const now = await frameDone();
      const text = drawn();
      if (text && text !== before) return now - start;
      if (now - start > 10000) return null;
    }
  }

  addEventListener("keydown", event => {
    bench.pressed = event.timeStamp;
    bench.pending = untilOther(drawn(), event.timeStamp);
  }, true);

  bench.scrub = async steps => {
    const range = bench.root.querySelector("input[type=range]");
    const times = [];
    for (const step of steps) {
      const before = drawn(), start = performance.now();
      range.value = step;
      range.dispatchEvent(new Event("input", {bubbles: true}));
      times.push(await untilOther(before, start));
      await pause(20 + 40 * Math.random());
    }
    return times;
  };

  // What is on the screen for `ms`: pictures, frames passed over, gaps between pictures, script time, steps between panes.
  bench.watch = async ms => {
    const start = performance.now(), gaps = [];
    let shown = number(drawn()), last = start, now = start, pictures = 0, skipped = 0, apart = 0, end = 0;
    script = [];
    bench.isRecording = true;
    while (now - start < ms) {
      now = await frameDone();
      const step = number(drawn());
      if (step === shown) continue;
      pictures++;
      skipped += Math.max(0, step - shown - 1);
      if (pictures > 1) gaps.push(now - last); else end = now;
      const panes = bench.root.dataset.frames?.split("|").map(Number) ?? [];
      if (panes.length) apart = Math.max(apart, Math.max(...panes) - Math.min(...panes));
      [shown, last] = [step, now];
    }
    bench.isRecording = false;
    return {pictures, skipped, apart, gaps, script, seconds: (last - end) / 1000, last};
  };

  // Pictures of the player that come up: the time its element was made (0 for a page of its own), and its first picture.
  async function note(root) {
    if (bench.root === root) return;
    bench.root = root;
    const mounted = begun.get(root.getRootNode()) ?? 0;
    while (!number(drawn())) await frameDone();
    bench.mounts.push({mounted, picture: await frameDone()});
  }

  function observe(node) {
    const options = {subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"]};
    new MutationObserver(records => {
      for (const {target} of records) if (target.dataset?.ready === "true" && target.matches(".kv")) note(target);
    }).observe(node, options);
  }

  Element.prototype.attachShadow = function (init) {
    const root = attachShadow.call(this, init);
    begun.set(root, performance.now());
    observe(root);
    return root;
  };
  observe(document);

  // Charts with many marks lie on a canvas.
  bench.readCanvases = () => {
    const {fillText} = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      if (String(text).startsWith("step ")) canvasTitle = text;
      return fillText.call(this, text, ...place);
    };
  };
  if (new URLSearchParams(location.search).has("rerun")) bench.readCanvases();
})();
