// A question with its passages, judged by the keyboard; every label leaves at once, and the next passage is there.
import { $, ask, counted, element, later, number, plain, tell, withInterval } from "./shared.js";
import { flush, isTyping, label, newKey, signed, unsent, whenSent } from "./labels.js";

let who = "", view = null, at = 0, shown = 0, gold = null;
let busy = false, wantsNext = false; // a key that is pressed before the next question is seen says nothing of it
const said = []; // what was said here, the last one at the end: { key, id }
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
  const open = view.passages.findIndex((each) => each.grade === null);
  go(id ? place : Math.max(0, open), false);
  // What had the focus is gone with the question before: who listens is told the new one, and goes on from there.
  $("#asked").focus({ preventScroll: true });
  progress();
}

function draw() {
  const done = !view.id;
  $("#asked").textContent = done ? "No question waits for you" : plain(view.question);
  $("#where").textContent = done ? `Signed as ${who}` : `Signed as ${who} · ${counted(view.passages.length, "passage")} from a pool of depth ${view.depth}${view.people > 1 ? " · goes to two people" : ""}`;
  const known = view.answer ? `Answer: ${plain(view.answer)}` : "";
  $("#known").textContent = done ? "Everything is judged. Questions are made on the page Questions." : [known, view.state === "nothing" ? "You said that nothing answers it." : view.state === "skipped" ? "You skipped it." : ""].filter(Boolean).join(" · ");
  list.replaceChildren(...view.passages.map(row));
  for (const each of view.gold) list.append(element("li", { className: "gold-row" }, element("span", { className: "gold" }, plain(each.text)), ` ${each.doc_id} `, element("small", {}, "gold")));
}

function row(passage, place) {
  const grades = view.grades.map((words, grade) => element("button", { type: "button", className: "grade", title: words, "aria-pressed": String(passage.grade === grade), "aria-label": `${grade}: ${words}`, onclick: () => { go(place); judge(grade); } }, element("kbd", {}, String(grade)), element("span", {}, ` ${words}`)));
  const made = element("li", { className: "card passage-card", tabIndex: -1, "aria-label": `Passage ${place + 1} of ${view.passages.length}`, "aria-describedby": `passage-${place}` },
    element("p", { className: "where" }, passage.document === null ? plain(passage.title) : element("a", { href: `/documents/${passage.document}#at=${passage.start}-${passage.end}`, target: "_blank" }, element("bdi", {}, plain(passage.title))), ` ${number(passage.start)}–${number(passage.end)}`),
    text(passage, place),
    element("div", { className: "grades", role: "group", "aria-label": "Grade" }, ...grades,
      element("button", { type: "button", className: "grade keep-gold", onclick: () => { if (gold) keepGold(); } }, element("kbd", {}, "Enter"), " keep as gold")));
  made.addEventListener("click", () => { if (at !== place) go(place, false); });
  return made;
}

function text(passage, place) {
  const made = element("p", { className: "passage-text", dir: "auto", id: `passage-${place}` });
  passage.sentences.forEach((each, index) => made.append(element("span", { className: each.is_inside ? "inside" : "near", onclick: () => pick(place, index) }, each.text)));
  return made;
}

function go(place, focus = true) {
  if (!view.passages.length) return;
  if (gold && gold.place !== place) leaveGold();
  at = Math.min(Math.max(place, 0), view.passages.length - 1);
  shown = performance.now();
  [...list.children].forEach((each, index) => { each.classList.toggle("here", index === at); each.setAttribute("aria-current", String(index === at)); });
  const here = list.children[at];
  list.style.setProperty("--asked", `${document.querySelector(".asked-card").offsetHeight}px`); // it stays above the passage
  here.scrollIntoView({ block: "start", behavior: "instant" }); // whoever labels fast does not wait for it
  if (focus) here.focus({ preventScroll: true });
}

const seconds = () => Math.round((performance.now() - shown) / 10) / 100;
function say(values) {
  const key = newKey();
  said.push({ key, id: view.id });
  label({ key, who, id: view.id, seconds: seconds(), pool: view.pool, ...values });
}

function judge(grade) {
  const passage = view.passages[at];
  if (!passage) return;
  say({ kind: "grade", grade, doc_id: passage.doc_id, start: passage.start, end: passage.end });
  passage.grade = grade;
  [...list.children[at].querySelectorAll(".grade[aria-pressed]")].forEach((each, index) => each.setAttribute("aria-pressed", String(index === grade)));
  $("#said").textContent = `Passage ${at + 1}: ${grade}, ${view.grades[grade]}`;
  const later = view.passages.findIndex((each, index) => index > at && each.grade === null);
  const open = later >= 0 ? later : view.passages.findIndex((each) => each.grade === null);
  if (open >= 0) go(open);
  else following();
}

async function following() {
  wantsNext = busy = true;
  await flush();
  busy = false;
  if (!unsent()) await load();
}

async function whole(kind, words) {
  if (!view.id) return;
  say({ kind });
  $("#said").textContent = words;
  await following();
}

async function undo() {
  const last = said.pop() ?? (view.last ? { key: view.last, id: view.id } : null);
  if (!last?.id) { $("#said").textContent = "There is nothing to undo."; return; }
  label({ key: newKey(), kind: "undo", who, id: last.id, undoes: last.key });
  $("#said").textContent = "Undone.";
  const place = last.id === view.id ? at : 0;
  busy = true;
  await flush();
  await load(last.id, place);
  const open = view.passages.findIndex((each) => each.grade === null);
  if (open >= 0) go(open);
}

