// Uses a page of `abide check --format html` like a reader.
const used = async ({ check, same, timed, type, choose, visible }) => {
  const { findings, hostile, title } = window.expected;
  const shown = () => [...document.querySelectorAll("article")].filter(visible);
  const count = (wanted) => findings.filter(wanted).length;
  const number = (value) => value.toLocaleString("en");
  const found = () => document.getElementById("found").textContent;
  const all = `${number(findings.length)} of ${number(findings.length)}`;

  check("the page has findings", findings.length > 3, findings.length);
  same("every finding is visible", shown().length, findings.length);
  same("every finding is counted", found(), all);
  check("no line is wider than the window", document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} > ${innerWidth}`);
  const words = (text) => text.replaceAll("`", "");
  const told = shown().map((article) => article.querySelector("h3").textContent);
  for (const { message } of findings.slice(0, 20)) {
    check(`it shows \`${message}\``, told.some((text) => text.includes(words(message))), told.join("\n"));
  }
  for (const { path, line } of findings.slice(0, 20)) {
    const file = [...document.querySelectorAll(".file")].find((it) => it.querySelector("h2").textContent.endsWith(path));
    check(`\`${path}\` has line ${line}`, file?.textContent.includes(`line ${line},`), file?.textContent);
  }
  const rules = [...new Set(findings.map((finding) => finding.rule))].sort();
  same("every rule can be chosen", [...document.getElementById("rule").options].slice(1).map((it) => it.value), rules);
  timed("a rule", () => choose("rule", rules[0]));
  same("the findings of other rules are hidden", shown().length, count((it) => it.rule === rules[0]));
  timed("no rule", () => choose("rule", ""));
  const severities = [...new Set(findings.map((finding) => finding.severity))];
  for (const severity of severities) {
    const chip = document.querySelector(`.chip[data-severity="${severity}"]`);
    same(`${severity}s are counted`, chip.querySelector("b").textContent, String(count((it) => it.severity === severity)));
    chip.click();
    same(`${severity}s are hidden`, shown().length, count((it) => it.severity !== severity));
    same("screen readers see that they are off", chip.getAttribute("aria-pressed"), "false");
    chip.click();
  }
  timed("a filter", () => type("GONE"));
  const gone = count((it) => `${it.path} ${it.message}`.toLowerCase().includes("gone"));
  check("the filter ignores case", shown().length >= gone && gone > 0, `${shown().length}, ${gone}`);
  type("no such words anywhere");
  same("a filter without a match hides all findings", shown().length, 0);
  check("and the page says so", visible(document.getElementById("empty")), "no message");
  check("files without a finding are hidden", ![...document.querySelectorAll(".file")].some(visible), "a file");
  timed("no filter", () => type(""));
  same("without a filter all findings are shown", [shown().length, found()], [findings.length, all]);
  const query = document.getElementById("query");
  query.focus();
  query.form.requestSubmit();
  same("the enter key changes nothing", found(), all);
  const first = document.querySelector(".file");
  first.querySelector("summary").click();
  check("a file can be closed", !visible(first.querySelector("article")), "still open");
  first.querySelector("summary").click();
  check("and opened again", visible(first.querySelector("article")), "still closed");
  check("the wrong part of a line is marked", [...document.querySelectorAll("pre mark")].some((mark) => mark.textContent === "Gone"), "no mark");
  if (findings.some((finding) => finding.path.includes("owned"))) {
    check("hostile text is shown as text", document.querySelector("main").textContent.includes(hostile), "it is missing");
  }
  same("hostile text does nothing else", [document.title, document.querySelectorAll("img, iframe").length], [title, 0]);
};
