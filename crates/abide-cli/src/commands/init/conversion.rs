//! Writes the `abide.toml` that judges as a `buf.yaml` does.

use std::collections::BTreeSet;
use std::fmt::Write;

use abide::{BufVersion, Config, Preset, buf_lint_rule, buf_lint_rules};
use serde_json::json;

use super::buf::{Breaking, Buf, Lint, Module, Name, Note};
use crate::source::DefaultBranch;

/// The categories of breaking rules, the widest first.
const BREAKING_CATEGORIES: &[(&str, Preset)] = &[
    ("FILE", Preset::BufFile),
    ("PACKAGE", Preset::BufPackage),
    ("WIRE_JSON", Preset::BufWireJson),
    ("WIRE", Preset::BufWire),
];

/// Breaking rules that have another name since.
const RENAMED: &[(&str, &str)] = &[
    ("FIELD_SAME_CTYPE", "FIELD_SAME_CPP_STRING_TYPE"),
    ("FIELD_SAME_LABEL", "FIELD_SAME_CARDINALITY"),
];

/// The lint rule of buf without a counterpart: it compiles CEL.
const NO_COUNTERPART: &str = "buf:PROTOVALIDATE";

type Aliases = BTreeSet<&'static str>;

impl Buf {
    /// The text of the `abide.toml`. `validates` says whether the files use protovalidate.
    pub(super) fn toml(&mut self, validates: bool, branch: &DefaultBranch) -> String {
        let modules = std::mem::take(&mut self.modules);
        let Some(first) = modules.first() else { return String::new() };
        let (preset, breaking) = self.breaking_rules(&first.breaking);
        let roots: Vec<&str> = modules.iter().map(|it| it.root.as_str()).collect();
        let excludes: Vec<&String> = modules.iter().flat_map(|it| &it.excludes).collect();
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "# Converted from buf.yaml: reports what `buf lint` and `buf breaking` report.\n\
             # `abide rules` lists what Abide can check besides; turn on groups of it in `[rules]`,\n\
             # such as `dependencies = \"error\"`.\n\
             preset = \"{}\"\n\
             roots = {}\n\
             # Files in these folders are not checked.\n\
             import-paths = {}\n",
            preset.name(),
            json!(roots),
            json!(excludes),
        );
        if let DefaultBranch::Named(branch) = branch {
            let _ = writeln!(out, "# The old tree to compare with.\nagainst = \"git:{branch}...\"");
        }
        out.push_str(&breaking);
        self.lint_options(&mut out, &modules);
        let active = self.active(&first.lint);
        self.warn_of_protovalidate(&first.lint, validates);
        let lines: Vec<String> = settings(&active).into_iter().map(|it| it + "\n").collect();
        if !lines.is_empty() {
            let _ = write!(out, "\n[rules]\n{}", lines.concat());
        }
        for module in modules.iter().skip(1).filter(|it| it.lint != first.lint) {
            let own = self.active(&module.lint);
            let level = |(aliases, level): (Aliases, &str)| -> Vec<String> {
                aliases.iter().map(|it| format!("{} = \"{level}\"", json!(it))).collect()
            };
            let more = (own.difference(&active).copied().collect(), "error");
            let fewer = (active.difference(&own).copied().collect(), "off");
            put(&mut out, &[&module.root], &[level(more), level(fewer)].concat());
        }
        for (at, module) in modules.iter().enumerate() {
            let repeats = |other: &Module| other.lint == module.lint;
            if !modules.iter().take(at).any(repeats) {
                self.lint_ignores(&mut out, &module.lint);
            }
            if at > 0 && module.breaking != first.breaking {
                let text = "`breaking` of this module was dropped: that of the first module counts";
                self.note(module.breaking.line, text.to_owned());
            }
        }
        self.breaking_ignores(&mut out, &first.breaking);
        out
    }

    fn note(&mut self, line: usize, text: String) {
        self.notes.push(Note { line, text });
    }

    fn no_counterpart(&mut self, name: &Name) {
        let text = format!("`{}` was dropped: abide has no such rule", name.text);
        self.note(name.line, text);
    }

    fn warn_of_protovalidate(&mut self, lint: &Lint, validates: bool) {
        let name = NO_COUNTERPART.strip_prefix("buf:").unwrap_or(NO_COUNTERPART);
        let asked = |names: &[Name]| names.iter().any(|it| it.text == name);
        let implied = selected(lint, &mut |_| {}).contains(NO_COUNTERPART);
        if implied && validates && !asked(&lint.rules.uses) {
            let text = format!(
                "`{name}`, which is on, was dropped: abide does not compile the CEL of \
                 protovalidate; keep `buf lint` for it"
            );
            self.note(lint.line, text);
        }
    }

    /// The lint rules of buf that are on and have a counterpart.
    fn active(&mut self, lint: &Lint) -> Aliases {
        let mut unknown = Vec::new();
        let mut active = selected(lint, &mut |name| unknown.push(name.clone()));
        unknown.extend(lint.rules.uses.iter().find(|it| alias_is(it, NO_COUNTERPART)).cloned());
        for name in &unknown {
            if !self.notes.iter().any(|it| it.line == name.line && it.text.contains(&name.text)) {
                self.no_counterpart(name);
            }
        }
        active.remove(NO_COUNTERPART);
        active
    }

    fn lint_options(&mut self, out: &mut String, modules: &[Module]) {
        let Some(first) = modules.first() else { return };
        if !first.lint.options.is_empty() {
            out.push_str("\n[lint]\n");
            for (key, value) in &first.lint.options {
                let _ = writeln!(out, "{key} = {value}");
            }
        }
        for module in modules.iter().skip(1) {
            if module.lint.options != first.lint.options {
                let text = "the options of `lint` of this module were dropped: those of the first \
                            module count";
                self.note(module.lint.line, text.to_owned());
            }
        }
    }

    /// Turns off the rules of lint at the paths that buf ignores.
    fn lint_ignores(&mut self, out: &mut String, lint: &Lint) {
        if !lint.rules.ignore.is_empty() {
            let mut off = vec!["\"buf:STANDARD\" = \"off\"".to_owned()];
            let standard: Aliases =
                buf_lint_rules(BufVersion::V2, "STANDARD").into_iter().collect();
            let others = self.active(lint);
            off.extend(others.difference(&standard).map(|it| format!("{} = \"off\"", json!(it))));
            let paths: Vec<&String> = lint.rules.ignore.iter().collect();
            put(out, &paths, &off);
        }
        for (name, paths) in &lint.rules.ignore_only {
            let aliases = named(lint.version, &name.text);
            let rules = aliases.iter().filter(|it| **it != NO_COUNTERPART);
            let off: Vec<String> = rules.map(|it| format!("{} = \"off\"", json!(it))).collect();
            if aliases.is_empty() {
                self.no_counterpart(name);
            }
            put(out, &paths.iter().collect::<Vec<_>>(), &off);
        }
    }

    /// The preset, and the table `[breaking]` if it differs from that of the preset.
    fn breaking_rules(&mut self, breaking: &Breaking) -> (Preset, String) {
        let uses = &breaking.rules.uses;
        let category = |name: &Name| BREAKING_CATEGORIES.iter().find(|(it, _)| *it == name.text);
        let named = BREAKING_CATEGORIES
            .iter()
            .find(|(category, _)| uses.iter().any(|name| name.text == *category));
        let preset = named.map_or(Preset::BufFile, |(_, preset)| *preset);
        let plain = uses.len() <= 1 && (uses.is_empty() || named.is_some());
        if plain && breaking.rules.excepts.is_empty() {
            return (preset, String::new());
        }
        let mut aliases = if uses.is_empty() { of_preset(preset) } else { BTreeSet::new() };
        for name in uses {
            aliases.extend(self.breaking_aliases(name));
        }
        for name in &breaking.rules.excepts {
            for alias in self.breaking_aliases(name) {
                aliases.remove(&alias);
            }
        }
        let lines: Vec<String> = aliases.iter().map(|it| format!("  {},\n", json!(it))).collect();
        let mut text = format!("\n[breaking]\naliases = [\n{}]\n", lines.concat());
        // The surfaces of the preset's category may not cover single rules.
        if uses.iter().any(|name| category(name).is_none()) {
            text.push_str("# Report breaks of every surface.\nsurfaces = []\n");
        }
        (preset, text)
    }

    /// The rules that a name under `breaking` stands for.
    fn breaking_aliases(&mut self, name: &Name) -> BTreeSet<String> {
        let category = BREAKING_CATEGORIES.iter().find(|(category, _)| *category == name.text);
        if let Some((_, preset)) = category {
            return of_preset(*preset);
        }
        let renamed = RENAMED.iter().find(|(old, _)| *old == name.text).map(|(_, new)| *new);
        let alias = format!("buf:{}", renamed.unwrap_or(&name.text));
        let known =
            BREAKING_CATEGORIES.iter().any(|(_, preset)| of_preset(*preset).contains(&alias));
        if !known {
            self.no_counterpart(name);
            return BTreeSet::new();
        }
        BTreeSet::from([alias])
    }

    fn breaking_ignores(&mut self, out: &mut String, breaking: &Breaking) {
        if breaking.ignores_unstable {
            out.push_str(
                "\n[[override]]\nstability = [\"alpha\", \"beta\"]\n\
                 rules = { compatibility = \"note\" }\n",
            );
        }
        let ignored: Vec<&String> = breaking.rules.ignore.iter().collect();
        if !ignored.is_empty() {
            put(out, &ignored, &["compatibility = \"off\"".to_owned()]);
        }
        for (name, paths) in &breaking.rules.ignore_only {
            let aliases = self.breaking_aliases(name);
            let off: Vec<String> =
                aliases.iter().map(|it| format!("{} = \"off\"", json!(it))).collect();
            put(out, &paths.iter().collect::<Vec<_>>(), &off);
        }
    }
}

