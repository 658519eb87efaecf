use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, File, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "visibility-narrowed",
    summary: "a type that other files can no longer use",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("visibility-narrowed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(new) = change.new() else { return };
    let messages = new.all_messages().filter(|it| !it.is_map_entry()).map(Element::Message);
    for it in messages.chain(new.all_enums().map(Element::Enum)) {
        let Some(old) = diff.old_element(it) else { continue };
        let is_known = old.has_known_visibility() && it.has_known_visibility();
        if !old.is_exported() || it.is_exported() || !is_known {
            continue;
        }
        let message = format!("{} `{}` is now local to its file", it.noun(), it.full_name());
        let pair = Change::Both { old, new: it };
        let finding = sink.change(diff, pair, Part::Name, message);
        // Files that use it do not compile, so nothing is generated for them.
        finding.breaks(Effects::backward(&[
            Surface::SourceCpp,
            Surface::SourceGo,
            Surface::SourceJava,
            Surface::SourcePython,
        ]));
        finding.help(match it.may_be_exported() {
            true => "put `export` before the declaration",
            false => {
                "set `features.default_symbol_visibility = EXPORT_ALL` for the file: `STRICT` \
                 exports nothing nested"
            }
        });
    }
}
