// Traces over the iterations.

/** Lines of many chains over the iterations. */
class TracePlot extends Plot {
  /** @param series of {ensemble, label, values, level}: `level` names one of several lines */
  constructor({ series, yLabel, format, wholeY, fixedRange, ...rest }) {
    super(rest);
    Object.assign(this, { series, yLabel, format, wholeY, fixedRange });
    this.canvas.tabIndex = 0;
    this.wholeHeight = false; // whether the heights of the discarded start are shown too
    this.cursor = null; // the point that is pointed at
    this.drag = null; // where a drag began and is, in pixels
    this.range = element("span", { class: "range" });
    const reset = element("button", { type: "button", class: "reset", onclick: resetIterations }, "Reset zoom");
    // A plot of one ensemble has nothing to choose from, and always shows it.
    this.choosing = new Set(series.map((one) => one.ensemble)).size > 1;
    const zoom = element("div", { class: "zoom" }, this.range, this.heightButton(), reset);
    this.addControls(this.choosing ? ensembleLegend() : null, zoom);
    this.listen();
    view.plots.push(this);
  }

  /** The start is often so far off that what follows would look flat: it is shown on demand. */
  heightButton() {
    if (this.fixedRange || page.shape.burn_in === 0) return null;
    const button = element("button", { type: "button", class: "height", "aria-pressed": "false" }, "Whole height");
    button.addEventListener("click", () => {
      this.wholeHeight = !this.wholeHeight;
      button.setAttribute("aria-pressed", String(this.wholeHeight));
      this.draw();
    });
    return button;
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      canvas.setPointerCapture(event.pointerId);
      const { x } = this.pointer(event);
      this.drag = { from: x, to: x };
    });
    canvas.addEventListener("pointermove", (event) => {
      const { x, y } = this.pointer(event);
      if (this.drag) {
        this.drag.to = x;
        this.hideTip();
        this.drawOverlay();
      } else this.pointAt(x, y);
    });
    canvas.addEventListener("pointerup", () => {
      const drag = this.drag;
      this.drag = null;
      this.drawOverlay();
      if (drag && Math.abs(drag.to - drag.from) > 4) {
        const ends = [this.fromX(drag.from), this.fromX(drag.to)].sort((a, b) => a - b);
        showIterations(...ends);
      }
    });
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("dblclick", resetIterations);
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  leave() {
    if (this.drag) return;
    this.hideTip();
    if (this.cursor) {
      this.cursor = null;
      this.drawOverlay();
    }
  }

  /** Arrows walk along the iterations and between the chains; + and − zoom; 0 resets. */
  key(event) {
    const shown = this.shown();
    if (shown.length === 0) return;
    const middle = this.cursor ? iterations[this.cursor.point] : (view.low + view.high) / 2;
    const zoom = (factor) => {
      const half = ((view.high - view.low) / 2) * factor;
      showIterations(middle - half, middle + half);
    };
    const walk = (points, lines) => {
      const at = this.cursor ?? { series: shown[0], point: this.nearestPoint((view.low + view.high) / 2) };
      const line = (shown.indexOf(at.series) + lines + shown.length) % shown.length;
      const point = Math.min(iterations.length - 1, Math.max(0, at.point + points));
      this.cursor = { series: shown[line], point };
      this.drawOverlay();
      this.tellCursor();
    };
    const actions = {
      ArrowLeft: () => walk(-1, 0),
      ArrowRight: () => walk(1, 0),
      ArrowUp: () => walk(0, -1),
      ArrowDown: () => walk(0, 1),
      "+": () => zoom(0.5),
      "-": () => zoom(2),
      0: resetIterations,
      Escape: resetIterations,
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  shown() {
    if (!this.choosing) return this.series;
    return this.series.filter((series) => !view.hidden.has(series.ensemble));
  }

  fromX(x) {
    const { left, right } = this.frame;
    return view.low + ((x - left) / (right - left)) * (view.high - view.low);
  }

  /** The index of the recorded point nearest to an iteration. */
  nearestPoint(iteration) {
    let low = 0;
    let high = iterations.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (iterations[middle] < iteration) low = middle + 1;
      else high = middle;
    }
    const before = Math.max(0, low - 1);
    return iteration - iterations[before] < iterations[low] - iteration ? before : low;
  }

  /** Points at the line that is nearest in height where the pointer is. */
  pointAt(x, y) {
    const { left, right, toY } = this.frame;
    const shown = this.shown();
    if (shown.length === 0 || x < left - 5 || x > right + 5) return this.leave();
    const point = this.nearestPoint(this.fromX(x));
    let nearest = shown[0];
    for (const series of shown) {
      if (Math.abs(toY(series.values[point]) - y) < Math.abs(toY(nearest.values[point]) - y)) nearest = series;
    }
    const changed = this.cursor?.series !== nearest || this.cursor?.point !== point;
    this.cursor = { series: nearest, point };
    if (changed) this.drawOverlay();
    this.tellCursor();
  }

  tellCursor() {
    const { series, point } = this.cursor;
    const burnt = iterations[point] <= page.shape.burn_in ? " (discarded)" : "";
    const { top, bottom, toX, toY } = this.frame;
    this.showTip(
      [
        series.label,
        `iteration ${whole(iterations[point])}${burnt}`,
        `${series.level ?? this.yLabel}: ${this.format(series.values[point])}`,
      ],
      toX(iterations[point]),
      Math.min(bottom, Math.max(top, toY(series.values[point]))),
    );
  }

  /** The range of the shown lines in the shown iterations, without those discarded if others are shown. */
  valueRange(from, to) {
    if (this.fixedRange) return this.fixedRange;
    if (!this.wholeHeight && iterations[to] > page.shape.burn_in) {
      while (from < to && iterations[from] <= page.shape.burn_in) from++;
    }
    let low = Infinity;
    let high = -Infinity;
    for (const { values } of this.shown()) {
      for (let k = from; k <= to; k++) {
        if (!Number.isFinite(values[k])) continue;
        if (values[k] < low) low = values[k];
        if (values[k] > high) high = values[k];
      }
    }
    return rangeOf(low, high);
  }

  /** The lines, and what is pointed at over them. */
  draw() {
    super.draw();
    if (this.width === 0) return;
    this.lines ??= document.createElement("canvas");
    Object.assign(this.lines, { width: this.canvas.width, height: this.canvas.height });
    this.lines.getContext("2d").drawImage(this.canvas, 0, 0);
    this.drawOverlay();
  }

  /** Many lines take long to draw: while the pointer moves they come from a copy. */
  drawOverlay() {
    const { context, cursor } = this;
    context.save();
    context.resetTransform();
    context.drawImage(this.lines, 0, 0);
    context.restore();
    context.save();
    this.clip(context);
    if (cursor) {
      this.strokeSeries(context, cursor.series, 2.2);
      this.markCursor(context);
    }
    this.shadeDrag(context);
    context.restore();
  }

  clip(context) {
    const { left, right, top, bottom } = this.frame;
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
  }

  paint(context, width, height) {
    const from = (this.from = Math.max(0, this.nearestPoint(view.low) - 1));
    const to = (this.to = Math.min(iterations.length - 1, this.nearestPoint(view.high) + 1));
    this.frame = axes(context, width, height, {
      x: [view.low, view.high],
      y: this.valueRange(from, to),
      xLabel: "iteration",
      yLabel: this.yLabel,
      wholeX: true,
      wholeY: this.wholeY,
    });
    context.save();
    this.clip(context);
    this.shadeBurnIn(context);
    const shown = this.shown();
    context.globalAlpha = shown.length > 8 ? 0.55 : 0.85;
    for (const series of shown) this.strokeSeries(context, series, 1.2);
    context.globalAlpha = 1;
    this.labelBurnIn(context);
    context.restore();
    const text = `iterations ${whole(Math.ceil(view.low))} to ${whole(Math.floor(view.high))}`;
    this.range.textContent = text;
    this.canvas.dataset.range = text;
  }

  shadeBurnIn(context) {
    const end = this.frame.toX(page.shape.burn_in);
    const { left, top, bottom } = this.frame;
    if (end <= left) return;
    context.fillStyle = themeColour("shade");
    context.fillRect(left, top, end - left, bottom - top);
  }

  /** Written over the lines, with a halo. */
  labelBurnIn(context) {
    const { left, bottom, toX } = this.frame;
    if (toX(page.shape.burn_in) - left < 75) return;
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.lineWidth = 4;
    context.strokeStyle = themeColour("surface");
    context.strokeText("discarded", left + 6, bottom - 5);
    context.fillStyle = themeColour("muted");
    context.fillText("discarded", left + 6, bottom - 5);
  }

  strokeSeries(context, { ensemble, values }, lineWidth) {
    const { from, to } = this;
    const { left, right, toX, toY } = this.frame;
    // Dashes cost much where a line has more points than there are pixels, and cannot be seen there.
    const dashed = to - from < (right - left) / 2;
    context.lineJoin = "bevel";
    context.strokeStyle = colourOf(ensemble);
    context.lineWidth = lineWidth;
    context.setLineDash(dashed ? dashOf(ensemble) : []);
    context.beginPath();
    for (let k = from; k <= to; k++) context.lineTo(toX(iterations[k]), toY(values[k]));
    context.stroke();
    context.setLineDash([]);
  }

  markCursor(context) {
    const { series, point } = this.cursor;
    context.fillStyle = themeColour("text");
    context.beginPath();
    context.arc(this.frame.toX(iterations[point]), this.frame.toY(series.values[point]), 4, 0, 2 * Math.PI);
    context.fill();
  }

  shadeDrag(context) {
    if (!this.drag) return;
    const { top, bottom } = this.frame;
    context.fillStyle = themeColour("select");
    context.fillRect(this.drag.from, top, this.drag.to - this.drag.from, bottom - top);
  }
}

