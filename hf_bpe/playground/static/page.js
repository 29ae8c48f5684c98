// What is typed, pasted, chosen and pressed.

import { fromTheStart, goTo, isChat, refresh, refreshSoon, setText, typed, wholeText } from "./asking.js";
import { closeCard, followCards } from "./card.js";
import { followChat } from "./chat.js";
import { fromAddress, intoAddress } from "./link.js";
import { mostCharacters, say, tooLong } from "./saying.js";
import { followTheme } from "./theme.js";
import { followTokens } from "./tokens.js";
import { dropped, followUploads } from "./upload.js";

const form = document.getElementById("asked");
const text = document.getElementById("text");
const columns = document.getElementById("columns");

const LONGEST_LINK = 5000; // mails and chats cut longer ones; a character may take nine of the address

form.addEventListener("submit", (event) => event.preventDefault());

form.addEventListener("input", (event) => {
  if (event.target.type === "file" || event.target.closest("#upload")) return;
  if (event.target.id === "mark-differences") {
    columns.classList.toggle("marked", event.target.checked);
    return;
  }
  if (event.target.id === "text") {
    typed();
    if (text.value.length > mostCharacters) return say(tooLong(text.value.length));
  }
  if (event.target.name === "mode") showMode();
  if (event.target.name !== "layout") fromTheStart();
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
  const whole = wholeText();
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

followTheme();
followTokens(columns);
followCards(columns);
followChat(refreshSoon);
followUploads();
dropped(document.body);
showMode();
const linked = fromAddress(form);
if (linked !== null) setText(linked);
document.body.dataset.ready = "true";
