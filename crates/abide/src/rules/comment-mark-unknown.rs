use abide_schema::File;

use crate::marks::marks;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::suggestion::did_you_mean;

pub(super) static RULE: Rule = Rule {
    id: "comment-mark-unknown",
    summary: "an unknown `[#word: …]` mark in a comment",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("comment-mark-unknown.md"),
    check: Check::File(check),
};

/// The marks that the generators of Envoy's documentation and code read.
const KNOWN: [&str; 12] = [
    "allow-fully-qualified-name",
    "alpha",
    "comment",
    "extension",
    "extension-category",
    "next-free-field",
    "next-major-version",
    "not-implemented-hide",
    "not-implemented-warn",
    "proto-status",
    "protodoc-title",
    "v2-api-diff",
];

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let package = file.package();
    for mark in marks(file).into_iter().filter(|it| !KNOWN.contains(&it.word)) {
        if context.is_frozen(package) {
            return;
        }
        let message = format!("unknown mark `{}` in a comment", mark.word);
        let help = did_you_mean(mark.word, KNOWN)
            .unwrap_or_else(|| format!("write it as `[#comment: {}]`", mark.value));
        sink.report(mark.place, package.name(), file.path(), message).help(help).fact(mark.word);
    }
}
