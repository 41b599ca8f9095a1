// The way from documents to an applied choice: how far it is, and one button for the next step.
import { $, ask, element } from "./shared.js";

const ROLES = ["reader", "labeler", "owner"];
const rail = $("#rail");
const may = (role) => ROLES.indexOf(document.body.dataset.role) >= ROLES.indexOf(role);

export async function renewRail() {
  if (!rail) return;
  let result;
  try { result = await ask("/api/tour"); } catch { return; }
  const { steps, next } = result;
  rail.hidden = !steps.length;
  const isHere = Boolean(next) && location.pathname === next.address.replace(/\?.*/, "");
  document.body.classList.toggle("is-next", isHere);
  const at = steps.findIndex((item) => !item.is_done);
  const list = element("ol", {}, ...steps.map((item, index) => element("li", { className: item.is_done ? "done" : index === at ? "now" : "" },
    element("a", { href: may(item.role) ? item.address : null, "aria-current": index === at ? "step" : null },
      element("i", { "aria-hidden": "true" }, item.is_done ? "✓" : String(index + 1)), element("span", {}, item.name, item.is_done ? element("span", { className: "visually-hidden" }, ", done") : ""), item.note ? element("small", {}, ` ${item.note}`) : ""))));
  rail.replaceChildren(list, ...(next && !isHere && may(next.role) ? [element("a", { className: "primary", href: next.address }, next.label)] : []));
}
