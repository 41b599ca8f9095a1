// What all pages share: asking the API, making elements, words for numbers.

export const $ = (selector) => document.querySelector(selector);
export const number = new Intl.NumberFormat("en").format;
export const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
// As base/wording.py has it: three digits that say something.
export const threeDigits = (value) => number(Number(value.toPrecision(3)));
const ratio = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format;
export const times = (value) => `${ratio(value)}×`;
export const withInterval = ({ mean, low, high }) =>
  `${threeDigits(mean)} (${threeDigits(low)}${low < 0 ? " to " : "–"}${threeDigits(high)})`;
const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" }).format;
export const roughDollars = (money) => (money > 0 && money < 0.01 ? "under $0.01" : dollars(money));

// Text is only ever set as text: whatever a document holds is shown, and never obeyed.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.includes("-") || key === "role" || key === "dir" || key === "for") made.setAttribute(key, value === true ? "" : value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

// Control characters and those that reorder a line say nothing in a label.
export const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();

export class Refused extends Error {
  // 503: an index that is being made is there in a moment.
  // 0: the studio is not reached.
  constructor(message, status = 0) { super(message); this.status = status; this.isNotReady = status === 503; }
}

export async function ask(path, values = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== "" && item !== null) query.append(name, item);
  }
  return request(`${path}?${query}`, { headers: { accept: "application/json" } });
}

export const send = (path, values) => request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values) });

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused("The studio is not responding. Is `chunkwise studio` still running?");
  }
  const body = await response.json();
  if (!response.ok) throw new Refused(body.error, response.status);
  return body;
}

export function tell(box, error) {
  if (error && !(error instanceof Refused)) throw error;
  box.hidden = !error;
  box.textContent = error ? error.message : "";
}

// The last value wins: while one is worked on, those between are passed over.
export function latest(work) {
  let busy = false, waiting = null;
  return async function run(...values) {
    if (busy) { waiting = values; return; }
    busy = true;
    try {
      await work(...values);
    } finally {
      busy = false;
      if (waiting) { const next = waiting; waiting = null; run(...next); }
    }
  };
}

export function later(work, wait) {
  let timer = 0;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), wait); };
}

// Offsets are code points; a character outside the first plane is two units in a string.
export function units(text) {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return (at) => at;
  const places = [0];
  for (const character of text) places.push(places[places.length - 1] + character.length);
  return (at) => places[at];
}

// Tells every page about what is read and made in the background, until all is done.
const listeners = [];
export function whileWorking(listener) { listeners.push(listener); }
export function listen() {
  const tell = (state) => { for (const listener of listeners) listener(state); };
  follow("/api/events", tell).catch(() => tell(null));
}

// Calls `show` with every event of a stream until it ends; rejected when the studio is gone.
export const follow = (path, show) => new Promise((resolve, reject) => {
  const source = new EventSource(path);
  source.addEventListener("message", (event) => show(JSON.parse(event.data)));
  source.addEventListener("done", () => { source.close(); resolve(); });
  source.addEventListener("error", () => { source.close(); reject(new Refused("")); });
});
