use abide_change::option::{self, Setting};
use abide_change::{Change, Diff, Effects, Surface};
use abide_schema::{Element, Part, Service};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "generic-services-changed",
    summary: "a service whose generic classes (`*_generic_services`) were added or removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "buf:FILE_SAME_CC_GENERIC_SERVICES",
        "buf:FILE_SAME_JAVA_GENERIC_SERVICES",
        "buf:FILE_SAME_PY_GENERIC_SERVICES",
    ]],
    spares_work_in_progress: true,
    page: include_str!("generic-services-changed.md"),
    check: Check::Change(ChangeCheck::Service(check)),
};

/// For each language its option, its name, its surface and the rule of buf.
const OPTIONS: &[(&str, &str, Surface, &str)] = &[
    ("cc_generic_services", "C++", Surface::SourceCpp, "buf:FILE_SAME_CC_GENERIC_SERVICES"),
    ("java_generic_services", "Java", Surface::SourceJava, "buf:FILE_SAME_JAVA_GENERIC_SERVICES"),
    ("py_generic_services", "Python", Surface::SourcePython, "buf:FILE_SAME_PY_GENERIC_SERVICES"),
];

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Service<'t>>, sink: &mut Sink) {
    let Some((old, new)) = change.both() else { return };
    let Some(files) = option::files(change.map(Service::file)) else { return };
    let (mut lost, mut gained, mut surfaces) = (Vec::new(), Vec::new(), Vec::new());
    let (mut facts, mut aliases) = (Vec::new(), Vec::new());
    for &(name, language, surface, alias) in OPTIONS {
        let (was, is) = Setting::standard(files, name).values();
        if was == is {
            continue;
        }
        facts.push(format!("{name} {is}"));
        aliases.push(alias);
        if was == "true" {
            lost.push(language);
            surfaces.push(surface);
        } else {
            gained.push(language);
        }
    }
    if facts.is_empty() {
        return;
    }
    let of = format!("generic classes of service `{}`", new.name());
    let message = match (lost.is_empty(), gained.is_empty()) {
        (false, true) => format!("{of} were removed in {}", lost.join(", ")),
        (true, _) => format!("{of} were added in {}", gained.join(", ")),
        (false, false) => {
            format!("{of} were removed in {} and added in {}", lost.join(", "), gained.join(", "))
        }
    };
    let change = Change::Both { old, new }.map(Element::Service);
    let finding = sink.change(diff, change, Part::Name, message);
    facts.into_iter().for_each(|fact| {
        finding.fact(fact);
    });
    finding.aliases(&aliases).source(diff, change);
    // Other changes of its generated code have findings of their own.
    if let Some(facts) = &mut finding.change {
        facts.effects = Effects::backward(&surfaces);
        facts.symbols.retain(|it| surfaces.contains(&it.surface));
    }
}
