// Tabs: Rendered, Source, Changes; Form, JSON. And texts that are not fully shown until opened.
import { all, article, nothing, on, onDraw, one } from "./page.js";

export function choose(tab, focus = false) {
  for (const other of all("[role=tab]", tab.closest("[role=tablist]"))) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    const panel = document.getElementById(other.getAttribute("aria-controls"));
    if (panel) panel.hidden = !chosen;
  }
  if (focus) tab.focus();
  tab.dispatchEvent(new CustomEvent("sayso:tab", { bubbles: true }));
}

// The bar says so while a long text has never been opened.
function clamped() {
  const hidden = all("details.clamp:not([data-seen])", article() ?? nothing);
  const note = one("#detail [data-unread]");
  if (note) note.hidden = !hidden.length;
}

export function start() {
  on("click", "[role=tab]", (event, tab) => {
    event.preventDefault();
    choose(tab);
  });
  on("keydown", "[role=tab]", (event, tab) => {
    const tabs = all("[role=tab]", tab.closest("[role=tablist]"));
    const to = { ArrowRight: tabs.indexOf(tab) + 1, ArrowLeft: tabs.indexOf(tab) - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(tabs.at(to % tabs.length), true);
  });
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches?.("details.clamp") || !target.open) return;
    target.dataset.seen = "";
    clamped();
  }, true);
  onDraw(clamped);
}
