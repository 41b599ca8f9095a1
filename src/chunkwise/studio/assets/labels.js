// What labeling and adjudication share: who signs, and labels that are sent until the studio has them.
import { $, Refused, counted, send } from "./shared.js";

const NAME = "chunkwise-name", PENDING = "chunkwise-pending";

export function signed(begin) {
  const form = $("#sign"), field = form.elements.who;
  if (form.dataset.name) { begin(form.dataset.name); return; } // whoever logged in has a name
  field.value = localStorage.getItem(NAME) ?? "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    localStorage.setItem(NAME, field.value.trim());
    field.blur();
    begin(field.value.trim());
  });
  if (field.value) begin(field.value);
}

export const newKey = () => [...crypto.getRandomValues(new Uint8Array(12))].map((item) => item.toString(16).padStart(2, "0")).join("");

// Labels leave in their order. One that the studio does not answer stays in this browser, and is sent again, under the
// same key: it is kept once, however often it arrives.
const pending = () => JSON.parse(localStorage.getItem(PENDING) ?? "[]");
const keep = (list) => localStorage.setItem(PENDING, JSON.stringify(list));
let sending = null, listener = () => {};
export const whenSent = (work) => { listener = work; };
export const unsent = () => pending().length;

export function label(values) {
  keep([...pending(), values]);
  flush();
}

export function flush() {
  sending ??= work().finally(() => { sending = null; if (pending().length && !waiting) flush(); });
  return sending;
}
let waiting = 0;
async function work() {
  while (pending().length) {
    const first = pending()[0];
    try {
      const kept = await send("/api/label", first);
      keep(pending().slice(1));
      listener(null, kept, first);
    } catch (error) {
      // What can never be kept is told and left; whoever has to come in anew loses nothing.
      if ([400, 404, 409, 413].includes(error.status)) { keep(pending().slice(1)); listener(error, null, first); continue; }
      listener(new Refused(`${error.message} Waiting in this browser: ${counted(pending().length, "label")}.`), null, first);
      clearTimeout(waiting);
      waiting = setTimeout(() => { waiting = 0; flush(); }, 1000);
      return;
    }
  }
}

export const isTyping = (event) => event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]");
