//! Reads a `buf.yaml` of any version. What buf refuses is an error with its place, and every
//! setting without a counterpart is noted with its line.

use abide_lint::{BufVersion, ConfigError, nearest};
use abide_syntax::Span;

use super::rule_names::Section;
use super::yaml::{Node, Value, fault, read};
use crate::source::join;

/// The settings of a `buf.yaml`, with all paths relative to one folder.
#[derive(Default)]
pub(super) struct Buf {
    pub(super) modules: Vec<Module>,
    /// The settings that were dropped: a line and a phrase for each.
    pub(super) notes: Vec<Note>,
}

/// A setting that was dropped.
pub(super) struct Note {
    pub(super) line: usize,
    pub(super) text: String,
}

/// A folder from which imports start, and how its files are judged.
#[derive(Clone)]
pub(super) struct Module {
    pub(super) root: String,
    pub(super) excludes: Vec<String>,
    /// If not empty, only what is at these paths belongs to the module.
    pub(super) includes: Vec<String>,
    pub(super) lint: Lint,
    pub(super) breaking: Breaking,
}

/// `use`, `except` and the paths that are ignored.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Selection {
    pub(super) uses: Vec<Name>,
    pub(super) excepts: Vec<Name>,
    pub(super) ignore: Vec<String>,
    pub(super) ignore_only: Vec<(Name, Vec<String>)>,
}

/// The section `lint`.
#[derive(Clone, PartialEq)]
pub(super) struct Lint {
    pub(super) version: BufVersion,
    pub(super) line: usize,
    pub(super) rules: Selection,
    /// The keys of `[lint]` that differ from their defaults, with their values in TOML.
    pub(super) options: Vec<(&'static str, String)>,
    /// True if the rules of buf itself are off.
    pub(super) no_builtin: bool,
}

/// The section `breaking`.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Breaking {
    pub(super) version: BufVersion,
    pub(super) line: usize,
    pub(super) rules: Selection,
    pub(super) ignores_unstable: bool,
    /// True if the rules of buf itself are off.
    pub(super) no_builtin: bool,
}

/// The id of a rule or the name of a category, and its line. Two are the same wherever they stand.
#[derive(Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) line: usize,
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

/// The folders that a `buf.work.yaml` lists; `None` if the text is a `buf.yaml`.
pub(super) fn work_folders(text: &str) -> Result<Option<Vec<String>>, Vec<ConfigError>> {
    let entries = top(text)?;
    let Some((_, folders)) = entry(&entries, "directories") else { return Ok(None) };
    let Value::List(items) = &folders.value else {
        return Err(vec![fault(folders.span, "expected a list of folders", None)]);
    };
    let known = ["version", "directories"];
    let unknown = entries.iter().filter(|(key, _)| !known.iter().any(|it| key.is(it)));
    let errors: Vec<ConfigError> = unknown.map(|(key, _)| unknown_key(key, &known)).collect();
    let folders = items.iter().filter_map(|it| it.text()).map(|it| Reader::at("", it)).collect();
    if errors.is_empty() { Ok(Some(folders)) } else { Err(errors) }
}

fn entry<'n>(entries: &'n [(Node, Node)], name: &str) -> Option<&'n (Node, Node)> {
    entries.iter().find(|(key, _)| key.is(name))
}

fn top(text: &str) -> Result<Vec<(Node, Node)>, Vec<ConfigError>> {
    let document = read(text).map_err(|error| vec![error])?;
    let span = document.as_ref().map_or(Span::at(0), |it| it.span);
    match document.map(|it| it.value) {
        Some(Value::Map(entries)) => Ok(entries),
        _ => Err(vec![no_version(span)]),
    }
}

fn no_version(span: Span) -> ConfigError {
    let help = "a buf.yaml begins with `version: v2`".to_owned();
    fault(span, "there is no key `version`", Some(help))
}

fn unknown_key(key: &Node, known: &[&str]) -> ConfigError {
    let name = key.text().unwrap_or_default();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys here are `{}`", known.join("`, `")),
    };
    fault(key.span, format!("unknown key `{name}`"), Some(help))
}

/// The module of a folder without a `buf.yaml`, in a workspace of v1.
pub(super) fn bare_module(folder: &str) -> Module {
    Reader::new(BufVersion::V1, folder).module(folder)
}

