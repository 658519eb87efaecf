use abide_change::{Change, Comparison};
use abide_schema::{Cardinality, Element, Field, Part};

use super::field_type_changed::describe_type;
use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-cardinality-changed",
    summary: "a field that changed between singular, repeated and map",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[
        aliases::OF_TYPES,
        aliases::OF_CARDINALITY,
        aliases::OF_LOST_ENTRIES,
        &["buf:FIELD_SAME_ONEOF", "google:FIELD_REPEATED_CHANGE", "protolock:NoChangingFieldTypes"],
    ],
    spares_work_in_progress: true,
    page: include_str!("field-cardinality-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.cardinality(), new.cardinality());
    if was == is {
        return;
    }
    let name = new.relative_name();
    let message =
        format!("`{name}` changed from {} to {}", name_cardinality(was), name_cardinality(is));
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.changed(name_cardinality(was), name_cardinality(is));
    // There are many maps.
    for map in [old, new].into_iter().filter(|it| it.is_map()) {
        finding.fact(describe_type(map));
    }
    finding.proven(diff.prover().prove_kept(old, new)).source(diff, change.map(Element::Field));
    let mut aliases = aliases::of_cardinality(old, new);
    if old.is_map() || new.is_map() {
        // The type changes along with it; this finding reports both.
        aliases.extend(aliases::of_types(old, new));
        if let Some(holder) = new.containing_message() {
            aliases.extend(aliases::of_lost_entry(old, holder));
        }
    } else {
        aliases.push("protolock:NoChangingFieldTypes");
    }
    aliases.push("google:FIELD_REPEATED_CHANGE");
    if old.oneof().is_some_and(|it| !it.is_synthetic())
        || new.oneof().is_some_and(|it| !it.is_synthetic())
    {
        aliases.push("buf:FIELD_SAME_ONEOF");
    }
    finding.aliases(&aliases::of_pair(old, new, &aliases));
}

fn name_cardinality(cardinality: Cardinality) -> &'static str {
    match cardinality {
        Cardinality::Singular => "singular",
        Cardinality::Repeated => "repeated",
        Cardinality::Map => "a map",
    }
}
