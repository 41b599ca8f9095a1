// What the reviewed questions of a sweep choose so far; of other questions nothing is shown.
import { $, ask, element, plain } from "./shared.js";

const box = $("#outlook");

export async function showOutlook() {
  let view;
  try { view = await ask("/api/edit/outlook"); } catch { box.hidden = true; return; }
  box.hidden = !view.leaders.length;
  box.replaceChildren(
    element("p", { className: "where" }, view.ending ? `${view.progress}. ${view.ending} Next: ` : view.progress, view.ending ? element("code", {}, view.command) : ""),
    element("table", { className: "plain" }, element("caption", {}, "Current choice and rivals"),
      element("thead", {}, element("tr", {}, ...["configuration", view.objective, "chance"].map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, ...view.leaders.map((item) => element("tr", {},
        element("th", { scope: "row" }, plain(item.label)), element("td", {}, item.expected),
        element("td", {}, element("meter", { value: item.chance, title: "probability of being chosen after all reviews" }), ` ${Math.round(100 * item.chance)}%`))))));
}
