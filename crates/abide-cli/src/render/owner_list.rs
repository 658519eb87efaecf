//! The owners of packages: for people, as JSON Lines, Markdown and annotations.

use std::fmt::Write;

use abide_lint::{PackageOwners, counted};
use serde_json::{Map, Value, json};

use super::markdown_text::Markdown;
use super::scene::{Look, paint};
use super::workflow_command::{data, property, touched_packages};
use crate::printable::shown;

/// The owners of packages.
pub(crate) struct OwnerReport<'a> {
    /// The packages.
    pub(crate) packages: &'a [PackageOwners],
    /// The path of `CODEOWNERS`, if there is one.
    pub(crate) file: Option<&'a str>,
    /// True if these are only the packages that a change touches.
    pub(crate) is_change: bool,
    /// True if a package without an owner is an error.
    pub(crate) is_check: bool,
}

impl OwnerReport<'_> {
    fn unowned(&self) -> impl Iterator<Item = &PackageOwners> {
        self.packages.iter().filter(|it| !it.unowned().is_empty())
    }

    /// Says which lines of `CODEOWNERS` a package needs.
    fn advice(&self, package: &PackageOwners) -> String {
        let lines = package.missing_patterns();
        let lines: Vec<String> = lines.iter().map(|it| format!("`{it} @OWNER`")).collect();
        match self.file {
            Some(file) => format!("add {} to the end of {file}", lines.join(" and ")),
            None => format!("write .github/CODEOWNERS with {}", lines.join(" and ")),
        }
    }

    /// Says which files of a package have no owner.
    fn complaint(&self, package: &PackageOwners) -> String {
        let (unowned, all) = (package.unowned().len(), package.files.len());
        match unowned == all {
            true => format!("{} has no owner", quoted(package)),
            false => format!("{} of the {all} files of {} have no owner", unowned, quoted(package)),
        }
    }
}

fn quoted(package: &PackageOwners) -> String {
    match package.package.as_str() {
        "" => "the unnamed package".to_owned(),
        name => format!("`{}`", shown(name)),
    }
}

fn names(package: &PackageOwners) -> String {
    let owners: Vec<String> = package.owners().into_iter().map(shown).collect();
    if owners.is_empty() { "no owner".to_owned() } else { owners.join(" ") }
}

/// The packages of a change with their owners, in one sentence; `None` if there are none.
pub(super) fn sentence(packages: &[PackageOwners]) -> Option<String> {
    if packages.is_empty() {
        return None;
    }
    let packages: Vec<String> = packages
        .iter()
        .map(|it: &PackageOwners| format!("{} ({})", quoted(it), names(it)))
        .collect();
    Some(format!("this change touches {}", packages.join(", ")))
}

/// For people: a line for each package, and what to do about those without an owner.
pub(super) fn human(report: &OwnerReport<'_>, look: Look) -> Vec<u8> {
    let mut text = String::new();
    let (word, code) = if report.is_check { ("error", "31;1") } else { ("warning", "33;1") };
    // Of many packages that nobody can own, each would say the same.
    if let (None, [first, _, ..]) = (report.file, report.packages) {
        if !look.quiet || report.is_check {
            let line = first.missing_patterns().into_iter().next().unwrap_or_default();
            paint(&mut text, look.color, code, word);
            let count = report.packages.len();
            let _ = writeln!(text, ": no file CODEOWNERS says who owns the {count} packages");
            let help = "  help: write .github/CODEOWNERS with a line for each folder, such as";
            let _ = writeln!(text, "{help} `{} @OWNER`", shown(&line));
        }
        return text.into_bytes();
    }
    for package in report.packages.iter().filter(|_| !look.quiet) {
        let name = if package.package.is_empty() { "(no package)" } else { &package.package };
        paint(&mut text, look.color, "1", &shown(name));
        // Writing to a string cannot fail.
        let _ = write!(text, "  {}", names(package));
        if let Some(file) = report.file.filter(|_| !package.lines().is_empty()) {
            let lines: Vec<String> = package.lines().iter().map(ToString::to_string).collect();
            let _ = write!(text, "  ({}:{})", shown(file), lines.join(","));
        }
        text.push('\n');
    }
    for package in report.unowned().filter(|_| !look.quiet || report.is_check) {
        paint(&mut text, look.color, code, word);
        let _ = writeln!(text, ": {}", report.complaint(package));
        let _ = writeln!(text, "  help: {}", shown(&report.advice(package)));
    }
    if !look.quiet {
        let count = counted(report.packages.len(), "package");
        let changed = if report.is_change { " changed" } else { "" };
        let unowned = match report.unowned().count() {
            0 => String::new(),
            without => format!(", {without} with a file that nobody owns"),
        };
        let _ = writeln!(text, "{count}{changed}{unowned}");
    }
    text.into_bytes()
}

