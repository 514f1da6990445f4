// The list and the ask on screen stay true while others work. Nothing here moves a row under the
// pointer, takes the focus, scrolls, or touches what somebody has typed.
import { meetHeld } from "./undo.js";
import { all, article, currentRow, drawn, fetched, make, mark, on, onDraw, onScreen, one, say, several } from "./page.js";

const KINDS = ["opened", "edited", "raised", "voted", "settling", "taken_back", "decided", "escalated", "assigned", "withdrawn"]
  .map((name) => `kind=ask.${name}`).concat(["intended", "done", "failed", "unknown"].map((name) => `kind=effect.${name}`));
const GATHER = 120; // milliseconds in which news are gathered into one look
const PATIENCE = 10_000; // until a page without a connection says so
const POLL = 20_000; // between looks while there is no stream
const MOVING = 1000; // between looks at a run that is being carried on
const LONGEST = 30_000; // for one look, behind which the next one waits
let source = null;
let broken = 0; // since when there is no stream
let fresh = null; // the list as the server has it, while the screen still shows the one before
let touched = new Set(); // asks that something happened to
let gathering, waiting, moving;
let again = 1000; // milliseconds until the next look at a run that moves
let looking = false; // one look at a time, so that answers come in order
let after; // what is looked at once more after it: the list, and if true the ask too
let lists = 0; // how many lists have come, by a look or with an answer

// Whoever asks while the page says so lets it look again: the server may be back.
export function offline() {
  const said = Boolean(one("#offline:not([hidden])"));
  if (said && navigator.onLine) listen();
  return said || !navigator.onLine;
}

// --- the list ---------------------------------------------------------------------------------

const queue = () => one("#queue");
const rows = (root) => new Map(all(".row[data-ask]", root).map((row) => [row.dataset.ask, row]));
const calm = () => !queue().matches(":hover") && !queue().contains(document.activeElement);

const asking = (path) => fetched(path, { signal: AbortSignal.timeout(LONGEST) });

async function look() {
  if (!queue()) return;
  const before = lists;
  const found = await asking(`/inbox/queue${document.body.dataset.query ?? ""}`);
  meetHeld(one("#held", found));
  if (lists === before) meet(one("#queue", found));
  else after ??= false; // another list came meanwhile, and nobody knows which one is newer
}

// Bring the list on screen and the list of the server together.
export function meet(found) {
  if (!found || !queue()) return;
  fresh = found;
  lists++;
  const shown = rows(queue());
  const now = rows(fresh);
  for (const [ask, row] of shown) row.toggleAttribute("data-left", !now.has(ask));
  // The ask on screen is not news: whoever took a decision back has it before them.
  const added = [...now.keys()].filter((ask) => !shown.has(ask) && ask !== onScreen());
  counted();
  const button = one("#new");
  const told = Number(button?.dataset.count ?? 0);
  if (button) {
    button.dataset.count = added.length;
    button.hidden = !added.length || !shown.size;
    (one("span", button) ?? button).textContent = `${added.length} new`;
  }
  if (added.length > told) notify(added.length);
  settle(added.length && shown.size);
}

function settle(waits) {
  if (!fresh || !queue() || !calm()) return;
  if (!waits) return replace();
  for (const row of all(".row[data-left]", queue())) {
    if (row === currentRow()) continue;
    const list = row.parentElement;
    row.remove();
    if (list.childElementCount) continue;
    list.previousElementSibling?.remove(); // the name of the group
    list.remove();
  }
}

function replace() {
  const list = queue();
  const picked = new Set(all("input.pick:checked", list).map((pick) => pick.value));
  const scroller = [list, ...all("*", list)].map((place) => place.scrollTop).find(Boolean) ?? 0;
  const search = one("input[name=q]", list)?.value;
  list.replaceChildren(...document.importNode(fresh, true).childNodes);
  fresh = null;
  for (const pick of all("input.pick", list)) pick.checked = picked.has(pick.value);
  if (search) one("input[name=q]", list).value = search;
  window.htmx?.process(list);
  drawn();
  if (scroller) for (const place of [list, ...all("*", list)]) if (place.scrollHeight > place.clientHeight) place.scrollTop = scroller;
}

function counted() {
  const count = one("#count", fresh);
  if (!count) return;
  one("#count")?.replaceChildren(...document.importNode(count, true).childNodes);
  titled();
}

const number = () => one("#count")?.textContent.match(/\d[\d,.+]*/)?.[0] ?? "";

