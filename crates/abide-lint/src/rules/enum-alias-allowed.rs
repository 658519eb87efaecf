use abide_change::OptionOwner;
use abide_schema::Element;
use abide_schema::value::Value;

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-alias-allowed",
    summary: "an enum that sets `allow_alias`",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:ENUM_NO_ALLOW_ALIAS"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-alias-allowed.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Enum(it) = element else { return };
    let holder = OptionOwner::Element(element);
    let option = holder.standard("allow_alias").filter(|it| it.value == Value::Bool(true));
    let Some(option) = option.filter(|_| !context.exempts(element, RULE.aliases)) else { return };
    let name = it.full_name();
    let message = format!("enum `{name}` allows two names for one number");
    sink.report(holder.place(Some(option)), element.package().name(), name, message)
        .why("JSON and text format print only one of the names, so readers may not find theirs")
        .help("keep one name for each number");
}
