// What is on the screen, how the others hear that it changed, and how a page speaks.

export const one = (selector, root = document) => root.querySelector(selector);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];
export const detail = () => one("#detail");
export const article = () => one("#detail article.ask");
export const onScreen = () => article()?.dataset.ask;
export const deciding = () => one("#detail form[id^='decide-']");

// The row of the ask on screen, or of the one that is on its way.
const CURRENT = "#queue .row-link[aria-current]";
export const currentRow = () => one(CURRENT)?.closest(".row");
export function mark(row) {
  for (const link of all(CURRENT)) link.removeAttribute("aria-current");
  one(".row-link", row ?? nothing)?.setAttribute("aria-current", "true");
}

export const nothing = document.createElement("i"); // to look into where there is nothing

// Text becomes text nodes, always: nothing that an agent wrote is read as HTML.
export function make(tag, given = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

const listeners = [];
export const onDraw = (listener) => listeners.push(listener);
export const drawn = () => listeners.forEach((listener) => listener());

export const on = (kind, selector, heard, capture = false) =>
  document.addEventListener(kind, (event) => {
    const found = event.target.closest?.(selector);
    if (found) heard(event, found);
  }, capture);

let silence;
export function say(words) {
  const toast = one("#toast");
  if (!toast) return;
  const line = one(".toast-said", toast) ?? toast.appendChild(make("div", { class: "toast-body toast-said" }, make("p")));
  line.firstChild.textContent = words;
  clearTimeout(silence);
  silence = setTimeout(() => line.remove(), 6000);
}

export const several = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Our own pages only, and parsed apart: nothing in it runs or loads.
export async function fetched(path, given = {}) {
  const headers = { "HX-Request": "true", Accept: "text/html", ...given.headers };
  const answer = await fetch(path, { ...given, headers, credentials: "same-origin" });
  if (answer.redirected || !answer.ok) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}
