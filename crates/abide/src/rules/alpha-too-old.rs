use abide_schema::{Package, Stability};

use crate::config::parse_date;
use crate::finding::Severity;
use crate::policy::months_after;
use crate::rule::{Check, Context, Group, Rule, Sink, package_place};

pub(super) static RULE: Rule = Rule {
    id: "alpha-too-old",
    summary: "an alpha that is older than the policy allows",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    spares_work_in_progress: false,
    page: include_str!("alpha-too-old.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    let calendar = &context.policy.calendar;
    let introduced = || {
        let dates = package.files().filter_map(|file| parse_date(file.introduced()?.0));
        dates.min()
    };
    let since = calendar.alpha_since.get(name).copied().or_else(introduced);
    let (Some(months), Some(since)) = (calendar.alpha_max_months, since) else { return };
    let alpha = package.version().is_some_and(|version| version.stability == Stability::Alpha);
    let Some(end) = months_after(since, months) else { return };
    let Some(place) = package_place(package).filter(|_| alpha && context.as_of > end) else {
        return;
    };
    sink.report(
        place,
        name,
        name,
        format!(
            "package `{name}` is an alpha since {since}, and the policy allows {months} months"
        ),
    )
    .help("release it, or delete it")
    .fact(since.to_string());
}
