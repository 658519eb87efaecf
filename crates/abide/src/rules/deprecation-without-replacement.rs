use abide_schema::{Element, Node};

use crate::calendar::Replacement;
use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecation-without-replacement",
    summary: "a deprecated element that does not name its replacement",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-without-replacement.md"),
    check: Check::Annotated(check),
};

/// Words that lead to a replacement, or say that none is needed. A word that
/// ends with `*` is the beginning of several words.
const WORDS: [&str; 25] = [
    "use",
    "using",
    "instead",
    "replace*",
    "in favor of",
    "in favour of",
    "supersede*",
    "prefer*",
    "see",
    "migrat*",
    "switch to",
    "moved to",
    "renamed",
    "is now",
    "should be set",
    "covered by",
    // An element without effect needs no replacement.
    "no effect",
    "ignored",
    "no longer",
    "not used",
    "unused",
    "not supported",
    "unsupported",
    "not implemented",
    "not-implemented",
];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(place) = element.deprecated() else { return };
    let covered = element.parent().is_some_and(is_deprecated);
    if covered || element.replaced_by().is_some() || context.is_frozen(element.package()) {
        return;
    }
    let (name, noun) = (element.full_name(), element.noun());
    if context.policy.deprecation.replacement(&name) != Replacement::Equivalent {
        return;
    }
    // If all fields of a message are deprecated, its comment counts for them.
    let whole = element.parent().filter(|parent| match parent {
        Element::Message(it) => it.fields().all(|it| Element::Field(it).deprecated().is_some()),
        _ => false,
    });
    if std::iter::once(element).chain(whole).any(names_another) {
        return;
    }
    let package = element.package().name();
    let message = format!("deprecated {noun} `{name}` does not name a replacement");
    sink.report(place, package, name, message)
        .why("users must know what to use instead, or that nothing replaces it")
        .help("say in its comment what to use instead");
}

/// Whether a comment leads to a replacement: by a word, by a link, or by another
/// name in backticks.
fn names_another(element: Element<'_>) -> bool {
    if element.node() == Node::NONE {
        return false;
    }
    let comments = element.file().decl().comments(element.node());
    let own = element.name();
    comments.leading.into_iter().chain(comments.trailing).any(|comment| {
        // Words may be split between lines.
        let text = comment.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted = text.split('`').skip(1).step_by(2).any(|it| !it.is_empty() && it != own);
        let linked = text.contains("](") || text.contains("][");
        let lower = text.to_lowercase();
        quoted || linked || WORDS.iter().any(|word| holds(&lower, word))
    })
}

/// Whether a text holds one of [`WORDS`]: "because" is not "use".
fn holds(text: &str, word: &str) -> bool {
    let (word, is_stem) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    let is_letter = |it: char| it.is_alphanumeric() || it == '_';
    text.match_indices(word).any(|(at, _)| {
        let behind = &text[at + word.len()..];
        !text[..at].ends_with(is_letter) && (is_stem || !behind.starts_with(is_letter))
    })
}
