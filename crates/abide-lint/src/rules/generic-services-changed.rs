use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, File, Part, Service};

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
    check: Check::Change(ChangeCheck::File(check)),
};

/// An option, the name and the surface of its language, and the rule of buf.
type Generic = (&'static str, &'static str, Surface, &'static str);

const OPTIONS: &[Generic] = &[
    ("cc_generic_services", "C++", Surface::SourceCpp, "buf:FILE_SAME_CC_GENERIC_SERVICES"),
    ("java_generic_services", "Java", Surface::SourceJava, "buf:FILE_SAME_JAVA_GENERIC_SERVICES"),
    ("py_generic_services", "Python", Surface::SourcePython, "buf:FILE_SAME_PY_GENERIC_SERVICES"),
];

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(files) = option::files(change) else { return };
    let settings = OPTIONS.iter().map(|it| (it, OptionSetting::standard(files, it.0)));
    let changed: Vec<(&Generic, OptionSetting<'t>)> =
        settings.filter(|(_, it)| it.values().0 != it.values().1).collect();
    if changed.is_empty() {
        return;
    }
    let services = files.1.file().services();
    let pairs = services.filter_map(|new| Some((diff.old_service(new)?, new)));
    let mut pairs = pairs.filter(|(old, _)| old.file() == files.0.file()).peekable();
    if pairs.peek().is_none() {
        for ((name, _, _, alias), setting) in changed {
            let (was, is) = setting.values();
            let message = format!("`{name}` changed from `{was}` to `{is}`");
            let finding = sink.setting(&setting, message);
            finding.fact(*name).fact(is).aliases(&[alias]);
            finding.why("no service of both sides gets or loses generic classes");
        }
        return;
    }
    for (old, new) in pairs {
        report(diff, (old, new), &changed, sink);
    }
}

/// Reports a service once for all languages.
fn report<'t>(
    diff: &Comparison<'t>,
    (old, new): (Service<'t>, Service<'t>),
    changed: &[(&Generic, OptionSetting<'t>)],
    sink: &mut Sink,
) {
    let (mut lost, mut gained, mut surfaces) = (Vec::new(), Vec::new(), Vec::new());
    for ((_, language, surface, _), setting) in changed {
        if setting.values().0 == "true" {
            lost.push(*language);
            surfaces.push(*surface);
        } else {
            gained.push(*language);
        }
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
    for ((name, ..), setting) in changed {
        finding.fact(format!("{name} {}", setting.values().1));
    }
    let aliases: Vec<&str> = changed.iter().map(|((.., alias), _)| *alias).collect();
    finding.aliases(&aliases).source(diff, change);
    // Other changes of its generated code have findings of their own.
    if let Some(facts) = &mut finding.change {
        facts.effects = Effects::backward(&surfaces);
        facts.symbols.retain(|it| surfaces.contains(&it.surface));
    }
}
