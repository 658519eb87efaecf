use abide_schema::Element;

use crate::code_span::code;
use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::suggestion::{did_you_mean, nearest};

pub(super) static RULE: Rule = Rule {
    id: "replacement-unusable",
    summary: "a `replaced_by` whose element does not exist or cannot be used instead",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("replacement-unusable.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some((text, place)) = element.replaced_by() else { return };
    if context.is_frozen(element.package()) {
        return;
    }
    let other = element.replacement();
    let (why_not, help) = match other {
        // A part of a tree does not have the files of the others.
        None if context.partial && (element.parent().is_none() || text.contains('.')) => return,
        None => {
            let unless = || {
                "write the full name of an element of this tree, or the name of a sibling"
                    .to_owned()
            };
            ("does not exist", suggestion(context, element, text).unwrap_or_else(unless))
        }
        Some(other) if other == element => {
            ("is the element itself", "name the element to use instead".to_owned())
        }
        Some(other) if !other.is_exported() && other.file() != element.file() => (
            "is local to another file",
            "export it, or name an element that is exported".to_owned(),
        ),
        Some(other) if is_gone_as_well(element, other) => ("is deprecated too", after(other)),
        Some(_) => return,
    };
    let (name, noun) = (element.full_name(), element.noun());
    let message = format!("the replacement {text} of {noun} `{name}` {why_not}", text = code(text));
    let finding = sink.report(place, element.package().name(), name, message);
    finding.why("users must know what to use instead").help(help).fact(text).fact(why_not);
    if let Some(place) = other.filter(|it| *it != element).and_then(Element::deprecated) {
        finding.label(place, "deprecated here");
    }
}

/// Whether the replacement of an element is deprecated itself. If the message of
/// both is, its own replacement counts.
fn is_gone_as_well(element: Element<'_>, other: Element<'_>) -> bool {
    is_deprecated(other) && !element.parent().is_some_and(is_deprecated)
}

/// What to name instead of a deprecated replacement.
fn after(other: Element<'_>) -> String {
    match other.replacement() {
        Some(last) => format!("name what replaces that: `{}`", last.full_name()),
        None => "name an element that is not deprecated".to_owned(),
    }
}

/// The element that a misspelt name most likely means.
fn suggestion(context: &Context<'_>, element: Element<'_>, text: &str) -> Option<String> {
    let tree = context.tree;
    let siblings = element.siblings();
    let Some((scope, name)) = text.rsplit_once('.') else {
        let others = siblings.iter().filter(|it| **it != element);
        return did_you_mean(text, others.map(|it| it.name()));
    };
    // It may be written as in the file, where the package is implied.
    let in_package = format!("{}.{text}", element.package().name());
    if tree.element_named(&in_package).is_some() {
        return Some(format!("write the full name: `{in_package}`"));
    }
    if let Some(holder) = tree.element_named(scope) {
        let members = holder.members();
        let near = nearest(name, members.iter().map(|it| it.name()))?;
        return Some(format!("did you mean `{scope}.{near}`?"));
    }
    let types = context.everywhere().files().flat_map(|it| it.members());
    let names: Vec<String> = types.map(Element::full_name).collect();
    did_you_mean(text, names.iter().map(String::as_str))
}
