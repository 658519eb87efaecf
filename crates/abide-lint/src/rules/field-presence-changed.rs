use abide_change::{Change, Comparison};
use abide_schema::{Cardinality, Element, Field, Part, Presence, Type};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-presence-changed",
    summary: "a field whose presence (explicit, implicit, required) changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[aliases::OF_CARDINALITY, &["google:FIELD_PROTO3_OPTIONAL_CHANGE"]],
    spares_work_in_progress: true,
    page: include_str!("field-presence-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.presence(), new.presence());
    // Messages and members of oneofs always have presence: other rules report those changes.
    if was == is
        || [old, new].iter().any(|it| it.cardinality() != Cardinality::Singular)
        || matches!(old.ty(), Type::Message(_)) != matches!(new.ty(), Type::Message(_))
        || old.real_oneof().is_some() != new.real_oneof().is_some()
    {
        return;
    }
    let name = new.relative_name();
    let message = format!(
        "presence of `{name}` changed from {} to {}",
        name_presence(was),
        name_presence(is)
    );
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.changed(describe_presence(was), describe_presence(is));
    finding.source(diff, change.map(Element::Field));
    match (was, is) {
        (_, Presence::LegacyRequired) | (Presence::LegacyRequired, _) => {
            finding.proven(diff.prover().prove_absence(old, new));
        }
        _ => {
            finding.proven(diff.prover().prove_presence(old, new));
        }
    }
    if (was, is) == (Presence::Explicit, Presence::Implicit) {
        finding.why("a field set to zero now looks like a field that is not set");
    }
    let mut aliases = aliases::of_cardinality(old, new);
    if old.decl().proto3_optional != new.decl().proto3_optional {
        aliases.push("google:FIELD_PROTO3_OPTIONAL_CHANGE");
    }
    finding.aliases(&aliases::of_pair(old, new, &aliases));
}

fn name_presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Explicit => "explicit",
        Presence::Implicit => "implicit",
        Presence::LegacyRequired => "required",
    }
}

/// Says how a field is declared. Findings are recorded by this text, so it never changes.
fn describe_presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Explicit => "optional",
        Presence::Implicit => "without presence",
        Presence::LegacyRequired => "required",
    }
}
