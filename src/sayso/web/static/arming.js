// No decision on what the person has not seen. Whatever is decided takes no click, tap or key for a
// second after it has appeared, or for two where much is at stake: the server writes on it which of
// them it is (`data-waits`), and marks the buttons that decide (`data-arms`). And a form that is not the one of the ask on screen is never sent.
import { all, article, deciding, detail, on, one, onDraw, say } from "./page.js";
import { offline } from "./live.js";

const root = document.documentElement;
let shown = ""; // which ask, in which version
let loading = null; // the request that will put another ask here
let sending = null; // the form that is on its way
let turn = 0; // how often something appeared

const DECIDES = "[data-arms]:not([disabled])";
const wait = () => 1000 * Math.max(1, ...all("[data-waits]").map((place) => Number(place.dataset.waits)));
const named = (ask) => (ask ? `${ask.dataset.ask} ${ask.dataset.digest} ${Boolean(one(DECIDES, ask))}` : "");

// What the page says and what counts are one thing.
export const armed = () => !("arming" in root.dataset);
export const busy = () => Boolean(sending);

// `coming` until it is painted, `counting` from then on, and nothing once it takes decisions.
function holdOff(state) {
  if (state) root.dataset.arming = state;
  else delete root.dataset.arming;
  for (const button of all(DECIDES)) {
    if (!state) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
    if (!state) button.removeAttribute("aria-describedby");
    else button.setAttribute("aria-describedby", "arms-words");
  }
}

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
  holdOff("coming");
  // What counts is when it could be seen: after the next frame, which a hidden page does not have.
  const painted = () => {
    if (mine !== turn) return;
    holdOff("counting");
    setTimeout(() => { if (mine === turn && !loading) holdOff(""); }, wait());
  };
  requestAnimationFrame(() => setTimeout(() => onceSeen(told && one(".banner", article() ?? document), painted)));
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

// The field for the name of something critical, if the ask on screen wants one.
export const nameField = () => one("input[name=confirm]", deciding() ?? root);

export function wantName() {
  nameField()?.focus();
  say("This one is critical. Type the name, then press the button: no key decides it.");
}

function refusal(form, button) {
  const asks = form.id.startsWith("decide-");
  if (sending) return "The decision is on its way.";
  if (!armed()) return "This had only just appeared, so nothing was decided. Read it, and press again.";
  if (asks && mismatch(form)) return "This form is not the one of the ask on screen. Load the page again.";
  if (offline()) return "Not connected, so nothing was decided, and nothing is kept for later. Try again when you are.";
  const name = asks && one("input[name=confirm]", form);
  if (name && !name.value.trim() && (button?.name === "option" || button?.value === "approve")) {
    name.focus();
    return "This one is critical. Type the name first.";
  }
  return "";
}

function guard(event) {
  const { target: form, submitter } = event;
  if (submitter?.hasAttribute("formaction")) return; // editing decides nothing
  if (!form.id?.startsWith("decide-") && !submitter?.hasAttribute("data-arms")) return;
  const words = refusal(form, submitter);
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
    if (moves(ctx) || decides(ctx)) holdOff("coming");
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
  window.addEventListener("pageshow", (event) => {
    sending = null;
    if (event.persisted) appear(); // it came back as it was left
  });
  // What was folded appears when it is opened: an ask beside its run, the second question of a doubt.
  document.addEventListener("toggle", ({ target }) => { if (target.open && one(DECIDES, target)) appear(); }, true);
  onDraw(() => {
    const now = named(article());
    if (now !== shown) appear();
    else holdOff(root.dataset.arming); // what was drawn anew meanwhile says so too
    shown = now;
  });
  if (one(DECIDES)) appear();
}