const TRACE_KEYS = "The height fits what is kept. Drag to zoom, double click to see all again; with the keyboard: arrows, +, − and 0.";

function traceSection() {
  const plots = [];
  if (chains.every((chain) => chain.logJoint)) {
    const offset = page.trace.log_joint_offset;
    plots.push(
      new TracePlot({
        name: "trace-log-joint",
        title: "Log joint",
        label: "Trace of the log joint of every chain",
        caption:
          "How well data and partition fit together, up to a constant. After the shaded start the lines of " +
          "different ensembles should overlap like one band without a trend. An ensemble that stays above or " +
          "below the others has not found what they have found.",
        hint: TRACE_KEYS,
        height: 300,
        yLabel: "log joint",
        format: (value) => fixed(value, 2),
        series: chains.map(({ ensemble, label, logJoint }) => ({
          ensemble,
          label,
          values: Float64Array.from(logJoint, (value) => value + offset),
        })),
      }),
    );
  }
  plots.push(
    new TracePlot({
      name: "trace-blocks",
      title: "Number of blocks",
      label: "Trace of the number of blocks of every chain",
      caption:
        "The number of blocks should go up and down in the same range in all ensembles. A line that is flat for " +
        "long is a chain that is stuck.",
      hint: TRACE_KEYS,
      height: 260,
      yLabel: "blocks",
      wholeY: true,
      format: (value) => whole(value),
      series: chains.map(({ ensemble, label, blocks }) => ({ ensemble, label, values: blocks })),
    }),
  );
  section("traces", "Traces", ...plots.map((plot) => plot.figure));
}

