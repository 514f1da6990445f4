// The stops of a tour stay true while runs go on. How far a run has come is no event of the journal,
// so the page looks by itself: more often while something moves, and less if nobody answers.
import { drawn, fetched, one, say } from "./page.js";

const MOVING = 1000;
const STILL = 4000;
const LONGEST = 20_000;
let failed = 0; // looks in a row that came to nothing

async function look() {
  if (!document.hidden) {
    try {
      const found = one("#stops", await fetched("/tour/stops", { signal: AbortSignal.timeout(LONGEST) }));
      if (found) exchange(one("#stops"), document.importNode(found, true));
      failed = 0;
    } catch (error) {
      if (error.message === "401") return say("You are no longer signed in. Load the page again to sign in.");
      failed++;
    }
    one("#offline")?.toggleAttribute("hidden", failed < 3);
  }
  const pause = "moving" in one("#stops").dataset ? MOVING : STILL;
  setTimeout(look, Math.min(pause * 2 ** failed, LONGEST));
}

// Only what differs is drawn anew, so that a link keeps the focus and nothing jumps.
function exchange(shown, found) {
  shown.toggleAttribute("data-moving", "moving" in found.dataset);
  const before = shown.querySelectorAll(".stop, .tour-seen");
  const now = found.querySelectorAll(".stop, .tour-seen");
  before.forEach((stop, place) => {
    if (!now[place] || stop.outerHTML === now[place].outerHTML) return;
    const focused = stop.contains(document.activeElement);
    stop.replaceWith(now[place]);
    if (focused) one("a", now[place])?.focus({ preventScroll: true });
  });
  drawn();
}

export function start() {
  if (one("#stops")) setTimeout(look, MOVING);
}
