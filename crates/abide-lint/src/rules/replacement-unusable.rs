use abide_schema::{Element, Stability};

use crate::checks::stability;
use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::{backtick, find_nearest};

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

/// The reason why an element cannot replace another, and what to do.
struct ReplacementObstacle {
    why_not: String,
    help: String,
}

impl ReplacementObstacle {
    fn new(why_not: impl Into<String>, help: impl Into<String>) -> Option<ReplacementObstacle> {
        Some(ReplacementObstacle { why_not: why_not.into(), help: help.into() })
    }
}

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some((text, place)) = element.replaced_by() else { return };
    if context.is_frozen(element.package()) {
        return;
    }
    let other = element.replacement();
    let fault = match other {
        // A part of a tree does not have the files of the others.
        None if context.partial && (element.parent().is_none() || text.contains('.')) => return,
        None => explain_missing(context, element, text),
        Some(other) => find_obstacle(context, element, other),
    };
    let Some(ReplacementObstacle { why_not, help }) = fault else { return };
    let (name, noun) = (element.full_name(), element.noun());
    let message =
        format!("the replacement {text} of {noun} `{name}` {why_not}", text = backtick(text));
    let finding = sink.report(place, element.package().name(), name, message);
    finding.why("users must know what to use instead").help(help).fact(text).fact(why_not);
    if let Some(place) = other.filter(|it| *it != element).and_then(Element::deprecated) {
        finding.label(place, "deprecated here");
    }
}

/// Explains why no element has the name of a replacement.
fn explain_missing<'t>(
    context: &Context<'t>,
    element: Element<'t>,
    text: &str,
) -> Option<ReplacementObstacle> {
    let unless = "write the full name of an element of this tree, or the name of a sibling";
    let help = suggest_replacement(context, element, text).unwrap_or_else(|| unless.to_owned());
    let sibling = element.parent().map(|parent| format!("{}.{text}", parent.full_name()));
    let was_there = context.baseline.is_some_and(|old| {
        old.element_named(text).is_some()
            || sibling.is_some_and(|name| old.element_named(&name).is_some())
    });
    let was_removed = was_there || is_reserved(context, element, text);
    ReplacementObstacle::new(if was_removed { "was removed" } else { "does not exist" }, help)
}

/// Returns true if a name is reserved where the element that has it would be.
fn is_reserved(context: &Context<'_>, element: Element<'_>, text: &str) -> bool {
    let (holder, name) = match text.rsplit_once('.') {
        None => (element.parent(), text),
        Some((holder, name)) => (context.tree.element_named(holder), name),
    };
    match holder {
        Some(Element::Message(it)) => it.reserves_name(name),
        Some(Element::Enum(it)) => it.is_reserved_name(name),
        _ => false,
    }
}

/// Finds the reason why users of an element cannot use the other instead.
fn find_obstacle<'t>(
    context: &Context<'t>,
    element: Element<'t>,
    other: Element<'t>,
) -> Option<ReplacementObstacle> {
    let (own, theirs) = (element.package(), other.package());
    if other == element {
        return ReplacementObstacle::new(
            "is the element itself",
            "name the element to use instead",
        );
    }
    if !other.is_exported() && other.has_known_visibility() && other.file() != element.file() {
        let help = "export it, or name an element that is exported";
        return ReplacementObstacle::new("is local to another file", help);
    }
    if !can_replace(element, other) {
        let noun = with_article(other.noun());
        let help = format!("name what is used where the {} is used", element.noun());
        return ReplacementObstacle::new(format!("is {noun}"), help);
    }
    if is_also_deprecated(element, other) {
        return ReplacementObstacle::new(
            "is deprecated too",
            suggest_final_replacement(context, element, other),
        );
    }
    // Packages without a version promise as much as stable ones.
    let [promised, required] =
        [theirs, own].map(|package| stability(package).unwrap_or(Stability::Stable));
    if promised < required {
        let why_not = format!("is in the {promised} package `{}`", theirs.name());
        let help = format!("name an element of a {required} package");
        return ReplacementObstacle::new(why_not, help);
    }
    if other.work_in_progress().is_some() && element.work_in_progress().is_none() {
        let help = "name an element that is ready, or wait with the deprecation";
        return ReplacementObstacle::new("is work in progress", help);
    }
    if theirs != own && context.is_frozen(theirs) {
        let why_not = format!("is in the frozen package `{}`", theirs.name());
        return ReplacementObstacle::new(
            why_not,
            "name an element of a package that is not frozen",
        );
    }
    let denied = context.policy.dependencies.denial(own.name(), theirs.name())?;
    let why_not = format!("is in a package that `{}` may not depend on", own.name());
    let help = format!(
        "name an element of another package: the policy denies `{} -> {}`",
        denied.from.text(),
        denied.to.text()
    );
    ReplacementObstacle::new(why_not, help)
}

