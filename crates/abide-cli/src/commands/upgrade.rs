//! `abide upgrade`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use abide::{Check, Closure, Generated, Refusal, Report, Rule, Severity, Upgrade, UpgradeOptions};
use abide_schema::{File, FileId, Tree};

use super::check::{today, troubles, width};
use super::{Outcome, error_color, say};
use crate::args::{Format, Global, TreeArgs, UpgradeTarget};
use crate::diff::unified;
use crate::error::Error;
use crate::load::{Loaded, load};
use crate::progress::Progress;
use crate::render::{Scene, render};
use crate::settings::Settings;
use crate::source::shown;
use crate::write;

pub(super) fn upgrade(
    global: &Global,
    args: &TreeArgs,
    packages: &[String],
    closure: Option<&str>,
    mappings: &[PathBuf],
    target: &UpgradeTarget,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, args.source.as_deref(), error_color(global))?;
    let folder = settings.tree_folder(args);
    if target.write && folder.is_none() {
        return Err(no_folder());
    }
    let loaded = load(&settings.source(args)?, &progress)?;
    progress.step("upgrading");
    let closure =
        closure.and_then(|name| Closure::ALL.iter().find(|it| it.0 == name)).map(|it| it.1);
    let options = UpgradeOptions { packages, closure };
    let made = abide::upgrade(&loaded.tree, &settings.config.policy, &options)
        .map_err(|refusal: Refusal| Error::Usage(refusal.to_string()))?;
    if target.out.is_none() && !loaded.unreadable.is_empty() {
        return Err(Error::Usage(format!(
            "nothing was upgraded, for the tree is not read in full: {}",
            troubles(&loaded).join("; ")
        )));
    }
    let blocking = blocking(global, &loaded, &settings, &made.files);
    progress.finish();
    if !blocking.findings.is_empty() {
        say(&shown_findings(global, &loaded, &blocking));
        say("note: nothing was made");
        return Ok(Outcome { troubles: troubles(&loaded), ..Outcome::nothing(true) });
    }
    if !mappings.is_empty() {
        let mapping = abide::mapping(&loaded.tree, &settings.config.policy, &options)
            .map_err(|refusal| Error::Usage(refusal.to_string()))?;
        for path in mappings {
            let bytes = match path.extension().and_then(|it| it.to_str()) {
                Some("json") => {
                    let json = mapping.to_json().map_err(|it| Error::Usage(it.to_string()))?;
                    (json + "\n").into_bytes()
                }
                Some("binpb" | "pb") => mapping.to_binary(),
                _ => {
                    return Err(Error::Usage(format!(
                        "`{}` is no name of a mapping: end it in .binpb or .json",
                        path.display()
                    )));
                }
            };
            put(path, &bytes)?;
        }
    }
    let changes = changes(&loaded.tree, &made);
    let outcome = if let Some(out) = &target.out {
        for file in &made.files {
            put(&out.join(&file.path), &file.text)?;
        }
        Outcome::nothing(false)
    } else if target.write {
        write_changes(&folder.unwrap_or_default(), &changes)?;
        Outcome::nothing(false)
    } else if target.diff {
        Outcome::of(diff_of(&changes, &settings.prefix(args)))
    } else if !target.check {
        Outcome::nothing(false)
    } else {
        let lines = changes.iter().map(|(path, change)| change.complaint(path));
        Outcome { failed: !changes.is_empty(), ..Outcome::of(lines.collect::<String>()) }
    };
    if !global.quiet && (target.out.is_some() || target.write) {
        say(&format!("note: {}", summary(&loaded, &made)));
    }
    let troubles = troubles(&loaded);
    Ok(Outcome { troubles, ..outcome })
}

/// What keeps the candidates from being made: errors of the language in their sources, and
/// migrations that cannot be.
pub(super) fn blocking(
    global: &Global,
    loaded: &Loaded,
    settings: &Settings,
    made: &[Generated],
) -> Report {
    let options = abide::Options::on(global.as_of.unwrap_or_else(today));
    let mut report = abide::check(&loaded.tree, &settings.config.policy, options);
    let sources: BTreeSet<FileId> = made.iter().map(|file| file.from).collect();
    report.findings.retain(|finding| {
        let linker = |rule: &Rule| matches!(rule.check, Check::Linker);
        let broken =
            finding.severity == Severity::Error && Rule::find(finding.rule).is_some_and(linker);
        let here = finding.location.place().is_some_and(|place| sources.contains(&place.file));
        here && (broken || abide::UPGRADE_RULES.contains(&finding.rule))
    });
    for finding in &mut report.findings {
        finding.severity = Severity::Error;
        finding.severity_reason = Some("it keeps a candidate from being made".to_owned());
    }
    report
}

