// Of two runs that are compared neither may be missing; a metric that is chosen is shown at once.
const comparing = document.querySelector("#comparing");
if (comparing) {
  const button = comparing.querySelector("#compare-two");
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
