use abide_schema::{Edition, Element, Part, Presence};
use abide_syntax::FieldLabel;

use crate::rule::{Check, Context, Group, Rule, Sink};

const BUF: &str = "buf:FIELD_NOT_REQUIRED";
/// Only about proto3, where it is an error of the compiler as well.
const PROTOLINT: &str = "protolint:PROTO3_FIELDS_AVOID_REQUIRED";

pub(super) static RULE: Rule = Rule {
    id: "field-required",
    summary: "a required field",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[BUF, PROTOLINT]],
    spares_work_in_progress: true,
    page: include_str!("field-required.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    let is_proto3 = field.file().decl().edition == Edition::Proto3;
    let is_required = match is_proto3 {
        true => field.decl().label == Some(FieldLabel::Required),
        false => field.presence() == Presence::LegacyRequired,
    };
    let alias = if is_proto3 { PROTOLINT } else { BUF };
    if !is_required || context.exempts(element, &[alias]) {
        return;
    }
    let message = format!("field `{}` is required", field.relative_name());
    sink.report(field.place(Part::Name), field.package().name(), field.full_name(), message)
        .why("a reader refuses every message without it, so it can never be removed")
        .help("make it optional, and check in code that it is set")
        .aliases(&[alias]);
}
