// What must hold for every report. Each check returns what is wrong, as sentences.

/** What a canvas shows: how many colours, and how much of it is not background. */
const LOOK_AT_PLOTS = () => {
  // Pixels are read from a copy, so that the plots themselves stay as they are.
  const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const looks = [];
  for (const canvas of document.querySelectorAll("canvas[data-plot]")) {
    const { width, height } = canvas;
    const shown = canvas.getBoundingClientRect();
    Object.assign(copy.canvas, { width, height });
    copy.drawImage(canvas, 0, 0);
    const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    const background = Math.max(...counts.values());
    looks.push({
      plot: canvas.dataset.plot,
      colours: counts.size,
      ink: 1 - background / pixels.length,
      size: [shown.width, shown.height],
      labelled: canvas.getAttribute("role") === "img" && Boolean(canvas.getAttribute("aria-label")),
    });
  }
  return looks;
};

async function plotsAreDrawn(page) {
  const looks = await page.evaluate(LOOK_AT_PLOTS);
  const faults = looks.length === 0 ? ["there is no plot at all"] : [];
  for (const { plot, colours, ink, size, labelled } of looks) {
    if (colours < 6 || ink < 0.01) faults.push(`${plot} is not drawn: ${colours} colours, ${(100 * ink).toFixed(2)} % ink`);
    if (size[0] < 200 || size[1] < 60) faults.push(`${plot} is too small: ${size.join(" × ")}`);
    if (!labelled) faults.push(`${plot} has no label for screen readers`);
  }
  return faults;
}

/** Sections are there exactly when their data are. */
async function sectionsMatchTheData(page) {
  return page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const wanted = {
      "trace-log-joint": data.trace.chains.every((chain) => chain.log_joint),
      "trace-blocks": true,
      "trace-fractions-1": data.trace.chains.some((chain) => chain.fractions.length > 0),
      "blocks-posterior": data.blocks_posterior.length > 0,
      similarity: data.similarity !== null,
      adjacency: data.adjacency !== null,
      network: data.network !== null,
    };
    for (const { quantity } of data.ranks) wanted[`ranks-${quantity}`] = true;
    for (const { quantity } of data.autocorrelation) wanted[`autocorrelation-${quantity}`] = true;
    const tables = {
      diagnostics: data.quantities.some(({ name, label, ...known }) => Object.values(known).some((v) => v !== null)),
      moves: data.moves.length > 0,
      blocks: data.block_table.length > 0,
      density: data.density_between !== null,
      modes: data.modes.length > 0,
      distances: data.distances !== null,
      truth: data.truth !== null,
    };
    const faults = [];
    const compare = (attribute, name, expected) => {
      const there = document.querySelector(`[${attribute}="${name}"]`) !== null;
      if (there !== expected) faults.push(`${name} is ${there ? "there without data" : "missing"}`);
    };
    for (const [name, expected] of Object.entries(wanted)) compare("data-plot", name, expected);
    for (const [name, expected] of Object.entries(tables)) compare("data-table", name, expected);
    const empty = [...document.querySelectorAll("main > section")].filter((section) => section.children.length < 2);
    for (const section of empty) faults.push(`section ${section.id} is empty`);
    const verdict = document.querySelector("[data-verdict]")?.dataset.verdict;
    if (verdict !== data.verdict) faults.push(`the verdict shown is ${verdict}, not ${data.verdict}`);
    return faults;
  });
}

/** The middle of a plot in the window, after scrolling there. */
async function middleOf(page, plot) {
  return page.evaluate((name) => {
    const canvas = document.querySelector(`[data-plot="${name}"]`);
    canvas.scrollIntoView({ block: "center", behavior: "instant" });
    const box = canvas.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2, width: box.width, height: box.height };
  }, plot);
}

const tipOf = (page, plot) =>
  page.$eval(`[data-plot="${plot}"] ~ .tip`, (tip) => (tip.hidden ? "" : tip.innerText));

const rangeOf = (page, plot) => page.$eval(`[data-plot="${plot}"]`, (canvas) => canvas.dataset.range);

const has = async (page, plot) => (await page.$(`[data-plot="${plot}"]`)) !== null;

