// The stops of a tour stay true while runs go on. How far a run has come is no event of the journal,
// so the page looks by itself, more often while something moves.
import { fetched, one } from "./page.js";

const MOVING = 1000;
const STILL = 4000;
const LONGEST = 10_000;

async function look() {
  const shown = one("#stops");
  if (!document.hidden) {
    try {
      const found = one("#stops", await fetched("/tour/stops", { signal: AbortSignal.timeout(LONGEST) }));
      if (found) exchange(shown, document.importNode(found, true));
    } catch {
      // the server is away: the next look tries again
    }
  }
  setTimeout(look, "moving" in one("#stops").dataset ? MOVING : STILL);
}

// Only what differs is drawn anew, so that a link keeps the focus and nothing jumps.
function exchange(shown, found) {
  shown.toggleAttribute("data-moving", "moving" in found.dataset);
  const before = shown.querySelectorAll(".stop, .tour-seen");
  const now = found.querySelectorAll(".stop, .tour-seen");
  if (before.length !== now.length) return shown.replaceWith(found);
  before.forEach((stop, place) => {
    if (stop.outerHTML === now[place].outerHTML) return;
    const focused = stop.contains(document.activeElement);
    stop.replaceWith(now[place]);
    if (focused) one("a", now[place])?.focus({ preventScroll: true });
  });
}

export function start() {
  if (one("#stops")) setTimeout(look, MOVING);
}
