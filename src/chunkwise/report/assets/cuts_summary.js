// The head of the page: figures, the histogram of sizes, and the map of the document.

const count = (value) => value.toLocaleString("en");
// As base/wording.py has it: all but a few are not all.
function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share > 0.9995 && share < 1) return ">99.9%";
  const value = 100 * share;
  return (value > 0 && value < 10) || (value > 99 && value < 100) ? `${value.toFixed(1)}%` : `${Math.round(value)}%`;
}
const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const sized = (value) => counted(value, overview.unit.replace(/s$/, "")); // "1 token", "2 words"
const share = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function figures(doc) {
  const sizes = doc.chunks.map((chunk) => chunk.size).sort((a, b) => a - b);
  let repeated = 0, reach = 0;
  for (const chunk of doc.ordered) {
    repeated += Math.max(0, Math.min(reach, chunk.to) - chunk.from);
    reach = Math.max(reach, chunk.to);
  }
  const half = sizes.length >> 1;
  const median = sizes.length % 2 ? sizes[half] : (sizes[half - 1] + sizes[half]) / 2;
  const rows = [["chunks", count(sizes.length)]];
  if (sizes.length) {
    rows.push([`${overview.unit}, least`, count(sizes[0])], ["median", count(median)]);
    rows.push(["95th percentile", count(share(sizes, 0.95))], ["most", count(sizes[sizes.length - 1])]);
  }
  if (overview.limit) rows.push(["limit", count(overview.limit)]);
  if (repeated) rows.push(["text repeated", percent(repeated / doc.text.length)]);
  return rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

function histogram(doc) {
  const sizes = doc.chunks.map((chunk) => chunk.size);
  if (!sizes.length) return [];
  const most = sizes.reduce((a, b) => Math.max(a, b), overview.limit || 1);
  const bins = Math.min(30, most), wide = 300, high = 84, floor = 66;
  const heights = new Array(bins).fill(0);
  for (const size of sizes) heights[Math.min(bins - 1, Math.floor(size * bins / (most + 1)))]++;
  const tallest = heights.reduce((a, b) => Math.max(a, b), 1);
  const bars = heights.map((number, bin) => {
    const height = number ? Math.max(2, number / tallest * (floor - 14)) : 0;
    const low = Math.ceil(bin * (most + 1) / bins), top = Math.ceil((bin + 1) * (most + 1) / bins) - 1;
    const told = `${low === top ? sized(low) : `${count(low)}–${sized(top)}`}: ${counted(number, "chunk")}`;
    const place = { x: bin * wide / bins + 0.75, width: wide / bins - 1.5, rx: 1.5 };
    return svg("rect", { ...place, y: floor - height, height }, svg("title", {}, told));
  });
  const drawing = svg("svg", { viewBox: `-2 0 ${wide + 4} ${high}`, role: "img", "aria-label":
    `Sizes of ${counted(sizes.length, "chunk")}, up to ${sized(most)}` }, ...bars,
    svg("line", { x1: 0, x2: wide, y1: floor + 0.5, y2: floor + 0.5 }),
    svg("text", { x: 0, y: high - 4 }, "0"),
    svg("text", { x: wide, y: high - 4, "text-anchor": "end" }, sized(most)));
  if (overview.limit) {
    const x = overview.limit / (most + 1) * wide;
    drawing.append(svg("line", { class: "limit", x1: x, x2: x, y1: 12, y2: floor }),
      svg("text", { class: "limit", x: x - 4, y: 10, "text-anchor": "end" }, `limit ${count(overview.limit)}`));
  }
  return [drawing];
}

// Chunks from left to right in their colors, a tick under every place with an issue that is shown.
function drawRuler(doc, canvas) {
  const ratio = window.devicePixelRatio || 1;
  const wide = canvas.clientWidth, high = canvas.clientHeight;
  canvas.width = wide * ratio;
  canvas.height = high * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const tints = Array.from({ length: TINTS }, (_, i) => style.getPropertyValue(`--edge${i}`));
  const unit = wide / Math.max(1, doc.text.length), track = high - 6;
  const crowded = wide < 3 * doc.ordered.length; // colors would run together
  if (crowded) { pen.fillStyle = style.getPropertyValue("--line"); pen.fillRect(0, 0, wide, track); }
  for (const chunk of crowded ? [] : doc.ordered) {
    // Neighbors take turns in height, so that an overlap shows as two layers.
    const lower = chunk.rank % 2;
    pen.fillStyle = tints[chunk.tint];
    const width = Math.max(0.6, (chunk.to - chunk.from) * unit - (wide / doc.ordered.length > 4 ? 1 : 0));
    pen.fillRect(chunk.from * unit, lower ? 3 : 0, width, track - 3);
  }
  pen.fillStyle = style.getPropertyValue("--alert");
  pen.globalAlpha = crowded ? 0.45 : 1;
  for (const place of doc.flagged) {
    if (shown(place)) pen.fillRect(place.at * unit - 0.75, crowded ? 0 : high - 5, 1.5, crowded ? track : 5);
  }
}
