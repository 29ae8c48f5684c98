// Moving among the tokens of a column with the keyboard: one stop for Tab, arrows from there.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function focusOn(token) {
  const column = token.closest(".column");
  column.querySelector('.token[tabindex="0"]')?.setAttribute("tabindex", "-1");
  token.tabIndex = 0;
  token.focus();
}

function makeReachable(columns) {
  for (const column of columns.querySelectorAll(".column")) column.querySelector(".token")?.setAttribute("tabindex", "0");
}

export function followTokens(columns) {
  makeReachable(columns);
  new MutationObserver(() => makeReachable(columns)).observe(columns, { childList: true });

  columns.addEventListener("keydown", (event) => {
    const token = event.target.closest(".token");
    if (!token) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      token.click();
      return;
    }
    const tokens = [...token.closest(".column").querySelectorAll(".token")];
    const place = tokens.indexOf(token);
    const next = event.key === "Home" ? tokens[0] : event.key === "End" ? tokens.at(-1) : tokens[place + STEPS[event.key]];
    if (!next) return;
    event.preventDefault();
    focusOn(next);
  });

  // The other places of the token under the pointer.
  columns.addEventListener("pointerover", (event) => {
    const token = event.target.closest(".token");
    for (const each of columns.querySelectorAll(".token.same")) each.classList.remove("same");
    if (!token) return;
    const column = token.closest(".column");
    for (const each of column.querySelectorAll(`.token[data-id="${token.dataset.id}"]`)) each.classList.add("same");
  });
}
