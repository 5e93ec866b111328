// Tables: diagnostics, moves, blocks, modes, distances.

/** The mark of a block as in the drawing, on a canvas of its own. */
function blockMark(block) {
  const canvas = element("canvas", { class: "mark", "aria-hidden": "true" });
  const place = placeOfBlock.get(block) ?? 0;
  const draw = () => {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(16 * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colourOf(place);
    tracePathOfShape(context, shapeOf(place), 8, 8, 6);
    context.fill();
  };
  allPlots.push({ draw });
  return canvas;
}

/**
 * A table. Each column has a title, a `cell` that makes the content for a row and perhaps a `key` to
 * sort by; columns of numbers are marked so.
 */
function makeTable(columns, rows, name) {
  const lines = rows.map((row) => ({
    row,
    line: element("tr", {}, columns.map((column) => element("td", { class: column.kind }, column.cell(row)))),
  }));
  const body = element("tbody", {}, lines.map(({ line }) => line));
  const headers = columns.map((column) => {
    const header = element("th", { scope: "col", class: column.kind, title: column.help });
    if (!column.key) header.append(column.title);
    else header.append(sortButton(column, header));
    return header;
  });
  function sortButton(column, header) {
    const sort = () => {
      const down = header.getAttribute("aria-sort") === "descending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", down ? "ascending" : "descending");
      const sign = down ? 1 : -1;
      const sorted = [...lines].sort((a, b) => sign * (column.key(a.row) - column.key(b.row)));
      body.replaceChildren(...sorted.map(({ line }) => line));
    };
    return element("button", { type: "button", class: "sort", onclick: sort }, column.title);
  }
  return element("table", { "data-table": name }, element("thead", {}, element("tr", {}, headers)), body);
}

/** A diagnostic with a mark if it is beyond its limit. */
function judged(text, bad) {
  return bad ? element("span", { class: "bad" }, `${text} ✗`) : text;
}

function diagnosticsSection() {
  const rows = page.quantities;
  if (rows.length === 0) return;
  const { limits } = page;
  const above = (value, limit) => limit !== null && number(value) !== null && !(number(value) <= limit);
  const below = (value, limit) => limit !== null && number(value) !== null && !(number(value) >= limit);
  const columns = [
    { title: "Quantity", cell: (row) => row.label },
    {
      title: "R̂",
      kind: "number",
      help: "between ensembles; 1 is agreement",
      cell: (row) => judged(fixed(row.rhat, 3), above(row.rhat, limits.rhat)),
    },
    {
      title: "R̂ of ranks",
      kind: "number",
      help: "the stricter form, from ranks",
      cell: (row) => judged(fixed(row.rhat_rank, 3), above(row.rhat_rank, limits.rhat_rank)),
    },
    {
      title: "ESS, bulk",
      kind: "number",
      help: "so many independent draws would tell as much about the middle",
      cell: (row) => judged(whole(row.ess_bulk), below(row.ess_bulk, limits.ess)),
    },
    {
      title: "ESS, tails",
      kind: "number",
      help: "so many independent draws would tell as much about the tails",
      cell: (row) => judged(whole(row.ess_tail), below(row.ess_tail, limits.ess)),
    },
    { title: "Autocorrelation time", kind: "number", help: "iterations for one new draw", cell: (row) => rounded(row.act) },
    { title: "Mean", kind: "number", cell: (row) => meanText(row) },
    { title: "± error", kind: "number", help: "Monte Carlo standard error of the mean", cell: (row) => rounded(row.mcse, 2) },
    { title: "SD", kind: "number", help: "posterior standard deviation", cell: (row) => rounded(row.sd) },
  ];
  const used = columns.filter((column, k) => k === 0 || rows.some((row) => column.cell(row) !== "–"));
  if (used.length < 2) return; // nothing is known of any quantity
  const bounds = [
    limits.rhat === null ? null : `R̂ at most ${limits.rhat}`,
    limits.rhat_rank === null ? null : `R̂ of ranks at most ${limits.rhat_rank}`,
    limits.ess === null ? null : `effective sample sizes (ESS) of at least ${whole(limits.ess)}`,
  ].filter((bound) => bound !== null);
  section(
    "diagnostics",
    "Diagnostics",
    paragraph(
      "R̂ compares the ensembles: 1 means that they cannot be told apart. " +
        (bounds.length > 0 ? `Wanted: ${bounds.join(", ")}; what is beyond is marked ✗.` : ""),
      "explain",
    ),
    tableBox("Diagnostics", makeTable(used, rows, "diagnostics")),
  );
}

/** A mean, in as many decimals as its error allows. */
function meanText({ mean, mcse, sd }) {
  const error = number(mcse) || number(sd);
  if (!Number.isFinite(error) || error <= 0 || number(mean) === null) return rounded(mean, 4);
  const decimals = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(error))));
  return decimals > 0 ? fixed(mean, decimals) : whole(mean);
}

