// A question with its passages, graded by keyboard or touch; every label is sent at once.
import { $, ask, counted, element, later, number, plain, tell, units, withInterval } from "./shared.js";
import { flush, isTyping, label, newKey, signed, unsent, whenSent } from "./labels.js";
import { renewRail } from "./rail.js";
import { canUndo, done, toast, undoLast } from "./toast.js";

let who = "", view = null, at = 0, shown = 0, gold = null;
let busy = false, wantsNext = false; // a key that is pressed before the next question is seen says nothing of it
const list = $("#passages"), box = $("#refused");

async function load(id = "", place = 0) {
  busy = true;
  wantsNext = false;
  try {
    view = await ask("/api/labeling", { who, id });
    tell(box, null);
  } catch (error) {
    tell(box, error);
    if (error.isNotReady) setTimeout(() => load(id, place), 700);
    return;
  } finally { busy = false; }
  gold = null;
  $("#sign").hidden = true;
  $("#labeling").hidden = false;
  draw();
  const open = view.passages.findIndex((item) => item.grade === null);
  go(id ? place : Math.max(0, open), false);
  // What had the focus is gone with the question before: who listens is told the new one, and goes on from there.
  $("#asked").focus({ preventScroll: true });
  progress();
  renewRail();
}

function draw() {
  const isOver = !view.id;
  if (view.guidelines) $("#guidelines").replaceChildren(element("p", { className: "guidelines" }, view.guidelines));
  $("#asked").textContent = isOver ? "All questions are done" : plain(view.question);
  $("#where").textContent = isOver ? `Signed as ${who}` : `Signed as ${who} · ${counted(view.passages.length, "passage")}${view.people > 1 ? " · for two annotators" : ""}`;
  const known = view.answer ? `Answer: ${plain(view.answer)}` : "";
  $("#known").textContent = isOver ? "" : [known, view.state === "nothing" ? "No passage answers it." : view.state === "skipped" ? "Skipped." : ""].filter(Boolean).join(" · ");
  list.replaceChildren(...view.passages.map(row));
  for (const item of view.gold) list.append(element("li", { className: "gold-row" }, element("small", {}, "gold "), element("span", { className: "gold" }, plain(item.text)), ` ${item.doc_id} `, element("button", { type: "button", className: "copy", onclick: () => withdraw(item) }, "Remove")));
}

function row(passage, place) {
  const grades = view.grades.map((words, grade) => element("button", { type: "button", className: "grade", title: words, "aria-pressed": String(passage.grade === grade), "aria-label": `${grade}: ${words}`, onclick: (event) => { event.stopPropagation(); go(place); judge(grade); } }, element("kbd", {}, String(grade)), element("span", {}, ` ${words}`)));
  const flagged = passage.flag !== null;
  const made = element("li", { className: "card passage-card", tabIndex: -1, "aria-label": `Passage ${place + 1} of ${view.passages.length}`, "aria-describedby": `passage-${place}` },
    element("p", { className: "where" }, passage.document === null ? plain(passage.title) : element("a", { href: `/documents/${passage.document}#at=${passage.start}-${passage.end}`, target: "_blank" }, element("bdi", {}, plain(passage.title))), ` ${number(passage.start)}–${number(passage.end)}`, element("button", { type: "button", className: "flag-button", "aria-pressed": String(flagged), title: "Flag with a comment (f)", onclick: () => { go(place); flag(); } }, flagged ? "⚑ Flagged" : "⚑ Flag"), element("button", { type: "button", className: "flag-button more-text", onclick: () => { go(place, false); more(); } }, "More text ", element("kbd", {}, "m")), flagged && passage.flag ? element("span", { className: "comment" }, ` ${passage.flag}`) : ""),
    text(passage, place),
    element("div", { className: "grades", role: "group", "aria-label": "Grade" }, ...grades,
      element("button", { type: "button", className: "grade keep-gold", onclick: () => { if (gold) keepGold(); } }, "Save as gold ", element("kbd", {}, "Enter")), element("button", { type: "button", className: "grade leave-gold", onclick: () => leaveGold() }, "Cancel")));
  made.addEventListener("click", () => { if (at !== place) go(place, false); });
  return made;
}

