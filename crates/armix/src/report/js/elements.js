// Making elements. Whatever comes from data becomes a text node here, never markup.

/** An element with attributes and children; children are elements or text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return made;
}

const report = document.getElementById("report");
const contents = document.getElementById("contents");

/** A section of the report with its line in the table of contents. */
function section(id, title, ...children) {
  const heading = element("h2", { id: `${id}-title` }, title);
  const made = element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    heading,
    ...children,
  );
  report.append(made);
  contents.querySelector("ol").append(element("li", {}, element("a", { href: `#${id}` }, title)));
  return made;
}

const paragraph = (text, kind) => element("p", { class: kind }, text);

/** A table that scrolls in its own box when the screen is narrow. */
function tableBox(label, table) {
  return element("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, table);
}

/** A button that puts text on the clipboard. */
function copyButton(text, what) {
  const button = element("button", { type: "button", class: "copy" }, `Copy ${what}`);
  const say = (word) => {
    button.textContent = word;
    setTimeout(() => (button.textContent = `Copy ${what}`), 1500);
  };
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      say(copiedBySelection(text) ? "Copied" : "Please select and copy");
    }
  });
  return button;
}

/** The old way to copy, for browsers that keep the clipboard from local files. */
function copiedBySelection(text) {
  const area = element("textarea", { class: "offscreen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** A small bar for a share between 0 and 1, beside the number that says the same. */
function bar(share) {
  const fill = element("span", { class: "bar-fill" });
  fill.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return element("span", { class: "bar", "aria-hidden": "true" }, fill);
}
