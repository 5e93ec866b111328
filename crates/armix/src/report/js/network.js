// A drawing of a small network. The layout is computed here and is the same every time.

const STEPS = 300;

/** Where vertices start: the blocks on a circle, the members of a block on a spiral in its place. */
function startPositions(n) {
  const xs = new Float64Array(n);
  const ys = new Float64Array(n);
  segments.forEach(({ start, end }, place) => {
    const angle = (2 * Math.PI * place) / segments.length;
    const away = segments.length > 1 ? Math.sqrt(n) : 0;
    for (let position = start; position < end; position++) {
      const within = position - start;
      const radius = 0.5 * Math.sqrt(within);
      const turn = within * 2.399963; // the golden angle spreads points evenly
      xs[order[position]] = away * Math.cos(angle) + radius * Math.cos(turn);
      ys[order[position]] = away * Math.sin(angle) + radius * Math.sin(turn);
    }
  });
  return [xs, ys];
}

/**
 * A force layout after Fruchterman and Reingold: all vertices repel each other, linked ones attract
 * each other, and each is pulled to the middle of its block.
 */
function forceLayout(n, edges) {
  const [xs, ys] = startPositions(n);
  const fx = new Float64Array(n);
  const fy = new Float64Array(n);
  const places = Array.from({ length: n }, (_, item) => placeOfItem(item));
  for (let step = 0; step < STEPS; step++) {
    fx.fill(0);
    fy.fill(0);
    for (let a = 0; a < n; a++) {
      for (let b = a + 1; b < n; b++) {
        const dx = xs[a] - xs[b];
        const dy = ys[a] - ys[b];
        const push = 1 / (dx * dx + dy * dy + 0.01);
        fx[a] += dx * push;
        fy[a] += dy * push;
        fx[b] -= dx * push;
        fy[b] -= dy * push;
      }
    }
    for (let k = 0; k < edges.length; k += 2) {
      const [a, b] = [edges[k], edges[k + 1]];
      const dx = xs[a] - xs[b];
      const dy = ys[a] - ys[b];
      const pull = 0.15 * Math.min(4, Math.hypot(dx, dy));
      fx[a] -= dx * pull;
      fy[a] -= dy * pull;
      fx[b] += dx * pull;
      fy[b] += dy * pull;
    }
    pullBlocksTogether(xs, ys, fx, fy, places);
    const furthest = (Math.sqrt(n) * 0.4 + 0.5) * (1 - step / STEPS);
    for (let a = 0; a < n; a++) {
      const force = Math.hypot(fx[a], fy[a]) || 1;
      const way = Math.min(furthest, force) / force;
      xs[a] += fx[a] * way;
      ys[a] += fy[a] * way;
    }
  }
  return [xs, ys];
}

function pullBlocksTogether(xs, ys, fx, fy, places) {
  const sums = segments.map(() => [0, 0, 0]);
  places.forEach((place, item) => {
    sums[place][0] += xs[item];
    sums[place][1] += ys[item];
    sums[place][2] += 1;
  });
  places.forEach((place, item) => {
    const [x, y, count] = sums[place];
    fx[item] += 1.6 * (x / count - xs[item]) - 0.05 * xs[item];
    fy[item] += 1.6 * (y / count - ys[item]) - 0.05 * ys[item];
  });
}

class NetworkPlot extends Plot {
  constructor(edges, n) {
    super({
      name: "network",
      label: `Drawing of the network, ${plural(n, page.shape.item_word)} in ${plural(segments.length, "block")}`,
      caption:
        "Linked vertices and vertices of one block are drawn near each other. Each block has a colour, a shape and a " +
        "number; small vertices are those whose block is uncertain.",
      hint:
        "Point at a vertex to see its name and its neighbours; with the keyboard, the arrows go from vertex to vertex.",
      height: (width) => Math.max(260, Math.min(width * 0.75, 620)),
    });
    this.edges = edges;
    this.n = n;
    this.pointed = null;
    this.neighbours = Array.from({ length: n }, () => new Set());
    for (let k = 0; k < edges.length; k += 2) {
      this.neighbours[edges[k]].add(edges[k + 1]);
      this.neighbours[edges[k + 1]].add(edges[k]);
    }
    [this.xs, this.ys] = forceLayout(n, edges);
    this.canvas.tabIndex = 0;
    this.canvas.addEventListener("pointermove", (event) => this.pointAt(this.pointer(event)));
    this.canvas.addEventListener("pointerdown", (event) => this.pointAt(this.pointer(event)));
    for (const end of ["pointerleave", "blur"]) this.canvas.addEventListener(end, () => this.choose(null));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const at = this.pointed === null ? (step > 0 ? -1 : 0) : order.indexOf(this.pointed);
    this.choose(order[(at + step + this.n) % this.n]);
  }