function marked({ text, marks }) {
  const at = units(text), parts = [];
  let last = 0;
  for (const [start, end] of marks) {
    parts.push(text.slice(at(last), at(start)), element("mark", {}, text.slice(at(start), at(end))));
    last = end;
  }
  return [...parts, text.slice(at(last))];
}

function text(passage, place) {
  const made = element("p", { className: "passage-text", dir: "auto", id: `passage-${place}` });
  passage.sentences.forEach((item, index) => made.append(element("span", { className: item.is_inside ? "inside" : "near", onclick: () => pick(place, index) }, ...marked(item))));
  return made;
}

function go(place, focus = true) {
  if (!view.passages.length) return;
  if (gold && gold.place !== place) leaveGold();
  at = Math.min(Math.max(place, 0), view.passages.length - 1);
  shown = performance.now();
  [...list.children].forEach((item, index) => { item.classList.toggle("here", index === at); item.setAttribute("aria-current", String(index === at)); });
  const here = list.children[at];
  list.style.setProperty("--asked", `${document.querySelector(".asked-card").offsetHeight}px`); // it stays above the passage
  here.scrollIntoView({ block: "start", behavior: "instant" }); // whoever labels fast does not wait for it
  if (focus) here.focus({ preventScroll: true });
}

const seconds = () => Math.round((performance.now() - shown) / 10) / 100;
function say(values, words) {
  const key = newKey(), id = view.id, place = at;
  label({ key, who, id, seconds: seconds(), pool: view.pool, ...values });
  done(words, () => takeBack(key, id, place));
}

// Undone is one label by its key; the question it was said of is shown again, as it stands then.
async function takeBack(key, id, place) {
  label({ key: newKey(), kind: "undo", who, id, undoes: key });
  busy = true;
  await flush();
  await load(id, place);
}
const withdraw = (gold) => takeBack(gold.key, view.id, at).then(() => toast("Gold removed."));

function judge(grade) {
  const passage = view.passages[at];
  if (!passage) return;
  say({ kind: "grade", grade, doc_id: passage.doc_id, start: passage.start, end: passage.end }, `Passage ${at + 1}: ${view.grades[grade]}`);
  passage.grade = grade;
  [...list.children[at].querySelectorAll(".grade[aria-pressed]")].forEach((item, index) => item.setAttribute("aria-pressed", String(index === grade)));
  const later = view.passages.findIndex((item, index) => index > at && item.grade === null);
  const open = later >= 0 ? later : view.passages.findIndex((item) => item.grade === null);
  if (open >= 0) go(open);
  else following();
}

async function following() {
  wantsNext = busy = true;
  await flush();
  busy = false;
  if (!unsent()) await load();
}

async function skip() {
  if (!view.id) return;
  say({ kind: "skip" }, "Question skipped.");
  await following();
}

async function undo() {
  if (!canUndo() && view.last) { await takeBack(view.last, view.id, at); toast("Undone: your last label."); return; }
  await undoLast();
}

// Gold and "nothing answers it" contradict each other: whoever says both is asked which one is meant.
async function nothing() {
  const answers = view.passages.filter((item) => item.grade >= 2).length;
  if (view.gold.length || answers) {
    const kept = [view.gold.length ? counted(view.gold.length, "gold span") : "", answers ? counted(answers, "passage") + " graded 2 or 3" : ""].filter(Boolean).join(" and ");
    $("#sure-text").textContent = `“No answer” contradicts ${kept}. Discarding removes gold spans and lowers grades to 1.`;
    if (await choice($("#sure")) !== "nothing") return;
  }
  const { id, pool, gold: golds } = view, place = at, keys = [];
  const add = (values) => { keys.push(newKey()); label({ key: keys.at(-1), who, id, pool, ...values }); };
  const undone = (key) => label({ key: newKey(), kind: "undo", who, id, undoes: key });
  golds.forEach((item) => undone(item.key));
  for (const { doc_id, start, end, grade } of view.passages) if (grade >= 2) add({ kind: "grade", grade: 1, doc_id, start, end });
  add({ kind: "nothing", seconds: seconds() });
  done("No passage answers it.", async () => {
    keys.forEach(undone);
    for (const { doc_id, start, end } of golds) label({ key: newKey(), kind: "gold", who, id, pool, doc_id, start, end });
    busy = true;
    await flush();
    await load(id, place);
  });
  await following();
}
const choice = (dialog) => new Promise((resolve) => {
  dialog.returnValue = "";
  dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  dialog.showModal();
});

