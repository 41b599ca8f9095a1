// The token under the pointer: lit in the text, and told in the line below it.
import { ask, number, units } from "./shared.js";

const known = new Map();
const lit = window.Highlight && CSS.highlights ? new Highlight() : null;
if (lit) CSS.highlights.set("token", lit);

function tokenizerOf(strategy) {
  return /tokenizer='?(o200k_base|cl100k_base|words|characters)\b/.exec(strategy)?.[1] || "o200k_base";
}

function edgesOf(document, band, tokenizer) {
  const key = `${band.start} ${tokenizer}`;
  if (!known.has(key)) {
    if (known.size > 200) known.clear();
    known.set(key, ask(`/api/documents/${document}/tokens`, { start: band.start, end: band.end, tokenizer }).then((result) => result.edges, () => []));
  }
  return known.get(key);
}

function caret(x, y) {
  const result = document.caretPositionFromPoint?.(x, y);
  if (result) return [result.offsetNode, result.offset];
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? [range.startContainer, range.startOffset] : [null, 0];
}

// Between the spans of a band a token may go from one into the next.
function light(box, start, end) {
  lit.clear();
  for (const span of box.children) {
    if (span.from === undefined || span.to <= start || span.from >= end) continue;
    const at = units(span.textContent), range = document.createRange(), text = span.firstChild;
    range.setStart(text, at(Math.max(start, span.from) - span.from));
    range.setEnd(text, at(Math.min(end, span.to) - span.from));
    lit.add(range);
  }
}

export async function tokenUnder(document, event, tell) {
  const [node, offset] = caret(event.clientX, event.clientY);
  const span = node?.parentElement, box = span?.parentElement;
  if (span?.from === undefined || !box?.band) { lit?.clear(); return; }
  const place = span.from + [...node.data.slice(0, offset)].length;
  const tokenizer = tokenizerOf(box.cuts.strategy);
  const edges = await edgesOf(document, box.band, tokenizer);
  if (!box.isConnected) return;
  let at = edges.findIndex((edge) => edge > place) - 1;
  if (at < 0) return;
  const [start, end] = [edges[at], edges[at + 1]];
  if (lit) light(box, start, end);
  const text = [...box.band.text].slice(Math.max(0, start - box.band.start), end - box.band.start).join("");
  tell(`Token ${JSON.stringify(text)} · ${number(start)}–${number(end)} · ${tokenizer}`);
}
