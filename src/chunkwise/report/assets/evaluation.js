(() => {
  "use strict";
  const FIRST = 50, STEP = 200;
  const table = document.getElementById("questions-table");
  if (!table) return;
  const body = table.tBodies[0], tools = document.getElementById("tools");
  const wanted = document.getElementById("wanted"), type = document.getElementById("type");
  const told = document.getElementById("shown"), more = document.getElementById("more");
  const rows = Array.from(body.rows, (row, place) => {
    const text = row.querySelector("summary").textContent, about = row.querySelector(".about");
    const id = row.cells[0].textContent;
    return {
      row, place, id, text,
      found: [id, text, about ? about.textContent : ""].join("\n").toLowerCase(),
      types: row.dataset.types.split(" "),
      score: row.dataset.score === "" ? null : Number(row.dataset.score),
      hits: Number(row.dataset.hits),
    };
  });
  let limit = FIRST, order = rows, key = "", down = false;

  const compare = (a, b) => {
    if (key === "id" || key === "text") return a[key].localeCompare(b[key], undefined, { numeric: true });
    return a[key] - b[key];
  };
  const sort = () => {
    // Without a score a question stays last, whichever way the others go.
    order = rows.slice().sort((a, b) => {
      if (key === "score" && (a.score === null || b.score === null)) {
        return (a.score === null) - (b.score === null) || a.place - b.place;
      }
      return (down ? -1 : 1) * compare(a, b) || a.place - b.place;
    });
    body.append(...order.map((each) => each.row));
  };
  const show = () => {
    const text = wanted.value.trim().toLowerCase(), kind = type ? type.value : "";
    let fitting = 0;
    for (const each of order) {
      const fits = each.found.includes(text) && (kind === "" || each.types.includes(kind));
      each.row.hidden = !fits || fitting >= limit;
      if (fits) fitting += 1;
    }
    const shown = Math.min(fitting, limit), rest = fitting - shown;
    told.textContent = rest
      ? `${shown.toLocaleString("en")} of ${fitting.toLocaleString("en")} shown`
      : `${fitting.toLocaleString("en")} ${fitting === 1 ? "question" : "questions"}`;
    more.hidden = !rest;
    more.textContent = `Show ${Math.min(rest, STEP).toLocaleString("en")} more`;
  };

  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const again = key === head.dataset.sort;
      key = head.dataset.sort;
      down = again ? !down : key === "hits";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort();
      show();
    });
  }
  const anew = () => { limit = FIRST; show(); };
  wanted.addEventListener("input", anew);
  if (type) type.addEventListener("change", anew);
  tools.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { limit += STEP; show(); });
  window.addEventListener("beforeprint", () => { limit = Infinity; show(); });
  window.addEventListener("afterprint", anew);
  tools.hidden = false;
  show();
})();