async function flag() {
  const passage = view.passages[at], place = at;
  if (!passage) return;
  const field = $("#flag textarea");
  field.value = passage.flag ?? "";
  if (await choice($("#flag")) !== "flag") return;
  passage.flag = field.value.trim();
  say({ kind: "flag", comment: passage.flag, doc_id: passage.doc_id, start: passage.start, end: passage.end }, `Passage ${place + 1} flagged.`);
  list.children[place].replaceWith(row(passage, place));
  go(place);
}

// Gold: a first sentence and a last one of a passage and what stands around it.
function paint() {
  const spans = list.children[gold.place].querySelectorAll(".passage-text > span");
  spans.forEach((item, index) => {
    item.classList.toggle("gold", index >= gold.first && index <= gold.last);
    item.classList.toggle("edge", index === gold[gold.edge]);
  });
  list.children[gold.place].classList.add("with-gold");
  spans[gold[gold.edge]].scrollIntoView({ block: "nearest" });
  $("#said").textContent = `Gold: ${counted(gold.last - gold.first + 1, "sentence")}; moving the ${gold.edge === "last" ? "end" : "start"}. Enter saves.`;
}
function pick(place, index) {
  if (!getSelection().isCollapsed) return; // what was dragged over is selected already
  if (gold?.place === place && gold.clicked) {
    gold.first = Math.min(gold.anchor, index);
    gold.last = Math.max(gold.anchor, index);
  } else {
    go(place);
    gold = { place, first: index, last: index, edge: "last", clicked: true, anchor: index };
  }
  paint();
}
// What is selected with the mouse or a finger, as whole sentences.
const selected = later(() => {
  const range = getSelection();
  if (!view || busy || range.isCollapsed || !range.rangeCount) return;
  const sentence = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest?.(".passage-text > span");
  const ends = [range.anchorNode, range.focusNode].map(sentence);
  const box = ends[0]?.parentElement, place = [...list.children].findIndex((item) => item.contains(box));
  if (!box || ends[1]?.parentElement !== box || place < 0) return;
  const [first, last] = ends.map((item) => [...box.children].indexOf(item)).sort((a, b) => a - b);
  if (at !== place) go(place, false);
  gold = { place, first, last, edge: "last" };
  paint();
}, 200);
document.addEventListener("selectionchange", selected);
function beginGold() {
  const sentences = view.passages[at]?.sentences ?? [];
  const inside = sentences.findIndex((item) => item.is_inside);
  if (inside < 0) return;
  gold = { place: at, first: inside, last: inside, edge: "last" };
  paint();
}
function move(by) {
  if (!gold) beginGold();
  else {
    const most = view.passages[gold.place].sentences.length - 1;
    if (gold.edge === "last") gold.last = Math.min(Math.max(gold.last + by, gold.first), most);
    else gold.first = Math.min(Math.max(gold.first + by, 0), gold.last);
    paint();
  }
}
function leaveGold() {
  gold = null;
  getSelection().removeAllRanges();
  for (const item of list.children) item.classList.remove("with-gold");
  for (const item of list.querySelectorAll(".passage-text > .gold, .passage-text > .edge")) item.classList.remove("gold", "edge");
}
async function more() {
  const passage = view.passages[at];
  if (!passage || passage.document === null) return;
  try {
    const result = await ask(`/api/documents/${passage.document}/sentences`, { start: passage.start, end: passage.end, around: 4000, q: view.question });
    const before = passage.sentences;
    passage.sentences = result.sentences;
    if (gold) { // the selection stays where it was in the document
      const at = (offset, name) => Math.max(0, result.sentences.findIndex((item) => item[name] === offset));
      gold.first = at(before[gold.first].start, "start");
      gold.last = Math.max(gold.first, at(before[gold.last].end, "end"));
      if (gold.clicked) gold.anchor = gold.first;
    }
  } catch (error) { tell(box, error); return; }
  list.children[at].classList.add("with-more");
  list.children[at].querySelector(".passage-text").replaceWith(text(passage, at));
  if (gold) paint();
  else list.children[at].querySelector(".inside")?.scrollIntoView({ block: "center" });
}
async function keepGold() {
  const passage = view.passages[gold.place], place = gold.place;
  const start = passage.sentences[gold.first].start, end = passage.sentences[gold.last].end;
  const words = passage.sentences.slice(gold.first, gold.last + 1).map((item) => item.text).join("");
  const low = start + [...words].length - [...words.trimStart()].length, high = end - ([...words].length - [...words.trimEnd()].length);
  if (low >= high) return;
  say({ kind: "gold", doc_id: passage.doc_id, start: low, end: high }, "Gold saved.");
  leaveGold();
  await flush();
  if (!unsent()) await load(view.id, place);
}

