// Opens reports in a real browser and looks at what it shows.
//
//   node check.mjs [--shots FOLDER] FILE.html …
//
// For every file that passes it makes sure that it would have noticed: with one plot blanked, a
// forbidden request, or an error on the page, the check must fail.

import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { CHECKS } from "./checks.mjs";
import { blankOnePlot, breakThePage, callOut, callOutWithoutPolicy } from "./controls.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A fresh page with the report, and the list of what went wrong, which grows. */
async function open(browser, file) {
  const page = await browser.newPage();
  const wrong = [];
  const url = pathToFileURL(resolve(file)).href;
  page.on("pageerror", (error) => wrong.push(`error on the page: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    wrong.push(`a dialog opened: ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = request.url();
    if (asked !== url && !asked.startsWith("data:")) wrong.push(`a request: ${asked}`);
  });
  await page.setViewport({ width: 1280, height: 900, deviceScaleFactor: 1 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  // The script of the page runs before the page counts as loaded.
  await page.goto(url);
  const ready = (await page.$("html[data-ready]")) !== null;
  if (!ready) wrong.push("the script of the page did not get to its end");
  return { page, wrong, ready };
}

/** What is wrong with a report, as sentences. `spoil` does something to the page first. */
async function faults(browser, file, { checks, spoil, shots }) {
  const { page, wrong, ready } = await open(browser, file);
  try {
    if (!ready) return wrong;
    if (spoil) await spoil(page);
    for (const check of checks) {
      const shoot = (name) =>
        shots ? page.screenshot({ path: join(shots, `${basename(file, ".html")}-${name}.png`), fullPage: true }) : null;
      for (const fault of await check(page, shoot)) wrong.push(`${check.name}: ${fault}`);
    }
  } catch (error) {
    wrong.push(`the check broke off: ${error.stack}`);
  } finally {
    await page.close();
  }
  return wrong;
}

/** The negative controls: each must be noticed, with the words given. */
async function controlFaults(browser, file) {
  const [plotsAreDrawn] = CHECKS;
  const controls = [
    ["a plot that is not drawn", blankOnePlot, /is not drawn/],
    ["what the policy blocks", callOut, /console: .*Content Security Policy/],
    ["a request to elsewhere", callOutWithoutPolicy, /a request: .*elsewhere\.json/],
    ["an error on the page", breakThePage, /error on the page/],
  ];
  const missed = [];
  for (const [what, spoil, expected] of controls) {
    const found = await faults(browser, file, { checks: [plotsAreDrawn], spoil });
    if (!found.some((fault) => expected.test(fault))) missed.push(`control: ${what} was not noticed`);
  }
  return missed;
}

async function main() {
  const { values, positionals: files } = parseArgs({
    allowPositionals: true,
    options: { shots: { type: "string" } },
  });
  if (files.length === 0) throw new Error("usage: node check.mjs [--shots FOLDER] FILE.html …");
  if (values.shots) mkdirSync(values.shots, { recursive: true });
  const browser = await puppeteer.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
  let failed = false;
  try {
    for (const file of files) {
      const found = await faults(browser, file, { checks: CHECKS, shots: values.shots });
      if (found.length === 0) found.push(...(await controlFaults(browser, file)));
      console.log(`${found.length === 0 ? "ok    " : "FAILED"} ${basename(file)}`);
      for (const fault of found) console.log(`       ${fault}`);
      failed ||= found.length > 0;
    }
  } finally {
    await browser.close();
  }
  process.exitCode = failed ? 1 : 0;
}

await main();
