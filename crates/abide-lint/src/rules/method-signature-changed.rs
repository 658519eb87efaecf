use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, OptionOwner, find_lost_parameter};
use abide_schema::value::Entry;
use abide_schema::{Element, Method};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-signature-changed",
    summary: "a method whose `google.api.method_signature` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-signature-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Method) else { return };
    let (before, after) = (read_signatures(holders.0), read_signatures(holders.1));
    let Some((old, new)) = change.both() else { return };
    let name = new.relative_name();
    type Entries<'t> = (Option<&'t Entry>, Option<&'t Entry>);
    let mut report = |what: &str, entries: Entries<'t>, message: String, lost| {
        let setting = OptionSetting { holders, old: entries.0, new: entries.1 };
        let finding = sink.setting(&setting, message);
        // One method may lose and gain several.
        finding.fact(what).fact(if entries.0.is_some() { "old" } else { "new" });
        if entries.0.is_some() {
            finding.at_least(Severity::Warning);
            finding.why("generated clients have parameters or overloads for each signature");
        }
        finding.source_of_client(lost);
    };
    let mut same = true;
    for (words, entry) in before.iter().filter(|it| after.iter().all(|other| other.0 != it.0)) {
        same = false;
        let message = format!("signature `{words}` of `{name}` was removed");
        report(words, (Some(*entry), None), message, find_lost_parameter(old, new, words));
    }
    for (words, entry) in after.iter().filter(|it| before.iter().all(|other| other.0 != it.0)) {
        same = false;
        let message = format!("signature `{words}` of `{name}` was added");
        report(words, (None, Some(*entry)), message, None);
    }
    if same && !before.iter().map(|it| &it.0).eq(after.iter().map(|it| &it.0)) {
        let first = (before.first().map(|it| it.1), after.first().map(|it| it.1));
        let message = format!("order of the signatures of `{name}` changed");
        report("", first, message, None);
    }
}

/// The signatures of a method, with normalized white space between parameters.
fn read_signatures<'t>(holder: OptionOwner<'t>) -> Vec<(String, &'t Entry)> {
    let entries = holder.collect_custom("google.api.method_signature").into_iter();
    let signatures = entries.filter_map(|entry| {
        let parameters = entry.value.as_str()?.split(',').map(str::trim);
        Some((parameters.collect::<Vec<_>>().join(", "), entry))
    });
    signatures.collect()
}
