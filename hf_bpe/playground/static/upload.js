// Tokenizers and texts out of files.

import { refresh, setText } from "./asking.js";
import { mostCharacters, say, tooLong } from "./saying.js";

const most = Number(document.body.dataset.mostBytes);
const pills = document.getElementById("pills");

async function send(where, form) {
  const answer = await fetch(where, { method: "POST", body: form });
  const content = await answer.text();
  if (!answer.ok) throw new Error(content);
  return content;
}

/** Give files to the server; what is wrong with them becomes a message. */
async function upload(files) {
  const form = new FormData();
  let size = 0;
  for (const file of files) {
    form.append("file", file);
    size += file.size;
  }
  if (!files.length) return;
  if (size > most) {
    say(`${files[0].name}: ${size.toLocaleString("en")} bytes; the page takes up to ${most.toLocaleString("en")}. ` +
      "Give the path on the command line: hf-bpe playground FILE.");
    return;
  }
  form.append("pattern", document.getElementById("pattern").value);
  for (const box of pills.querySelectorAll("input")) form.append("beside", box.dataset.name);
  say("");
  try {
    pills.insertAdjacentHTML("beforeend", await send("upload", form));
    refresh();
  } catch (error) {
    say(error.message);
  }
}

async function openText(file) {
  if (!file) return;
  if (file.size > 4 * mostCharacters) return say(`${file.name}: ${tooLong(file.size, "bytes")}`); // no character has more
  const form = new FormData();
  form.append("file", file);
  try {
    setText(await send("text", form));
  } catch (error) {
    say(error.message);
  }
}

/** Files that are dropped anywhere: a text onto the text, a tokenizer elsewhere. */
export function dropped(body) {
  body.addEventListener("dragover", (event) => {
    event.preventDefault();
    body.classList.add("dropping");
  });
  for (const name of ["dragleave", "drop"]) body.addEventListener(name, () => body.classList.remove("dropping"));
  body.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    if (event.target.id === "text") openText(event.dataTransfer.files[0]);
    else upload([...event.dataTransfer.files]);
  });
}

export function followUploads() {
  const panel = document.getElementById("upload");
  const add = document.getElementById("add");
  add.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    add.ariaExpanded = String(!panel.hidden);
  });
  const files = document.getElementById("files");
  files.addEventListener("change", async () => {
    await upload([...files.files]);
    files.value = ""; // the same file may be chosen again
  });
  const textFile = document.getElementById("text-file");
  textFile.addEventListener("change", async () => {
    await openText(textFile.files[0]);
    textFile.value = "";
  });
}
