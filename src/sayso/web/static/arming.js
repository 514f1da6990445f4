// No decision on an ask that the person has not seen: a click or key that was meant for the ask
// before is refused, and a form that is not the one of the ask on screen is never sent.
import { article, deciding, detail, one, onDraw, say } from "./page.js";
import { offline } from "./live.js";

const DELAY = 150; // milliseconds for which a different ask takes no decision
const READING = 2000; // and for which one of high risk takes none by a single key
const root = document.documentElement;
let shown = ""; // which ask, in which version
let since = Infinity; // when it was painted
let loading = null; // the request that will put another ask here
let sending = null; // the form that is on its way
let turn = 0; // how often something appeared

const named = (ask) => (ask ? `${ask.dataset.ask} ${ask.dataset.digest}` : "");

// What the page says and what counts are one thing.
export const armed = () => !("arming" in root.dataset);
export const busy = () => Boolean(sending);

// Calls back once a place was on screen, or is no longer there.
function onceSeen(place, then) {
  if (!place) return then();
  const watch = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting && place.isConnected) return;
    watch.disconnect();
    then();
  });
  watch.observe(place);
}

function appear(told = false) {
  const mine = ++turn;
  since = Infinity;
  root.dataset.arming = "true";
  // What counts is when it could be seen, which is after the next frame.
  const painted = () => {
    if (mine !== turn) return;
    since = performance.now();
    setTimeout(() => { if (mine === turn && !loading) delete root.dataset.arming; }, DELAY);
  };
  const shows = () => onceSeen(told && one(".banner", article() ?? document), painted);
  if (document.hidden) shows();
  else requestAnimationFrame(() => setTimeout(shows));
}

// Whether a key may decide now; says why not.
export function readLongEnough(button) {
  const risky = ["high", "critical"].includes(article()?.dataset.shape);
  const consents = button.name === "option" || ["approve", "edit"].includes(button.value);
  if (!risky || !consents || performance.now() - since >= READING) return true;
  say("High risk: read it first. The key works once it has been open for 2 seconds.");
  return false;
}

function mismatch(form) {
  const ask = form.closest("article.ask");
  if (!ask || ask !== article()) return true;
  const path = `/inbox/${ask.dataset.ask}/decision`;
  const posts = form.getAttribute("hx-post");
  return (
    form.id !== `decide-${ask.dataset.ask}` ||
    form.getAttribute("action")?.split("?")[0] !== path ||
    (posts !== null && posts.split("?")[0] !== path) ||
    one("input[name=seen]", form)?.value !== ask.dataset.digest
  );
}

function refusal(form, button) {
  if (sending) return "The decision is on its way.";
  if (!armed()) return "This ask had only just appeared, so nothing was decided. Press again.";
  if (mismatch(form)) return "This form is not the one of the ask on screen. Load the page again.";
  if (offline()) return "Not connected, so nothing was decided, and nothing is kept for later. Try again when you are.";
  const name = one("input[name=confirm]", form);
  if (name && !name.value.trim() && (button?.name === "option" || button?.value === "approve")) {
    name.focus();
    return "This one is critical. Type the name first.";
  }
  return "";
}

function guard(event) {
  const form = event.target;
  if (!form.id?.startsWith("decide-")) return;
  if (event.submitter?.hasAttribute("formaction")) return; // editing decides nothing
  const words = refusal(form, event.submitter);
  if (!words) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  say(words);
}

const decides = (ctx) => ctx.request.form?.id.startsWith("decide-") && ctx.request.action.endsWith("/decision");
const moves = (ctx) => ctx.request.method === "GET" && ctx.target === detail();

export function start() {
  document.addEventListener("submit", guard, true);
  // Enter in a field is not a decision.
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || field.tagName !== "INPUT" || event.ctrlKey || event.metaKey) return;
    if (field.form === deciding() && field.form) event.preventDefault();
  });
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.request.form?.id.startsWith("decide-")) sending = ctx.request.form;
    if (moves(ctx)) loading = ctx;
    if (moves(ctx) || decides(ctx)) root.dataset.arming = "true";
  });
  // Answers may overtake each other; only the last ask that was gone to appears.
  document.addEventListener("htmx:before:response", (event) => {
    if (moves(event.detail.ctx) && event.detail.ctx !== loading) event.preventDefault();
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (ctx.request.form === sending) sending = null;
    if (ctx === loading) loading = null;
    else if (!decides(ctx)) return;
    appear(ctx.response?.status === 409);
  });
  window.addEventListener("pageshow", () => { sending = null; });
  onDraw(() => {
    const now = named(article());
    if (now !== shown) appear();
    shown = now;
  });
}
