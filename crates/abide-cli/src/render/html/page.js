"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const files = [...document.querySelectorAll(".file")].map((element) => ({
    element,
    findings: [...element.querySelectorAll("article")].map((article) => ({
      article,
      text: `${element.querySelector("h2").textContent}\n${article.textContent}`.toLowerCase(),
      severity: article.dataset.severity,
      rule: article.dataset.rule,
    })),
  }));
  const all = files.flatMap((file) => file.findings);
  if (all.length === 0) return;
  for (const rule of [...new Set(all.map((finding) => finding.rule))].sort()) {
    byId("rule").append(new Option(rule, rule));
  }
  const chips = [...document.querySelectorAll("[data-severity].chip")];
  const filter = () => {
    const words = byId("query").value.toLowerCase().split(/\s+/);
    const rule = byId("rule").value;
    const wanted = new Set(chips.filter((it) => it.getAttribute("aria-pressed") === "true").map((it) => it.dataset.severity));
    let count = 0;
    for (const { element, findings } of files) {
      let some = false;
      for (const finding of findings) {
        const shown = wanted.has(finding.severity) && (rule === "" || finding.rule === rule)
          && words.every((word) => finding.text.includes(word));
        finding.article.hidden = !shown;
        some ||= shown;
        count += shown;
      }
      element.hidden = !some;
    }
    byId("found").textContent = `${count.toLocaleString("en")} of ${all.length.toLocaleString("en")}`;
    byId("empty").hidden = count > 0;
  };
  for (const chip of chips) {
    chip.onclick = () => {
      chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
      filter();
    };
  }
  const heap = byId("by-weight");
  const rank = (finding) => Number(finding.article.dataset.rank);
  byId("order").onchange = () => {
    const isByWeight = byId("order").value === "weight";
    heap.hidden = !isByWeight;
    if (isByWeight) {
      heap.append(...[...all].sort((a, b) => rank(a) - rank(b)).map((finding) => finding.article));
    } else {
      for (const { element, findings } of files) element.append(...findings.map((finding) => finding.article));
    }
    for (const { element } of files) element.classList.toggle("emptied", isByWeight);
    filter();
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.onclick = async () => {
      const title = button.textContent;
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = title; }, 1500);
      } catch {
        prompt(title, button.dataset.copy);
      }
    };
  }
  byId("query").oninput = filter;
  byId("rule").onchange = filter;
  byId("controls").onsubmit = (event) => event.preventDefault();
  byId("controls").hidden = false;
  filter();
})();
