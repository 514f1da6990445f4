// Several asks at once: only those that may be, only of one kind, and it says why not.
import { all, on, onDraw, one, say } from "./page.js";

export const picked = () => all("#queue input.pick:checked");

function shown() {
  const count = picked().length;
  for (const place of all("[data-picked]")) place.textContent = count;
  document.documentElement.toggleAttribute("data-picking", count > 0);
  for (const row of all("#queue .row")) row.toggleAttribute("data-selected", Boolean(one("input.pick:checked", row)));
}

function refused(box) {
  const row = box.closest(".row");
  const other = picked().map((pick) => pick.closest(".row")).find((one) => one !== row && one.dataset.kind !== row.dataset.kind);
  return other ? `Only asks of one kind are decided together: you have selected a ${other.dataset.kind}, and this is a ${row.dataset.kind}.` : "";
}

// Why there is no box beside an ask; the same reasons as on the page of several (bulk.py).
function alone({ kind, shape }) {
  if (["high", "critical"].includes(shape)) return "Asks of high risk are decided one by one.";
  if (!["action", "notice", "feedback"].includes(kind)) return `A ${kind} is decided by itself.`;
  if (kind === "action" && shape === "none") return "Nobody has said how risky this one is, so it is decided by itself.";
  return "This one cannot be decided together with others.";
}

export function pick(row) {
  if (!row) return;
  const box = one("input.pick", row);
  if (box) return box.click();
  say(alone(row.dataset));
}

export function unpick() {
  const boxes = picked();
  for (const box of boxes) box.checked = false;
  shown();
  return boxes.length > 0;
}

export function start() {
  on("change", "input.pick", (_, box) => {
    const words = box.checked ? refused(box) : "";
    if (words) box.checked = false;
    shown();
    say(words || (picked().length ? `${picked().length} selected: the keys A and R are for them.` : "Nothing is selected."));
  });
  on("click", "[data-unpick]", unpick);
  onDraw(shown);
}
