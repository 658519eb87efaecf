//! Reads a `buf.yaml` of any version. What buf refuses is an error with its place, and every
//! setting without a counterpart is noted with its line.

use abide_lint::{BufVersion, ConfigError, find_nearest};
use abide_source::join;
use abide_syntax::Span;

use super::rule_names::RuleSection;
use super::yaml::{YamlNode, YamlValue, fault, read};

/// The settings of a `buf.yaml`, with all paths relative to one folder.
#[derive(Default)]
pub(super) struct BufConfig {
    pub(super) modules: Vec<BufModule>,
    /// The modules that it depends on, as `deps` names them.
    pub(super) dependencies: Vec<String>,
    /// The settings that were dropped: a line and a phrase for each.
    pub(super) notes: Vec<DroppedSetting>,
}

/// A setting that was dropped.
pub(super) struct DroppedSetting {
    pub(super) line: usize,
    pub(super) text: String,
}

/// A folder from which imports start, and how its files are judged.
#[derive(Clone)]
pub(super) struct BufModule {
    pub(super) root: String,
    pub(super) excludes: Vec<String>,
    /// If not empty, only what is at these paths belongs to the module.
    pub(super) includes: Vec<String>,
    pub(super) lint: LintSection,
    pub(super) breaking: BreakingSection,
}

/// `use`, `except` and the paths that are ignored.
#[derive(Clone, Default, PartialEq)]
pub(super) struct RuleSelection {
    pub(super) uses: Vec<RuleName>,
    pub(super) excepts: Vec<RuleName>,
    pub(super) ignore: Vec<String>,
    pub(super) ignore_only: Vec<(RuleName, Vec<String>)>,
}

/// The section `lint`.
#[derive(Clone, PartialEq)]
pub(super) struct LintSection {
    pub(super) version: BufVersion,
    pub(super) line: usize,
    pub(super) rules: RuleSelection,
    /// The keys of `[lint]` that differ from their defaults, with their values in TOML.
    pub(super) options: Vec<(&'static str, String)>,
    /// True if the rules of buf itself are off.
    pub(super) no_builtin: bool,
}

/// The section `breaking`.
#[derive(Clone, Default, PartialEq)]
pub(super) struct BreakingSection {
    pub(super) version: BufVersion,
    pub(super) line: usize,
    pub(super) rules: RuleSelection,
    pub(super) ignores_unstable: bool,
    /// True if the rules of buf itself are off.
    pub(super) no_builtin: bool,
}

/// The id of a rule or the name of a category, and its line. Two are the same wherever they stand.
#[derive(Clone)]
pub(super) struct RuleName {
    pub(super) text: String,
    pub(super) line: usize,
}

impl PartialEq for RuleName {
    fn eq(&self, other: &RuleName) -> bool {
        self.text == other.text
    }
}

/// The folders that a `buf.work.yaml` lists; `None` if the text is a `buf.yaml`.
pub(super) fn read_work_folders(text: &str) -> Result<Option<Vec<String>>, Vec<ConfigError>> {
    let entries = parse_top(text)?;
    let Some((_, folders)) = find_entry(&entries, "directories") else { return Ok(None) };
    let YamlValue::List(items) = &folders.value else {
        return Err(vec![fault(folders.span, "expected a list of folders", None)]);
    };
    let known = ["version", "directories"];
    let unknown = entries.iter().filter(|(key, _)| !known.iter().any(|it| key.is(it)));
    let errors: Vec<ConfigError> = unknown.map(|(key, _)| unknown_key_error(key, &known)).collect();
    let folders =
        items.iter().filter_map(|it| it.text()).map(|it| BufReader::resolve_path("", it)).collect();
    if errors.is_empty() { Ok(Some(folders)) } else { Err(errors) }
}

fn find_entry<'n>(
    entries: &'n [(YamlNode, YamlNode)],
    name: &str,
) -> Option<&'n (YamlNode, YamlNode)> {
    entries.iter().find(|(key, _)| key.is(name))
}

fn parse_top(text: &str) -> Result<Vec<(YamlNode, YamlNode)>, Vec<ConfigError>> {
    let document = read(text).map_err(|error| vec![error])?;
    let span = document.as_ref().map_or(Span::at(0), |it| it.span);
    match document.map(|it| it.value) {
        Some(YamlValue::Map(entries)) => Ok(entries),
        _ => Err(vec![missing_version_error(span)]),
    }
}

