use abide_schema::{Tree, format_api_name};

use crate::finding::{Severity, package_place};
use crate::lifecycle::{apis, stable_major};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "major-outside-window",
    summary: "a new stable major version outside the release window",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("major-outside-window.md"),
    check: Check::Baseline(check),
};

fn check<'t>(context: &Context<'t>, old: &'t Tree, sink: &mut Sink) {
    let calendar = &context.policy.calendar;
    if !calendar.api_releases.is_set() {
        return;
    }
    let before = apis(old);
    let judged = context.tree.packages().filter(|it| it.is_judged());
    for new in judged.filter(|it| stable_major(*it).is_some() && !context.is_candidate(*it)) {
        let versions = format_api_name(new.name()).and_then(|api| before.get(&api));
        let majors = versions.into_iter().flatten().filter_map(|it| Some((stable_major(*it)?, it)));
        // The first stable major of an API may appear at any time.
        let Some((highest, released)) = majors.max_by_key(|(major, _)| *major) else { continue };
        let rises = stable_major(new).is_some_and(|it| it > highest);
        // The recorded day counts, however old the tree is that it is compared with.
        let since = context.introduced(new).filter(|day| *day <= context.as_of);
        let day = since.unwrap_or(context.as_of);
        let window = calendar.major_window(day).filter(|it| rises && !it.contains(day));
        let (Some(window), Some(place)) = (window, package_place(new)) else { continue };
        let (name, released) = (new.name(), released.name());
        let message =
            format!("`{name}` superseded `{released}` on {day}, outside the window for new majors");
        sink.report(place, name, name, message)
            .why(format!(
                "the next window is from {} to the API release on {}",
                window.opens, window.closes
            ))
            .help("keep it an alpha until then, or record the day it appeared in `introduced`")
            .fact(released);
    }
}
