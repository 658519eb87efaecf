//! Converts a `buf.yaml`, version v1 or v2, to an `abide.toml`. Every setting without a counterpart
//! is reported with its line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use abide::{Config, Group, Preset, RULES, Rule};
use serde_json::json;

use super::yaml::{Node, Value, read};

/// The lint rules of buf that have a counterpart here, each with the smallest category of v2 that
/// contains it (`buf config ls-lint-rules`). BASIC contains MINIMAL, and STANDARD contains BASIC.
const LINT: &[(&str, Option<&str>)] = &[
    ("DIRECTORY_SAME_PACKAGE", Some("MINIMAL")),
    ("ENUM_PASCAL_CASE", Some("BASIC")),
    ("ENUM_VALUE_PREFIX", Some("STANDARD")),
    ("ENUM_VALUE_UPPER_SNAKE_CASE", Some("BASIC")),
    ("ENUM_ZERO_VALUE_SUFFIX", Some("STANDARD")),
    ("FIELD_LOWER_SNAKE_CASE", Some("BASIC")),
    ("FILE_LOWER_SNAKE_CASE", Some("STANDARD")),
    ("IMPORT_USED", Some("BASIC")),
    ("MESSAGE_PASCAL_CASE", Some("BASIC")),
    ("ONEOF_LOWER_SNAKE_CASE", Some("BASIC")),
    ("PACKAGE_DEFINED", Some("MINIMAL")),
    ("PACKAGE_DIRECTORY_MATCH", Some("MINIMAL")),
    ("PACKAGE_LOWER_SNAKE_CASE", Some("BASIC")),
    ("PACKAGE_NO_IMPORT_CYCLE", Some("MINIMAL")),
    ("PACKAGE_SAME_DIRECTORY", Some("MINIMAL")),
    ("PACKAGE_VERSION_SUFFIX", Some("STANDARD")),
    ("RPC_PASCAL_CASE", Some("BASIC")),
    ("SERVICE_PASCAL_CASE", Some("BASIC")),
    ("STABLE_PACKAGE_NO_IMPORT_UNSTABLE", None),
];

/// The rule that is in no category of v1.
const NOT_IN_V1: &str = "PACKAGE_NO_IMPORT_CYCLE";

/// The categories of lint rules. DEFAULT is the old name of STANDARD.
const LINT_CATEGORIES: &[&str] =
    &["MINIMAL", "BASIC", "STANDARD", "DEFAULT", "COMMENTS", "UNARY_RPC"];

/// The categories of breaking rules, the widest first.
const BREAKING_CATEGORIES: &[(&str, Preset)] = &[
    ("FILE", Preset::BufFile),
    ("PACKAGE", Preset::BufPackage),
    ("WIRE_JSON", Preset::BufWireJson),
    ("WIRE", Preset::BufWire),
];

/// A parsed `buf.yaml`.
#[derive(Default)]
pub(super) struct Buf {
    is_v1: bool,
    /// The folders of its modules, relative to its own folder; empty means that folder.
    pub(super) roots: Vec<String>,
    /// Folders that are excluded from the modules.
    pub(super) excludes: Vec<String>,
    lint: Section,
    breaking: Section,
    ignores_unstable: bool,
    /// The settings that were dropped: a line and a phrase for each.
    notes: Vec<(usize, String)>,
}

/// `lint` or `breaking`: rules and categories, and the paths that they ignore.
#[derive(Default)]
struct Section {
    uses: Vec<Name>,
    excepts: Vec<Name>,
    ignore: Vec<Name>,
    ignore_only: Vec<(Name, Vec<Name>)>,
}

/// A text, and its line.
#[derive(Clone)]
struct Name {
    text: String,
    line: usize,
}

const NO_VERSION: &str = "it has no key `version`: is it a buf.yaml?";

