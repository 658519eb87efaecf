//! Writes the `abide.toml` that judges as a `buf.yaml` does.

use std::collections::BTreeSet;
use std::fmt::Write;

use abide_lint::{BufVersion, Preset, buf_lint_rules};
use abide_source::DefaultBranch;
use serde_json::json;

use super::buf::{BreakingSection, BufConfig, BufModule, DroppedSetting, LintSection, RuleName};
use super::rule_names::{
    BREAKING_CATEGORIES, collect_preset_rules, is_retired, resolve_breaking_rules,
    resolve_lint_rules,
};

/// The options of `[lint]` with their values if nothing sets them.
const DEFAULTS: &[(&str, &str)] = &[
    ("zero-value-suffix", "\"_UNSPECIFIED\""),
    ("service-suffix", "\"Service\""),
    ("allow-same-request-response", "false"),
    ("allow-empty-requests", "false"),
    ("allow-empty-responses", "false"),
    ("buf-comments", "true"),
];

type Aliases = BTreeSet<&'static str>;

impl BufConfig {
    /// The text of the `abide.toml`. `imported` are the roots that files of excluded folders are
    /// imported from.
    pub(super) fn render_toml(&mut self, branch: &DefaultBranch, imported: &[String]) -> String {
        let modules = std::mem::take(&mut self.modules);
        let Some(first) = modules.first() else { return String::new() };
        let (preset, breaking, fewer) = self.render_breaking_table(&modules);
        let roots: Vec<&str> = modules.iter().map(|it| it.root.as_str()).collect();
        let excludes = modules.iter().flat_map(|it| &it.excludes);
        let import_paths: Vec<&String> = excludes.chain(imported).collect();
        let again = match imported.is_empty() {
            true => "",
            false => " A root among them lets others import them.",
        };
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "# Converted from buf.yaml: reports what `buf lint` and `buf breaking` report.\n\
             # `abide rules` lists what Abide can check besides; turn on groups of it in `[rules]`,\n\
             # such as `dependencies = \"error\"`.\n\
             preset = \"{}\"\n\
             roots = {}\n\
             # Files in these folders are not checked.{again}\n\
             import-paths = {}\n",
            preset.name(),
            json!(roots),
            json!(import_paths),
        );
        if let DefaultBranch::Named(branch) = branch {
            let against = json!(format!("git:{branch}..."));
            let _ = writeln!(out, "# The old tree to compare with.\nagainst = {against}");
        }
        out.push_str(&breaking);
        if !first.lint.options.is_empty() {
            out.push_str("\n[lint]\n");
            for (key, value) in &first.lint.options {
                let _ = writeln!(out, "{key} = {value}");
            }
        }
        let active = self.collect_active_lint(&first.lint);
        let fewer = fewer.iter().map(|it| format!("{} = \"off\"", json!(it)));
        let lines = compute_fewest_lines(&active).into_iter().chain(fewer).map(|it| it + "\n");
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            let _ = write!(out, "\n[rules]\n{}", lines.concat());
        }
        // Of two overrides for a file the last one counts: that of the inner module.
        let mut by_depth: Vec<&BufModule> = modules.iter().collect();
        by_depth.sort_by_key(|it| if it.root == "." { 0 } else { it.root.split('/').count() });
        for module in by_depth {
            // What holds there before: what the module around it says, or the whole tree.
            let around =
                modules.iter().filter(|it| it.root != module.root && is_at(&module.root, &it.root));
            let before = around.max_by_key(|it| it.root.len()).unwrap_or(first);
            let (own, active) =
                (self.collect_active_lint(&module.lint), self.collect_active_lint(&before.lint));
            let more: Aliases = own.difference(&active).copied().collect();
            let fewer: Aliases = active.difference(&own).copied().collect();
            let rules = [set_all(&more, "error"), set_all(&fewer, "off")].concat();
            let lint = compare_options(&module.lint, &before.lint);
            write_override_tables(
                &mut out,
                std::slice::from_ref(&module.root),
                &[("rules", rules), ("lint", lint)],
            );
        }
        self.write_breaking_by_module(&mut out, &modules);
        for (at, module) in modules.iter().enumerate() {
            let before = modules.get(..at).unwrap_or_default();
            if !before.iter().any(|it| it.lint == module.lint) {
                let roots = collect_roots(&modules, |it| it.lint == module.lint);
                self.write_lint_ignores(&mut out, &module.lint, &roots);
            }
            if !before.iter().any(|it| it.breaking == module.breaking) {
                let roots = collect_roots(&modules, |it| it.breaking == module.breaking);
                self.write_breaking_ignores(&mut out, &module.breaking, &roots);
            }
        }
        out
    }

    fn note(&mut self, line: usize, text: String) {
        self.notes.push(DroppedSetting { line, text });
    }

    fn note_no_counterpart(&mut self, version: BufVersion, name: &RuleName) {
        let why = match is_retired(version, &name.text) {
            true => "it finds nothing any more",
            false => "abide has no such rule",
        };
        let text = format!("`{}` was dropped: {why}", name.text);
        if !self.notes.iter().any(|it| it.line == name.line && it.text == text) {
            self.note(name.line, text);
        }
    }

    /// The lint rules of buf that are on.
    fn collect_active_lint(&mut self, lint: &LintSection) -> Aliases {
        let mut unknown = Vec::new();
        let active = select_lint_rules(lint, &mut |name| unknown.push(name.clone()));
        unknown.iter().for_each(|name| self.note_no_counterpart(lint.version, name));
        active
    }

    /// Turns off the rules of lint at the paths that buf ignores.
    fn write_lint_ignores(&mut self, out: &mut String, lint: &LintSection, roots: &ModuleRoots) {
        if !lint.rules.ignore.is_empty() {
            let mut off = vec!["\"buf:STANDARD\" = \"off\"".to_owned()];
            let standard: Aliases =
                buf_lint_rules(BufVersion::V2, "STANDARD").into_iter().collect();
            let others = self.collect_active_lint(lint);
            off.extend(others.difference(&standard).map(|it| format!("{} = \"off\"", json!(it))));
            write_override(out, &roots.select_inside(&lint.rules.ignore), &off);
        }
        for (name, paths) in &lint.rules.ignore_only {
            let aliases = resolve_lint_rules(lint.version, &name.text);
            let off: Vec<String> =
                aliases.iter().map(|it| format!("{} = \"off\"", json!(it))).collect();
            if aliases.is_empty() {
                self.note_no_counterpart(lint.version, name);
            }
            write_override(out, &roots.select_inside(paths), &off);
        }
    }

    /// The preset, the table `[breaking]` if it lists rules of its own, and otherwise the rules of
    /// the preset that are off.
    fn render_breaking_table(&mut self, modules: &[BufModule]) -> (Preset, String, Vec<String>) {
        let all = modules.iter().map(|it| self.collect_active_breaking(&it.breaking));
        let all: Vec<BTreeSet<String>> = all.collect();
        let uses: Vec<&RuleName> = modules.iter().flat_map(|it| &it.breaking.rules.uses).collect();
        let is_default = modules.iter().any(|it| it.breaking.rules.uses.is_empty());
        let named = BREAKING_CATEGORIES.iter().find(|(category, _)| {
            uses.iter().any(|name| name.text == *category) || is_default && *category == "FILE"
        });
        let preset = named.map_or(Preset::BufFile, |(_, preset)| *preset);
        let of_preset = collect_preset_rules(preset);
        let union: BTreeSet<String> = all.into_iter().flatten().collect();
        let fewer: Vec<String> = of_preset.difference(&union).cloned().collect();
        if union.is_empty() {
            return (preset, String::new(), Vec::new());
        }
        if union.is_subset(&of_preset) && fewer.len() <= union.len() {
            return (preset, String::new(), fewer);
        }
        let lines: Vec<String> = union.iter().map(|it| format!("  {},\n", json!(it))).collect();
        (preset, format!("\n[breaking]\naliases = [\n{}]\n", lines.concat()), Vec::new())
    }

    /// The breaking rules of buf that are on and have a counterpart.
    fn collect_active_breaking(&mut self, breaking: &BreakingSection) -> BTreeSet<String> {
        let rules = &breaking.rules;
        if breaking.no_builtin {
            return BTreeSet::new();
        }
        let version = breaking.version;
        let mut aliases = if rules.uses.is_empty() {
            resolve_breaking_rules(version, "FILE")
        } else {
            rules.uses.iter().flat_map(|name| self.resolve_breaking_name(version, name)).collect()
        };
        for alias in rules.excepts.iter().flat_map(|name| self.resolve_breaking_name(version, name))
        {
            aliases.remove(&alias);
        }
        aliases
    }

    /// The rules that a name under `breaking` stands for.
    fn resolve_breaking_name(&mut self, version: BufVersion, name: &RuleName) -> BTreeSet<String> {
        let aliases = resolve_breaking_rules(version, &name.text);
        if aliases.is_empty() {
            self.note_no_counterpart(version, name);
        }
        aliases
    }

    /// Turns off, in each module, the breaking rules that only other modules have.
    fn write_breaking_by_module(&mut self, out: &mut String, modules: &[BufModule]) {
        let all = modules.iter().map(|it| self.collect_active_breaking(&it.breaking));
        let all: Vec<BTreeSet<String>> = all.collect();
        let union: BTreeSet<String> = all.iter().flatten().cloned().collect();
        for (module, own) in modules.iter().zip(&all) {
            let off: Vec<String> = match own.is_empty() {
                true => vec!["compatibility = \"off\"".to_owned()],
                false => {
                    union.difference(own).map(|it| format!("{} = \"off\"", json!(it))).collect()
                }
            };
            if off.is_empty() {
                continue;
            }
            write_override(out, std::slice::from_ref(&module.root), &off);
            for inner in modules
                .iter()
                .filter(|inner: &&BufModule| {
                    inner.root != module.root && is_at(&inner.root, &module.root)
                })
                .filter(|it| it.breaking != module.breaking)
            {
                let text = format!(
                    "what `breaking` leaves out for `{}` is left out for `{}` too, which is inside",
                    module.root, inner.root
                );
                self.note(inner.breaking.line, text);
            }
        }
    }

    fn write_breaking_ignores(
        &mut self,
        out: &mut String,
        breaking: &BreakingSection,
        roots: &ModuleRoots,
    ) {
        if breaking.ignores_unstable {
            let files = match roots.are_all {
                true => String::new(),
                false => format!("files = {}\n", json!(roots.folders)),
            };
            let _ = write!(
                out,
                "\n[[override]]\n{files}stability = [\"alpha\", \"beta\"]\n\
                 rules = {{ compatibility = \"note\" }}\n"
            );
            let text = "`ignore_unstable_packages` became an override for alphas and betas, but buf \
                        also spares `v1test` and `v1alpha01`, and does not spare `v0` and `v1beta0`";
            self.note(breaking.line, text.to_owned());
        }
        let ignored = roots.select_inside(&breaking.rules.ignore);
        write_override(out, &ignored, &["compatibility = \"off\"".to_owned()]);
        for (name, paths) in &breaking.rules.ignore_only {
            let aliases = self.resolve_breaking_name(breaking.version, name);
            let off: Vec<String> =
                aliases.iter().map(|it| format!("{} = \"off\"", json!(it))).collect();
            write_override(out, &roots.select_inside(paths), &off);
        }
    }
}