function movesSection() {
  if (page.moves.length === 0) return;
  const seconds = page.moves.reduce((sum, move) => sum + move.seconds, 0);
  const columns = [
    { title: "Move", cell: (move) => move.name },
    { title: "Proposed", kind: "number", key: (move) => move.proposed, cell: (move) => whole(move.proposed) },
    { title: "Accepted", kind: "number", key: (move) => move.accepted, cell: (move) => whole(move.accepted) },
    {
      title: "Acceptance",
      kind: "with-bar",
      key: (move) => move.accept_rate ?? -1,
      cell: (move) => [percent(move.accept_rate), move.accept_rate === null ? null : bar(move.accept_rate)],
    },
    { title: "Idle", kind: "number", key: (move) => move.idle, cell: (move) => whole(move.idle) },
    {
      title: "Time",
      kind: "with-bar",
      key: (move) => move.seconds,
      cell: (move) => [`${rounded(move.seconds)} s`, seconds > 0 ? bar(move.seconds / seconds) : null],
    },
    { title: "Candidates weighed", kind: "number", key: (move) => move.work, cell: (move) => whole(move.work) },
  ];
  section(
    "moves",
    "Moves",
    paragraph(
      "What each kind of proposal did in all chains together. Bold moves are accepted seldom, and that is all right as " +
        "long as some are: one that is never accepted costs time for nothing. Idle means that the past states agreed, " +
        "so that there was nothing to propose.",
      "explain",
    ),
    tableBox("Moves", makeTable(columns, page.moves, "moves")),
  );
}

const FEW_MEMBERS = 12;
const FEW_BLOCKS = 12;
const MOST_MARKS = 200; // beyond, colours and shapes tell nothing, and canvases cost much

/** The names of the members, folded away if they are many. */
function memberList(block) {
  const names = element("ul", { class: "members" }, block.members.map((item) => element("li", {}, nameOf(item))));
  if (block.more > 0) names.append(element("li", { class: "more" }, `and ${whole(block.more)} more`));
  if (block.size <= FEW_MEMBERS) return names;
  const first = block.members.slice(0, 3).map((item) => shortName(item, 24)).join(", ");
  return element("details", {}, element("summary", {}, `${first}, …`), names);
}

function featureList(block) {
  const items = block.features.map(({ column, probability: inside, overall }) =>
    element("li", {}, element("b", {}, column), ` ${probability(inside)} `, element("small", {}, `(overall ${probability(overall)})`)),
  );
  const few = 6;
  const list = (part) => element("ul", { class: "features" }, part);
  if (items.length <= few) return list(items);
  const rest = element("details", {}, element("summary", {}, `${items.length - few} more`), list(items.slice(few)));
  return [list(items.slice(0, few)), rest];
}

function blockTableSection() {
  const rows = page.block_table;
  if (rows.length === 0) return;
  const columns = [
    {
      title: "Block",
      kind: "block",
      key: (block) => block.number,
      cell: ({ number: block }) => {
        const mark = placeOfBlock.get(block) < MOST_MARKS ? blockMark(block) : null;
        return element("span", { class: "key" }, mark, String(block));
      },
    },
    { title: "Size", kind: "number", key: (block) => block.size, cell: (block) => whole(block.size) },
    {
      title: "Certainty",
      kind: "with-bar",
      help: "how sure it is, on average, that its members belong here",
      key: (block) => block.certainty,
      cell: (block) => [percent(block.certainty), bar(block.certainty)],
    },
  ];
  if (rows.some((block) => block.density)) {
    columns.push({
      title: "Density within",
      kind: "number",
      key: (block) => block.density?.mean ?? -1,
      cell: ({ density }) =>
        density ? `${probability(density.mean)} (${probability(density.lower)} to ${probability(density.upper)})` : "–",
    });
  }
  if (rows.some((block) => block.features.length > 0)) {
    columns.push({ title: "What distinguishes it", cell: featureList });
  }
  columns.push({ title: "Members", cell: memberList });
  const { loss, expected_loss: expected } = page.estimate;
  section(
    "block-table",
    "Blocks of the estimate",
    paragraph(
      `The partition that stands for the posterior: the expected loss (${loss.toUpperCase()}) to the draws is ` +
        `${rounded(expected)}, the smallest that was found. Certainty is the mean probability that a member belongs ` +
        "with its block.",
      "explain",
    ),
    tableBox("Blocks", makeTable(columns, rows, "blocks")),
    densityTable(),
  );
}

/** A square of numbers with colours behind them. */
function heatTable({ name, corner, labels, values, format }) {
  const highest = Math.max(...values.flat().filter(Number.isFinite), 0) || 1;
  const rows = values.map((row, k) => {
    const cells = row.map((value) => {
      const cell = element("td", { class: "heat" }, format(value));
      const share = Number.isFinite(value) ? Math.min(1, Math.max(0, value / highest)) : 0;
      cell.style.setProperty("--share", `${Math.round(share * 60)}%`);
      return cell;
    });
    return element("tr", {}, element("th", { scope: "row" }, labels[k]), cells);
  });
  const head = element("tr", {}, element("th", {}, corner), labels.map((label) => element("th", { scope: "col" }, label)));
  return element("table", { class: "heat-table", "data-table": name }, element("thead", {}, head), element("tbody", {}, rows));
}