pub(super) fn shown_findings(global: &Global, loaded: &Loaded, report: &Report) -> String {
    let scene = Scene {
        tree: &loaded.tree,
        old: None,
        config: None,
        accepted: None,
        prefix: "",
        color: error_color(global),
        width: width(global),
        quiet: true,
        verbose: global.verbose,
    };
    let text = render(report, &scene, Format::Human);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// What a command says that is to write to a tree that is not on disk.
pub(super) fn no_folder() -> Error {
    Error::Usage("`--write` needs a tree on disk: name its folder".to_owned())
}

/// How one file of the tree would change.
pub(super) struct FileChange<'a> {
    pub(super) old: Option<&'a [u8]>,
    pub(super) new: Option<&'a [u8]>,
}

/// How files would change, by the path that counts from the folder of the tree.
pub(super) type Changes<'a> = BTreeMap<String, FileChange<'a>>;

/// Writes files first and deletes others then, so that what is interrupted can be done again.
pub(super) fn write_changes(folder: &Path, changes: &Changes<'_>) -> Result<(), Error> {
    for (path, change) in changes {
        if let Some(text) = change.new {
            put(&folder.join(path), text)?;
        }
    }
    for (path, _) in changes.iter().filter(|(_, change)| change.new.is_none()) {
        remove(folder, Path::new(path))?;
    }
    Ok(())
}

/// The changes as a patch, whose paths begin with `prefix`.
pub(super) fn diff_of(changes: &Changes<'_>, prefix: &str) -> String {
    let shown = |(path, change): (&String, &FileChange<'_>)| {
        unified(&format!("{prefix}{path}"), change.old, change.new)
    };
    changes.iter().map(shown).collect()
}

impl FileChange<'_> {
    fn complaint(&self, path: &str) -> String {
        let path = shown(path);
        match (self.old, self.new) {
            (None, _) => format!("{path}: is missing\n"),
            (_, None) => format!("{path}: is a candidate of nothing any more\n"),
            _ => format!("{path}: differs from what the upgrade makes\n"),
        }
    }
}

fn changes<'a>(tree: &'a Tree, made: &'a Upgrade) -> Changes<'a> {
    let mut changes = BTreeMap::new();
    let by_path: BTreeMap<&str, File<'a>> = tree.files().map(|it| (it.path(), it)).collect();
    for file in &made.files {
        let old = by_path.get(file.path.as_str()).and_then(|it| it.decl().source_text());
        if !old.is_some_and(|old| abide::equal_but_for_layout(old, &file.text)) {
            let change = FileChange { old, new: Some(&file.text) };
            changes.insert(display(tree.file(file.from), &file.path), change);
        }
    }
    for id in &made.stale {
        let file = tree.file(*id);
        let change = FileChange { old: file.decl().source_text(), new: None };
        changes.insert(file.decl().display.to_string(), change);
    }
    changes
}

/// Where a file made from another one lies: below the same root.
pub(super) fn display(from: File<'_>, path: &str) -> String {
    let shown = &*from.decl().display;
    format!("{}{path}", shown.strip_suffix(from.path()).unwrap_or_default())
}

fn put(path: &Path, text: &[u8]) -> Result<(), Error> {
    // What is there already need not be touched.
    if std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    write::write(Some(path), text)
        .map_err(|error| Error::File { what: format!("cannot write `{}`", path.display()), error })
}

/// Deletes a file of a folder, and what folders it leaves empty.
fn remove(folder: &Path, path: &Path) -> Result<(), Error> {
    let file = folder.join(path);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::File { what: format!("cannot delete `{}`", file.display()), error });
        }
        _ => {}
    }
    let above = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    for above in above {
        // Fails for the first one that holds anything else.
        if std::fs::remove_dir(folder.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

fn summary(loaded: &Loaded, made: &Upgrade) -> String {
    let packages: BTreeSet<&str> =
        made.files.iter().map(|file: &Generated| file.package.as_str()).collect();
    let files = loaded.tree.files().filter(|file| file.is_judged()).count();
    match made.files.len() {
        0 => format!("none of {} needs the next major version", count(files, "file")),
        number => format!(
            "{} in {} made from a tree of {}",
            count(number, "candidate"),
            count(packages.len(), "package"),
            count(files, "file")
        ),
    }
}

pub(super) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}
