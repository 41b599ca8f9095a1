// A question answered from the documents, with a citation per claim.
import { $, ask, element, latest, number, plain, Refused, tell } from "./shared.js";

const form = $("#ask"), refused = $("#refused"), box = $("#answer");

function cited(place) {
  const where = place.document === null ? element("span", {}, plain(place.doc_id))
    : element("a", { href: `/documents/${place.document}#at=${place.start}-${place.end}` }, element("bdi", {}, plain(place.doc_id)));
  return element("details", { className: "cited", open: true },
    element("summary", {}, `[${place.mark}] `, element("bdi", {}, plain(place.doc_id)), place.page === null ? "" : ` · page ${place.page}`),
    element("p", { className: "found", dir: "auto" }, place.before, element("mark", {}, place.quote), place.after),
    element("p", { className: "where" }, where, ` · characters ${number(place.start)}–${number(place.end)}`));
}

function claim(item) {
  return element("li", {}, element("p", { className: "claim", dir: "auto" }, item.text, item.mark ? element("b", {}, ` ${item.mark.startsWith("[") ? item.mark : `[${item.mark}]`}`) : ""),
    item.note ? element("p", { className: "where" }, item.note) : "");
}

function drawn(result) {
  const { answer } = result;
  if (!answer) return [];
  const card = element("section", { className: "card side", "aria-label": "Answer" }, element("h2", {}, "Answer"));
  if (answer.not_found || answer.note) card.append(element("p", { className: "none" }, answer.not_found || answer.note));
  if (answer.claims.length) card.append(element("ol", { className: "claims" }, ...answer.claims.map(claim)));
  if (answer.unsupported.length) card.append(element("h3", {}, "Unsupported claims"), element("ul", { className: "claims" }, ...answer.unsupported.map(claim)));
  card.append(element("p", { className: "where" }, answer.made_with), element("details", {}, element("summary", {}, "Command"), element("pre", {}, result.command)));
  const parts = [card];
  if (result.cited.length) parts.push(element("section", { className: "card side", "aria-label": "Citations" }, element("h2", {}, "Sources"), ...result.cited.map(cited)));
  return parts;
}

const answerIt = latest(async () => {
  const q = form.q.value.trim();
  if (q) box.replaceChildren(element("p", { className: "hint" }, "Searching …"));
  try {
    const result = await ask("/api/ask", { q, words: q ? form.words.value : "" });
    tell(refused, null);
    $("#by-model").hidden = !result.has_model;
    $("#no-model").hidden = result.has_model;
    $("#model").textContent = plain(result.model).slice(0, 60);
    box.className = "answers";
    box.replaceChildren(...drawn(result));
    if (q) history.replaceState(null, "", `/ask?${new URLSearchParams({ q, words: form.words.value })}`);
  } catch (error) {
    box.replaceChildren();
    tell(refused, error);
    if (error instanceof Refused && error.message.includes("being indexed")) setTimeout(answerIt, 700);
  }
});

const given = new URLSearchParams(location.search);
form.q.value = given.get("q") || "";
if (given.get("words") === "model") form.words.value = "model";
form.addEventListener("submit", (event) => { event.preventDefault(); answerIt(); });
form.addEventListener("change", (event) => { if (event.target.name === "words" && form.q.value.trim()) answerIt(); });
answerIt();
