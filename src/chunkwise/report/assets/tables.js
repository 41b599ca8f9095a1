// Tables that can be sorted, searched and filtered; whoever has no script reads them whole.
// A form names its table in data-for, and in data-rows how many rows are shown at first and printed (without it all
// are printed); a select names in data-filter what rows carry in their data; a column names in data-sort what it is
// sorted by: numbers in the row's data, else the words of its cell.
(() => {
  "use strict";
  const STEP = 200;
  const number = (value) => value.toLocaleString("en");

  const live = (tools) => {
    const table = document.getElementById(tools.dataset.for);
    if (!table) return;
    const body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells);
    const wanted = tools.querySelector("input[type=search]"), filters = Array.from(tools.querySelectorAll("select"));
    const told = tools.querySelector("output"), more = table.parentElement.querySelector(".pages button");
    const noun = tools.dataset.noun, FIRST = Number(tools.dataset.rows || 50);
    const rows = Array.from(body.rows, (row, place) => ({
      row, place,
      found: Array.from(row.querySelectorAll("[data-found]"), (each) => each.textContent).join("\n").toLowerCase(),
      filed: filters.map((each) => (row.dataset[each.dataset.filter] || "").split(" ")),
    }));
    let limit = FIRST, order = rows;

    const sort = (head, down) => {
      const key = head.dataset.sort, at = head.cellIndex, numbers = rows.some((each) => key in each.row.dataset);
      const value = new Map(rows.map((each) => {
        const given = each.row.dataset[key];
        return [each, numbers ? (given === "" || given === undefined ? null : Number(given))
          : (each.row.cells[at].querySelector("[data-sorted]") || each.row.cells[at]).textContent];
      }));
      order = rows.slice().sort((one, other) => {
        const a = value.get(one), b = value.get(other);
        // Without a number a row stays last, whichever way the others go.
        if (a === null || b === null) return (a === null) - (b === null) || one.place - other.place;
        const way = numbers ? a - b : a.localeCompare(b, undefined, { numeric: true });
        return (down ? -1 : 1) * way || one.place - other.place;
      });
      body.append(...order.map((each) => each.row));
    };
    const show = () => {
      const text = wanted.value.trim().toLowerCase();
      let fitting = 0;
      for (const each of order) {
        const fits = each.found.includes(text)
          && filters.every((filter, at) => filter.value === "" || each.filed[at].includes(filter.value));
        each.row.hidden = !fits || fitting >= limit;
        if (fits) fitting += 1;
      }
      const shown = Math.min(fitting, limit), rest = fitting - shown;
      told.textContent = rest
        ? `${number(shown)} of ${number(fitting)} shown`
        : `${number(fitting)} ${fitting === 1 ? noun : `${noun}s`}`;
      more.hidden = !rest;
      more.textContent = `Show ${number(Math.min(rest, STEP))} more`;
    };

    for (const head of heads) {
      if (!head.dataset.sort) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const down = before ? before === "ascending" : head.dataset.first === "down";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(head, down);
        show();
      });
    }
    const anew = () => { limit = FIRST; show(); };
    wanted.addEventListener("input", anew);
    for (const filter of filters) filter.addEventListener("change", anew);
    tools.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => { limit += STEP; show(); });
    if (!tools.dataset.rows) {
      window.addEventListener("beforeprint", () => { limit = Infinity; show(); });
      window.addEventListener("afterprint", anew);
    }
    tools.hidden = false;
    show();
  };
  for (const tools of document.querySelectorAll("form.tools")) live(tools);
})();
