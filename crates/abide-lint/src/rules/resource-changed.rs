use abide_change::option::OptionSetting;
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::Tree;
use abide_schema::value::Entry;

use crate::finding::{Bump, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "resource-changed",
    summary: "a resource (`google.api.resource`) whose type or name patterns changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("resource-changed.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    let Some(holders) = change.both() else { return };
    match holders {
        (OptionOwner::Element(_), OptionOwner::Element(_)) => {
            let setting = OptionSetting::of(holders, |it| it.custom("google.api.resource"));
            compare(diff, setting, sink);
        }
        (OptionOwner::File(old), OptionOwner::File(new)) => {
            // Definitions in a file are paired by their types.
            let (before, after) = (read_definitions(holders.0), read_definitions(holders.1));
            for &was in &before {
                let is = after
                    .iter()
                    .copied()
                    .find(|it| read_type(new.tree, it) == read_type(old.tree, was));
                compare(diff, OptionSetting { holders, old: Some(was), new: is }, sink);
            }
            for &is in &after {
                if !before.iter().any(|it| read_type(old.tree, it) == read_type(new.tree, is)) {
                    compare(diff, OptionSetting { holders, old: None, new: Some(is) }, sink);
                }
            }
        }
        _ => {}
    }
}

fn read_definitions<'t>(holder: OptionOwner<'t>) -> Vec<&'t Entry> {
    holder.collect_custom("google.api.resource_definition")
}

fn read_type<'t>(tree: &Tree, entry: &'t Entry) -> &'t str {
    entry.value.as_message().and_then(|it| it.get_str(tree, "type")).unwrap_or_default()
}

fn read_patterns<'t>(tree: &'t Tree, entry: &'t Entry) -> Vec<&'t str> {
    let message = entry.value.as_message().into_iter();
    message.flat_map(|it| it.get_all(tree, "pattern")).filter_map(|it| it.value.as_str()).collect()
}

fn compare(diff: &Comparison<'_>, setting: OptionSetting<'_>, sink: &mut Sink) {
    let (old, new) = (setting.holders.0.file().tree, setting.holders.1.file().tree);
    let (Some(before), Some(after)) = (setting.old, setting.new) else {
        if let Some(before) = setting.old {
            let was = read_type(old, before);
            let finding = sink.setting(&setting, format!("resource `{was}` is no longer defined"));
            finding.fact(was).at_least(Severity::Warning).bump(Bump::Major);
            finding.source_of_client(diff.find_lost_path_helper(was));
            finding.why("references to it and helpers generated from its patterns are lost");
        } else if let Some(after) = setting.new {
            let is = read_type(new, after);
            sink.setting(&setting, format!("resource `{is}` is now defined")).fact("").fact(is);
        }
        return;
    };
    let (was, is) = (read_type(old, before), read_type(new, after));
    let (patterns_old, patterns_new) = (read_patterns(old, before), read_patterns(new, after));
    if was == is && patterns_old == patterns_new {
        return;
    }
    // Clients have one helper for a resource, so one finding names it.
    let mut helper = diff.find_lost_path_helper(was);
    if was != is {
        let message = format!("the resource type changed from `{was}` to `{is}`");
        let finding = sink.setting(&setting, message);
        finding.changed(was, is).at_least(Severity::Warning).bump(Bump::Major);
        finding.source_of_client(helper.take());
        finding.why("references and policies name a resource by its type");
    }
    let (was, now) = (patterns_old, patterns_new);
    // Helpers follow the first pattern.
    let (first, new_first) = (was.first(), now.first());
    if first == new_first {
        helper = None;
    }
    let lost: Vec<_> = was.iter().filter(|it| !is_covered(it, &now)).collect();
    let gained: Vec<_> = now.iter().filter(|it| !is_covered(it, &was)).collect();
    let renamed = pair_renamed(&was, &now);
    if !lost.is_empty() {
        let words = list_quoted(&lost);
        let message = format!("names like {words} are no longer valid for resource `{is}`");
        let finding = sink.setting(&setting, message);
        finding.fact(words).breaks(Effects::backward(&[Surface::Validation]));
        finding.source_of_client(helper.take_if(|_| first.is_some_and(|it| lost.contains(&it))));
        finding.why("names that clients stored are refused");
    }
    if !gained.is_empty() {
        let words = list_quoted(&gained);
        let message = format!("names like {words} are now valid for resource `{is}`");
        let finding = sink.setting(&setting, message);
        finding.fact("").fact(words).breaks(Effects::forward(&[Surface::Validation]));
        let is_first = new_first.is_some_and(|it| gained.contains(&it));
        finding.source_of_client(helper.take_if(|_| is_first));
    }
    for (old, new) in renamed {
        let message = format!("variables of resource `{is}` were renamed: `{old}` is now `{new}`");
        let finding = sink.setting(&setting, message);
        finding.changed(old, new);
        finding.source_of_client(helper.take_if(|_| first == Some(&old)));
        finding.why("helpers generated from the pattern have parameters named after its variables");
    }
    let same = keeps_all(&was, &now) && keeps_all(&now, &was);
    if was != now && same || helper.is_some() {
        let message = match same {
            true => format!("the patterns of resource `{is}` were reordered"),
            false => format!("the first pattern of resource `{is}` changed"),
        };
        let finding = sink.setting(&setting, message);
        finding.at_least(Severity::Warning).source_of_client(helper);
        finding.why("generated clients number or prefer patterns by their order");
    }
}

