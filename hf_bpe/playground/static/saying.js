// Messages to the reader.

export const mostCharacters = Number(document.body.dataset.mostCharacters);

const problem = document.getElementById("problem");

export function say(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

export function tooLong(length, what = "characters") {
  return `This text has ${length.toLocaleString("en")} ${what}; the page takes up to ${mostCharacters.toLocaleString("en")} characters. ` +
    "Count larger ones with hf-bpe encode TOKENIZER --count --file FILE.";
}
