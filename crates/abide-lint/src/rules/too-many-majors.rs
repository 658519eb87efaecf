use std::collections::BTreeMap;

use abide_schema::Package;
use jiff::civil::Date;

use crate::finding::{Severity, package_place};
use crate::lifecycle::Retirement;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "too-many-majors",
    summary: "an API with more live major versions than the policy allows",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("too-many-majors.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    let Some(most) = context.policy.packages.max_majors else { return };
    for versions in context.apis().values() {
        let mut majors: BTreeMap<u32, LiveMajor<'t>> = BTreeMap::new();
        for &package in versions {
            let Some(version) = package.version() else { continue };
            let is_live = !context.is_frozen(package);
            let retirement = context.retirement(package).filter(|_| !is_live);
            // A frozen version counts where its support is limited.
            if !is_live && retirement.is_none() {
                continue;
            }
            let known = majors.entry(version.major).or_insert(LiveMajor { package, retirement });
            if is_live && known.retirement.is_some() {
                *known = LiveMajor { package, retirement: None };
            }
        }
        let live = majors.values().filter(|it| it.retirement.is_none()).count();
        let over = majors.values().find(|it| it.end().is_some_and(|end| context.as_of > end));
        // Those that are frozen and still supported may be as many as the calendar makes.
        if majors.len() <= most as usize || live <= most as usize && over.is_none() {
            continue;
        }
        let oldest = if live > most as usize { majors.values().next() } else { over };
        let Some(oldest) = oldest.filter(|it| it.package.is_judged()) else { continue };
        let name = oldest.package.name();
        let Some(place) = package_place(oldest.package) else { continue };
        let finding = sink.report(
            place,
            name,
            name,
            format!(
                "`{name}` is the oldest of {} major versions, but the policy allows {most}",
                majors.len()
            ),
        );
        finding.fact(majors.len().to_string()).help(match oldest.end() {
            Some(_) => format!("delete `{name}` once none of your clients needs it"),
            None => format!("freeze `{name}`, or remove it once it is no longer served"),
        });
        if let Some(Retirement { successor, since, end, .. }) = oldest.retirement {
            let frozen = context.days().frozen(oldest.package);
            let frozen = frozen.map(|day| format!(" since {day}")).unwrap_or_default();
            finding.why(format!(
                "it is frozen{frozen}, and was supported until {end}: `{}` has been stable since \
                 {since}",
                successor.name()
            ));
        }
        for (major, it) in majors.iter().filter(|(_, it)| it.package != oldest.package) {
            let Some(place) = package_place(it.package) else { continue };
            finding.label(
                place,
                match it.end() {
                    Some(end) => format!("v{major}, frozen, supported until {end}"),
                    None => format!("v{major}"),
                },
            );
        }
    }
}

/// A major version that counts.
struct LiveMajor<'t> {
    package: Package<'t>,
    /// Of a frozen one, the end of its support.
    retirement: Option<Retirement<'t>>,
}

impl LiveMajor<'_> {
    fn end(&self) -> Option<Date> {
        self.retirement.map(|it| it.end)
    }
}
