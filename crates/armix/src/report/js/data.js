// The data of the page: unpacking them, and saying numbers as people like to read them.

const page = JSON.parse(document.getElementById("data").textContent);

const TYPED_ARRAYS = { f32: Float32Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array };

/** The typed array of a packed one. */
function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return new TYPED_ARRAYS[packed.type](bytes.buffer);
}

/** A number that JSON may have had to tell as text, such as "Infinity"; null stays null. */
const number = (value) => (typeof value === "string" ? Number(value) : value);

const MINUS = "\u2212";
const withMinus = (text) => text.replace(/^-/, MINUS);

/** A number with so many decimals. */
function fixed(value, decimals) {
  value = number(value);
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  const [integer, rest] = value.toFixed(decimals).split(".");
  return withMinus(grouped(integer) + (rest ? `.${rest}` : ""));
}

/** Thin spaces between thousands, from five digits on. */
const grouped = (digits) =>
  digits.replace("-", "").length > 4 ? digits.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") : digits;

/** A number with about so many significant digits, but never fewer than its integer part has. */
function rounded(value, digits = 3) {
  value = number(value);
  if (value === null || value === undefined || !Number.isFinite(value)) return fixed(value, 0);
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e9) return withMinus(value.toExponential(Math.max(0, digits - 1)));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return decimals > 0 ? withMinus(value.toFixed(decimals)) : whole(value);
}

/** The nearest integer. */
const whole = (value) => fixed(value, 0);

/** A share as a percentage. */
function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(value < 10 && value > 0 ? 1 : 0)} %`;
}

/** A probability or density: small ones keep two significant digits. */
function probability(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value > 0 && value < 0.001) return "< 0.001";
  return value.toFixed(value < 0.1 && value > 0 ? 3 : 2);
}

/** One vertex, two vertices. */
function plural(count, word) {
  const many = word === "vertex" ? "vertices" : `${word}s`;
  return `${whole(count)} ${count === 1 ? word : many}`;
}

const PLURAL_OF_ITEM = plural(2, page.shape.item_word).replace(/^2 /, "");

/** The name of an item; names can be missing. */
const nameOf = (item) => page.names[item] ?? `${page.shape.item_word} ${item + 1}`;

/** Long names are cut where there is little room; their whole is in the block table. */
function shortName(item, length = 60) {
  const letters = [...nameOf(item)];
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : letters.join("");
}

const labelOf = (quantity) =>
  page.quantities.find((known) => known.name === quantity)?.label ?? quantity;

const ensembleLabel = (ensemble) => `ensemble ${ensemble + 1}`;

/** The chains with their traces unpacked. */
const chains = page.trace.chains.map((chain) => ({
  ensemble: chain.ensemble,
  label: `${ensembleLabel(chain.ensemble)}, chain ${chain.chain + 1}`,
  logJoint: chain.log_joint && unpack(chain.log_joint),
  blocks: unpack(chain.blocks),
  fractions: chain.fractions.map(unpack),
}));
const iterations = unpack(page.trace.iterations);
const ensembles = [...new Set(chains.map((chain) => chain.ensemble))];

/** The estimate: its blocks one after the other. */
const order = unpack(page.estimate.order);
const certainty = unpack(page.estimate.certainty);
const segments = page.estimate.borders.map((end, k) => {
  const start = k === 0 ? 0 : page.estimate.borders[k - 1];
  return { start, end, number: page.estimate.block_of_item[order[start]] };
});
/** The place of each block number in that order, which gives it its colour and shape. */
const placeOfBlock = new Map(segments.map((segment, place) => [segment.number, place]));
const placeOfItem = (item) => placeOfBlock.get(page.estimate.block_of_item[item]) ?? 0;