// The title counts too, for whoever has the page in another tab.
export function titled() {
  if (!one("#count")) return;
  const waiting = number();
  const plain = document.title.replace(/^\(\S*\) /, "");
  document.title = waiting && waiting !== "0" ? `(${waiting}) ${plain}` : plain;
  const place = one(".rail a[href='/inbox'].place");
  if (!place || one(".chip[aria-current]")?.href.includes("decided")) return;
  one("[data-count]", place)?.remove();
  const words = (text) => make("span", { class: "unseen" }, text);
  if (waiting && waiting !== "0") place.append(make("b", { class: "badge", "data-count": "" }, words(", "), waiting, words(" waiting")));
}

function reveal() {
  const before = rows(queue());
  const focused = document.activeElement?.id === "new";
  replace();
  const added = all("#queue .row").filter((row) => !before.has(row.dataset.ask));
  say(`${several(added.length, "new ask")} in the list.`);
  if (focused) one("a", added[0])?.focus({ preventScroll: true });
}

// --- the ask on screen ------------------------------------------------------------------------

async function standing() {
  const ask = onScreen();
  if (!ask) return;
  const shown = article();
  const query = new URLSearchParams(document.body.dataset.query ?? "");
  query.set("seen", shown.dataset.digest); // if it is another one by now, the banner says so
  const found = await asking(`/inbox/${ask}/state?${query}`);
  if (article() !== shown) return void (after = true); // it was drawn anew meanwhile
  for (const part of ["banner", "bar"]) exchange(one(`#${part}-${ask}`), one(`#${part}-${ask}`, found));
  lock();
  drawn();
}

// The run beside the ask goes on while somebody looks. How far it has come is no event of the
// journal, so while it moves the page looks by itself; less and less often if nobody answers.
async function beside() {
  clearTimeout(moving);
  const ask = onScreen();
  const shown = () => one("#context .ctx-run");
  if (!ask || !shown()) return;
  if (!document.hidden && !shown().contains(document.activeElement)) {
    const found = await asking(`/inbox/${ask}/run${document.body.dataset.query ?? ""}`);
    if (onScreen() !== ask || !shown()) return;
    exchange(shown(), one(".ctx-run", found));
    drawn();
  }
  again = MOVING;
  watch();
}

function watch() {
  clearTimeout(moving);
  if (one("#context [data-moving]")) moving = setTimeout(() => beside().catch(later), again);
}

function later(error) {
  again = Math.min(again * 2, POLL);
  if (error.message !== "401") watch(); // whoever is no longer signed in is told where they press
}

// What a part says and offers, apart from what scripts write into it.
function appearance(part) {
  const copy = part.cloneNode(true);
  for (const changing of all("time, textarea, [data-approve-label]", copy)) changing.replaceChildren();
  const offers = all("button, [role=alert], [role=status]", copy).map((one) => `${one.value} ${one.disabled}`);
  return `${copy.textContent.replace(/\s+/g, " ").trim()} ${offers}`;
}

// Put the new part in place of the old one; what was typed in the old one goes on being there.
function exchange(old, found) {
  if (!old || !found || appearance(old) === appearance(found)) return;
  const focus = document.activeElement;
  const had = old.contains(focus);
  const range = had && focus.matches("textarea, input[type=text]") ? [focus.selectionStart, focus.selectionEnd] : null;
  const next = document.importNode(found, true);
  for (const field of all("textarea, input:not([type=hidden]), select", old)) {
    const same = all(`[name="${CSS.escape(field.name)}"]`, next).find((one) => one.type === field.type && (field.type !== "radio" || one.value === field.value));
    if (same) same.replaceWith(field);
    else if (field.tagName === "TEXTAREA" && field.value) next.append(field);
  }
  all("details", old).forEach((fold, number) => { if (fold.open) all("details", next)[number]?.setAttribute("open", ""); });
  old.replaceWith(next);
  window.htmx?.process(next);
  if (!had) return;
  const again = next.contains(focus) ? focus
    : all("button", next).find((one) => one.name === focus.name && one.value === focus.value) ?? one("#detail");
  again?.focus({ preventScroll: true });
  if (range && again === focus) focus.setSelectionRange(...range);
}

