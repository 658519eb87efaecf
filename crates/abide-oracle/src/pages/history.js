// Uses a page of `abide history --format html` like a reader.
const used = async ({ check, same, timed, type, choose, pause, visible }) => {
  const rows = () => [...document.querySelectorAll(".row")];
  const names = () => rows().map((row) => row.dataset.package);
  const marks = (name, verdict) => rows().filter((row) => row.dataset.package === name)
    .flatMap((row) => [...row.querySelectorAll(verdict ? `.mark[data-verdict="${verdict}"]` : ".mark")]);
  const tip = document.getElementById("tip");
  const chip = (verdict) => document.querySelector(`.chip[data-verdict="${verdict}"]`);
  const mouse = (mark, kind) => mark.dispatchEvent(new MouseEvent(kind, { bubbles: true }));
  const key = (name) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  if (window.expected.large) await large(); else await small();

  async function small() {
    const { user, mail, lab, subject, title } = window.expected;
    choose("spacing", "commit");
    same("packages are sorted", names(), [lab, mail, user]);
    check("every row is visible", rows().every(visible), "a hidden row");
    check("no row is wider than the window", document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} > ${innerWidth}`);
    same("refused changes are marked", marks(user, "refused").length, 1);
    same("a change that needs no bump is hidden at first", marks(user, "none").length, 0);
    chip("none").click();
    same("and is shown after a click", marks(user, "none").length, 1);
    chip("none").click();
    same("a break in an alpha is not refused", [marks(lab, "breaking").length, marks(lab, "refused").length], [2, 0]);
    same("a commit that does not link is marked", marks(mail, "unlinked").length, 1);

    type("MAIL");
    same("the filter matches a part of a name", names(), [mail]);
    same("and counts the packages", document.getElementById("found").textContent, "1 of 3 packages");
    type("nowhere");
    same("a filter without a match hides all packages", names(), []);
    check("and the page says so", visible(document.getElementById("empty")), "no message");
    type("");
    check("and stops when the filter is cleared", !visible(document.getElementById("empty")), "still there");
    for (const verdict of ["compatible", "breaking", "unlinked"]) chip(verdict).click();
    same("verdicts filter packages", names(), [user]);
    same("and their marks", marks(user).length, 1);
    for (const verdict of ["compatible", "breaking", "unlinked"]) chip(verdict).click();
    choose("order", "breaks");
    same("the package with most breaks comes first", names()[0], user);
    choose("order", "name");

    const refused = marks(user, "refused")[0];
    mouse(refused, "mouseover");
    const told = tip.textContent;
    check("hover shows the change", visible(tip), "no tip");
    for (const part of [user, "refused", "1.1.0 → 1.2.0", "required: major", "drop the name", "2023-11-15", "field-removed"]) {
      check(`the tip contains \`${part}\``, told.includes(part), told);
    }
    const box = tip.getBoundingClientRect();
    check("the tip stays in the window", box.left >= 0 && box.right <= innerWidth && box.top >= 0, JSON.stringify(box));
    mouse(refused, "mouseout");
    check("the tip closes when the pointer leaves", !visible(tip), "still there");

    const line = marks(user);
    line[0].focus();
    check("focus shows the change", visible(tip) && tip.textContent.includes("new at 1.0.0"), tip.textContent);
    key("ArrowRight");
    same("an arrow key moves to the next mark", document.activeElement, line[1]);
    check("and shows its change", tip.textContent.includes("1.0.0 → 1.1.0"), tip.textContent);
    key("ArrowUp");
    same("the up arrow moves to the package above", document.activeElement.closest(".row").dataset.package, mail);
    document.activeElement.click();
    document.activeElement.blur();
    check("a click keeps it open", visible(tip) && tip.classList.contains("kept"), "gone");
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    check("escape closes it", !visible(tip), "still there");

    const hostile = marks(user).at(-1);
    mouse(hostile, "mouseover");
    check("a hostile subject is shown as text", tip.textContent.includes(subject), tip.textContent);
    mouse(hostile, "mouseout");
    same("a hostile subject does nothing else", [document.title, document.querySelectorAll("img, b[onmouseover], iframe").length], [title, 0]);

    const apart = () => {
      const [one, other] = marks(mail).slice(-2).map((mark) => parseFloat(mark.style.left));
      return other - one;
    };
    const before = apart();
    document.getElementById("closer").click();
    await pause();
    const edge = document.getElementById("axis").getBoundingClientRect().right;
    const dates = [...document.querySelectorAll("#axis span")];
    check("no date is cut off", dates.length > 0 && dates.every((it) => it.getBoundingClientRect().right <= edge), dates.map((it) => it.textContent).join());
    const ends = [...document.querySelectorAll(".label")].filter((it) => {
      const name = it.querySelector("bdi").getBoundingClientRect();
      return name.right > it.getBoundingClientRect().right + 1;
    });
    same("the end of every name is visible", ends.map((it) => it.title), []);
    check("zooming in spreads the marks", apart() > before * 1.9, `${before} and ${apart()}`);
    document.getElementById("all").click();
    same("and `all` shows all marks again", marks(user).length, line.length);
    choose("spacing", "date");
    check("spacing by date works", rows().length === 3 && document.querySelectorAll("#axis span").length > 0, rows().length);
  }

  async function large() {
    const { packages, most } = window.expected;
    same("all packages are counted", document.getElementById("found").textContent, `${packages} of ${packages} packages`);
    timed("a filter", () => type("7"));
    timed("no filter", () => type(""));
    timed("a verdict", () => chip("none").click());
    timed("a zoom", () => document.getElementById("closer").click());
    timed("another spacing", () => choose("spacing", "commit"));
    check("the page only contains what is in view", document.querySelectorAll("*").length < most, document.querySelectorAll("*").length);
    const first = names()[0];
    scrollTo(0, document.documentElement.scrollHeight);
    dispatchEvent(new Event("scroll"));
    await pause();
    await pause();
    check("scrolling adds the last package", rows().some((row) => +row.dataset.at === packages - 1), names().join());
    check("and removes the first", !names().includes(first), first);
  }
};