/// JSON Lines: one object per package, then a summary.
pub(super) fn json(report: &OwnerReport<'_>, _: Look) -> Vec<u8> {
    let mut out = String::new();
    for package in report.packages {
        let _ = writeln!(out, "{}", object(report, package));
    }
    let mut summary = json!({
        "kind": "summary",
        "packages": report.packages.len(),
        "unowned": report.unowned().count(),
    });
    if let (Value::Object(summary), Some(file)) = (&mut summary, report.file) {
        summary.insert("file".to_owned(), file.into());
    }
    let _ = writeln!(out, "{summary}");
    out.into_bytes()
}

fn object(report: &OwnerReport<'_>, package: &PackageOwners) -> Value {
    let files = package.files.iter().map(|(path, ownership)| {
        let mut object = Map::from_iter([("path".to_owned(), Value::from(path.as_str()))]);
        if !ownership.owners.is_empty() {
            object.insert("owners".to_owned(), ownership.owners.as_slice().into());
        }
        if !ownership.lines.is_empty() {
            object.insert("lines".to_owned(), ownership.lines.as_slice().into());
        }
        if package.removed.contains(path) {
            object.insert("removed".to_owned(), true.into());
        }
        Value::Object(object)
    });
    let mut object = json!({
        "kind": "owners",
        "package": package.package,
        "owners": package.owners().into_iter().collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
    });
    if let Value::Object(object) = &mut object
        && !package.unowned().is_empty()
    {
        object.insert("help".to_owned(), report.advice(package).into());
    }
    object
}

/// A table, for a comment on a pull request.
pub(super) fn markdown(report: &OwnerReport<'_>, _: Look) -> Vec<u8> {
    if report.packages.is_empty() {
        return b"No package changed.\n".to_vec();
    }
    let mut out = Markdown::new();
    out.markup("| package | owners |\n|---|---|\n");
    for package in report.packages {
        let mut name = Markdown::cell();
        match package.package.as_str() {
            "" => name.markup("(no package)"),
            full => name.code(full),
        };
        let mut owners = Markdown::cell();
        for (at, owner) in package.owners().into_iter().enumerate() {
            owners.markup(if at > 0 { " " } else { "" }).owner(owner);
        }
        match (package.owners().is_empty(), package.unowned().is_empty()) {
            (true, _) => owners.markup("**no owner**"),
            (false, true) => &mut owners,
            (false, false) => owners.markup(", and files without an owner"),
        };
        out.row([name, owners]);
    }
    out.into_text().into_bytes()
}

/// One notice with all packages, and an annotation for each without an owner.
pub(super) fn github(report: &OwnerReport<'_>, look: Look) -> Vec<u8> {
    let mut out = String::new();
    if !look.quiet
        && let Some(sentence) = sentence(report.packages).filter(|_| report.is_change)
    {
        out.push_str(&touched_packages(&sentence));
    }
    let command = if report.is_check { "error" } else { "warning" };
    for package in report.unowned().filter(|_| !look.quiet || report.is_check) {
        let file =
            package.unowned().first().map(|path| format!(" file={},", property(&shown(path))));
        let text = format!("{}\n{}", report.complaint(package), shown(&report.advice(package)));
        let file = file.unwrap_or_else(|| " ".to_owned());
        let _ = writeln!(out, "::{command}{file}title=no owner::{}", data(&text));
    }
    out.into_bytes()
}
