// Ways to spoil a page on purpose, which the check must notice.

/** Wipes the last plot. */
export async function blankOnePlot(page) {
  await page.evaluate(() => {
    const canvas = [...document.querySelectorAll("canvas[data-plot]")].at(-1);
    canvas.getContext("2d").reset();
  });
}

const load = (page) => page.evaluate(() => fetch("elsewhere.json").then(() => {}, () => {}));

/** Tries to load something; the policy of the page blocks it, and that is an error in the console. */
export const callOut = load;

/** The same without the policy, so that the request is really made. */
export async function callOutWithoutPolicy(page) {
  await page.setBypassCSP(true);
  await page.reload();
  await load(page);
}

export async function breakThePage(page) {
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("on purpose");
    }, 0);
    return new Promise((done) => setTimeout(done, 50));
  });
}
