// One hand on the keyboard: every key presses a button that is on the page, or moves.
import { all, article, currentRow, detail, mark, nothing, on, one, onDraw, onScreen, say } from "./page.js";
import { busy, nameField, wantName } from "./arming.js";
import { pick, picked, unpick } from "./bulk.js";
import { leaving } from "./editing.js";
import { openPalette } from "./palette.js";

const CHORD = 1000; // milliseconds between G and where to go
const TYPING = 700; // milliseconds for which letters stay letters, should the field go away meanwhile
let goingTo = 0;
let typed = -Infinity; // when somebody last typed into a field
let byKey = false; // whether the ask that is on its way was asked for with a key
let back = false; // whether it was asked for from the list, with the arrows: the focus stays there

const typing = (place) =>
  place.isContentEditable || place.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");
const visible = (place) => Boolean(place?.checkVisibility());

// --- moving -----------------------------------------------------------------------------------

function step(by, stay = false) {
  const rows = all("#queue .row:not([data-left])");
  if (!rows.length || busy()) return;
  const all_ = all("#queue .row");
  const from = visible(detail()) ? currentRow() : document.activeElement.closest(".row");
  let at = all_.indexOf(from);
  do at += by; while (all_[at]?.hasAttribute("data-left"));
  const to = from ? all_[at] : rows[0];
  if (!to) return say(by > 0 ? "This is the last one." : "This is the first one.");
  const link = one(".row-link", to);
  to.scrollIntoView({ block: "nearest" });
  if (!visible(detail())) return link.focus();
  if (stay) link.focus({ preventScroll: true });
  if (!leaving(to.dataset.ask)) return;
  back = stay;
  link.click();
}

// What stood in the way is said where somebody looks, however far they had scrolled.
function told() {
  const banner = one(".banner", article() ?? nothing);
  if (!banner) return;
  banner.setAttribute("role", "alert");
  banner.scrollIntoView({ block: "center", behavior: "instant" });
  banner.focus({ preventScroll: true });
  say(one("p", banner).textContent.trim());
}

// One wrong field is where to go on; of several the summary says which.
function wrongPlace() {
  const fields = all("[aria-invalid=true]", article() ?? nothing);
  return fields.length === 1 ? fields[0] : one(".error-summary", article() ?? document) ?? fields[0];
}

function opened() {
  if (!byKey && ![document.body, detail()].includes(document.activeElement)) return;
  if (back) return;
  const wrong = wrongPlace();
  (wrong ?? detail())?.focus({ preventScroll: !wrong });
}

// --- deciding ---------------------------------------------------------------------------------

export const buttonFor = (key) =>
  all(`#detail [data-key="${CSS.escape(key)}"], #held [data-key="${CSS.escape(key)}"]`).find((button) => !button.disabled);

// What has to be written before a verdict can be given.
function missing(button) {
  if (button.value !== "respond" || button.name !== "verdict") return null;
  // An answer has fields of its own, of which the server says what is missing; words are the note.
  const fields = button.dataset.takes === "answer" ? all("[name='=']", button.form) : all(`[id="note-${onScreen()}"]`);
  if (!fields.length || fields.some((field) => (/checkbox|radio/.test(field.type) ? field.checked : field.value.trim()))) return null;
  return fields[0];
}

function write(empty, key) {
  empty.closest("details")?.setAttribute("open", "");
  empty.dataset.sends = key;
  empty.focus();
  say("Write it, then press Ctrl and Enter, or the button again.");
}

// A click asks for words as the key does, if there is no place yet to write them in.
function clicked(event, button) {
  const empty = missing(button);
  if (!empty || visible(empty)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  write(empty, button.dataset.key);
}

export function press(key) {
  const button = buttonFor(key);
  if (!button) return false;
  const empty = missing(button);
  if (empty) write(empty, key);
  else button.click();
  return true;
}

export function edit() {
  const places = ".field :is(input, textarea, select), .plan textarea, textarea[name=text]";
  const field = () => all(places, article() ?? nothing).find((one) => visible(one) && !one.disabled && !one.readOnly && one.type !== "hidden");
  if (!field()) one("#detail [data-edits]")?.click();
  const found = field();
  found?.focus();
  return Boolean(found);
}

// The buttons that a key presses now: what is selected comes before the ask on screen.
export const deciders = () => (picked().length ? all("#bulk .bulk-bar [data-key]") : all("#detail [data-arms][data-key]"));

function together(key) {
  const count = picked().length;
  if (!count) return false;
  const button = deciders().find((one) => one.dataset.key === key);
  if (button) button.click();
  else say(`${count} selected: A approves them, R rejects them, Escape lets go of them.`);
  return true;
}

// A verdict by its key, wherever it comes from: the keyboard or the palette.
export function decide(key) {
  if (together(key)) return;
  if (nameField()) wantName(); // letters are its name, whichever of them it was
  else if (!press(key) && article()) say("That is not possible here.");
}

// --- keys -------------------------------------------------------------------------------------

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  x: () => pick(visible(detail()) ? currentRow() : document.activeElement.closest(".row")),
  z: () => press("z") || say("There is nothing to undo."),
  e: () => edit() || say("Nothing here can be edited."),
  "/": () => one("#queue input[type=search]")?.focus(),
  "?": help,
  g: () => { goingTo = performance.now(); },
};

