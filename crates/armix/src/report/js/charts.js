// The smaller charts: ranks, autocorrelation, the posterior of the number of blocks.

/** Bars of the number of draws in each range of ranks, a row for each ensemble. */
class RankPlot extends Plot {
  constructor(ranks) {
    const label = labelOf(ranks.quantity);
    super({
      name: `ranks-${ranks.quantity}`,
      title: label,
      label: `Histograms of ranks of ${label} by ensemble`,
      height: 34 + 52 * ranks.ensembles.length,
    });
    this.ranks = ranks;
    this.canvas.addEventListener("pointermove", (event) => this.pointAt(this.pointer(event)));
    this.canvas.addEventListener("pointerleave", () => this.hideTip());
  }

  paint(context, width, height) {
    const { ensembles: rows, expected } = this.ranks;
    const highest = Math.max(expected * 1.6, ...rows.flat());
    const frame = (this.frame = { left: 92, right: width - 10, top: 4, row: (height - 38) / rows.length });
    const muted = themeColour("muted");
    rows.forEach((bins, row) => {
      const bottom = frame.top + (row + 1) * frame.row - 6;
      const scale = (frame.row - 10) / highest;
      const step = (frame.right - frame.left) / bins.length;
      context.fillStyle = muted;
      context.textAlign = "left";
      context.textBaseline = "bottom";
      context.fillText(ensembleLabel(row), 2, bottom);
      context.fillStyle = colourOf(row);
      bins.forEach((count, k) => {
        context.fillRect(frame.left + k * step, bottom - count * scale, Math.max(1, step - 1), count * scale);
      });
      context.strokeStyle = themeColour("text");
      context.lineWidth = 1.2;
      context.setLineDash([5, 3]);
      line(context, frame.left, bottom - expected * scale, frame.right, bottom - expected * scale);
      context.setLineDash([]);
      context.strokeStyle = muted;
      line(context, frame.left, bottom + 0.5, frame.right, bottom + 0.5);
    });
    context.fillStyle = muted;
    context.textBaseline = "bottom";
    context.textAlign = "left";
    context.fillText("lowest", frame.left, height - 16);
    context.textAlign = "right";
    context.fillText("highest", frame.right, height - 16);
    context.textAlign = "center";
    context.fillText("rank among all draws", (frame.left + frame.right) / 2, height - 1);
  }

  pointAt({ x, y }) {
    const { left, right, top, row: rowHeight } = this.frame;
    const { ensembles: rows, expected } = this.ranks;
    const row = Math.floor((y - top) / rowHeight);
    const bins = rows[row];
    const bin = bins ? Math.floor(((x - left) / (right - left)) * bins.length) : -1;
    if (!bins || bin < 0 || bin >= bins.length) return this.hideTip();
    const from = percent(bin / bins.length);
    const to = percent((bin + 1) / bins.length);
    this.showTip(
      [ensembleLabel(row), `ranks ${from} to ${to}`, `${rounded(bins[bin])} draws, ${rounded(expected)} expected`],
      x,
      y,
    );
  }
}

function rankSection() {
  if (page.ranks.length === 0) return;
  section(
    "ranks",
    "Ranks",
    paragraph(
      "All draws are sorted together, and each row counts where the draws of one ensemble come in that order. If the " +
        "ensembles agree, all bars end near the dashed line. Bars that lean to one side mean that this ensemble has " +
        "lower or higher values than the others; bars high in the middle or at both ends mean another spread.",
      "explain",
    ),
    element("div", { class: "grid narrow" }, ...page.ranks.map((ranks) => new RankPlot(ranks).figure)),
  );
}

/** The autocorrelation of every chain over the lags. */
class AutocorrelationPlot extends Plot {
  constructor(acf) {
    const label = labelOf(acf.quantity);
    super({
      name: `autocorrelation-${acf.quantity}`,
      title: label,
      label: `Autocorrelation of ${label} by lag, a line for each chain`,
      height: 220,
    });
    this.acf = acf;
    this.canvas.addEventListener("pointermove", (event) => this.pointAt(this.pointer(event)));
    this.canvas.addEventListener("pointerleave", () => this.hideTip());
  }

