// What all plots share: colours of the theme, sharp canvases, axes, tooltips.

const HUES = 7; // the style sheet has so many colours for ensembles and blocks
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4], [1, 3]];
const SHAPES = ["circle", "square", "triangle", "diamond", "hexagon", "point-down", "pentagon"];

const knownColours = new Map(); // asking the style sheet takes time, and plots ask often

/** A colour of the theme, by the name of its CSS variable. */
function themeColour(name) {
  if (!knownColours.has(name)) {
    const style = getComputedStyle(document.documentElement);
    knownColours.set(name, style.getPropertyValue(`--${name}`).trim());
  }
  return knownColours.get(name);
}

/** The colour of an ensemble or a block. */
const colourOf = (place) => themeColour(`hue-${place % HUES}`);
const dashOf = (ensemble) => DASHES[ensemble % DASHES.length];
// Shapes change more slowly than colours, so that neighbours of one colour differ in shape.
const shapeOf = (place) =>
  SHAPES[(place + Math.floor(place / HUES)) % SHAPES.length];

/** The path of a marker of the given radius. */
function tracePathOfShape(context, shape, x, y, radius) {
  const polygon = (corners, turn, stretch) => {
    for (let k = 0; k < corners; k++) {
      const angle = turn + (2 * Math.PI * k) / corners;
      context.lineTo(x + stretch * radius * Math.cos(angle), y + stretch * radius * Math.sin(angle));
    }
    context.closePath();
  };
  context.beginPath();
  switch (shape) {
    case "square": polygon(4, Math.PI / 4, 1.2); break;
    case "triangle": polygon(3, -Math.PI / 2, 1.3); break;
    case "diamond": polygon(4, 0, 1.25); break;
    case "hexagon": polygon(6, 0, 1.1); break;
    case "point-down": polygon(3, Math.PI / 2, 1.3); break;
    case "pentagon": polygon(5, -Math.PI / 2, 1.15); break;
    default: context.arc(x, y, radius, 0, 2 * Math.PI);
  }
}

const allPlots = [];

/** Draws all plots in the colours of the moment. */
function redrawAll() {
  knownColours.clear();
  allPlots.forEach((plot) => plot.draw());
}

/** A figure with a canvas, a tooltip and a caption, which redraws when its width changes. */
class Plot {
  /**
   * @param name what tests call it
   * @param label what a screen reader says
   * @param caption what to look for
   * @param hint how to use it, which is of no use on paper
   * @param height in CSS pixels, or a function of the width
   */
  constructor({ name, label, caption, hint, height, title }) {
    this.height = typeof height === "function" ? height : () => height;
    this.canvas = element("canvas", { "data-plot": name, role: "img", "aria-label": label });
    this.tip = element("div", { class: "tip", role: "status" });
    this.tip.hidden = true;
    this.stage = element("div", { class: "stage" }, this.canvas, this.tip);
    this.figure = element("figure", {}, title ? element("h3", {}, title) : null, this.stage);
    if (caption) {
      this.figure.append(element("figcaption", {}, caption, hint ? element("span", { class: "hint" }, ` ${hint}`) : null));
    }
    this.context = this.canvas.getContext("2d");
    this.width = 0;
    allPlots.push(this);
    new ResizeObserver(() => {
      if (Math.round(this.stage.clientWidth) !== this.width) this.draw();
    }).observe(this.stage);
  }

  /** Puts controls between the title and the canvas. */
  addControls(...controls) {
    this.stage.before(element("div", { class: "controls" }, ...controls));
  }

  draw() {
    const width = Math.round(this.stage.clientWidth);
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const height = Math.round(this.height(width));
    this.width = width;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = themeColour("surface");
    context.fillRect(0, 0, width, height);
    context.font = `12px ${themeColour("font")}`;
    this.paint(context, width, height);
  }

  /** Where the pointer is, in CSS pixels of the canvas. */
  pointer(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** Shows text beside a point of the canvas, inside the figure. */
  showTip(lines, x, y) {
    this.tip.replaceChildren(...lines.map((line) => element("div", {}, line)));
    this.tip.hidden = false;
    const room = this.stage.clientWidth;
    const width = this.tip.offsetWidth;
    const left = x + 14 + width <= room ? x + 14 : Math.max(0, x - 14 - width);
    this.tip.style.left = `${Math.min(left, Math.max(0, room - width))}px`;
    this.tip.style.top = `${y + 14}px`;
  }

  hideTip() {
    this.tip.hidden = true;
  }
}

/** Round numbers that cover a range, about as many as wanted. */
function ticks(low, high, wanted) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [0.5, 1, 2, 5, 10].map((factor) => factor * power);
  const multiples = (step) => {
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
  };
  const chosen = steps.findIndex((step) => step >= rough * 0.999);
  const found = multiples(steps[chosen]);
  // One number alone does not make a scale.
  return found.length > 1 ? found : multiples(steps[chosen - 1]);
}

/** A tick in as many decimals as its step needs. */
function tickText(value, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : Math.abs(value) || 1;
  const decimals = Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9)));
  return decimals > 0 ? fixed(value, decimals) : whole(value);
}

/**
 * Axes with labels and a faint grid. Returns the maps from values to pixels and the box between.
 */
function axes(context, width, height, { x, y, xLabel, yLabel, wholeX, wholeY, top = 10 }) {
  const text = themeColour("muted");
  const grid = themeColour("grid");
  const inner = { top, bottom: height - 40, right: width - 24 };
  const yTicks = onlyWhole(ticks(y[0], y[1], Math.max(2, (inner.bottom - inner.top) / 40)), wholeY);
  const yTexts = yTicks.map((tick) => tickText(tick, yTicks));
  inner.left = 28 + Math.max(...yTexts.map((t) => context.measureText(t).width), 0);
  const xTicks = onlyWhole(ticks(x[0], x[1], Math.max(2, (inner.right - inner.left) / 65)), wholeX);
  const toX = (value) => inner.left + ((value - x[0]) / (x[1] - x[0] || 1)) * (inner.right - inner.left);
  const toY = (value) => inner.bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (inner.bottom - inner.top);

  context.lineWidth = 1;
  context.strokeStyle = grid;
  context.fillStyle = text;
  context.setLineDash([]);
  context.textBaseline = "middle";
  context.textAlign = "right";
  yTicks.forEach((tick, k) => {
    const at = Math.round(toY(tick)) + 0.5;
    line(context, inner.left, at, inner.right, at);
    context.fillText(yTexts[k], inner.left - 6, at);
  });
  context.textBaseline = "top";
  context.textAlign = "center";
  xTicks.forEach((tick) => {
    const at = Math.round(toX(tick)) + 0.5;
    line(context, at, inner.bottom, at, inner.bottom + 4);
    context.fillText(tickText(tick, xTicks), at, inner.bottom + 7);
  });
  context.strokeStyle = text;
  line(context, inner.left, inner.bottom + 0.5, inner.right, inner.bottom + 0.5);
  context.fillText(xLabel, (inner.left + inner.right) / 2, inner.bottom + 24);
  context.save();
  context.translate(3, (inner.top + inner.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(yLabel, 0, 0);
  context.restore();
  return { ...inner, toX, toY };
}

const onlyWhole = (values, wanted) => (wanted ? values.filter(Number.isInteger) : values);

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** The lowest and highest of some numbers, with a little air, never an empty range. */
function rangeOf(low, high) {
  if (!(high >= low)) return [0, 1];
  const air = high > low ? (high - low) * 0.05 : Math.max(0.5, Math.abs(high) * 0.01);
  return [low - air, high + air];
}