fn missing_version_error(span: Span) -> ConfigError {
    let help = "a buf.yaml begins with `version: v2`".to_owned();
    fault(span, "there is no key `version`", Some(help))
}

fn unknown_key_error(key: &YamlNode, known: &[&str]) -> ConfigError {
    let name = key.text().unwrap_or_default();
    let help = match find_nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys here are `{}`", known.join("`, `")),
    };
    fault(key.span, format!("unknown key `{name}`"), Some(help))
}

/// The module of a folder without a `buf.yaml`, in a workspace of v1.
pub(super) fn default_module(folder: &str) -> BufModule {
    BufReader::new(BufVersion::V1, folder).default_module_at(folder)
}

impl BufConfig {
    /// Reads the text of a `buf.yaml` in the folder `base`.
    pub(super) fn parse(text: &str, base: &str) -> Result<BufConfig, Vec<ConfigError>> {
        let entries = parse_top(text)?;
        let version = match find_entry(&entries, "version").map(|(key, value)| (key, value.text()))
        {
            Some((_, Some("v1beta1"))) => BufVersion::V1Beta1,
            Some((_, Some("v1"))) => BufVersion::V1,
            Some((_, Some("v2"))) => BufVersion::V2,
            Some((key, Some(other))) => {
                let help = "the versions are `v1beta1`, `v1` and `v2`".to_owned();
                let message = format!("the version `{other}` is unknown");
                return Err(vec![fault(key.span, message, Some(help))]);
            }
            Some((key, None)) => return Err(vec![missing_version_error(key.span)]),
            None => return Err(vec![missing_version_error(Span::at(0))]),
        };
        let mut reader = BufReader::new(version, base);
        reader.has_plugins = find_entry(&entries, "plugins").is_some_and(|(_, it)| !it.is_empty());
        let modules = reader.read_modules(&entries);
        if !reader.errors.is_empty() {
            reader.errors.sort_by_key(|it| it.span);
            return Err(reader.errors);
        }
        let BufReader { dependencies, notes, .. } = reader;
        Ok(BufConfig { modules, dependencies, notes })
    }
}

struct BufReader<'b> {
    version: BufVersion,
    /// The folder of buf.yaml.
    base: &'b str,
    /// True if plugins may bring rules of their own.
    has_plugins: bool,
    dependencies: Vec<String>,
    notes: Vec<DroppedSetting>,
    errors: Vec<ConfigError>,
}

impl<'b> BufReader<'b> {
    fn new(version: BufVersion, base: &'b str) -> BufReader<'b> {
        let (dependencies, notes, errors) = (Vec::new(), Vec::new(), Vec::new());
        BufReader { version, base, has_plugins: false, dependencies, notes, errors }
    }

    fn read_modules(&mut self, entries: &[(YamlNode, YamlNode)]) -> Vec<BufModule> {
        let is_v2 = self.version == BufVersion::V2;
        let keys: &[&str] = match is_v2 {
            true => {
                &["version", "name", "modules", "deps", "lint", "breaking", "plugins", "policies"]
            }
            false => &["version", "name", "deps", "build", "lint", "breaking"],
        };
        let mut whole = self.default_module_at(self.base);
        let mut modules = Vec::new();
        // Paths count from the roots in v1beta1, and modules take over what stands at the top.
        if let Some((_, build)) = find_entry(entries, "build").filter(|_| !is_v2) {
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
                "deps" => {
                    let names = self.read_names(value).into_iter();
                    self.dependencies.extend(names.map(|it| it.text));
                }
                "lint" => whole.lint = self.read_lint(key, value, &folders),
                "breaking" => whole.breaking = self.read_breaking(key, value, &folders),
                "plugins" | "policies" if is_v2 => {
                    self.note_dropped(key, "abide does not run plugins");
                }
                _ => self.errors.push(unknown_key_error(key, keys)),
            }
        }
        for module in &mut modules {
            (module.lint, module.breaking) = (whole.lint.clone(), whole.breaking.clone());
        }
        if let Some((_, list)) = find_entry(entries, "modules").filter(|_| is_v2) {
            modules = self.read_module_list(list, &whole);
        }
        if modules.is_empty() {
            modules.push(whole);
        }
        modules
    }