impl Buf {
    /// Reads the text of a `buf.yaml`.
    pub(super) fn parse(text: &str) -> Result<Buf, String> {
        let document = read(text).map_err(|(line, reason)| format!("line {line}: {reason}"))?;
        let entries = match document.map(|it| it.value) {
            Some(Value::Map(entries)) => entries,
            _ => return Err(NO_VERSION.to_owned()),
        };
        let has = |name: &str| entries.iter().find(|(key, _)| key.text() == Some(name));
        let version = has("version").and_then(|(_, value)| value.text());
        let mut buf = Buf { is_v1: version == Some("v1"), ..Buf::default() };
        match version {
            Some("v1" | "v2") if has("directories").is_none() => {}
            Some(_) => {
                return Err("only v1 and v2 without `directories` are supported: run `buf config \
                            migrate` first, which writes one buf.yaml of version v2"
                    .to_owned());
            }
            None => return Err(NO_VERSION.to_owned()),
        }
        for (key, value) in &entries {
            match (key.text().unwrap_or_default(), buf.is_v1) {
                ("version" | "name", _) => {}
                ("deps", _) => buf.leave_out(
                    key,
                    "abide does not fetch modules; write them to a folder with `buf export`, and \
                     add it to `import-paths`",
                ),
                ("lint", _) => buf.lint = buf.section(value, true),
                ("breaking", _) => buf.breaking = buf.section(value, false),
                ("build", true) => buf.build(value),
                ("modules", false) => buf.modules(value),
                ("plugins" | "policies", false) => {
                    buf.leave_out(key, "abide does not run plugins");
                }
                _ => buf.unknown(key),
            }
        }
        Ok(buf)
    }

    /// The settings that were dropped, in the order of the text.
    pub(super) fn told(&mut self) -> Vec<String> {
        self.notes.sort_by_key(|(line, _)| *line);
        self.notes.iter().map(|(line, text)| format!("line {line}: {text}")).collect()
    }

    fn note(&mut self, line: usize, text: impl std::fmt::Display) {
        self.notes.push((line, text.to_string()));
    }

    fn leave_out(&mut self, key: &Node, why: &str) {
        let name = key.text().unwrap_or_default();
        self.note(key.line, format_args!("`{name}` was dropped: {why}"));
    }

    fn unknown(&mut self, key: &Node) {
        self.leave_out(key, "unknown key");
    }

