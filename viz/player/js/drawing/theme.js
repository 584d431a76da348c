// The look that fits the page: colours, light or dark, and glyphs, which player.css names.
// The palette that fits the page: Streamlit's variables where there are some, else what the system prefers.
function readTheme(root) {
  const style = getComputedStyle(root);
  const background = style.getPropertyValue("--st-background-color").trim();
  const isDark = background ? luminance(background) < 0.35 : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = isDark ? "dark" : "light";
  const [palette, glyphs] = [name, "glyphs"].map(part => JSON.parse(style.getPropertyValue("--kv-" + part)));
  return {name, font: style.fontFamily, glyphs, ...palette, paper: background || palette.paper};
}

// Writes the palette to the CSS variables that player.css uses; returns whether anything changed.
function applyTheme(root, theme) {
  const mark = theme.name + theme.paper;
  if (root.dataset.themeMark === mark) return false;
  root.dataset.themeMark = mark;
  root.dataset.theme = theme.name;
  for (const [name, colour] of Object.entries(theme)) if (colour[0] === "#" || name === "paper") root.style.setProperty("--kv-" + name, colour);
  for (const [name, hue] of Object.entries(theme.hues)) {
    root.style.setProperty(`--kv-${name}`, hue.solid);
    root.style.setProperty(`--kv-on-${name}`, hue.on);
  }
  return true;
}

const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});

// "#RRGGBB", "rgb(...)" or a name -> [red, green, blue] of 0..255.
function rgb(color) {
  probe.canvas.width = probe.canvas.height = 1;
  probe.fillStyle = color;
  probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
}

function luminance(color) {
  const [r, g, b] = rgb(color);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}
