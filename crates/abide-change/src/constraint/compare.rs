//! The constraints of both sides compared, with a value for each claim.

use abide_schema::value::{self, Codec};
use abide_schema::{Field, Message, MessageId, Oneof, Place};
use abide_validate::annotations::{Facet, MessageLimits, find_required_oneof, read_facets};
use abide_validate::limits::{self, Contents, FieldLimits};
use abide_validate::sets::{Dialect, Included};
use abide_validate::{Evaluation, Evaluator, sample};

use super::constraint_change::{ConstraintChange, FacetChange, Inclusion};
use super::inclusion::InclusionCheck;

/// Combines both directions: whether the old side is included in the new one, and
/// the reverse.
fn join_directions<A, B>(old_in_new: &Included<A>, new_in_old: &Included<B>) -> Inclusion {
    match (old_in_new, new_in_old) {
        (Included::Unknown(why), _) | (_, Included::Unknown(why)) => {
            Inclusion::Unproven { why: why.clone() }
        }
        (Included::Yes, Included::Yes) => Inclusion::Equal,
        (Included::No(_), Included::Yes) => Inclusion::Tightened,
        (Included::Yes, Included::No(_)) => Inclusion::Loosened,
        (Included::No(_), Included::No(_)) => Inclusion::Incomparable,
    }
}

fn list_message_facets(limits: &MessageLimits) -> Vec<(&'static str, String, Place)> {
    let disabled = limits.disabled.iter().map(|it| (it.1, "true".to_owned(), it.2));
    let exclusive = limits.exclusive.iter().map(|it| {
        let required = if it.required { ", required" } else { "" };
        ("oneof", format!("[{}]{required}", it.fields.join(", ")), it.place)
    });
    let opaque = limits.stated().map(|(text, place)| ("cel", text.clone(), *place));
    disabled.chain(exclusive).chain(opaque).collect()
}

/// The constraints of a field, before and after.
pub(crate) fn compare_fields(old: Field<'_>, new: Field<'_>) -> ConstraintChange {
    let (old_facets, new_facets) = (read_facets(old), read_facets(new));
    if is_same(old, &old_facets, new, &new_facets) {
        return ConstraintChange::equal();
    }
    let (a, b) = (Evaluator::new(old.tree), Evaluator::new(new.tree));
    let active = |message: Option<Message<'_>>| {
        let limits = message.map(MessageLimits::read).unwrap_or_default();
        Dialect::ALL.map(|dialect| !limits.is_disabled(dialect))
    };
    // If validation of a message is turned on or off, that is a change of the
    // message.
    let (was, is) = (active(old.containing_message()), active(new.containing_message()));
    let judged = |facet: &Facet| was[facet.dialect as usize] && is[facet.dialect as usize];
    let keep = |facets: Vec<Facet>| facets.into_iter().filter(&judged).collect::<Vec<_>>();
    let (old_facets, new_facets) = (keep(old_facets), keep(new_facets));
    let old_rule = FieldLimits::new(old, &old_facets);
    let new_rule = FieldLimits::new(new, &new_facets);
    let old_in_new = InclusionCheck { a: &a, b: &b }.include_fields(&old_rule, &new_rule);
    let new_in_old = InclusionCheck { a: &b, b: &a }.include_fields(&new_rule, &old_rule);
    let inclusion = join_directions(&old_in_new, &new_in_old);
    if inclusion == Inclusion::Equal {
        return ConstraintChange::equal();
    }
    let tightened_by = build_example(&a, old, &b, new, &old_in_new);
    let loosened_by = build_example(&b, new, &a, old, &new_in_old);
    let facets = compare_facets((old, &old_facets), (new, &new_facets), &inclusion);
    ConstraintChange { inclusion, facets, tightened_by, loosened_by }
}

