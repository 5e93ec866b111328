// Ways to spoil a page on purpose, which the check must notice.

/** Wipes the last plot. */
export async function blankOnePlot(page) {
  await page.evaluate(() => {
    const canvas = [...document.querySelectorAll("canvas[data-plot]")].at(-1);
    canvas.getContext("2d").reset();
  });
}

/** Tries to load something; the policy of the page blocks it, and that is an error in the console. */
export async function callOut(page) {
  await page.evaluate(async () => {
    await fetch("elsewhere.json").catch(() => {});
  });
}

export async function breakThePage(page) {
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("on purpose");
    }, 0);
    return new Promise((done) => setTimeout(done, 50));
  });
}
