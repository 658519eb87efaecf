// Uses the page of the fleet like an operator, with a server that is made up.
const used = async ({ check, same, timed, type, pause, visible }) => {
  const { clients, ready, hostile, title, large } = window.expected;
  const by = (id) => document.getElementById(id);
  const until = async (what, holds) => {
    for (let turn = 0; turn < 200 && !holds(); turn++) await pause();
    check(what, holds(), document.body.innerText.slice(0, 500));
  };
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)];
  const facts = (id) => [...document.querySelectorAll(`#${id} li`)].map((it) => it.textContent);
  const shown = hostile.replace("\u202e", "\\u{202e}");

  await until("it says that nobody answers", () => by("state").textContent.includes("does not answer"));
  let server = { clients: JSON.stringify(clients), ready };
  let asked = 0;
  window.fetch = async (path) => {
    asked++;
    if (!server) throw new TypeError("nobody is there");
    return { text: async () => server[path] };
  };
  await until("it shows the fleet when the server is there", () => rows("clients").length === clients.length);
  check("it says that the server is live", by("state").textContent.includes("Live"), by("state").textContent);
  same("totals are counted", [...document.querySelectorAll("dd")].map((it) => it.textContent), ["5", "1", "3", "1", "1", "1"]);
  const releases = rows("releases").map((row) => [...row.cells].map((it) => it.textContent));
  same("releases are counted", releases, [["envoy 1.40.0", "v3", "3", "2", "1", "0", "0"], ["envoy 1.37.0", "v3", "2", "1", "0", "1", "1"]]);
  check("what was refused is shown", facts("refused")[0].includes(`no: ${shown}`), facts("refused"));
  check("and who refused it", facts("refused")[0].includes("1 client: "), facts("refused"));
  check("what is held back is shown, and why", facts("held")[0].includes("Cluster shop: these clients do not know `x.Y`"), facts("held"));
  same("what is waited for is shown", facts("waiting").map((it) => it.includes(`endpoints ${shown}: it is nowhere`) || it.includes("health checks of shop: the first round takes at most 3s")), [true, true]);
  check("what is dropped is shown", facts("dropped")[0].includes("envoy.config.cluster.v3.Cluster.new in shop"), facts("dropped"));
  check("who refuses something comes first", rows("clients")[0].textContent.includes("onerror"), rows("clients")[0].textContent);
  check("a refusal is said in words", rows("clients")[0].textContent.includes("Cluster refused"), rows("clients")[0].textContent);
  check("why resources are refused is shown", visible(by("problems")) && by("problems").textContent.includes(`a.yaml:1:1: ${shown}`), by("problems").textContent);
  same("hostile text does nothing", [document.title, document.querySelectorAll("img, iframe").length], [title, 0]);
  check("no line is wider than the window", document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} > ${innerWidth}`);

  // Keyboard and screen readers.
  const stops = [...document.querySelectorAll("button, input, a[href], [tabindex='0']")].filter(visible);
  same("everything that can be used or scrolled is reached by keyboard", stops.map((it) => it.id || it.getAttribute("aria-labelledby")), ["pause", "releases-title", "query", "clients-title"]);
  const named = (it) => it.getAttribute("aria-labelledby") ? by(it.getAttribute("aria-labelledby"))?.textContent : it.textContent || it.labels?.[0]?.textContent;
  check("and has a name", stops.every(named), stops.filter((it) => !named(it)).map((it) => it.outerHTML));
  check("rows and columns have headers", [...document.querySelectorAll("tbody th, thead th")].every((it) => ["row", "col"].includes(it.scope)), "a header without a scope");
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map((it) => it / 255).map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (it) => {
    const color = it ? getComputedStyle(it).backgroundColor : "rgb(255, 255, 255)";
    return /, 0\)$/.test(color) ? behind(it.parentElement) : color;
  };
  const contrast = (it) => {
    const [low, high] = [luminance(getComputedStyle(it).color), luminance(behind(it))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = [...document.querySelectorAll("main *, header *")].filter((it) => visible(it) && [...it.childNodes].some((child) => child.nodeType === 3 && child.data.trim()));
  const faint = texts.filter((it) => contrast(it) < 4.5);
  check("every text has a contrast of 4.5", texts.length > 30 && !faint.length, faint.map((it) => `${contrast(it).toFixed(1)} ${it.outerHTML.slice(0, 80)}`));

  type("OLD 1.37");
  same("words find clients, in any case", [rows("clients").length, by("found").textContent], [2, "2 clients"]);
  type("no such client");
  same("nothing may be found", [rows("clients").length, by("found").textContent], [0, "0 clients"]);
  type("");

  // It follows the server.
  server = { clients: JSON.stringify(clients.slice(0, 2)), ready: "LIVE\n" };
  await until("who went is gone", () => rows("clients").length === 2);
  same("nothing is refused any more", [visible(by("problems")), facts("refused"), facts("waiting"), facts("held"), facts("dropped")], [false, ["No client refuses anything."], ["No client waits for anything."], ["Nothing is held back."], ["Every client gets every field."]]);
  server = { clients: "[]\n", ready: "NOT READY\nnothing is served yet\n" };
  await until("an empty fleet is said", () => by("releases").textContent.includes("No client is connected."));
  check("a server that is not ready is said", by("state").textContent.includes("Not ready") && by("problems").textContent.includes("nothing is served yet"), by("state").textContent);
  server = null;
  await until("a server that went is said", () => by("state").textContent.includes("does not answer"));
  by("pause").click();
  same("it can be paused", by("pause").getAttribute("aria-pressed"), "true");
  const before = asked;
  for (let turn = 0; turn < 60; turn++) await pause();
  same("and asks nothing then", asked, before);
  const many = Array.from({ length: large }, (_, at) => ({ ...clients[at % clients.length], node: `${at}` }));
  server = { clients: JSON.stringify(many), ready };
  by("pause").click();
  await until("a large fleet is counted", () => document.querySelector("dd").textContent === large.toLocaleString("en"));
  same("and the first of it are shown", [rows("clients").length, by("found").textContent], [200, `200 of ${large.toLocaleString("en")} are shown`]);
  timed("a search of it", () => type("9999"));
  same("it finds the one", rows("clients").length, 1);
};
