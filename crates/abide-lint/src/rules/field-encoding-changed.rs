use abide_change::{Change, Comparison};
use abide_schema::{Element, Field, Part, Type};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-encoding-changed",
    summary: "a field whose encoding on the wire changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[aliases::OF_TYPES],
    spares_work_in_progress: true,
    page: include_str!("field-encoding-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    if old.cardinality() != new.cardinality() {
        return;
    }
    let (was, is) = (old.features(), new.features());
    if holds_messages(old) && holds_messages(new) && was.delimited != is.delimited {
        let (was, is) = match is.delimited {
            true => ("length-prefixed", "delimited"),
            false => ("delimited", "length-prefixed"),
        };
        let message = describe_change(new, was, is);
        let finding = sink.change(diff, change.map(Element::Field), Part::Type, message);
        finding.changed(was, is);
        finding.proven(diff.prover().prove_kept(old, new)).source(diff, change.map(Element::Field));
        if diff.is_same_type(old.ty(), new.ty()) {
            finding.aliases(&aliases::of_pair(old, new, &aliases::of_types(old, new)));
        }
        return;
    }
    if old.is_packable() && new.is_packable() && was.packed != is.packed {
        let (was, is) = match is.packed {
            true => ("expanded", "packed"),
            false => ("packed", "expanded"),
        };
        let message = describe_change(new, was, is);
        let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
        finding.changed(was, is);
        finding.why("readers accept both forms, but hashes and signatures of the bytes change");
    }
}

fn describe_change(field: Field<'_>, was: &str, is: &str) -> String {
    let name = field.relative_name();
    format!("encoding of `{name}` changed from {was} to {is}")
}

fn holds_messages(field: Field<'_>) -> bool {
    matches!(field.ty(), Type::Message(_)) && !field.is_map()
}
