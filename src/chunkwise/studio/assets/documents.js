// The list of documents: only the rows in sight are in the page, however many there are.
import { $, ask, counted, element, later, number, plain, whileWorking } from "./shared.js";

const PAGE = 100, AT_ONCE = 2;
const rows = $("#rows"), space = $("#space"), filter = $("#filter"), list = $("#list");
const narrow = matchMedia("(max-width: 760px)");
const height = () => (narrow.matches ? 68 : 42);
let asked = { sort: "place", backwards: false }, matching = 0, total = 0, version = 0, loading = 0;
let pages = new Map(); // number of a page: its rows, or null as long as they are awaited
let before = new Map(); // the same as it was before something was counted: better than nothing meanwhile
let drawn = new Map(); // place in the list: what is drawn there

// Who scrolls through a thousand pages asks for those that come into sight as the last ones arrive.
async function load(page) {
  const own = version;
  if (loading >= AT_ONCE) return;
  loading += 1;
  pages.set(page, null);
  try {
    const result = await ask("/api/documents", { ...asked, offset: page * PAGE, count: PAGE });
    if (own === version) {
      pages.set(page, result.rows);
      settle(result);
    }
  } finally {
    loading -= 1;
    draw();
  }
}

function settle(result) {
  ({ matching, total } = result);
  space.style.height = `${matching * height()}px`;
  list.setAttribute("aria-rowcount", matching + 1);
  const of = matching === total ? "" : ` of ${number(total)}`;
  $("#counted").textContent = matching === total ? counted(total, "document") : `${number(matching)}${of} documents`;
  $("#strategy").textContent = `Boundary issues with ${result.strategy}.`;
  choices(filter.format, result.formats);
  choices(filter.language, result.languages);
}

function choices(select, values) {
  const there = [...select.options].slice(1).map((item) => item.value);
  if (there.join("\n") === values.join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(select.options[0], ...values.map((item) => new Option(plain(item) || "(none)", item)));
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
    cell("sections", figure(document.sections), document.sections === 1 ? "section" : "sections"),
    cell("issues", figure(document.bad_cuts), document.bad_cuts === 1 ? "issue" : "issues"),
  );
  if (document.bad_cuts) made.lastChild.classList.add("some");
  made.style.top = `${at * height()}px`;
  return made;
}

function draw() {
  const tall = height(), seen = new Map();
  const first = Math.max(0, Math.floor(rows.scrollTop / tall) - 8);
  const last = Math.min(matching, Math.ceil((rows.scrollTop + rows.clientHeight) / tall) + 8);
  for (let page = Math.floor(first / PAGE); page * PAGE < Math.max(last, 1); page++) {
    if (!pages.has(page)) load(page);
    const result = pages.get(page) ?? before.get(page) ?? [], from = page * PAGE;
    for (let place = Math.max(first, from); place < Math.min(last, from + result.length); place++) {
      const there = drawn.get(place), document = result[place - from];
      const same = there && there.document === document && there.tall === tall;
      seen.set(place, same ? there : { document, tall, made: row(document, place) });
    }
  }
  const focused = document.activeElement?.getAttribute("href");
  for (const [place, item] of drawn) if (seen.get(place) !== item) item.made.remove();
  let next = space.firstChild; // what is there already stays; the rest comes between, in the order of the list
  for (const { made } of seen.values()) {
    if (made === next) next = next.nextSibling;
    else space.insertBefore(made, next);
  }
  drawn = seen;
  if (focused && document.activeElement === document.body) {
    space.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}

let awaited = false;
function drawSoon() {
  if (awaited) return;
  awaited = true;
  requestAnimationFrame(() => { awaited = false; draw(); });
}

// Of the same list: what is drawn stays until the rows come that replace it.
function refresh() {
  version += 1;
  for (const [page, result] of pages) if (result) before.set(page, result);
  pages = new Map();
  load(Math.floor(rows.scrollTop / height() / PAGE));
}

function anew() {
  refresh();
  before = new Map();
}

const values = () => ({ find: filter.find.value, format: filter.format.value, language: filter.language.value });
const changed = () => { asked = { ...asked, ...values() }; rows.scrollTop = 0; anew(); };
filter.find.addEventListener("input", later(changed, 120));
filter.format.addEventListener("change", changed);
filter.language.addEventListener("change", changed);
filter.addEventListener("submit", (event) => event.preventDefault());
rows.addEventListener("scroll", drawSoon, { passive: true });
addEventListener("resize", () => { space.style.height = `${matching * height()}px`; draw(); });
for (const button of document.querySelectorAll("[data-sort]")) {
  button.addEventListener("click", () => {
    const same = asked.sort === button.dataset.sort;
    asked = { ...asked, sort: button.dataset.sort, backwards: same && !asked.backwards };
    for (const item of document.querySelectorAll("[role=columnheader]")) item.removeAttribute("aria-sort");
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
    box.querySelector("ul").replaceChildren(...state.problems.map((item) => element("li", {}, element("bdi", {}, plain(item)))));
  }
  const step = state.steps.findLast((item) => item.done);
  const now = `${state.documents} ${step ? step.name + Math.floor(10 * step.done / (step.total || 1)) : ""} ${state.working}`;
  if (now !== seen) { seen = now; refresh(); }
});
anew();
