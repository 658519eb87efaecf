//! A comment on a pull request: what fails and what warns, by owner.

use std::collections::{BTreeMap, BTreeSet};

use abide_lint::{Finding, Report, Severity, pluralize};

use super::context::RenderContext;
use super::markdown::{format_sentence, has_details, write_details, write_entry};
use super::markdown_text::MarkdownText;
use super::snippets::render_summary;

/// The first line of a comment: whoever posts the next one finds this one by it, and replaces it.
const MARKER: &str = "<!-- abide: comment on a pull request -->\n";

/// The most characters that GitHub takes; GitLab takes more.
const LARGEST: usize = 65_536;

/// The characters kept for the last line, which says what is missing.
const REST: usize = 200;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let mut out = MarkdownText::new();
    out.add_markup(MARKER);
    out.add_markup(if context.old.is_some() {
        "## API changes\n\n"
    } else {
        "## API findings\n\n"
    });
    out.add_words(&format_sentence(&render_summary(report))).add_markup("\n");
    let mut text = out.into_text();

    let shown =
        context.sort_by_impact(report).into_iter().filter(|it| it.severity > Severity::Note);
    let mut by_owner: BTreeMap<BTreeSet<&str>, Vec<&Finding>> = BTreeMap::new();
    for finding in shown {
        by_owner.entry(context.find_owners(finding)).or_default().push(finding);
    }
    let is_owned = by_owner.keys().any(|owners| !owners.is_empty());
    let mut left = 0;
    // Those without an owner come last.
    let (unowned, owned): (Vec<_>, Vec<_>) =
        by_owner.into_iter().partition(|(owners, _)| owners.is_empty());
    for (owners, findings) in owned.into_iter().chain(unowned) {
        let mut title = render_heading(&owners, is_owned).into_text();
        for finding in findings {
            let item = render_item(finding, context);
            let length = text.chars().count() + title.chars().count() + item.chars().count();
            if left > 0 || length + REST > LARGEST {
                left += 1;
                continue;
            }
            text.push_str(&std::mem::take(&mut title));
            text.push_str(&item);
        }
    }
    if left > 0 {
        let more =
            format!("{} not shown: see the log of the run.", pluralize(left, "more finding"));
        let mut out = MarkdownText::new();
        out.add_markup("\n").add_words(&more).add_markup("\n");
        text.push_str(&out.into_text());
    }
    text.into_bytes()
}

/// Above the findings of the same owners. Where nobody owns anything, nothing divides them.
fn render_heading(owners: &BTreeSet<&str>, is_owned: bool) -> MarkdownText {
    let mut out = MarkdownText::new();
    match (owners.is_empty(), is_owned) {
        (true, false) => out.add_markup("\n"),
        (true, true) => out.add_markup("\n### No owner\n\n"),
        (false, _) => {
            out.add_markup("\n### ");
            for (at, owner) in owners.iter().enumerate() {
                // As code: a comment that is written anew at each push notifies nobody.
                out.add_markup(if at > 0 { " " } else { "" }).add_code(owner);
            }
            out.add_markup("\n\n")
        }
    };
    out
}

fn render_item(finding: &Finding, context: &RenderContext) -> String {
    let mut out = MarkdownText::new();
    let level = if finding.severity == Severity::Error { "**error** " } else { "warning " };
    write_entry(&mut out, level, &finding.element, finding, context);
    if has_details(finding) {
        out.add_markup("  <details><summary>details</summary>\n\n");
        write_details(&mut out, finding);
        out.add_markup("\n  </details>\n");
    }
    out.into_text()
}
