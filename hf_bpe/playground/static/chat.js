// The messages of a conversation.

const list = document.getElementById("messages");

export function messages() {
  return [...list.querySelectorAll(".message")].map((message) => ({
    role: message.querySelector(".role").value,
    content: message.querySelector(".content").value,
  }));
}

export function followChat(changed) {
  document.getElementById("add-message").addEventListener("click", () => {
    const added = document.getElementById("message").content.cloneNode(true);
    const last = messages().at(-1)?.role;
    added.querySelector(".role").value = last === "user" ? "assistant" : "user";
    list.append(added);
    list.lastElementChild.querySelector(".content").focus();
    changed();
  });
  list.addEventListener("click", (event) => {
    if (!event.target.closest(".remove")) return;
    event.target.closest(".message").remove();
    document.getElementById("add-message").focus();
    changed();
  });
}