    /// The entries of a map. Anything else is reported as dropped.
    fn entries<'n>(&mut self, node: &'n Node) -> &'n [(Node, Node)] {
        match &node.value {
            Value::Map(entries) => entries,
            Value::Text(_) if node.text().is_none() => &[],
            _ => {
                self.note(node.line, "this value was dropped: expected a map");
                &[]
            }
        }
    }

    fn names(&mut self, node: &Node) -> Vec<Name> {
        let mut names = Vec::new();
        match &node.value {
            Value::List(items) => {
                for item in items {
                    match item.text() {
                        Some(text) => names.push(Name { text: text.to_owned(), line: item.line }),
                        None => self.note(item.line, "this value was dropped: expected a string"),
                    }
                }
            }
            Value::Text(_) if node.text().is_none() => {}
            _ => self.note(node.line, "this value was dropped: expected a list"),
        }
        names
    }

    fn section(&mut self, node: &Node, is_lint: bool) -> Section {
        let mut section = Section::default();
        for (key, value) in self.entries(node) {
            let is_true = value.text() == Some("true");
            match key.text().unwrap_or_default() {
                "use" => section.uses = self.names(value),
                "except" => section.excepts = self.names(value),
                "ignore" => section.ignore = self.names(value),
                "ignore_only" => {
                    for (rule, paths) in self.entries(value) {
                        let text = rule.text().unwrap_or_default().to_owned();
                        let paths = self.names(paths);
                        section.ignore_only.push((Name { text, line: rule.line }, paths));
                    }
                }
                "ignore_unstable_packages" if !is_lint => self.ignores_unstable = is_true,
                "allow_comment_ignores" if is_lint && self.is_v1 => {
                    if !is_true {
                        self.leave_out(key, "abide always honours comments that ignore a rule");
                    }
                }
                "disallow_comment_ignores" if is_lint && !self.is_v1 => {
                    if is_true {
                        self.leave_out(key, "abide always honours comments that ignore a rule");
                    }
                }
                "enum_zero_value_suffix"
                | "service_suffix"
                | "rpc_allow_same_request_response"
                | "rpc_allow_google_protobuf_empty_requests"
                | "rpc_allow_google_protobuf_empty_responses"
                    if is_lint =>
                {
                    self.leave_out(key, "abide has no rule that it would change");
                }
                "disable_builtin" if !self.is_v1 => {
                    if is_true {
                        self.leave_out(key, "set the rules that you do not want to \"off\"");
                    }
                }
                _ => self.unknown(key),
            }
        }
        section
    }

    fn build(&mut self, node: &Node) {
        for (key, value) in self.entries(node) {
            match key.text().unwrap_or_default() {
                "excludes" => {
                    let names = self.names(value);
                    self.excludes.extend(names.into_iter().map(|it| it.text));
                }
                _ => self.unknown(key),
            }
        }
    }

    fn modules(&mut self, node: &Node) {
        let Value::List(modules) = &node.value else {
            self.note(node.line, "this value was dropped: expected a list");
            return;
        };
        for module in modules {
            let mut path = None;
            for (key, value) in self.entries(module) {
                match key.text().unwrap_or_default() {
                    "path" => path = value.text(),
                    "name" => {}
                    "excludes" => {
                        let names = self.names(value);
                        self.excludes.extend(names.into_iter().map(|it| it.text));
                    }
                    "includes" => self.leave_out(key, "add these folders to `roots`"),
                    "lint" | "breaking" => self
                        .leave_out(key, "write an `[[override]]` for the packages of the module"),
                    _ => self.unknown(key),
                }
            }
            let path = path.unwrap_or(".").to_owned();
            if self.roots.contains(&path) {
                self.note(module.line, "two modules share a folder; it is checked once");
            } else {
                self.roots.push(path);
            }
        }
    }

    /// Whether paths are ignored, so that the packages at these paths must be found.
    pub(super) fn names_paths(&self) -> bool {
        [&self.lint, &self.breaking]
            .iter()
            .any(|it| !it.ignore.is_empty() || !it.ignore_only.is_empty())
    }

    /// The text of the `abide.toml`. `packages` has the files of each package; their paths count
    /// from the folder of buf.yaml.
    pub(super) fn toml(
        &mut self,
        roots: &[String],
        excludes: &[String],
        packages: &BTreeMap<String, Vec<String>>,
    ) -> String {
        let (preset, aliases) = self.breaking_rules();
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "# Converted from buf.yaml. `abide rules` lists the rules; those without a\n\
             # counterpart in buf have the severity of the preset. buf's categories COMMENTS and\n\
             # UNARY_RPC have no counterpart here.\n\
             preset = \"{}\"\n\
             roots = {}\n\
             # Files in these folders are not checked.\n\
             import-paths = {}\n",
            preset.name(),
            json!(roots),
            json!(excludes),
        );
        if let Some(aliases) = aliases {
            let lines: Vec<String> =
                aliases.iter().map(|it| format!("  {},\n", json!(it))).collect();
            let _ = write!(out, "\n[breaking]\naliases = [\n{}]\n", lines.concat());
            if self.uses_single_rules() {
                out.push_str("# Report breaks of every surface.\nsurfaces = []\n");
            }
        }
        let rules = self.lint_rules();
        if !rules.is_empty() {
            let line = |(rule, level)| format!("{rule} = \"{level}\"\n");
            let lines: Vec<String> = rules.into_iter().map(line).collect();
            let _ = write!(out, "\n[rules]\n{}", lines.concat());
        }
        if self.ignores_unstable {
            out.push_str(
                "\n[[override]]\nstability = [\"alpha\", \"beta\"]\n\
                 rules = { compatibility = \"note\" }\n",
            );
        }
        for (names, rules) in self.overrides(packages) {
            let rules: Vec<String> = rules.iter().map(|rule| format!("{rule} = \"off\"")).collect();
            let _ = write!(
                out,
                "\n[[override]]\npackages = {}\nrules = {{ {} }}\n",
                json!(names),
                rules.join(", ")
            );
        }
        out
    }

    /// Whether single rules are used. The surfaces of the preset's category may not cover them.
    fn uses_single_rules(&self) -> bool {
        let is_category = |name: &Name| BREAKING_CATEGORIES.iter().any(|(it, _)| *it == name.text);
        !self.breaking.uses.iter().all(is_category)
    }

    /// The preset, and the rules of buf that count if they differ from those of the preset.
    fn breaking_rules(&mut self) -> (Preset, Option<BTreeSet<String>>) {
        let uses = self.breaking.uses.clone();
        let named = BREAKING_CATEGORIES
            .iter()
            .find(|(category, _)| uses.iter().any(|name| name.text == *category));
        let preset = named.map_or(Preset::BufFile, |(_, preset)| *preset);
        if uses.len() <= 1
            && (uses.is_empty() || named.is_some())
            && self.breaking.excepts.is_empty()
        {
            return (preset, None);
        }
        let mut aliases = if uses.is_empty() { of_preset(preset) } else { BTreeSet::new() };
        for name in &uses {
            aliases.extend(self.breaking_aliases(name));
        }
        for name in self.breaking.excepts.clone() {
            for alias in self.breaking_aliases(&name) {
                aliases.remove(&alias);
            }
        }
        (preset, Some(aliases))
    }

    /// The rules that a name under `breaking` stands for.
    fn breaking_aliases(&mut self, name: &Name) -> BTreeSet<String> {
        let category = BREAKING_CATEGORIES.iter().find(|(category, _)| *category == name.text);
        if let Some((_, preset)) = category {
            return of_preset(*preset);
        }
        let alias = format!("buf:{}", name.text);
        let known =
            BREAKING_CATEGORIES.iter().any(|(_, preset)| of_preset(*preset).contains(&alias));
        if !known {
            self.no_counterpart(name);
            return BTreeSet::new();
        }
        BTreeSet::from([alias])
    }

    fn no_counterpart(&mut self, name: &Name) {
        self.note(name.line, format_args!("`{}` was dropped: abide has no such rule", name.text));
    }

    /// The lint rules with a counterpart here that a name under `lint` stands for.
    fn lint_ids(&mut self, name: &Name) -> BTreeSet<&'static str> {
        let wanted: &[&str] = match name.text.as_str() {
            "MINIMAL" => &["MINIMAL"],
            "BASIC" => &["MINIMAL", "BASIC"],
            "STANDARD" | "DEFAULT" => &["MINIMAL", "BASIC", "STANDARD"],
            _ => &[],
        };
        let is_v1 = self.is_v1;
        let ids = LINT.iter().filter(|(id, category)| {
            *id == name.text
                || category.is_some_and(|it| wanted.contains(&it)) && !(is_v1 && *id == NOT_IN_V1)
        });
        let ids: BTreeSet<&str> = ids.map(|(id, _)| *id).collect();
        if ids.is_empty() && !LINT_CATEGORIES.contains(&name.text.as_str()) {
            self.no_counterpart(name);
        }
        ids
    }

    /// The severities of rules with a counterpart in buf. A rule is off if buf's rule is not used.
    /// An optional rule is on if buf's rule is used; it only warns, because it is a bit stricter.
    fn lint_rules(&mut self) -> Vec<(&'static str, &'static str)> {
        let mut uses = self.lint.uses.clone();
        if uses.is_empty() {
            uses.push(Name { text: "STANDARD".to_owned(), line: 1 });
        }
        let mut active = BTreeSet::new();
        for name in &uses {
            active.extend(self.lint_ids(name));
        }
        // A rule outside of STANDARD is not turned off just because nobody asked buf for it.
        let mut inactive = self.lint_ids(&Name { text: "STANDARD".to_owned(), line: 1 });
        for name in self.lint.excepts.clone() {
            let ids = self.lint_ids(&name);
            active.retain(|id| !ids.contains(id));
            inactive.extend(ids);
        }
        inactive.retain(|id| !active.contains(id));
        let mut rules = Vec::new();
        for (rule, ids) in linting() {
            let is_active = ids.iter().any(|id| active.contains(*id));
            let Some(not) = ids.iter().find(|id| inactive.contains(*id)) else {
                rules
                    .extend((rule.severity.is_none() && is_active).then_some((rule.id, "warning")));
                continue;
            };
            rules.extend(rule.severity.map(|_| (rule.id, "off")));
            if let Some(on) = ids.iter().find(|id| active.contains(*id)) {
                let line = self.lint.excepts.first().map_or(1, |name| name.line);
                let text = format!(
                    "`{}` is off because `{not}` is not used, but it also covers `{on}`, which is",
                    rule.id
                );
                self.note(line, text);
            }
        }
        rules
    }

    /// The rules that are off for some packages, because buf ignores their paths.
    fn overrides(
        &mut self,
        packages: &BTreeMap<String, Vec<String>>,
    ) -> Vec<(Vec<String>, Vec<&'static str>)> {
        let mut overrides = Vec::new();
        let all: Vec<&str> = linting().map(|(rule, _)| rule.id).collect();
        let lint = std::mem::take(&mut self.lint);
        let breaking = std::mem::take(&mut self.breaking);
        overrides.push((self.packages_at(&lint.ignore, packages), all));
        for (name, paths) in &lint.ignore_only {
            let ids = self.lint_ids(name);
            let rules = linting().filter(|(_, of)| of.iter().any(|id| ids.contains(id)));
            let rules: Vec<&str> = rules.map(|(rule, _)| rule.id).collect();
            overrides.push((self.packages_at(paths, packages), rules));
        }
        overrides.push((self.packages_at(&breaking.ignore, packages), vec!["compatibility"]));
        for (name, paths) in &breaking.ignore_only {
            let aliases = self.breaking_aliases(name);
            let does = |rule: &&&Rule| rule.aliases.iter().any(|alias| aliases.contains(*alias));
            let rules: Vec<&str> = RULES.iter().filter(does).map(|rule| rule.id).collect();
            if rules.is_empty() && !aliases.is_empty() {
                self.note(
                    name.line,
                    format_args!("`{}` was dropped: no single rule of abide matches it", name.text),
                );
            }
            overrides.push((self.packages_at(paths, packages), rules));
        }
        overrides.retain(|(packages, rules)| !packages.is_empty() && !rules.is_empty());
        overrides
    }

    /// The packages at these paths. Overrides are for whole packages, so a package of which only a
    /// part is there is reported instead.
    fn packages_at(
        &mut self,
        paths: &[Name],
        packages: &BTreeMap<String, Vec<String>>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for path in paths {
            let folder = path.text.trim_start_matches("./").trim_end_matches('/');
            let inside = |file: &String| {
                let rest = file.strip_prefix(folder);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let touched = packages.iter().filter(|(_, files)| files.iter().any(inside));
            let touched: Vec<(&String, bool)> =
                touched.map(|(name, files)| (name, files.iter().all(inside))).collect();
            if touched.is_empty() {
                self.note(path.line, format_args!("`{}` was dropped: there is no file", path.text));
            }
            for (name, whole) in touched {
                if whole && !name.is_empty() {
                    found.push(name.clone());
                } else {
                    self.note(
                        path.line,
                        format_args!(
                            "`{}` was dropped for package `{name}`: overrides are for whole \
                             packages; write a waiver for an element",
                            path.text
                        ),
                    );
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

/// The rules about one tree with a counterpart in buf, each with its counterparts.
fn linting() -> impl Iterator<Item = (&'static Rule, Vec<&'static str>)> {
    let rules = RULES.iter().filter(|rule| rule.group != Group::Compatibility);
    rules.filter_map(|rule| {
        let ids = rule.aliases.iter().filter_map(|alias| alias.strip_prefix("buf:"));
        let ids: Vec<&str> = ids.filter(|id| LINT.iter().any(|(known, _)| known == id)).collect();
        (!ids.is_empty()).then_some((*rule, ids))
    })
}

/// The rules of buf that count in a preset.
fn of_preset(preset: Preset) -> BTreeSet<String> {
    Config::of_preset(preset).policy.breaking.aliases.into_iter().collect()
}
