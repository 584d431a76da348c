// Small helpers for elements. Text always goes in as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) node.setAttribute(name, value);
  node.append(...children.filter(child => child != null));
  return node;
}

// A picture of filled paths in a 24 x 24 box.
function icon(...paths) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  for (const d of paths) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

// Sets text only when it differs, so that a frame without news costs no layout.
function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

function setAttribute(node, name, value) { if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); }
