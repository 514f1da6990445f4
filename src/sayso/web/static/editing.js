// What differs from the proposal is seen while it is typed: on the field, in "Your edits", and on
// the button that approves it.
import { all, article, deciding, fetched, make, nothing, on, onDraw, onScreen, one, say, several } from "./page.js";
import { pieces } from "./words.js";

const PAUSE = 250; // milliseconds without a key after which the server is asked what differs
const HIDES = /([^\P{C}\n\t]|[\u2028\u2029\u034F\u115F\u1160\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}])/u;
let pausing;
let asked = 0;
let warned = ""; // the ask that somebody wanted to go to although something was typed here
let did = ""; // what the last button did to the form: `up:/items/1`

// --- one field --------------------------------------------------------------------------------

const leaves = () => all(".field[data-pointer]", deciding() ?? nothing).filter((field) => !one(".field", field));
const inputs = (field) => all("input, textarea, select", field).filter((input) => input.name === field.dataset.pointer || input.hasAttribute("data-was"));
const drawn = new WeakMap(); // what stood in a field that does not say what was proposed

function proposed(field) {
  const said = field.dataset.was ?? one("[data-was]", field)?.dataset.was;
  if (said === undefined && !drawn.has(field)) drawn.set(field, field.matches(".changed") ? "" : (inputs(field)[0]?.defaultValue ?? ""));
  return unified(said ?? drawn.get(field));
}

const boxes = (field) => inputs(field).filter((input) => /checkbox|radio/.test(input.type));
const isSwitch = (field) => boxes(field).length === 1 && boxes(field)[0].type === "checkbox" && /^(true|false|)$/.test(proposed(field));
const unified = (text) => text.replace(/\r\n?/g, "\n");

// What stands in a field, as the server writes what was proposed.
function value(field) {
  const ticked = boxes(field);
  if (isSwitch(field)) return String(ticked[0].checked);
  if (ticked.length) return ticked.filter((box) => box.checked).map((box) => box.value).join(", ");
  return unified(inputs(field)[0]?.value ?? proposed(field));
}

const differs = (field) => inputs(field).length > 0 && value(field) !== proposed(field);

function revert(field) {
  const was = proposed(field);
  for (const input of inputs(field)) {
    if (!boxes(field).length) input.value = was;
    else input.checked = isSwitch(field) ? was === "true" : was.split(", ").includes(input.value);
  }
  inputs(field)[0]?.focus();
  edited();
}

function tint(field) {
  const so = differs(field);
  field.classList.toggle("changed", so);
  const label = one("label, legend", field);
  let was = one(".was", field);
  let back = one("button.revert", field);
  if (so && !was && label && /^.{0,80}$/.test(proposed(field))) label.after(was = make("span", { class: "was" }));
  const text = proposed(field);
  const chosen = all("option", field).find((option) => option.value === text)?.textContent;
  if (so && was) was.replaceChildren("was ", ...visible(isSwitch(field) ? { true: "Yes", false: "No" }[text] ?? "empty" : chosen ?? (text || "empty")));
  if (so && !back) (was ?? label)?.after(back = make("button", { type: "button", class: "revert" }, "Revert"));
  for (const part of [was, back]) if (part) part.hidden = !so;
}

// --- everything that differs ------------------------------------------------------------------

// Text nodes, with everything that hides as a badge.
const visible = (text) => text.split(HIDES).map((part, number) =>
  number % 2 ? make("span", { class: "cp" }, `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`) : part);

function line(field) {
  const where = field.dataset.pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const tags = { in: "ins", out: "del", same: "span" };
  const found = pieces(proposed(field), value(field)).map(([kind, text]) => make(tags[kind], {}, ...visible(text)));
  return make("div", {}, make("dt", {}, ...visible(where)), make("dd", {}, ...found));
}

const section = () => document.getElementById(`edits-${onScreen()}`);

