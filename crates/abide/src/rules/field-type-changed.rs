use abide_schema::{Element, Field, Part, Type};

use crate::change::{Change, Diff};
use crate::finding::Severity;
use crate::peer;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-type-changed",
    summary: "a field of another type",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    spares_work_in_progress: true,
    page: include_str!("field-type-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // A map and a list of messages differ in cardinality.
    if old.is_map() != new.is_map() {
        return;
    }
    let differs = |&(old, new): &(Field<'t>, Field<'t>)| {
        // What did not link is told by the linker.
        !matches!((old.ty(), new.ty()), (Type::Unresolved, _) | (_, Type::Unresolved))
            && !diff.same_type(old.ty(), new.ty())
    };
    let pairs: Vec<(Field<'t>, Field<'t>)> = match entries(old).zip(entries(new)) {
        Some((old, new)) => old.into_iter().zip(new).filter(differs).collect(),
        None => [(old, new)].into_iter().filter(differs).collect(),
    };
    if pairs.is_empty() {
        return;
    }
    let (was, is) = (type_name(old), type_name(new));
    let message = format!("type of field `{}` changed from `{was}` to `{is}`", new.name());
    let part = if new.is_map() { Part::Whole } else { Part::Type };
    let finding = sink.change(diff, change.map(Element::Field), part, message);
    finding.fact(was).fact(is);
    finding.proven(diff.prove_kept(old, new)).source(diff, change.map(Element::Field));
    let mut aliases = peer::of_types(pairs[0].0, pairs[0].1);
    if !new.is_map() {
        aliases.extend(["protolock:NoChangingFieldTypes", "google:FIELD_TYPE_CHANGE"]);
        // A message has presence, a scalar may have none.
        if matches!(old.ty(), Type::Message(_)) != matches!(new.ty(), Type::Message(_))
            && old.cardinality() == new.cardinality()
        {
            aliases.extend(peer::of_counts(old, new));
        }
    }
    finding.aliases(&peer::of_pair(old, new, &aliases));
}

/// The key and the value of a map.
fn entries(field: Field<'_>) -> Option<[Field<'_>; 2]> {
    let entry = field.message_type().filter(|_| field.is_map())?;
    Some([entry.field_numbered(1)?, entry.field_numbered(2)?])
}

fn type_name(field: Field<'_>) -> String {
    if let Some([key, value]) = entries(field) {
        return format!("map<{}, {}>", type_name(key), type_name(value));
    }
    match field.ty() {
        Type::Scalar(scalar) => scalar.keyword().to_owned(),
        Type::Message(id) => field.tree.message(id).full_name(),
        Type::Enum(id) => field.tree.enumeration(id).full_name(),
        Type::Unresolved => "an unknown type".to_owned(),
    }
}
