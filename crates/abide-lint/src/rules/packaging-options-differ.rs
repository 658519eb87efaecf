use std::collections::{BTreeMap, BTreeSet};

use abide_change::{OptionOwner, option};
use abide_schema::{File, Package};

use crate::finding::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};

/// The options, each with the rule of buf about it.
const OPTIONS: &[(&str, &str)] = &[
    ("csharp_namespace", "buf:PACKAGE_SAME_CSHARP_NAMESPACE"),
    ("go_package", "buf:PACKAGE_SAME_GO_PACKAGE"),
    ("java_multiple_files", "buf:PACKAGE_SAME_JAVA_MULTIPLE_FILES"),
    ("java_package", "buf:PACKAGE_SAME_JAVA_PACKAGE"),
    ("php_namespace", "buf:PACKAGE_SAME_PHP_NAMESPACE"),
    ("ruby_package", "buf:PACKAGE_SAME_RUBY_PACKAGE"),
    ("swift_prefix", "buf:PACKAGE_SAME_SWIFT_PREFIX"),
];

/// That of api-linter, about all but Go packages and the number of Java files.
const API_LINTER: &str = "api-linter:core::0191::file-option-consistency";

pub(super) static RULE: Rule = Rule {
    id: "packaging-options-differ",
    summary: "files of one package that disagree on a packaging option",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "buf:PACKAGE_SAME_CSHARP_NAMESPACE",
        "buf:PACKAGE_SAME_GO_PACKAGE",
        "buf:PACKAGE_SAME_JAVA_MULTIPLE_FILES",
        "buf:PACKAGE_SAME_JAVA_PACKAGE",
        "buf:PACKAGE_SAME_PHP_NAMESPACE",
        "buf:PACKAGE_SAME_RUBY_PACKAGE",
        "buf:PACKAGE_SAME_SWIFT_PREFIX",
        "aip:191",
        API_LINTER,
    ]],
    spares_work_in_progress: true,
    page: include_str!("packaging-options-differ.md"),
    check: Check::Package(check),
};

fn check<'t>(_: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    let files: Vec<File<'t>> = package.files().filter(|file| file.is_judged()).collect();
    for &(option, alias) in OPTIONS {
        // By root, each of which is a module to buf: the values.
        let mut values: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for &file in &files {
            values.entry(file.decl().root).or_default().insert(read_value(file, option));
        }
        for &file in &files {
            let own = read_value(file, option);
            let Some(values) = values.get(&file.decl().root) else { continue };
            let Some(other) = values.iter().find(|it| **it != own) else { continue };
            let set = OptionOwner::File(file).standard(option);
            let place = match set {
                Some(_) => OptionOwner::File(file).place(set),
                None => package_name(file),
            };
            let mut aliases = vec![alias, "aip:191"];
            if !matches!(option, "go_package" | "java_multiple_files") {
                aliases.push(API_LINTER);
            }
            let (own, other) = (describe_value(&own), describe_value(other));
            let message =
                format!("`{option}` is {own} here, and {other} in another file of `{name}`");
            sink.report(place, name, file.path(), message)
                .why("generated code of one package would be in several places")
                .help("set it to the same value in all files of the package")
                .fact(option)
                .aliases(&aliases);
        }
    }
}

/// The value of an option as text; empty if it is not set.
fn read_value(file: File<'_>, option: &str) -> String {
    let set = OptionOwner::File(file).standard(option);
    set.map_or_else(String::new, |it| option::format_entry(file.tree, it))
}

fn describe_value(value: &str) -> String {
    if value.is_empty() { "not set".to_owned() } else { format!("`{value}`") }
}
