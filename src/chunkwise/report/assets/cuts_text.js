// Draws the text: one span a stretch, marks without text of their own, so that copying stays exact.

const SLICE = 40; // milliseconds of drawing before the page may breathe

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("data-") || key.startsWith("aria-")) made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

const kindName = (kind) => overview.kinds[kind][0].replaceAll("_", " ");
const kindText = (kind) => overview.kinds[kind][1];

function pill(chunk) {
  chunk.mark = element("button", {
    type: "button", className: `pill t${chunk.tint}`, "data-n": chunk.i + 1, "data-chunk": chunk.i,
    "aria-label": `Chunk ${chunk.i + 1}, ${sized(chunk.size)}`,
  });
  return chunk.mark;
}

// A place is marked while one of its kinds is not switched off.
const hidden = new Set();
const shown = (place) => place.issues.some(({ kind }) => !hidden.has(kind));

function flag(place) {
  const told = place.issues.map((issue) => `${kindName(issue.kind)}: ${kindText(issue.kind)}`).join("\n");
  place.button = element("button", {
    type: "button", className: "flag", title: told, "aria-label": told, "data-at": place.at, hidden: !shown(place),
  });
  return place.button;
}

function span(doc, stretch) {
  const { active } = stretch;
  const newest = active[active.length - 1];
  let look = "gap";
  if (newest) look = active.length > 1 ? `lap l${newest.tint}` : `t${newest.tint}`;
  const made = element("span", { className: look, textContent: doc.text.slice(stretch.at, stretch.to) });
  if (newest) made.dataset.chunks = active.map((chunk) => chunk.i).join(" ");
  for (const chunk of active) chunk.spans.push(made);
  return made;
}

function drawStretch(doc, stretch, drawn, band) {
  for (const chunk of stretch.inner) {
    band.append(element("span", { className: `close t${chunk.tint}`, "data-n": chunk.i + 1 }));
  }
  if (stretch.place) band.append(flag(stretch.place));
  for (const chunk of stretch.opening) band.append(pill(chunk));
  if (stretch.to > stretch.at) {
    const made = span(doc, stretch);
    drawn.starts.push(stretch.at);
    drawn.spans.push(made);
    band.append(made);
  }
}

// Draws what is in sight at once and the rest in slices; `finish()` draws all that is left now.
function drawText(doc, into) {
  const steps = stretches(doc);
  const drawn = { starts: [], spans: [], bands: [] };
  let band = null, timer = 0;
  const work = (budget) => {
    const until = performance.now() + budget;
    for (let step = steps.next(); !step.done; step = steps.next()) {
      const stretch = step.value;
      if (!band || (stretch.newBand && stretch.to > stretch.at)) {
        band = element("div", { className: "band", dir: "auto" });
        drawn.bands.push({ at: stretch.at, band });
        into.append(band);
      }
      drawStretch(doc, stretch, drawn, band);
      if (performance.now() > until) {
        timer = setTimeout(work, 0, SLICE);
        return;
      }
    }
  };
  drawn.stop = () => clearTimeout(timer);
  drawn.finish = () => { drawn.stop(); work(Infinity); };
  into.replaceChildren();
  work(SLICE);
  return drawn;
}