/// Returns true if two fields have the same rules on the same kind of values, as most do.
fn is_same(old: Field<'_>, old_facets: &[Facet], new: Field<'_>, new_facets: &[Facet]) -> bool {
    if old_facets.is_empty() && new_facets.is_empty() {
        return true;
    }
    let kind = |field: Field<'_>| {
        let element = limits::element(field);
        let key = limits::key(field).map(|it| it.shape);
        let open = field.enum_type().map(|it| it.features().openness);
        let presence = (field.presence(), field.cardinality(), field.oneof().is_some());
        (
            element.shape,
            element.wrapper,
            key,
            open,
            presence,
            field.decl().default().map(<[u8]>::to_vec),
        )
    };
    let mut pairs = old_facets.iter().zip(new_facets);
    old_facets.len() == new_facets.len()
        && pairs.all(|(old, new)| old.says_what(new))
        && kind(old) == kind(new)
}

/// A whole message with these contents of a field, which one side accepts and the
/// other rejects because of this field.
fn build_example(
    accepting: &Evaluator<'_>,
    field: Field<'_>,
    rejecting: &Evaluator<'_>,
    other: Field<'_>,
    found: &Included<Contents>,
) -> Option<value::Message> {
    let Included::No(Some(contents)) = found else { return None };
    let ty = field.containing_message()?.id;
    let message = sample::complete(accepting, ty, Some((field.id, contents)))?;
    let there = other.containing_message()?.id;
    is_replayed(accepting, &message, rejecting, there, |evaluation| {
        evaluation.violations.iter().any(|it| it.field == Some(other.id))
    })
    .then_some(message)
}

/// Returns true if one side accepts a message and the other rejects it as expected.
fn is_replayed(
    accepting: &Evaluator<'_>,
    message: &value::Message,
    rejecting: &Evaluator<'_>,
    there: MessageId,
    rejected: impl Fn(&Evaluation) -> bool,
) -> bool {
    if !accepting.evaluate_message(message).accepts() {
        return false;
    }
    let bytes = Codec::new(accepting.tree()).encode(message);
    let decoded = Codec::new(rejecting.tree()).decode(there, &bytes);
    decoded.is_ok_and(|message| rejected(&rejecting.evaluate_message(&message)))
}

