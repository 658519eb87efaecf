use abide_change::option::OptionSetting;
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::{Element, HttpBinding, Method};

use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

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

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Some((old, new)) = change.both() else { return };
    let (before, after) = (old.http_bindings(), new.http_bindings());
    let (lost, mut gained) = (subtract(&before, &after), subtract(&after, &before));
    let setting = OptionSetting::of(
        (OptionOwner::Element(Element::Method(old)), OptionOwner::Element(Element::Method(new))),
        |it| it.custom("google.api.http"),
    );
    let name = new.relative_name();
    // Which new route replaces which old one: in order if their numbers are equal, else only the
    // first replaces the first.
    let replaced = match lost.len() == gained.len() {
        true => lost.len(),
        false => usize::from(
            !lost.is_empty()
                && lost.first() == before.first()
                && !gained.is_empty()
                && gained.first() == after.first(),
        ),
    };
    let added = gained.split_off(replaced);
    let replacing = gained.into_iter().map(Some).chain(std::iter::repeat(None));
    for (was, is) in lost.into_iter().zip(replacing) {
        let (was_words, is_words) = (describe_route(&was), is.map(|it| describe_route(&it)));
        let message = match &is_words {
            Some(is) => format!(
                "HTTP route of `{name}` changed from {was_words} to {is}",
                is = backtick(is),
                was_words = backtick(&was_words)
            ),
            None => format!(
                "HTTP route {was_words} of `{name}` was removed",
                was_words = backtick(&was_words)
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
        let message = format!("HTTP route `{}` of `{name}` was added", describe_route(&is));
        let finding = sink.setting(&setting, message);
        finding.location = Location::tree(is.place);
        finding.fact("").fact(describe_route(&is)).breaks(Effects::forward(&[Surface::Rest]));
    }
}

fn are_equal(one: &HttpBinding<'_>, other: &HttpBinding<'_>) -> bool {
    (one.method, one.body, one.response_body) == (other.method, other.body, other.response_body)
        && one.path.replace("=*}", "}") == other.path.replace("=*}", "}")
}

/// A route for a message: `POST /v1/users`, with its body.
fn describe_route(binding: &HttpBinding<'_>) -> String {
    let mut words = format!("{} {}", binding.method, binding.path);
    let parts = [("body", binding.body), ("response body", binding.response_body)];
    for (name, value) in parts {
        if let Some(value) = value {
            words += &format!(", {name} {value}");
        }
    }
    words
}

/// Collects the routes that the other list does not have.
fn subtract<'t>(list: &[HttpBinding<'t>], other: &[HttpBinding<'t>]) -> Vec<HttpBinding<'t>> {
    let missing = list.iter().filter(|it| !other.iter().any(|other| are_equal(it, other)));
    missing.copied().collect()
}
