// Steps are dragged by their numbers. The order of the list is the order that is posted, so a step
// that was moved here is moved; what is said about it is the server's. Up and down do the same.
import { all, on } from "./page.js";
import { preview } from "./editing.js";

let dragged = null;
let from = null; // what it stood before

function take(event, number) {
  dragged = number.closest("li.step");
  from = dragged.nextElementSibling;
  number.setPointerCapture(event.pointerId);
  dragged.classList.add("dragging");
  event.preventDefault();
}

function follow(event) {
  if (!dragged) return;
  for (const other of all("li.step", dragged.parentElement)) {
    const box = other.getBoundingClientRect();
    if (other === dragged || event.clientY < box.top || event.clientY > box.bottom) continue;
    const below = dragged.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    const half = box.top + box.height / 2;
    if (below && event.clientY > half) other.after(dragged);
    if (!below && event.clientY < half) other.before(dragged);
  }
}

function release() {
  if (!dragged) return;
  const at = all("li.step", dragged.parentElement).indexOf(dragged);
  dragged.classList.remove("dragging");
  if (dragged.nextElementSibling !== from) preview(`Now step ${at + 1}.`);
  dragged = null;
}

export function start() {
  on("pointerdown", ".plan-editor .step:has(button) .step-number", take);
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerup", release);
  document.addEventListener("pointercancel", release);
}
