// What all traces share: the part of the iterations that is shown, and the ensembles hidden.

const firstIteration = iterations[0] ?? 0;
const lastIteration = Math.max(iterations[iterations.length - 1] ?? 1, firstIteration + 1);

/** What all traces show. */
const view = { low: firstIteration, high: lastIteration, hidden: new Set(), plots: [], buttons: [] };

function showIterations(low, high) {
  const smallest = Math.min(lastIteration - firstIteration, 2);
  if (high - low < smallest) {
    const middle = (low + high) / 2;
    [low, high] = [middle - smallest / 2, middle + smallest / 2];
  }
  view.low = Math.max(firstIteration, low);
  view.high = Math.min(lastIteration, high);
  view.plots.forEach((plot) => plot.draw());
}

const resetIterations = () => showIterations(firstIteration, lastIteration);

function toggleEnsemble(ensemble) {
  if (!view.hidden.delete(ensemble)) view.hidden.add(ensemble);
  for (const { button, ensemble: own } of view.buttons) {
    button.setAttribute("aria-pressed", String(!view.hidden.has(own)));
  }
  view.plots.forEach((plot) => plot.draw());
}

/** A button for each ensemble, with its colour and its dashes. */
function ensembleLegend() {
  const buttons = ensembles.map((ensemble) => {
    const button = element(
      "button",
      { type: "button", class: "key", "aria-pressed": "true", onclick: () => toggleEnsemble(ensemble) },
      lineSample(ensemble),
      ensembleLabel(ensemble),
    );
    view.buttons.push({ button, ensemble });
    return button;
  });
  return element("div", { class: "legend", role: "group", "aria-label": "Show or hide ensembles" }, buttons);
}

/** A short piece of an ensemble's line. */
function lineSample(ensemble) {
  const colour = `var(--hue-${ensemble % HUES})`;
  const sample = element("span", { class: "line-sample", "aria-hidden": "true" });
  sample.style.background = dashedGradient(colour, dashOf(ensemble));
  return sample;
}

/** Dashes as a CSS background. */
function dashedGradient(colour, dashes) {
  if (dashes.length === 0) return colour;
  let at = 0;
  const stops = dashes.map((length, k) => {
    const from = at;
    at += length;
    return `${k % 2 === 0 ? colour : "transparent"} ${from}px ${at}px`;
  });
  return `repeating-linear-gradient(90deg, ${stops.join(", ")})`;
}
