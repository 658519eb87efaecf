//! The settings of `abide.toml`.
//! `presets/README.md` shows every key.

use std::collections::BTreeMap;

use abide_syntax::Span;
use toml_edit::{Document, Item, TableLike};

use crate::finding::ConfigError;
use crate::lock::VersionIn;
use crate::policy::{Layer, LintPart, LintPolicy, Override, Policy, Preset};

use super::config_texts::{ConfigText, ConfigTexts};
use super::dependency_tables::ConfigDependency;
use super::instance_tables::{ConfigApi, ConfigInstances};
use super::toml_reader::{TomlReader, entries, to_span};

/// The settings of `abide.toml` on top of those of its preset.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The preset that they change.
    pub preset: Preset,
    /// The folders of the files to check, relative to the folder of `abide.toml`.
    pub roots: Vec<String>,
    /// The place of each root in the text.
    pub root_spans: Vec<Span>,
    /// The folders of imports, relative to the folder of `abide.toml`.
    pub import_paths: Vec<String>,
    /// The place of each import path in the text.
    pub import_path_spans: Vec<Span>,
    /// The beginning of the import paths of all files that their roots leave out.
    pub import_prefix: String,
    /// The trees of others that imports come from, in their order.
    pub dependencies: Vec<ConfigDependency>,
    /// The folder that `abide deps vendor` writes to, relative to the folder of `abide.toml`;
    /// `None` is `.abide/deps`.
    pub dependency_folder: Option<String>,
    /// The lists of features, relative to the folder of `abide.toml`; `None` is
    /// `features.txt` in each root.
    pub features: Option<Vec<String>>,
    /// The old trees to compare with, each a `SOURCE` of the command line.
    pub against: Vec<String>,
    /// The last release, a `SOURCE` of the command line.
    pub bump_against: Option<String>,
    /// Where versions and hashes are recorded.
    pub version_in: VersionIn,
    /// The APIs that instances are judged by, in their order.
    pub apis: Vec<ConfigApi>,
    /// The files that hold instances.
    pub instances: Vec<ConfigInstances>,
    /// The files that say who uses which element: patterns of paths.
    pub usage_files: Vec<String>,
    /// The policy that trees are checked against.
    pub policy: Policy,
}

/// A value that a configuration sets.
#[derive(Clone, Debug)]
pub struct ConfigValue {
    /// Its key, such as `breaking.directions`.
    pub key: String,
    /// The value as it is written.
    pub text: String,
    /// The place of its key among all texts.
    pub span: Span,
}

impl Config {
    /// Reads `abide.toml`. A preset of the command line replaces the one in the
    /// text. All defects are reported, not only the first.
    pub fn parse(text: &str, preset: Option<Preset>) -> Result<Config, Vec<ConfigError>> {
        Config::read_files(&ConfigTexts::new("abide.toml", text), preset)
    }

    /// Reads an `abide.toml` over the files that it builds on: of two values the later one counts.
    /// The places of errors are among all texts.
    pub fn read_files(
        files: &ConfigTexts,
        preset: Option<Preset>,
    ) -> Result<Config, Vec<ConfigError>> {
        let order = files.list_in_order().into_iter();
        let texts: Vec<(usize, String)> = order.map(|it| (it, files.file(it).pad())).collect();
        let mut documents = Vec::new();
        let mut reader = TomlReader::default();
        for (number, text) in &texts {
            match Document::parse(text.as_str()) {
                Ok(document) => documents.push((*number, text, document)),
                Err(error) => {
                    reader.error(to_span(error.span()), lower_first(error.message()), None);
                }
            }
        }
        if !reader.errors.is_empty() {
            return Err(reader.errors);
        }
        let named = documents.iter().rev().find_map(|(.., it)| it.as_table().get("preset"));
        let named = named.and_then(|item| preset_of(&mut reader, item));
        let mut config = Config::of_preset(preset.or(named).unwrap_or_default());
        for (number, text, document) in &documents {
            reader.text = text;
            read(&mut reader, document.as_table(), &mut config, Some(files.file(*number)));
            if *number != 0 {
                config.forget_places(&mut reader);
            }
        }
        if reader.errors.is_empty() {
            config.policy.package_patterns = reader.package_patterns;
            config.policy.element_patterns = reader.element_patterns;
            config.policy.file_lists = reader.file_lists;
            config.policy.option_keys = reader.option_keys;
            return Ok(config);
        }
        reader.errors.sort_by_key(|error| (error.span.start, error.span.end));
        Err(reader.errors)
    }

    /// Forgets what a base says about places: what is not in this tree is no mistake of it.
    fn forget_places(&mut self, reader: &mut TomlReader<'_>) {
        reader.package_patterns.clear();
        reader.element_patterns.clear();
        reader.file_lists.clear();
        reader.option_keys.clear();
        let edges = &mut self.policy.dependencies;
        let edges = edges.allow.iter_mut().chain(&mut edges.deny);
        edges.for_each(|edge| edge.span = Span::default());
    }

