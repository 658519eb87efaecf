//! The page of a rule, for readers: plain Markdown, or laid out for a terminal. A page is also a
//! test, whose marks and labels readers do not need.

use std::collections::BTreeSet;

use abide_lint::{Group, Rule, RuleFamily, Severity, pluralize};
use serde_json::json;

use super::config_schema;
use super::context::{Style, write_styled};
use super::prose::{ProsePiece, split_pieces};

const BOLD: &str = "1";
const CODE: &str = "36";
const FAINT: &str = "2";

/// The page about waivers.
const WAIVERS: &str = include_str!("rule_page/waivers.md");

/// The pages to print.
pub(crate) enum RulePages {
    /// What there is to explain.
    Index,
    /// How waivers are written.
    Waivers,
    /// The settings of `abide.toml`.
    Settings,
    /// Rules that settings name together.
    Family(RuleFamily),
    /// A name, and the rules that have it, at least one.
    Named(String, Vec<&'static Rule>),
    /// All of these.
    All(&'static [&'static Rule]),
}

/// For people: Markdown, laid out on a terminal.
pub(super) fn render_human(pages: &RulePages, style: Style) -> String {
    let page = match pages {
        RulePages::Index => render_index(),
        RulePages::Waivers => WAIVERS.to_owned(),
        RulePages::Settings => config_schema::render_page(),
        RulePages::Family(family) => render_family_page(family),
        RulePages::Named(name, rules) => render_rule_page(name, rules),
        RulePages::All(rules) => {
            let pages = rules.iter().map(|rule| render_rule_page(rule.id, &[rule]));
            pages.collect::<Vec<_>>().join("\n")
        }
    };
    match style.is_terminal || style.color {
        true => render_for_terminal(&page, style),
        false => page,
    }
}

/// JSON Lines: an object per page; of the settings, a schema.
pub(super) fn render_json(pages: &RulePages, _: Style) -> String {
    match pages {
        RulePages::Index => list_topics()
            .map(|(name, about)| {
                format_line(&json!({"kind": "topic", "id": name, "summary": about}))
            })
            .collect(),
        RulePages::Waivers => format_line(&json!({
            "kind": "page", "id": "waivers", "summary": ABOUT_WAIVERS, "page": WAIVERS,
        })),
        RulePages::Settings => config_schema::render_schema(),
        RulePages::Family(RuleFamily { rules, .. }) | RulePages::Named(_, rules) => {
            format_rules(rules)
        }
        RulePages::All(rules) => format_rules(rules),
    }
}

fn format_line(value: &serde_json::Value) -> String {
    format!("{value}\n")
}

fn format_rules(rules: &[&Rule]) -> String {
    rules.iter().map(|rule| format_rule(rule)).collect()
}

/// The page of a rule, as a line of JSON.
fn format_rule(rule: &Rule) -> String {
    format_line(&json!({
        "kind": "page",
        "id": rule.id,
        "summary": rule.summary,
        "group": rule.group.name(),
        "severity": rule.severity.map_or("off", Severity::word),
        "since": rule.since,
        "aliases": rule.all_aliases().collect::<BTreeSet<_>>(),
        "page": strip_marks(rule.page),
    }))
}

const ABOUT_WAIVERS: &str = "how a finding is waived, in a comment or in abide.toml";

/// What there is to explain besides single rules: names, and what each is about.
fn list_topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let groups = Group::ALL.iter().map(|it| (it.name(), it.summary()));
    let pages = [
        ("waivers", ABOUT_WAIVERS),
        ("abide.toml", "every key of abide.toml; with --format json a JSON schema"),
    ];
    pages.into_iter().chain(groups)
}

/// The page of what there is to explain.
fn render_index() -> String {
    let mut out =
        "# abide explain\n\n`abide explain RULE` prints the page of a rule, and `abide explain \
                   GROUP` its rules. `abide rules` lists all rules of a tree.\n\n"
            .to_owned();
    for (name, about) in list_topics() {
        out.push_str(&format!("- `{name}`: {about}\n"));
    }
    out
}

