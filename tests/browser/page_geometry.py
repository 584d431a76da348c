"""What is wrong with the places of texts and controls on a page: overlaps, cut texts, too small type, texts out of the window.

Looks at all that is laid out, in the shadow roots of components as well, and at the texts drawn on canvases (`drawn_text`).
A text counts with the boxes of its lines, without the room that a line leaves above and below its letters.
"""

from dataclasses import dataclass

from playwright.sync_api import Page

from tests.browser.drawn_text import ON_PAGE

SMALLEST, SMALLEST_IN_LECTURE = 11.5, 14.0
"""Pixels at 1280x720, one and a half times as many at 1920x1080; what stands on a canvas, numbers of axes and slots among
it, may be one smaller."""

_REPORT = (
    """smallest => {
  const onPage = """
    + ON_PAGE
    + """;
  const CONTROLS = "button, a[href], input, textarea, summary, [role=slider], [role=tab]";
  const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const parentOf = node => node.parentElement ?? node.getRootNode().host ?? null;
  const isInside = (node, other) => { for (; node; node = parentOf(node)) if (node === other) return true; return false; };
  const isShown = node => node.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const boxOf = ({left, top, right, bottom}) => ({left, top, right, bottom});
  const meet = (a, b) => ({left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom)});
  const isEmpty = box => box.right - box.left < 2 || box.bottom - box.top < 2;

  // the boxes that cut what lies in a node: of its ancestors up to the window, and whether what is cut can be scrolled to
  const clips = node => {
    const found = [];
    for (let isFree = false, at = node; at; at = parentOf(at)) {
      const style = getComputedStyle(at);
      if (!(isFree && style.position === "static")) {
        isFree = false;
        if (/hidden|clip|auto|scroll/.test(style.overflowX + style.overflowY) && style.display !== "inline") {
          const frame = at.getBoundingClientRect(), canScroll = /auto|scroll/.test(style.overflowX + style.overflowY);
          found.push({at, canScroll, left: frame.left, top: frame.top, right: frame.right, bottom: frame.bottom});
        }
        if (style.position === "fixed") break;
        if (style.position === "absolute") isFree = true;
      }
    }
    return found;
  };

  const texts = [], controls = [], cut = [], small = [], outside = [];
  // What can be seen of a box, null where nothing can; and whether the rest of it is cut off. A hint tells what an ellipsis ends.
  const seenOf = (node, box, cutters) => {
    const seen = cutters.reduce(meet, boxOf(box));
    let isCut = false;
    // what a scrolling box shows in part can be scrolled to, whatever lies around that box
    for (const clip of cutters) {
      if (clip.canScroll || isEmpty(clip)) break;
      const isWide = box.left < clip.left - 1.5 || box.right > clip.right + 1.5;
      const isHigh = box.top < clip.top - 1.5 || box.bottom > clip.bottom + 1.5;
      isCut ||= (isWide || isHigh) && !(isWide && !isHigh && node.closest("[title]:not([title=''])"));
    }
    return {seen: isEmpty(seen) ? null : seen, isCut};
  };
  const isOut = ({left, right}) => left < -1 || right > innerWidth + 1;

  const range = document.createRange();
  const visit = root => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) visit(node.shadowRoot);
      if (/^(SCRIPT|STYLE|NOSCRIPT|OPTION|TITLE)$/.test(node.tagName) || !isShown(node)) continue;
      const cutters = clips(node);
      if (node.matches(CONTROLS)) {
        const frame = node.getBoundingClientRect(), seen = cutters.reduce(meet, boxOf(frame));
        const label = node.getAttribute("aria-label") || node.textContent.trim().slice(0, 40) || node.name || node.className;
        if (!isEmpty(seen)) {
          controls.push({...seen, label: `[${label}]`, node});
          if (isOut(seen)) outside.push(label);
          if (node.value && node.type === "text" && node.scrollWidth > node.clientWidth + 1 && !node.title) cut.push(node.value);
        }
      }
      if (node.matches(".kv canvas")) {
        const frame = node.getBoundingClientRect();
        for (const text of onPage(node)) {
          const isBeyond = text.left < frame.left - 1 || text.right > frame.right + 1 || text.top < frame.top - 1 || text.bottom > frame.bottom + 1;
          if (isBeyond) cut.push(`canvas: ${text.text}`);
          if (text.size < (smallest - 1) * scale - 0.1) small.push(`canvas: ${text.text} ${text.size}`);
          const seen = cutters.reduce(meet, boxOf(text));
          if (seen.right > seen.left && seen.bottom > seen.top) texts.push({...seen, label: `canvas: ${text.text}`, node, isDrawn: true});
        }
      }
      for (const child of node.childNodes) {
        const words = child.nodeType === 3 && child.textContent.trim();
        if (!words) continue;
        const label = words.slice(0, 60), matrix = node.getScreenCTM?.() ?? {a: 1, b: 0};
        const size = parseFloat(getComputedStyle(node).fontSize) * Math.hypot(matrix.a, matrix.b);
        range.selectNodeContents(child);
        const lines = [...range.getClientRects()].map(line => {
          const ink = 0.16 * line.height;
          return seenOf(node, {left: line.left, right: line.right, top: line.top + ink, bottom: line.bottom - ink}, cutters);
        });
        // a text of which nothing is left has given way on purpose
        const shown = lines.filter(({seen}) => seen).map(({seen}) => seen), isSeen = shown.length > 0;
        if (isSeen && lines.some(({isCut}) => isCut)) cut.push(label);
        if (shown.some(isOut)) outside.push(label);
        for (const seen of shown) texts.push({...seen, label, node, child});
        if (isSeen && size < smallest * scale - 0.1) small.push(`${label} ${size}`);
      }
    }
  };
  visit(document);

  const overlaps = [], by = 1.5;
  const isOver = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > by && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
  texts.forEach((a, i) => { for (const b of texts.slice(i + 1))
    if ((a.isDrawn || a.child !== b.child) && isOver(a, b)) overlaps.push([a.label, b.label]); });
  controls.forEach((a, i) => { for (const b of controls.slice(i + 1))
    if (!isInside(a.node, b.node) && !isInside(b.node, a.node) && isOver(a, b)) overlaps.push([a.label, b.label]); });
  for (const a of texts) for (const b of controls)
    if (!isInside(a.node, b.node) && !isInside(b.node, a.node) && isOver(a, b)) overlaps.push([a.label, b.label]);
  if (document.scrollingElement.scrollWidth > innerWidth) outside.push("the page itself");
  const numDrawn = texts.filter(text => text.isDrawn).length;
  return {overlaps, cut, small, outside, num_texts: texts.length - numDrawn, num_drawn: numDrawn, num_controls: controls.length};
}"""
)


@dataclass(frozen=True, slots=True)
class Report:
    """Labels of what is wrong, and how much was looked at."""

    overlaps: list[list[str]]
    cut: list[str]
    small: list[str]
    outside: list[str]
    num_texts: int
    num_drawn: int
    num_controls: int

    @property
    def faults(self) -> dict[str, object]:
        """What is wrong, by kind; empty when nothing is."""
        kinds = {"overlaps": self.overlaps, "cut": self.cut, "too small": self.small, "outside": self.outside}
        return {name: found for name, found in kinds.items() if found}


def report(page: Page, smallest: float = SMALLEST) -> Report:
    """The page as it stands; nothing is waited for."""
    return Report(**page.evaluate(_REPORT, smallest))
