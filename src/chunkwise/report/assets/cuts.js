// Ties the parts together: the picker, pointing, jumping, filtering.

const $ = (selector) => document.querySelector(selector);
const scroller = $("#scroller"), text = $("#text"), panel = $("#panel"), canvas = $("#ruler canvas");
let doc = null, drawn = null, lit = [], here = -1;

function open(number) {
  if (drawn) drawn.stop();
  doc = loadDocument(number);
  drawn = drawText(doc, text);
  lit = [];
  here = -1;
  $("h1 bdi").textContent = doc.title || doc.id;
  $("#figures").replaceChildren(...figures(doc));
  $("#histogram").replaceChildren(...histogram(doc));
  $("#chips").replaceChildren(...chips());
  panel.replaceChildren(hint());
  settle();
}

function chips() {
  const totals = overview.kinds.map(() => 0);
  for (const { issues } of doc.flagged) for (const kind of new Set(issues.map(({ kind }) => kind))) totals[kind]++;
  const made = totals.flatMap((total, kind) => total ? [element("button", {
    type: "button", className: "chip", title: kindText(kind), "data-kind": kind, "aria-pressed": !hidden.has(kind),
  }, kindName(kind), element("b", {}, count(total)))] : []);
  return made.length ? made : [element("span", { className: "fine" }, "no boundary issues")];
}

// Marks follow the filter; the map shows what the text shows.
function settle() {
  for (const place of doc.flagged) if (place.button) place.button.hidden = !shown(place);
  const left = doc.flagged.filter(shown).length;
  $("#position").textContent = left ? counted(left, "boundary issue") : "";
  $("#previous").disabled = $("#next").disabled = !left;
  drawRuler(doc, canvas);
  follow();
}

function point(chunks, issues) {
  for (const span of lit) span.classList.remove("on");
  lit = chunks.flatMap((chunk) => chunk.spans);
  for (const span of lit) span.classList.add("on");
  if (chunks.length) here = chunks[chunks.length - 1].i;
  const cards = chunks.slice(-3).reverse().map((chunk) => card(doc, chunk, !issues));
  if (issues) cards.unshift(element("section", { className: "hint" }, issueList(doc, issues)));
  panel.replaceChildren(...cards);
}

