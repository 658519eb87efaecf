use abide_change::{Change, find_lost_result, find_paged_field};
use abide_schema::{Element, File, Part, Service, Tree};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-paging-changed",
    summary: "a method that generated clients now page through, no longer do, or do otherwise",
    group: Group::Compatibility,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-paging-changed.md"),
    // The fields of its messages decide, and the method itself is unchanged.
    check: Check::Baseline(check),
};

fn check<'t>(context: &Context<'t>, _: &'t Tree, sink: &mut Sink) {
    let Some(diff) = context.diff() else { return };
    let services = context.tree.files().filter(|it| it.is_judged()).flat_map(File::services);
    for new in services.flat_map(Service::methods) {
        let Some(old) = diff.old_method(new) else { continue };
        // A renamed field and other messages are reported as such.
        let kept = [(old.input(), new.input()), (old.output(), new.output())];
        if kept.iter().any(|(old, new)| old.and_then(|it| diff.new_message(it)) != *new) {
            continue;
        }
        let (was, is) = (find_paged_field(old), find_paged_field(new));
        let name = new.relative_name();
        let message = match (was, is) {
            (None, Some(_)) => format!("clients now page through the results of `{name}`"),
            (Some(_), None) => format!("clients no longer page through the results of `{name}`"),
            (Some(was), Some(is)) if diff.new_field(was) != Some(is) => {
                format!("pages of `{name}` now hold `{}` instead of `{}`", is.name(), was.name(),)
            }
            _ => continue,
        };
        let change = Change::Both { old, new }.map(Element::Method);
        let finding = sink.change(diff, change, Part::Name, message);
        for field in [was, is] {
            finding.fact(field.map(|it| it.name()).unwrap_or_default());
        }
        finding.source_of_client(find_lost_result(old, new));
        finding.why("the method of a generated client returns another type");
    }
}