    fn default_module_at(&self, root: &str) -> BufModule {
        // Comments that ignore a rule count in v2, and in older versions only if a key says so.
        let silent = self.version != BufVersion::V2;
        let comments = silent.then(|| ("buf-comments", "false".to_owned()));
        let lint = LintSection {
            version: self.version,
            line: 1,
            rules: RuleSelection::default(),
            options: comments.into_iter().collect(),
            no_builtin: false,
        };
        let root = if root.is_empty() { "." } else { root };
        let (root, excludes, includes) = (root.to_owned(), Vec::new(), Vec::new());
        BufModule {
            root,
            excludes,
            includes,
            lint,
            breaking: BreakingSection {
                version: self.version,
                line: 1,
                ..BreakingSection::default()
            },
        }
    }

    fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(DroppedSetting { line, text: text.into() });
    }

    fn note_dropped(&mut self, key: &YamlNode, why: &str) {
        let name = key.text().unwrap_or_default();
        self.note(key.line, format!("`{name}` was dropped: {why}"));
    }

    /// A path relative to a folder.
    fn resolve_path(folder: &str, path: &str) -> String {
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
    fn read_entries<'n>(&mut self, node: &'n YamlNode) -> &'n [(YamlNode, YamlNode)] {
        match &node.value {
            YamlValue::Map(entries) => return entries,
            _ if node.is_empty() => {}
            _ => self.error(node.span, "expected a map"),
        }
        &[]
    }

    fn read_names(&mut self, node: &YamlNode) -> Vec<RuleName> {
        let mut names = Vec::new();
        match &node.value {
            YamlValue::List(items) => {
                for item in items {
                    match item.text() {
                        Some(text) => {
                            names.push(RuleName { text: text.to_owned(), line: item.line })
                        }
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
    fn read_rules(&mut self, node: &YamlNode, section: RuleSection) -> Vec<RuleName> {
        if let YamlValue::List(items) = &node.value {
            items.iter().for_each(|item| self.check_rule(item, section));
        }
        self.read_names(node)
    }

    /// Reports a rule that buf does not have.
    fn check_rule(&mut self, node: &YamlNode, section: RuleSection) {
        let name = node.text().unwrap_or_default();
        if self.has_plugins || section.has_rule(self.version, name) {
            return;
        }
        let names = section.names(self.version);
        let help = match find_nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`buf config ls-{}-rules` lists them", section.name()),
        };
        let message = format!("`{name}` is no {} rule or category of buf", section.name());
        self.errors.push(fault(node.span, message, Some(help)));
    }

    fn read_bool(&mut self, node: &YamlNode) -> bool {
        let text = node.text().unwrap_or_default();
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" => return true,
            "false" | "no" | "off" | "n" => {}
            _ if node.is_empty() => {}
            _ => self.error(node.span, "expected `true` or `false`"),
        }
        false
    }

    fn read_paths(&mut self, node: &YamlNode, folders: &[String]) -> Vec<String> {
        if let YamlValue::List(items) = &node.value {
            let texts = items.iter().filter_map(|item| Some((item, item.text()?)));
            for (item, _) in texts.filter(|(_, text)| !is_inside(text)) {
                self.error(item.span, "expected a path inside the folder of buf.yaml");
            }
        }
        let names = self.read_names(node);
        names
            .into_iter()
            .flat_map(|name: RuleName| {
                folders
                    .iter()
                    .map(move |folder: &String| BufReader::resolve_path(folder, &name.text))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Reads a key that `lint` and `breaking` share; false if it is another one.
    fn read_selection(
        &mut self,
        to: &mut RuleSelection,
        section: RuleSection,
        (key, value): (&YamlNode, &YamlNode),
        folders: &[String],
    ) -> bool {
        match key.text().unwrap_or_default() {
            "use" => to.uses = self.read_rules(value, section),
            "except" => to.excepts = self.read_rules(value, section),
            "ignore" => to.ignore = self.read_paths(value, folders),
            "ignore_only" => {
                for (rule, paths) in self.read_entries(value) {
                    self.check_rule(rule, section);
                    let text = rule.text().unwrap_or_default().to_owned();
                    let paths = self.read_paths(paths, folders);
                    to.ignore_only.push((RuleName { text, line: rule.line }, paths));
                }
            }
            _ => return false,
        }
        true
    }

    fn read_lint(&mut self, key: &YamlNode, node: &YamlNode, folders: &[String]) -> LintSection {
        let is_v2 = self.version == BufVersion::V2;
        let mut lint = LintSection { line: key.line, ..self.default_module_at("").lint };
        for (key, value) in self.read_entries(node) {
            if self.read_selection(&mut lint.rules, RuleSection::Lint, (key, value), folders) {
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
                    if self.read_bool(value) {
                        lint.options.retain(|(key, _)| *key != "buf-comments");
                    }
                    continue;
                }
                "disable_builtin" if is_v2 => {
                    lint.no_builtin = self.read_bool(value);
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
                    self.errors
                        .push(unknown_key_error(key, &[SELECTION, LINT_OPTIONS, more].concat()));
                    continue;
                }
            };
            if self.read_bool(value) {
                lint.options.push((option.0, option.1.to_owned()));
            }
        }
        lint
    }

    fn read_breaking(
        &mut self,
        key: &YamlNode,
        node: &YamlNode,
        folders: &[String],
    ) -> BreakingSection {
        let is_v2 = self.version == BufVersion::V2;
        let mut breaking =
            BreakingSection { line: key.line, ..self.default_module_at("").breaking };
        for (key, value) in self.read_entries(node) {
            if self.read_selection(
                &mut breaking.rules,
                RuleSection::Breaking,
                (key, value),
                folders,
            ) {
                continue;
            }
            match key.text().unwrap_or_default() {
                "ignore_unstable_packages" => breaking.ignores_unstable = self.read_bool(value),
                "disable_builtin" if is_v2 => breaking.no_builtin = self.read_bool(value),
                _ => {
                    let more: &[&str] = match is_v2 {
                        true => &["ignore_unstable_packages", "disable_builtin"],
                        false => &["ignore_unstable_packages"],
                    };
                    self.errors.push(unknown_key_error(key, &[SELECTION, more].concat()));
                }
            }
        }
        breaking
    }

    /// `build` of v1 and v1beta1. Returns the modules of its roots.
    fn build(&mut self, node: &YamlNode, whole: &mut BufModule) -> Vec<BufModule> {
        let base = vec![self.base.to_owned()];
        let has_roots = self.version == BufVersion::V1Beta1;
        let mut roots = Vec::new();
        for (key, value) in self.read_entries(node) {
            match key.text().unwrap_or_default() {
                "excludes" => whole.excludes = self.read_paths(value, &base),
                "roots" if has_roots => roots = self.read_paths(value, &base),
                _ if has_roots => self.errors.push(unknown_key_error(key, &["roots", "excludes"])),
                _ => self.errors.push(unknown_key_error(key, &["excludes"])),
            }
        }
        roots.into_iter().map(|root| BufModule { root, ..whole.clone() }).collect()
    }

    /// `modules` of v2.
    fn read_module_list(&mut self, node: &YamlNode, whole: &BufModule) -> Vec<BufModule> {
        let YamlValue::List(items) = &node.value else {
            if !node.is_empty() {
                self.error(node.span, "expected a list of modules");
            }
            return Vec::new();
        };
        let base = vec![self.base.to_owned()];
        let mut modules: Vec<BufModule> = Vec::new();
        for item in items {
            let mut module = whole.clone();
            for (key, value) in self.read_entries(item) {
                match key.text().unwrap_or_default() {
                    "path" => {
                        let path = value.text().unwrap_or(".");
                        if !is_inside(path) {
                            self.error(value.span, "expected a path inside the folder of buf.yaml");
                        }
                        module.root = BufReader::resolve_path(self.base, path);
                    }
                    "name" => {}
                    "excludes" => module.excludes = self.read_paths(value, &base),
                    "includes" => module.includes = self.read_paths(value, &base),
                    "lint" => module.lint = self.read_lint(key, value, &base),
                    "breaking" => module.breaking = self.read_breaking(key, value, &base),
                    _ => self.errors.push(unknown_key_error(key, MODULE)),
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