// With everybody else who graded the same passages: relevant or not.
function agrees(name, pairs) {
  const shared = pairs.filter((item) => item.passages && (item.first === name || item.second === name));
  const passages = shared.reduce((sum, item) => sum + item.passages, 0);
  if (!passages) return "–";
  return `agrees on ${Math.round(100 * shared.reduce((sum, item) => sum + item.passages * item.same, 0) / passages)}% of ${number(passages)}`;
}

async function progress() {
  let result;
  try { result = (await ask("/api/labels")).progress; } catch { return; }
  const own = result.agreement, alpha = own.alpha;
  $("#progress").replaceChildren(
    element("p", {}, `${number(result.done)} of ${counted(result.questions, "question")} done · ${counted(view.waiting.length, "question")} for you`),
    element("progress", { max: Math.max(1, result.questions), value: result.done, "aria-label": "Questions done" }),
    element("table", { className: "plain" }, element("caption", {}, "People"), element("tbody", {}, ...result.people.map((item) => element("tr", {}, element("th", { scope: "row" }, item.who), element("td", {}, counted(item.labels, "label")), element("td", {}, item.seconds === null ? "–" : `${item.seconds} s per label`), element("td", {}, agrees(item.who, own.pairs)))))),
    element("p", {}, alpha ? `Krippendorff’s α ${withInterval(alpha)} on ${counted(own.passages, "passage")}` : "Agreement appears once two people have graded the same passages."),
    ...own.pairs.filter((item) => item.kappa).map((item) => element("p", { className: "hint" }, `${item.first} and ${item.second}: κ ${withInterval(item.kappa)}`)),
    own.disputed ? element("p", {}, element("a", { href: "/adjudication" }, `${counted(own.disputed, "passage")} disputed`)) : "",
    element("p", { className: "hint" }, `${number(result.unjudged)} of ${counted(result.pooled, "pooled passage")} not graded`));
}

const keys = {
  j: () => go(at + 1), k: () => go(at - 1), 0: () => judge(0), 1: () => judge(1), 2: () => judge(2), 3: () => judge(3),
  g: beginGold, "[": () => move(-1), "]": () => move(1), e: () => { if (gold) { gold.edge = gold.edge === "last" ? "first" : "last"; paint(); } }, m: more,
  n: () => { if (view.id) nothing(); }, s: skip, f: flag, u: undo, "?": () => $("#help").showModal(),
};
addEventListener("keydown", (event) => {
  if (isTyping(event) || event.repeat || !view || busy) return; // a key that is held down says one thing
  if (gold && event.key === "Enter") { event.preventDefault(); keepGold(); return; }
  if (event.key === "Escape") { leaveGold(); return; }
  const work = keys[event.key];
  if (work) { event.preventDefault(); work(); }
});
for (const item of document.querySelectorAll("[data-key]")) item.addEventListener("click", () => { if (view && !busy) keys[item.dataset.key](); });
whenSent((error) => { tell(box, error); if (!error && !unsent() && wantsNext && !busy) load(); });
signed((name) => { who = name; flush(); load(new URLSearchParams(location.search).get("id") ?? ""); });