export function help() {
  const sheet = one("dialog#help");
  if (sheet) sheet.showModal();
  else location.assign("/help");
}

function go(key) {
  goingTo = 0;
  const link = one(`[data-go="${CSS.escape(key)}"]`);
  if (link) link.click();
  else if (key === "i") location.assign("/inbox");
}

function escape(event) {
  if (one("dialog[open]")) return; // the dialog closes
  const menu = one("details.menu[open], details[id^='more-'][open]");
  if (menu?.contains(document.activeElement) && !typing(document.activeElement)) {
    menu.open = false;
    one("summary", menu)?.focus();
  } else if (typing(event.target)) {
    if (event.target.closest("#detail")) detail().focus({ preventScroll: true });
    else event.target.blur();
  } else if (!unpick()) {
    const link = one(".row-link", currentRow() ?? nothing);
    if (visible(link)) link.focus();
    else one("#detail .back, #detail [data-back]")?.click();
  }
}

function arrow(event) {
  const inList = document.activeElement.closest("#queue");
  if (!inList && document.activeElement !== document.body) return;
  event.preventDefault();
  step(event.key === "ArrowDown" ? 1 : -1, Boolean(inList));
}

function heard(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const key = event.shiftKey ? event.key : event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) return chord(event, key);
  if (key === "escape") {
    typed = -Infinity;
    return escape(event);
  }
  if (typing(event.target)) typed = performance.now();
  if (performance.now() - typed < TYPING || document.body.dataset.keys === "off" || one("dialog[open]")) return;
  if (goingTo && performance.now() - goingTo < CHORD) return go(key);
  byKey = true;
  if (key === "arrowdown" || key === "arrowup") return arrow(event);
  if (key === "enter") {
    if (document.activeElement === document.body) one(".row-link", currentRow() ?? nothing)?.click();
    return;
  }
  const known = Object.hasOwn(KEYS, key);
  if (!known && !/^[arc1-9]$/.test(key)) return;
  event.preventDefault();
  if (event.repeat && !/^[jk]$/.test(key)) return; // a key that is held down decides once
  if (known) KEYS[key]();
  else decide(key);
}

function chord(event, key) {
  if (key === "k") {
    event.preventDefault();
    openPalette();
  } else if (key === "enter" && event.target.form?.id.startsWith("decide-")) {
    const sends = event.target.dataset.sends;
    if (!sends && event.target.name !== "=") return;
    event.preventDefault();
    const button = sends ? buttonFor(sends) : all("#detail .bar [data-arms].primary").find((one) => !one.disabled) ?? buttonFor("c");
    if (event.target.value.trim()) button?.click();
  }
}

export function start() {
  on("click", "#detail button[name=verdict][value=respond]", clicked, true);
  document.addEventListener("keydown", heard);
  document.addEventListener("pointerdown", () => { byKey = back = false; }, true);
  on("click", "[data-help]", (event) => { event.preventDefault(); help(); });
  on("click", "[data-palette]", (event) => { event.preventDefault(); openPalette(); });
  on("click", "dialog [data-close]", (_, button) => button.closest("dialog").close());
  on("click", "dialog", (event, dialog) => { if (event.target === dialog) dialog.close(); });
  on("click", ".row-link", (event, link) => {
    const row = link.closest(".row");
    if (event.ctrlKey || event.metaKey || event.shiftKey || !window.htmx) return;
    if (event.isTrusted && !leaving(row.dataset.ask)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (event.isTrusted && event.detail === 0) back = false;
    mark(row);
  }, true);
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (ctx.target !== detail() || /\/edit$/.test(ctx.request.action)) return;
    if (article() && ctx.request.method === "GET") document.body.dataset.place = "ask";
    if (!article()) document.body.dataset.place = "queue";
    if (ctx.response?.status === 409) told();
    else opened();
  });
  onDraw(() => {
    const title = one("#detail h1[id]");
    if (title) detail().setAttribute("aria-labelledby", title.id);
  });
}
