use abide_schema::{Element, Method, Part, Place};

use crate::change::{Change, Diff};
use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::surface::{Effects, Surface};

pub(super) static RULE: Rule = Rule {
    id: "method-idempotency-changed",
    summary: "a method that promises otherwise what a repeated call does",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:RPC_SAME_IDEMPOTENCY_LEVEL"],
    spares_work_in_progress: true,
    page: include_str!("method-idempotency-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (level(old), level(new));
    if was == is {
        return;
    }
    let name = new.full_name();
    let message = format!("idempotency of method `{name}` changed from `{}` to `{}`", was.0, is.0);
    let change = change.map(Element::Method);
    let location = Location::Tree(is.1.unwrap_or_else(|| new.place(Part::Whole)));
    let old_place = was.1.unwrap_or_else(|| old.place(Part::Whole));
    let package = old.package().name();
    let finding = sink.change_at(location, Some(old_place), package, name, message);
    finding.fact(was.0).fact(is.0).source(diff, change);
    // Clients repeat calls, and make them `GET` requests, on the word of their
    // own side.
    finding.breaks(if strength(is.0) < strength(was.0) {
        Effects::backward(&[Surface::Rpc])
    } else {
        Effects::forward(&[Surface::Rpc])
    });
}

/// What the option says, and where.
fn level(method: Method<'_>) -> (&str, Option<Place>) {
    let options = method.options();
    let entry = options.and_then(|it| it.get(method.tree, "idempotency_level"));
    let name = options.and_then(|it| it.enum_name(method.tree, "idempotency_level"));
    let place = entry.filter(|it| !it.span.is_empty());
    let file = method.file().id;
    let place = place.map(|it| Place { file, span: it.key.to(it.span) });
    (name.unwrap_or("IDEMPOTENCY_UNKNOWN"), place)
}

/// A stronger promise holds whatever a weaker one does.
fn strength(level: &str) -> usize {
    ["IDEMPOTENCY_UNKNOWN", "IDEMPOTENT", "NO_SIDE_EFFECTS"]
        .iter()
        .position(|it| *it == level)
        .unwrap_or_default()
}
