use abide_schema::{Element, Field, Part, Type};

use crate::change::{Change, Diff};
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-type-changed",
    summary: "a field of another type",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_TYPE", "protolock:NoChangingFieldTypes", "google:FIELD_TYPE_CHANGE"],
    spares_work_in_progress: true,
    page: include_str!("field-type-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // A map and a list of messages differ in cardinality.
    if old.is_map() != new.is_map() || diff.same_type(old.ty(), new.ty()) {
        return;
    }
    let (was, is) = (type_name(old), type_name(new));
    let message = format!("type of field `{}` changed from `{was}` to `{is}`", new.name());
    let finding = sink.change(diff, change.map(Element::Field), Part::Type, message);
    finding.fact(was).fact(is);
    finding.proven(diff.prove_field(change)).source(diff, change.map(Element::Field));
}

fn type_name(field: Field<'_>) -> String {
    match field.ty() {
        Type::Scalar(scalar) => scalar.keyword().to_owned(),
        Type::Message(id) => field.tree.message(id).full_name(),
        Type::Enum(id) => field.tree.enumeration(id).full_name(),
        Type::Unresolved => "an unknown type".to_owned(),
    }
}
