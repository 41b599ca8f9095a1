// One question: made, changed, accepted or dropped. What is typed stays in this browser until the studio has it.
import { $, Refused, ask, counted, element, number, plain, send, tell } from "./shared.js";
import { isTyping } from "./labels.js";
import { renewRail } from "./rail.js";
import { showOutlook } from "./review_outlook.js";
import { done, undoLast } from "./toast.js";

const form = $("#edit"), box = $("#refused"), note = $("#note"), mine = $("#mine");
const wanted = new URLSearchParams(location.search).get("id") ?? "";
let view = null, places = null, isSaving = false;
const draft = () => `chunkwise-draft ${view.id}`;
const values = () => ({ text: form.elements.text.value, answer: form.elements.answer.value, types: form.elements.types.value.split(",").map((item) => item.trim()).filter(Boolean) });

function draw() {
  showOutlook();
  const isNew = !view.id;
  $("#heading").textContent = isNew ? "New question" : plain(view.text);
  $("#state").textContent = isNew ? `Saved in ${view.file}` : `${number(view.position)} of ${number(view.count)} · ${view.state} · ${view.file}`;
  const kept = JSON.parse(localStorage.getItem(draft()) ?? "null");
  fill(kept ?? { text: view.text, answer: view.answer, types: view.types });
  if (kept) {
    note.textContent = "Unsaved changes restored.";
    view.revision = kept.revision; // what somebody else changed since then is told, and not written over
  }
  for (const item of form.querySelectorAll("button")) if (["accept", "drop"].includes(item.value)) item.hidden = isNew;
  mine.hidden = true;
  link($("#following"), view.following && view.following !== view.id ? `/edit?id=${encodeURIComponent(view.following)}` : "");
  link($("#label"), isNew ? "" : `/labeling?id=${encodeURIComponent(view.id)}`);
  places = null;
  gold(view.gold);
}
function link(made, address) { made.hidden = !address; if (address) made.href = address; }
function fill(from) {
  form.elements.text.value = from.text;
  form.elements.answer.value = from.answer;
  form.elements.types.value = from.types.join(", ");
}

function gold(list) {
  $("#gold").replaceChildren(...list.map((item, index) => element("article", { className: "gold-place" },
    element("p", { className: "where" }, item.document === null ? item.doc_id : element("a", { href: `/documents/${item.document}#at=${item.start}-${item.end}` }, element("bdi", {}, item.doc_id)), ` ${number(item.start)}–${number(item.end)} `, element("button", { type: "button", className: "copy", onclick: () => { places = list.filter((_, other) => other !== index); gold(places); } }, "Remove")),
    element("p", { className: "passage-text", dir: "auto" }, element("span", { className: "near" }, item.before), element("span", { className: "gold" }, item.text), element("span", { className: "near" }, item.behind)))));
  if (!list.length) $("#gold").append(element("p", { className: "none" }, "No evidence yet."));
}

async function open(id) {
  try { view = await ask("/api/edit", { id }); } catch (error) { tell(box, error); return; }
  tell(box, null);
  $("#over").hidden = true;
  $(".editing").hidden = false;
  draw();
}

// The last change of a question, as its file had it before.
async function takeBack(id) {
  try { await send("/api/edit/save", { id, action: "undo" }); } catch (error) { tell(box, error); return false; }
  history.replaceState(null, "", `/edit?id=${encodeURIComponent(id)}`);
  await open(id);
  renewRail();
  return true;
}

// Nothing is left to review.
function over() {
  if (!$("#outlook").hidden) { showOutlook(); return; } // of a sweep's questions it says how the review ends
  $("#heading").textContent = "All questions are reviewed";
  $("#state").textContent = view.file;
  $("#over").hidden = false;
  $(".editing").hidden = true;
}

async function save(action, revision) {
  if (isSaving) return; // a key pressed before the next question is here would decide about this one again
  isSaving = true;
  const sent = { id: view.id, action, revision, ...values() };
  if (places) sent.gold = places.map(({ doc_id, start, end }) => ({ doc_id, start, end }));
  try {
    const result = await send("/api/edit/save", sent);
    localStorage.removeItem(draft());
    tell(box, null);
    // A review goes on with the next question that nobody has looked at.
    const next = view.following, was = { accept: "Question accepted.", drop: "Question dropped.", save: "Question saved." }[action], id = view.id;
    done([was, ...result.told].join(" "), id && (() => takeBack(id)));
    renewRail();
    if (action !== "save" && next && next !== id) {
      history.pushState(null, "", `/edit?id=${encodeURIComponent(next)}`);
      await open(next);
      form.elements.text.blur();
      return;
    }
    if (action === "drop") { over(); return; }
    view = result;
    history.replaceState(null, "", `/edit?id=${encodeURIComponent(view.id)}`);
    draw();
    if (action === "accept") over();
  } catch (error) {
    if (!error.status) error = new Refused("The studio is not responding. Your changes are kept in this browser; save again once it responds.");
    tell(box, error);
    mine.hidden = error.status !== 409;
  } finally { isSaving = false; }
}

form.addEventListener("input", () => view && localStorage.setItem(draft(), JSON.stringify({ ...values(), revision: view.revision })));
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const action = event.submitter?.value ?? "save";
  if (action !== "mine") { await save(action, view.revision); return; }
  // The other change was read on this page by now; it stays in nobody's way.
  try { const now = await ask("/api/edit", { id: view.id }); await save("save", now.revision); } catch (error) { tell(box, error); }
});
$("#find").addEventListener("click", async () => {
  let result;
  try { result = await ask("/api/evidence", { q: form.elements.text.value }); } catch (error) { tell(box, error); return; }
  $("#evidence").replaceChildren(...result.places.map((item) => element("li", {},
    element("p", { className: "where" }, element("a", { href: `/documents/${item.document}#at=${item.start}-${item.end}` }, element("bdi", {}, plain(item.title))), ` ${counted(item.words, "word")} of the question `, element("button", { type: "button", className: "copy", onclick: () => { places = [...(places ?? view.gold), { ...item, before: "", behind: "" }]; gold(places); note.textContent = "Added. Save to keep it."; } }, "Add as gold")),
    element("p", { className: "passage-text", dir: "auto" }, item.text))));
  if (!result.places.length) $("#evidence").append(element("li", { className: "none" }, "No passage has words of this question close together."));
});
// As in the terminal: keys while nothing is typed.
const press = (value) => { if (form.checkVisibility()) form.querySelector(`button[value=${value}]:not([hidden])`)?.click(); };
addEventListener("keydown", (event) => {
  if (isTyping(event) || !view) return;
  const work = { a: () => press("accept"), d: () => press("drop"), e: () => form.elements.text.focus(), s: () => $("#following").click(), u: undoLast }[event.key];
  if (work) { event.preventDefault(); work(); }
});
addEventListener("keydown", (event) => { if (event.key === "Escape" && event.target.form === form) event.target.blur(); });
addEventListener("popstate", () => open(new URLSearchParams(location.search).get("id") ?? ""));
open(wanted);