fn keeps_all(was: &[&str], is: &[&str]) -> bool {
    was.iter().all(|it| is.contains(it))
}

/// The patterns that are gone, each with a new one that accepts the same names.
fn pair_renamed<'p>(was: &[&'p str], is: &[&'p str]) -> Vec<(&'p str, &'p str)> {
    let mut free: Vec<&str> = is.iter().copied().filter(|it| !was.contains(it)).collect();
    let gone = was.iter().copied().filter(|it| !is.contains(it));
    gone.filter_map(|old| {
        let at = free.iter().position(|new| covers(old, new) && covers(new, old))?;
        Some((old, free.remove(at)))
    })
    .collect()
}

/// Returns true if a pattern accepts every name that the other one accepts: variables are names for
/// segments, `*` accepts everything, and `{a=**}` one or more segments.
fn covers(wide: &str, narrow: &str) -> bool {
    if let Some((start, end)) = wide.rsplit_once('/')
        && strip_variable_name(end) == "{=**}"
    {
        let mut ends = narrow.match_indices('/').map(|(at, _)| at);
        let end = ends.nth(start.matches('/').count());
        return end.is_some_and(|end| covers(start, &narrow[..end]));
    }
    wide == "*"
        || strip_variable_name(wide) == "{=**}"
        || wide.split('/').count() == narrow.split('/').count()
            && wide.split('/').zip(narrow.split('/')).all(|(wide, narrow)| {
                // A variable takes the parts of `{a}~{b}`, but not what `{a=**}` stands for.
                is_variable(wide) && !narrow.contains('=')
                    || strip_variable_name(wide) == strip_variable_name(narrow)
            })
}

/// A segment of a pattern without the names of its variables.
fn strip_variable_name(segment: &str) -> String {
    let mut unnamed = String::with_capacity(segment.len());
    let mut is_name = false;
    for character in segment.chars() {
        is_name &= !matches!(character, '=' | '}');
        if !is_name {
            unnamed.push(character);
        }
        is_name |= character == '{';
    }
    unnamed
}

fn is_variable(segment: &str) -> bool {
    let name = segment.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    name.is_some_and(|it| !it.contains(['{', '}', '=']))
}

fn is_covered(pattern: &str, by: &[&str]) -> bool {
    by.iter().any(|wide| covers(wide, pattern))
}

fn list_quoted(patterns: &[&&str]) -> String {
    let words: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
    words.join(", ")
}
