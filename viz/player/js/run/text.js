// Text that fits: measured, cut between whole characters with "…", numbers with separators and units.
const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;

function characters(text) {
  return segmenter ? Array.from(segmenter.segment(text), part => part.segment) : Array.from(text);
}

// The text, or as many of its characters as fit before "…"; "" when not even one does. A name keeps what tells it from others,
// "few… 2".
function fitText(ctx, text, max, end = text.length < 25 ? /\D?\d{1,3}\w?$/u.exec(text)?.[0] ?? "" : "") {
  if (max === Infinity || ctx.measureText(text).width <= max) return text;
  const parts = characters(text.slice(0, Math.min(400, text.length - end.length)));
  let low = 0, high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ctx.measureText(parts.slice(0, middle).join("") + "…" + end).width <= max) low = middle; else high = middle - 1;
  }
  return low > 0 ? parts.slice(0, low).join("") + "…" + end : end && fitText(ctx, text, max, "");
}

const NUMBERS = new Intl.NumberFormat("en");

function formatNumber(value) { return NUMBERS.format(value); }

function plural(count, one, many = one + "s") { return `${formatNumber(count)} ${count === 1 ? one : many}`; }

// Seconds as a lecturer says them: "18 ms", "4.31 s", "2 min 5 s".
function formatTime(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (Math.abs(seconds) < 1e-9) return "0 ms";
  if (seconds < 0.00995) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 99.95) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  return `${formatNumber(Math.floor(seconds / 60))} min ${Math.floor(seconds % 60)} s`;
}
