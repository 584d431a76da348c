// The colours, light and dark. A hue is {solid, tint, on}: finished, being written, text on the solid colour.
// A to E say who, S is shared, K kept without a reader, P private where colour says state. Yellow is now.
const PALETTES = {
  light: {
    paper: "#FFFFFF", panel: "#F4F6F9", ink: "#14181F", ink2: "#454E5C", ink3: "#636C7A", line: "#D3D9E1",
    mark: "#858F9E", free: "#8B95A3", idle: "#8B95A3", now: "#FFD21F", onNow: "#14181F", nowEdge: "#14181F",
    chip: "#FFFFFF", chipInk: "#14181F", stripe: "#59626F",
    hues: {
      A: {solid: "#1F47C9", tint: "#E4E9FB", on: "#FFFFFF"}, B: {solid: "#EE6D38", tint: "#FDEAE1", on: "#14181F"},
      C: {solid: "#10A08C", tint: "#DDF3F0", on: "#0B0F16"}, D: {solid: "#8E2366", tint: "#F6E3EF", on: "#FFFFFF"},
      E: {solid: "#0A6E96", tint: "#DDEEF5", on: "#FFFFFF"}, S: {solid: "#262C36", tint: "#E9ECF0", on: "#FFFFFF"},
      K: {solid: "#6B7482", tint: "#EEF0F3", on: "#FFFFFF"}, P: {solid: "#96A8E4", tint: "#E4E9FB", on: "#14181F"},
    },
  },
  dark: {
    paper: "#0E1117", panel: "#171C25", ink: "#F2F5F9", ink2: "#BCC5D1", ink3: "#939EAD", line: "#2B3340",
    mark: "#6E7989", free: "#5A6575", idle: "#5E6877", now: "#FFD21F", onNow: "#14181F", nowEdge: "#FFF3B8",
    chip: "#0E1117", chipInk: "#F2F5F9", stripe: "#A3ACB9",
    hues: {
      A: {solid: "#6384FA", tint: "#1A2344", on: "#0B0F16"}, B: {solid: "#F6904A", tint: "#3A2417", on: "#0B0F16"},
      C: {solid: "#45E6B8", tint: "#12332D", on: "#0B0F16"}, D: {solid: "#CC6BA3", tint: "#371D2E", on: "#0B0F16"},
      E: {solid: "#93C9F0", tint: "#1B2F3E", on: "#0B0F16"}, S: {solid: "#DDE2E9", tint: "#2A303A", on: "#0B0F16"},
      K: {solid: "#8F9AA9", tint: "#1D232D", on: "#0B0F16"}, P: {solid: "#3A52A0", tint: "#1A2344", on: "#F2F5F9"},
    },
  },
};

// The palette that fits the page: Streamlit's variables where there are some, else what the system prefers.
function readTheme(root) {
  const style = getComputedStyle(root);
  const background = style.getPropertyValue("--st-background-color").trim();
  const isDark = background ? luminance(background) < 0.35 : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = isDark ? "dark" : "light";
  return {name, font: style.fontFamily, ...PALETTES[name], paper: background || PALETTES[name].paper};
}

// Writes the palette to the CSS variables that player.css uses; returns whether anything changed.
function applyTheme(root, theme) {
  const mark = theme.name + theme.paper;
  if (root.dataset.themeMark === mark) return false;
  root.dataset.themeMark = mark;
  root.dataset.theme = theme.name;
  for (const name of ["paper", "panel", "ink", "ink2", "ink3", "line", "mark", "now", "onNow", "nowEdge"])
    root.style.setProperty("--kv-" + name, theme[name]);
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
