"use strict";
// Between two questions, in milliseconds; a large fleet is asked for less often.
const PAUSE = 2000;
// So many clients and names are shown; the rest is counted.
const MOST_CLIENTS = 200, MOST_FACTS = 50, MOST_NAMES = 5;

const by = (id) => document.getElementById(id);
let clients = [];

// Texts of clients are hostile until shown: never markup, and nothing that turns the line around.
const shown = (text) =>
  String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (it) => `\\u{${it.codePointAt(0).toString(16)}}`);
const count = (number) => number.toLocaleString("en");
const many = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;

// An element with a class, and children or texts in it.
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.map((it) => (it instanceof Node ? it : shown(it))));
  return element;
}
function cell(tag, name, text, scope) {
  const element = make(tag, name, make("bdi", "", text));
  if (scope) element.scope = scope;
  return element;
}

// Such as `Cluster` of `type.googleapis.com/envoy.config.cluster.v3.Cluster`.
const brief = (url) => url.split(/[/.]/).pop();
const types = (client) => Object.entries(client.types);
function state(type) {
  if (type.nacked) return "refused";
  if (type.held_back.length) return "held back";
  return type.sent === type.acked ? "up to date" : "not accepted yet";
}
const COLORS = { "refused": "bad", "held back": "wait", "not accepted yet": "wait", "up to date": "good" };
const SIGNS = { "refused": "✕", "held back": "‖", "not accepted yet": "…", "up to date": "✓" };
const release = (client) => client.user_agent || "says no release";
const has = (client, test) => types(client).some(([, type]) => test(type));
const refuses = (client) => has(client, (it) => it.nacked);
const waits = (client) => has(client, (it) => it.held_back.length);
const starts = (client) => !!client.initialisation && !["initialised", "answered"].includes(client.initialisation.phase);
// The certificate says more than an address does.
const origin = (client) => [client.certificate && client.certificate.subject, client.peer].filter(Boolean).join(", ");
const since = (client) => (client.since || "").replace("T", " ").replace(/(\.\d+)?Z$/, "");
function bytes(number) {
  const unit = ["B", "KB", "MB", "GB"].findIndex((_, at) => number < 1000 ** (at + 1) || at === 3);
  return `${(number / 1000 ** unit).toLocaleString("en", { maximumFractionDigits: 1 })} ${["B", "KB", "MB", "GB"][unit]}`;
}
const misses = (client) => has(client, (it) => it.dropped.length);
const fits = (client) => types(client).every(([, it]) => state(it) === "up to date");

// Groups of what belongs together, the largest first.
function grouped(pairs) {
  const groups = new Map();
  for (const [key, value] of pairs) {
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(value);
  }
  return [...groups].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
}
function names(of) {
  const all = [...new Set(of)];
  const more = all.length - MOST_NAMES;
  return all.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}
const nodes = (of) => names(of.map((it) => it.node || "a client without a node id"));

function facts(id, nothing, groups, fact) {
  const items = groups.slice(0, MOST_FACTS).map(([, members]) => make("li", "", ...fact(members)));
  if (groups.length > MOST_FACTS) items.push(make("li", "none", `and ${count(groups.length - MOST_FACTS)} more`));
  by(id).replaceChildren(...(items.length ? items : [make("li", "none", nothing)]));
}

function showTotals() {
  const total = (what, test) => make("div", "", make("dt", "", what), make("dd", "", count(clients.filter(test).length)));
  by("totals").replaceChildren(
    total("Streams", () => true), total("Starting", starts), total("Up to date", fits), total("Refuse something", refuses),
    total("Are held back", waits), total("Miss fields", misses));
}

function showReleases() {
  const groups = grouped(clients.map((it) => [`${release(it)}\n${it.transport}`, it]));
  const rows = groups.slice(0, MOST_FACTS).map(([, members]) => {
    const number = (test) => make("td", "number", count(members.filter(test).length));
    return make("tr", "", cell("th", "", release(members[0]), "row"), make("td", "", members[0].transport),
      number(() => true), number(fits), number(refuses), number(waits), number(misses));
  });
  if (!rows.length) {
    const nobody = make("td", "none", "No client is connected.");
    nobody.colSpan = 7;
    rows.push(make("tr", "", nobody));
  }
  if (groups.length > MOST_FACTS) {
    const rest = make("td", "none", `and ${many(groups.length - MOST_FACTS, "more release")}`);
    rest.colSpan = 7;
    rows.push(make("tr", "", rest));
  }
  by("releases").tBodies[0].replaceChildren(...rows);
}

