"""The script of a page: enlarges figures, reads cells of a diagram, and replaces the page by its newer self.

The page's content security policy allows this script alone, by its digest. The rest of the page is complete without it.
"""

# A page that is rewritten has data-every, the seconds between two rewrites, and data-stamp, the time of this one, in
# its body. Over http, fetch() gets the newer page. A page opened as a file may not be fetched, but it may be loaded
# into a frame, which then sends its text.
SCRIPT = """
"use strict";
(() => {
const FRAME = "normsweep-next", isFile = location.protocol === "file:";
if (isFile && window.name === FRAME && parent !== window) {
  parent.postMessage({page: document.documentElement.outerHTML}, "*");
  return;
}
const body = document.body, main = document.querySelector("main"), script = document.currentScript.textContent;
const byId = id => document.getElementById(id);
const kept = (name, value) => { // in a sandbox there is no storage
  try {
    if (value === undefined) return sessionStorage.getItem(name);
    if (value === null) sessionStorage.removeItem(name); else sessionStorage.setItem(name, value);
  } catch { }
  return null;
};

// ---- figures that can be enlarged ----

const dialog = document.createElement("dialog");
dialog.setAttribute("aria-label", "enlarged figure");
body.append(dialog);
let opener = null;

function fill(figure) {
  const close = document.createElement("button"), shown = document.createElement("div");
  close.type = "button";
  close.className = "close";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  shown.className = "shown";
  for (const child of figure.children)
    if (!child.matches("button.enlarge")) {
      const copy = child.cloneNode(true);
      for (const part of copy.querySelectorAll("[id]")) part.removeAttribute("id");
      shown.append(copy);
    }
  for (const button of shown.querySelectorAll("button.enlarge")) button.remove();
  dialog.dataset.of = figure.id;
  dialog.replaceChildren(close, shown);
}
function enlarge(figure) {
  opener = figure.id;
  fill(figure);
  if (!dialog.open) dialog.showModal();
  kept("enlarged", figure.id);
}
dialog.addEventListener("close", () => {
  kept("enlarged", null);
  dialog.replaceChildren();
  const figure = byId(opener), button = figure && figure.querySelector("button.enlarge");
  if (button) button.focus({preventScroll: true});
});
dialog.addEventListener("click", event => {
  if (event.target === dialog || event.target.closest("img")) dialog.close();
});

// ---- cells of a diagram ----

const place = (edges, at) => edges.findIndex((edge, i) => i > 0 && at <= edge) - 1;
function read(area, event) {
  const box = area.getBoundingClientRect(), data = area.dataset;
  const xs = data.x.split(" ").map(Number), ys = data.y.split(" ").map(Number);
  const column = place(xs, (event.clientX - box.left) / box.width);
  const line = place(ys, 1 - (event.clientY - box.top) / box.height);
  if (column < 0 || line < 0) return null;
  const cell = data.cells.split(" ")[line * (xs.length - 1) + column];
  const [growth, ended, diverged, runs] = cell.split("/"), words = [];
  const say = (label, value) => value && words.push(label ? label + " " + value : value);
  say(data.xLabel, data.xValues.split("\\n")[column]);
  say(data.yLabel, data.yValues.split("\\n")[line]);
  const told = Number(runs) === 0 ? "skipped" : ended + " of " + runs + (runs === "1" ? " run" : " runs") + " ended"
    + (Number(diverged) ? ", " + diverged + " diverged" : "");
  return words.join(", ") + ": " + (growth ? "growth " + growth + ", " : "") + told;
}
let pointer = null;
function tell(event) {
  pointer = {clientX: event.clientX, clientY: event.clientY};
  const area = event.target.closest && event.target.closest(".area[data-cells]");
  for (const reading of document.querySelectorAll(".reading")) {
    const mine = area && reading.closest("figure, dialog").contains(area);
    reading.textContent = mine && read(area, event) || reading.dataset.empty || "";
  }
}
// Under a pointer that rests, the newer page's cell is read.
function tellAgain() {
  const target = pointer && document.elementFromPoint(pointer.clientX, pointer.clientY);
  if (target) tell({target, ...pointer});
}
document.addEventListener("pointermove", tell);
document.addEventListener("pointerdown", tell);

document.addEventListener("click", event => {
  if (dialog.contains(event.target) || !event.target.closest) return;
  const opens = event.target.closest("button.enlarge, figure > img");
  if (opens) enlarge(opens.closest("figure"));
});

// ---- times, in words of the reader's clock ----

const clock = seconds => new Date(1000 * seconds).toLocaleTimeString();
function localise(part) {
  for (const time of part.querySelectorAll("time[data-clock]"))
    time.textContent = clock(Number(time.dataset.clock));
}

// ---- the newer page ----

const sections = new Map();
for (const section of main.children) sections.set(section.id, section.outerHTML);
localise(main);

let seen = Date.now(), heard = false, frame = null, timer = 0;
const every = () => 1000 * Number(body.dataset.every || 0);
const stamp = () => Number(body.dataset.stamp || 0);

function replace(next) {
  const newer = [...next.querySelector("main").children], ids = newer.map(section => section.id).join(" ");
  const focused = document.activeElement && document.activeElement.id, top = window.scrollY;
  const opened = [...main.querySelectorAll("details[open][id]")].map(details => details.id);
  const same = ids === [...main.children].map(section => section.id).join(" ");
  if (!same) main.replaceChildren();
  for (const section of newer) {
    const text = section.outerHTML, old = same && byId(section.id);
    if (old && sections.get(section.id) === text) continue;
    sections.set(section.id, text);
    const mine = document.importNode(section, true);
    localise(mine);
    for (const details of mine.querySelectorAll("details[id]"))
      details.open = details.open || opened.includes(details.id);
    if (old) old.replaceWith(mine); else main.append(mine);
  }
  if (focused && document.activeElement === body && byId(focused)) byId(focused).focus({preventScroll: true});
  if (same) window.scrollTo({top, behavior: "instant"});
  const figure = dialog.open && byId(dialog.dataset.of);
  if (figure) fill(figure); else if (dialog.open) dialog.close();
  tellAgain();
}
function take(text) {
  const next = new DOMParser().parseFromString(text, "text/html"), other = next.querySelector("script");
  if (!next.querySelector("main") || !other || !next.body.dataset.stamp) return;
  heard = true;
  if (other.textContent !== script) return location.reload();
  if (Number(next.body.dataset.stamp) === stamp()) return;
  seen = Date.now();
  replace(next);
  document.title = next.title;
  body.className = next.body.className;
  for (const key of ["every", "stamp"])
    if (key in next.body.dataset) body.dataset[key] = next.body.dataset[key]; else delete body.dataset[key];
  judge();
}
function judge() {
  const banner = byId("stale");
  if (!banner) return;
  const limit = 3 * every() + 10000;
  const silent = every() && (Date.now() - seen > limit || Date.now() - 1000 * stamp() > Math.max(limit, 120000));
  banner.hidden = !silent;
  const text = silent ? "This page has not been rewritten since " + new Date(1000 * stamp()).toLocaleString() +
    ". The command that writes it may have ended, or cannot be reached." : "";
  if (banner.textContent !== text) banner.textContent = text;
}
function load() {
  if (!isFile) {
    fetch(location.href.split("#")[0], {cache: "no-store"}).then(answer => answer.ok ? answer.text() : "")
      .then(text => text && take(text)).catch(() => {});
    return;
  }
  if (!heard && Date.now() - seen > 4 * every()) return location.reload();
  if (frame) frame.remove();
  frame = document.createElement("iframe");
  frame.name = FRAME;
  frame.hidden = true;
  frame.title = "the newer page";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = location.href.split(/[?#]/)[0] + "?" + Date.now();
  body.append(frame);
}
window.addEventListener("message", event => {
  if (frame && event.source === frame.contentWindow && event.data && typeof event.data.page === "string")
    take(event.data.page);
});
function check() {
  clearTimeout(timer);
  if (!every()) return;
  if (!document.hidden) {
    load();
    judge();
  }
  timer = setTimeout(check, every());
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) check(); });
const enlarged = byId(kept("enlarged"));
if (enlarged) enlarge(enlarged);
judge();
if (every()) timer = setTimeout(check, every());
})();
"""
