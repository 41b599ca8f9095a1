// A sweep from a form: an estimate first, then its progress as it is on disk; alerts are acknowledged.
import { $, ask, counted, element, number, send, tell } from "./shared.js";

const form = $("#sweep-form"), startButton = $("#sweep-start"), refused = $("#sweep-refused"), rows = $("#sweep-rows");
const values = () => ({ name: form.name.value.trim(), objective: form.objective.value.trim(), embedder: form.embedder.value, time: form.time.value, questions: form.questions.value });

function button(label, work) {
  const made = element("button", { type: "button" }, label);
  made.addEventListener("click", async () => {
    made.disabled = true;
    try { show(await work()); tell(refused, null); listen(); } catch (error) { tell(refused, error); made.disabled = false; }
  });
  return made;
}

const words = { running: "running", stopped: "stopped: starting it again goes on", done: "done", failed: "failed" };

function row(each, into) {
  const share = each.total ? Math.min(1, each.done / each.total) : each.state === "done" ? 1 : 0;
  const bar = element("progress", { max: 1, value: share, "aria-label": `${each.name}: how much is done` });
  const made = element("li", {}, element("p", {}, element("b", {}, element("bdi", {}, each.name)), " ", element("span", { className: "tag" }, words[each.state])), bar,
    element("p", { className: "where" }, `${number(each.done)}${each.total > each.done ? ` of ${number(each.total)}` : ""} configurations${each.seconds ? ` · ${counted(Math.round(each.seconds), "second")}` : ""}`));
  if (each.lines.length) made.append(element("p", { className: each.state === "failed" ? "refused" : "where" }, each.lines[each.lines.length - 1]));
  const buttons = element("p", { className: "buttons" });
  if (each.state === "running") buttons.append(button("Stop", () => send("/api/sweeps/stop", { name: each.name })));
  if (each.run !== null) buttons.append(element("a", { href: `/runs/${each.run}` }, "The report"), " ");
  if (each.can_apply && each.applying !== "running") buttons.append(button(`Apply to the index ${into}`, () => send("/api/sweeps/apply", { name: each.name })));
  made.append(buttons);
  if (each.applying) {
    const said = each.applying === "running" ? `${into} is being made …` : each.applying === "done" ? `${into} is made by the recommendation.` : each.applying;
    made.append(element("p", { className: each.applying === "running" || each.applying === "done" ? "hint" : "refused", role: "status" }, said));
  }
  return made;
}

function show(found) {
  const why = $("#sweep-why");
  why.hidden = !found.why_not;
  why.textContent = found.why_not ? `No sweep can be started: ${found.why_not}.` : "";
  form.hidden = Boolean(found.why_not);
  for (const [name, choices] of [["embedder", found.embedders], ["time", found.times]]) {
    if (!form[name].options.length) form[name].append(...choices.map((each) => element("option", { value: each, selected: each === "5 min" }, each || "no limit")));
  }
  form.questions.options[1].disabled = !found.labeled;
  form.questions.options[1].textContent = found.labeled ? `labels (${number(found.labeled)})` : "labels: none yet";
  if (form.name.value === form.name.defaultValue) form.name.value = form.name.defaultValue = found.name;
  rows.replaceChildren(...found.rows.map((each) => row(each, found.into)));
  $("#sweep-ask").disabled = false; // its choices are there now
  startButton.disabled = !estimated || found.rows.some((each) => each.state === "running");
}

let source = null, estimated = false;
function listen() {
  if (source) return;
  source = new EventSource("/api/sweeps/events");
  source.addEventListener("message", (event) => show(JSON.parse(event.data)));
  const end = () => { source.close(); source = null; };
  source.addEventListener("done", end);
  source.addEventListener("error", end);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const box = $("#sweep-estimate");
  box.replaceChildren(element("p", { className: "hint" }, "counting …"));
  try {
    const found = await send("/api/sweeps/estimate", values());
    tell(refused, null);
    const list = (lines) => element("ul", {}, ...lines.map((line) => element("li", {}, line)));
    const skipped = found.lines.filter((line) => line.startsWith("skipped "));
    box.replaceChildren(list(found.lines.filter((line) => !line.startsWith("skipped "))), element("pre", {}, found.command));
    if (skipped.length) box.append(element("details", {}, element("summary", {}, "What is skipped, the last lines of it"), list(skipped)));
    estimated = true;
    startButton.disabled = false;
  } catch (error) { box.replaceChildren(); tell(refused, error); }
});
form.addEventListener("input", () => { estimated = false; startButton.disabled = true; });
startButton.addEventListener("click", async () => {
  try { show(await send("/api/sweeps/start", values())); tell(refused, null); listen(); } catch (error) { tell(refused, error); }
});
for (const each of document.querySelectorAll("[data-alert]")) {
  each.addEventListener("click", async () => {
    try {
      await send("/api/alerts/acknowledge", { number: Number(each.dataset.alert) });
      each.closest("li").querySelector(".tag").textContent = "acknowledged";
      each.remove();
    } catch (error) { tell($("#alert-refused"), error); }
  });
}
ask("/api/sweeps").then((found) => { show(found); if (found.rows.some((each) => each.state === "running" || each.applying === "running")) listen(); }, (error) => tell(refused, error));