/// Writes an override for files and folders.
fn put(out: &mut String, files: &[&String], settings: &[String]) {
    if files.is_empty() || settings.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "\n[[override]]\nfiles = {}\nrules = {{ {} }}\n",
        json!(files),
        settings.join(", ")
    );
}

fn alias_is(name: &Name, alias: &str) -> bool {
    alias.strip_prefix("buf:") == Some(&name.text)
}

/// The lint rules that a name stands for: those of a category, or one.
fn named(version: BufVersion, name: &str) -> Vec<&'static str> {
    let rules = buf_lint_rules(version, name);
    if rules.is_empty() { buf_lint_rule(name).into_iter().collect() } else { rules }
}

/// The lint rules that are on. Names that stand for no rule go to `unknown`.
fn selected(lint: &Lint, unknown: &mut dyn FnMut(&Name)) -> Aliases {
    let mut active = Aliases::new();
    if lint.no_builtin {
        return active;
    }
    if lint.rules.uses.is_empty() {
        active.extend(buf_lint_rules(lint.version, "STANDARD"));
    }
    for name in &lint.rules.uses {
        let rules = named(lint.version, &name.text);
        if rules.is_empty() {
            unknown(name);
        }
        active.extend(rules);
    }
    for name in &lint.rules.excepts {
        let rules = named(lint.version, &name.text);
        if rules.is_empty() {
            unknown(name);
        }
        active.retain(|it| !rules.contains(it));
    }
    active
}

