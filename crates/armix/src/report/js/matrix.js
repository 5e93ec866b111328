// Matrices over the items, ordered by the blocks of the estimate, to look into with zoom and pan.

// Points of the viridis colour map, which grows evenly lighter and is safe for colour-blind eyes.
const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
];

/** Colours in between, for 0 to 255. */
function colourTable(points) {
  return Array.from({ length: 256 }, (_, value) => {
    const at = (value / 255) * (points.length - 1);
    const low = Math.min(points.length - 2, Math.floor(at));
    return points[low].map((part, k) => Math.round(part + (at - low) * (points[low + 1][k] - part)));
  });
}

const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// Room for block numbers, left and on top.
const MARGIN = 14 + 8 * String(segments.reduce((most, { number: block }) => Math.max(most, block), 0)).length;
const SCALE = 46; // room for the scale of colours, below
const DEEPEST = 4; // at most so few cells on a side are shown

class MatrixPlot extends Plot {
  /**
   * @param matrix with size, items_per_cell, full and cells
   * @param tell what the tooltip says of a value
   * @param colours the points of the colour map, in the colours of the theme of the moment
   * @param bend how a share of `full` is brought to a colour, to make faint cells seen
   */
  constructor({ matrix, tell, colours, bend, scaleLabel, ...rest }) {
    super({ height: (width) => Math.min(width, 560) + SCALE, ...rest });
    Object.assign(this, { matrix, tell, colours, bend, scaleLabel });
    this.cells = unpack(matrix.cells);
    this.pointers = new Map();
    this.canvas.tabIndex = 0;
    this.canvas.classList.add("matrix");
    const button = (text, label, act) =>
      element("button", { type: "button", "aria-label": label, onclick: act }, text);
    this.range = element("span", { class: "range" });
    const reset = element("button", { type: "button", class: "reset", onclick: () => this.reset() }, "Reset zoom");
    this.addControls(
      element(
        "div",
        { class: "zoom" },
        this.range,
        button("+", "Zoom in", () => this.zoomAtMiddle(0.5)),
        button(MINUS, "Zoom out", () => this.zoomAtMiddle(2)),
        reset,
      ),
    );
    this.part = { x: 0, y: 0, side: matrix.size }; // what is shown, in cells
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener(
      "wheel",
      (event) => {
        // A wheel that turns over the plot by chance shall scroll the page.
        if (document.activeElement !== canvas && !event.ctrlKey) return;
        event.preventDefault();
        const { x, y } = this.pointer(event);
        this.zoom(1.2 ** Math.sign(event.deltaY), x, y);
        this.pointAt(x, y);
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.pointer(event));
    });
    canvas.addEventListener("pointermove", (event) => this.pointerMoved(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointerleave", () => this.hideTip());
    canvas.addEventListener("blur", () => this.hideTip());
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** One finger or the mouse moves the matrix; two fingers zoom. */
  pointerMoved(event) {
    const now = this.pointer(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.pointAt(now.x, now.y);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    this.pointers.set(event.pointerId, now);
    this.hideTip();
    if (others.length === 0) return this.pan(before.x - now.x, before.y - now.y);
    const [other] = others;
    const reach = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    this.zoom(reach(before) / reach(now), (now.x + other.x) / 2, (now.y + other.y) / 2);
  }

  key(event) {
    const step = this.box.side / 10;
    const actions = {
      "+": () => this.zoomAtMiddle(0.5),
      "-": () => this.zoomAtMiddle(2),
      0: () => this.reset(),
      Escape: () => this.reset(),
      ArrowLeft: () => this.pan(-step, 0),
      ArrowRight: () => this.pan(step, 0),
      ArrowUp: () => this.pan(0, -step),
      ArrowDown: () => this.pan(0, step),
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  reset() {
    this.show(0, 0, this.matrix.size);
  }

  zoomAtMiddle(factor) {
    const { left, top, side } = this.box;
    this.zoom(factor, left + side / 2, top + side / 2);
  }

  /** Shows `factor` times as many cells, and keeps what is under the point where it is. */
  zoom(factor, x, y) {
    const { left, top, side: pixels } = this.box;
    const { size } = this.matrix;
    const [right, down] = [(x - left) / pixels, (y - top) / pixels];
    const side = Math.min(size, Math.max(Math.min(DEEPEST, size), this.part.side * factor));
    const lost = this.part.side - side;
    this.show(this.part.x + lost * right, this.part.y + lost * down, side);
  }

  pan(x, y) {
    const cell = this.part.side / this.box.side;
    this.show(this.part.x + x * cell, this.part.y + y * cell, this.part.side);
  }

  show(x, y, side) {
    const inside = (start) => Math.min(this.matrix.size - side, Math.max(0, start));
    this.part = { x: inside(x), y: inside(y), side };
    // Fingers may scroll the page over a whole matrix, but move one that is zoomed.
    this.canvas.style.touchAction = side < this.matrix.size ? "none" : "pan-y";
    this.draw();
  }

  /** The cells as an image, one pixel for each; made anew only when the colours change. */
  image() {
    const points = this.colours();
    const key = String(points);
    if (this.imageKey === key) return this.imageCanvas;
    const { size } = this.matrix;
    const table = colourTable(points);
    const pixels = new ImageData(size, size);
    for (let k = 0; k < this.cells.length; k++) {
      const [red, green, blue] = table[Math.round(this.bend(this.cells[k] / 255) * 255)];
      pixels.data[4 * k] = red;
      pixels.data[4 * k + 1] = green;
      pixels.data[4 * k + 2] = blue;
      pixels.data[4 * k + 3] = 255;
    }
    this.imageCanvas = element("canvas", { width: size, height: size });
    this.imageCanvas.getContext("2d").putImageData(pixels, 0, 0);
    this.imageKey = key;
    return this.imageCanvas;
  }

  paint(context, width, height) {
    const side = Math.min(width - MARGIN - 2, height - MARGIN - SCALE);
    this.box = { left: MARGIN, top: MARGIN, side };
    const { x, y, side: part } = this.part;
    context.imageSmoothingEnabled = part > side * (window.devicePixelRatio || 1);
    context.imageSmoothingQuality = "high";
    context.drawImage(this.image(), x, y, part, part, MARGIN, MARGIN, side, side);
    this.paintBorders(context);
    this.paintScale(context);
    const items = whole(Math.round(part * this.matrix.items_per_cell));
    const text = `${items} of ${whole(page.shape.n)} ${PLURAL_OF_ITEM} on a side`;
    this.range.textContent = text;
    this.canvas.dataset.range = `${text} from ${x.toFixed(2)}, ${y.toFixed(2)}`;
  }

  paintBorders(context) {
    const { left, top, side } = this.box;
    const pixel = (position, start) =>
      ((position / this.matrix.items_per_cell - start) / this.part.side) * side;
    context.save();
    context.strokeStyle = this.borderColour();
    // Where blocks are thin, their borders shall not hide them.
    const thickness = (side / this.part.side) * (this.matrix.size / Math.max(1, segments.length));
    context.globalAlpha = thickness < 4 ? 0 : Math.min(1, Math.max(0.25, thickness / 30));
    context.lineWidth = thickness < 20 ? 0.5 : 1;
    context.beginPath();
    context.rect(left, top, side, side);
    context.clip();
    for (const { end } of segments) {
      const across = left + pixel(end, this.part.x);
      const down = top + pixel(end, this.part.y);
      line(context, across, top, across, top + side);
      line(context, left, down, left + side, down);
    }
    context.restore();
    context.strokeStyle = themeColour("muted");
    context.strokeRect(left - 0.5, top - 0.5, side + 1, side + 1);
    context.fillStyle = themeColour("text");
    context.textBaseline = "middle";
    let [lastAcross, lastDown] = [-Infinity, -Infinity];
    for (const { start, end, number: block } of segments) {
      const text = String(block);
      const middle = (from, to) => (Math.max(0, from) + Math.min(side, to)) / 2;
      const [from, to] = [pixel(start, this.part.x), pixel(end, this.part.x)];
      const [above, below] = [pixel(start, this.part.y), pixel(end, this.part.y)];
      const room = context.measureText(text).width + 4;
      const across = middle(from, to);
      const down = middle(above, below);
      if (to > 0 && from < side && across - lastAcross >= room) {
        context.textAlign = "center";
        context.fillText(text, left + across, top / 2 + 4);
        lastAcross = across;
      }
      if (below > 0 && above < side && down - lastDown >= 13) {
        context.textAlign = "right";
        context.fillText(text, left - 5, top + down);
        lastDown = down;
      }
    }
  }

  paintScale(context) {
    const { left, top, side } = this.box;
    const width = Math.min(220, side * 0.6);
    const y = top + side + 12;
    const table = colourTable(this.colours());
    for (let k = 0; k < width; k++) {
      const [red, green, blue] = table[Math.round(this.bend(k / width) * 255)];
      context.fillStyle = `rgb(${red}, ${green}, ${blue})`;
      context.fillRect(left + k, y, 1.5, 10);
    }
    context.strokeStyle = themeColour("muted");
    context.strokeRect(left - 0.5, y - 0.5, width + 1, 11);
    context.fillStyle = themeColour("muted");
    context.textBaseline = "top";
    [0, 0.5, 1].forEach((share) => {
      context.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
      context.fillText(String(Number((share * this.matrix.full).toPrecision(2))), left + share * width, y + 15);
    });
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(this.scaleLabel, left + width + 8, y + 5);
  }

  /** Says which two items, or which two groups of items, are under the pointer. */
  pointAt(x, y) {
    const { left, top, side } = this.box;
    const { size, items_per_cell: perCell, full } = this.matrix;
    const column = Math.floor(this.part.x + ((x - left) / side) * this.part.side);
    const row = Math.floor(this.part.y + ((y - top) / side) * this.part.side);
    const outside = x < left || y < top || x >= left + side || y >= top + side;
    if (outside || row < 0 || column < 0 || row >= size || column >= size) return this.hideTip();
    const value = (this.cells[row * size + column] / 255) * full;
    const lines = [this.cellLabel(row), this.cellLabel(column)];
    this.showTip([...lines, this.tell(value, perCell > 1, row === column)], x, y);
  }

  cellLabel(cell) {
    const perCell = this.matrix.items_per_cell;
    const first = Math.ceil(cell * perCell - 1e-9);
    const last = Math.min(page.shape.n, Math.ceil((cell + 1) * perCell - 1e-9)) - 1;
    const block = (position) => page.estimate.block_of_item[order[position]];
    const name = shortName(order[first], 40);
    if (last <= first) return `${name} (block ${block(first)})`;
    const blocks = block(first) === block(last) ? `block ${block(first)}` : `blocks ${block(first)} to ${block(last)}`;
    return `${name} and ${last - first} more (${blocks})`;
  }
}

function matrixSection() {
  const plots = [];
  if (page.similarity) {
    const plot = new MatrixPlot({
      name: "similarity",
      title: "Together in one block",
      label: "Matrix of the posterior probability that two items are in one block",
      caption:
        `For each two ${PLURAL_OF_ITEM} the probability that they are in one block, ordered by the estimate, whose ` +
        "blocks are marked and numbered. Bright squares with sharp edges are blocks that the data are sure about; " +
        "blurred ones change from draw to draw.",
      hint:
        "Click first, then turn the wheel or use two fingers to zoom; drag to move; with the keyboard: +, −, arrows " +
        "and 0.",
      matrix: page.similarity,
      colours: () => VIRIDIS,
      bend: (share) => share,
      scaleLabel: "probability",
      tell: (value, many) => `${many ? "mean probability" : "probability"} of one block: ${probability(value)}`,
    });
    plot.borderColour = () => "rgba(255, 255, 255, 0.75)";
    plots.push(plot);
  }
  if (page.adjacency) {
    const several = page.adjacency.items_per_cell > 1;
    const plot = new MatrixPlot({
      name: "adjacency",
      title: "Links",
      label: "Adjacency matrix, ordered by the estimate",
      caption:
        "Who is linked to whom, in the same order. A good partition cuts the matrix into rectangles that are evenly " +
        "grey inside. A rectangle with a pattern in it may hide blocks that were not found.",
      matrix: page.adjacency,
      colours: () => [rgbOf(themeColour("surface")), rgbOf(themeColour("ink"))],
      bend: Math.sqrt,
      scaleLabel: several ? "share linked" : "0 no link, 1 link",
      tell: (value, many, same) => {
        if (many) return `share of pairs that are linked: ${probability(value)}`;
        if (same) return `the same ${page.shape.item_word}`;
        return value > 0 ? "linked" : "not linked";
      },
    });
    plot.borderColour = () => themeColour("border");
    plots.push(plot);
  }
  if (plots.length === 0) return;
  section("matrices", "Matrices", element("div", { class: "grid wide" }, ...plots.map((plot) => plot.figure)));
}
