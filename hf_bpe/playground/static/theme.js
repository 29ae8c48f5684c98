// Light and dark: as the system has it, until somebody chooses.

/** What browsers keep for a page; null where they keep nothing for one in the frame of another. */
function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

export function followTheme() {
  const root = document.documentElement;
  const kept = storage();
  if (kept?.getItem("theme")) root.dataset.theme = kept.getItem("theme");
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    kept?.setItem("theme", root.dataset.theme);
  });
}
