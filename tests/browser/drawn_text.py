"""Texts that the player draws on its canvases, with the box of their ink in pixels of the page.

A script that runs before the page's own notes every `fillText` at the canvas it goes to, and forgets all notes of a canvas
that is cleared; so what is noted at any time are the texts of the last picture.
"""

from playwright.sync_api import BrowserContext

RECORD = """(() => {
  const {prototype} = CanvasRenderingContext2D;
  const {fillText, clearRect} = prototype;
  prototype.clearRect = function (x, y, width, height) {
    clearRect.call(this, x, y, width, height);
    const {a, d} = this.getTransform();
    if (width * a >= this.canvas.width - 1 && height * d >= this.canvas.height - 1) this.canvas.drawnTexts = [];
  };
  prototype.fillText = function (text, x, y, ...more) {
    fillText.call(this, text, x, y, ...more);
    const ink = this.measureText(text), matrix = this.getTransform();
    const corner = (px, py) => matrix.transformPoint({x: px, y: py});
    const from = corner(x - ink.actualBoundingBoxLeft, y - ink.actualBoundingBoxAscent);
    const to = corner(x + ink.actualBoundingBoxRight, y + ink.actualBoundingBoxDescent);
    const size = parseFloat(/([\\d.]+)px/.exec(this.font)[1]) * matrix.d;
    (this.canvas.drawnTexts ??= []).push({text: String(text), left: from.x, top: from.y, right: to.x, bottom: to.y, size, fill: this.fillStyle});
  };
})()"""
"""`canvas.drawnTexts`: boxes in pixels of the canvas, which are not those of the page on a sharp screen."""

ON_PAGE = """canvas => {
  const frame = canvas.getBoundingClientRect(), scale = frame.width / canvas.width;
  return (canvas.drawnTexts ?? []).filter(({text}) => text.trim()).map(({text, left, top, right, bottom, size}) => ({
    text, size: size * scale, left: frame.left + left * scale, right: frame.left + right * scale,
    top: frame.top + top * scale, bottom: frame.top + bottom * scale}));
}"""
"""The texts of a canvas in pixels of the page."""


def record(context: BrowserContext) -> None:
    """Note what is drawn on every page that this context opens from now on."""
    context.add_init_script(RECORD)
