// What is looked at, and asking the server for it. What comes back is HTML; nothing here makes HTML of a text.

import { messages } from "./chat.js";
import { mostCharacters, say, tooLong } from "./saying.js";

const form = document.getElementById("asked");
const text = document.getElementById("text");
const columns = document.getElementById("columns");

let given = null; // a text that the field cannot hold as it is: browsers make every line end a line feed
let start = 0; // the first character of the window
let timer = 0;
let running = new AbortController();

const chosen = (name) => form.querySelector(`input[name="${name}"]:checked`)?.value;
export const isChat = () => chosen("mode") === "chat";
export const wholeText = () => given ?? text.value;

/** What the form says, as the server reads it. */
function asked() {
  return {
    tokenizers: [...form.querySelectorAll('input[name="tokenizer"]:checked')].map((box) => box.value),
    text: isChat() ? "" : wholeText(),
    specials: chosen("specials") === "tokens",
    layout: chosen("layout"),
    start,
    ...(isChat() && {
      messages: messages(),
      template: document.getElementById("template").value,
      generation_prompt: document.getElementById("generation-prompt").checked,
    }),
  };
}

/** Ask anew. An answer that is still under way is given up, here and on the server. */
export async function refresh() {
  clearTimeout(timer);
  running.abort();
  running = new AbortController();
  columns.ariaBusy = "true";
  const { signal } = running;
  try {
    const answer = await fetch("look", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked()),
      signal,
    });
    const content = await answer.text();
    if (signal.aborted) return;
    say(answer.ok ? "" : content);
    if (answer.ok) put(content);
  } catch (error) {
    if (signal.aborted) return;
    say("The server does not answer. Is hf-bpe playground still running? Change the text to try again.");
  }
  columns.ariaBusy = "false";
}

/** New columns. Lists of ids stay closed if they were. */
function put(content) {
  const isOpen = columns.querySelector(".ids")?.open ?? true;
  columns.innerHTML = content;
  document.getElementById("announced").textContent = document.getElementById("summary").textContent;
  for (const ids of columns.querySelectorAll(".ids")) ids.open = isOpen;
}

/** Ask when nothing was typed for a moment: longer for long texts, which take longer to send. */
export function refreshSoon() {
  clearTimeout(timer);
  timer = setTimeout(refresh, 120 + Math.min(600, text.value.length / 2000));
}

/** Look at a text. hint: what to look for in it, if it is an example. */
export function setText(content, hint = "") {
  if (content.length > mostCharacters) return say(tooLong(content.length));
  text.value = content;
  given = text.value === content ? null : content;
  start = 0;
  showHint(hint);
  refresh();
}

/** The field holds what is looked at: somebody typed. */
export function typed() {
  given = null;
  showHint("");
}

function showHint(hint) {
  document.getElementById("hint").textContent = hint;
  for (const each of form.querySelectorAll(".example")) each.ariaCurrent = String(hint !== "" && each.dataset.hint === hint);
}

/** Look from the first character on: something else is looked at. */
export function fromTheStart() {
  start = 0;
}

export async function goTo(place) {
  start = place;
  await refresh();
  columns.focus({ preventScroll: true }); // the button that was pressed is gone
}
