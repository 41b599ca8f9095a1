// The page of a PDF that a span was read from, as a picture with the span on it.
import { $, ask, counted, element, tell } from "./shared.js";

export function paper(document, refused) {
  const box = $("#paper"), button = $("#paper-switch");
  if (!box) return { show() {}, toggle() {} };
  const image = $("#paper-image"), caption = $("#paper-caption"), sheet = box.querySelector(".paper-page");
  let last = "", wanted = [0, 1];
  async function show(start, end) {
    wanted = [start, end];
    if (box.hidden || `${start} ${end}` === last) return;
    last = `${start} ${end}`;
    try {
      const result = await ask(`/api/documents/${document}/boxes`, { start, end });
      tell(refused, null);
      if (`${start} ${end}` !== last) return;
      const page = result.boxes[0]?.page;
      for (const item of sheet.querySelectorAll(".span-box")) item.remove();
      if (page === undefined) { caption.textContent = "Not on a page."; return; }
      const [width, height] = result.sizes[page];
      image.src = `/api/documents/${document}/pages/${page}.png`;
      image.alt = `Page ${page}`;
      sheet.style.aspectRatio = `${width} / ${height}`;
      const own = result.boxes.filter((item) => item.page === page), others = new Set(result.boxes.map((item) => item.page)).size - 1;
      for (const item of own) {
        const made = element("div", { className: "span-box" });
        made.style.left = `${100 * item.x0 / width}%`;
        made.style.top = `${100 * (1 - item.y1 / height)}%`;
        made.style.width = `${100 * (item.x1 - item.x0) / width}%`;
        made.style.height = `${100 * (item.y1 - item.y0) / height}%`;
        sheet.append(made);
      }
      caption.textContent = `Page ${page}${others ? `, and ${counted(others, "more page")}` : ""}`;
    } catch (error) { tell(refused, error); }
  }
  function toggle() {
    box.hidden = !box.hidden;
    button.setAttribute("aria-pressed", !box.hidden);
    box.parentElement.classList.toggle("open", !box.hidden);
    if (!box.hidden) { last = ""; show(...wanted); }
  }
  button.addEventListener("click", toggle);
  return { show, toggle };
}
