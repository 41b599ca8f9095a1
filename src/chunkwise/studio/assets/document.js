// A document with its cuts: its text is asked for in bands as they come into sight, so that any length stays smooth.
// One row holds the same band cut by one strategy, or by two side by side: they scroll together because they are one.
import { $, ask, counted, element, latest, number, plain, tell, times, units } from "./shared.js";
import { fill } from "./strategy_form.js";
import { tokenUnder } from "./tokens.js";
import { paper } from "./paper.js";

const TINTS = 4, AHEAD = 2000, TOGETHER = 12, LINE = 28;
const about = $("#about"), pages = $("#pages"), refused = $("#refused"), head = $("#document");
const path = `/api/documents/${head.dataset.number}/cuts`;
const edges = head.dataset.bands.split(" ").map(Number), size = edges[edges.length - 1];
const given = new URLSearchParams(location.search);
const sides = [
  { strategy: given.get("strategy") || head.dataset.strategy, cuts: null, on: true },
  { strategy: given.get("other") || "recursive", cuts: null, on: given.has("other") },
];
const shown = () => sides.filter((side) => side.on);
let marked = null; // a span of the text that a link named
const onPaper = paper(head.dataset.number, refused);

// Rows: one a band, drawn while it is near the window.
const rows = edges.slice(0, -1).map((start, index) => ({ index, start, end: edges[index + 1], box: element("div", { className: "row" }), near: false, drawn: "" }));
const perLine = () => Math.max(20, (pages.clientWidth / shown().length - 40) / 7.6);
function guess() {
  const line = perLine();
  for (const row of rows) if (!row.drawn) row.box.style.minHeight = `${Math.ceil((row.end - row.start) / line * 1.25) * LINE}px`;
}
const byBox = new Map(rows.map((row) => [row.box, row]));
pages.replaceChildren(...rows.map((row) => row.box));

const key = () => shown().map((side) => side.strategy).join("\n");

function stretches(band, cuts) {
  const points = new Set([band.start, band.end]);
  const add = (at) => { if (at > band.start && at < band.end) points.add(at); };
  for (const chunk of band.chunks) { add(chunk.start); add(chunk.end); }
  for (const issue of band.issues) add(issue.offset);
  if (marked) { add(marked[0]); add(marked[1]); }
  return [...points].sort((a, b) => a - b);
}

function flag(issues, kinds) {
  const words = [...new Set(issues.map(({ kind }) => `${kinds[kind].name}: ${kinds[kind].help}`))].join("\n");
  const made = element("button", { type: "button", className: "flag", title: words, "aria-label": words });
  made.dataset.at = issues[0].offset;
  return made;
}

function drawBand(band, cuts) {
  const box = element("div", { className: "band", dir: "auto" });
  const at = units(band.text), points = stretches(band, cuts);
  const issues = new Map();
  for (const issue of band.issues) issues.set(issue.offset, [...(issues.get(issue.offset) || []), issue]);
  const pill = (chunk) => {
    const made = element("button", { type: "button", className: `pill t${chunk.place % TINTS}`, "data-n": chunk.place + 1, "aria-label": `Chunk ${chunk.place + 1}, ${counted(chunk.size, cuts.unit.slice(0, -1))}` });
    made.chunks = [chunk];
    return made;
  };
  points.forEach((from, index) => {
    const to = index + 1 < points.length ? points[index + 1] : from;
    const active = band.chunks.filter((chunk) => chunk.start <= from && chunk.end > from);
    // What ends inside another chunk needs a mark of its own: no new color begins there.
    if (active.some((chunk) => chunk.start < from)) {
      for (const chunk of band.chunks) if (chunk.end === from) box.append(element("span", { className: `close t${chunk.place % TINTS}`, "data-n": chunk.place + 1 }));
    }
    if (issues.has(from)) box.append(flag(issues.get(from), cuts.kinds));
    for (const chunk of active) if (chunk.start === from) box.append(pill(chunk));
    if (to === from) return;
    const newest = active[active.length - 1];
    let look = "gap";
    if (newest) look = active.length > 1 ? `lap l${newest.place % TINTS}` : `t${newest.place % TINTS}`;
    if (marked && from >= marked[0] && to <= marked[1]) look += " marked";
    const made = element("span", { className: look, textContent: band.text.slice(at(from - band.start), at(to - band.start)) });
    made.chunks = active;
    made.from = from;
    made.to = to;
    box.append(made);
  });
  box.cuts = cuts;
  box.band = band;
  return box;
}

