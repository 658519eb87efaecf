use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{File, Message, Part, Place, format_api_name};

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "message-history-broken",
    summary: "a message whose previous type is wrong or missing",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("message-history-broken.md"),
    check: Check::Tree(check),
};

/// A message, the previous type that it names, and where it names it.
type Link<'t> = (Message<'t>, &'t str, Place);

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    let messages = || context.tree.files().flat_map(File::all_messages);
    let links: Vec<Link<'t>> = messages()
        .filter_map(|it| it.previous_type().map(|(name, place)| (it, name, place)))
        .collect();
    if links.is_empty() {
        return;
    }
    let named: BTreeSet<&str> = links.iter().filter_map(|it| package_of(it.1)).collect();
    let packages = named.iter().filter_map(|it| context.tree.package_named(it));
    let known: BTreeMap<String, Message<'t>> = packages
        .flat_map(|it| it.files().flat_map(File::all_messages))
        .map(|message| (message.full_name(), message))
        .collect();
    let mut heirs: BTreeMap<&str, Vec<Message<'t>>> = BTreeMap::new();
    for &(message, name, _) in &links {
        heirs.entry(name).or_default().push(message);
    }
    for &(message, name, place) in links.iter().filter(|it| it.0.file().is_judged()) {
        let own = message.full_name();
        let mut report = |text: String, help: String| {
            let finding = sink.report(place, message.package().name(), &own, text);
            finding.help(help).fact(name);
        };
        let Some(&before) = known.get(name) else {
            if package_of(name).is_some_and(|it| context.tree.package_named(it).is_some()) {
                report(
                    format!("previous type `{name}` of `{own}` was not found"),
                    "name the message that it was made from, or remove the annotation".to_owned(),
                );
            }
            continue;
        };
        let (Some(now), then) = (find_major(message), find_major(before).unwrap_or(0)) else {
            continue;
        };
        // The majors of another API count on their own.
        let target = before.file().move_to_package().map(|(target, _)| name_api(target));
        let moved = target.is_some_and(|it| it == name_api(message.package().name()));
        if then >= now && !moved {
            report(
                format!("previous type `{name}` of `{own}` is not from an earlier major version"),
                "name the message of the previous version".to_owned(),
            );
            continue;
        }
        let others = || heirs[name].iter().copied().filter(|it| *it != message);
        if let Some(nearer) =
            others().find(|it| find_major(*it).is_some_and(|major| then < major && major < now))
        {
            report(
                format!("previous type `{name}` of `{own}` skips `{}`", nearer.full_name()),
                format!("name `{}` as the previous type", nearer.full_name()),
            );
        } else if let Some(twin) =
            others().find(|it| it.package() == message.package() && (it.full_name() < own))
        {
            report(
                format!("`{own}` and `{}` have the same previous type `{name}`", twin.full_name()),
                "keep the annotation on only one of them".to_owned(),
            );
        }
    }
    report_unnamed(context, &links, sink);
}

/// Reports messages without a previous type in packages where other messages have one, if the
/// previous version has a message of the same name.
fn report_unnamed<'t>(context: &Context<'t>, links: &[Link<'t>], sink: &mut Sink) {
    let packages: BTreeSet<_> = links.iter().map(|it| it.0.package().id).collect();
    let taken: BTreeSet<&str> = links.iter().map(|it| it.1).collect();
    for versions in context.apis().values() {
        for pair in versions.windows(2).filter(|it| packages.contains(&it[1].id)) {
            let (before, package) = (pair[0], pair[1]);
            let all = before.files().flat_map(File::all_messages);
            let known: BTreeMap<String, Message<'t>> =
                all.map(|it| (it.relative_name(), it)).collect();
            let judged = package.files().filter(|it| it.is_judged());
            for message in judged.flat_map(File::all_messages) {
                let silent = !message.is_map_entry() && message.previous_type().is_none();
                let Some(then) = known.get(&message.relative_name()).filter(|_| silent) else {
                    continue;
                };
                let (own, then) = (message.full_name(), then.full_name());
                if taken.contains(then.as_str()) {
                    continue;
                }
                let text = format!("`{own}` does not name `{then}` as its previous type");
                let place = message.place(Part::Name);
                let finding = sink.report(place, package.name(), &own, text);
                finding.help("add the annotation, as other messages of the package do").fact(then);
            }
        }
    }
}

/// The package in the full name of a type: the name of a type begins with a capital letter.
pub(super) fn package_of(name: &str) -> Option<&str> {
    let mut ends = name.match_indices('.').map(|(at, _)| at);
    let end = ends.find(|&at| name[at + 1..].starts_with(|it: char| it.is_uppercase()))?;
    Some(&name[..end])
}

fn find_major(message: Message<'_>) -> Option<u32> {
    message.package().version().map(|version| version.major)
}

fn name_api(package: &str) -> String {
    format_api_name(package).unwrap_or_else(|| package.to_owned())
}
