// What was just decided can be taken back for as long as it is held.
import { detail, one, onDraw, say } from "./page.js";
import { now } from "./clock.js";

function tick() {
  const body = one("#toast [data-until]");
  if (!body) return;
  const left = Date.parse(body.dataset.until) - now();
  if (!(left > 0)) {
    if (body.contains(document.activeElement)) detail()?.focus({ preventScroll: true });
    return body.remove();
  }
  const place = one(".toast-left", body);
  // Seconds go by silently: a status is read out when it comes, not while it counts.
  place?.setAttribute("aria-hidden", "true");
  if (place) place.textContent = `${Math.ceil(left / 1000)} s`;
}

export function start() {
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (!ctx.request.action?.endsWith("/take-back") || ctx.response?.status >= 400) return;
    one("#toast [data-until]")?.remove();
    say("Taken back. It waits for a decision again.");
  });
  onDraw(tick);
  setInterval(tick, 250);
}