function put(row, bands) {
  row.box.replaceChildren(...bands.map(([band, cuts], side) => {
    const made = drawBand(band, cuts);
    made.classList.add(`side${side}`);
    return made;
  }));
  row.box.style.minHeight = "";
  row.drawn = key();
}

// Heights are read before anything is changed: each read behind a change would lay out the whole text again.
function drop(left) {
  const tall = left.map((row) => row.box.offsetHeight);
  left.forEach((row, at) => {
    row.box.replaceChildren();
    row.box.style.minHeight = `${tall[at]}px`;
    row.drawn = "";
  });
}

// No frame waits for more than one of the bands that were fetched together.
const nextFrame = () => new Promise(requestAnimationFrame);

const fetching = new Set();
async function load(first, count) {
  const wanted = key(), own = shown();
  const place = `${wanted}\n${first}\n${count}`;
  if (fetching.has(place)) return;
  fetching.add(place);
  try {
    const result = await Promise.all(own.map((side) => ask(path, { strategy: side.strategy, first, count })));
    tell(refused, null);
    if (wanted !== key()) return;
    own.forEach((side, at) => { side.cuts = result[at]; });
    let isFirst = true;
    for (const [at, band] of result[0].bands.entries()) {
      const row = rows[band.number];
      if (!row.near && rows.length > 1) continue;
      if (!isFirst) await nextFrame();
      isFirst = false;
      if (wanted !== key()) return;
      if (row.near || rows.length === 1) put(row, result.map((item) => [item.bands[at], item]));
    }
  } catch (error) {
    tell(refused, error);
  } finally {
    fetching.delete(place);
  }
}

// All rows that are near and not drawn as they should be, a few together.
async function settle() {
  const wanted = key();
  const waiting = rows.filter((row) => row.near && row.drawn !== wanted);
  const loads = [];
  for (let at = 0; at < waiting.length;) {
    let stop = at + 1;
    while (stop < waiting.length && waiting[stop].index === waiting[stop - 1].index + 1 && stop - at < TOGETHER) stop++;
    loads.push(load(waiting[at].index, stop - at));
    at = stop;
  }
  await Promise.all(loads);
}

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) byBox.get(entry.target).near = entry.isIntersecting;
  drop(entries.map((entry) => byBox.get(entry.target)).filter((row) => !row.near && row.drawn));
  settle();
}, { root: pages, rootMargin: `${AHEAD}px 0px` });

// Where in the text the window begins.
function top() {
  const edge = pages.scrollTop;
  let low = 0, high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows[middle].box.offsetTop <= edge) low = middle; else high = middle - 1;
  }
  const { box, start, end } = rows[low];
  return Math.round(start + Math.min(1, Math.max(0, (edge - box.offsetTop) / Math.max(1, box.offsetHeight))) * (end - start));
}

async function goTo(at, focus = false) {
  const row = rows.find((item) => at < item.end) || rows[rows.length - 1];
  if (!row) return;
  pages.scrollTop = row.box.offsetTop;
  row.near = true;
  if (row.drawn !== key()) await load(row.index, 1);
  const inside = [...row.box.querySelectorAll(focus ? `.side0 .flag[data-at="${at}"], .flag[data-at="${at}"]` : ".marked")][0];
  if (inside) {
    inside.scrollIntoView({ block: "center" });
    if (focus) inside.focus({ preventScroll: true });
  } else pages.scrollTop = row.box.offsetTop + (at - row.start) / Math.max(1, row.end - row.start) * row.box.offsetHeight - pages.clientHeight / 3;
}