/// The rules that differ, each with its own effect; `whole` is the effect of all of
/// them together.
fn compare_facets(
    (old, old_facets): (Field<'_>, &[Facet]),
    (new, new_facets): (Field<'_>, &[Facet]),
    whole: &Inclusion,
) -> Vec<FacetChange> {
    let mut groups: Vec<String> = Vec::new();
    for facet in old_facets.iter().chain(new_facets) {
        let group = facet.group();
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let mut changes = Vec::new();
    for group in groups {
        let of = |facets: &[Facet]| -> Vec<Facet> {
            facets.iter().filter(|it| it.group() == group).cloned().collect()
        };
        let (was, is) = (of(old_facets), of(new_facets));
        let differing: Vec<(Option<&Facet>, Option<&Facet>)> = pair_facets(&was, &is)
            .into_iter()
            .filter(|(was, is)| {
                let said =
                    |facet: &Option<&Facet>| facet.map(|it| (it.dialect, it.literals.clone()));
                said(was) != said(is)
            })
            .collect();
        if differing.is_empty() {
            continue;
        }
        // The old side with the new rules of this group, so that the other new
        // rules have no effect.
        let mut swapped: Vec<Facet> =
            old_facets.iter().filter(|it| it.group() != group).cloned().collect();
        swapped.extend(is.iter().cloned());
        let alone = swapped.len() == new_facets.len()
            && new_facets.iter().all(|it| swapped.iter().any(|other| other.says_what(it)));
        let inclusion = if alone {
            whole.clone()
        } else {
            let (a, b) = (Evaluator::new(old.tree), Evaluator::new(new.tree));
            let before = FieldLimits::new(old, old_facets);
            let after = FieldLimits::new(new, &swapped);
            join_directions(
                &InclusionCheck { a: &a, b: &b }.include_fields(&before, &after),
                &InclusionCheck { a: &b, b: &a }.include_fields(&after, &before),
            )
        };
        for (was, is) in differing {
            let what = match (was, is) {
                (Some(was), Some(is)) if was.literals == is.literals => {
                    // Only the library differs, which often has no effect.
                    if inclusion == Inclusion::Equal {
                        continue;
                    }
                    let (path, text) = (&was.path, was.text());
                    format!("`{path}` {text} of `{}` → `{}`", was.dialect.name(), is.dialect.name())
                }
                (Some(was), Some(is)) => format!("`{}` {} → {}", was.path, was.text(), is.text()),
                (Some(was), None) => format!("`{}` {} removed", was.path, was.text()),
                (None, Some(is)) => format!("`{}` {} added", is.path, is.text()),
                (None, None) => continue,
            };
            changes.push(FacetChange {
                what,
                place_old: was.map(|it| it.place),
                place_new: is.map(|it| it.place),
                inclusion: inclusion.clone(),
            });
        }
    }
    changes
}

/// Facets with the same path, before and after. If each side has only one, its
/// library does not matter.
fn pair_facets<'f>(
    was: &'f [Facet],
    is: &'f [Facet],
) -> Vec<(Option<&'f Facet>, Option<&'f Facet>)> {
    let mut paths: Vec<&str> = Vec::new();
    for facet in was.iter().chain(is).filter(|it| it.path != "(none)") {
        if !paths.contains(&facet.path.as_str()) {
            paths.push(&facet.path);
        }
    }
    let mut pairs = Vec::new();
    for path in paths {
        let of = |facets: &'f [Facet]| -> Vec<&'f Facet> {
            facets.iter().filter(|it| it.path == path).collect()
        };
        match (of(was).as_slice(), of(is).as_slice()) {
            (&[was], &[is]) => pairs.push((Some(was), Some(is))),
            (was, is) => {
                let by = |facets: &[&'f Facet], dialect: Dialect| {
                    facets.iter().copied().find(|it| it.dialect == dialect)
                };
                let each = Dialect::ALL.map(|dialect| (by(was, dialect), by(is, dialect)));
                pairs.extend(each);
            }
        }
    }
    pairs
}

/// Compares the constraints of a oneof before and after.
pub(crate) fn compare_oneofs(old: Oneof<'_>, new: Oneof<'_>) -> ConstraintChange {
    let (was, is) = (find_required_oneof(old), find_required_oneof(new));
    let (what, inclusion) = match (was, is) {
        (None, Some(_)) => ("`required` true added", Inclusion::Tightened),
        (Some(_), None) => ("`required` true removed", Inclusion::Loosened),
        (None, None) | (Some(_), Some(_)) => return ConstraintChange::equal(),
    };
    let (a, b) = (Evaluator::new(old.message().tree), Evaluator::new(new.message().tree));
    let unset =
        |accepting: &Evaluator<'_>, from: Oneof<'_>, rejecting: &Evaluator<'_>, to: Oneof<'_>| {
            let message = sample::complete(accepting, from.message().id, None)?;
            let rejects = |evaluation: &Evaluation| {
                evaluation.violations.iter().any(|it| it.field.is_none() && it.path == to.name())
            };
            is_replayed(accepting, &message, rejecting, to.message().id, rejects).then_some(message)
        };
    let tightened = inclusion == Inclusion::Tightened;
    ConstraintChange {
        facets: vec![FacetChange {
            what: what.to_owned(),
            place_old: was.map(|it| it.1),
            place_new: is.map(|it| it.1),
            inclusion: inclusion.clone(),
        }],
        inclusion,
        tightened_by: if tightened { unset(&a, old, &b, new) } else { None },
        loosened_by: if tightened { None } else { unset(&b, new, &a, old) },
    }
}

/// Compares the constraints of a whole message before and after: whether it is
/// validated at all, which of its fields exclude each other, and expressions.
pub(crate) fn compare_messages(old: Message<'_>, new: Message<'_>) -> ConstraintChange {
    let (was, is) = (MessageLimits::read(old), MessageLimits::read(new));
    let (a, b) = (Evaluator::new(old.tree), Evaluator::new(new.tree));
    let old_in_new = include_messages((&a, old, &was), (&b, new, &is));
    let new_in_old = include_messages((&b, new, &is), (&a, old, &was));
    let inclusion = join_directions(&old_in_new, &new_in_old);
    if inclusion == Inclusion::Equal {
        return ConstraintChange::equal();
    }
    let witness = |found: Included<value::Message>| match found {
        Included::No(message) => message,
        _ => None,
    };
    let (before, after) = (list_message_facets(&was), list_message_facets(&is));
    let mut facets = Vec::new();
    let differ = |(key, text, _): &&(&str, String, Place), others: &[(&str, String, Place)]| {
        !others.iter().any(|it| it.0 == *key && it.1 == *text)
    };
    for facet in before.iter().filter(|it| differ(it, &after)) {
        facets.push(FacetChange {
            what: format!("`{}` {} removed", facet.0, facet.1),
            place_old: Some(facet.2),
            place_new: None,
            inclusion: inclusion.clone(),
        });
    }
    for facet in after.iter().filter(|it| differ(it, &before)) {
        facets.push(FacetChange {
            what: format!("`{}` {} added", facet.0, facet.1),
            place_old: None,
            place_new: Some(facet.2),
            inclusion: inclusion.clone(),
        });
    }
    ConstraintChange {
        inclusion,
        facets,
        tightened_by: witness(old_in_new),
        loosened_by: witness(new_in_old),
    }
}

/// One side of a comparison of messages.
type Side<'s, 't> = (&'s Evaluator<'t>, Message<'t>, &'s MessageLimits);

/// Decides whether the rules of one message imply those of another.
fn include_messages(
    (a, from, was): Side<'_, '_>,
    (b, to, is): Side<'_, '_>,
) -> Included<value::Message> {
    let mut doubt = None;
    for dialect in Dialect::ALL {
        let newly = was.is_disabled(dialect) && !is.is_disabled(dialect);
        if newly && sample::has_constraints(b, to.id) {
            let shown = sample::find_rejected(b, to.id).and_then(|wrong| {
                let bytes = Codec::new(b.tree()).encode(&wrong);
                let message = Codec::new(a.tree()).decode(from.id, &bytes).ok()?;
                is_replayed(a, &message, b, to.id, Evaluation::rejects).then_some(message)
            });
            match shown {
                Some(message) => return Included::No(Some(message)),
                None => doubt = Some("no value that shows the difference was found".to_owned()),
            }
        }
    }
    if is.is_disabled(Dialect::Buf) || was.is_disabled(Dialect::Buf) {
        return doubt.map_or(Included::Yes, Included::Unknown);
    }
    for exclusive in &is.exclusive {
        let one = was
            .exclusive
            .iter()
            .any(|it| exclusive.fields.iter().all(|name| it.fields.contains(name)));
        let some = !exclusive.required
            || was.exclusive.iter().any(|it| {
                it.required && it.fields.iter().all(|name| exclusive.fields.contains(name))
            });
        if one && some {
            continue;
        }
        match sample::build_unlike(a, from, &exclusive.fields).into_iter().find(|message| {
            is_replayed(a, message, b, to.id, |evaluation| {
                evaluation.violations.iter().any(|it| it.field.is_none() && it.path.is_empty())
            })
        }) {
            Some(message) => return Included::No(Some(message)),
            None => doubt = Some("no value that shows the difference was found".to_owned()),
        }
    }
    let known = |text: &String| was.stated().any(|(known, _)| known == text);
    if let Some((text, _)) = is.stated().find(|(text, _)| !known(text)) {
        doubt.get_or_insert(format!("`{text}` cannot be compared"));
    }
    doubt.map_or(Included::Yes, Included::Unknown)
}
