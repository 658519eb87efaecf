// Uses a page of `abide history --format html` as a reader does.
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
    same("packages stand in order", names(), [lab, mail, user]);
    check("each row can be seen", rows().every(visible), "a hidden row");
    check("no row is wider than the window", document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} > ${innerWidth}`);
    same("refused changes are marked", marks(user, "refused").length, 1);
    same("a change without meaning is hidden at first", marks(user, "none").length, 0);
    chip("none").click();
    same("and is shown when it is wanted", marks(user, "none").length, 1);
    chip("none").click();
    same("an alpha breaks without being refused", [marks(lab, "breaking").length, marks(lab, "refused").length], [2, 0]);
    same("what does not link is marked", marks(mail, "unlinked").length, 1);

    type("MAIL");
    same("the filter finds a part of a name", names(), [mail]);
    same("and counts", document.getElementById("found").textContent, "1 of 3 packages");
    type("nowhere");
    same("a filter may find nothing", names(), []);
    check("and says so", visible(document.getElementById("empty")), "no word");
    type("");
    check("and takes it back", !visible(document.getElementById("empty")), "still there");
    for (const verdict of ["compatible", "breaking", "unlinked"]) chip(verdict).click();
    same("verdicts filter packages", names(), [user]);
    same("and marks", marks(user).length, 1);
    for (const verdict of ["compatible", "breaking", "unlinked"]) chip(verdict).click();
    choose("order", "breaks");
    same("the most broken package comes first", names()[0], user);
    choose("order", "name");

    const refused = marks(user, "refused")[0];
    mouse(refused, "mouseover");
    const told = tip.textContent;
    check("hover shows the change", visible(tip), "no tip");
    for (const part of [user, "refused", "1.1.0 → 1.2.0", "required: major", "drop the name", "2023-11-15", "field-removed"]) {
      check(`it tells \`${part}\``, told.includes(part), told);
    }
    const box = tip.getBoundingClientRect();
    check("it stays in the window", box.left >= 0 && box.right <= innerWidth && box.top >= 0, JSON.stringify(box));
    mouse(refused, "mouseout");
    check("it goes with the pointer", !visible(tip), "still there");

    const line = marks(user);
    line[0].focus();
    check("focus shows the change", visible(tip) && tip.textContent.includes("new at 1.0.0"), tip.textContent);
    key("ArrowRight");
    same("an arrow goes to the next", document.activeElement, line[1]);
    check("and tells it", tip.textContent.includes("1.0.0 → 1.1.0"), tip.textContent);
    key("ArrowUp");
    same("and to the package above", document.activeElement.closest(".row").dataset.package, mail);
    document.activeElement.click();
    document.activeElement.blur();
    check("a click keeps it open", visible(tip) && tip.classList.contains("kept"), "gone");
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    check("escape closes it", !visible(tip), "still there");

    const hostile = marks(user).at(-1);
    mouse(hostile, "mouseover");
    check("a hostile subject is text", tip.textContent.includes(subject), tip.textContent);
    mouse(hostile, "mouseout");
    same("and nothing else", [document.title, document.querySelectorAll("img, b[onmouseover], iframe").length], [title, 0]);

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
    same("the end of each name can be read", ends.map((it) => it.title), []);
    check("zooming in spreads the marks", apart() > before * 1.9, `${before} and ${apart()}`);
    document.getElementById("all").click();
    same("and all are back", marks(user).length, line.length);
    choose("spacing", "date");
    check("dates can be the measure, too", rows().length === 3 && document.querySelectorAll("#axis span").length > 0, rows().length);
  }

  async function large() {
    const { packages, most } = window.expected;
    same("all packages are found", document.getElementById("found").textContent, `${packages} of ${packages} packages`);
    timed("a filter", () => type("7"));
    timed("its end", () => type(""));
    timed("a verdict", () => chip("none").click());
    timed("a zoom", () => document.getElementById("closer").click());
    timed("another measure", () => choose("spacing", "commit"));
    check("only what is in view is in the page", document.querySelectorAll("*").length < most, document.querySelectorAll("*").length);
    const first = names()[0];
    scrollTo(0, document.documentElement.scrollHeight);
    dispatchEvent(new Event("scroll"));
    await pause();
    await pause();
    check("scrolling brings the last package", rows().some((row) => +row.dataset.at === packages - 1), names().join());
    check("and takes the first away", !names().includes(first), first);
  }
};
