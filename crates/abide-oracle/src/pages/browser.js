// Runs `used`, which operates the page, and appends the results to the page: a line for each
// check, `ok` or `FAILED`.
addEventListener("load", async () => {
  const lines = [];
  const check = (what, holds, seen) => lines.push(`${holds ? "ok" : "FAILED"} ${what}${holds ? "" : `: ${seen}`}`);
  const same = (what, seen, expected) =>
    check(what, JSON.stringify(seen) === JSON.stringify(expected), `${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`);
  // On quiet cores each takes a few hundred milliseconds at most. The bound leaves room for programs
  // that run beside; a cost that grows with the square of the page is far above it.
  const timed = (what, work) => {
    const begin = performance.now();
    work();
    document.body.getBoundingClientRect();
    const took = performance.now() - begin;
    check(`${what} takes less than three seconds`, took < 3000, `${Math.round(took)} ms`);
  };
  const put = (id, value, event) => {
    const input = document.getElementById(id);
    input.value = value;
    input.dispatchEvent(new Event(event, { bubbles: true }));
  };
  const type = (text) => put("query", text, "input");
  const choose = (id, value) => put(id, value, "change");
  const pause = () => new Promise((resolve) => setTimeout(resolve, 60));
  const visible = (element) => element.checkVisibility() && element.getBoundingClientRect().height > 0;
  try {
    await used({ check, same, timed, type, choose, pause, visible });
  } catch (error) {
    lines.push(`FAILED with ${error.stack}`);
  }
  check("no script throws", !window.thrown.length, window.thrown.join("; "));
  const out = document.createElement("pre");
  out.id = "checks";
  out.textContent = lines.join("\n");
  document.body.append(out);
});
