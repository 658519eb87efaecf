use abide_change::{Change, Comparison, RenamedType};
use abide_schema::{Element, Package, Part};

use crate::finding::{Location, Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::pluralize;

pub(super) static RULE: Rule = Rule {
    id: "used-type-renamed",
    summary: "a package that uses types of other packages which were renamed or moved",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[aliases::OF_TYPES, aliases::OF_METHODS],
    spares_work_in_progress: true,
    page: include_str!("used-type-renamed.md"),
    check: Check::Change(ChangeCheck::Package(check)),
};

/// The number of types that the message names.
const NAMED: usize = 3;

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Package<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // All code that uses a renamed package changes anyway.
    if old.name() != new.name() {
        return;
    }
    let types = diff.find_renamed_types(old, new);
    let Some((old_user, user)) = types.first().and_then(|it| it.users.first()).copied() else {
        return;
    };
    let users = types.iter().flat_map(|it| &it.users).map(|it| it.1);
    let (methods, fields): (Vec<_>, Vec<_>) =
        users.partition(|it| matches!(it, Element::Method(_)));
    let users = [(fields, "field"), (methods, "method")];
    let users = users.into_iter().filter(|(of, _)| !of.is_empty());
    let users: Vec<String> = users.map(|(of, noun)| pluralize(of.len(), noun)).collect();
    let verb = if users == ["1 field"] || users == ["1 method"] { "uses" } else { "use" };
    let users = users.join(" and ");
    let names = types
        .iter()
        .take(NAMED)
        .map(|it| format!("`{}` is now `{}`", it.old.full_name(), it.new.full_name()));
    let mut renamed: Vec<String> = names.collect();
    if types.len() > NAMED {
        renamed.push(format!("{} more", types.len() - NAMED));
    }
    let what = if types.len() == 1 { "a type that was" } else { "types that were" };
    let name = new.name();
    let message =
        format!("{users} of package `{name}` {verb} {what} renamed: {}", renamed.join(", "));
    let place = Location::tree(user.place(find_use(user, &types)));
    let before = old_user.place(find_use(old_user, &types));
    let finding = sink.change_at(place, Some(before), name, name, message);
    for RenamedType { old, new, users } in &types {
        finding.changed(old.full_name(), new.full_name());
        if let Some(&user) = users.first() {
            finding.source_by_use(diff, user, (*old, *new));
        }
    }
    finding.aliases(&aliases::of_users(types.iter().flat_map(|it| it.users.iter().copied())));
    for it in types.iter().take(NAMED) {
        finding.label(it.new.place(Part::Name), "this is its name now");
    }
    finding.why("code that names the type of such a field, request or response no longer compiles");
}

/// The part of an element that names the first of these types.
fn find_use(user: Element<'_>, types: &[RenamedType<'_>]) -> Part {
    match user {
        Element::Method(it) => {
            let first = types.first().map(|it| [it.old, it.new]).unwrap_or([user; 2]);
            let is_input = it.input().is_some_and(|it| first.contains(&Element::Message(it)));
            if is_input { Part::Input } else { Part::Output }
        }
        _ => Part::Type,
    }
}