function showFacts() {
  const all = clients.flatMap((client) => types(client).map(([url, type]) => ({ client, url, type })));
  const who = (members) => make("p", "who", `${many(new Set(members.map((it) => it.client)).size, "client")}: ${nodes(members.map((it) => it.client))}`);
  const refused = all.filter((it) => it.type.nacked);
  facts("refused", "No client refuses anything.",
    grouped(refused.map((it) => [`${it.url}\n${it.type.nacked.version}\n${it.type.nacked.message}`, it])),
    (members) => [make("strong", "bad", `✕ ${brief(members[0].url)}`), ` in version ${members[0].type.nacked.version}`,
      make("pre", "", members[0].type.nacked.message), who(members)]);
  const waiting = clients.filter((it) => it.initialisation).flatMap((client) => [
    ...client.initialisation.waits_for.map((it) => ({ client, what: `${it.for} ${it.name ?? "(all)"}`, why: it.reason })),
    ...client.initialisation.health_checks.map((it) => ({ client, what: `health checks of ${it.cluster}`, why: `the first round takes at most ${it.at_most}` })),
  ]);
  facts("waiting", "No client waits for anything.",
    grouped(waiting.map((it) => [`${it.what}\n${it.why}`, it])),
    (members) => [make("strong", "wait", `‖ ${members[0].what}`), `: ${members[0].why}`, who(members)]);
  const held = all.flatMap((it) => it.type.held_back.map((what) => ({ ...it, what })));
  facts("held", "Nothing is held back.",
    grouped(held.map((it) => [`${it.url}\n${it.what.name}\n${it.what.reason}`, it])),
    (members) => [make("strong", "wait", `‖ ${brief(members[0].url)} ${members[0].what.name}`), `: ${members[0].what.reason}`, who(members)]);
  const dropped = all.flatMap((it) => it.type.dropped.map((what) => ({ ...it, what })));
  facts("dropped", "Every client gets every field.", grouped(dropped.map((it) => [it.what.field, it])),
    (members) => [make("strong", "", members[0].what.field), ` in ${names(members.map((it) => it.what.name))}`, who(members)]);
}

function showClients() {
  const words = by("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (it) => `${it.node} ${it.cluster} ${it.user_agent} ${it.transport} ${origin(it)}`.toLowerCase();
  const found = clients.filter((it) => words.every((word) => text(it).includes(word)));
  // Who needs a look comes first.
  const rank = (it) => (refuses(it) ? 0 : waits(it) ? 1 : fits(it) ? 3 : 2);
  const ranked = found.map((it) => [rank(it), it]).sort(([a], [b]) => a - b).slice(0, MOST_CLIENTS);
  const rows = ranked.map(([, client]) => {
    const list = make("ul", "types", ...types(client).map(([url, type]) => {
      const its = state(type);
      return make("li", COLORS[its], `${SIGNS[its]} ${brief(url)} ${its}`);
    }));
    return make("tr", "", cell("th", "", client.node || "(no id)", "row"), cell("td", "", client.cluster), cell("td", "", release(client)),
      make("td", "", [client.transport, client.variant].filter(Boolean).join(" ")), cell("td", "", origin(client)),
      make("td", "", since(client)), make("td", "number", client.counts ? bytes(client.counts.bytes) : ""), make("td", "", list));
  });
  by("clients").tBodies[0].replaceChildren(...rows);
  const said = found.length > rows.length ? `${count(rows.length)} of ${count(found.length)} are shown` : many(found.length, "client");
  if (by("found").textContent !== said) by("found").textContent = said;
}

function showProblems(ready) {
  const [, ...lines] = ready.trimEnd().split("\n");
  by("problems").hidden = !lines.length;
  const isEmpty = ready.startsWith("NOT READY");
  by("problems-title").textContent = isEmpty ? "Clients may not come yet" : "The newest resources are refused";
  by("problems").querySelector("p").hidden = isEmpty;
  by("problems").querySelector("ul").replaceChildren(...lines.slice(0, MOST_FACTS).map((line) => make("li", "", line)));
}

function say(text, name) {
  const state = by("state");
  // A screen reader reads every change aloud, so only what is new is one.
  if (state.textContent !== text) state.textContent = text;
  state.className = name;
}

async function text(path) {
  const answer = await fetch(path, { cache: "no-store" });
  return answer.text();
}

let before = "";
async function look() {
  const begin = performance.now();
  try {
    const [asked, ready] = await Promise.all([text("clients"), text("ready")]);
    if (asked + ready !== before) {
      clients = JSON.parse(asked);
      before = asked + ready;
      showProblems(ready);
      showTotals();
      showReleases();
      showFacts();
      showClients();
    }
    if (ready.startsWith("LIVE")) say("✓ Live: clients may come", "good");
    else if (ready.startsWith("DRAINING")) say(`✕ ${ready.split("\n")[0]}`, "bad");
    else say("✕ Not ready", "bad");
  } catch {
    say("✕ The server does not answer; what is shown was so before. Asking again.", "bad");
  }
  return Math.max(PAUSE, 5 * (performance.now() - begin));
}

let isPaused = false;
async function watch() {
  const pause = isPaused || document.hidden ? PAUSE : await look();
  setTimeout(watch, pause);
}

by("query").addEventListener("input", showClients);
by("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  by("pause").setAttribute("aria-pressed", String(isPaused));
  if (isPaused) say("‖ Paused", "wait");
});
watch();