function show(lines) {
  const count = lines.length;
  const place = section();
  if (place) {
    place.hidden = !count;
    one(".section-head p", place)?.replaceChildren(`${several(count, "value")} differ${count === 1 ? "s" : ""} from what was proposed`);
    one("dl", place)?.replaceChildren(...lines);
  }
  name(count);
  ask(lines.map((line) => one("dt", line)?.firstChild?.textContent ?? ""));
}

// Whoever changes what matters is asked whether the call would have done harm as it was.
function ask(names) {
  const question = one(".harm-question", deciding() ?? nothing);
  if (!question) return;
  const matters = JSON.parse(question.dataset.matters);
  const tops = names.map((name) => name.trim().split(/[.[]/)[0]);
  question.toggleAttribute("data-off", !tops.some((name) => !matters.length || matters.includes(name)));
}

// The button says how many edits it approves.
function name(count) {
  // What the tool worked out was for the values as they came.
  const worked = one("#detail [data-worked-out=now] span");
  if (worked) {
    const { before, now } = worked.parentElement.dataset;
    worked.textContent = count ? before : now;
  }
  for (const label of all("#detail [data-approve-label]")) {
    label.textContent = label.dataset.plain + (count ? ` with ${several(count, "edit")}` : "");
  }
  for (const label of all("#detail [data-approve-brief]")) {
    label.textContent = label.dataset.approveBrief + (count ? ` (${count})` : "");
  }
}

// Lists, variants, plans and JSON are the server's to compare.
const flat = () => !one("[name^='from:'], [name^='variant:'], [name^='unset:'], [name^='row:'], [name=step], [name=tab][value=json]:checked", deciding());

async function compare() {
  if (!deciding()) return; // it was decided meanwhile
  const mine = ++asked;
  const ask = onScreen();
  const sent = new URLSearchParams(new FormData(deciding()));
  sent.set("do", "preview");
  try {
    const found = await fetched(`/inbox/${ask}/edit`, { method: "POST", body: sent });
    if (mine === asked && ask === onScreen()) show(all(`[id="edits-${ask}"] dl > *`, found).map((line) => document.importNode(line, true)));
  } catch {
    // What was typed does not make sense yet, or nobody answers: it is compared again when it is sent.
  }
}

function edited() {
  leaves().forEach(tint);
  warned = "";
  asked++;
  clearTimeout(pausing);
  if (flat()) show(leaves().filter(differs).map(line));
  else pausing = setTimeout(compare, PAUSE);
}

// --- not losing it ----------------------------------------------------------------------------

const touched = (input) => input.name !== "tab" && (/checkbox|radio/.test(input.type)
  ? input.checked !== input.defaultChecked
  : input.matches("textarea, input:not([type=hidden])") && unified(input.value) !== unified(input.defaultValue));

export const dirty = () => one("[data-arms]", article() ?? nothing)
  && (section()?.hidden === false || Boolean(one("[name=note]", deciding())?.value.trim()) || [...deciding().elements].some(touched));

let sending = false; // the form is on its way, by a script or by the browser itself

// Away from the page by a link, the address, Back or a reload: the browser asks first.
function unloading(event) {
  if (!sending && dirty()) event.preventDefault();
}

// Whether one may go to another ask: what was typed and not sent is left on the second try.
export function leaving(ask) {
  if (ask === onScreen() || warned === ask || !dirty()) return true;
  warned = ask;
  say("What you typed here was not sent. Do it again to leave it.");
  return false;
}

// Back and Forward have changed the address already when they are heard of.
function restoring(event) {
  if (!dirty()) return;
  const to = event.detail.path.split("?")[0].split("/").at(-1);
  if (to !== onScreen() && leaving(to)) return;
  event.preventDefault();
  if (to !== onScreen()) history.pushState({ htmx: true }, "", `/inbox/${onScreen()}${location.search}`);
}

// --- rows, steps, variants, tabs: the server redraws the form, the focus stays where it was -----

const SAID = { up: "Moved up.", down: "Moved down.", drop: "Removed.", add: "Added.", "put-back": "Put back." };

export async function preview(said = "", values = {}) {
  await window.htmx?.ajax("POST", `/inbox/${onScreen()}/edit`, { source: deciding(), target: "#detail", values: { do: "preview", ...values } });
  if (said) say(said);
}

function goOn() {
  const [, verb, at] = did.match(/^([\w-]+):?(.*)$/) ?? [];
  did = "";
  if (!verb || !deciding()) return;
  const near = (by) => at.replace(/\d+$/, (number) => Number(number) + by);
  const wanted = {
    up: [`up:${near(-1)}`, `down:${near(-1)}`],
    down: [`down:${near(1)}`, `up:${near(1)}`],
    drop: [`drop:${at}`, `drop:${near(-1)}`, `add:${at.replace(/\/\d+$/, "")}`, "add"],
    unset: [`set:${at}`],
  }[verb] ?? [];
  const button = wanted.map((value) => all("button[name=do]", deciding()).find((one) => one.value === value && !one.disabled)).find(Boolean);
  const inside = at.startsWith("/") ? `.field[data-pointer^="${CSS.escape(at)}"]` : ".plan .step";
  const fields = all(`${inside} :is(input, textarea, select):not([type=hidden])`, deciding());
  const back = verb === "put-back" && one("textarea", one(`.step:has([name=was][value="${at}"])`, deciding()) ?? nothing);
  (button ?? (back || fields.at(-1)))?.focus();
  if (SAID[verb]) say(SAID[verb]);
}

// Only the part that is edited is put in place: the note and the bar stay.
function part({ detail: { ctx, tasks } }) {
  const main = tasks?.find((task) => task.type === "main");
  const here = document.getElementById(`editor-${onScreen()}`);
  const found = main && /\/edit$/.test(ctx.request.action) && one(`[id="editor-${onScreen()}"]`, main.fragment);
  if (!found || !here) return;
  const count = all(`[id="edits-${onScreen()}"] dl > *`, found);
  Object.assign(main, { fragment: document.createDocumentFragment(), target: here, swapSpec: { style: "outerHTML" } });
  main.fragment.append(found);
  queueMicrotask(() => show(count));
}

async function tab(_, input) {
  const json = one("textarea[name=json]", deciding());
  const left = input.value === "json" ? "form" : "json"; // carried over only if there is something in it
  if (left === "form" ? section()?.hidden === false : touched(json)) await preview("", { tab: left });
  const again = one(`[name=tab][value=${input.value}]`, deciding() ?? nothing);
  if (!again) return;
  again.checked = true;
  again.focus();
}

export function start() {
  on("input", "form[id^='decide-']", edited);
  on("change", "form[id^='decide-'] [name=tab]", tab);
  on("change", "[name^='variant:']", (_, input) => {
    all("button[name=do]", deciding() ?? nothing).find((button) => button.value === input.name)?.click();
  });
  on("click", ".field button.revert", (event, button) => {
    const field = button.closest(".field");
    if (!leaves().includes(field) || !inputs(field).length) return; // the server puts back what has parts
    event.preventDefault();
    event.stopImmediatePropagation();
    revert(field);
  }, true);
  // A button that edits posts what it does, to where it says.
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const button = ctx.request.submitter ?? ctx.sourceElement;
    if (button.name !== "do") return;
    ctx.request.action = button.getAttribute("formaction") ?? ctx.request.action;
    ctx.request.body.set("do", did = button.value);
  });
  window.addEventListener("beforeunload", unloading);
  document.addEventListener("htmx:before:history:restore", restoring);
  on("submit", "form[id^='decide-']", (event) => { if (!event.defaultPrevented) sending = true; });
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => { if (ctx.request.form?.id.startsWith("decide-")) sending = true; });
  for (const over of ["htmx:finally:request", "htmx:error"]) document.addEventListener(over, () => { sending = false; });
  window.addEventListener("pageshow", () => { sending = false; });
  document.addEventListener("htmx:before:swap", part);
  document.addEventListener("htmx:after:swap", goOn);
  onDraw(() => {
    leaves().forEach(tint);
    if (section()) name(section().hidden ? 0 : all("dl > *", section()).length);
  });
}
