"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const data = JSON.parse(byId("data").textContent);
  const NONE = 0, BREAKING = 2, REFUSED = 3;
  // If several changes share a mark, it shows the most severe: refused, breaking, unlinked,
  // compatible, none.
  const weight = [0, 1, 3, 4, 2];
  const commits = data.commits.map(([id, seconds, subject]) => ({ id, seconds, subject }));
  const packages = data.packages.map(([name, events]) => {
    const counts = data.verdicts.map(() => 0);
    for (const event of events) counts[event[1]]++;
    return { name, key: name.toLowerCase(), events, counts, latest: events[events.length - 1][0] };
  });
  const marked = ([commit, verdict, from, to, required, recorded, hash, reasons, all]) =>
    ({ commit, verdict, from, to, required, recorded, hash, reasons, all });

  const wanted = data.verdicts.map((_, verdict) => verdict !== NONE);
  const narrow = matchMedia("(max-width: 720px)");
  let shown = packages;
  let byDate = true;
  let low = 0, high = 1;

  // The position of a commit in the whole timeline, from 0 to 1.
  let first = Infinity, last = -Infinity;
  for (const { seconds } of commits) {
    first = Math.min(first, seconds);
    last = Math.max(last, seconds);
  }
  const place = (commit) => {
    if (byDate && last > first) return (commits[commit].seconds - first) / (last - first);
    return commits.length > 1 ? commit / (commits.length - 1) : 0.5;
  };
  const margin = 14;
  const width = () => byId("axis").clientWidth;
  const x = (commit) => margin + (place(commit) - low) / (high - low) * (width() - 2 * margin);

  // One button per verdict, to show or hide its changes.
  const totals = data.verdicts.map((_, verdict) => packages.reduce((sum, it) => sum + it.counts[verdict], 0));
  data.verdicts.forEach((word, verdict) => {
    const chip = make("button", undefined, `chip v${verdict}`);
    chip.type = "button";
    chip.dataset.verdict = word;
    chip.setAttribute("aria-pressed", wanted[verdict]);
    const text = make("span", word);
    text.style.color = "var(--ink)";
    chip.append(make("span", undefined, "shape"), text, make("b", totals[verdict].toLocaleString("en")));
    chip.onclick = () => {
      wanted[verdict] = !wanted[verdict];
      chip.setAttribute("aria-pressed", wanted[verdict]);
      filter();
    };
    byId("verdicts").append(chip);
  });

  function filter() {
    const terms = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (it) => it.counts.some((count, verdict) => count && wanted[verdict]);
    shown = packages.filter((it) => terms.every((term) => it.key.includes(term)) && has(it));
    const breaks = (it) => it.counts[REFUSED] * 1e6 + it.counts[BREAKING];
    const order = byId("order").value;
    if (order === "breaks") shown.sort((a, b) => breaks(b) - breaks(a));
    if (order === "latest") shown.sort((a, b) => b.latest - a.latest);
    const noun = packages.length === 1 ? "package" : "packages";
    byId("found").textContent = `${shown.length} of ${packages.length} ${noun}`;
    byId("empty").hidden = shown.length > 0;
    close();
    bars();
    draw();
  }

  // The overview: how many changes happened when.
  function bars() {
    const count = Math.max(1, Math.min(240, Math.floor(width() / 5)));
    const sums = Array.from({ length: count }, () => [0, 0, 0, 0, 0]);
    const inner = width() - 2 * margin;
    for (const it of shown) {
      for (const [commit, verdict] of it.events) {
        if (!wanted[verdict]) continue;
        const at = (margin + place(commit) * inner) / width();
        sums[Math.min(count - 1, Math.floor(at * count))][verdict]++;
      }
    }
    // Square roots keep a single change visible next to many.
    const most = Math.sqrt(Math.max(1, ...sums.map((it) => it.reduce((a, b) => a + b))));
    byId("bars").replaceChildren(...sums.map((sum) => {
      const bar = make("div");
      const all = sum.reduce((a, b) => a + b);
      for (const verdict of [1, 0, 4, 2, 3]) {
        if (!sum[verdict]) continue;
        const part = make("i", undefined, `b${verdict}`);
        part.style.height = `${Math.sqrt(all) / most * 92 * sum[verdict] / all}%`;
        bar.append(part);
      }
      return bar;
    }));
  }

  const date = (seconds, length) => new Date(seconds * 1000).toISOString().slice(0, length).replace("T", " ");

  function axis() {
    const ticks = [];
    const room = (letters) => Math.max(2, Math.floor(width() / (7 * letters + 16)));
    if (!commits.length) return;
    if (byDate && last > first) {
      const [from, to] = [first + low * (last - first), first + high * (last - first)];
      const day = 86400;
      const steps = [60, 600, 3600, 6 * 3600, day, 2 * day, 7 * day, 14 * day];
      const step = steps.find((it) => (to - from) / it <= room(it < day ? 16 : 10));
      const at = (seconds, length) => {
        const x = margin + ((seconds - first) / (last - first) - low) / (high - low) * (width() - 2 * margin);
        ticks.push([x, date(seconds, length)]);
      };
      if (step) {
        for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) at(tick, step < day ? 16 : 10);
      } else {
        const months = (to - from) / (30.4 * day);
        const by = [1, 3, 6, 12, 24, 60, 120].find((it) => months / it <= room(it % 12 ? 7 : 4)) || 240;
        const begin = new Date(from * 1000);
        for (let month = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / by) * by; ; month += by) {
          const tick = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1000;
          if (tick > to) break;
          if (tick >= from) at(tick, by % 12 ? 7 : 4);
        }
      }
    }
    if (!ticks.length) {
      const end = commits.length - 1;
      const count = room(10);
      for (let tick = 0; tick < count; tick++) {
        const part = low + (tick + 0.1) / count * (high - low);
        const commit = Math.round(part * end);
        ticks.push([x(commit), date(commits[commit].seconds, 10)]);
      }
    }
    // Leave out a date that does not fit: cut off, it would read as another date.
    const fits = ([at, text]) => at + 8 + 7 * text.length <= width();
    byId("axis").replaceChildren(...ticks.filter(fits).map(([at, text]) => {
      const tick = make("span", text);
      tick.style.left = `${at}px`;
      return tick;
    }));
    const inner = (width() - 2 * margin) / width();
    const frame = byId("window");
    frame.hidden = low === 0 && high === 1;
    frame.style.left = `${(margin / width() + low * inner) * 100}%`;
    frame.style.width = `${(high - low) * inner * 100}%`;
  }

  // Only rows in view are in the page, and changes at the same place share a mark.
  const height = () => (narrow.matches ? 58 : 30);
  const drawn = new Map();

  function draw() {
    byId("rows").style.setProperty("--row", `${height()}px`);
    byId("rows").style.height = `${shown.length * height()}px`;
    for (const row of drawn.values()) row.remove();
    drawn.clear();
    axis();
    scroll();
  }

  function scroll() {
    const rows = byId("rows");
    const above = -rows.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(above / height()) - 6);
    const to = Math.min(shown.length, Math.ceil((above + innerHeight) / height()) + 6);
    for (const [at, row] of drawn) {
      if ((at < from || at >= to) && !row.contains(document.activeElement)) {
        row.remove();
        drawn.delete(at);
      }
    }
    for (let at = from; at < to; at++) {
      if (drawn.has(at)) continue;
      const row = line(at);
      drawn.set(at, row);
      rows.append(row);
    }
    if (!rows.querySelector('.mark[tabindex="0"]')) {
      const mark = rows.querySelector(".mark");
      if (mark) mark.tabIndex = 0;
    }
  }

  function line(at) {
    const it = shown[at];
    const row = make("div", undefined, "row");
    row.dataset.package = it.name;
    row.dataset.at = at;
    row.style.top = `${at * height()}px`;
    const label = make("div", undefined, "label");
    const name = make("span");
    name.append(make("bdi", it.name || "(no package)"));
    label.title = it.name;
    label.append(name);
    const broken = it.counts[REFUSED];
    if (broken) {
      const badge = make("em", `▲${broken}`);
      badge.title = broken === 1 ? "1 refused change" : `${broken} refused changes`;
      label.append(badge);
    }
    label.append(make("small", it.events[it.events.length - 1][3] || "gone"));
    const lane = make("div", undefined, "lane");
    lane.append(...lives(it), ...marks(it));
    row.append(label, lane);
    return row;
  }

  // Bars for the time during which the package existed.
  function lives(it) {
    const parts = [];
    let since = it.events[0][2] === null ? null : 0;
    const add = (from, to) => {
      const life = make("div", undefined, "life on");
      const [left, right] = [Math.max(0, from), Math.min(width(), to)];
      if (right <= left) return;
      life.style.left = `${left}px`;
      life.style.width = `${right - left}px`;
      parts.push(life);
    };
    for (const [commit, , , to] of it.events) {
      if (to === null && since !== null) {
        add(since, x(commit));
        since = null;
      } else if (to !== null && since === null) since = x(commit);
    }
    if (since !== null) add(since, width());
    return parts;
  }

  function marks(it) {
    const groups = [];
    it.events.forEach((event, at) => {
      if (!wanted[event[1]]) return;
      const here = x(event[0]);
      if (here < -10 || here > width() + 10) return;
      const group = groups[groups.length - 1];
      if (group && Math.abs(here - group.from) < 9) {
        group.events.push(at);
        if (weight[event[1]] >= weight[it.events[group.worst][1]]) group.worst = at;
      } else groups.push({ from: here, worst: at, events: [at] });
    });
    return groups.map((group) => {
      const event = marked(it.events[group.worst]);
      const mark = make("button", undefined, `mark v${event.verdict}`);
      if (group.events.length > 1) mark.classList.add("many");
      mark.type = "button";
      mark.tabIndex = -1;
      mark.style.left = `${x(event.commit)}px`;
      mark.style.zIndex = weight[event.verdict];
      mark.dataset.event = group.worst;
      mark.dataset.count = group.events.length;
      mark.dataset.verdict = data.verdicts[event.verdict];
      const { id, seconds, subject } = commits[event.commit];
      mark.setAttribute("aria-label", `${it.name}: ${data.verdicts[event.verdict]}, ${versions(event)}, commit ${id}, ${date(seconds, 10)}: ${subject}`);
      mark.append(make("span", undefined, "shape"));
      return mark;
    });
  }

  const versions = ({ from, to }) => {
    if (from === null) return `new at ${to}`;
    if (to === null) return `${from} → gone`;
    return from === to ? `stays ${to}` : `${from} → ${to}`;
  };

  // The details of a mark.
  let open = null, kept = false;

  function tell(mark) {
    const it = shown[mark.closest(".row").dataset.at];
    const event = marked(it.events[mark.dataset.event]);
    const commit = commits[event.commit];
    const title = make("h2");
    title.append(make("bdi", it.name || "(no package)"));
    const state = make("p");
    const verdict = make("span", data.verdicts[event.verdict], `verdict v${event.verdict}`);
    state.append(verdict, ` · ${versions(event)}`);
    if (event.recorded) state.append(" (recorded)");
    if (event.required !== "none") state.append(` · required: ${event.required}`);
    const subject = make("p");
    subject.append(make("bdi", commit.subject));
    const where = make("p", undefined, "where");
    where.append(make("code", commit.id), ` · ${date(commit.seconds, 16)} UTC`);
    const parts = [title, state, subject, where];
    if (event.reasons.length) {
      const list = make("ul");
      for (const [rule, message, breaks] of event.reasons) {
        const reason = make("li", undefined, breaks ? "breaks" : "");
        reason.append(make("bdi", data.texts[message]), make("code", data.texts[rule]));
        list.append(reason);
      }
      const rest = event.all - event.reasons.length;
      if (rest > 0) list.append(make("li", `and ${rest} more`));
      parts.push(list);
    }
    if (event.hash) {
      const hash = make("p", "closure ", "where");
      hash.append(make("code", `${event.hash}…`));
      parts.push(hash);
    }
    const more = mark.dataset.count - 1;
    if (more > 0) parts.push(make("p", more === 1 ? "One more change at this place: zoom in to see it." : `${more} more changes at this place: zoom in to see them.`, "where"));
    const tip = byId("tip");
    tip.replaceChildren(...parts);
    tip.hidden = false;
    tip.scrollTop = 0;
    const box = mark.getBoundingClientRect();
    const left = Math.min(Math.max(12, box.left + 10 - tip.offsetWidth / 2), document.documentElement.clientWidth - tip.offsetWidth - 12);
    const below = box.bottom + 8 + tip.offsetHeight <= innerHeight || box.top < tip.offsetHeight + 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${Math.max(8, below ? Math.min(box.bottom + 8, innerHeight - tip.offsetHeight - 8) : box.top - tip.offsetHeight - 8)}px`;
    open = mark;
  }

  function close() {
    byId("tip").hidden = true;
    byId("tip").classList.remove("kept");
    open = null;
    kept = false;
  }

  const rows = byId("rows");
  const markOf = (event) => event.target.closest?.(".mark");
  rows.addEventListener("mouseover", (event) => {
    if (!kept && markOf(event)) tell(markOf(event));
  });
  rows.addEventListener("mouseout", (event) => {
    if (!kept && markOf(event) && document.activeElement !== open) close();
  });
  rows.addEventListener("focusin", (event) => {
    const mark = markOf(event);
    if (!mark) return;
    for (const other of rows.querySelectorAll('.mark[tabindex="0"]')) other.tabIndex = -1;
    mark.tabIndex = 0;
    if (!kept) tell(mark);
  });
  rows.addEventListener("focusout", () => {
    if (!kept) close();
  });
  rows.addEventListener("click", (event) => {
    const mark = markOf(event);
    if (!mark) return;
    const again = kept && open === mark;
    close();
    if (again) return;
    tell(mark);
    kept = true;
    byId("tip").classList.add("kept");
  });
  document.addEventListener("click", (event) => {
    if (kept && !markOf(event) && !event.target.closest("#tip")) close();
  });

  const middle = (mark) => parseFloat(mark.style.left);
  rows.addEventListener("keydown", (event) => {
    const mark = markOf(event);
    if (!mark) return;
    const row = mark.closest(".row");
    const line = [...row.querySelectorAll(".mark")];
    const at = line.indexOf(mark);
    const beside = (step) => {
      for (let next = +row.dataset.at + step; next >= 0 && next < shown.length; next += step) {
        if (!drawn.has(next)) {
          scrollBy(0, step * height());
          scroll();
        }
        const others = [...(drawn.get(next)?.querySelectorAll(".mark") ?? [])];
        const distance = (it) => Math.abs(middle(it) - middle(mark));
        if (others.length) return others.reduce((a, b) => (distance(b) < distance(a) ? b : a));
      }
    };
    const moves = {
      ArrowLeft: () => line[at - 1],
      ArrowRight: () => line[at + 1],
      ArrowUp: () => beside(-1),
      ArrowDown: () => beside(1),
      Home: () => line[0],
      End: () => line[line.length - 1],
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (!next) return;
    close();
    next.focus({ preventScroll: true });
    const box = next.getBoundingClientRect();
    const roof = byId("top").getBoundingClientRect().bottom;
    if (box.top < roof + 10) scrollBy(0, box.top - roof - 40);
    if (box.bottom > innerHeight - 10) scrollBy(0, box.bottom - innerHeight + 60);
  });

  // Zooming: the visible range of the timeline.
  function zoom(from, to) {
    const least = byDate ? 1e-5 : Math.min(1, 4 / Math.max(1, commits.length));
    const half = Math.max(to - from, least) / 2;
    const centre = Math.min(Math.max((from + to) / 2, half), 1 - half);
    [low, high] = half >= 0.5 ? [0, 1] : [centre - half, centre + half];
    close();
    draw();
  }
  const around = (factor) => {
    const centre = (low + high) / 2, half = (high - low) / 2 * factor;
    zoom(centre - half, centre + half);
  };
  byId("closer").onclick = () => around(0.5);
  byId("farther").onclick = () => around(2);
  byId("all").onclick = () => zoom(0, 1);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { "+": "closer", "=": "closer", "-": "farther", 0: "all" }[event.key];
    if (act) byId(act).click();
  });
  const overview = byId("overview");
  const part = (event) => {
    const box = overview.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left - margin) / (box.width - 2 * margin)));
  };
  let began = null;
  overview.addEventListener("pointerdown", (event) => {
    began = part(event);
    overview.setPointerCapture(event.pointerId);
  });
  overview.addEventListener("pointermove", (event) => {
    if (began === null) return;
    const now = part(event);
    const frame = byId("window");
    const inner = (width() - 2 * margin) / width();
    frame.hidden = false;
    frame.style.left = `${(margin / width() + Math.min(began, now) * inner) * 100}%`;
    frame.style.width = `${Math.abs(now - began) * inner * 100}%`;
  });
  overview.addEventListener("pointerup", (event) => {
    if (began === null) return;
    const now = part(event);
    if (Math.abs(now - began) * width() > 4) zoom(Math.min(began, now), Math.max(began, now));
    else axis();
    began = null;
  });
  overview.addEventListener("pointercancel", () => {
    began = null;
    axis();
  });
  overview.addEventListener("dblclick", () => zoom(0, 1));

  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("query").addEventListener("input", filter);
  byId("order").addEventListener("change", filter);
  byId("spacing").addEventListener("change", () => {
    byDate = byId("spacing").value === "date";
    [low, high] = [0, 1];
    filter();
  });
  addEventListener("scroll", () => {
    if (kept || open && document.activeElement !== open) close();
    requestAnimationFrame(scroll);
  }, { passive: true });
  let before = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === before) return scroll();
    before = innerWidth;
    filter();
  });
  filter();
})();
