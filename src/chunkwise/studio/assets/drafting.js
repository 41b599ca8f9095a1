// Questions drafted from the documents: how many and by whom, an estimate where a model is asked, then a review.
import { $, ask, counted, element, number, roughDollars, send, tell } from "./shared.js";

const form = $("#draft-form"), box = $("#draft-refused"), told = $("#draft-told"), stopButton = $("#draft-stop");
const values = () => ({ count: Number(form.elements.count.value), by: form.elements.by.value });
let source = null, made = 0;

const SAID = { running: "Drafting …", stopping: "Stopping after this answer …", stopped: "Stopped.", done: "Done.", failed: "It failed." };

function show(view) {
  $("#draft-model").textContent = view.model ? view.model.slice(0, 60) : "a language model (start with --llm)";
  form.elements.by.options[1].disabled = !view.model;
  const busy = view.state === "running" || view.state === "stopping";
  for (const each of form.elements) if (each !== stopButton) each.disabled = busy;
  stopButton.hidden = !busy;
  stopButton.disabled = view.state === "stopping";
  const parts = [];
  if (view.state) {
    parts.push(element("p", {}, `${SAID[view.state]} ${number(view.made)} of ${counted(view.wanted, "question")}. ${view.note}`));
    if (busy) parts.push(element("progress", { max: view.wanted, value: view.made, "aria-label": "Questions drafted" }));
    if (view.dropped.length) parts.push(element("p", { className: "where" }, `Not kept: ${view.dropped.map((each) => `${number(each.count)} ${each.reason}`).join(", ")}.`));
  }
  if (view.unreviewed) parts.push(element("p", {}, element("a", { href: `/edit?id=${encodeURIComponent(view.following)}` }, `Review ${counted(view.unreviewed, "question")}`), " ", element("small", { className: "where" }, `in ${view.file}`)));
  if (!busy && view.made > made) parts.push(element("p", {}, element("a", { href: "/questions" }, "Show the list with them")));
  told.replaceChildren(...parts);
}

function listen() {
  source?.close();
  source = new EventSource("/api/drafts/events");
  source.addEventListener("message", (event) => show(JSON.parse(event.data)));
  const end = () => { source?.close(); source = null; };
  source.addEventListener("done", end);
  source.addEventListener("error", end);
}

const cost = (money) => (money === null ? "price not known" : money ? roughDollars(money) : "free");
async function estimate() {
  const found = await send("/api/drafts/estimate", values());
  const time = found.seconds === null ? "" : ` · about ${counted(Math.max(1, Math.round(found.seconds / 60)), "minute")}`;
  told.replaceChildren(element("p", {}, found.calls
    ? `At most ${counted(found.calls, "call")}, ${number(found.prompt_tokens)} tokens to read and ${number(found.output_tokens)} to write · ${cost(found.money)}${time}.`
    : values().by === "rules" ? "Questions are taken from the text: headings that ask, links, definitions, rows, sentences. They are simpler than those people ask." : "All answers are known already."));
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    if (event.submitter?.value === "estimate") await estimate();
    else { show(await send("/api/drafts/start", values())); listen(); }
    tell(box, null);
  } catch (error) { tell(box, error); }
});
stopButton.addEventListener("click", async () => {
  try { show(await send("/api/drafts/stop", {})); tell(box, null); } catch (error) { tell(box, error); }
});
ask("/api/drafts").then((view) => {
  if (["running", "stopping"].includes(view.state)) listen(); else made = view.made; // those are in the list already
  show(view);
}, (error) => tell(box, error));
