//! Edits of `abide.toml` that keep all that a person wrote.

use std::fmt::Write;

use abide_lint::{Config, ConfigDependency, DependencyOrigin};
use abide_source::dependencies::KnownRepository;
use abide_syntax::Span;
use serde_json::json;

/// The table of a dependency, as text.
pub(crate) fn render_dependency(dependency: &ConfigDependency) -> String {
    let key = match dependency.origin {
        DependencyOrigin::Git(_) => "git",
        DependencyOrigin::Package(..) => "from",
    };
    let mut text = format!("[[dependency]]\nname = {}\n", json!(dependency.name));
    let _ = writeln!(text, "{key} = {}", json!(dependency.origin.written()));
    if let Some(rev) = &dependency.rev {
        let _ = writeln!(text, "rev = {}", json!(rev));
    }
    for (key, value) in
        [("subdir", &dependency.subdir), ("import-prefix", &dependency.import_prefix)]
    {
        if !value.is_empty() {
            let _ = writeln!(text, "{key} = {}", json!(value));
        }
    }
    text
}

/// A name for a repository or a package that no other dependency has.
pub(crate) fn choose_name(url: &str, is_taken: &dyn Fn(&str) -> bool) -> String {
    let last = url.trim_end_matches('/').trim_end_matches(".git").rsplit('/').next();
    let plain = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
        true => c,
        false => '-',
    };
    let name: String =
        last.unwrap_or_default().trim_start_matches('.').chars().map(plain).collect();
    let name = if name.is_empty() { "dependency".to_owned() } else { name };
    let more = (2..).map(|number| format!("{name}-{number}"));
    [name.clone()].into_iter().chain(more).find(|it| !is_taken(it)).unwrap_or(name)
}

/// Repositories as dependencies with names of their own.
pub(crate) fn name_repositories(
    known: &[ConfigDependency],
    repositories: Vec<KnownRepository>,
) -> Vec<ConfigDependency> {
    let mut named: Vec<ConfigDependency> = Vec::new();
    for KnownRepository { url, subdir, rev, import_prefix } in repositories {
        let is_taken = |name: &str| known.iter().chain(&named).any(|it| it.name == name);
        let (name, paths) = (choose_name(&url, &is_taken), Vec::new());
        let (origin, span) = (DependencyOrigin::Git(url), Span::default());
        named.push(ConfigDependency { name, origin, rev, subdir, paths, import_prefix, span });
    }
    named
}

/// The text of an `abide.toml` with dependencies added at its end.
pub(super) fn add_dependencies(text: &str, added: &[&ConfigDependency]) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for dependency in added {
        let _ = write!(text, "\n{}", render_dependency(dependency));
    }
    text
}

/// The text of an `abide.toml` that names another folder for dependencies.
pub(super) fn set_folder(text: &str, config: &Config, folder: &str) -> String {
    const KEY: &str = "dependency-folder";
    let line = format!("{KEY} = {}", json!(folder));
    let is_key = |it: &str| it.split('=').next().is_some_and(|key| key.trim() == KEY);
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.iter().position(|it| config.dependency_folder.is_some() && is_key(it)) {
        Some(at) => lines[at] = &line,
        None => {
            // Keys of the file itself stand before its first table.
            let table = lines.iter().position(|it| it.trim_start().starts_with('['));
            let is_about = |it: &&&str| it.starts_with('#') || it.trim().is_empty();
            let at = table.unwrap_or(lines.len());
            let above = lines[..at].iter().rev().take_while(is_about).count();
            lines.insert(at - above, &line);
        }
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}