    /// The entries of `extends` in a file of a configuration, with their places among all texts. A
    /// file that cannot be read has none.
    pub fn bases_of(files: &ConfigTexts, number: usize) -> Vec<(String, Span)> {
        let Ok(document) = Document::parse(files.file(number).pad()) else { return Vec::new() };
        let mut reader = TomlReader::default();
        document.get("extends").map(|item| reader.strings(item)).unwrap_or_default()
    }

    /// The values that a configuration sets besides severities, each with its text and its place:
    /// of two for one key the later one.
    pub fn values_of(texts: &ConfigTexts) -> Vec<ConfigValue> {
        let mut values: BTreeMap<String, ConfigValue> = BTreeMap::new();
        for number in texts.list_in_order() {
            let padded = texts.file(number).pad();
            let Ok(document) = Document::parse(padded.as_str()) else { continue };
            for entry in entries(document.as_table()) {
                let is_left_out = number != 0 && OF_ONE_TREE.contains(&entry.key);
                let table = entry.item.as_table_like().filter(|_| SECTIONS.contains(&entry.key));
                let inner = table.map(entries).unwrap_or_default();
                let keys = inner.iter().map(|it| (format!("{}.{}", entry.key, it.key), it));
                let own = entry.item.is_value().then(|| (entry.key.to_owned(), &entry));
                for (key, entry) in keys.chain(own).filter(|_| !is_left_out) {
                    let text = entry.item.span().and_then(|it| padded.get(it)).unwrap_or_default();
                    let text = text.to_owned();
                    values.insert(key.clone(), ConfigValue { key, text, span: entry.key_span });
                }
            }
        }
        values.into_values().collect()
    }

    /// The folder of dependencies that an `abide.toml` names, whatever else it has.
    pub fn dependency_folder_of(text: &str) -> Option<String> {
        let document = Document::parse(text).ok()?;
        TomlReader::default().inner_path(document.get("dependency-folder")?)
    }

    /// The roots that an `abide.toml` names, whatever else it has: another version of Abide may be
    /// the one that reads it. `None` if they cannot be read.
    pub fn roots_of(text: &str) -> Option<Vec<String>> {
        read_texts(text, "roots")
    }

    /// The import paths that an `abide.toml` names, whatever else it has. `None` if they cannot be
    /// read.
    pub fn import_paths_of(text: &str) -> Option<Vec<String>> {
        read_texts(text, "import-paths")
    }

    /// The settings of a preset alone.
    pub fn of_preset(preset: Preset) -> Config {
        let mut config = Config { preset, ..Config::default() };
        let text = preset.text();
        let mut reader = TomlReader { text, ..TomlReader::default() };
        let document = Document::parse(text).expect("a test parses every preset");
        read(&mut reader, document.as_table(), &mut config, None);
        debug_assert_eq!(reader.errors, [], "a test reads every preset");
        config.policy.layers.set_preset(preset);
        config
    }
}

/// Reads the texts of one key; none if it is not there.
fn read_texts(text: &str, key: &str) -> Option<Vec<String>> {
    let document = Document::parse(text).ok()?;
    let mut reader = TomlReader::default();
    let texts = document.get(key).map(|item| reader.texts(item)).unwrap_or_default();
    reader.errors.is_empty().then_some(texts)
}

/// Puts an error message in the style of this tool, which starts in lower case.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect::<String>().replace('\n', ", ")
    })
}

/// The keys about where a tree lies, and its exceptions: what builds on it has its own.
const OF_ONE_TREE: &[&str] = &[
    "roots",
    "import-paths",
    "import-prefix",
    "dependency-folder",
    "features",
    "api",
    "instances",
    "usage",
    "waiver",
    "security-fix",
];

/// The sections whose values can be floors.
const SECTIONS: &[&str] = &[
    "packages",
    "dependencies",
    "calendar",
    "deprecation",
    "breaking",
    "lint",
    "upgrade",
    "options",
];

