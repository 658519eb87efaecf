use abide_change::option::Setting;
use abide_change::{Change, Diff, Effects, Holder, Surface};
use abide_schema::{Element, HttpBinding, Method};

use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::code;

pub(super) static RULE: Rule = Rule {
    id: "http-route-changed",
    summary: "a method whose HTTP routes changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("http-route-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, _: &Diff<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Some((old, new)) = change.both() else { return };
    let (before, after) = (old.http_bindings(), new.http_bindings());
    let missing = |list: &[HttpBinding<'t>], other: &[HttpBinding<'t>]| -> Vec<HttpBinding<'t>> {
        list.iter().copied().filter(|it| !other.iter().any(|other| equal(it, other))).collect()
    };
    let (lost, mut gained) = (missing(&before, &after), missing(&after, &before));
    let setting = Setting::of(
        (Holder::Element(Element::Method(old)), Holder::Element(Element::Method(new))),
        |it| it.custom("google.api.http"),
    );
    let name = new.relative_name();
    // Which new route replaces which old one: in order if their numbers are equal, else only the
    // first replaces the first.
    let first = |list: &[HttpBinding<'t>], all: &[HttpBinding<'t>]| {
        list.first().zip(all.first()).is_some_and(|(a, b)| a == b)
    };
    let replaced = match lost.len() == gained.len() {
        true => lost.len(),
        false => usize::from(first(&lost, &before) && first(&gained, &after)),
    };
    let added = gained.split_off(replaced);
    let replacing = gained.into_iter().map(Some).chain(std::iter::repeat(None));
    for (was, is) in lost.into_iter().zip(replacing) {
        let (was_words, is_words) = (words(&was), is.map(|it| words(&it)));
        let message = match &is_words {
            Some(is) => format!(
                "HTTP route of `{name}` changed from {was_words} to {is}",
                is = code(is),
                was_words = code(&was_words)
            ),
            None => format!(
                "HTTP route {was_words} of `{name}` was removed",
                was_words = code(&was_words)
            ),
        };
        let finding = sink.setting(&setting, message);
        finding.fact(was_words).fact(is_words.unwrap_or_default());
        finding.breaks(Effects::backward(&[Surface::Rest]));
        if let Some(is) = is {
            finding.location = Location::tree(is.place);
            finding.breaks(Effects::forward(&[Surface::Rest]));
        }
        finding.help("keep the old route in `additional_bindings`");
    }
    for is in added {
        let message = format!("HTTP route `{}` of `{name}` was added", words(&is));
        let finding = sink.setting(&setting, message);
        finding.location = Location::tree(is.place);
        finding.fact("").fact(words(&is)).breaks(Effects::forward(&[Surface::Rest]));
    }
}

fn equal(one: &HttpBinding<'_>, other: &HttpBinding<'_>) -> bool {
    let path = |it: &HttpBinding<'_>| it.path.replace("=*}", "}");
    (one.method, one.body, one.response_body) == (other.method, other.body, other.response_body)
        && path(one) == path(other)
}

/// A route for a message: `POST /v1/users`, with its body.
fn words(binding: &HttpBinding<'_>) -> String {
    let mut words = format!("{} {}", binding.method, binding.path);
    let parts = [("body", binding.body), ("response body", binding.response_body)];
    for (name, value) in parts {
        if let Some(value) = value {
            words += &format!(", {name} {value}");
        }
    }
    words
}
