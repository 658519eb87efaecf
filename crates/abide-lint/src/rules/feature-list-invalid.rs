use std::collections::BTreeMap;

use crate::finding::{Location, Severity};
use crate::inputs::{is_reverse_dns, names};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "feature-list-invalid",
    summary: "a malformed, repeated or unsorted name in a list of features",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("feature-list-invalid.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let mut known: BTreeMap<&str, Location> = BTreeMap::new();
    for (index, file) in context.features.iter().enumerate() {
        let mut before: Option<&str> = None;
        for name in names(&file.text) {
            let (text, at) = (name.text, Location::features(index as u32, name.span));
            if !is_reverse_dns(text) {
                let message = format!("`{text}` is not a reverse-DNS name of a feature");
                sink.report(at, "", text, message)
                    .help("write lower-case words with dots, the owner first: `com.acme.feature`")
                    .fact("name");
            } else if let Some(first) = known.get(text) {
                let message = format!("feature `{text}` is listed twice");
                let first = *first;
                sink.report(at, "", text, message)
                    .help("delete one of the two lines")
                    .fact("again")
                    .label(first, "it is listed here, too");
            } else {
                known.insert(text, at);
                if let Some(before) = before.filter(|before| text < *before) {
                    let message = format!("feature `{text}` must be listed before `{before}`");
                    sink.report(at, "", text, message)
                        .help("sort the names by their bytes")
                        .fact("order");
                } else {
                    before = Some(text);
                }
            }
        }
    }
}
