// What was decided can be taken back for as long as it is held: every one of them stands in the tray.
import { all, detail, fetched, on, one, onDraw, onScreen, say } from "./page.js";
import { now, span } from "./clock.js";
import { dirty } from "./editing.js";

const IN_SECONDS = 90_000; // milliseconds up to which seconds are counted
const tray = () => one("#held");

function tick() {
  for (const line of all("#held [data-until]")) {
    const left = Date.parse(line.dataset.until) - now();
    const place = one(".held-left", line);
    const words = left > IN_SECONDS ? span(left) : `${Math.ceil(left / 1000)} s`;
    // Seconds go by silently: a status is read out when it comes, not while it counts.
    place?.setAttribute("aria-hidden", "true");
    if (place && place.textContent !== words) place.textContent = words;
    if (!(left > 0)) over(line);
  }
  if (tray()) tray().hidden = !one("#held [data-until]");
  // On a narrow screen it stands above the bar, however high that is.
  const bar = one("#detail .bar");
  document.documentElement.style.setProperty("--above", `${bar?.checkVisibility() ? bar.offsetHeight : 0}px`);
}

function over(line) {
  if (line.contains(document.activeElement)) detail()?.focus({ preventScroll: true });
  line.remove();
}

// The tray as the server has it: something was decided or taken back elsewhere.
export function meetHeld(found) {
  const shown = tray();
  if (!found || !shown || shown.contains(document.activeElement)) return;
  const of = (place) => all("[data-until]", place).map((line) => `${line.dataset.ask} ${line.dataset.until}`).join();
  if (of(shown) === of(found)) return;
  const made = document.importNode(found, true);
  shown.replaceWith(made);
  window.htmx?.process(made);
  tick();
}

// Whoever is in the midst of something else stays there: the ask is only put back into the list.
async function aside(event, form) {
  if (!dirty() || form.action.includes(`/inbox/${onScreen()}/`)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const line = form.closest("[data-until]");
  try {
    await fetched(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    over(line);
    say("Taken back. It waits in the list.");
  } catch {
    say("It was not taken back: the server refused it, or was not reached.");
  }
}

export function start() {
  on("submit", "#held form.undo[hx-post]", aside, true);
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (!ctx.request.action?.endsWith("/take-back") || ctx.response?.status >= 400) return;
    say("Taken back. It waits for a decision again.");
  });
  onDraw(tick);
  setInterval(tick, 250);
}
