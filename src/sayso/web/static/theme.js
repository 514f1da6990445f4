// Light or dark, single keys or none: applied at once, and kept by the server in a cookie.
import { all, on, say } from "./page.js";

function apply(name, value) {
  if (name === "theme") document.documentElement.dataset.theme = value;
  if (name === "keys") document.body.dataset.keys = value;
  for (const button of all(`form[action="/settings"] [name="${name}"][aria-pressed]`)) {
    button.setAttribute("aria-pressed", String(button.value === value));
  }
}

async function set(event, form) {
  event.preventDefault();
  const chosen = new FormData(form, event.submitter);
  for (const [name, value] of chosen) apply(name, value);
  event.submitter?.closest("details")?.removeAttribute("open");
  try {
    const answer = await fetch("/settings", { method: "POST", body: new URLSearchParams(chosen), redirect: "manual" });
    if (answer.type !== "opaqueredirect" && !answer.ok) throw new Error(`${answer.status}`);
  } catch {
    say("The setting counts on this page only: the server could not be reached.");
  }
}

export function start() {
  on("submit", "form[action='/settings']", set);
  on("change", "form[action='/settings']", (_, form) => form.requestSubmit());
}
