use abide_change::OptionOwner;
use abide_schema::Element;

use crate::calendar::Replacement;
use crate::finding::Severity;
use crate::lifecycle::{is_deprecated, is_placeholder, own_comments, replacement_sentence};
use crate::rule::{Check, Context, Group, Rule, Sink};

/// The mark of what no program implements.
const UNIMPLEMENTED: &str = "[#not-implemented";

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

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(place) = element.deprecated() else { return };
    let covered = element.parent().is_some_and(is_deprecated) || is_placeholder(element);
    // That values get lost is an answer, too.
    let says = element.replaced_by().is_some() || element.lossy().is_some();
    if covered || says || context.is_frozen(element.package()) {
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

/// Returns true if a comment leads to a replacement, or says that there never was anything to
/// replace.
fn names_another(element: Element<'_>) -> bool {
    replacement_sentence(OptionOwner::Element(element)).is_some()
        || own_comments(element).iter().any(|comment| comment.text.contains(UNIMPLEMENTED))
}