// An ask that can no longer be decided keeps what was typed, to be read and copied.
function lock() {
  const closed = !one("[data-arms]", article() ?? document);
  article()?.toggleAttribute("data-closed", closed);
  for (const field of all("form[id^='decide-'] :is(input, textarea, select, button)", article() ?? document)) {
    if (field.closest("[id^='bar-'], [id^='banner-']") || field.type === "hidden") continue;
    if (field.hasAttribute("form")) continue; // harm is reported afterwards, by a form of its own
    const how = field.matches("textarea, input:not([type=checkbox], [type=radio])") ? "readOnly" : "disabled";
    if (closed && !field[how]) field.dataset.locked = how;
    if (field.dataset.locked) field[field.dataset.locked] = closed;
    if (!closed) delete field.dataset.locked;
  }
}

// --- the connection ---------------------------------------------------------------------------

async function refresh(ask = true) {
  if (looking) return void (after = ask || Boolean(after));
  looking = true;
  after = undefined;
  const came = await Promise.allSettled([look(), ask ? standing() : null, ask ? beside().catch(later) : null]);
  looking = false;
  if (came.every(({ status }) => status === "fulfilled")) connected();
  else if (broken) lost();
  if (after !== undefined) refresh(after);
}

function connected() {
  document.body.dataset.seen = new Date().toISOString();
  const banner = one("#offline");
  if (banner) banner.hidden = true;
}

function lost() {
  const banner = one("#offline");
  if (!banner || (navigator.onLine && performance.now() - broken < PATIENCE)) return;
  const since = one("[data-since]", banner);
  if (since) since.textContent = new Date(document.body.dataset.seen ?? Date.now()).toLocaleTimeString([], { timeStyle: "short" });
  banner.hidden = false;
}

function heard(event) {
  let line;
  try {
    line = JSON.parse(event.data);
  } catch {
    return;
  }
  touched.add(line.stream);
  gathering ??= setTimeout(() => {
    const mine = touched.has(onScreen());
    gathering = undefined;
    touched = new Set();
    refresh(mine);
  }, GATHER);
}

function listen() {
  source?.close();
  source = new EventSource(`/api/v1/events?${KINDS.join("&")}`);
  source.onmessage = heard;
  source.onopen = () => {
    broken = 0;
    clearTimeout(waiting);
    refresh(); // whatever happened while nobody listened
  };
  source.onerror = () => {
    if (!broken) {
      broken = performance.now();
      waiting = setTimeout(wait, PATIENCE + 50);
    }
    if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (broken && !document.hidden) listen(); }, 3000);
  };
}

// No stream: look every now and then instead.
function wait() {
  clearTimeout(waiting);
  if (!broken) return;
  refresh();
  waiting = setTimeout(wait, POLL);
}

// A tab in the background gives its connection back: browsers have six of them for all tabs.
function attention() {
  if (!document.hidden) return listen();
  source?.close();
  broken = performance.now();
  clearTimeout(waiting);
  waiting = setTimeout(wait, POLL);
}

// --- notifications ----------------------------------------------------------------------------

const wanted = () => window.Notification?.permission === "granted" && localStorage.getItem("sayso-notify") === "on";

export async function askToNotify() {
  if (!window.Notification) return say("This browser shows no notifications.");
  const answer = await Notification.requestPermission();
  localStorage.setItem("sayso-notify", answer === "granted" ? "on" : "off");
  say(answer === "granted" ? "You will be told when something new waits for you." : "The browser does not allow notifications here.");
}

// Our own words only: a notification has no place that says whose words they are.
function notify(count) {
  if (document.hidden && wanted()) new Notification("sayso", { body: `${several(count, "new ask")} in the inbox.`, tag: "sayso" });
}

export function start() {
  on("click", "#new", reveal);
  on("click", "[data-notify]", askToNotify);
  document.addEventListener("pointerout", (event) => {
    if (fresh && queue()?.contains(event.target) && !queue().contains(event.relatedTarget)) settle(!one("#new")?.hidden);
  });
  document.addEventListener("focusout", () => setTimeout(() => { if (fresh) settle(!one("#new")?.hidden); }));
  onDraw(() => {
    const ask = onScreen();
    const row = ask && one(`#queue .row[data-ask="${CSS.escape(ask)}"]`);
    if (row && row !== currentRow()) mark(row);
    watch();
  });
  if (!queue() && !article()) return;
  attention();
  document.addEventListener("visibilitychange", attention);
  window.addEventListener("offline", lost); // the browser knows at once
  window.addEventListener("online", () => {
    connected();
    listen();
  });
}
