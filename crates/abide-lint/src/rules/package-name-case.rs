use abide_schema::Package;

use crate::checks::NameCase;
use crate::finding::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};

/// The rule of buf about the same.
const BUF: &str = "buf:PACKAGE_LOWER_SNAKE_CASE";
/// That of protolint, which looks for capitals only.
const PROTOLINT: &str = "protolint:PACKAGE_NAME_LOWER_CASE";

pub(super) static RULE: Rule = Rule {
    id: "package-name-case",
    summary: "a package name with a component that is not lower_snake_case",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[BUF, "aip:191"],
    aliases_by_case: &[&[PROTOLINT]],
    spares_work_in_progress: true,
    page: include_str!("package-name-case.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    let components: Vec<String> =
        name.split('.').map(|it| NameCase::LowerSnake.convert(it)).collect();
    let right = components.join(".");
    let spared = context.is_frozen(package) && !context.policy.follows_any(&[BUF, PROTOLINT]);
    let has_capitals = name.contains(|it: char| it.is_ascii_uppercase());
    let aliases = [BUF, "aip:191", PROTOLINT];
    if name == right || spared {
        return;
    }
    for file in context.find_reporting_files(package, BUF) {
        let message = format!("the name of package `{name}` is not in `lower_snake_case`");
        sink.report(package_name(file), name, name, message)
            .help(format!("rename it to `{right}` before anybody relies on the name"))
            .aliases(&aliases[..if has_capitals { 3 } else { 2 }]);
    }
}
