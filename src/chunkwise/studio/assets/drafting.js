// Drafts questions from the documents: the form, a cost estimate for a model, progress.
import { $, ask, counted, element, number, roughDollars, send, tell } from "./shared.js";

const form = $("#draft-form"), box = $("#draft-refused"), told = $("#draft-told"), stopButton = $("#draft-stop");
const values = () => ({ count: Number(form.elements.count.value), by: form.elements.by.value });
let source = null, wasBusy = false;

const said = (view) => ({
  running: `Drafting: ${number(view.made)} of ${counted(view.wanted, "question")} …`, stopping: "Stopping …",
  stopped: `Stopped. ${counted(view.made, "question")} drafted.`, failed: `Drafting failed. ${counted(view.made, "question")} drafted.`,
  done: `${counted(view.made, "question")} drafted${view.made < view.wanted ? ` of ${number(view.wanted)}` : ""}.`,
})[view.state];

function show(view) {
  $("#draft-model").textContent = view.model ? view.model.slice(0, 60) : "language model (none set)";
  form.elements.by.options[1].disabled = !view.model;
  const busy = view.state === "running" || view.state === "stopping";
  if (wasBusy && !busy && view.made) { location.replace("/questions"); return; } // the list has them now
  wasBusy = busy;
  for (const each of form.elements) if (each !== stopButton) each.disabled = busy;
  stopButton.hidden = !busy;
  stopButton.disabled = view.state === "stopping";
  const parts = [];
  if (view.state && (busy || view.unreviewed || view.state === "failed")) {
    parts.push(element("p", { className: view.state === "failed" ? "refused" : "" }, said(view), " ", element("span", { className: "where" }, view.note)));
    if (busy) parts.push(element("progress", { max: view.wanted, value: view.made, "aria-label": "Questions drafted" }));
    if (view.dropped.length) parts.push(element("p", { className: "where" }, `Rejected: ${view.dropped.map((each) => `${each.reason} (${number(each.count)})`).join(", ")}.`));
  }
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

const cost = (money) => (money === null ? "unknown price" : money ? roughDollars(money) : "free");
async function estimate() {
  const found = await send("/api/drafts/estimate", values());
  const time = found.seconds === null ? "" : ` · about ${counted(Math.max(1, Math.round(found.seconds / 60)), "minute")}`;
  told.replaceChildren(element("p", {}, found.calls
    ? `Up to ${counted(found.calls, "call")}, ${number(found.prompt_tokens)} input and ${number(found.output_tokens)} output tokens · ${cost(found.money)}${time}.` : "No calls needed: all answers are cached."));
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    if (event.submitter?.value === "estimate") await estimate();
    else { show(await send("/api/drafts/start", values())); listen(); }
    tell(box, null);
  } catch (error) { tell(box, error); }
});
form.elements.by.addEventListener("change", () => { $("#draft-estimate").hidden = form.elements.by.value === "rules"; });
stopButton.addEventListener("click", async () => {
  try { show(await send("/api/drafts/stop", {})); tell(box, null); } catch (error) { tell(box, error); }
});
ask("/api/drafts").then((view) => {
  if (["running", "stopping"].includes(view.state)) listen();
  show(view);
}, (error) => tell(box, error));
