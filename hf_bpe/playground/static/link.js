// What is looked at, as an address. It is made when somebody asks for it, as browsers remember addresses, and stands behind
// the #, which they send to no server.

const CHOICES = ["layout", "specials"];
const boxes = (form) => [...form.querySelectorAll('input[name="tokenizer"]')];

/** Put a text and what is chosen into the address. Tokenizers by name: another server has other keys. */
export function intoAddress(form, text) {
  const state = new URLSearchParams({ text });
  for (const box of boxes(form)) if (box.checked) state.append("tokenizer", box.dataset.name);
  for (const name of CHOICES) state.set(name, form.querySelector(`input[name="${name}"]:checked`).value);
  history.replaceState(null, "", `#${state}`);
}

/** Choose what the address says; its text, or null if it says nothing. */
export function fromAddress(form) {
  const state = new URLSearchParams(location.hash.slice(1));
  const names = state.getAll("tokenizer");
  const known = boxes(form).filter((box) => names.includes(box.dataset.name));
  if (known.length) for (const box of boxes(form)) box.checked = known.includes(box);
  for (const name of CHOICES) {
    for (const each of form.querySelectorAll(`input[name="${name}"]`)) each.checked ||= each.value === state.get(name);
  }
  return state.get("text");
}