// Figures of the whole, a map of it, and the kinds of issues there are.
function bars(cuts, label) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 400 24");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${label}: ${counted(cuts.chunks, "chunk")} and ${counted(cuts.bad_cuts, "boundary issue")} by position`);
  const most = Math.max(1, ...cuts.density.map(([chunks]) => chunks)), worst = Math.max(1, ...cuts.density.map(([, issues]) => issues));
  cuts.density.forEach(([chunks, issues], at) => {
    for (const [kind, value, room, base] of [["chunks", chunks / most, 13, 13], ["issues", issues / worst, 10, 24]]) {
      if (!value) continue;
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect"), tall = Math.max(1, value * room);
      for (const [name, own] of Object.entries({ class: kind, x: at * 4, width: 3.4, y: base - tall, height: tall })) bar.setAttribute(name, own);
      svg.append(bar);
    }
  });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    goTo(Math.min(size - 1, Math.floor((event.clientX - box.left) / box.width * size)));
  });
  return svg;
}

function figures() {
  const names = shown().length > 1 ? ["A", "B"] : [""];
  $("#figures").replaceChildren(...shown().filter((side) => side.cuts).map(({ cuts }, at) => {
    const pairs = [[counted(cuts.chunks, "chunk"), ""], [number(cuts.median), `median ${cuts.unit}`],
      [number(cuts.longest), cuts.limit === null ? "longest" : `longest (limit ${number(cuts.limit)})`], [number(cuts.bad_cuts), cuts.bad_cuts === 1 ? "boundary issue" : "boundary issues"]];
    if (cuts.overlap > 1.005) pairs.push([times(cuts.overlap), "text length"]);
    const kinds = cuts.kinds.filter((item) => item.count).sort((a, b) => b.count - a.count);
    return element("div", { className: "figure-card" },
      element("p", { className: "spec" }, names[at] ? element("b", {}, `${names[at]} `) : "", element("code", {}, cuts.strategy)),
      element("p", { className: "values" }, ...pairs.map(([value, word]) => element("span", {}, element("b", {}, value), word ? ` ${word}` : ""))),
      bars(cuts, cuts.strategy),
      element("p", { className: "kinds-line" }, ...(kinds.length ? kinds.map((item) => element("span", { className: "tag", title: item.help }, `${item.name} ${number(item.count)}`)) : ["no boundary issues"])));
  }));
}

// A new strategy: what is in sight is asked for with it, the rest when it comes into sight.
const recut = latest(async (side, strategy) => {
  const near = rows.filter((row) => row.near), first = near.length ? near[0].index : 0;
  try {
    const cuts = await ask(path, { strategy, first, count: Math.min(TOGETHER, Math.max(1, near.length)), near: top() });
    tell(refused, null);
    sides[side].strategy = strategy;
    sides[side].cuts = cuts;
    remember();
    figures();
    // A side that was just taken away has no figures to tell: those of the other one stay.
    const words = sides[side].on ? side : 0, name = shown().length > 1 ? `${"AB"[words]}: ` : "";
    $("#position").textContent = `${name}${counted(sides[words].cuts.chunks, "chunk")}, ${counted(sides[words].cuts.bad_cuts, "boundary issue")}`;
    await settle();
  } catch (error) {
    tell(refused, error);
  }
});

function remember() {
  const query = new URLSearchParams();
  if (sides[0].strategy !== head.dataset.strategy) query.set("strategy", sides[0].strategy);
  if (sides[1].on) query.set("other", sides[1].strategy);
  history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
}

async function jump(step) {
  const focused = document.activeElement?.classList.contains("flag") ? Number(document.activeElement.dataset.at) : null;
  const from = focused ?? top();
  try {
    const cuts = await ask(path, { strategy: sides[0].strategy, count: 0, near: from });
    const result = step > 0 ? cuts.next_issue : cuts.previous_issue;
    $("#position").textContent = result === null ? "no more issues" : `at ${number(result)}`;
    if (result !== null) await goTo(result, true);
  } catch (error) {
    tell(refused, error);
  }
}

