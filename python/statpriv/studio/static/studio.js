"use strict";
// Asks for a new result when the form of the page changes; without this script its button does.
for (const form of document.querySelectorAll("form[data-live]")) {
  const result = document.getElementById("result");
  let asked = 0;
  const look = async () => {
    const stated = new URLSearchParams(new FormData(form)).toString();
    const mine = ++asked;
    const answer = await fetch(`${form.dataset.live}?${stated}`);
    if (mine !== asked) return; // a later state was asked for
    result.innerHTML = await answer.text(); // escaped by the server
    history.replaceState(null, "", `${form.getAttribute("action")}?${stated}`);
  };
  for (const slider of form.querySelectorAll("[data-for]")) {
    const field = form.elements[slider.dataset.for];
    slider.addEventListener("input", () => { field.value = slider.value; });
    field.addEventListener("input", () => { slider.value = field.value; });
  }
  form.addEventListener("input", look);
}
for (const waiting of document.querySelectorAll("[data-reload]")) {
  setTimeout(() => location.reload(), Number(waiting.dataset.reload));
}
