//! The settings of `abide.toml`.
//! `presets/README.md` shows every key.

use abide_syntax::Span;
use toml_edit::{Document, Item, TableLike};

use crate::finding::ConfigError;
use crate::lock::VersionIn;
use crate::policy::{Layer, LintPart, LintPolicy, Policy, Preset};

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
    /// The old tree to compare with, a `SOURCE` of the command line.
    pub against: Option<String>,
    /// The last release, a `SOURCE` of the command line.
    pub bump_against: Option<String>,
    /// Where versions and hashes are recorded.
    pub version_in: VersionIn,
    /// The APIs that instances are judged by, in their order.
    pub apis: Vec<ConfigApi>,
    /// The files that hold instances.
    pub instances: Vec<ConfigInstances>,
    /// The policy that trees are checked against.
    pub policy: Policy,
}

impl Config {
    /// Reads `abide.toml`. A preset of the command line replaces the one in the
    /// text. All defects are reported, not only the first.
    pub fn parse(text: &str, preset: Option<Preset>) -> Result<Config, Vec<ConfigError>> {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                return Err(vec![ConfigError {
                    message: lower_first(error.message()),
                    span: to_span(error.span()),
                    help: None,
                }]);
            }
        };
        let mut reader = TomlReader { text, ..TomlReader::default() };
        let root = document.as_table();
        let named = root.get("preset").and_then(|item| preset_of(&mut reader, item));
        let mut config = Config::of_preset(preset.or(named).unwrap_or_default());
        read(&mut reader, root, &mut config);
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

    /// The roots that an `abide.toml` names, whatever else it has: another version of Abide may be
    /// the one that reads it. `None` if they cannot be read.
    pub fn roots_of(text: &str) -> Option<Vec<String>> {
        let document = Document::parse(text).ok()?;
        let mut reader = TomlReader::default();
        let roots = document.get("roots").map(|item| reader.texts(item)).unwrap_or_default();
        reader.errors.is_empty().then_some(roots)
    }

    /// The settings of a preset alone.
    pub fn of_preset(preset: Preset) -> Config {
        let mut config = Config { preset, ..Config::default() };
        let text = preset.text();
        let mut reader = TomlReader { text, ..TomlReader::default() };
        let document = Document::parse(text).expect("a test parses every preset");
        read(&mut reader, document.as_table(), &mut config);
        debug_assert_eq!(reader.errors, [], "a test reads every preset");
        config.policy.layers.set_preset(preset);
        config
    }
}

/// Puts an error message in the style of this tool, which starts in lower case.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect::<String>().replace('\n', ", ")
    })
}

/// Reads a whole document over what the settings are so far.
fn read(reader: &mut TomlReader<'_>, root: &dyn TableLike, config: &mut Config) {
    const KEYS: &[&str] = &[
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
        "rules",
        "rule",
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
    let mut layer = Layer::default();
    let mut parts = Vec::new();
    // Instances name APIs, and most keys rules, wherever those stand.
    let declared = root.get("rule").map(|item| reader.declared_rules(item));
    config.policy.own_rules.extend(declared.unwrap_or_default());
    config.apis = root.get("api").map(|item| reader.apis(item)).unwrap_or_default();
    for entry in entries(root) {
        let item = entry.item;
        match entry.key {
            // Already read: the other keys change the preset, and name APIs and rules.
            "preset" | "api" | "rule" => {}
            "instances" => config.instances = reader.instances(item, &config.apis),
            "roots" => {
                (config.roots, config.root_spans) = reader.strings(item).into_iter().unzip();
            }
            "import-paths" => {
                (config.import_paths, config.import_path_spans) =
                    reader.strings(item).into_iter().unzip();
            }
            "import-prefix" => config.import_prefix = reader.inner_path(item).unwrap_or_default(),
            "dependency" => config.dependencies = reader.config_dependencies(item),
            "dependency-folder" => config.dependency_folder = reader.inner_path(item),
            "features" => config.features = Some(reader.texts(item)),
            "against" => config.against = reader.string(item),
            "bump-against" => config.bump_against = reader.string(item),
            "version-in" => {
                let words = [("lock", VersionIn::Lock), ("option", VersionIn::Option)];
                config.version_in = reader.word_of(item, &words).unwrap_or_default();
            }
            "rules" => layer.levels = reader.levels(item),
            "override" => {
                for (table, span) in reader.tables(item) {
                    parts.extend(table.get("lint").map(|lint| (table, lint)));
                    let part = reader.part(table, span);
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
