use abide_change::option::{self, OptionSetting};
use abide_change::{
    Change, Comparison, Effects, LANGUAGES, OptionOwner, Packaging, PackagingOption,
    name_java_outer_class,
};
use abide_schema::{File, to_camel_case};

use crate::finding::{Bump, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "packaging-option-changed",
    summary: "a file whose packaging options (such as `java_package`) changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "buf:FILE_SAME_CSHARP_NAMESPACE",
        "buf:FILE_SAME_GO_PACKAGE",
        "buf:FILE_SAME_JAVA_MULTIPLE_FILES",
        "buf:FILE_SAME_JAVA_OUTER_CLASSNAME",
        "buf:FILE_SAME_JAVA_PACKAGE",
        "buf:FILE_SAME_OBJC_CLASS_PREFIX",
        "buf:FILE_SAME_PHP_CLASS_PREFIX",
        "buf:FILE_SAME_PHP_METADATA_NAMESPACE",
        "buf:FILE_SAME_PHP_NAMESPACE",
        "buf:FILE_SAME_RUBY_PACKAGE",
        "buf:FILE_SAME_SWIFT_PREFIX",
        "google:PACKAGING_OPTION_ADDITION",
        "google:PACKAGING_OPTION_REMOVAL",
    ]],
    spares_work_in_progress: true,
    page: include_str!("packaging-option-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

/// By option: the rule of buf that fires, and whether Google's breaking change
/// detector compares it.
#[rustfmt::skip]
const OTHER_TOOLS: &[(&str, &str, bool)] = &[
    ("csharp_namespace", "buf:FILE_SAME_CSHARP_NAMESPACE", true),
    ("go_package", "buf:FILE_SAME_GO_PACKAGE", true),
    ("java_multiple_files", "buf:FILE_SAME_JAVA_MULTIPLE_FILES", false),
    ("java_outer_classname", "buf:FILE_SAME_JAVA_OUTER_CLASSNAME", true),
    ("java_package", "buf:FILE_SAME_JAVA_PACKAGE", true),
    ("objc_class_prefix", "buf:FILE_SAME_OBJC_CLASS_PREFIX", true),
    ("php_class_prefix", "buf:FILE_SAME_PHP_CLASS_PREFIX", true),
    ("php_metadata_namespace", "buf:FILE_SAME_PHP_METADATA_NAMESPACE", false),
    ("php_namespace", "buf:FILE_SAME_PHP_NAMESPACE", true),
    ("ruby_package", "buf:FILE_SAME_RUBY_PACKAGE", true),
    ("swift_prefix", "buf:FILE_SAME_SWIFT_PREFIX", true),
];

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some((old, new)) = option::files(change) else { return };
    let all = LANGUAGES.iter().flat_map(|table| table.packaging.iter().map(move |it| (table, it)));
    for (language, option) in all {
        let (name, setting) = (option.name, OptionSetting::standard((old, new), option.name));
        let (was, is) = (resolve_option(old.file(), option), resolve_option(new.file(), option));
        // Edition 2024 replaced it by a feature, reported by `language-feature-changed`.
        let gone = name == "java_multiple_files" && option::is_since_2024(new.file());
        // A value derived from the package is reported with the package.
        let derived = setting.old.is_none() && setting.new.is_none();
        let (before, after) = setting.values();
        let (is_same, is_rewritten) = (was == is, before != after);
        if gone || is_same && !is_rewritten || derived && name != "java_outer_classname" {
            continue;
        }
        let message = match (setting.old, setting.new) {
            (_, None) if is_same => {
                format!("`{name}` is no longer set, which still means {}", backtick(&is))
            }
            (_, Some(_)) if is_same => {
                format!(
                    "`{name}` is now set to {}, which still means {}",
                    backtick(&after),
                    backtick(&is)
                )
            }
            (None, None) => format!(
                "the derived `{name}` changed from {was} to {is}",
                was = backtick(&was),
                is = backtick(&is)
            ),
            (None, Some(_)) => format!("`{name}` is now set to {is}", is = backtick(&is)),
            (Some(_), None) => format!("`{name}` is no longer set to {was}", was = backtick(&was)),
            (Some(_), Some(_)) => {
                format!(
                    "`{name}` changed from {was} to {is}",
                    was = backtick(&was),
                    is = backtick(&is)
                )
            }
        };
        let known = OTHER_TOOLS.iter().find(|(option, ..)| *option == name);
        let buf = known.filter(|_| is_rewritten).map(|(_, buf, _)| *buf);
        let mut aliases: Vec<&str> = buf.into_iter().collect();
        let to_google = known.is_some_and(|(.., google)| *google);
        if to_google && setting.old.is_some() {
            aliases.push("google:PACKAGING_OPTION_REMOVAL");
        }
        if to_google && setting.new.is_some() {
            aliases.push("google:PACKAGING_OPTION_ADDITION");
        }
        let finding = sink.setting(&setting, message);
        finding.fact(name).aliases(&aliases).light();
        if is_same {
            finding.changed(before, after).why("generated code stays the same");
            // Neither does the hash of the file.
            if name == "java_outer_classname" && is == new.file().default_java_outer_class() {
                finding.bump(Bump::None);
            }
            continue;
        }
        finding.changed(&was, is);
        // Without `go_package`, Go code is generated only if the command line
        // names a package, which still overrides the option.
        if name != "go_package" || setting.old.is_some() {
            finding.breaks(Effects::backward(&[language.surface]));
            finding.why("code that uses the generated code refers to it by this option");
        }
        if derived {
            finding.help(format!("keep the name with `option {name} = \"{was}\";`"));
        }
    }
}

/// The value of an option, or what generators use if it is not set.
fn resolve_option(file: File<'_>, option: &PackagingOption) -> String {
    let (holder, name) = (OptionOwner::File(file), option.name);
    let written = holder.standard(name).map(|entry| option::format_entry(file.tree, entry));
    let written = written.filter(|it| !it.is_empty());
    // Generators read a Ruby package with dots like the package of the file.
    let final_value = written.as_ref().filter(|it| name != "ruby_package" || it.contains("::"));
    if let Some(written) = final_value {
        return if name == "go_package" { shorten_go_package(written) } else { written.clone() };
    }
    let package = written.as_deref().unwrap_or(file.package().name());
    match option.derived {
        Packaging::Empty => String::new(),
        Packaging::False => "false".to_owned(),
        Packaging::Package => package.to_owned(),
        Packaging::Joined { joint } => map_components(package, str::to_owned, joint),
        Packaging::Camel { joint } => map_components(package, |it| to_camel_case(it, true), joint),
        Packaging::Pascal { joint } => map_components(package, to_pascal_case, joint),
        Packaging::UpperFirst { joint } => map_components(package, to_upper_first, joint),
        Packaging::OuterClass => name_java_outer_class(file),
    }
}

/// A Go import path, with the package name if it is not the last component of
/// the path. Source: `cleanPackageName` of `google.golang.org/protobuf`.
fn shorten_go_package(written: &str) -> String {
    match written.split_once(';') {
        Some((path, name)) if path.rsplit('/').next() == Some(name) && is_go_name(name) => {
            path.to_owned()
        }
        _ => written.to_owned(),
    }
}

/// Returns true if the last component of an import path is a valid Go name.
fn is_go_name(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

fn to_pascal_case(name: &str) -> String {
    let words = name.split(|it: char| !it.is_ascii_alphanumeric());
    words.map(to_upper_first).collect()
}

fn to_upper_first(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn map_components(package: &str, change: fn(&str) -> String, joint: &str) -> String {
    package.split('.').map(change).collect::<Vec<_>>().join(joint)
}