  paint(context, width, height) {
    this.radius = Math.max(3.5, Math.min(11, (0.32 * Math.sqrt(width * height)) / Math.sqrt(this.n) / 2.6));
    const air = this.radius * 1.5 + 4;
    const [left, right] = [Math.min(...this.xs), Math.max(...this.xs)];
    const [top, bottom] = [Math.min(...this.ys), Math.max(...this.ys)];
    const fit = (value, low, high, pixels) => air + ((value - low) / (high - low || 1)) * (pixels - 2 * air);
    this.at = Array.from({ length: this.n }, (_, item) => ({
      x: fit(this.xs[item], left, right, width),
      y: fit(this.ys[item], top, bottom, height),
    }));
    const lit = this.pointed === null ? null : this.neighbours[this.pointed];
    const density = this.edges.length / 2 / this.n;
    this.paintEdges(context, () => true, themeColour("edge"), density > 6 ? 0.25 : 0.6, 1);
    if (lit) {
      const own = (a, b) => a === this.pointed || b === this.pointed;
      this.paintEdges(context, own, themeColour("text"), 1, 2);
    }
    for (let item = 0; item < this.n; item++) {
      const faded = lit && item !== this.pointed && !lit.has(item);
      this.paintVertex(context, item, faded ? 0.3 : 1);
    }
  }

  paintEdges(context, chosen, colour, alpha, lineWidth) {
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = lineWidth;
    context.beginPath();
    for (let k = 0; k < this.edges.length; k += 2) {
      const [a, b] = [this.edges[k], this.edges[k + 1]];
      if (!chosen(a, b)) continue;
      context.moveTo(this.at[a].x, this.at[a].y);
      context.lineTo(this.at[b].x, this.at[b].y);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  paintVertex(context, item, alpha) {
    const { x, y } = this.at[item];
    const place = placeOfItem(item);
    const sure = Number.isFinite(certainty[item]) ? certainty[item] : 1;
    const radius = this.radius * (0.65 + 0.35 * sure) * (item === this.pointed ? 1.3 : 1);
    context.globalAlpha = alpha;
    context.fillStyle = colourOf(place);
    tracePathOfShape(context, shapeOf(place), x, y, radius);
    context.fill();
    context.strokeStyle = themeColour(item === this.pointed ? "text" : "surface");
    context.lineWidth = item === this.pointed ? 2 : 1;
    context.stroke();
    if (this.radius >= 8) {
      context.fillStyle = numberColour(colourOf(place));
      context.font = `bold ${Math.round(radius * 1.05)}px ${themeColour("font")}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(String(page.estimate.block_of_item[item]), x, y + 0.5);
    }
    context.globalAlpha = 1;
  }

  pointAt({ x, y }) {
    let nearest = null;
    let best = (this.radius * 1.8) ** 2;
    this.at.forEach((spot, item) => {
      const away = (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (away < best) [nearest, best] = [item, away];
    });
    this.choose(nearest);
  }

  choose(item) {
    if (item === this.pointed) return;
    this.pointed = item;
    this.draw();
    if (item === null) return this.hideTip();
    const sure = Number.isFinite(certainty[item]) ? `, certainty ${percent(certainty[item])}` : "";
    const neighbours = this.neighbours[item].size;
    this.showTip(
      [
        shortName(item, 40),
        `block ${page.estimate.block_of_item[item]}${sure}`,
        neighbours === 1 ? "1 neighbour" : `${neighbours} neighbours`,
      ],
      this.at[item].x,
      this.at[item].y,
    );
  }
}

/** Black or white, whichever is easier to read on a colour. */
function numberColour(hex) {
  const [red, green, blue] = rgbOf(hex);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 120 ? "#000000" : "#ffffff";
}

function networkSection() {
  if (!page.network) return;
  const plot = new NetworkPlot(unpack(page.network.edges), page.shape.n);
  section("network", "Network", plot.figure, page.block_table.length > 0 ? blockLegend() : null);
}

/** Which shape and colour is which block; the first of many. */
function blockLegend() {
  const shown = segments.slice(0, 14);
  const keys = shown.map(({ number: block }) => element("span", { class: "key" }, blockMark(block), `block ${block}`));
  const rest = segments.length - shown.length;
  return element("div", { class: "legend" }, keys, rest > 0 ? `and ${plural(rest, "block")} more` : null);
}