/// The page of the rules with this name, at least one, in Markdown: that of the main one, which is
/// the first.
fn render_rule_page(name: &str, rules: &[&'static Rule]) -> String {
    let Some(main) = rules.first() else { return String::new() };
    let mut out = render_introduction(name, rules);
    out.push_str(&strip_marks(main.page));
    out
}

/// A page about rules that settings name together, in Markdown.
fn render_family_page(family: &RuleFamily) -> String {
    let RuleFamily { name, about, rules } = family;
    let mut out = format!(
        "# {name}\n\n{}: {about}. `{name}` in `[rules]` of `abide.toml` sets their severity; \
         `abide rules` shows those of a tree. The severities here are the defaults.\n\n",
        pluralize(rules.len(), "rule")
    );
    for rule in rules {
        let severity = rule.severity.map_or("off", Severity::word);
        out.push_str(&format!("- `{}` ({severity}): {}\n", rule.id, rule.summary));
    }
    out
}

/// A page in Markdown, laid out for a terminal.
fn render_for_terminal(markdown: &str, style: Style) -> String {
    let mut out = String::new();
    let mut is_code = false;
    let mut paragraph = String::new();
    for line in markdown.lines() {
        let is_fence = line.starts_with("```");
        let ends = is_fence || is_code || line.is_empty() || line.starts_with(['#', '-', '|']);
        if ends && !paragraph.is_empty() {
            wrap(&mut out, &std::mem::take(&mut paragraph), style);
        }
        if is_fence {
            is_code = !is_code;
        } else if is_code {
            out.push_str("    ");
            write_styled(&mut out, style.color && !line.is_empty(), FAINT, line);
            out.push('\n');
        } else if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim_start();
            write_styled(&mut out, style.color, BOLD, if style.color { title } else { line });
            out.push('\n');
        } else if line.is_empty() {
            out.push('\n');
        } else if line.starts_with('|') {
            out.push_str(line);
            out.push('\n');
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    if !paragraph.is_empty() {
        wrap(&mut out, &paragraph, style);
    }
    out
}

/// Introduces a page whose name is not that of one rule alone.
fn render_introduction(name: &str, rules: &[&Rule]) -> String {
    let [main, others @ ..] = rules else { return String::new() };
    if main.id == name {
        return String::new();
    }
    if others.is_empty() {
        return format!("The rule `{}` reports what `{name}` does.\n\n", main.id);
    }
    let mut out = format!(
        "{} report what `{name}` does. This is the page of the first one; `abide explain RULE` \
         shows the others.\n\n",
        pluralize(rules.len(), "rule")
    );
    for rule in rules {
        out.push_str(&format!("- `{}`: {}\n", rule.id, rule.summary));
    }
    out.push('\n');
    out
}

/// A page without the marks of its test: comments that say what is reported where, and labels of
/// code. What a label says to readers becomes a line above the code.
pub(super) fn strip_marks(page: &str) -> String {
    let has_old = page.lines().any(|line| line.starts_with("```proto old "));
    let mut out = String::new();
    let mut is_code = false;
    for line in page.lines() {
        let Some(label) = line.strip_prefix("```") else {
            if !(is_code && is_mark(line)) {
                out.push_str(line);
                out.push('\n');
            }
            continue;
        };
        is_code = !is_code;
        if is_code {
            let (language, rest) = label.split_once(' ').unwrap_or((label, ""));
            if let Some(caption) = render_caption(language, rest, has_old) {
                out.push_str(&caption);
                out.push_str("\n\n");
            }
            out.push_str(&format!("```{language}\n"));
        } else {
            out.push_str("```\n");
        }
    }
    out
}

/// Says for readers what a label means: the file, and the side of a change.
fn render_caption(language: &str, label: &str, has_old: bool) -> Option<String> {
    let file = label.split(' ').find_map(|word| word.strip_prefix("file="));
    let words: Vec<&str> = label.split(' ').collect();
    Some(match file {
        None if language == "toml" => "With this `abide.toml`:".to_owned(),
        None => return None,
        Some(file) if words.contains(&"old") => format!("Before, in `{file}`:"),
        Some(file) if words.contains(&"imported") => {
            format!("In `{file}`, which is only imported:")
        }
        Some(file) if has_old && language == "proto" => format!("After, in `{file}`:"),
        Some(file) => format!("In `{file}`:"),
    })
}

/// Returns true if a line of code is a comment that says what is reported: `// ^^^ error: …` or
/// `// <- error: …`.
fn is_mark(line: &str) -> bool {
    let line = line.trim_start();
    let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#'));
    let Some(mark) = comment.map(str::trim_start) else { return false };
    let text = mark.strip_prefix("<-").unwrap_or_else(|| mark.trim_start_matches('^'));
    text.len() < mark.len()
        && ["error:", "warning:", "note:"]
            .into_iter()
            .any(|word: &str| text.trim_start().starts_with(word))
}

/// Writes a paragraph or an item of a list in lines of the width, and its code in colour.
fn wrap(out: &mut String, text: &str, style: Style) {
    let indent = if text.starts_with("- ") { "  " } else { "" };
    let mut used = 0;
    for word in split_words(&strip_link_targets(text)) {
        let marks = if style.color { 0 } else { 1 };
        let width: usize = word.iter().map(|piece| count_columns(*piece, marks)).sum();
        if used > 0 && used + 1 + width > style.width {
            out.push('\n');
            out.push_str(indent);
            used = indent.len();
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        for piece in word {
            match piece {
                ProsePiece::Words(text) => out.push_str(text),
                ProsePiece::Code(code) if style.color => write_styled(out, true, CODE, code),
                ProsePiece::Code(code) => out.push_str(&abide_lint::backtick(code)),
            }
        }
        used += width;
    }
    out.push('\n');
}

fn count_columns(piece: ProsePiece<'_>, marks: usize) -> usize {
    match piece {
        ProsePiece::Words(text) => text.chars().count(),
        ProsePiece::Code(code) => code.chars().count() + 2 * marks,
    }
}

/// The words of a text: pieces without a space between them. Code stays whole.
fn split_words(text: &str) -> Vec<Vec<ProsePiece<'_>>> {
    let mut words = vec![Vec::new()];
    for piece in split_pieces(text) {
        match piece {
            ProsePiece::Code(_) => words.last_mut().expect("there is a word").push(piece),
            ProsePiece::Words(text) => {
                for (at, part) in text.split(' ').enumerate() {
                    if at > 0 {
                        words.push(Vec::new());
                    }
                    if !part.is_empty() {
                        words.last_mut().expect("there is a word").push(ProsePiece::Words(part));
                    }
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A text with links as their words alone, unless they lead out of the pages.
fn strip_link_targets(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, link) = rest.split_at(open);
        let parts = link[1..].split_once("](").and_then(|(words, behind)| {
            let (target, behind) = behind.split_once(')')?;
            (!words.contains(['[', ']']) && !target.contains(' '))
                .then_some((words, target, behind))
        });
        out.push_str(before);
        rest = match parts {
            Some((words, target, behind)) => {
                out.push_str(words);
                if target.contains("://") {
                    out.push_str(&format!(" ({target})"));
                }
                behind
            }
            None => {
                out.push('[');
                &link[1..]
            }
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use abide_lint::RULES;

    use super::*;

    const PLAIN: Style = Style { is_terminal: true, ..Style::plain(60) };

    #[test]
    fn no_page_shows_the_marks_of_its_test() {
        let mut marks = 0;
        for rule in RULES {
            let text = render_rule_page(rule.id, &[rule]);
            assert!(text.starts_with(&format!("# {}\n", rule.id)), "{}", rule.id);
            for line in text.lines() {
                let label = line.strip_prefix("```").unwrap_or_default();
                assert!(!label.contains(' '), "{}: {line}", rule.id);
                let said = line.trim_start().trim_start_matches(['/', '#', ' ']);
                assert!(!said.starts_with("<- ") && !said.starts_with("^"), "{}: {line}", rule.id);
            }
            marks +=
                rule.page.lines().count() - text.lines().count().min(rule.page.lines().count());
        }
        assert!(marks > 0, "pages have marks");
    }

    #[test]
    fn lines_fit_and_code_stays_whole() {
        for rule in RULES {
            let text = render_for_terminal(&render_rule_page(rule.id, &[rule]), PLAIN);
            let mut words = 0;
            for line in
                text.lines().filter(|it| !it.starts_with("    ") && !it.starts_with(['|', '#']))
            {
                words += 1;
                let is_one_word = !line.trim_start_matches("- ").trim().contains(' ');
                let has_code = line.contains('`');
                assert!(line.chars().count() <= 60 || is_one_word || has_code, "{line}");
                assert!(line.matches('`').count() % 2 == 0, "{}: {line}", rule.id);
            }
            assert!(words > 0, "{}", rule.id);
        }
    }

    #[test]
    fn a_link_shows_its_words_and_an_address_outside_of_the_pages() {
        for (text, expected) in [
            ("see [the page](field-removed.md).", "see the page."),
            ("see [AIP](https://aip.dev/1) too", "see AIP (https://aip.dev/1) too"),
            ("`a[0]` and [b", "`a[0]` and [b"),
            ("[a] (b)", "[a] (b)"),
        ] {
            assert_eq!(strip_link_targets(text), expected);
        }
    }
}
