// The page from top to bottom.

const VERDICTS = {
  converged: { icon: "✓", word: "Converged" },
  "not-converged": { icon: "✗", word: "Not converged" },
  "too-short": { icon: "…", word: "Too short to tell" },
};

/** Follows the system's light or dark until the button is pressed. */
function themeButton() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = element("button", { type: "button", id: "theme" });
  const set = (theme) => {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show in ${theme === "dark" ? "light" : "dark"} colours`);
    redrawAll();
  };
  let chosen = false;
  dark.addEventListener("change", () => !chosen && set(dark.matches ? "dark" : "light"));
  button.addEventListener("click", () => {
    chosen = true;
    set(root.dataset.theme === "dark" ? "light" : "dark");
  });
  set(dark.matches ? "dark" : "light");
  return button;
}

/** On paper everything is unfolded and light; the style sheet has the colours. */
function preparePrinting() {
  let folded = [];
  let wasPrinting = false;
  const change = (printing) => {
    if (printing === wasPrinting) return;
    wasPrinting = printing;
    if (printing) {
      folded = [...document.querySelectorAll("details:not([open])")];
      folded.forEach((details) => (details.open = true));
    } else {
      folded.forEach((details) => (details.open = false));
      folded = [];
    }
    redrawAll();
  };
  matchMedia("print").addEventListener("change", (event) => change(event.matches));
  addEventListener("beforeprint", () => change(true));
  addEventListener("afterprint", () => change(false));
}

function header() {
  const { shape, verdict } = page;
  const { icon, word } = VERDICTS[verdict];
  const list = (title, lines) =>
    lines.length === 0 ? null : [element("h3", {}, title), element("ul", {}, lines.map((text) => element("li", {}, text)))];
  const facts = [
    `${plural(shape.n, shape.item_word)}`,
    `model ${shape.model}`,
    `${plural(shape.ensembles, "ensemble")} of ${plural(shape.chains, "chain")}`,
    `${plural(shape.iterations, "iteration")}, the first ${whole(shape.burn_in)} discarded`,
    `seed ${shape.seed}`,
  ];
  report.append(
    element(
      "header",
      { id: "top" },
      element("h1", {}, page.title),
      element("ul", { class: "facts" }, facts.map((fact) => element("li", {}, fact))),
      element(
        "div",
        { class: "verdict", "data-verdict": verdict },
        element(
          "p",
          { class: "verdict-word" },
          element("span", { class: "verdict-icon", "aria-hidden": "true" }, icon),
          element("strong", {}, word),
        ),
        page.headline ? paragraph(page.headline, "headline") : null,
        list("Why", page.reasons),
        list("What to do next", page.next),
      ),
      page.notes.length > 0 ? element("div", { class: "notes" }, list("Notes", page.notes)) : null,
    ),
  );
}

/** Marks in the table of contents which section is being read. */
function followReading() {
  const links = new Map([...contents.querySelectorAll("a")].map((a) => [a.getAttribute("href").slice(1), a]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(target.id)?.setAttribute("aria-current", "true");
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  document.querySelectorAll("main > section").forEach((made) => observer.observe(made));
}

contents.append(element("a", { class: "brand", href: "#top" }, "armix report"), element("ol"));
contents.append(themeButton());
header();
if (iterations.length > 0) traceSection();
diagnosticsSection();
rankSection();
autocorrelationSection();
fractionSection();
movesSection();
blocksSection();
matrixSection();
networkSection();
blockTableSection();
modesSection();
distancesSection();
truthSection();
provenanceSection();
redrawAll();
followReading();
preparePrinting();
document.documentElement.dataset.ready = "true";