async function hoveringTells(page) {
  const faults = [];
  const expected = {
    "trace-log-joint": /ensemble \d+, chain \d+\s+iteration [\d\s]+.*\s+log joint: −?[\d\s.]+/,
    "trace-blocks": /ensemble \d+, chain \d+\s+iteration [\d\s]+.*\s+blocks: \d+/,
    "blocks-posterior": /\d+ blocks?\s+probability/,
    similarity: /\(blocks? .*\)\s.*\(blocks? .*\)\s+(mean )?probability of one block: [<01]/s,
    adjacency: /\(blocks? .*\)\s.*\(blocks? .*\)\s+(linked|not linked|the same|share of pairs that are linked: [<01])/s,
  };
  for (const [plot, pattern] of Object.entries(expected)) {
    if (!(await has(page, plot))) continue;
    const { x, y, width } = await middleOf(page, plot);
    await page.mouse.move(x, y);
    const first = await tipOf(page, plot);
    if (!pattern.test(first)) faults.push(`${plot} says ${JSON.stringify(first)}`);
    await page.mouse.move(x + width / 5, y + 10);
    if (plot !== "blocks-posterior" && (await tipOf(page, plot)) === first) faults.push(`${plot} says the same elsewhere`);
    await page.mouse.move(2, 2);
    if ((await tipOf(page, plot)) !== "") faults.push(`${plot} still says something when the pointer has left`);
  }
  return faults;
}

async function verticesTellTheirNames(page) {
  if (!(await has(page, "network"))) return [];
  await middleOf(page, "network");
  await page.focus('[data-plot="network"]');
  const n = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).shape.n);
  const told = new Set();
  for (let k = 0; k < n; k++) {
    await page.keyboard.press("ArrowRight");
    told.add(await tipOf(page, "network"));
  }
  const faults = told.size === n ? [] : [`${told.size} of ${n} vertices tell their names`];
  for (const tip of told) {
    if (!/block \d+, certainty .* %\s+\d+ neighbours?$/.test(tip)) faults.push(`a vertex says ${JSON.stringify(tip)}`);
  }
  await page.evaluate(() => document.activeElement.blur());
  return faults;
}

async function tracesZoom(page) {
  const faults = [];
  const plot = "trace-blocks";
  const all = await rangeOf(page, plot);
  const drag = async () => {
    const { x, y, width } = await middleOf(page, plot);
    await page.mouse.move(x - width / 8, y);
    await page.mouse.down();
    await page.mouse.move(x, y, { steps: 4 });
    await page.mouse.move(x + width / 8, y, { steps: 4 });
    await page.mouse.up();
    const zoomed = await rangeOf(page, plot);
    if (zoomed === all) faults.push(`a drag does not zoom: ${zoomed}`);
    const others = await page.$$eval("canvas[data-plot^=trace-]", (plots) => plots.map((p) => p.dataset.range));
    if (others.some((range) => range !== zoomed)) faults.push("not all traces zoom together");
  };
  const backBy = async (way, act) => {
    await drag();
    await act();
    if ((await rangeOf(page, plot)) !== all) faults.push(`${way} does not show all again`);
  };
  const { x, y } = await middleOf(page, plot);
  await backBy("the button", () => page.$eval(`figure:has([data-plot="${plot}"]) .reset`, (button) => button.click()));
  await backBy("a double click", () => page.mouse.click(x, y, { count: 2 }));
  await backBy("the keyboard", async () => {
    await page.focus(`[data-plot="${plot}"]`);
    await page.keyboard.press("Escape");
  });
  await page.keyboard.press("+");
  if ((await rangeOf(page, plot)) === all) faults.push("the key + does not zoom");
  await page.keyboard.press("0");
  await page.evaluate(() => document.activeElement.blur());
  return faults;
}