/// Returns true if an element of the kind of `other` can be used where `element` is used. A field
/// may be replaced by a type that takes what several fields held.
fn can_replace(element: Element<'_>, other: Element<'_>) -> bool {
    match element {
        Element::Field(_) | Element::Oneof(_) => matches!(
            other,
            Element::Field(_) | Element::Oneof(_) | Element::Message(_) | Element::Enum(_)
        ),
        Element::Message(_) | Element::Enum(_) => {
            matches!(other, Element::Message(_) | Element::Enum(_))
        }
        Element::EnumValue(_) => matches!(other, Element::EnumValue(_)),
        Element::Service(_) => matches!(other, Element::Service(_)),
        Element::Method(_) => matches!(other, Element::Method(_)),
    }
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['e', 'o']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Returns true if the replacement of an element is deprecated itself. If the message of both is,
/// its own replacement counts.
fn is_also_deprecated(element: Element<'_>, other: Element<'_>) -> bool {
    is_deprecated(other) && !element.parent().is_some_and(is_deprecated)
}

/// Suggests an element instead of a deprecated replacement: the first usable one that its own
/// replacements lead to.
fn suggest_final_replacement<'t>(
    context: &Context<'t>,
    element: Element<'t>,
    other: Element<'t>,
) -> String {
    let mut passed = vec![other];
    while let Some(next) = passed.last().and_then(|it| it.replacement()) {
        if !is_also_deprecated(element, next) && find_obstacle(context, element, next).is_none() {
            return format!("name what replaces that: `{}`", next.full_name());
        }
        if passed.contains(&next) {
            break;
        }
        passed.push(next);
    }
    "name an element that is not deprecated".to_owned()
}

/// Suggests a name instead of a misspelt one: the nearest of those that can be used. Where only one
/// is near that cannot, the help says why not.
fn suggest_replacement<'t>(
    context: &Context<'t>,
    element: Element<'t>,
    text: &str,
) -> Option<String> {
    // It may be written as in the file, where the package is implied.
    let in_package = format!("{}.{text}", element.package().name());
    let named = context.tree.element_named(&in_package).filter(|_| text.contains('.'));
    if named.is_some_and(|it| find_obstacle(context, element, it).is_none()) {
        return Some(format!("write the full name: `{in_package}`"));
    }
    // What is compared, what stands before it, and the elements that may be meant.
    let (word, scope, others): (&str, &str, Vec<Element<'t>>) = match text.rsplit_once('.') {
        None => (text, "", element.collect_siblings()),
        Some((scope, name)) => match context.tree.element_named(scope) {
            Some(holder) => (name, &text[..=scope.len()], holder.members()),
            None => (text, "", context.everywhere().files().flat_map(|it| it.members()).collect()),
        },
    };
    let is_full = word == text && text.contains('.');
    let name = |it: Element<'t>| if is_full { it.full_name() } else { it.name().to_owned() };
    let others: Vec<(String, Element<'t>)> =
        others.into_iter().filter(|it| *it != element).map(|it| (name(it), it)).collect();
    let usable = others.iter().filter(|(_, it)| find_obstacle(context, element, *it).is_none());
    if let Some(near) = find_nearest(word, usable.map(|(name, _)| name.as_str())) {
        return Some(format!("did you mean `{scope}{near}`?"));
    }
    let near = find_nearest(word, others.iter().map(|(name, _)| name.as_str()))?;
    let (_, other) = others.iter().find(|(name, _)| name == near)?;
    let ReplacementObstacle { why_not, help } = find_obstacle(context, element, *other)?;
    Some(format!("{help}; `{scope}{near}` {why_not}"))
}
