// Everything a page can do beyond links and forms. Without it the pages work too.
import { detail, drawn, onDraw, one, onScreen, say } from "./page.js";
import * as arming from "./arming.js";
import * as bulk from "./bulk.js";
import * as clock from "./clock.js";
import * as draft from "./draft.js";
import * as editing from "./editing.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import * as palette from "./palette.js";
import * as plan from "./plan.js";
import * as theme from "./theme.js";
import * as tour from "./tour.js";
import * as undo from "./undo.js";
import * as watching from "./watching.js";

const SLOW = 300; // milliseconds after which a page says that it waits
let waiting = 0;

function progress(change) {
  waiting = Math.max(0, waiting + change);
  const bar = one("#progress");
  if (bar && !waiting) bar.hidden = true;
  if (bar && change > 0) setTimeout(() => { bar.hidden = !waiting; }, SLOW);
}

// A whole page is not put into a part of one: somebody was signed out, or the server failed.
function whole(event) {
  const { ctx, tasks } = event.detail;
  const list = tasks?.findIndex((task) => task.type === "oob" && task.target.id === "queue") ?? -1;
  if (list >= 0) live.meet(tasks.splice(list, 1)[0].fragment.firstElementChild);
  if (ctx.target === document.body || !/^\s*<(!doctype|html)/i.test(ctx.text)) return;
  event.preventDefault();
  if (ctx.request.method === "GET" && ctx.response.status < 500) return location.assign(ctx.response.raw.url);
  const page = new DOMParser().parseFromString(ctx.text, "text/html");
  const words = one("h1", page)?.textContent.trim() || `The server answered ${ctx.response.status}.`;
  say(ctx.response.status < 400 || ctx.response.status === 401
    ? "You are no longer signed in, so nothing was decided. Sign in in another tab and press again: what you typed is still here."
    : `${words} What you typed is still here.`);
}

function failed({ detail: { ctx } }) {
  if (!ctx?.request) return;
  say(ctx.request.method === "POST"
    ? "The server was not reached. What you typed is still here. Press again: it counts only once."
    : "It could not be loaded: the server was not reached.");
}

// Another ask is read from its top, wherever somebody had scrolled to in the one before.
let before = onScreen();
onDraw(() => {
  if (onScreen() === before) return;
  before = onScreen();
  for (const place of [detail(), one(".stage")]) if (place) place.scrollTop = 0;
  window.scrollTo(0, 0);
});

document.addEventListener("htmx:before:request", () => progress(1));
document.addEventListener("htmx:finally:request", () => progress(-1));
document.addEventListener("htmx:before:swap", whole);
document.addEventListener("htmx:error", failed);
document.addEventListener("htmx:after:swap", drawn);
document.addEventListener("htmx:finally:swap", () => queueMicrotask(live.titled));

for (const part of [arming, bulk, clock, draft, editing, keys, live, palette, plan, theme, tour, undo, watching]) part.start();
drawn();

// Ready means: what is pressed now is heard.
document.documentElement.dataset.ready = "";
