use abide_schema::File;
use abide_syntax::Span;
use abide_upgrade::Edit;

use crate::checks::{OPENING, find_marks};
use crate::finding::{Applied, Fix};
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::find_nearest;

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
    for mark in find_marks(file).into_iter().filter(|it| !KNOWN.contains(&it.word)) {
        if context.is_frozen(package) {
            return;
        }
        let message = format!("unknown mark `{}` in a comment", mark.word);
        let near = find_nearest(mark.word, KNOWN);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write it as `[#comment: {}]`", mark.value),
        };
        let fix = near.map(|near| {
            let start = mark.place.span.start + OPENING.len() as u32;
            let word = Span::new(start, start + mark.word.len() as u32);
            let fix = Fix::of_file(file, format!("write `{near}`"), [Edit::replace(word, near)]);
            fix.applied(Applied::Never)
        });
        let finding = sink.report(mark.place, package.name(), file.path(), message);
        finding.help(help).fix(fix).fact(mark.word);
    }
}
