// A form made from the parameters that a strategy declares: sliders within their bounds, choices, switches.
import { element } from "./shared.js";

// "name(a=1, b='x')" as name and values; what the server describes is always of this form.
export function parsed(text) {
  const [, name, inner] = /^\s*([\w.-]+)\s*(?:\((.*)\))?\s*$/s.exec(text) || [null, text, ""];
  const values = {};
  for (const [, key, quoted, bare] of (inner || "").matchAll(/(\w+)\s*=\s*(?:'([^']*)'|([^,]+))/g)) {
    values[key] = quoted !== undefined ? quoted : bare.trim().toLowerCase();
  }
  return { name, values };
}

export function written(strategy, values) {
  const words = strategy.parameters.filter(({ name, default: usual }) => name in values && values[name] !== "" && values[name] !== usual);
  const shown = (item) => {
    const value = values[item.name];
    if (item.kind === "choice") return `'${value}'`;
    return item.kind === "flag" ? (value === "true" ? "True" : "False") : value;
  };
  return words.length ? `${strategy.name}(${words.map((item) => `${item.name}=${shown(item)}`).join(", ")})` : strategy.name;
}

// Sizes are felt by their ratio: a slider over them goes by the logarithm.
function scale({ kind, slider_low: low, slider_high: high }) {
  if (kind === "whole" && low >= 1 && high > 50) {
    const from = Math.max(low, Math.min(10, high / 40)), span = Math.log(high / from);
    return { steps: 400, value: (at) => Math.round(from * Math.exp((at / 400) * span)),
             at: (value) => Math.round(400 * Math.log(Math.max(from, Math.min(high, value)) / from) / span) };
  }
  const steps = kind === "whole" ? Math.round(high - low) : 200;
  const value = (at) => (kind === "whole" ? Math.round(low + at) : Number((low + (at / steps) * (high - low)).toFixed(3)));
  return { steps, value, at: (given) => (kind === "whole" ? given - low : Math.round(steps * (given - low) / (high - low))) };
}

function field(parameter, value, changed) {
  const { name, kind, unit, help, low, high, choices } = parameter;
  const label = name.replaceAll("_", " ");
  if (kind === "choice") {
    const select = element("select", { name }, ...choices.map((item) => new Option(item, item, false, item === value)));
    select.addEventListener("change", () => changed(name, select.value));
    return element("label", { title: help }, element("span", {}, label), select);
  }
  if (kind === "flag") {
    const box = element("input", { type: "checkbox", name, checked: value === "true" });
    box.addEventListener("change", () => changed(name, String(box.checked)));
    return element("label", { className: "flag-field", title: help }, box, element("span", {}, label));
  }
  const { steps, value: at, at: place } = scale(parameter);
  const exact = element("input", { type: "number", name, min: low, max: high, step: kind === "whole" ? 1 : "any", value, placeholder: "default", "aria-label": `${label}, ${unit || "number"}` });
  const slider = element("input", { type: "range", min: 0, max: steps, value: value === "" ? 0 : place(Number(value)), "aria-label": `${label} slider` });
  // Its own places are steps of a scale: who listens is told the value.
  const tellValue = () => slider.setAttribute("aria-valuetext", exact.value === "" ? "default" : `${exact.value} ${unit}`.trim());
  tellValue();
  slider.addEventListener("input", () => { exact.value = at(Number(slider.value)); tellValue(); changed(name, exact.value); });
  exact.addEventListener("input", () => {
    if (exact.value !== "" && !exact.validity.valid) return;
    if (exact.value !== "") slider.value = place(Number(exact.value));
    tellValue();
    changed(name, exact.value);
  });
  return element("div", { className: "sized", title: help }, element("span", {}, label, unit ? element("small", {}, ` ${unit}`) : ""), slider, exact);
}

const FIRST = /^(max_|overlap$|preset$|threshold$|parent)/;

// Fills a form; `changed` gets the strategy as a text whenever something is chosen.
export function fill(form, strategies, text, changed) {
  const given = parsed(text);
  let strategy = strategies.find((item) => item.name === given.name) || strategies[0];
  let values = { ...given.values };
  const draw = () => {
    const select = element("select", { "aria-label": "Strategy" }, ...strategies.map((item) => new Option(item.name, item.name, false, item === strategy)));
    select.addEventListener("change", () => {
      strategy = strategies.find((item) => item.name === select.value);
      values = {};
      draw();
      changed(written(strategy, values), true);
    });
    const set = (name, value) => {
      values[name] = value;
      shown.textContent = written(strategy, values);
      if (strategy.is_live) changed(shown.textContent, false);
    };
    const fields = strategy.parameters.map((item) => [item, field(item, values[item.name] ?? item.default, set)]);
    const first = fields.filter(([item]) => FIRST.test(item.name)).map(([, made]) => made);
    const more = fields.filter(([item]) => !FIRST.test(item.name)).map(([, made]) => made);
    const shown = element("code", {}, written(strategy, values));
    form.replaceChildren(select, element("p", { className: "purpose" }, strategy.purpose), ...first,
      ...(more.length ? [element("details", {}, element("summary", {}, "More parameters"), ...more)] : []),
      ...(strategy.is_live ? [] : [element("p", { className: "purpose" }, "Embeds every sentence, which may take a while. "), element("button", { type: "submit" }, "Chunk")]),
      element("p", { className: "spec" }, shown));
    form.onsubmit = (event) => { event.preventDefault(); changed(shown.textContent, true); };
  };
  draw();
}
