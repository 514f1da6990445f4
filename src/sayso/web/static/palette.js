// Anything from anywhere: what can be done with this ask, other asks, pages.
import { all, article, fetched, make, on, one, say } from "./page.js";
import { picked } from "./bulk.js";
import { buttonFor, decide, deciders, edit, help, press } from "./keys.js";
import { askToNotify } from "./live.js";

const dialog = () => one("dialog#palette");
const field = () => one("input", dialog());
const list = () => one("[role=listbox]", dialog());
const PAUSE = 150; // milliseconds without a key after which asks are searched
let asked = 0;
let pausing;
let found = [];

// (what it says, its keys one after the other, what it does)
function actions() {
  const buttons = deciders().filter((button) => button.checkVisibility());
  const of = picked().length ? ` ${picked().length} selected` : "";
  const given = buttons.map((button) => [words(button) + of, button.dataset.key, () => decide(button.dataset.key)]);
  if (article() && one("#detail :is(.field, .plan, textarea[name=text])")) given.push(["Edit", "e", edit]);
  if (buttonFor("z")) given.push(["Undo", "z", () => press("z")]);
  const pages = all(".rail a.place[href]").map((link) => [`Go to ${words(link)}`, link.dataset.go ? `g ${link.dataset.go}` : "", () => link.click()]);
  return [
    ...given,
    ...pages,
    ...all(".chips a.chip").map((link) => [`Show ${words(link)}`, "", () => link.click()]),
    ["All keys", "?", help],
    ...all("form[action='/settings'] button[name]").map((button) => [`${button.name === "theme" ? "Theme: " : ""}${words(button)}`, "", () => button.click()]),
    ["Tell me when something new comes", "", askToNotify],
  ];
}

// What a button says, without its key, its pictures and its word for narrow bars.
function words(place) {
  const copy = place.cloneNode(true);
  for (const extra of all("kbd, svg, .badge, .unseen, .brief", copy)) extra.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

function option([text, key], number) {
  const line = make("li", { role: "option", id: `palette-${number}`, "aria-selected": "false", "data-number": number }, make("span", {}, text));
  if (key) line.append(make("span", { class: "strokes" }, ...key.toUpperCase().split(" ").map((one) => make("kbd", {}, one))));
  return line;
}

function draw(others = []) {
  const typed = field().value.trim().toLowerCase();
  found = actions().filter(([text]) => text.toLowerCase().includes(typed));
  const lines = found.map(option);
  for (const line of others) {
    const link = one("a", line) ?? line;
    const href = link.getAttribute("href") ?? line.dataset.href;
    line.setAttribute("role", "option");
    line.id = `palette-${lines.length}`;
    line.dataset.number = lines.length;
    line.setAttribute("aria-selected", "false");
    found.push([line.textContent, "", () => location.assign(href)]);
    lines.push(line);
  }
  list().replaceChildren(...lines);
  if (!lines.length) list().append(make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nothing found."));
  choose(0);
}

function choose(number) {
  const lines = all("[data-number]", list());
  const chosen = lines[Math.max(0, Math.min(number, lines.length - 1))];
  for (const line of lines) line.setAttribute("aria-selected", String(line === chosen));
  field().setAttribute("aria-activedescendant", chosen?.id ?? "");
  chosen?.scrollIntoView({ block: "nearest" });
}

const chosen = () => Number(one("[aria-selected=true]", list())?.dataset.number ?? 0);

function typed() {
  asked++;
  draw();
  clearTimeout(pausing);
  pausing = setTimeout(search, PAUSE);
}

async function search() {
  const mine = asked;
  const words_ = field().value.trim();
  if (!words_ || !dialog().open) return;
  try {
    const answer = await fetched(`/inbox/find?q=${encodeURIComponent(words_)}`);
    if (mine === asked && dialog().open) draw(all("li", document.importNode(answer.body, true)));
  } catch {
    if (mine === asked) say("Asks cannot be searched at the moment.");
  }
}

function run() {
  const does = found[chosen()]?.[2];
  dialog().close();
  does?.();
}

export function openPalette() {
  if (!dialog() || dialog().open) return;
  field().value = "";
  dialog().showModal();
  field().focus();
  draw();
}

export function start() {
  on("input", "#palette input", typed);
  on("keydown", "#palette input", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) choose(chosen() + by);
    else if (event.key === "Enter") run();
    else return;
    event.preventDefault();
  });
  on("click", "#palette [data-number]", (event, line) => {
    event.preventDefault();
    choose(Number(line.dataset.number));
    run();
  });
}