  paint(context, width, height) {
    const { lags, chains: lines } = this.acf;
    const lowest = Math.min(0, ...lines.map((values) => values.reduce((a, b) => Math.min(a, b), 0)));
    this.frame = axes(context, width, height, {
      x: [lags[0], Math.max(lags[lags.length - 1], lags[0] + 1)],
      y: [lowest < 0 ? lowest - 0.05 : 0, 1.02],
      xLabel: "lag (iterations)",
      yLabel: "autocorrelation",
      wholeX: true,
    });
    const { toX, toY, left, right } = this.frame;
    context.globalAlpha = lines.length > 8 ? 0.6 : 0.9;
    context.lineWidth = 1.4;
    lines.forEach((values, k) => {
      const ensemble = chains[k]?.ensemble ?? 0;
      context.strokeStyle = colourOf(ensemble);
      context.setLineDash(dashOf(ensemble));
      context.beginPath();
      values.forEach((value, at) => context.lineTo(toX(lags[at]), toY(value)));
      context.stroke();
    });
    context.globalAlpha = 1;
    context.setLineDash([]);
    context.strokeStyle = themeColour("text");
    context.lineWidth = 1;
    line(context, left, toY(0), right, toY(0));
  }

  pointAt({ x, y }) {
    const { toX, toY } = this.frame;
    const { lags, chains: lines } = this.acf;
    const nearer = (best, lag, k) => (Math.abs(toX(lag) - x) < Math.abs(toX(lags[best]) - x) ? k : best);
    const at = lags.reduce(nearer, 0);
    const away = (k) => Math.abs(toY(lines[k][at]) - y);
    const nearest = lines.reduce((best, _, k) => (away(k) < away(best) ? k : best), 0);
    const label = chains[nearest]?.label ?? `chain ${nearest + 1}`;
    this.showTip([label, `lag ${whole(lags[at])}: ${fixed(lines[nearest][at], 3)}`], x, y);
  }
}

function autocorrelationSection() {
  const drawable = page.autocorrelation.filter((acf) => acf.lags.length > 0 && acf.chains.length > 0);
  if (drawable.length === 0) return;
  section(
    "autocorrelation",
    "Autocorrelation",
    paragraph(
      "How much a value still tells about the value so many iterations later. Lines that fall quickly to zero mean " +
        "that few iterations make a new, independent draw. Lines that stay high mean that the chains move slowly and " +
        "the run is worth fewer draws than it has iterations.",
      "explain",
    ),
    ensembles.length > 1 ? staticLegend() : null,
    element("div", { class: "grid narrow" }, ...drawable.map((acf) => new AutocorrelationPlot(acf).figure)),
  );
}

/** Which line is which ensemble, without buttons. */
function staticLegend() {
  const keys = ensembles.map((e) => element("span", { class: "key" }, lineSample(e), ensembleLabel(e)));
  return element("div", { class: "legend" }, keys);
}

/** Bars of the posterior probabilities of the numbers of blocks. */
class BlocksPlot extends Plot {
  constructor(posterior) {
    super({
      name: "blocks-posterior",
      label: "Posterior probabilities of the numbers of blocks",
      caption:
        "How probable each number of blocks is, given the data. Several high bars are honest: the data do not fix " +
        "one number. These numbers mean something only if the run has converged.",
      height: 240,
    });
    this.posterior = posterior;
    this.canvas.addEventListener("pointermove", (event) => this.pointAt(this.pointer(event)));
    this.canvas.addEventListener("pointerleave", () => this.hideTip());
  }

  paint(context, width, height) {
    const numbers = this.posterior.map(([k]) => k);
    const highest = Math.max(...this.posterior.map(([, p]) => p));
    const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
    // A few bars shall not become walls: at least ten places.
    const air = Math.max(0.6, (10 - (last - first)) / 2);
    const frame = axes(context, width, height, {
      x: [Math.max(0.4, first - air), last + air],
      y: [0, highest * 1.12],
      xLabel: "number of blocks",
      yLabel: "probability",
      wholeX: true,
      top: 16,
    });
    const step = frame.toX(1) - frame.toX(0);
    this.frame = { ...frame, step };
    for (const [k, p] of this.posterior) {
      context.fillStyle = colourOf(0);
      const barWidth = Math.max(1, step * 0.8);
      context.fillRect(frame.toX(k) - barWidth / 2, frame.toY(p), barWidth, frame.bottom - frame.toY(p));
      if (step < 34) continue;
      context.fillStyle = themeColour("text");
      context.textAlign = "center";
      context.textBaseline = "bottom";
      context.fillText(probability(p), frame.toX(k), frame.toY(p) - 2);
    }
  }

  pointAt({ x, y }) {
    const { toX, step } = this.frame;
    const k = Math.round((x - toX(0)) / step);
    const numbers = this.posterior.map(([number]) => number);
    if (k < Math.min(...numbers) || k > Math.max(...numbers)) return this.hideTip();
    // A number between two bars was never drawn.
    const [, p] = this.posterior.find(([number]) => number === k) ?? [k, 0];
    this.showTip([plural(k, "block"), `probability ${probability(p)}`], x, y);
  }
}

function blocksSection() {
  if (page.blocks_posterior.length === 0) return;
  section("blocks", "Number of blocks", new BlocksPlot(page.blocks_posterior).figure);
}
