use std::collections::BTreeMap;

use abide_change::option::{self, OptionDifference, OptionSetting};
use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::Tree;
use abide_schema::value::{Entry, Value};

use crate::finding::{Bump, Severity};
use crate::policy::OptionOrder;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "custom-option-changed",
    summary: "a custom option whose value changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("custom-option-changed.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

/// The options that other rules judge.
pub(super) const JUDGED: &[&str] = &[
    "abide.annotations.v1.",
    "buf.validate.",
    "envoy.annotations.deprecated_at_minor_version",
    "envoy.annotations.disallowed_by_default",
    "google.api.default_host",
    "google.api.field_behavior",
    "google.api.field_info",
    "google.api.http",
    "google.api.method_signature",
    "google.api.oauth_scopes",
    "google.api.resource",
    "google.longrunning.operation_info",
    "pb.enumvalue.json",
    "pb.file.cpp.namespace",
    "udpa.annotations.enum_migrate",
    "udpa.annotations.enum_value_migrate",
    "udpa.annotations.field_migrate",
    "udpa.annotations.file_migrate",
    "udpa.annotations.file_status",
    "udpa.annotations.message_migrate",
    "udpa.annotations.sensitive",
    "udpa.annotations.versioning",
    "validate.",
    "xds.annotations.v3.",
];

fn check<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    let Some((old, new)) = change.both() else { return };
    if old.options().is_none() && new.options().is_none() {
        return;
    }
    for difference in option::compare_custom_options(diff, old.options(), new.options()) {
        let path = &difference.path;
        if JUDGED.iter().any(|judged| path.starts_with(judged))
            || is_judged_inside(diff, &difference)
        {
            continue;
        }
        let orders = find_orders(&context.policy.options, path);
        if orders.contains(&OptionOrder::Ignore) {
            continue;
        }
        let was = list_values(diff.old, &difference.old);
        let is = list_values(diff.new, &difference.new);
        let (first_old, first_new) =
            (difference.old.first().copied(), difference.new.first().copied());
        let setting = OptionSetting { holders: (old, new), old: first_old, new: first_new };
        let holder = new.phrase();
        let message = match (first_old, first_new) {
            (None, _) => format!("option `{path}` of {holder} was set to {is}", is = backtick(&is)),
            (_, None) => {
                format!(
                    "option `{path}` of {holder} was removed; it was {was}",
                    was = backtick(&was)
                )
            }
            _ => format!(
                "option `{path}` of {holder} changed from {was} to {is}",
                was = backtick(&was),
                is = backtick(&is)
            ),
        };
        let finding = sink.setting(&setting, message);
        finding.fact(path).changed(was, is);
        if difference.is_source_only {
            finding.bump(Bump::None);
        }
        if orders.iter().any(|order| is_break(*order, &difference)) {
            finding.at_least(Severity::Error).bump(Bump::Major);
            finding.why("`[options]` in the policy says that this change is a break");
        }
    }
}

/// Returns true if an option was set or removed as a whole, and all that it holds is judged by
/// other rules.
fn is_judged_inside(diff: &Comparison<'_>, difference: &OptionDifference<'_>) -> bool {
    let inner = format!("{}.", difference.path);
    if !JUDGED.iter().any(|judged| judged.starts_with(&inner)) {
        return false;
    }
    let holds_judged = |tree: &Tree, entry: &Entry| {
        let is_judged = |it: &Entry| {
            let path = format!("{inner}{}", tree.field(it.field).name());
            JUDGED.contains(&path.as_str())
        };
        entry.value.as_message().is_some_and(|it| it.entries.iter().all(is_judged))
    };
    difference.old.iter().all(|it| holds_judged(diff.old, it))
        && difference.new.iter().all(|it| holds_judged(diff.new, it))
}

/// Finds the orders of the policy about an option: under its own path, else under the path of the
/// value that contains it.
fn find_orders<'p>(
    policy: &'p BTreeMap<String, Vec<OptionOrder>>,
    path: &str,
) -> &'p [OptionOrder] {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let mut named = ends.collect::<Vec<_>>().into_iter().rev().map(|end| &path[..end]);
    named.find_map(|name| policy.get(name)).map_or(&[], |orders| orders)
}

fn is_break(order: OptionOrder, difference: &OptionDifference<'_>) -> bool {
    let (old, new) = (difference.old.first(), difference.new.first());
    let numbers = old.and_then(|it| it.value.as_f64()).zip(new.and_then(|it| it.value.as_f64()));
    match order {
        OptionOrder::Ignore | OptionOrder::Note => false,
        OptionOrder::AnyChange => true,
        OptionOrder::Raise => numbers.is_some_and(|(was, is)| is > was),
        OptionOrder::Lower => numbers.is_some_and(|(was, is)| is < was),
        OptionOrder::True => is_true(new) && !is_true(old),
        OptionOrder::False => is_true(old) && !is_true(new),
        OptionOrder::Addition => old.is_none(),
        OptionOrder::Removal => new.is_none(),
    }
}

fn is_true(entry: Option<&&Entry>) -> bool {
    entry.is_some_and(|entry| entry.value == Value::Bool(true))
}

/// Lists the values of all entries of one option, as they are written.
fn list_values(tree: &Tree, entries: &[&Entry]) -> String {
    let values: Vec<String> =
        entries.iter().map(|entry| option::format_entry(tree, entry)).collect();
    values.join(", ")
}
