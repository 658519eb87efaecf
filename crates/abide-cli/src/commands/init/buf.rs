//! Reads a `buf.yaml` of any version. Every setting without a counterpart is noted with its line.

use abide::BufVersion;

use super::yaml::{Node, Value, read};
use crate::source::join;

/// What `buf.yaml` says, with all paths relative to one folder.
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
    /// Whether the rules of buf itself are off.
    pub(super) no_builtin: bool,
}

/// The section `breaking`.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Breaking {
    pub(super) line: usize,
    pub(super) rules: Selection,
    pub(super) ignores_unstable: bool,
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

const NO_VERSION: &str = "it has no key `version`: is it a buf.yaml?";

/// The folders that a `buf.work.yaml` lists; `None` if the text is a `buf.yaml`.
pub(super) fn work_folders(text: &str) -> Result<Option<Vec<String>>, String> {
    let entries = top(text)?;
    let Some((_, folders)) = entries.iter().find(|(key, _)| key.text() == Some("directories"))
    else {
        return Ok(None);
    };
    let Value::List(items) = &folders.value else {
        return Err(format!("line {}: expected a list of folders", folders.line));
    };
    Ok(Some(items.iter().filter_map(|it| it.text()).map(str::to_owned).collect()))
}

fn top(text: &str) -> Result<Vec<(Node, Node)>, String> {
    let document = read(text).map_err(|(line, reason)| format!("line {line}: {reason}"))?;
    match document.map(|it| it.value) {
        Some(Value::Map(entries)) => Ok(entries),
        _ => Err(NO_VERSION.to_owned()),
    }
}

/// The module of a folder without a `buf.yaml`, in a workspace of v1.
pub(super) fn bare_module(folder: &str) -> Module {
    let reader = Reader { version: BufVersion::V1, base: folder, notes: Vec::new() };
    reader.module(folder)
}

impl Buf {
    /// Reads the text of a `buf.yaml` in the folder `base`.
    pub(super) fn parse(text: &str, base: &str) -> Result<Buf, String> {
        let entries = top(text)?;
        let version = entries.iter().find(|(key, _)| key.text() == Some("version"));
        let version = match version.and_then(|(_, value)| value.text()) {
            Some("v1beta1") => BufVersion::V1Beta1,
            Some("v1") => BufVersion::V1,
            Some("v2") => BufVersion::V2,
            Some(other) => return Err(format!("its version `{other}` is unknown")),
            None => return Err(NO_VERSION.to_owned()),
        };
        let mut reader = Reader { version, base, notes: Vec::new() };
        let modules = reader.modules(&entries);
        Ok(Buf { modules, notes: reader.notes })
    }
}

struct Reader<'b> {
    version: BufVersion,
    /// The folder of buf.yaml.
    base: &'b str,
    notes: Vec<Note>,
}

