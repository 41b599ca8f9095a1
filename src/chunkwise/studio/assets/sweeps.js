// Sweeps of the project: what each found, how to apply it, and a form for the next one.
import { $, ask, counted, element, follow, number, send, tell } from "./shared.js";
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

const verdicts = { better: "better than the default", worse: "worse than the default", inconclusive: "no evidence of a difference from the default" };

function row(item, into, isFirst) {
  const made = element("li", { className: "card" }, element("p", {}, element("b", {}, element("bdi", {}, item.name)), " ", element("span", { className: "tag" }, item.state)));
  const facts = [`${number(item.done)}${item.total > item.done ? ` of ${number(item.total)}` : ""} configurations`];
  if (item.seconds) facts.push(counted(Math.round(item.seconds), "second"));
  if (item.verdict) {
    made.append(element("p", { className: "winner" }, item.verdict.sentence),
      element("p", {}, element("bdi", {}, item.verdict.chosen), ": ", element("b", {}, item.verdict.score)));
    if (item.verdict.gain) made.append(element("p", {}, element("span", { className: `verdict ${item.verdict.words}` }, verdicts[item.verdict.words] ?? item.verdict.words), ` ${item.verdict.gain}`));
  } else if (item.state === "done") made.append(element("p", { className: "none" }, "No recommendation; see the report."));
  else made.append(element("progress", { max: 1, value: item.total ? Math.min(1, item.done / item.total) : 0, "aria-label": `Progress of ${item.name}` }));
  made.append(element("p", { className: "where" }, facts.join(" · ")));
  if (item.lines.length) made.append(element("p", { className: item.state === "failed" ? "refused" : "where" }, item.lines[item.lines.length - 1]));
  const buttons = element("p", { className: "buttons" });
  if (item.state === "stopped" || item.state === "failed") buttons.append(button("Resume", "", () => send("/api/sweeps/start", { name: item.name })));
  if (item.state === "running") buttons.append(button("Stop", "", () => send("/api/sweeps/stop", { name: item.name })));
  if (item.can_apply && item.applying !== "running" && item.applying !== "done") buttons.append(button(`Apply ${item.verdict?.chosen ?? "it"} to the index ${into}`, isFirst && item.verdict?.words !== "inconclusive" ? "page-primary" : "", () => send("/api/sweeps/apply", { name: item.name })));
  if (item.run !== null) buttons.append(element("a", { href: `/runs/${item.run}` }, "Open the report"));
  made.append(buttons);
  if (item.applying === "running") made.append(element("p", { className: "hint", role: "status" }, `Building the index ${into} …`));
  else if (item.applying === "done") made.append(element("p", { className: "hint", role: "status" }, `Applied: the index ${into} stores the chunks and search settings for search, ask, serve and mcp. `, element("a", { href: "/search?retriever=before&retriever=recommended" }, "Compare before and after")));
  else if (item.applying) made.append(element("p", { className: "refused", role: "status" }, item.applying));
  return made;
}

let before = "";
function show(result) {
  const why = $("#sweep-why");
  why.hidden = !result.why_not;
  why.textContent = result.why_not;
  form.hidden = Boolean(result.why_not);
  for (const [name, choices] of [["embedder", result.embedders], ["time", result.times]]) {
    if (!form[name].options.length) form[name].append(...choices.map((item) => element("option", { value: item, selected: item === "5 min" }, item)));
  }
  form.embedder.options[0].textContent = "none (BM25 only)";
  form.questions.options[1].disabled = !result.labeled;
  form.questions.options[1].textContent = result.labeled ? `labels of ${counted(result.labeled, "question")}` : "labels (none yet)";
  if (form.name.value === form.name.defaultValue) form.name.value = form.name.defaultValue = result.name;
  rows.replaceChildren(...result.rows.map((item, at) => row(item, result.into, at === 0)));
  const isRunning = result.rows.some((item) => item.state === "running");
  if (!before && !result.rows.length) fold.open = true; // never closed: it may be open by now
  $("#sweep-ask").disabled = false; // its choices are there now
  startButton.disabled = isRunning;
  const now = JSON.stringify(result.rows.map((item) => [item.name, item.state, item.applying]));
  if (before && before !== now) {
    renewRail();
    const ended = result.rows.find((item) => item.applying === "done" && !before.includes(JSON.stringify([item.name, item.state, "done"])));
    if (ended) toast(`The recommendation of ${ended.name} is applied.`);
  }
  before = now;
}

let following = null;
function listen() {
  const end = () => { following = null; };
  following ??= follow("/api/sweeps/events", show).then(end, end);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const box = $("#sweep-estimate");
  box.replaceChildren(element("p", { className: "hint" }, "Estimating …"));
  try {
    const result = await send("/api/sweeps/estimate", values());
    tell(refused, null);
    const list = (lines) => element("ul", {}, ...lines.map((line) => element("li", {}, line)));
    const isOut = (line) => line.startsWith("skipped: ");
    const [lines, out] = [result.lines.filter((line) => !isOut(line)), result.lines.filter(isOut)];
    box.replaceChildren(list(lines), element("details", {}, element("summary", {}, "Command"), element("pre", {}, result.command)));
    if (out.length) box.append(element("details", {}, element("summary", {}, "Skipped"), list(out)));
  } catch (error) { box.replaceChildren(); tell(refused, error); }
});
startButton.addEventListener("click", async () => {
  startButton.disabled = true;
  try { show(await send("/api/sweeps/start", values())); fold.open = false; tell(refused, null); listen(); } catch (error) { startButton.disabled = false; tell(refused, error); }
});
ask("/api/sweeps").then((result) => { show(result); if (result.rows.some((item) => item.state === "running" || item.applying === "running")) listen(); }, (error) => tell(refused, error));