async function legendHidesEnsembles(page) {
  const legend = 'figure:has([data-plot="trace-blocks"]) .legend button';
  if ((await page.$(legend)) === null) return [];
  const picture = () => page.$eval('[data-plot="trace-blocks"]', (canvas) => canvas.toDataURL());
  await page.mouse.move(2, 2);
  const before = await picture();
  await page.$eval(legend, (button) => button.click());
  const hidden = await picture();
  const pressed = await page.$eval(legend, (button) => button.getAttribute("aria-pressed"));
  await page.$eval(legend, (button) => button.click());
  const faults = [];
  if (hidden === before) faults.push("nothing is hidden");
  if (pressed !== "false") faults.push("the button does not say that it is off");
  if ((await picture()) !== before) faults.push("the ensemble does not come back");
  return faults;
}

async function matricesZoom(page) {
  const faults = [];
  for (const plot of ["similarity", "adjacency"]) {
    if (!(await has(page, plot))) continue;
    const { x, y } = await middleOf(page, plot);
    const all = await rangeOf(page, plot);
    await page.mouse.click(x, y);
    await page.mouse.wheel({ deltaY: -100 });
    await page.waitForFunction(
      (name, before) => document.querySelector(`[data-plot="${name}"]`).dataset.range !== before,
      { timeout: 5000 },
      plot,
      all,
    );
    const zoomed = await rangeOf(page, plot);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 25, y - 25, { steps: 3 });
    await page.mouse.up();
    if ((await rangeOf(page, plot)) === zoomed) faults.push(`${plot} cannot be moved`);
    await page.$eval(`figure:has([data-plot="${plot}"]) .reset`, (button) => button.click());
    if ((await rangeOf(page, plot)) !== all) faults.push(`${plot} does not come back`);
    await page.evaluate(() => document.activeElement.blur());
  }
  return faults;
}

async function tablesSort(page) {
  return page.evaluate(() => {
    const table = document.querySelector('[data-table="blocks"]');
    if (!table) return [];
    const button = [...table.querySelectorAll("button.sort")].find((b) => b.textContent === "Size");
    const sizes = () => [...table.querySelectorAll("tbody tr")].map((row) => Number(row.cells[1].textContent));
    const faults = [];
    for (const sign of [-1, 1]) {
      button.click();
      const sorted = [...sizes()].sort((a, b) => sign * (a - b));
      if (String(sizes()) !== String(sorted)) faults.push(`sizes are ${sizes()}`);
    }
    const mark = table.querySelector("canvas.mark");
    const [red, green, blue, alpha] = mark.getContext("2d").getImageData(mark.width / 2, mark.height / 2, 1, 1).data;
    if (alpha === 0 || red + green + blue === 0) faults.push("the mark of a block is not drawn after sorting");
    [...table.querySelectorAll("button.sort")][0].click();
    [...table.querySelectorAll("button.sort")][0].click();
    return faults;
  });
}

async function namesAreInert(page) {
  return page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const faults = [];
    if (window.hacked !== undefined) faults.push("a name was run as a script");
    if (document.scripts.length !== 2) faults.push(`there are ${document.scripts.length} scripts`);
    if (document.querySelector("img, iframe, object, embed, b i, em")) faults.push("a name became an element");
    const shown = [...document.querySelectorAll(".members li")].map((item) => item.textContent);
    const members = data.block_table.flatMap((block) => block.members);
    for (const name of members.map((item) => data.names[item]).filter((name) => name !== undefined)) {
      if (!shown.includes(name)) faults.push(`the name ${JSON.stringify(name)} is not shown`);
    }
    if (!document.body.innerText.includes(data.title)) faults.push("the title is not shown");
    return faults;
  });
}

const colourOfBackground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

const firstPixel = (page) =>
  page.$eval("[data-plot]", (canvas) => {
    const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return String(copy.getImageData(2, 2, 1, 1).data);
  });

/**
 * Whether the first plot gets to that colour. The page hears of paper a frame or two after style sheets do: listeners of
 * media queries are told when styles have been computed, which on a busy machine is after the next animation frame.
 */
async function firstPixelBecomes(page, wanted) {
  const deadline = Date.now() + 5000;
  while ((await firstPixel(page)) !== wanted) {
    if (Date.now() > deadline) return false;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return true;
}

const themeBecomes = (page, theme) =>
  page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, { timeout: 5000 }, theme);