function fractionSection() {
  if (chains.every((chain) => chain.fractions.length === 0)) return;
  // All panels have the same height, so that they can be compared.
  const highestOf = (values) => values.reduce((a, b) => Math.max(a, b), 0);
  const highest = highestOf(chains.flatMap((chain) => chain.fractions.map(highestOf)));
  const panels = ensembles.map((ensemble) => {
    const own = chains.filter((chain) => chain.ensemble === ensemble);
    return new TracePlot({
      name: `trace-fractions-${ensemble + 1}`,
      title: `Ensemble ${ensemble + 1}`,
      label: `Traces of the shares of the largest blocks in ${ensembleLabel(ensemble)}`,
      height: 220,
      yLabel: `share of ${PLURAL_OF_ITEM}`,
      fixedRange: [0, Math.min(1, highest * 1.05) || 1],
      format: percent,
      series: own.flatMap(({ label, fractions }) =>
        fractions.map((values, k) => ({
          ensemble,
          label,
          values,
          level: k === 0 ? "largest block" : `${k + 1} largest blocks`,
        })),
      ),
    });
  });
  section(
    "fractions",
    "Sizes of the largest blocks",
    paragraph(
      `Each chain has up to five lines: the share of ${PLURAL_OF_ITEM} in the largest block (lowest line), in the two ` +
        "largest together, and so on. The panels of different ensembles should look alike: lines at other heights " +
        "are other partitions. Steps show where a chain went from one kind of partition to another.",
      "explain",
    ),
    element("div", { class: "grid" }, ...panels.map((plot) => plot.figure)),
  );
}
