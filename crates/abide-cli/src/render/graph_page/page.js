"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const stage = byId("stage"), side = byId("side"), svg = stage.querySelector("svg");
  const nodes = [...svg.querySelectorAll("[data-node]")].map((element) => {
    const rect = element.querySelector("rect");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((it) => Number(rect.getAttribute(it)));
    return { element, name: element.dataset.name, kind: element.classList[0], x, y, width, height, uses: [], users: [] };
  });
  const edges = [...svg.querySelectorAll("[data-from]")].map((element) => {
    const lines = element.querySelector("title").textContent.split("\n").slice(1);
    const mark = "breaks the policy: ";
    const edge = {
      element, way: element.getAttribute("d"),
      from: nodes[element.dataset.from], to: nodes[element.dataset.to],
      reasons: lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length)),
      evidence: lines.filter((line) => !line.startsWith(mark)).join("\n"),
    };
    edge.from.uses.push(edge);
    edge.to.users.push(edge);
    return edge;
  });
  if (nodes.length === 0) return;
  const broken = edges.filter((edge) => edge.reasons.length > 0);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  let focused = null;

  // The part of the drawing that is visible.
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = [...whole];
  const show = (next) => {
    const least = 200, most = 4 * Math.max(whole[2], whole[3]);
    const scale = Math.min(Math.max(1, least / next[2]), most / next[2]);
    view = [next[0], next[1], next[2] * scale, next[3] * scale];
    svg.setAttribute("viewBox", view.map((it) => it.toFixed(1)).join(" "));
  };
  const fit = (boxes) => {
    const left = Math.min(...boxes.map((it) => it.x)) - 40, top = Math.min(...boxes.map((it) => it.y)) - 40;
    const right = Math.max(...boxes.map((it) => it.x + it.width)) + 40;
    const bottom = Math.max(...boxes.map((it) => it.y + it.height)) + 40;
    // No larger than life.
    const { width, height } = stage.getBoundingClientRect();
    const across = Math.max(right - left, width), down = Math.max(bottom - top, height);
    show([(left + right - across) / 2, (top + bottom - down) / 2, across, down]);
  };
  const pixel = () => {
    const { width, height } = stage.getBoundingClientRect();
    return Math.max(view[2] / width, view[3] / height);
  };
  const at = (event) => {
    const box = stage.getBoundingClientRect(), size = pixel();
    return [
      view[0] + view[2] / 2 + (event.clientX - box.left - box.width / 2) * size,
      view[1] + view[3] / 2 + (event.clientY - box.top - box.height / 2) * size,
    ];
  };
  const zoom = (factor, [x, y]) =>
    show([x + (view[0] - x) * factor, y + (view[1] - y) * factor, view[2] * factor, view[3] * factor]);
  const middle = () => [view[0] + view[2] / 2, view[1] + view[3] / 2];

  // Puts a focused package between those that use it and those that it uses.
  const place = (node, x, y) => {
    Object.assign(node, { atX: x, atY: y });
    node.element.setAttribute("transform", `translate(${x - node.x} ${y - node.y})`);
  };
  const column = (list, node, direction) => {
    const rows = Math.max(6, Math.ceil(Math.sqrt(list.length * 3)));
    const gap = 14, step = node.width + 60;
    for (let start = 0; start < list.length; start += rows) {
      const part = list.slice(start, start + rows);
      const height = part.reduce((sum, it) => sum + it.height + gap, -gap);
      let y = node.y + (node.height - height) / 2;
      const x = node.x + direction * (node.width + 160 + (start / rows) * step);
      for (const it of part) {
        place(it, x, y);
        y += it.height + gap;
      }
    }
  };
  const around = (node) => {
    const uses = node.uses.map((edge) => edge.to).filter((it) => it !== node);
    const users = node.users.map((edge) => edge.from).filter((it) => it !== node && !uses.includes(it));
    const near = new Set([node, ...uses, ...users]);
    place(node, node.x, node.y);
    column(uses, node, 1);
    column(users, node, -1);
    for (const it of nodes) it.element.style.display = near.has(it) ? "" : "none";
    for (const edge of edges) {
      const touches = (edge.from === node || edge.to === node) && edge.from !== edge.to;
      edge.element.style.display = touches ? "" : "none";
      if (!touches) continue;
      const right = edge.to.atX >= edge.from.atX;
      const x1 = edge.from.atX + (right ? edge.from.width : 0), y1 = edge.from.atY + edge.from.height / 2;
      const x2 = edge.to.atX + (right ? 0 : edge.to.width), y2 = edge.to.atY + edge.to.height / 2;
      const bend = (x2 - x1) / 2;
      edge.element.setAttribute("d", `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
    }
    fit([...near].map((it) => ({ x: it.atX, y: it.atY, width: it.width, height: it.height })));
  };
  const restore = () => {
    for (const it of nodes) {
      it.element.removeAttribute("transform");
      it.element.style.display = "";
    }
    for (const edge of edges) {
      edge.element.setAttribute("d", edge.way);
      edge.element.style.display = "";
    }
  };

  // The list beside the graph.
  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const link = (node, ...notes) => {
    const item = make("li"), button = make("button", node.name);
    button.type = "button";
    button.onclick = () => focus(node);
    item.append(button, ...notes);
    return item;
  };
  const list = (title, items) => {
    if (items.length === 0) return;
    const ul = make("ul");
    ul.append(...items);
    side.append(make("h3", title), ul);
  };
  const because = (edge) => [
    ...edge.reasons.map((reason) => make("small", reason, "broken")),
    make("small", edge.evidence),
  ];
  const describe = (shown) => {
    side.replaceChildren();
    if (focused) {
      const { name, kind, uses, users } = focused;
      side.append(make("h2", name), make("p", kind));
      list(`Uses ${uses.length}`, uses.map((edge) => link(edge.to, ...because(edge))));
      list(`Used by ${users.length}`, users.map((edge) => link(edge.from, ...because(edge))));
      return;
    }
    const bad = broken.filter((edge) => shown.has(edge.from) || shown.has(edge.to));
    list(`Breaks the policy: ${bad.length}`, bad.map((edge) => {
      const to = make("small", `\u2192 ${edge.to.name}`);
      return link(edge.from, to, ...edge.reasons.map((reason) => make("small", reason, "broken")));
    }));
    list(`Packages: ${shown.size}`, [...shown].map((node) =>
      link(node, make("small", `uses ${node.uses.length}, used by ${node.users.length}`))));
  };

  // What is shown.
  const kinds = [...new Set(nodes.map((node) => node.kind))].map((kind) => {
    const chip = make("button", undefined, `chip ${kind}`);
    chip.type = "button";
    chip.setAttribute("aria-pressed", "true");
    chip.append(make("i"), kind, make("b", nodes.filter((node) => node.kind === kind).length));
    byId("kinds").append(chip);
    return { kind, chip };
  });
  const isPressed = (chip) => chip.getAttribute("aria-pressed") === "true";
  const filter = () => {
    const words = byId("query").value.toLowerCase().split(/\s+/);
    const wanted = new Set(kinds.filter(({ chip }) => isPressed(chip)).map(({ kind }) => kind));
    const onlyBroken = isPressed(byId("broken"));
    const shown = new Set(nodes.filter((node) => {
      const name = node.name.toLowerCase();
      return wanted.has(node.kind) && words.every((word) => name.includes(word))
        && (!onlyBroken || [...node.uses, ...node.users].some((edge) => edge.reasons.length > 0));
    }));
    const isAll = shown.size === nodes.length && !onlyBroken;
    const ends = new Set(shown);
    for (const edge of edges) {
      const isShown = (shown.has(edge.from) || shown.has(edge.to)) && (!onlyBroken || edge.reasons.length > 0);
      edge.element.classList.toggle("faint", !isShown);
      edge.element.classList.toggle("lit", isShown && !isAll);
      if (isShown) ends.add(edge.from).add(edge.to);
    }
    for (const node of nodes) node.element.classList.toggle("faint", !ends.has(node));
    byId("found").textContent = `${shown.size.toLocaleString("en")} of ${nodes.length.toLocaleString("en")}`;
    describe(shown);
    return shown;
  };
  const focus = (node) => {
    if (focused) focused.element.classList.remove("focus");
    restore();
    focused = node;
    history.replaceState(null, "", node ? `#${encodeURIComponent(node.name)}` : "#");
    byId("all").disabled = !node;
    if (node) {
      node.element.classList.add("focus");
      for (const { element } of [...nodes, ...edges]) element.classList.remove("faint", "lit");
      around(node);
      describe(new Set());
      side.scrollTop = 0;
    } else {
      const shown = filter();
      if (shown.size > 0 && shown.size < nodes.length) fit([...shown]);
      else show(whole);
    }
  };

  // Moving around: pointers drag, two of them pinch, the wheel zooms.
  const pointers = new Map();
  let dragged = false;
  stage.onpointerdown = (event) => {
    pointers.set(event.pointerId, event);
    dragged = false;
  };
  stage.onpointermove = (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const others = [...pointers.values()].filter((it) => it.pointerId !== event.pointerId);
    const far = Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY);
    if (!dragged && far < 4) return;
    if (!dragged) {
      dragged = true;
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("moves");
    }
    if (others.length > 0) {
      const [x, y] = [others[0].clientX, others[0].clientY];
      const before = Math.hypot(last.clientX - x, last.clientY - y);
      const after = Math.hypot(event.clientX - x, event.clientY - y);
      if (after > 0) zoom(before / after, at(others[0]));
    } else {
      const size = pixel();
      show([view[0] - (event.clientX - last.clientX) * size, view[1] - (event.clientY - last.clientY) * size, view[2], view[3]]);
    }
    pointers.set(event.pointerId, event);
  };
  stage.onpointerup = stage.onpointercancel = (event) => {
    pointers.delete(event.pointerId);
    stage.classList.remove("moves");
  };
  stage.onclick = (event) => {
    const box = event.target.closest("[data-node]");
    if (box && !dragged) focus(nodes[box.dataset.node]);
  };
  stage.onwheel = (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 250), at(event));
  };
  stage.onkeydown = (event) => {
    const step = view[2] / 8;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) show([view[0] + moves[event.key][0], view[1] + moves[event.key][1], view[2], view[3]]);
    else if (event.key === "+" || event.key === "=") zoom(.8, middle());
    else if (event.key === "-") zoom(1.25, middle());
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") focus(null);
  });
  for (const chip of [...kinds.map((it) => it.chip), byId("broken")]) {
    chip.onclick = () => {
      chip.setAttribute("aria-pressed", !isPressed(chip));
      focus(null);
    };
  }
  byId("query").oninput = () => focus(null);
  byId("all").onclick = () => focus(null);
  byId("controls").onsubmit = (event) => {
    event.preventDefault();
    const [first] = filter();
    if (first) focus(first);
  };
  byId("broken").querySelector("b").textContent = broken.length;
  byId("broken").hidden = broken.length === 0;
  byId("controls").hidden = false;
  stage.classList.add("scripted");
  const named = () => byName.get(decodeURIComponent(location.hash.slice(1))) ?? null;
  window.onhashchange = () => focus(named());
  focus(named());
})();
