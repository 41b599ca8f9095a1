// One question to several retrievers, side by side; the budget is a slider.
import { $, ask, counted, element, later, latest, number, plain, tell, threeDigits, units } from "./shared.js";

const form = $("#ask"), slider = $("#slider"), refused = $("#refused"), answers = $("#answers");
const LOW = 50, HIGH = 20000; // what the slider is of use for; the number beside it takes the rest
const toBudget = (at) => {
  const value = Math.exp(Math.log(LOW) + (at / 1000) * Math.log(HIGH / LOW));
  const step = value < 1000 ? 10 : 100;
  return Math.round(value / step) * step;
};
const toSlider = (budget) => Math.round(1000 * Math.log(Math.max(LOW, Math.min(HIGH, budget)) / LOW) / Math.log(HIGH / LOW));

function copyButton(text, label) {
  const button = element("button", { type: "button", className: "copy" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      button.textContent = "Copying is blocked: select the text";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
  return button;
}

function link(document, start, end, ...inner) {
  return document === null ? element("span", {}, ...inner)
    : element("a", { href: `/documents/${document}#at=${start}-${end}` }, ...inner);
}

function marked(card) {
  const at = units(card.text), parts = [];
  let last = 0;
  for (const [start, end] of card.marks) {
    parts.push(card.text.slice(at(last), at(start)), element("mark", {}, card.text.slice(at(start), at(end))));
    last = end;
  }
  parts.push(card.text.slice(at(last)));
  return parts;
}

const sizeWords = (size) => (size ? `${number(size)} tokens` : "whole document");

function why(result) {
  const reasons = [];
  if (result.words.length) {
    reasons.push(element("li", {}, "words: ", ...result.words.flatMap(({ word, count }, at) => [
      at ? ", " : "", element("b", {}, element("bdi", {}, word)), count > 1 ? ` ×${count}` : ""])));
  } else reasons.push(element("li", {}, "no matching words"));
  if (result.absent.length) reasons.push(element("li", { className: "soft" }, "missing: ", element("bdi", {}, result.absent.join(", "))));
  if (result.rank_by_words !== null) reasons.push(element("li", {}, `rank ${result.rank_by_words} by BM25 only`));
  if (result.similarity !== null) {
    const rank = result.rank_by_vectors === null ? "" : `, rank ${result.rank_by_vectors} by embeddings only`;
    reasons.push(element("li", {}, `cosine ${threeDigits(result.similarity)}${rank}`));
  }
  if (result.votes.length) {
    reasons.push(element("li", {}, "votes by window size:", element("ul", { className: "votes" }, ...result.votes.slice(0, 6).map((vote) => {
      const bar = element("i", {});
      bar.style.width = `${Math.round(60 * vote.share)}px`;
      return element("li", {}, bar, ` ${vote.signal}, ${sizeWords(vote.size)}: ${Math.round(100 * vote.share)}% of the top score`);
    }))));
  }
  return element("details", { className: "why" }, element("summary", {}, "Why"), element("ul", {}, ...reasons));
}

function hit({ card, document, is_gold: isGold, why: result }) {
  const place = `${number(card.start)}–${number(card.end)} · ${counted(card.token_count, "token")}${card.page === null ? "" : ` · page ${card.page}`}`;
  return element("li", {},
    element("p", { className: "from" }, element("span", { className: "rank" }, `${card.rank}`), " ",
      link(document, card.start, card.end, element("bdi", {}, plain(card.title))), repeated.has(card.title) ? element("small", {}, " ", element("bdi", {}, plain(card.doc_id))) : "",
      card.section ? element("small", {}, " ", element("bdi", {}, plain(card.section))) : "", isGold ? element("b", { className: "yes" }, " has gold") : ""),
    element("p", { className: "found", dir: "auto" }, ...marked(card)),
    element("p", { className: "where" }, `score ${threeDigits(card.score)} · ${place}`), why(result));
}

// Titles that several documents have say nothing alone: their files are named, too.
let repeated = new Set();
function findRepeated(sides) {
  const files = new Map();
  for (const { card } of sides.flatMap((item) => item.hits)) files.set(card.title, (files.get(card.title) ?? new Set()).add(card.doc_id));
  repeated = new Set([...files].filter(([, ids]) => ids.size > 1).map(([title]) => title));
}

const NAMES = { recommended: "Recommended, applied", before: "Before" };
function side(result, budget) {
  const card = element("section", { className: "card side", "aria-label": `By ${result.retriever}` }, element("h2", {}, NAMES[result.retriever] ?? element("code", {}, result.retriever)));
  if (result.problem) { card.append(element("p", { className: "refused" }, result.problem)); return card; }
  const answered = result.hits.filter((item) => item.is_gold).map((item) => item.card.rank);
  card.append(element("p", { className: "where" }, result.total, answered.length ? element("b", { className: "yes" }, ` · gold at rank ${Math.min(...answered)}`) : ""));
  if (budget) {
    const fill = element("i", {});
    fill.style.width = `${Math.min(100, 100 * result.tokens / budget)}%`;
    card.append(element("div", { className: "filled", role: "img", "aria-label": `${number(result.tokens)} of ${number(budget)} tokens of the budget` }, fill));
  }
  card.append(element("ol", { className: "found-list" }, ...result.hits.map(hit)));
  if (result.outside.length) {
    card.append(element("h3", {}, budget ? "Just outside the budget" : "The next hits"), element("ul", { className: "outside" }, ...result.outside.map((item) => element("li", {},
      link(item.document, item.start, item.end, element("bdi", {}, plain(item.title))), element("p", { className: "found", dir: "auto" }, item.text)))));
  }
  if (result.reading) {
    card.append(element("details", {}, element("summary", {}, "LLM context"), copyButton(result.reading, "copy"), element("pre", { dir: "auto", tabIndex: 0 }, result.reading)));
  }
  card.append(element("details", {}, element("summary", {}, "Code"),
    copyButton(result.command, "copy the command"), element("pre", {}, result.command), copyButton(result.code, "copy the Python"), element("pre", {}, result.code)));
  return card;
}

function chosen() {
  return [...form.querySelectorAll("[name=retriever]:checked")].map((item) => item.value);
}

function offer(names, wanted) {
  const box = $("#retrievers");
  if (box.querySelectorAll("input").length === names.length) return;
  const boxes = names.map((name) => element("label", {}, element("input", { type: "checkbox", name: "retriever", value: name, checked: wanted.includes(name) }), ` ${NAMES[name] ?? name}`));
  box.replaceChildren(box.querySelector("legend"), ...boxes);
}

// The questions of the test set, to walk through one by one.
let questions = [];
function suggest(list) {
  questions = list;
  const box = $("#own");
  box.hidden = !list.length;
  if (box.dataset.count === String(list.length)) return;
  box.dataset.count = list.length;
  const select = box.querySelector("select");
  select.replaceChildren(element("option", { value: "" }, `Your ${counted(list.length, "question")}`), ...list.map((item) => element("option", { value: item, selected: item === form.q.value }, plain(item))));
}
function walk(by) {
  const at = questions.indexOf(form.q.value.trim());
  const next = questions[at < 0 ? 0 : (at + by + questions.length) % questions.length];
  if (next !== undefined) tryOne(next);
}
function tryOne(question) {
  form.q.value = question;
  $("#own select").value = question;
  search();
}
$("#own select").addEventListener("change", (event) => { if (event.target.value) tryOne(event.target.value); });
for (const item of document.querySelectorAll("#own [data-by]")) item.addEventListener("click", () => walk(Number(item.dataset.by)));

let wanted = new URLSearchParams(location.search).getAll("retriever");
const search = latest(async () => {
  const values = { q: form.q.value.trim(), retriever: chosen().length ? chosen() : wanted, budget: form.budget.value };
  try {
    const result = await ask("/api/search", values);
    tell(refused, null);
    if (!wanted.length) wanted = result.retrievers.slice(0, 2);
    offer(result.retrievers, wanted);
    if (!form.budget.value) { // as the index keeps it, until somebody says otherwise
      form.budget.placeholder = result.budget ?? `${result.k} hits`;
      slider.value = toSlider(result.budget ?? 1000);
    }
    suggest(result.questions);
    $("#note").textContent = result.note;
    findRepeated(result.sides);
    answers.replaceChildren(...result.sides.map((item) => side(item, result.budget)));
    answers.dataset.sides = result.sides.length;
    const spans = (item) => item.hits.map(({ card }) => [card.doc_id, card.start, card.end].join(" ")).join("\n");
    if (result.sides.length > 1 && result.sides.every((item) => item.hits.length && spans(item) === spans(result.sides[0]))) $("#note").textContent = [result.note, "All columns have the same hits."].filter(Boolean).join(" ");
    const query = new URLSearchParams();
    if (values.q) query.set("q", values.q);
    for (const item of chosen()) query.append("retriever", item);
    if (values.budget) query.set("budget", values.budget);
    history.replaceState(null, "", `/search?${query}`);
  } catch (error) {
    tell(refused, error);
    if (error.isNotReady) setTimeout(search, 700);
  }
});

const given = new URLSearchParams(location.search);
form.q.value = given.get("q") || "";
form.budget.value = given.get("budget") || "";
slider.value = toSlider(Number(form.budget.value) || 1000);
slider.addEventListener("input", () => { form.budget.value = toBudget(Number(slider.value)); soon(); });
form.budget.addEventListener("input", () => { slider.value = toSlider(Number(form.budget.value)); soon(); });
form.q.addEventListener("input", later(() => search(), 250));
$("#retrievers").addEventListener("change", () => search());
form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
const soon = later(() => search(), 80);
await search();
if (!form.q.value && given.getAll("retriever").length && questions.length) tryOne(questions[0]); // what the applied choice changed
if (form.q.value && answers.childElementCount < chosen().length) search();
