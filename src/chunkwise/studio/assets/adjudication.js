// Passages with conflicting grades, decided by keyboard.
import { $, ask, counted, element, number, plain, tell } from "./shared.js";
import { flush, isTyping, label, newKey, signed, unsent, whenSent } from "./labels.js";
import { done, toast, undoLast } from "./toast.js";

let who = "", view = null, at = 0, busy = false;
const list = $("#passages"), box = $("#refused");

async function load() {
  try {
    view = await ask("/api/adjudication");
    tell(box, null);
  } catch (error) { tell(box, error); return; }
  $("#sign").hidden = true;
  $("#note").textContent = view.disputed.length ? `${counted(view.disputed.length, "passage")} to decide, ${number(view.decided)} decided.` : view.decided ? `All decided: ${counted(view.decided, "passage")}.` : "No disagreements.";
  list.replaceChildren(...view.disputed.map(row));
  go(Math.min(at, view.disputed.length - 1));
}

function row(passage, place) {
  const message = passage.grades.map((item) => element("span", { className: "tag" }, `${item.who}: ${item.grade}`));
  const grades = view.grades.map((words, grade) => element("button", { type: "button", className: "grade", title: words, "aria-label": `${grade}: ${words}`, onclick: () => { at = place; decide(grade); } }, element("kbd", {}, String(grade)), element("span", {}, ` ${words}`)));
  const made = element("li", { className: "card passage-card", tabIndex: -1, "aria-label": `Disputed passage ${place + 1} of ${view.disputed.length}`, "aria-describedby": `question-${place} passage-${place}` },
    element("h2", { id: `question-${place}` }, element("bdi", {}, plain(passage.question))),
    element("p", { className: "where" }, passage.document === null ? plain(passage.doc_id) : element("a", { href: `/documents/${passage.document}#at=${passage.start}-${passage.end}`, target: "_blank" }, element("bdi", {}, plain(passage.doc_id))), " ", ...message, passage.is_relevance ? " conflict: answer or not" : new Set(passage.grades.map((item) => item.grade)).size > 1 ? " conflict: how complete" : ""),
    ...passage.flags.map((item) => element("p", { className: "comment" }, `⚑ ${item.who}${item.comment ? `: ${item.comment}` : " flagged it"}`)),
    element("p", { className: "passage-text", dir: "auto", id: `passage-${place}` }, ...passage.sentences.map((item) => element("span", { className: item.is_inside ? "inside" : "near" }, item.text))),
    element("div", { className: "grades", role: "group", "aria-label": "Decision" }, ...grades));
  return made;
}

function go(place) {
  at = Math.max(0, Math.min(place, view.disputed.length - 1));
  [...list.children].forEach((item, index) => { item.classList.toggle("here", index === at); item.setAttribute("aria-current", String(index === at)); });
  list.children[at]?.focus();
}

// One decision per passage: keys pressed before the next one is drawn are ignored.
async function decide(grade) {
  const passage = view.disputed[at];
  if (!passage || busy) return;
  const key = newKey();
  label({ key, kind: "adjudicate", who, id: passage.id, grade, doc_id: passage.doc_id, start: passage.start, end: passage.end });
  done(`Decided: ${grade}, ${view.grades[grade]}.`, () => {
    label({ key: newKey(), kind: "undo", who, id: passage.id, undoes: key });
    return settled();
  });
  await settled();
}
async function settled() {
  busy = true;
  await flush();
  if (!unsent()) await load();
  busy = false;
}

addEventListener("keydown", (event) => {
  if (isTyping(event) || event.repeat || !view || busy) return;
  if (event.key === "j") go(at + 1);
  else if (event.key === "k") go(at - 1);
  else if (event.key === "u") undoLast();
  else if ("0123".includes(event.key)) decide(Number(event.key));
});
whenSent((error) => { tell(box, error); if (error) toast("Not saved yet."); });
signed((name) => { who = name; flush(); load(); });
