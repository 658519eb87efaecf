use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Field, Part};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-renamed",
    summary: "a field that was renamed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_NAME", "protolock:NoChangingFieldNames", "google:FIELD_NAME_CHANGE"],
    aliases_by_case: &[
        aliases::OF_TYPES,
        aliases::OF_LOST_ENTRIES,
        &["buf:FIELD_SAME_JSON_NAME", "protolock:NoChangingFieldIDs"],
    ],
    spares_work_in_progress: true,
    page: include_str!("field-renamed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // JSON and text format use the full name of an extension: see `extension-renamed`.
    if old.name() == new.name() || new.is_extension() {
        return;
    }
    let (was, is) = (old.name(), new.name());
    let field = old.relative_name();
    let message = format!("`{field}` was renamed to `{is}`");
    let finding = sink.change(diff, change.map(Element::Field), Part::Name, message);
    finding.changed(was, is);
    // A derived JSON name changes with the name: the two are one change.
    let along = old.decl().json_name().is_none() && new.decl().json_name().is_none();
    let json = along && old.json_name() != new.json_name();
    let surfaces: &[Surface] =
        if json { &[Surface::Json, Surface::Text] } else { &[Surface::Text] };
    finding.proven(diff.prover().prove_field(change).on(surfaces));
    // Each side reads only its own name.
    finding.breaks(Effects::both(surfaces));
    finding.source(diff, change.map(Element::Field));
    // With `json_name`, JSON may still use the old name.
    let key = match new.json_name() == was {
        true => String::new(),
        false => format!(", and neither does hand-written JSON with the key `{was}`"),
    };
    finding.why(format!(
        "a `google.protobuf.FieldMask` with the path `{was}` no longer selects this field{key}"
    ));
    let mut aliases = RULE.aliases.to_vec();
    if json {
        aliases.push("buf:FIELD_SAME_JSON_NAME");
        finding.help(format!(
            "change the name back; `[json_name = \"{}\"]` keeps only the JSON name",
            old.json_name()
        ));
    }
    let Some(holder) = new.containing_message() else { return };
    if let Some(taken) = holder.field_named(was) {
        aliases.push("protolock:NoChangingFieldIDs");
        finding.label(taken.place(Part::Name), "this field now has the name");
    }
    // The entry type of a map is named after the field.
    if old.is_map() && new.is_map() {
        aliases.extend(aliases::of_types(old, new));
        aliases.extend(aliases::of_lost_entry(old, holder));
    }
    finding.aliases(&aliases);
}
