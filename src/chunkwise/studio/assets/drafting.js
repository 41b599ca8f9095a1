// Drafts questions from the documents: the form, a cost estimate for a model, progress.
import { $, ask, counted, element, follow, number, roughDollars, send, tell } from "./shared.js";

const form = $("#draft-form"), box = $("#draft-refused"), words = $("#draft-told"), stopButton = $("#draft-stop");
const values = () => ({ count: Number(form.elements.count.value), by: form.elements.by.value });
let wasBusy = false;

const message = (view) => ({
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
  for (const item of form.elements) if (item !== stopButton) item.disabled = busy;
  stopButton.hidden = !busy;
  stopButton.disabled = view.state === "stopping";
  const parts = [];
  if (view.state && (busy || view.unreviewed || view.state === "failed")) {
    parts.push(element("p", { className: view.state === "failed" ? "refused" : "" }, message(view), " ", element("span", { className: "where" }, view.note)));
    if (busy) parts.push(element("progress", { max: view.wanted, value: view.made, "aria-label": "Questions drafted" }));
    if (view.dropped.length) parts.push(element("p", { className: "where" }, `Rejected: ${view.dropped.map((item) => `${item.reason} (${number(item.count)})`).join(", ")}.`));
  }
  words.replaceChildren(...parts);
}

const listen = () => follow("/api/drafts/events", show).catch(() => {});
const cost = (money) => (money === null ? "unknown price" : money ? roughDollars(money) : "free");
async function estimate() {
  const result = await send("/api/drafts/estimate", values());
  const time = result.seconds === null ? "" : ` · about ${counted(Math.max(1, Math.round(result.seconds / 60)), "minute")}`;
  words.replaceChildren(element("p", {}, result.calls
    ? `Up to ${counted(result.calls, "call")}, ${number(result.prompt_tokens)} input and ${number(result.output_tokens)} output tokens · ${cost(result.money)}${time}.` : "No calls needed: all answers are cached."));
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