/// Reads a whole document over what the settings are so far. Without a file it is a preset.
fn read(
    reader: &mut TomlReader<'_>,
    root: &dyn TableLike,
    config: &mut Config,
    file: Option<&ConfigText>,
) {
    const KEYS: &[&str] = &[
        "extends",
        "preset",
        "roots",
        "import-paths",
        "import-prefix",
        "dependency",
        "dependency-folder",
        "features",
        "against",
        "bump-against",
        "version-in",
        "api",
        "instances",
        "usage",
        "rules",
        "rule",
        "plugin",
        "override",
        "waiver",
        "security-fix",
        "packages",
        "dependencies",
        "calendar",
        "deprecation",
        "breaking",
        "lint",
        "upgrade",
        "options",
    ];
    let is_base = file.is_some_and(|it| !it.is_own());
    let origin = file.map_or("", |it| it.name.as_str());
    let mut layer = Layer::default();
    if is_base {
        layer.file = origin.to_owned();
    }
    let mut parts = Vec::new();
    // Instances name APIs, and most keys rules, wherever those stand.
    let plugins = root.get("plugin").map(|item| reader.plugins(item));
    config.policy.plugins.extend(plugins.unwrap_or_default());
    let declared = root.get("rule").map(|item| reader.declared_rules(item));
    config.policy.own_rules.extend(declared.unwrap_or_default());
    if !is_base {
        config.apis = root.get("api").map(|item| reader.apis(item)).unwrap_or_default();
    }
    for entry in entries(root) {
        let stripped = match SECTIONS.contains(&entry.key) {
            true => reader.keep_section_floors(entry.key, entry.item, origin),
            false => None,
        };
        let item = stripped.as_ref().unwrap_or(entry.item);
        match entry.key {
            key if is_base && OF_ONE_TREE.contains(&key) => {}
            "extends" => {
                reader.strings(item);
                if file.is_none_or(|it| !it.has_bases()) && !reader.texts(item).is_empty() {
                    let help = "copy what it says, or name this file with `--config`".to_owned();
                    let message = "`extends` is not read here";
                    reader.error(entry.key_span, message, Some(help));
                }
            }
            // Already read: the other keys change the preset, and name APIs and rules.
            "preset" | "api" | "plugin" | "rule" => {}
            "instances" => config.instances = reader.instances(item, &config.apis),
            "usage" => config.usage_files = reader.usage(item),
            "roots" => {
                (config.roots, config.root_spans) = reader.strings(item).into_iter().unzip();
            }
            "import-paths" => {
                (config.import_paths, config.import_path_spans) =
                    reader.strings(item).into_iter().unzip();
            }
            "import-prefix" => config.import_prefix = reader.inner_path(item).unwrap_or_default(),
            "dependency" => {
                let own = reader.config_dependencies(item);
                config.dependencies.retain(|it| own.iter().all(|own| own.name != it.name));
                config.dependencies.extend(own);
            }
            "dependency-folder" => config.dependency_folder = reader.inner_path(item),
            "features" => config.features = Some(reader.texts(item)),
            "against" => config.against = reader.old_trees(item),
            "bump-against" => config.bump_against = reader.old_tree(item),
            "version-in" => {
                let words = [("lock", VersionIn::Lock), ("option", VersionIn::Option)];
                config.version_in = reader.word_of(item, &words).unwrap_or_default();
            }
            "rules" => {
                layer.levels = reader.levels(item);
                layer.places = reader.list_places();
                let floor = item.as_table_like().and_then(|it| it.get("floor"));
                let mut is_floor = false;
                if let Some(floor) = floor {
                    reader.set(&mut is_floor, floor);
                }
                reader.keep_floors(&Override::default(), is_floor, origin);
            }
            "override" => {
                for (table, span) in reader.tables(entry.item) {
                    parts.extend(table.get("lint").map(|lint| (table, lint)));
                    let part = reader.part(table, span, origin);
                    layer.overrides.push(part);
                }
            }
            "waiver" => {
                for (table, span) in reader.tables(item) {
                    let waiver = reader.waiver(table, span);
                    config.policy.waivers.extend(waiver);
                }
            }
            "security-fix" => {
                for (table, span) in reader.tables(item) {
                    let fix = reader.security_fix(table, span);
                    config.policy.security_fixes.extend(fix);
                }
            }
            "packages" => reader.packages(item, &mut config.policy),
            "dependencies" => reader.dependencies(item, &mut config.policy),
            "calendar" => reader.calendar(item, &mut config.policy),
            "deprecation" => reader.deprecation(item, &mut config.policy),
            "breaking" => reader.breaking(item, &mut config.policy),
            "lint" => reader.lint(item, &mut config.policy.lint),
            "upgrade" => reader.upgrade(item, &mut config.policy),
            "options" => reader.options(item, &mut config.policy),
            _ => reader.unknown_key(&entry, "`abide.toml`", KEYS),
        }
    }
    config.policy.layers.push(layer);
    let whole = LintPolicy { parts: Vec::new(), ..config.policy.lint.clone() };
    for (table, lint) in parts {
        let mut policy = whole.clone();
        reader.lint(lint, &mut policy);
        let files = table.get("files").map(|it| reader.texts(it)).unwrap_or_default();
        config.policy.lint.parts.push(LintPart { files, policy });
    }
}

fn preset_of(reader: &mut TomlReader<'_>, item: &Item) -> Option<Preset> {
    let words: Vec<(&str, Preset)> =
        Preset::ALL.iter().map(|&preset| (preset.name(), preset)).collect();
    reader.word_of(item, &words)
}
