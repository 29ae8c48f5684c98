// The page asks the server for HTML and puts it in place. Nothing here makes HTML of a text.

import { closeCard, followCards } from "./card.js";
import { followChat, messages } from "./chat.js";
import { fromAddress, intoAddress } from "./link.js";
import { dropped, followUploads } from "./upload.js";
import { followTokens } from "./tokens.js";

const form = document.getElementById("asked");
const text = document.getElementById("text");
const columns = document.getElementById("columns");
const problem = document.getElementById("problem");
export const mostCharacters = Number(document.body.dataset.mostCharacters);

const LONGEST_LINK = 5000; // mails and chats cut longer ones; a character may take nine of the address

let given = null; // a text that the field cannot hold as it is: browsers make every line end a line feed
let start = 0; // the first character of the window
let timer = 0;
let running = new AbortController();

const chosen = (name) => form.querySelector(`input[name="${name}"]:checked`)?.value;
const isChat = () => chosen("mode") === "chat";

export function say(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

/** What the form says, as the server reads it. */
function asked() {
  return {
    tokenizers: [...form.querySelectorAll('input[name="tokenizer"]:checked')].map((box) => box.value),
    text: isChat() ? "" : (given ?? text.value),
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
function refreshSoon() {
  clearTimeout(timer);
  timer = setTimeout(refresh, 120 + Math.min(600, text.value.length / 2000));
}

export function tooLong(length, what = "characters") {
  return `This text has ${length.toLocaleString("en")} ${what}; the page takes up to ${mostCharacters.toLocaleString("en")} characters. ` +
    "Count larger ones with hf-bpe encode TOKENIZER --count --file FILE.";
}

export function setText(content, hint = "") {
  if (content.length > mostCharacters) return say(tooLong(content.length));
  text.value = content;
  given = text.value === content ? null : content;
  start = 0;
  showHint(hint);
  refresh();
}

/** What to look for in an example; nothing for a text of one's own. */
function showHint(hint) {
  document.getElementById("hint").textContent = hint;
  for (const each of form.querySelectorAll(".example")) each.ariaCurrent = String(hint !== "" && each.dataset.hint === hint);
}

// -- what is typed, pasted and chosen ----------------------------------------------------------------------------------

form.addEventListener("submit", (event) => event.preventDefault());

form.addEventListener("input", (event) => {
  if (event.target.type === "file" || event.target.closest("#upload")) return;
  if (event.target.id === "mark-differences") {
    columns.classList.toggle("marked", event.target.checked);
    return;
  }
  if (event.target.id === "text") {
    given = null;
    showHint("");
    if (text.value.length > mostCharacters) return say(tooLong(text.value.length));
  }
  if (event.target.name === "mode") showMode();
  if (event.target.name !== "layout") start = 0;
  if (event.target.matches("textarea")) refreshSoon();
  else refresh();
});

// A paste that is too long is refused before the browser lays it out, which would take it minutes.
text.addEventListener("paste", (event) => {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  if (text.value.length + pasted.length <= mostCharacters) return;
  event.preventDefault();
  say(tooLong(text.value.length + pasted.length));
});

form.addEventListener("click", (event) => {
  const example = event.target.closest(".example");
  if (!example) return;
  form.querySelector('input[name="mode"][value="text"]').checked = true;
  showMode();
  setText(example.dataset.text, example.dataset.hint);
});

document.getElementById("clear").addEventListener("click", () => {
  setText("");
  text.focus();
});

document.getElementById("link").addEventListener("click", async ({ target }) => {
  const whole = given ?? text.value;
  if (whole.length > LONGEST_LINK) return say(`A link holds up to ${LONGEST_LINK.toLocaleString("en")} characters of text.`);
  intoAddress(form, whole);
  target.textContent = "Link in the address";
  setTimeout(() => (target.textContent = "Copy a link"), 3000);
  try {
    await navigator.clipboard.writeText(location.href);
    target.textContent = "Link copied";
  } catch {
    // browsers copy for pages of this machine and of https alone
  }
});

function showMode() {
  for (const each of form.querySelectorAll(".for-text")) each.hidden = isChat();
  for (const each of form.querySelectorAll(".for-chat")) each.hidden = !isChat();
  closeCard();
}

// -- the columns --------------------------------------------------------------------------------------------------------

columns.addEventListener("click", async (event) => {
  const { target } = event;
  if (target.dataset.start !== undefined) goTo(Number(target.dataset.start));
  if (!target.classList.contains("copy")) return;
  try {
    await navigator.clipboard.writeText(target.nextElementSibling.textContent);
    target.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(target.nextElementSibling); // browsers copy for pages of this machine and of https alone
    target.textContent = "Selected: press Ctrl+C";
  }
});

columns.addEventListener("change", (event) => {
  const { window: width } = event.target.dataset;
  if (width) goTo(Number(event.target.value) * Number(width));
});

async function goTo(place) {
  start = place;
  await refresh();
  columns.focus({ preventScroll: true }); // the button that was pressed is gone
}

// -- light and dark -----------------------------------------------------------------------------------------------------

const root = document.documentElement;
const kept = storage();
if (kept?.getItem("theme")) root.dataset.theme = kept.getItem("theme");
document.getElementById("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  kept?.setItem("theme", root.dataset.theme);
});

/** What browsers keep for a page; null where they keep nothing for one in the frame of another. */
function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

followTokens(columns);
followCards(columns);
followChat(refreshSoon);
followUploads();
dropped(document.body);
showMode();
const linked = fromAddress(form);
if (linked !== null) setText(linked);
document.body.dataset.ready = "true";
