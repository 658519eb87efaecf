use abide_schema::File;

use crate::change::{Change, Diff};
use crate::finding::Severity;
use crate::option::{self, Setting};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::surface::{Effects, Surface};

pub(super) static RULE: Rule = Rule {
    id: "generic-services-changed",
    summary: "abstract classes for services that are generated now, or not any more",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    spares_work_in_progress: true,
    page: include_str!("generic-services-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

const OPTIONS: &[(&str, Surface, &str)] = &[
    ("cc_generic_services", Surface::SourceCpp, "buf:FILE_SAME_CC_GENERIC_SERVICES"),
    ("java_generic_services", Surface::SourceJava, "buf:FILE_SAME_JAVA_GENERIC_SERVICES"),
    ("py_generic_services", Surface::SourcePython, "buf:FILE_SAME_PY_GENERIC_SERVICES"),
];

fn check<'t>(_: &Context<'t>, _: &Diff<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some((old, new)) = option::files(change) else { return };
    for &(name, surface, alias) in OPTIONS {
        let setting = Setting::standard((old, new), name);
        let (was, is) = setting.values();
        if was == is {
            continue;
        }
        let finding = setting.report(sink, format!("`{name}` changed from `{was}` to `{is}`"));
        finding.fact(name).fact(&was).fact(is).aliases(&[alias]);
        // A file without services has no such classes to lose.
        if was == "true" && old.file().services().next().is_some() {
            finding.breaks(Effects::backward(&[surface]));
            finding
                .why("the abstract class and the stub of each service are not generated any more");
        }
    }
}
