// Parts of a page that stay true while others work: whatever has an id and data-live is drawn anew
// when something happened, from the address
// of the page, or the one it names if a form was answered with it. What has the focus is left alone until it has not.
import { all, drawn, fetched, nothing, on, one, say } from "./page.js";

const GATHER = 400; // milliseconds in which news are gathered into one look
const MOVING = 1000; // between looks while something on the page moves: progress is no event
const STILL = 20_000; // between looks while nothing does
const LONGEST = 20_000;
let gathering, next;
let looking = false;
let again = false;
let failed = 0; // looks in a row that came to nothing
let source = null;
const last = new Map(); // by the id of a part: how it came last

const address = () => document.body.dataset.liveFrom ?? location.href;
const parts = () => all("[id][data-live]");

async function look() {
  clearTimeout(next);
  if (looking) return void (again = true);
  looking = true;
  again = false;
  try {
    if (!document.hidden) exchange(await fetched(address(), { signal: AbortSignal.timeout(LONGEST) }));
    failed = 0;
  } catch (error) {
    if (error.message === "401") return say("You are no longer signed in. Load the page again to sign in.");
    failed++;
  } finally {
    looking = false;
  }
  one("#offline")?.toggleAttribute("hidden", failed < 3);
  if (!failed) document.body.dataset.seen = new Date().toISOString();
  if (again) return look();
  const pause = one("[data-live] [data-moving], [data-live][data-moving]") ? MOVING : STILL;
  next = setTimeout(look, Math.min(pause * 2 ** failed, STILL));
}

function exchange(found) {
  let changed = false;
  for (const shown of parts()) {
    const fresh = one(`#${CSS.escape(shown.id)}`, found);
    if (!fresh || busy(shown) || (last.get(shown.id) ?? bare(shown)) === bare(fresh)) continue;
    last.set(shown.id, bare(fresh));
    const open = all("details[id][open]", shown).map((fold) => fold.id);
    const made = document.importNode(fresh, true);
    for (const id of open) one(`#${CSS.escape(id)}`, made)?.setAttribute("open", "");
    shown.replaceWith(made);
    window.htmx?.process(made);
    changed = true;
  }
  if (changed) drawn();
  for (const list of all("[data-fresh-list]")) freshened(list, one(`#${CSS.escape(list.id)}`, found));
}

// What differs from look to look though nothing happened is left out: how long ago something was
// (the clock keeps it true), and the names of requests that were not sent.
function bare(part) {
  const copy = part.cloneNode(true);
  for (const time of all("time[data-form]", copy)) {
    time.textContent = "";
    time.removeAttribute("title");
  }
  for (const field of all("input[name=request]", copy)) field.removeAttribute("value");
  return copy.outerHTML;
}

// A list that is being read stays as it is: what has come since is counted above it.
function freshened(list, fresh) {
  const shown = new Set(all("[data-event]", list).map((line) => line.id));
  const lines = all("[data-event]", fresh ?? nothing);
  const count = lines.findIndex((line) => shown.has(line.id));
  const come = count < 0 ? lines.length : count;
  const line = one(`[data-fresh-of="${list.id}"]`);
  if (!line || !come) return;
  const words = `${count < 0 && shown.size ? `${come} or more` : come} new`;
  const said = one("[data-fresh]", line);
  if (said.textContent !== words) said.textContent = words;
  line.hidden = false;
}

// Whoever is about to press something, has selected some of it, or has opened something to decide,
// keeps what they see.
function busy(part) {
  const chosen = getSelection();
  return part.contains(document.activeElement) || part.matches(":has(details[data-holds][open])")
    || (chosen.type === "Range" && chosen.getRangeAt(0).intersectsNode(part));
}

function heard() {
  gathering ??= setTimeout(() => {
    gathering = undefined;
    look();
  }, GATHER);
}

function attention() {
  source?.close();
  if (document.hidden) return;
  source = new EventSource("/api/v1/events");
  source.onmessage = heard;
  source.onopen = look; // whatever happened while nobody listened
}

// A line to be kept elsewhere goes there by one press.
async function copied(_, button) {
  const line = one(`#${CSS.escape(button.dataset.copy)}`);
  line.select();
  try {
    await navigator.clipboard.writeText(line.value);
    say("Copied.");
  } catch {
    say("It is selected: copy it with the keyboard.");
  }
}

export function start() {
  for (const button of all("[data-copy]")) button.hidden = false;
  on("click", "[data-copy]", copied);
  if (!parts().length) return;
  attention();
  document.addEventListener("visibilitychange", attention);
  document.addEventListener("focusout", heard);
}
