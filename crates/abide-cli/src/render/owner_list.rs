//! The owners of packages: for people, as JSON Lines, Markdown and annotations.

use std::fmt::Write;

use abide_lint::{PackageOwners, pluralize};
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value, json};

use super::context::{Style, write_styled};
use super::markdown_text::MarkdownText;
use super::workflow_command::{escape_data, escape_property, render_touched_packages};

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
    fn find_unowned(&self) -> impl Iterator<Item = &PackageOwners> {
        self.packages.iter().filter(|it| !it.unowned().is_empty())
    }

    /// Says which lines of `CODEOWNERS` a package needs.
    fn suggest_lines(&self, package: &PackageOwners) -> String {
        let lines = package.missing_patterns();
        let lines: Vec<String> = lines.iter().map(|it| format!("`{it} @OWNER`")).collect();
        match self.file {
            Some(file) => format!("add {} to the end of {file}", lines.join(" and ")),
            None => format!("write .github/CODEOWNERS with {}", lines.join(" and ")),
        }
    }

    /// Says which files of a package have no owner.
    fn describe_unowned(&self, package: &PackageOwners) -> String {
        let (unowned, all) = (package.unowned().len(), package.files.len());
        match unowned == all {
            true => format!("{} has no owner", quote_package(package)),
            false => format!(
                "{} of the {all} files of {} have no owner",
                unowned,
                quote_package(package)
            ),
        }
    }
}

fn quote_package(package: &PackageOwners) -> String {
    match package.package.as_str() {
        "" => "the unnamed package".to_owned(),
        name => format!("`{}`", escape_unprintable(name)),
    }
}

fn join_owners(package: &PackageOwners) -> String {
    let owners: Vec<String> = package.owners().into_iter().map(escape_unprintable).collect();
    if owners.is_empty() { "no owner".to_owned() } else { owners.join(" ") }
}

/// The packages of a change with their owners, in one sentence; `None` if there are none.
pub(super) fn describe_touched(packages: &[PackageOwners]) -> Option<String> {
    if packages.is_empty() {
        return None;
    }
    let packages: Vec<String> = packages
        .iter()
        .map(|it: &PackageOwners| format!("{} ({})", quote_package(it), join_owners(it)))
        .collect();
    Some(format!("this change touches {}", packages.join(", ")))
}

/// For people: a line for each package, and what to do about those without an owner.
pub(super) fn render_human(report: &OwnerReport<'_>, style: Style) -> Vec<u8> {
    let mut text = String::new();
    let (word, code) = if report.is_check { ("error", "31;1") } else { ("warning", "33;1") };
    // Of many packages that nobody can own, each would say the same.
    if let (None, [first, _, ..]) = (report.file, report.packages) {
        if !style.quiet || report.is_check {
            let line = first.missing_patterns().into_iter().next().unwrap_or_default();
            write_styled(&mut text, style.color, code, word);
            let count = report.packages.len();
            let _ = writeln!(text, ": no file CODEOWNERS says who owns the {count} packages");
            let help = "  help: write .github/CODEOWNERS with a line for each folder, such as";
            let _ = writeln!(text, "{help} `{} @OWNER`", escape_unprintable(&line));
        }
        return text.into_bytes();
    }
    for package in report.packages.iter().filter(|_| !style.quiet) {
        let name = if package.package.is_empty() { "(no package)" } else { &package.package };
        write_styled(&mut text, style.color, "1", &escape_unprintable(name));
        // Writing to a string cannot fail.
        let _ = write!(text, "  {}", join_owners(package));
        if let Some(file) = report.file.filter(|_| !package.lines().is_empty()) {
            let lines: Vec<String> = package.lines().iter().map(ToString::to_string).collect();
            let _ = write!(text, "  ({}:{})", escape_unprintable(file), lines.join(","));
        }
        text.push('\n');
    }
    for package in report.find_unowned().filter(|_| !style.quiet || report.is_check) {
        write_styled(&mut text, style.color, code, word);
        let _ = writeln!(text, ": {}", report.describe_unowned(package));
        let _ = writeln!(text, "  help: {}", escape_unprintable(&report.suggest_lines(package)));
    }
    if !style.quiet {
        let count = pluralize(report.packages.len(), "package");
        let changed = if report.is_change { " changed" } else { "" };
        let unowned = match report.find_unowned().count() {
            0 => String::new(),
            without => format!(", {without} with a file that nobody owns"),
        };
        let _ = writeln!(text, "{count}{changed}{unowned}");
    }
    text.into_bytes()
}

/// JSON Lines: one object per package, then a summary.
pub(super) fn render_json(report: &OwnerReport<'_>, _: Style) -> Vec<u8> {
    let mut out = String::new();
    for package in report.packages {
        let _ = writeln!(out, "{}", build_object(report, package));
    }
    let mut summary = json!({
        "kind": "summary",
        "packages": report.packages.len(),
        "unowned": report.find_unowned().count(),
    });
    if let (Value::Object(summary), Some(file)) = (&mut summary, report.file) {
        summary.insert("file".to_owned(), file.into());
    }
    let _ = writeln!(out, "{summary}");
    out.into_bytes()
}

fn build_object(report: &OwnerReport<'_>, package: &PackageOwners) -> Value {
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
        object.insert("help".to_owned(), report.suggest_lines(package).into());
    }
    object
}

/// A table, for a comment on a pull request.
pub(super) fn render_markdown(report: &OwnerReport<'_>, _: Style) -> Vec<u8> {
    if report.packages.is_empty() {
        return b"No package changed.\n".to_vec();
    }
    let mut out = MarkdownText::new();
    out.add_markup("| package | owners |\n|---|---|\n");
    for package in report.packages {
        let mut name = MarkdownText::new_cell();
        match package.package.as_str() {
            "" => name.add_markup("(no package)"),
            full => name.add_code(full),
        };
        let mut owners = MarkdownText::new_cell();
        for (at, owner) in package.owners().into_iter().enumerate() {
            owners.add_markup(if at > 0 { " " } else { "" }).add_owner(owner);
        }
        match (package.owners().is_empty(), package.unowned().is_empty()) {
            (true, _) => owners.add_markup("**no owner**"),
            (false, true) => &mut owners,
            (false, false) => owners.add_markup(", and files without an owner"),
        };
        out.add_row([name, owners]);
    }
    out.into_text().into_bytes()
}

/// One notice with all packages, and an annotation for each without an owner.
pub(super) fn render_github(report: &OwnerReport<'_>, style: Style) -> Vec<u8> {
    let mut out = String::new();
    if !style.quiet
        && let Some(sentence) = describe_touched(report.packages).filter(|_| report.is_change)
    {
        out.push_str(&render_touched_packages(&sentence));
    }
    let command = if report.is_check { "error" } else { "warning" };
    for package in report.find_unowned().filter(|_| !style.quiet || report.is_check) {
        let file = package
            .unowned()
            .first()
            .map(|path| format!(" file={},", escape_property(&escape_unprintable(path))));
        let text = format!(
            "{}\n{}",
            report.describe_unowned(package),
            escape_unprintable(&report.suggest_lines(package))
        );
        let file = file.unwrap_or_else(|| " ".to_owned());
        let _ = writeln!(out, "::{command}{file}title=no owner::{}", escape_data(&text));
    }
    out.into_bytes()
}