function densityTable() {
  const between = page.density_between;
  if (!between) return null;
  const table = heatTable({
    name: "density",
    corner: "block",
    labels: page.block_table.map((block) => String(block.number)),
    values: between,
    format: probability,
  });
  const box = tableBox("Density between blocks", table);
  const many = between.length > FEW_BLOCKS;
  return element(
    "div",
    {},
    element("h3", {}, "Density of links between blocks"),
    paragraph("The mean probability of a link between a member of one block and a member of another.", "explain"),
    many ? element("details", {}, element("summary", {}, `Show all ${between.length} blocks`), box) : box,
  );
}

function modesSection() {
  if (page.modes.length === 0) return;
  const columns = [
    { title: "Mode", kind: "number", cell: ({ place }) => String(place) },
    {
      title: "Share of draws",
      kind: "with-bar",
      key: ({ mode }) => mode.weight,
      cell: ({ mode }) => [percent(mode.weight), bar(mode.weight)],
    },
    { title: "Blocks", kind: "number", key: ({ mode }) => mode.blocks, cell: ({ mode }) => whole(mode.blocks) },
    {
      title: "Distance from the estimate",
      kind: "number",
      key: ({ mode }) => mode.distance,
      cell: ({ mode }) => rounded(mode.distance),
    },
  ];
  if (page.modes.some((mode) => mode.log_joint !== null)) {
    columns.push({ title: "Log joint", kind: "number", key: ({ mode }) => mode.log_joint ?? -Infinity, cell: ({ mode }) => fixed(mode.log_joint, 2) });
  }
  ensembles.forEach((ensemble) => {
    columns.push({
      title: `Ensemble ${ensemble + 1}`,
      kind: "with-bar",
      cell: ({ mode }) => [percent(mode.ensembles[ensemble]), bar(mode.ensembles[ensemble] ?? 0)],
    });
  });
  section(
    "modes",
    "Modes",
    paragraph(
      "Groups of draws that are near each other, the heaviest first: the main answers that the posterior gives. Each " +
        "mode should have about the same share in every ensemble. A mode that only one ensemble knows shows that the " +
        "run has not converged.",
      "explain",
    ),
    tableBox("Modes", makeTable(columns, page.modes.map((mode, k) => ({ mode, place: k + 1 })), "modes")),
  );
}

function distancesSection() {
  if (!page.distances) return;
  const values = page.distances.ensembles;
  const table = heatTable({
    name: "distances",
    corner: "",
    labels: values.map((_, k) => ensembleLabel(k)),
    values,
    format: (value) => rounded(value),
  });
  section(
    "distances",
    "Distances between ensembles",
    paragraph(
      "The mean distance (variation of information) between draws of two ensembles; on the diagonal, within one. If the " +
        "ensembles agree, all numbers are about the same. Numbers off the diagonal that are clearly larger mean that " +
        "the ensembles are in different places.",
      "explain",
    ),
    tableBox("Distances between ensembles", table),
  );
}

function truthSection() {
  if (!page.truth) return;
  const { name, ari, nmi, vi } = page.truth;
  const facts = [
    ["Adjusted Rand index", fixed(ari, 3), "1 is equal, 0 is chance"],
    ["Normalised mutual information", fixed(nmi, 3), "1 is equal, 0 is unrelated"],
    ["Variation of information", fixed(vi, 3), "0 is equal"],
  ];
  const rows = facts.map(([what, value, help]) =>
    element("tr", {}, element("th", { scope: "row" }, what), element("td", { class: "number" }, value), element("td", {}, help)),
  );
  section(
    "truth",
    "Known labels",
    paragraph(`How near the estimate comes to the labels “${name}”. The run did not see them.`, "explain"),
    tableBox("Known labels", element("table", { "data-table": "truth" }, element("tbody", {}, rows))),
  );
}

function provenanceSection() {
  const rows = page.provenance.map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "wrap" }, value)),
  );
  const block = (text, what) => [element("pre", { tabindex: 0 }, text), copyButton(text, what)];
  section(
    "provenance",
    "Settings and provenance",
    rows.length > 0
      ? tableBox("Settings", element("table", { "data-table": "provenance" }, element("tbody", {}, rows)))
      : null,
    page.command ? [element("h3", {}, "The same run again"), block(page.command, "command")] : null,
    page.citation ? [element("h3", {}, "To cite"), paragraph(page.citation, "wrap")] : null,
    page.bibtex ? block(page.bibtex, "BibTeX") : null,
  );
}