impl Buf {
    /// Reads the text of a `buf.yaml` in the folder `base`.
    pub(super) fn parse(text: &str, base: &str) -> Result<Buf, Vec<ConfigError>> {
        let entries = top(text)?;
        let version = match entry(&entries, "version").map(|(key, value)| (key, value.text())) {
            Some((_, Some("v1beta1"))) => BufVersion::V1Beta1,
            Some((_, Some("v1"))) => BufVersion::V1,
            Some((_, Some("v2"))) => BufVersion::V2,
            Some((key, Some(other))) => {
                let help = "the versions are `v1beta1`, `v1` and `v2`".to_owned();
                let message = format!("the version `{other}` is unknown");
                return Err(vec![fault(key.span, message, Some(help))]);
            }
            Some((key, None)) => return Err(vec![no_version(key.span)]),
            None => return Err(vec![no_version(Span::at(0))]),
        };
        let mut reader = Reader::new(version, base);
        reader.has_plugins = entry(&entries, "plugins").is_some_and(|(_, it)| !it.is_empty());
        let modules = reader.modules(&entries);
        if !reader.errors.is_empty() {
            reader.errors.sort_by_key(|it| it.span);
            return Err(reader.errors);
        }
        Ok(Buf { modules, notes: reader.notes })
    }
}

struct Reader<'b> {
    version: BufVersion,
    /// The folder of buf.yaml.
    base: &'b str,
    /// True if plugins may bring rules of their own.
    has_plugins: bool,
    notes: Vec<Note>,
    errors: Vec<ConfigError>,
}

impl<'b> Reader<'b> {
    fn new(version: BufVersion, base: &'b str) -> Reader<'b> {
        let (notes, errors) = (Vec::new(), Vec::new());
        Reader { version, base, has_plugins: false, notes, errors }
    }

    fn modules(&mut self, entries: &[(Node, Node)]) -> Vec<Module> {
        let is_v2 = self.version == BufVersion::V2;
        let keys: &[&str] = match is_v2 {
            true => {
                &["version", "name", "modules", "deps", "lint", "breaking", "plugins", "policies"]
            }
            false => &["version", "name", "deps", "build", "lint", "breaking"],
        };
        let mut whole = self.module(self.base);
        let mut modules = Vec::new();
        // Paths count from the roots in v1beta1, and modules take over what stands at the top.
        if let Some((_, build)) = entry(entries, "build").filter(|_| !is_v2) {
            modules = self.build(build, &mut whole);
        }
        let folders: Vec<String> = match (self.version, modules.is_empty()) {
            (BufVersion::V1Beta1, false) => modules.iter().map(|it| it.root.clone()).collect(),
            _ => vec![self.base.to_owned()],
        };
        for (key, value) in entries {
            match key.text().unwrap_or_default() {
                "version" | "name" => {}
                "build" | "modules" if is_v2 == key.is("modules") => {}
                "deps" => self.leave_out(
                    key,
                    "abide does not fetch modules; write them to a folder with `buf export`, and \
                     add it to `import-paths`, or set `import-not-found = \"warning\"` in `[rules]`: \
                     what changes is compared without them as well",
                ),
                "lint" => whole.lint = self.lint(key, value, &folders),
                "breaking" => whole.breaking = self.breaking(key, value, &folders),
                "plugins" | "policies" if is_v2 => {
                    self.leave_out(key, "abide does not run plugins");
                }
                _ => self.errors.push(unknown_key(key, keys)),
            }
        }
        for module in &mut modules {
            (module.lint, module.breaking) = (whole.lint.clone(), whole.breaking.clone());
        }
        if let Some((_, list)) = entry(entries, "modules").filter(|_| is_v2) {
            modules = self.listed(list, &whole);
        }
        if modules.is_empty() {
            modules.push(whole);
        }
        modules
    }

    fn module(&self, root: &str) -> Module {
        // Comments that ignore a rule count in v2, and in older versions only if a key says so.
        let silent = self.version != BufVersion::V2;
        let comments = silent.then(|| ("buf-comments", "false".to_owned()));
        let lint = Lint {
            version: self.version,
            line: 1,
            rules: Selection::default(),
            options: comments.into_iter().collect(),
            no_builtin: false,
        };
        let root = if root.is_empty() { "." } else { root };
        let (root, excludes, includes) = (root.to_owned(), Vec::new(), Vec::new());
        Module {
            root,
            excludes,
            includes,
            lint,
            breaking: Breaking { version: self.version, line: 1, ..Breaking::default() },
        }
    }

    fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(Note { line, text: text.into() });
    }

    fn leave_out(&mut self, key: &Node, why: &str) {
        let name = key.text().unwrap_or_default();
        self.note(key.line, format!("`{name}` was dropped: {why}"));
    }