// Gold: a first sentence and a last one of a passage and what stands around it.
function paint() {
  const spans = list.children[gold.place].querySelectorAll(".passage-text > span");
  spans.forEach((each, index) => {
    each.classList.toggle("gold", index >= gold.first && index <= gold.last);
    each.classList.toggle("edge", index === gold[gold.edge]);
  });
  list.children[gold.place].classList.add("with-gold");
  spans[gold[gold.edge]].scrollIntoView({ block: "nearest" });
  $("#said").textContent = `Gold: ${counted(gold.last - gold.first + 1, "sentence")}; the ${gold.edge === "last" ? "end" : "beginning"} moves. Enter keeps it.`;
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
  const box = ends[0]?.parentElement, place = [...list.children].findIndex((each) => each.contains(box));
  if (!box || ends[1]?.parentElement !== box || place < 0) return;
  const [first, last] = ends.map((each) => [...box.children].indexOf(each)).sort((a, b) => a - b);
  if (at !== place) go(place, false);
  gold = { place, first, last, edge: "last" };
  paint();
}, 200);
document.addEventListener("selectionchange", selected);
function beginGold() {
  const sentences = view.passages[at]?.sentences ?? [];
  const inside = sentences.findIndex((each) => each.is_inside);
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
  for (const each of list.children) each.classList.remove("with-gold");
  for (const each of list.querySelectorAll(".passage-text > .gold, .passage-text > .edge")) each.classList.remove("gold", "edge");
}
async function more() {
  const passage = view.passages[at];
  if (!passage || passage.document === null) return;
  try {
    const found = await ask(`/api/documents/${passage.document}/sentences`, { start: passage.start, end: passage.end, around: 4000 });
    passage.sentences = found.sentences;
  } catch (error) { tell(box, error); return; }
  leaveGold();
  list.children[at].querySelector(".passage-text").replaceWith(text(passage, at));
  list.children[at].querySelector(".inside")?.scrollIntoView({ block: "center" });
}
async function keepGold() {
  const passage = view.passages[gold.place], place = gold.place;
  const start = passage.sentences[gold.first].start, end = passage.sentences[gold.last].end;
  const words = passage.sentences.slice(gold.first, gold.last + 1).map((each) => each.text).join("");
  const low = start + [...words].length - [...words.trimStart()].length, high = end - ([...words].length - [...words.trimEnd()].length);
  if (low >= high) return;
  say({ kind: "gold", doc_id: passage.doc_id, start: low, end: high });
  leaveGold();
  await flush();
  if (!unsent()) await load(view.id, place);
  $("#said").textContent = "The gold is kept.";
}

async function progress() {
  let found;
  try { found = (await ask("/api/labels")).progress; } catch { return; }
  const own = found.agreement, alpha = own.alpha;
  $("#progress").replaceChildren(
    element("p", {}, `${number(found.done)} of ${counted(found.questions, "question")} done · ${counted(view.waiting.length, "question")} for you`),
    element("progress", { max: Math.max(1, found.questions), value: found.done, "aria-label": "Questions done" }),
    element("table", { className: "plain" }, element("caption", {}, "People"), element("tbody", {}, ...found.people.map((each) => element("tr", {}, element("th", { scope: "row" }, each.who), element("td", {}, counted(each.labels, "label")), element("td", {}, each.seconds === null ? "–" : `${each.seconds} s each`))))),
    element("p", {}, alpha ? `Krippendorff’s α ${withInterval(alpha)} on ${counted(own.passages, "passage")}` : "Agreement is told once two people have graded the same passages."),
    ...own.pairs.filter((each) => each.kappa).map((each) => element("p", { className: "hint" }, `${each.first} and ${each.second}: κ ${withInterval(each.kappa)}`)),
    own.disputed ? element("p", {}, element("a", { href: "/adjudication" }, `${counted(own.disputed, "passage")} disputed`)) : "",
    element("p", { className: "hint" }, `${number(found.unjudged)} of ${counted(found.pooled, "pooled passage")} not judged`));
}

const keys = {
  j: () => go(at + 1), k: () => go(at - 1), 0: () => judge(0), 1: () => judge(1), 2: () => judge(2), 3: () => judge(3),
  g: beginGold, "[": () => move(-1), "]": () => move(1), e: () => { if (gold) { gold.edge = gold.edge === "last" ? "first" : "last"; paint(); } }, m: more,
  n: () => whole("nothing", "Nothing answers it."), s: () => whole("skip", "Skipped."), u: undo, "?": () => $("#help").showModal(),
};
addEventListener("keydown", (event) => {
  if (isTyping(event) || !view || busy) return;
  if (gold && event.key === "Enter") { event.preventDefault(); keepGold(); return; }
  if (event.key === "Escape") { leaveGold(); return; }
  const work = keys[event.key];
  if (work) { event.preventDefault(); work(); }
});
for (const each of document.querySelectorAll("[data-key]")) each.addEventListener("click", () => { if (view && !busy) keys[each.dataset.key](); });
whenSent((error) => { tell(box, error); if (!error && !unsent() && wantsNext && !busy) load(); });
signed((name) => { who = name; flush(); load(new URLSearchParams(location.search).get("id") ?? ""); });