function pointAt(target) {
  const flagged = target.closest(".flag"), one = target.closest(".pill"), some = target.closest("[data-chunks]");
  if (flagged) {
    const at = Number(flagged.dataset.at), { issues } = doc.places.get(at);
    const owners = [...new Set(issues.map((issue) => issue.chunk))].sort((a, b) => a - b);
    point(owners.map((i) => doc.chunks[i]), issues.map(({ kind }) => ({ kind, at })));
  } else if (one) point([doc.chunks[one.dataset.chunk]]);
  else if (some) point(some.dataset.chunks.split(" ").map((i) => doc.chunks[i]));
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

function go(target) {
  target.scrollIntoView({ block: "center", behavior: calm.matches ? "auto" : "smooth" });
  target.focus({ preventScroll: true });
}

function jumpIssue(step) {
  const places = doc.flagged.filter(shown);
  if (!places.length) return;
  drawn.finish();
  const current = document.activeElement.classList.contains("flag") ? Number(document.activeElement.dataset.at) : null;
  const from = current ?? (here >= 0 ? doc.chunks[here].from : top() - 1);
  const index = places.findIndex(({ at }) => at >= from);
  const exact = index >= 0 && places[index].at === current;
  let next = index < 0 ? places.length : index;
  next = step > 0 ? next + (exact ? 1 : 0) : next - 1;
  next = (next + places.length) % places.length;
  $("#position").textContent = `${count(next + 1)} of ${count(places.length)}`;
  go(places[next].button);
}

function jumpChunk(step) {
  const rank = here < 0 ? (step > 0 ? 0 : -1) : doc.chunks[here].rank + step;
  const chunk = doc.ordered[(rank + doc.ordered.length) % doc.ordered.length];
  if (!chunk) return;
  drawn.finish();
  go(chunk.mark);
}

// Offset of the text at the upper edge of the window, from the blocks' places.
function top(edge = scroller.scrollTop + $("#tools").offsetHeight) {
  const { bands } = drawn;
  if (!bands.length) return 0;
  const index = Math.max(0, below(bands.map(({ band }) => band.offsetTop), edge + 1) - 1);
  const { at, band } = bands[index], end = index + 1 < bands.length ? bands[index + 1].at : doc.text.length;
  const part = Math.min(1, Math.max(0, (edge - band.offsetTop) / Math.max(1, band.offsetHeight)));
  return at + part * (end - at);
}

function follow() {
  const all = Math.max(1, doc.text.length), from = top(), to = top(scroller.scrollTop + scroller.clientHeight);
  $("#window").style.left = `${100 * from / all}%`;
  $("#window").style.width = `${100 * Math.max(0, to - from) / all}%`;
}

function widen() {
  const fixed = text.classList.toggle("fixed");
  $("#face").setAttribute("aria-pressed", fixed);
  follow();
}

text.addEventListener("pointerover", (event) => pointAt(event.target));
text.addEventListener("focusin", (event) => pointAt(event.target));
text.addEventListener("click", (event) => pointAt(event.target));
$("#chips").addEventListener("click", (event) => {
  const chip = event.target.closest(".chip");
  if (!chip) return;
  const kind = Number(chip.dataset.kind);
  if (!hidden.delete(kind)) hidden.add(kind);
  chip.setAttribute("aria-pressed", !hidden.has(kind));
  settle();
});
$("#next").addEventListener("click", () => jumpIssue(1));
$("#previous").addEventListener("click", () => jumpIssue(-1));
$("#face").addEventListener("click", widen);
$("#ruler").addEventListener("click", (event) => {
  drawn.finish();
  const box = canvas.getBoundingClientRect();
  const at = (event.clientX - box.left) / box.width * doc.text.length;
  const found = drawn.spans[Math.max(0, below(drawn.starts, at + 1) - 1)];
  if (found) { found.scrollIntoView({ block: "center" }); pointAt(found); }
});
const keys = { n: () => jumpIssue(1), p: () => jumpIssue(-1), j: () => jumpChunk(1), k: () => jumpChunk(-1), f: widen };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" || !doc) return;
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
scroller.addEventListener("scroll", () => doc && requestAnimationFrame(follow), { passive: true });
const redraw = () => { if (!doc) return; drawRuler(doc, canvas); follow(); };
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

const select = $("#picker select");
const total = (name) => overview.documents.reduce((sum, document) => sum + document[name], 0);
$("#strategy code").textContent = overview.strategy;
$("#strategy").append(` · ${counted(total("chunks"), "chunk")}, ${counted(total("bad_cuts"), "boundary issue")}`);
overview.documents.forEach(({ label, chunks, bad_cuts: cuts }, number) => {
  const plain = label.replace(/[\p{Cc}\p{Cf}]/gu, " "); // an option cannot isolate its text
  select.append(new Option(`${plain} · ${counted(chunks, "chunk")}, ${counted(cuts, "boundary issue")}`, number));
});
$("#picker").hidden = overview.documents.length < 2;
select.addEventListener("change", () => { open(Number(select.value)); scroller.scrollTop = 0; });

// "#2:15" opens the second document at its fifteenth chunk.
function arrive() {
  const [, number, chunk] = /^#(\d+)(?::(\d+))?$/.exec(location.hash) || [];
  const wanted = Math.min(overview.documents.length, Math.max(1, Number(number || overview.first))) - 1;
  select.value = wanted;
  open(wanted);
  const found = chunk && doc.chunks[Number(chunk) - 1];
  if (found) { drawn.finish(); found.mark.scrollIntoView({ block: "center" }); found.mark.focus({ preventScroll: true }); }
}
addEventListener("hashchange", () => overview.documents.length && arrive());
if (overview.documents.length) arrive(); else $("h1 bdi").textContent = "No documents";