    /// A path relative to a folder.
    fn at(folder: &str, path: &str) -> String {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let folder = if folder == "." { "" } else { folder };
        match join(folder, if path == "." { "" } else { path }) {
            path if path.is_empty() => ".".to_owned(),
            path => path,
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(fault(span, message, None));
    }

    /// The entries of a map.
    fn entries<'n>(&mut self, node: &'n Node) -> &'n [(Node, Node)] {
        match &node.value {
            Value::Map(entries) => return entries,
            _ if node.is_empty() => {}
            _ => self.error(node.span, "expected a map"),
        }
        &[]
    }

    fn names(&mut self, node: &Node) -> Vec<Name> {
        let mut names = Vec::new();
        match &node.value {
            Value::List(items) => {
                for item in items {
                    match item.text() {
                        Some(text) => names.push(Name { text: text.to_owned(), line: item.line }),
                        None => self.error(item.span, "expected a string"),
                    }
                }
            }
            _ if node.is_empty() => {}
            _ => self.error(node.span, "expected a list"),
        }
        names
    }

    /// A list of rules and categories.
    fn rules(&mut self, node: &Node, section: Section) -> Vec<Name> {
        if let Value::List(items) = &node.value {
            items.iter().for_each(|item| self.rule(item, section));
        }
        self.names(node)
    }

    /// Reports a rule that buf does not have.
    fn rule(&mut self, node: &Node, section: Section) {
        let name = node.text().unwrap_or_default();
        if self.has_plugins || section.holds(self.version, name) {
            return;
        }
        let names = section.names(self.version);
        let help = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`buf config ls-{}-rules` lists them", section.name()),
        };
        let message = format!("`{name}` is no {} rule or category of buf", section.name());
        self.errors.push(fault(node.span, message, Some(help)));
    }

    fn truth(&mut self, node: &Node) -> bool {
        let text = node.text().unwrap_or_default();
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" => return true,
            "false" | "no" | "off" | "n" => {}
            _ if node.is_empty() => {}
            _ => self.error(node.span, "expected `true` or `false`"),
        }
        false
    }

    fn paths(&mut self, node: &Node, folders: &[String]) -> Vec<String> {
        if let Value::List(items) = &node.value {
            let texts = items.iter().filter_map(|item| Some((item, item.text()?)));
            for (item, _) in texts.filter(|(_, text)| !is_inside(text)) {
                self.error(item.span, "expected a path inside the folder of buf.yaml");
            }
        }
        let names = self.names(node);
        names
            .into_iter()
            .flat_map(|name: Name| {
                folders
                    .iter()
                    .map(move |folder: &String| Reader::at(folder, &name.text))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Reads a key that `lint` and `breaking` share; false if it is another one.
    fn select(
        &mut self,
        to: &mut Selection,
        section: Section,
        (key, value): (&Node, &Node),
        folders: &[String],
    ) -> bool {
        match key.text().unwrap_or_default() {
            "use" => to.uses = self.rules(value, section),
            "except" => to.excepts = self.rules(value, section),
            "ignore" => to.ignore = self.paths(value, folders),
            "ignore_only" => {
                for (rule, paths) in self.entries(value) {
                    self.rule(rule, section);
                    let text = rule.text().unwrap_or_default().to_owned();
                    let paths = self.paths(paths, folders);
                    to.ignore_only.push((Name { text, line: rule.line }, paths));
                }
            }
            _ => return false,
        }
        true
    }

    fn lint(&mut self, key: &Node, node: &Node, folders: &[String]) -> Lint {
        let is_v2 = self.version == BufVersion::V2;
        let mut lint = Lint { line: key.line, ..self.module("").lint };
        for (key, value) in self.entries(node) {
            if self.select(&mut lint.rules, Section::Lint, (key, value), folders) {
                continue;
            }
            let name = key.text().unwrap_or_default();
            let option = match name {
                "enum_zero_value_suffix" | "service_suffix" => {
                    let key = match name {
                        "service_suffix" => "service-suffix",
                        _ => "zero-value-suffix",
                    };
                    let text = value.text().map(|it| serde_json::json!(it).to_string());
                    lint.options.extend(text.map(|it| (key, it)));
                    continue;
                }
                "allow_comment_ignores" if !is_v2 => {
                    if self.truth(value) {
                        lint.options.retain(|(key, _)| *key != "buf-comments");
                    }
                    continue;
                }
                "disable_builtin" if is_v2 => {
                    lint.no_builtin = self.truth(value);
                    continue;
                }
                "disallow_comment_ignores" if is_v2 => ("buf-comments", "false"),
                "rpc_allow_same_request_response" => ("allow-same-request-response", "true"),
                "rpc_allow_google_protobuf_empty_requests" => ("allow-empty-requests", "true"),
                "rpc_allow_google_protobuf_empty_responses" => ("allow-empty-responses", "true"),
                _ => {
                    let more: &[&str] = match is_v2 {
                        true => &["disallow_comment_ignores", "disable_builtin"],
                        false => &["allow_comment_ignores"],
                    };
                    self.errors.push(unknown_key(key, &[SELECTION, LINT_OPTIONS, more].concat()));
                    continue;
                }
            };
            if self.truth(value) {
                lint.options.push((option.0, option.1.to_owned()));
            }
        }
        lint
    }

    fn breaking(&mut self, key: &Node, node: &Node, folders: &[String]) -> Breaking {
        let is_v2 = self.version == BufVersion::V2;
        let mut breaking = Breaking { line: key.line, ..self.module("").breaking };
        for (key, value) in self.entries(node) {
            if self.select(&mut breaking.rules, Section::Breaking, (key, value), folders) {
                continue;
            }
            match key.text().unwrap_or_default() {
                "ignore_unstable_packages" => breaking.ignores_unstable = self.truth(value),
                "disable_builtin" if is_v2 => breaking.no_builtin = self.truth(value),
                _ => {
                    let more: &[&str] = match is_v2 {
                        true => &["ignore_unstable_packages", "disable_builtin"],
                        false => &["ignore_unstable_packages"],
                    };
                    self.errors.push(unknown_key(key, &[SELECTION, more].concat()));
                }
            }
        }
        breaking
    }

    /// `build` of v1 and v1beta1. Returns the modules of its roots.
    fn build(&mut self, node: &Node, whole: &mut Module) -> Vec<Module> {
        let base = vec![self.base.to_owned()];
        let has_roots = self.version == BufVersion::V1Beta1;
        let mut roots = Vec::new();
        for (key, value) in self.entries(node) {
            match key.text().unwrap_or_default() {
                "excludes" => whole.excludes = self.paths(value, &base),
                "roots" if has_roots => roots = self.paths(value, &base),
                _ if has_roots => self.errors.push(unknown_key(key, &["roots", "excludes"])),
                _ => self.errors.push(unknown_key(key, &["excludes"])),
            }
        }
        roots.into_iter().map(|root| Module { root, ..whole.clone() }).collect()
    }

    /// `modules` of v2.
    fn listed(&mut self, node: &Node, whole: &Module) -> Vec<Module> {
        let Value::List(items) = &node.value else {
            if !node.is_empty() {
                self.error(node.span, "expected a list of modules");
            }
            return Vec::new();
        };
        let base = vec![self.base.to_owned()];
        let mut modules: Vec<Module> = Vec::new();
        for item in items {
            let mut module = whole.clone();
            for (key, value) in self.entries(item) {
                match key.text().unwrap_or_default() {
                    "path" => {
                        let path = value.text().unwrap_or(".");
                        if !is_inside(path) {
                            self.error(value.span, "expected a path inside the folder of buf.yaml");
                        }
                        module.root = Reader::at(self.base, path);
                    }
                    "name" => {}
                    "excludes" => module.excludes = self.paths(value, &base),
                    "includes" => module.includes = self.paths(value, &base),
                    "lint" => module.lint = self.lint(key, value, &base),
                    "breaking" => module.breaking = self.breaking(key, value, &base),
                    _ => self.errors.push(unknown_key(key, MODULE)),
                }
            }
            match modules.iter().find(|it| it.root == module.root) {
                Some(_) => self.note(item.line, "two modules share a folder; it is checked once"),
                None => modules.push(module),
            }
        }
        modules
    }
}

const MODULE: &[&str] = &["path", "name", "includes", "excludes", "lint", "breaking"];

/// The keys that `lint` and `breaking` share.
const SELECTION: &[&str] = &["use", "except", "ignore", "ignore_only"];

/// The keys of `lint` in every version.
const LINT_OPTIONS: &[&str] = &[
    "enum_zero_value_suffix",
    "service_suffix",
    "rpc_allow_same_request_response",
    "rpc_allow_google_protobuf_empty_requests",
    "rpc_allow_google_protobuf_empty_responses",
];

/// Returns true if a path of buf.yaml stays in its folder.
fn is_inside(path: &str) -> bool {
    !path.starts_with('/') && !path.split('/').any(|name| name == "..")
}