async function lightAndDark(page, shoot) {
  const faults = [];
  const scheme = (value) => page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
  await page.mouse.move(2, 2);
  const light = [await colourOfBackground(page), await firstPixel(page)];
  await shoot("light");
  await scheme("dark");
  await themeBecomes(page, "dark");
  const dark = [await colourOfBackground(page), await firstPixel(page)];
  if (dark[0] === light[0]) faults.push("the page is not dark");
  if (dark[1] === light[1]) faults.push("the plots are not dark");
  faults.push(...(await plotsAreDrawn(page)));
  await shoot("dark");
  await scheme("light");
  await themeBecomes(page, "light");
  await page.click("#theme");
  if ((await colourOfBackground(page)) !== dark[0]) faults.push("the button does not make it dark");
  await page.click("#theme");
  if ((await firstPixel(page)) !== light[1]) faults.push("the button does not make it light again");
  return faults;
}

async function fitsAPhone(page, shoot) {
  await page.setViewport({ width: 360, height: 740, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  await page.waitForFunction(() =>
    [...document.querySelectorAll("[data-plot]")].every(
      (canvas) => Math.abs(canvas.width - 2 * canvas.getBoundingClientRect().width) <= 2,
    ),
  );
  const faults = await plotsAreDrawn(page);
  const wide = await page.evaluate(() => {
    const inside = (box) => !box.closest(".scroll, #contents ol, pre, .skip");
    const boxes = [...document.querySelectorAll("body *")].filter(inside);
    const over = boxes.filter((box) => box.getBoundingClientRect().right > innerWidth + 1);
    const names = over.slice(0, 3).map((box) => `${box.tagName} ${box.className} ${box.textContent.slice(0, 30)}`);
    return { names, page: document.documentElement.scrollWidth, window: innerWidth };
  });
  if (wide.page > 360 || wide.window > 360) faults.push(`the page is ${wide.page} wide`);
  for (const name of wide.names) faults.push(`too wide: ${name}`);
  await shoot("phone");
  await page.setViewport({ width: 1280, height: 900, deviceScaleFactor: 1 });
  return faults;
}

/** Paper is light whatever the screen is. */
async function printsLight(page) {
  const faults = [];
  const folded = await page.$$eval("details:not([open])", (all) => all.length);
  for (const theme of ["dark", "light"]) {
    await page.click("#theme");
    await themeBecomes(page, theme);
    const shown = await firstPixel(page);
    await page.emulateMediaType("print");
    await page.waitForFunction(() => matchMedia("print").matches && !document.querySelector("details:not([open])"));
    if (!(await firstPixelBecomes(page, "255,255,255,255"))) faults.push(`the plots are not light from ${theme}`);
    if ((await colourOfBackground(page)) !== "rgb(255, 255, 255)") faults.push(`paper is not white from ${theme}`);
    await page.emulateMediaType("screen");
    await page.waitForFunction(
      (count) => document.querySelectorAll("details:not([open])").length === count,
      { timeout: 5000 },
      folded,
    );
    if (!(await firstPixelBecomes(page, shown))) faults.push(`the plots are not ${theme} after printing`);
  }
  return faults;
}

async function prints(page, shoot) {
  const faults = [];
  await page.setViewport({ width: 760, height: 1000, deviceScaleFactor: 1 });
  await page.emulateMediaType("print");
  await page.waitForFunction(() => matchMedia("print").matches && !document.querySelector("details:not([open])"));
  await page.evaluate(() => new Promise(requestAnimationFrame));
  const contents = await page.$eval("#contents", (nav) => getComputedStyle(nav).display);
  if (contents !== "none") faults.push("the table of contents is printed");
  faults.push(...(await plotsAreDrawn(page)));
  await shoot("print");
  const pdf = await page.pdf({ format: "A4" });
  if (pdf.length < 20_000) faults.push(`the print has ${pdf.length} bytes only`);
  await page.emulateMediaType(null);
  return faults;
}

export const CHECKS = [
  plotsAreDrawn,
  sectionsMatchTheData,
  namesAreInert,
  hoveringTells,
  verticesTellTheirNames,
  tracesZoom,
  legendHidesEnsembles,
  matricesZoom,
  tablesSort,
  lightAndDark,
  fitsAPhone,
  printsLight,
  prints,
];
