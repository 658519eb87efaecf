use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{package_name, shown_folder};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "folder-shared-by-packages",
    summary: "a folder whose files belong to several packages",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:DIRECTORY_SAME_PACKAGE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("folder-shared-by-packages.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let judged: Vec<_> = context.tree.files().filter(|file| file.is_judged()).collect();
    // Two roots can have a folder of the same name.
    let mut packages: BTreeMap<(u32, &str), BTreeSet<&str>> = BTreeMap::new();
    for file in &judged {
        let folder = (file.decl().root, file.folder());
        packages.entry(folder).or_default().insert(file.package().name());
    }
    for &file in &judged {
        let (name, folder) = (file.package().name(), file.folder());
        let Some(others) = packages.get(&(file.decl().root, folder)) else { continue };
        let Some(other) = others.iter().find(|it| **it != name) else { continue };
        let folder = shown_folder(folder);
        let other = match *other {
            "" => "files without a package".to_owned(),
            other => format!("files of package `{other}`"),
        };
        let message = format!("{folder} also has {other}");
        sink.report(package_name(file), name, file.path(), message)
            .why("generators for many languages write one package for each folder")
            .help("give each package a folder of its own")
            .fact(name);
    }
}
