// The list of documents: only the rows in sight are in the page, however many there are.
import { $, ask, counted, element, later, number, plain, whileWorking } from "./shared.js";

const PAGE = 100;
const rows = $("#rows"), space = $("#space"), filter = $("#filter"), list = $("#list");
const narrow = matchMedia("(max-width: 760px)");
const height = () => (narrow.matches ? 68 : 42);
let asked = { sort: "place", backwards: false }, matching = 0, total = 0, version = 0;
let pages = new Map(); // number of a page: its rows, or the promise of them

async function load(page) {
  const own = version;
  pages.set(page, null);
  const found = await ask("/api/documents", { ...asked, offset: page * PAGE, count: PAGE });
  if (own !== version) return;
  pages.set(page, found.rows);
  settle(found);
  draw();
}

function settle(found) {
  ({ matching, total } = found);
  space.style.height = `${matching * height()}px`;
  list.setAttribute("aria-rowcount", matching + 1);
  const of = matching === total ? "" : ` of ${number(total)}`;
  $("#counted").textContent = matching === total ? counted(total, "document") : `${number(matching)}${of} documents`;
  $("#strategy").textContent = `Bad cuts are those of ${found.strategy}.`;
  choices(filter.format, found.formats);
  choices(filter.language, found.languages);
}

function choices(select, values) {
  const there = [...select.options].slice(1).map((each) => each.value);
  if (there.join("\n") === values.join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(select.options[0], ...values.map((each) => new Option(plain(each) || "(none)", each)));
  select.value = chosen;
}

const figure = (value) => (value === null ? "…" : number(value));

function row(document, at) {
  const name = document.title || document.id;
  const cell = (kind, text, label) => element("span", { role: "cell", className: kind, "data-label": label }, text);
  const made = element(
    "div", { role: "row", className: "line", "aria-rowindex": at + 2 },
    element("span", { role: "cell", className: "name" },
      element("a", { href: `/documents/${document.number}` }, element("bdi", {}, plain(name))),
      element("small", {}, element("bdi", {}, document.title ? plain(document.id) : ""))),
    cell("size", number(document.characters), "characters"),
    cell("language", document.language, "language"),
    cell("format", document.format, "format"),
    cell("sections", figure(document.sections), "sections"),
    cell("issues", figure(document.bad_cuts), "bad cuts"),
  );
  if (document.bad_cuts) made.lastChild.classList.add("some");
  made.style.top = `${at * height()}px`;
  return made;
}

function draw() {
  const first = Math.max(0, Math.floor(rows.scrollTop / height()) - 8);
  const last = Math.min(matching, Math.ceil((rows.scrollTop + rows.clientHeight) / height()) + 8);
  const shown = [];
  for (let page = Math.floor(first / PAGE); page * PAGE < Math.max(last, 1); page++) {
    if (!pages.has(page)) load(page);
    for (const [at, each] of (pages.get(page) || []).entries()) {
      const place = page * PAGE + at;
      if (place >= first && place < last) shown.push(row(each, place));
    }
  }
  const focused = document.activeElement?.getAttribute("href");
  space.replaceChildren(...shown);
  if (focused) space.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function anew() {
  version += 1;
  pages = new Map();
  load(Math.floor(rows.scrollTop / height() / PAGE));
}

const values = () => ({ find: filter.find.value, format: filter.format.value, language: filter.language.value });
const changed = () => { asked = { ...asked, ...values() }; rows.scrollTop = 0; anew(); };
filter.find.addEventListener("input", later(changed, 120));
filter.format.addEventListener("change", changed);
filter.language.addEventListener("change", changed);
filter.addEventListener("submit", (event) => event.preventDefault());
rows.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
addEventListener("resize", () => { space.style.height = `${matching * height()}px`; draw(); });
for (const button of document.querySelectorAll("[data-sort]")) {
  button.addEventListener("click", () => {
    const same = asked.sort === button.dataset.sort;
    asked = { ...asked, sort: button.dataset.sort, backwards: same && !asked.backwards };
    for (const each of document.querySelectorAll("[role=columnheader]")) each.removeAttribute("aria-sort");
    const up = ["name", "language", "format"].includes(asked.sort) !== asked.backwards;
    button.parentElement.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.scrollTop = 0;
    anew();
  });
}

// What is counted in the background comes into the list while one looks at it.
let seen = "";
whileWorking((state) => {
  if (!state) return;
  const box = $("#problems");
  box.hidden = !state.problem_count;
  if (state.problem_count) {
    box.querySelector("summary").textContent = `${counted(state.problem_count, "problem")} while reading`;
    box.querySelector("ul").replaceChildren(...state.problems.map((each) => element("li", {}, element("bdi", {}, plain(each)))));
  }
  const step = state.steps.findLast((each) => each.done);
  const now = `${state.documents} ${step ? step.name + Math.floor(10 * step.done / (step.total || 1)) : ""} ${state.working}`;
  if (now !== seen) { seen = now; anew(); }
});
anew();
