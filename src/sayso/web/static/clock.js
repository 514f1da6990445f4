// Times stay true while a page stands. How long something is comes from the server's clock; the
// exact moment is a hover away, in the zone of whoever reads it.
import { all, article, onDraw } from "./page.js";

let ahead = 0; // milliseconds by which the server's clock is ahead of ours
export const now = () => Date.now() + ahead;

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

// The same words as the server's.
export function span(length) {
  const minutes = Math.floor(length / 60_000);
  const hours = Math.floor(minutes / 60);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return `${minutes} min`;
  if (hours < 10) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

const past = (at) => (now() - at < 60_000 ? "just now" : span(now() - at));
const WORDS = {
  when: past,
  ago: (at) => (now() - at < 60_000 ? "just now" : `${past(at)} ago`),
  left: (at) => (at > now() ? `${span(at - now())} left` : "time is up"),
  within: (at) => span(Math.max(at - now(), 0)),
  clock: (at) => hour.format(at),
};

function tick() {
  for (const time of all("time[datetime]")) {
    const at = Date.parse(time.dateTime);
    const words = WORDS[time.dataset.form]?.(at);
    if (Number.isNaN(at) || !words) continue;
    if (time.textContent !== words) time.textContent = words;
    const title = exact.format(at);
    if (time.title !== title) time.title = title;
  }
}

// What was drawn just now says what time it was there; the page itself only when it has just come.
let read;
function set() {
  const place = article() ?? (read ? null : document.body);
  const said = Date.parse(place?.dataset.opened ?? document.body.dataset.now);
  if (place && place !== read && !Number.isNaN(said)) ahead = said - Date.now();
  read = place ?? read;
  tick();
}

export function start() {
  onDraw(set);
  setInterval(tick, 10_000);
  document.addEventListener("visibilitychange", tick);
}
