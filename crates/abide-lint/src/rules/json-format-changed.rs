use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Features, File, Part, RawOptions};

use crate::finding::{Location, Severity, package_name};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "json-format-changed",
    summary: "a JSON mapping that is no longer guaranteed (`json_format`)",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["buf:ENUM_SAME_JSON_FORMAT", "buf:MESSAGE_SAME_JSON_FORMAT"]],
    spares_work_in_progress: true,
    page: include_str!("json-format-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(new) = change.new() else { return };
    // Reported once, at the outermost element that changed.
    if change.old().is_some_and(|old| is_withdrawn(old.features(), new.features())) {
        let messages = new.all_messages().next().map(|_| "buf:MESSAGE_SAME_JSON_FORMAT");
        let enums = new.all_enums().next().map(|_| "buf:ENUM_SAME_JSON_FORMAT");
        let message = format!("{OPTION} of file `{}` {CHANGED}", new.path());
        let old = change.old().map(package_name);
        let location = Location::tree(package_name(new));
        let package = new.package().name();
        let finding = sink.change_at(location, old, package, new.path(), message);
        finding.aliases(&Vec::from_iter(messages.into_iter().chain(enums)));
        finding.breaks(Effects::backward(&[Surface::Json])).why(WHY);
        return;
    }
    for it in new.all_messages().filter(|it| !it.is_map_entry()) {
        let Some(old) = diff.old_message(it) else { continue };
        let above = it.parent().zip(old.parent());
        if is_withdrawn(old.features(), it.features())
            && above.is_none_or(|(it, old)| !is_withdrawn(old.features(), it.features()))
        {
            let pair = Change::Both { old, new: it }.map(Element::Message);
            report(diff, pair, "buf:MESSAGE_SAME_JSON_FORMAT", sink);
        }
    }
    for it in new.all_enums() {
        let Some(old) = diff.old_enum(it) else { continue };
        let above = it.parent().zip(old.parent());
        if is_withdrawn(old.features(), it.features())
            && above.is_none_or(|(it, old)| !is_withdrawn(old.features(), it.features()))
        {
            let pair = Change::Both { old, new: it }.map(Element::Enum);
            report(diff, pair, "buf:ENUM_SAME_JSON_FORMAT", sink);
        }
    }
}

const OPTION: &str = "`json_format`";
const CHANGED: &str = "changed from `ALLOW` to `LEGACY_BEST_EFFORT`";
const WHY: &str = "with `LEGACY_BEST_EFFORT` a runtime need not map every value to JSON, and two \
                   fields may share a JSON name";

fn is_withdrawn(old: Features, new: Features) -> bool {
    old.json_allowed && !new.json_allowed
}

fn report<'t>(
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    alias: &'static str,
    sink: &mut Sink,
) {
    let Some(new) = change.new() else { return };
    let message = format!("{OPTION} of {} `{}` {CHANGED}", new.noun(), new.full_name());
    let finding = sink.change(diff, change, Part::Name, message);
    let options = match new {
        Element::Message(it) => it.decl().options,
        Element::Enum(it) => it.decl().options,
        _ => RawOptions::None,
    };
    finding.at_feature(new.file(), options, "json_format");
    finding.aliases(&[alias]).breaks(Effects::backward(&[Surface::Json])).why(WHY);
}