impl Reader<'_> {
    fn modules(&mut self, entries: &[(Node, Node)]) -> Vec<Module> {
        let is_v2 = self.version == BufVersion::V2;
        let mut whole = self.module(self.base);
        let mut modules = Vec::new();
        let get = |name: &str| entries.iter().find(|(key, _)| key.text() == Some(name));
        // Paths count from the roots in v1beta1, and modules take over what stands at the top.
        if let Some((_, build)) = get("build").filter(|_| !is_v2) {
            modules = self.build(build, &mut whole);
        }
        let folders: Vec<String> = match (self.version, modules.is_empty()) {
            (BufVersion::V1Beta1, false) => modules.iter().map(|it| it.root.clone()).collect(),
            _ => vec![self.base.to_owned()],
        };
        for (key, value) in entries {
            match key.text().unwrap_or_default() {
                "version" | "name" => {}
                "build" | "modules" if is_v2 == (key.text() == Some("modules")) => {}
                "deps" => self.leave_out(
                    key,
                    "abide does not fetch modules; write them to a folder with `buf export`, and \
                     add it to `import-paths`",
                ),
                "lint" => whole.lint = self.lint(key, value, &folders),
                "breaking" => whole.breaking = self.breaking(key, value, &folders),
                "plugins" | "policies" if is_v2 => {
                    self.leave_out(key, "abide does not run plugins");
                }
                _ => self.leave_out(key, "unknown key"),
            }
        }
        for module in &mut modules {
            (module.lint, module.breaking) = (whole.lint.clone(), whole.breaking.clone());
        }
        if let Some((_, list)) = get("modules").filter(|_| is_v2) {
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
        let (root, excludes) = (root.to_owned(), Vec::new());
        Module { root, excludes, lint, breaking: Breaking { line: 1, ..Breaking::default() } }
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

    fn paths(&mut self, node: &Node, folders: &[String]) -> Vec<String> {
        let names = self.names(node);
        let each = |name: Name| {
            let at = move |folder: &String| Reader::at(folder, &name.text);
            folders.iter().map(at).collect::<Vec<_>>()
        };
        names.into_iter().flat_map(each).collect()
    }

    /// Reads a key that `lint` and `breaking` share; false if it is another one.
    fn select(&mut self, to: &mut Selection, key: &Node, value: &Node, folders: &[String]) -> bool {
        match key.text().unwrap_or_default() {
            "use" => to.uses = self.names(value),
            "except" => to.excepts = self.names(value),
            "ignore" => to.ignore = self.paths(value, folders),
            "ignore_only" => {
                for (rule, paths) in self.entries(value) {
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
            if self.select(&mut lint.rules, key, value, folders) {
                continue;
            }
            let is_true = value.text() == Some("true");
            let option = match key.text().unwrap_or_default() {
                "allow_comment_ignores" if !is_v2 => {
                    if is_true {
                        lint.options.retain(|(key, _)| *key != "buf-comments");
                    }
                    continue;
                }
                "disallow_comment_ignores" if is_v2 => is_true.then_some(("buf-comments", "false")),
                "disable_builtin" if is_v2 => {
                    lint.no_builtin = is_true;
                    continue;
                }
                name @ ("enum_zero_value_suffix" | "service_suffix") => {
                    let key = match name {
                        "service_suffix" => "service-suffix",
                        _ => "zero-value-suffix",
                    };
                    let text = value.text().map(|it| serde_json::json!(it).to_string());
                    lint.options.extend(text.map(|it| (key, it)));
                    continue;
                }
                "rpc_allow_same_request_response" => {
                    is_true.then_some(("allow-same-request-response", "true"))
                }
                "rpc_allow_google_protobuf_empty_requests" => {
                    is_true.then_some(("allow-empty-requests", "true"))
                }
                "rpc_allow_google_protobuf_empty_responses" => {
                    is_true.then_some(("allow-empty-responses", "true"))
                }
                _ => {
                    self.leave_out(key, "unknown key");
                    continue;
                }
            };
            lint.options.extend(option.map(|(key, value)| (key, value.to_owned())));
        }
        lint
    }

    fn breaking(&mut self, key: &Node, node: &Node, folders: &[String]) -> Breaking {
        let mut breaking = Breaking { line: key.line, ..Breaking::default() };
        for (key, value) in self.entries(node) {
            if self.select(&mut breaking.rules, key, value, folders) {
                continue;
            }
            let is_true = value.text() == Some("true");
            match key.text().unwrap_or_default() {
                "ignore_unstable_packages" => breaking.ignores_unstable = is_true,
                "disable_builtin" if !is_true => {}
                "disable_builtin" => {
                    self.leave_out(key, "set `compatibility` to \"off\" in `[rules]`");
                }
                _ => self.leave_out(key, "unknown key"),
            }
        }
        breaking
    }

    /// `build` of v1 and v1beta1. Returns the modules of its roots.
    fn build(&mut self, node: &Node, whole: &mut Module) -> Vec<Module> {
        let base = vec![self.base.to_owned()];
        let mut roots = Vec::new();
        for (key, value) in self.entries(node) {
            match key.text().unwrap_or_default() {
                "excludes" => whole.excludes = self.paths(value, &base),
                "roots" if self.version == BufVersion::V1Beta1 => roots = self.paths(value, &base),
                _ => self.leave_out(key, "unknown key"),
            }
        }
        roots.into_iter().map(|root| Module { root, ..whole.clone() }).collect()
    }

    /// `modules` of v2.
    fn listed(&mut self, node: &Node, whole: &Module) -> Vec<Module> {
        let Value::List(items) = &node.value else {
            self.note(node.line, "this value was dropped: expected a list");
            return Vec::new();
        };
        let base = vec![self.base.to_owned()];
        let mut modules: Vec<Module> = Vec::new();
        for item in items {
            let mut module = whole.clone();
            for (key, value) in self.entries(item) {
                match key.text().unwrap_or_default() {
                    "path" => module.root = Reader::at(self.base, value.text().unwrap_or(".")),
                    "name" => {}
                    "excludes" => module.excludes = self.paths(value, &base),
                    "includes" => self.leave_out(
                        key,
                        "the whole module is checked; list the folders to leave out in \
                         `import-paths`",
                    ),
                    "lint" => module.lint = self.lint(key, value, &base),
                    "breaking" => module.breaking = self.breaking(key, value, &base),
                    _ => self.leave_out(key, "unknown key"),
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