/// The fewest lines of `[rules]` over a preset of buf that turn on these lint rules and no others.
fn settings(active: &Aliases) -> Vec<String> {
    let category = |name: &str| -> Aliases {
        let rules = buf_lint_rules(BufVersion::V2, name).into_iter();
        rules.filter(|it| *it != NO_COUNTERPART).collect()
    };
    let line = |key: &str, level: &str| format!("{} = \"{level}\"", json!(key));
    let starts = ["STANDARD", "BASIC", "MINIMAL", ""].into_iter().map(|start| {
        let mut lines = Vec::new();
        if start != "STANDARD" {
            lines.push(line("buf:STANDARD", "off"));
            if !start.is_empty() {
                lines.push(line(&format!("buf:{start}"), "error"));
            }
        }
        let mut on = category(start);
        for more in ["COMMENTS", "UNARY_RPC"] {
            let rules = category(more);
            if rules.is_subset(active) {
                lines.push(line(&format!("buf:{more}"), "error"));
                on.extend(rules);
            }
        }
        lines.extend(on.difference(active).map(|it| line(it, "off")));
        lines.extend(active.difference(&on).map(|it| line(it, "error")));
        lines
    });
    starts.min_by_key(Vec::len).unwrap_or_default()
}

/// The rules of buf that count in a preset.
fn of_preset(preset: Preset) -> BTreeSet<String> {
    Config::of_preset(preset).policy.breaking.aliases.into_iter().collect()
}
