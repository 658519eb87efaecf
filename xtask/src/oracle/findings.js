// Uses a page of `abide check --format html` as a reader does.
const used = async ({ check, same, timed, type, choose, visible }) => {
  const { findings, hostile, title } = window.expected;
  const shown = () => [...document.querySelectorAll("article")].filter(visible);
  const count = (wanted) => findings.filter(wanted).length;
  const number = (value) => value.toLocaleString("en");
  const found = () => document.getElementById("found").textContent;
  const all = `${number(findings.length)} of ${number(findings.length)}`;

  check("there is something to find", findings.length > 3, findings.length);
  same("every finding can be seen", shown().length, findings.length);
  same("and is counted", found(), all);
  check("no line is wider than the window", document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} > ${innerWidth}`);
  const words = (text) => text.replaceAll("`", "");
  const told = shown().map((article) => article.querySelector("h3").textContent);
  for (const { message } of findings.slice(0, 20)) {
    check(`it says \`${message}\``, told.some((text) => text.includes(words(message))), told.join("\n"));
  }
  for (const { path, line } of findings.slice(0, 20)) {
    const file = [...document.querySelectorAll(".file")].find((it) => it.querySelector("h2").textContent.endsWith(path));
    check(`\`${path}\` has line ${line}`, file?.textContent.includes(`line ${line},`), file?.textContent);
  }
  const rules = [...new Set(findings.map((finding) => finding.rule))].sort();
  same("every rule can be chosen", [...document.getElementById("rule").options].slice(1).map((it) => it.value), rules);
  timed("a rule", () => choose("rule", rules[0]));
  same("and the others go", shown().length, count((it) => it.rule === rules[0]));
  timed("its end", () => choose("rule", ""));
  const severities = [...new Set(findings.map((finding) => finding.severity))];
  for (const severity of severities) {
    const chip = document.querySelector(`.chip[data-severity="${severity}"]`);
    same(`${severity}s are counted`, chip.querySelector("b").textContent, String(count((it) => it.severity === severity)));
    chip.click();
    same(`${severity}s go`, shown().length, count((it) => it.severity !== severity));
    same("as a reader without eyes is told", chip.getAttribute("aria-pressed"), "false");
    chip.click();
  }
  timed("a filter", () => type("GONE"));
  const gone = count((it) => `${it.path} ${it.message}`.toLowerCase().includes("gone"));
  check("words are found whatever their case", shown().length >= gone && gone > 0, `${shown().length}, ${gone}`);
  type("no such words anywhere");
  same("a filter may find nothing", shown().length, 0);
  check("and says so", visible(document.getElementById("empty")), "no word");
  check("files without a finding go too", ![...document.querySelectorAll(".file")].some(visible), "a file");
  timed("its end", () => type(""));
  same("and all are back", [shown().length, found()], [findings.length, all]);
  const query = document.getElementById("query");
  query.focus();
  query.form.requestSubmit();
  same("the enter key leaves the page as it is", found(), all);
  const first = document.querySelector(".file");
  first.querySelector("summary").click();
  check("a file can be closed", !visible(first.querySelector("article")), "still open");
  first.querySelector("summary").click();
  check("and opened", visible(first.querySelector("article")), "still closed");
  check("what is wrong is marked in its line", [...document.querySelectorAll("pre mark")].some((mark) => mark.textContent === "Gone"), "no mark");
  if (findings.some((finding) => finding.path.includes("owned"))) {
    check("a hostile text is text", document.querySelector("main").textContent.includes(hostile), "it is not there");
  }
  same("and nothing else", [document.title, document.querySelectorAll("img, iframe").length], [title, 0]);
};
