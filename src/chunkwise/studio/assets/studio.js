// The line at the top of every page that says what is being read and made.
import { $, listen, number, whileWorking } from "./shared.js";
import { renewRail } from "./rail.js";

const line = $("#work");
let known = -1;
whileWorking((state) => {
  if (!state) {
    line.hidden = false;
    line.textContent = "The studio is not responding. Is `chunkwise studio` still running?";
    return;
  }
  const step = state.steps.find((item) => !item.finished);
  const wrong = state.steps.find((item) => item.problem);
  line.hidden = !step && !wrong;
  line.classList.toggle("wrong", Boolean(wrong));
  if (wrong) line.textContent = `${wrong.name}: ${wrong.problem}`;
  else if (step) {
    const share = step.total ? `${Math.min(99, Math.floor(100 * step.done / step.total))}%` : number(step.done);
    line.textContent = `${step.name} … ${share}`;
  }
  if (state.documents && (known < 0 || !state.working || !step)) renewRail();
  known = state.documents;
});
renewRail();
listen();
