use abide_schema::File;

use crate::checks::NameCase;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "file-name-case",
    summary: "a file whose name is not lower_snake_case",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[
        "buf:FILE_LOWER_SNAKE_CASE",
        "aip:191",
        "protolint:FILE_NAMES_LOWER_SNAKE_CASE",
        "api-linter:core::0191::filenames",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("file-name-case.md"),
    check: Check::File(check),
};

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let path = file.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".proto").unwrap_or(name);
    let right = NameCase::LowerSnake.convert(stem);
    let spared = context.is_frozen(file.package()) && !context.policy.follows_any(RULE.aliases);
    if stem == right || spared {
        return;
    }
    let message = format!("file name `{name}` is not `{}`", NameCase::LowerSnake.name());
    sink.report(file.package_place(), file.package().name(), path, message)
        .why("others import the file by this name, and some file systems ignore case")
        .help(format!("rename it to `{right}.proto`, and update what imports it"));
}
