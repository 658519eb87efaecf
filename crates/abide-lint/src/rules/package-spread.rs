use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{File, Package};

use crate::checks::titled;
use crate::finding::{Severity, package_name, shown_folder as shown};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-spread",
    summary: "a package whose files are in more than one folder",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_SAME_DIRECTORY"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("package-spread.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    if context.policy.follows_any(RULE.aliases) {
        report_each_file(package, sink);
        return;
    }
    let mut folders: BTreeMap<&str, Vec<File<'t>>> = BTreeMap::new();
    for file in package.files().filter(|file| file.is_judged() && !name.is_empty()) {
        folders.entry(file.folder()).or_default().push(file);
    }
    // The home is the folder that follows the name, or else the one with the most files.
    let names = context.policy.packages.names_in_paths(name);
    let home = folders
        .iter()
        .rev()
        .max_by_key(|(folder, files)| (follows_name(folder, &names), files.len()));
    let Some((&home, home_files)) = home else { return };
    let wanted = names[0].replace('.', "/");
    for (&folder, files) in folders.iter().filter(|&(&folder, _)| folder != home) {
        let (here, there) = (shown(folder), shown(home));
        sink.report(
            package_name(files[0]),
            name,
            name,
            format!("package `{name}` has files in {there} and in {here}"),
        )
        .label(
            package_name(home_files[0]),
            format!("the package has {} in {there}", count(home_files.len())),
        )
        .help(match follows_name(home, &names) {
            true => format!("move the files in {here} to {there}"),
            false => format!("move the files in {here} and in {there} to {}", shown(&wanted)),
        })
        .fact(folder);
    }
}

/// As buf does: every file of the package is reported, also of the package without a name, and
/// every root is a module of its own.
fn report_each_file(package: Package<'_>, sink: &mut Sink) {
    let name = package.name();
    let files: Vec<File<'_>> = package.files().filter(|file| file.is_judged()).collect();
    let mut folders: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for file in &files {
        folders.entry(file.decl().root).or_default().insert(file.folder());
    }
    for file in files {
        let folders = &folders[&file.decl().root];
        let Some(other) = folders.iter().find(|it| **it != file.folder()) else { continue };
        let (here, there) = (shown(file.folder()), shown(other));
        let message = format!("{} has files in {here} and in {there}", titled(package));
        let help = match name {
            "" => "name a package in each of them, or move them into one folder",
            _ => "move them into one folder",
        };
        sink.report(package_name(file), name, name, message).help(help).fact(file.path());
    }
}

fn count(files: usize) -> String {
    if files == 1 { "a file".to_owned() } else { format!("{files} files") }
}

fn follows_name(folder: &str, names: &[&str]) -> bool {
    names.contains(&folder.replace('/', ".").as_str())
}