let lit = [];
function point(target) {
  const band = target.closest?.(".band"), own = target.closest?.(".band > *");
  if (!band || !own) return;
  for (const item of lit) item.classList.remove("on");
  const chunks = own.chunks || [];
  if (chunks.length) onPaper.show(chunks[chunks.length - 1].start, chunks[chunks.length - 1].end);
  lit = [...band.children].filter((item) => item.chunks?.some((chunk) => chunks.some(({ place }) => place === chunk.place)));
  for (const item of lit) item.classList.add("on");
  if (own.classList.contains("flag")) about.textContent = own.title;
  else if (chunks.length) {
    about.textContent = chunks.slice(-2).reverse().map((chunk) => {
      const limit = band.cuts.limit === null ? "" : ` of ${number(band.cuts.limit)}`;
      return `Chunk ${number(chunk.place + 1)} · ${number(chunk.size)}${limit} ${band.cuts.unit} · ${number(chunk.start)}–${number(chunk.end)}${chunk.section ? ` · ${chunk.section}` : ""}`;
    }).join("   |   ");
  } else about.textContent = "Not in a chunk.";
}

function show(side) {
  pages.dataset.show = side;
  for (const item of document.querySelectorAll("[data-show]")) if (item !== pages) item.setAttribute("aria-pressed", item.dataset.show === String(side));
}

function both(on) {
  sides[1].on = on;
  $("#compare").setAttribute("aria-pressed", on);
  $("#compare").textContent = on ? "Show one strategy" : "Compare with another strategy";
  document.querySelector('[data-side="1"]').hidden = !on;
  $("#switch").hidden = !on;
  pages.classList.toggle("abreast", on);
  guess();
}

function arrive() {
  const [, from, to] = /^#at=(\d{1,12})(?:-(\d{1,12}))?$/.exec(location.hash) || [];
  if (from === undefined) return;
  marked = to === undefined ? null : [Number(from), Number(to)];
  for (const row of rows) if (row.drawn) row.drawn = "stale";
  goTo(Math.min(Number(from), Math.max(0, size - 1)));
  if (marked) onPaper.show(...marked);
  settle();
}

for (const name of ["pointerover", "focusin", "click"]) pages.addEventListener(name, (event) => point(event.target));
const underPointer = latest((event) => tokenUnder(head.dataset.number, event, (words) => { tokenLine.textContent = words; }));
const tokenLine = $("#token");
pages.addEventListener("pointermove", (event) => underPointer(event));
$("#next").addEventListener("click", () => jump(1));
$("#previous").addEventListener("click", () => jump(-1));
$("#compare").addEventListener("click", () => { both(!sides[1].on); remember(); recut(1, sides[1].strategy).then(figures); });
for (const item of document.querySelectorAll("#switch button")) item.addEventListener("click", () => show(Number(item.dataset.show)));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "n") jump(1);
  else if (event.key === "p") jump(-1);
  else if (event.key === "g") onPaper.toggle();
  else return;
  event.preventDefault();
});
addEventListener("hashchange", arrive);
addEventListener("resize", guess);

show(0);
both(sides[1].on);
if (matchMedia("(max-width: 900px)").matches) $("#settings").open = false;
const started = Promise.all(shown().map((side) => ask(path, { strategy: side.strategy, count: 0 }).then((cuts) => { side.cuts = cuts; })));
for (const row of rows) observer.observe(row.box);
try {
  await started;
  figures();
  arrive();
} catch (error) {
  tell(refused, error);
}
const { strategies } = await ask("/api/strategies");
for (const form of document.querySelectorAll("form.strategy")) {
  const side = Number(form.dataset.side);
  fill(form, strategies, sides[side].strategy, (text) => recut(side, text));
}
