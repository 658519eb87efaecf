use abide_schema::{Element, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "service-suffix-missing",
    summary: "a service whose name lacks the suffix of services",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:SERVICE_SUFFIX", "protolint:SERVICE_NAMES_END_WITH"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("service-suffix-missing.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Service(service) = element else { return };
    let (name, suffix) =
        (service.name(), context.policy.lint.of(service.file()).service_suffix.as_str());
    if name.ends_with(suffix) || context.exempts(element, RULE.aliases) {
        return;
    }
    let message = format!("the name of service `{name}` does not end with `{suffix}`");
    sink.report(service.place(Part::Name), element.package().name(), service.full_name(), message)
        .help(format!("rename it to `{name}{suffix}` before anybody relies on the name"))
        .fact(name);
}
