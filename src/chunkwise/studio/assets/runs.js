// Of two runs that are compared neither may be missing; a metric that is chosen is shown at once; alerts are acknowledged.
import { $, element, send, tell } from "./shared.js";

const comparing = document.querySelector("#comparing");
if (comparing) {
  const button = comparing.querySelector("#compare-two") ?? element("button");
  const settle = () => {
    const { first, second } = Object.fromEntries(new FormData(comparing));
    button.disabled = first === undefined || second === undefined || first === second;
  };
  comparing.addEventListener("change", settle);
  const radios = (name) => [...comparing.querySelectorAll(`[name=${name}]`)];
  if (radios("first").length > 1 && !comparing.querySelector(":checked")) {
    radios("first")[0].checked = true;
    radios("second")[1].checked = true;
  }
  settle();
}
const metric = document.querySelector(".by-metric select");
if (metric) metric.addEventListener("change", () => metric.form.requestSubmit());
for (const item of document.querySelectorAll("[data-alert]")) {
  item.addEventListener("click", async () => {
    try {
      await send("/api/alerts/acknowledge", { number: Number(item.dataset.alert) });
      item.closest("li").querySelector(".tag").textContent = "acknowledged";
      item.remove();
    } catch (error) { tell($("#alert-refused"), error); }
  });
}

// A cell opens its question beside the matrix: the same content as the page of the question.
const panel = $("#panel");
async function openQuestion(link) {
  const page = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
  const close = element("button", { type: "button", className: "copy", onclick: () => { panel.hidden = true; link.focus(); } }, "Close");
  panel.replaceChildren(close, ...[...page.querySelector("main").children].filter((item) => !item.matches("nav")).map((item) => document.adoptNode(item)));
  panel.hidden = false;
  for (const item of document.querySelectorAll("#matrix .open")) item.classList.remove("open");
  link.closest("tr").classList.add("open");
  panel.focus({ preventScroll: true });
  if (panel.getBoundingClientRect().top > innerHeight / 2) panel.scrollIntoView();
}
for (const item of document.querySelectorAll("[data-panel]")) {
  item.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab of its own it is a page
    event.preventDefault();
    openQuestion(item);
  });
}
addEventListener("keydown", (event) => { if (event.key === "Escape" && panel && !panel.hidden) panel.querySelector("button").click(); });
