use abide_change::{Change, Comparison, Direction, Effects, Surface, find_map_entries};
use abide_schema::{Element, Field, Message, Part, Type};

use crate::checks::reserved;
use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-type-changed",
    summary: "a field whose type changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[
        aliases::OF_TYPES,
        aliases::OF_CARDINALITY,
        &["google:FIELD_TYPE_CHANGE", "protolock:NoChangingFieldTypes"],
    ],
    spares_work_in_progress: true,
    page: include_str!("field-type-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // A map and a list of messages differ in cardinality.
    let pairs = diff.find_differing_types(old, new);
    if pairs.is_empty() {
        return;
    }
    let (was, is) = (describe_type(old), describe_type(new));
    let name = new.relative_name();
    let message = format!("type of `{name}` changed from `{was}` to `{is}`");
    let part = if new.is_map() { Part::Whole } else { Part::Type };
    let finding = sink.change(diff, change.map(Element::Field), part, message);
    finding.changed(was, is);
    finding.proven(diff.prover().prove_kept(old, new)).source(diff, change.map(Element::Field));
    let types = pairs.iter().filter_map(|(old, new)| old.message_type().zip(new.message_type()));
    if types.clone().any(|(was, is)| loses_extension(diff, was, is)) {
        finding.breaks(Effects::backward(&[Surface::Json, Surface::Text]));
    }
    if let Some((lost, by)) =
        types.filter_map(|(was, is)| reserved::find_abandoned(diff, was, is)).next()
        && old.number() == new.number()
    {
        finding.breaks(Effects::backward(&[Surface::Wire]));
        finding.why(reserved::describe_abandoned(lost, by));
    }
    let mut aliases = aliases::of_types(pairs[0].0, pairs[0].1);
    if !new.is_map() {
        aliases.extend(["protolock:NoChangingFieldTypes", "google:FIELD_TYPE_CHANGE"]);
        // A message has presence, a scalar may have none.
        if matches!(old.ty(), Type::Message(_)) != matches!(new.ty(), Type::Message(_))
            && old.cardinality() == new.cardinality()
        {
            aliases.extend(aliases::of_cardinality(old, new));
        }
    }
    finding.aliases(&aliases::of_pair(old, new, &aliases));
}

/// The type of a field as a proto file writes it, with full names.
pub(super) fn describe_type(field: Field<'_>) -> String {
    if let Some([key, value]) = find_map_entries(field) {
        return format!("map<{}, {}>", describe_type(key), describe_type(value));
    }
    match field.ty() {
        Type::Scalar(scalar) => scalar.keyword().to_owned(),
        Type::Message(id) => field.tree.message(id).full_name(),
        Type::Enum(id) => field.tree.enumeration(id).full_name(),
        Type::Unresolved => "an unknown type".to_owned(),
    }
}

/// Returns true if an extension of the old type has no namesake for the new one: the name of an
/// extension means nothing in another type.
fn loses_extension<'t>(diff: &Comparison<'t>, was: Message<'t>, is: Message<'t>) -> bool {
    diff.extensions(Direction::Backward, was).any(|lost| {
        let name = lost.full_name();
        diff.extensions(Direction::Forward, is).all(|kept| kept.full_name() != name)
    })
}
