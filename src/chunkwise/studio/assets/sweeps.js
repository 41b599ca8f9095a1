// Sweeps of the project: what each found, how to apply it, and a form for the next one.
import { $, ask, counted, element, number, send, tell } from "./shared.js";
import { renewRail } from "./rail.js";
import { toast } from "./toast.js";

const form = $("#sweep-form"), startButton = $("#sweep-start"), refused = $("#sweep-refused"), rows = $("#sweep-rows"), fold = $("#new-sweep");
const values = () => ({ name: form.name.value.trim(), objective: form.objective.value.trim(), embedder: form.embedder.value, time: form.time.value, questions: form.questions.value });

function button(label, className, work) {
  const made = element("button", { type: "button", className, "data-needs": "owner" }, label);
  made.addEventListener("click", async () => {
    made.disabled = true;
    try { show(await work()); tell(refused, null); listen(); } catch (error) { tell(refused, error); made.disabled = false; }
  });
  return made;
}

const words = { running: "running", stopped: "stopped", done: "done", failed: "failed" };
const verdicts = { better: "better than the default", worse: "worse than the default", inconclusive: "no evidence of a difference from the default" };

function row(each, into, isFirst) {
  const made = element("li", { className: "card" }, element("p", {}, element("b", {}, element("bdi", {}, each.name)), " ", element("span", { className: "tag" }, words[each.state])));
  const told = [`${number(each.done)}${each.total > each.done ? ` of ${number(each.total)}` : ""} configurations`];
  if (each.seconds) told.push(counted(Math.round(each.seconds), "second"));
  if (each.verdict) {
    made.append(element("p", { className: "winner" }, element("bdi", {}, each.verdict.chosen)),
      element("p", {}, element("b", {}, each.verdict.score)));
    if (each.verdict.gain) made.append(element("p", {}, element("span", { className: `verdict ${each.verdict.words}` }, verdicts[each.verdict.words] ?? each.verdict.words), ` ${each.verdict.gain}`));
  } else if (each.state === "done") made.append(element("p", { className: "none" }, "No recommendation; see the report."));
  else made.append(element("progress", { max: 1, value: each.total ? Math.min(1, each.done / each.total) : 0, "aria-label": `Progress of ${each.name}` }));
  made.append(element("p", { className: "where" }, told.join(" · ")));
  if (each.lines.length) made.append(element("p", { className: each.state === "failed" ? "refused" : "where" }, each.lines[each.lines.length - 1]));
  const buttons = element("p", { className: "buttons" });
  if (each.state === "stopped" || each.state === "failed") buttons.append(button("Resume", "", () => send("/api/sweeps/start", { ...values(), name: each.name })));
  if (each.state === "running") buttons.append(button("Stop", "", () => send("/api/sweeps/stop", { name: each.name })));
  if (each.can_apply && each.applying !== "running" && each.applying !== "done") buttons.append(button(`Apply to the index ${into}`, isFirst ? "page-primary" : "", () => send("/api/sweeps/apply", { name: each.name })));
  if (each.run !== null) buttons.append(element("a", { href: `/runs/${each.run}` }, "Open the report"));
  made.append(buttons);
  if (each.applying === "running") made.append(element("p", { className: "hint", role: "status" }, `Building the index ${into} …`));
  else if (each.applying === "done") made.append(element("p", { className: "hint", role: "status" }, `Applied: the index ${into} stores the chunks and search settings for search, ask, serve and mcp. `, element("a", { href: "/search?retriever=before&retriever=recommended" }, "Compare before and after")));
  else if (each.applying) made.append(element("p", { className: "refused", role: "status" }, each.applying));
  return made;
}

let before = "";
function show(found) {
  const why = $("#sweep-why");
  why.hidden = !found.why_not;
  why.textContent = found.why_not;
  form.hidden = Boolean(found.why_not);
  for (const [name, choices] of [["embedder", found.embedders], ["time", found.times]]) {
    if (!form[name].options.length) form[name].append(...choices.map((each) => element("option", { value: each, selected: each === "5 min" }, each)));
  }
  form.embedder.options[0].textContent = "none (BM25 only)";
  form.questions.options[1].disabled = !found.labeled;
  form.questions.options[1].textContent = found.labeled ? `labels of ${counted(found.labeled, "question")}` : "labels (none yet)";
  if (form.name.value === form.name.defaultValue) form.name.value = form.name.defaultValue = found.name;
  rows.replaceChildren(...found.rows.map((each, at) => row(each, found.into, at === 0)));
  const isRunning = found.rows.some((each) => each.state === "running");
  if (!before && !found.rows.length) fold.open = true; // never closed: it may be open by now
  $("#sweep-ask").disabled = false; // its choices are there now
  startButton.disabled = isRunning;
  const now = JSON.stringify(found.rows.map((each) => [each.name, each.state, each.applying]));
  if (before && before !== now) {
    renewRail();
    const ended = found.rows.find((each) => each.applying === "done" && !before.includes(JSON.stringify([each.name, each.state, "done"])));
    if (ended) toast(`The recommendation of ${ended.name} is applied.`);
  }
  before = now;
}

let source = null;
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
  box.replaceChildren(element("p", { className: "hint" }, "Estimating …"));
  try {
    const found = await send("/api/sweeps/estimate", values());
    tell(refused, null);
    const list = (lines) => element("ul", {}, ...lines.map((line) => element("li", {}, line)));
    const isOut = (line) => line.startsWith("skipped: ");
    const [lines, out] = [found.lines.filter((line) => !isOut(line)), found.lines.filter(isOut)];
    box.replaceChildren(list(lines), element("details", {}, element("summary", {}, "Command"), element("pre", {}, found.command)));
    if (out.length) box.append(element("details", {}, element("summary", {}, "Skipped"), list(out)));
  } catch (error) { box.replaceChildren(); tell(refused, error); }
});
startButton.addEventListener("click", async () => {
  startButton.disabled = true;
  try { show(await send("/api/sweeps/start", values())); fold.open = false; tell(refused, null); listen(); } catch (error) { startButton.disabled = false; tell(refused, error); }
});
ask("/api/sweeps").then((found) => { show(found); if (found.rows.some((each) => each.state === "running" || each.applying === "running")) listen(); }, (error) => tell(refused, error));