/// The folders of the modules that share settings.
struct ModuleRoots {
    folders: Vec<String>,
    /// True if they are all modules.
    are_all: bool,
}

impl ModuleRoots {
    /// The parts of some paths that these modules hold.
    fn select_inside(&self, paths: &[String]) -> Vec<String> {
        if self.are_all {
            return paths.to_vec();
        }
        let parts = paths.iter().flat_map(|path| {
            let inside = self.folders.iter().any(|root| is_at(path, root)).then_some(path);
            let around = self.folders.iter().filter(move |root| *root != path && is_at(root, path));
            inside.into_iter().chain(around).cloned()
        });
        parts.collect()
    }
}

fn collect_roots(modules: &[BufModule], has: impl Fn(&BufModule) -> bool) -> ModuleRoots {
    let folders: Vec<String> =
        modules.iter().filter(|it| has(it)).map(|it| it.root.clone()).collect();
    let are_all = folders.len() == modules.len();
    ModuleRoots { folders, are_all }
}

/// Returns true if a path is a folder, or in it.
fn is_at(path: &str, folder: &str) -> bool {
    folder == "."
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Writes an override for files and folders.
fn write_override(out: &mut String, files: &[String], settings: &[String]) {
    if files.is_empty() || settings.is_empty() {
        return;
    }
    write_override_tables(out, files, &[("rules", settings.to_vec())]);
}

/// Writes an override with several tables, without those that are empty.
fn write_override_tables(out: &mut String, files: &[String], tables: &[(&str, Vec<String>)]) {
    let full = tables.iter().filter(|(_, lines)| !lines.is_empty());
    let lines: Vec<String> =
        full.map(|(key, lines)| format!("{key} = {{ {} }}\n", lines.join(", "))).collect();
    if !lines.is_empty() {
        let _ = write!(out, "\n[[override]]\nfiles = {}\n{}", json!(files), lines.concat());
    }
}

/// The options of `[lint]` in which a module differs from what holds around it.
fn compare_options(own: &LintSection, around: &LintSection) -> Vec<String> {
    let differ = DEFAULTS.iter().filter_map(|(key, default)| {
        let (own, around) = (find_option(own, key), find_option(around, key));
        (own != around).then(|| format!("{key} = {}", own.unwrap_or((*default).to_owned())))
    });
    differ.collect()
}

/// The value that an option of `[lint]` is set to.
fn find_option(lint: &LintSection, key: &str) -> Option<String> {
    let set = lint.options.iter().rev().find(|(it, _)| *it == key);
    set.map(|(_, value)| value.clone())
}

/// The lint rules that are on. Names that stand for no rule go to `unknown`.
fn select_lint_rules(lint: &LintSection, unknown: &mut dyn FnMut(&RuleName)) -> Aliases {
    let mut active = Aliases::new();
    if lint.no_builtin {
        return active;
    }
    if lint.rules.uses.is_empty() {
        active.extend(buf_lint_rules(lint.version, "STANDARD"));
    }
    for name in &lint.rules.uses {
        let rules = resolve_lint_rules(lint.version, &name.text);
        if rules.is_empty() {
            unknown(name);
        }
        active.extend(rules);
    }
    for name in &lint.rules.excepts {
        let rules = resolve_lint_rules(lint.version, &name.text);
        if rules.is_empty() {
            unknown(name);
        }
        active.retain(|it| !rules.contains(it));
    }
    active
}

/// The fewest lines of `[rules]` over a preset of buf that turn on these lint rules and no others.
fn compute_fewest_lines(active: &Aliases) -> Vec<String> {
    let starts = ["STANDARD", "BASIC", "MINIMAL", ""].into_iter().map(|start| {
        let mut lines = Vec::new();
        if start != "STANDARD" {
            lines.push(set_one("buf:STANDARD", "off"));
            if !start.is_empty() {
                lines.push(set_one(&format!("buf:{start}"), "error"));
            }
        }
        let mut on = category_rules(start);
        for more in ["COMMENTS", "UNARY_RPC"] {
            let rules = category_rules(more);
            if rules.is_subset(active) {
                lines.push(set_one(&format!("buf:{more}"), "error"));
                on.extend(rules);
            }
        }
        lines.extend(on.difference(active).map(|it| set_one(it, "off")));
        lines.extend(active.difference(&on).map(|it| set_one(it, "error")));
        lines
    });
    starts.min_by_key(Vec::len).unwrap_or_default()
}

/// The lint rules of a category of buf.
fn category_rules(name: &str) -> Aliases {
    buf_lint_rules(BufVersion::V2, name).into_iter().collect()
}

/// A line that sets the severity of a rule.
fn set_one(rule: &str, level: &str) -> String {
    format!("{} = \"{level}\"", json!(rule))
}

/// Lines that set the severity of rules.
fn set_all(rules: &Aliases, level: &str) -> Vec<String> {
    rules.iter().map(|rule| set_one(rule, level)).collect()
}
