// Pointing at a name, or reaching it by the keyboard, leaves it and its neighbors; a chosen one is opened below.
(() => {
  "use strict";
  for (const drawing of document.querySelectorAll("figure.names svg")) {
    const nodes = Array.from(drawing.querySelectorAll("[data-node]"));
    const lines = Array.from(drawing.querySelectorAll("[data-ends]"), (line) => ({ line, ends: line.dataset.ends.split(" ") }));
    const look = (node) => {
      const own = node ? node.dataset.node : "", near = new Set([own]);
      for (const { line, ends } of lines) {
        const touches = ends.includes(own);
        line.classList.toggle("near", touches);
        if (touches) ends.forEach((end) => near.add(end));
      }
      for (const each of nodes) each.classList.toggle("near", near.has(each.dataset.node));
      drawing.classList.toggle("looked", Boolean(node));
    };
    for (const node of nodes) {
      node.addEventListener("pointerenter", () => look(node));
      node.addEventListener("pointerleave", () => look(null));
      node.addEventListener("focus", () => look(node));
      node.addEventListener("blur", () => look(null));
    }
  }
  const open = () => {
    const part = document.getElementById(location.hash.slice(1));
    if (part && part.matches("details")) part.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
