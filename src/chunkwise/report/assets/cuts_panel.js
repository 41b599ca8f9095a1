// The panel beside the text: what there is to know about the chunks pointed at.

function row(name, ...values) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, ...values));
}

function meter(chunk) {
  const most = overview.limit;
  const bar = element("div", { className: "meter" });
  const fill = element("div", { className: most && chunk.size > most ? "over" : "" });
  fill.style.width = `${Math.min(100, 100 * chunk.size / (most || chunk.size || 1))}%`;
  bar.append(fill);
  const told = most ? `${count(chunk.size)} of ${sized(most)}` : sized(chunk.size);
  return element("div", { className: "size" }, element("span", {}, told), most ? bar : "");
}

function card(doc, chunk, detailed) {
  const facts = element("dl", {});
  if (chunk.path.length) facts.append(row("section", element("bdi", {}, chunk.path.join(" › "))));
  if (chunk.pages) {
    const [first, last] = chunk.pages;
    facts.append(row("page", first === last ? `${first}` : `${first}–${last}`));
  }
  facts.append(row("place", `${count(chunk.start)}–${count(chunk.end)}`));
  if (overview.unit !== "words") facts.append(row("words", count(chunk.words)));
  for (const [beside, where] of [[doc.ordered[chunk.rank - 1], "before"], [doc.ordered[chunk.rank + 1], "after"]]) {
    const shared = beside ? Math.min(beside.to, chunk.to) - Math.max(beside.from, chunk.from) : 0;
    if (shared > 0) facts.append(row("overlap", `${counted(shared, "character")} with the chunk ${where}`));
  }
  if (chunk.context) facts.append(row("context", element("bdi", { className: "context" }, chunk.context)));
  facts.append(row("id", element("bdi", {}, element("code", {}, chunk.id))));
  const made = element("section", { className: `card t${chunk.tint}` },
    element("h2", {}, `Chunk ${chunk.i + 1}`, element("small", {}, ` of ${count(doc.chunks.length)}`)),
    meter(chunk), facts);
  if (detailed && chunk.issues.length) made.append(issueList(doc, chunk.issues));
  return made;
}

function issueList(doc, issues) {
  return element("ul", { className: "issues" }, ...issues.map(({ kind, at }) => element("li", {},
    element("b", {}, kindName(kind)), ` ${kindText(kind)}`,
    element("q", {}, element("bdi", {}, doc.text.slice(Math.max(0, at - 32), at)), element("i", { "aria-label": "cut" }),
      element("bdi", {}, doc.text.slice(at, at + 32))))));
}

function hint() {
  const keys = [["n", "p", "next and previous issue"], ["j", "k", "next and previous chunk"], ["f", "", "fixed-width letters"]];
  return element("section", { className: "hint" }, element("h2", {}, "Point at or tap the text"),
    element("p", {}, "Every color is one chunk; hatched text belongs to two."),
    element("ul", {}, ...keys.map(([a, b, told]) => element("li", {}, element("kbd", {}, a), b ? " " : "",
      b ? element("kbd", {}, b) : "", ` ${told}`))));
}
