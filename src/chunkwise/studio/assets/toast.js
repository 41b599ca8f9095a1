// What was just done, said where it is seen, and the one way to undo it: a button here, or `u` on pages with keys.
import { element } from "./shared.js";

const STAYS = 9000; // milliseconds
const undoable = []; // functions, the last action at the end
const box = element("div", { className: "toast", role: "status", "aria-live": "polite", hidden: true });
document.body.append(box);
let timer = 0;
const hide = () => { box.hidden = true; };
const later = () => { clearTimeout(timer); timer = setTimeout(hide, STAYS); };
box.addEventListener("pointerenter", () => clearTimeout(timer));
box.addEventListener("pointerleave", later);
box.addEventListener("focusin", () => clearTimeout(timer));
box.addEventListener("focusout", later);

export function toast(text, ...actions) {
  box.hidden = false;
  box.replaceChildren(element("span", {}, text), ...actions);
  later();
}

// `undo` takes the action back; without it there is only something to say.
export function done(text, undo) {
  if (!undo) { toast(text); return; }
  undoable.push({ text, undo });
  toast(text, element("button", { type: "button", onclick: undoLast }, "Undo"));
}

export async function undoLast() {
  const last = undoable.pop();
  if (!last) { toast("Nothing to undo."); return; }
  if (await last.undo() !== false) toast(`Undone: ${last.text}`);
}
export const canUndo = () => undoable.length > 0;
