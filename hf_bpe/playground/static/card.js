// The panel about one token, and the steps of the merges of the word it stands in.

import { say } from "./saying.js";

const card = document.getElementById("card");
let opener = null; // where the focus goes back to

/** source: the element that says which tokenizer, with the special tokens of which template. */
async function openCard(source, id, word, from) {
  const { key, template } = source.dataset;
  const answer = await fetch(`token?${new URLSearchParams({ tokenizer: key, template, id, word })}`).catch(() => null);
  if (!answer) return say("The server does not answer. Is it still running?");
  const content = await answer.text();
  if (!answer.ok) return say(content);
  document.querySelector('.token[aria-pressed="true"]')?.setAttribute("aria-pressed", "false");
  if (from) {
    opener = from;
    opener.setAttribute("aria-pressed", "true");
  }
  card.innerHTML = content;
  card.hidden = false;
  for (const stepper of card.querySelectorAll(".stepper")) follow(stepper);
  card.focus({ preventScroll: true });
  from?.scrollIntoView({ block: "nearest" });
}

export function closeCard() {
  if (card.hidden) return;
  card.hidden = true;
  opener?.setAttribute("aria-pressed", "false");
  opener?.focus({ preventScroll: true });
}

/** One step at a time, where without this file all of them stand below one another. */
function follow(stepper) {
  const list = stepper.nextElementSibling;
  const range = stepper.querySelector("input");
  const show = (number) => {
    range.value = number;
    list.querySelector(".now")?.classList.remove("now");
    list.children[range.value].classList.add("now");
  };
  list.dataset.live = "true";
  stepper.hidden = false;
  stepper.addEventListener("click", (event) => {
    const by = event.target.dataset.by;
    if (by) show(Number(range.value) + Number(by));
  });
  range.addEventListener("input", () => show(range.value));
  show(0);
}

export function followCards(columns) {
  columns.addEventListener("click", (event) => {
    const token = event.target.closest(".token");
    if (!token) return;
    const word = token.closest(".piece")?.dataset.word ?? "";
    openCard(token.closest(".column"), token.dataset.id, word, token);
  });
  card.addEventListener("click", (event) => {
    if (event.target.closest(".close")) return closeCard();
    const other = event.target.closest("[data-id]");
    if (other) openCard(card.firstElementChild, other.dataset.id, "", null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeCard();
  });
}
