// Small helpers for elements. Text always goes in as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) node.setAttribute(name, value);
  node.append(...children.filter(child => child != null));
  return node;
}

// A button and what it does. `label` says it where its content is a picture or a sign, and tells it to the pointer.
function button(content, action, {label, ...attributes} = {}) {
  const node = element("button", {type: "button", "aria-label": label, title: label, ...attributes}, content);
  node.addEventListener("click", action);
  return node;
}

// A filled picture in a 24 x 24 box.
function icon(d) {
  const [svg, path] = ["svg", "path"].map(name => document.createElementNS(SVG, name));
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}

// Sets text only when it differs, so that a frame without news costs no layout.
function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

// The texts of the children of a node, from the first one on.
function setTexts(node, texts) { texts.forEach((text, i) => setText(node.children[i], String(text))); }

function setAttribute(node, name, value) { if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); }

// Gives a list `count` children; new ones are made by `make`.
function resizeList(list, count, make) {
  while (list.children.length < count) list.append(make());
  while (list.children.length > count) list.lastChild.remove();
}

// Where the pointer is in a node, in its own pixels, however the page is scaled.
function pointIn(node, event, edge = 0) {
  const box = node.getBoundingClientRect(), scale = node.offsetWidth / (box.width || 1);
  return [(event.clientX - box.left) * scale - edge, (event.clientY - box.top) * scale - edge];
}
