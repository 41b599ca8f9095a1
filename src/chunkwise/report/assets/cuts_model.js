"use strict";
// The data of the page: documents, their chunks, and the stretches of text between any two marks.

const BAND = 4000; // characters of text in one block the browser may skip while it is out of sight
const LONGEST_BAND = 24000;
const TINTS = 4;

const read = (name) => JSON.parse(document.getElementById(name).textContent);
const overview = read("overview");

// How many of the sorted values are smaller than the one given.
function below(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

function loadDocument(number) {
  const data = read(`document-${number}`);
  // Offsets are code points; a character outside the first plane is two units here.
  const units = data.astral.length ? (at) => at + below(data.astral, at) : (at) => at;
  const chunks = data.start.map((start, i) => ({
    i, start, end: data.end[i], from: units(start), to: units(data.end[i]), size: data.size[i],
    words: data.words[i], id: `${data.id}::${data.index[i]}`, path: data.paths[data.section[i]],
    pages: data.pages && data.pages[i], context: data.context[i] || "", issues: [],
    tint: 0, spans: [], mark: null,
  }));
  const ordered = [...chunks].sort((a, b) => a.from - b.from || a.to - b.to);
  ordered.forEach((chunk, rank) => { chunk.tint = rank % TINTS; chunk.rank = rank; });
  const flagged = flagPlaces(data, chunks, units);
  const places = new Map(flagged.map((place) => [place.at, place]));
  return { id: data.id, title: data.title, text: data.text, chunks, ordered, places, flagged };
}

// One mark a cut: what differs by white space alone is the same place.
function flagPlaces(data, chunks, units) {
  const flagged = [];
  for (const [kind, chunk, offset] of data.issues.sort((a, b) => a[2] - b[2])) {
    const at = units(offset), last = flagged[flagged.length - 1];
    const same = last && (at === last.at || (at - last.at < 200 && !data.text.slice(last.at, at).trim()));
    if (same) last.issues.push({ kind, chunk }); else flagged.push({ at, issues: [{ kind, chunk }], button: null });
    chunks[chunk].issues.push({ kind, at });
  }
  return flagged;
}

// Where blocks of text end: after a line break, or at a space where no line ends for long.
function bandEnds(text) {
  const ends = [];
  for (let last = 0; last < text.length;) {
    let end = text.indexOf("\n", last + BAND) + 1;
    if (!end || end > last + LONGEST_BAND) {
      const space = text.lastIndexOf(" ", last + LONGEST_BAND) + 1;
      if (last + LONGEST_BAND >= text.length) end = text.length;
      else end = space > last ? space : last + LONGEST_BAND;
    }
    ends.push(end);
    last = end;
  }
  return ends;
}

// Stretches of text with one and the same set of chunks, marks and block, in order.
function* stretches(doc) {
  const ends = bandEnds(doc.text);
  const marks = new Set([0, doc.text.length, ...ends, ...doc.places.keys()]);
  for (const chunk of doc.chunks) marks.add(chunk.from).add(chunk.to);
  const points = Float64Array.from(marks).sort();
  const bands = new Set(ends);
  let active = [], next = 0;
  for (let i = 0; i < points.length; i++) {
    const at = points[i];
    const closing = active.filter((chunk) => chunk.to <= at);
    if (closing.length) active = active.filter((chunk) => chunk.to > at);
    const opening = [];
    while (next < doc.ordered.length && doc.ordered[next].from <= at) opening.push(doc.ordered[next++]);
    // What ends inside another chunk needs a mark of its own: no new color begins there.
    const inner = active.length ? closing : [];
    active = active.concat(opening.filter((chunk) => chunk.to > at));
    const to = i + 1 < points.length ? points[i + 1] : at;
    yield { at, to, active, inner, opening, place: doc.places.get(at), newBand: bands.has(at) };
  }
}
