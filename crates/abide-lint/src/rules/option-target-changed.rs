use std::collections::BTreeSet;

use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::value::Entry;
use abide_schema::{Element, Field};

use crate::finding::{Bump, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "option-target-changed",
    summary: "an option whose allowed targets changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("option-target-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Field) else { return };
    let (old, new) = (read_targets(holders.0), read_targets(holders.1));
    let (was, is): (BTreeSet<&str>, BTreeSet<&str>) =
        (old.iter().map(|it| it.0).collect(), new.iter().map(|it| it.0).collect());
    if was == is {
        return;
    }
    // An option without targets can be set everywhere.
    let lost = match (was.is_empty(), is.is_empty()) {
        (_, true) => None,
        (true, false) => Some(format!("can now be set only on {}", list_targets(is.iter()))),
        (false, false) if was.is_subset(&is) => None,
        (false, false) => {
            let lost = list_targets(was.difference(&is));
            Some(format!("can no longer be set on {lost}"))
        }
    };
    let (first_old, first_new) = (old.first().map(|it| it.1), new.first().map(|it| it.1));
    let setting = OptionSetting { holders, old: first_old, new: first_new };
    let phrase = holders.1.phrase();
    let what = lost.as_deref().unwrap_or("can now be set on more kinds of elements");
    let finding = sink.setting(&setting, format!("{phrase} {what}"));
    for word in was.iter().chain(["->"].iter()).chain(&is) {
        finding.fact(*word);
    }
    if lost.is_some() {
        finding.at_least(Severity::Warning).bump(Bump::Major);
        finding.why("files that set it on other kinds of elements no longer compile");
    }
}

/// The kinds of elements that an option names as its targets.
fn read_targets<'t>(holder: OptionOwner<'t>) -> Vec<(&'t str, &'t Entry)> {
    let Some(options) = holder.options() else { return Vec::new() };
    let tree = holder.file().tree;
    let named = options.entries.iter().filter(|entry| {
        let field = tree.field(entry.field);
        !field.is_extension() && field.name() == "targets"
    });
    named.filter_map(|entry| Some((option::word(tree, entry)?, entry))).collect()
}

fn list_targets<'a>(targets: impl Iterator<Item = &'a &'a str>) -> String {
    let words: Vec<String> = targets.map(|target| format!("`{target}`")).collect();
    words.join(" or ")
}
