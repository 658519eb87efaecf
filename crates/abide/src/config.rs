//! `abide.toml`, with a place for every error. `presets/README.md` shows every
//! key.

use std::collections::BTreeMap;

use abide_change::{Direction, Surface};
use abide_schema::{Glob, Stability};
use abide_syntax::Span;
use abide_upgrade::{CandidateLayout, Closure, ImportOrder, LinkPolicy, UpgradeReason};
use jiff::civil::Date;
use toml_edit::{Document, Item, TableLike, Value};

use crate::accepted::is_fingerprint;
use crate::calendar::Clock;
use crate::finding::Severity;
use crate::policy::{
    ConfigWaiver, Edge, Layer, Levels, OptionOrder, Override, Policy, Removal, SecurityFix,
    WaiverTarget,
};
use crate::preset::Preset;
use crate::rule::{Group, Rule};
use crate::rules::RULES;

/// The settings of `abide.toml`, over those of its preset.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The preset that it changes.
    pub preset: Preset,
    /// Where judged files are, relative to the folder of `abide.toml`.
    pub roots: Vec<String>,
    /// Where imports are, relative to the folder of `abide.toml`.
    pub import_paths: Vec<String>,
    /// The old tree to compare with, a `SOURCE` of the command line.
    pub against: Option<String>,
    /// The last release, a `SOURCE` of the command line.
    pub bump_against: Option<String>,
    /// Where versions and hashes are recorded.
    pub version_in: VersionIn,
    /// What trees are judged by.
    pub policy: Policy,
}

/// Where versions and hashes are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionIn {
    /// In `abide.lock`.
    #[default]
    Lock,
    /// In an option of each file.
    Option,
}

/// A defect of `abide.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong: one lower-case phrase, names in backticks.
    pub message: String,
    /// The bytes it stands at.
    pub span: Span,
    /// What to do.
    pub help: Option<String>,
}

impl Config {
    /// Reads `abide.toml`. The preset of the command line, where one is given,
    /// replaces the one that the text names. Every defect is reported, not
    /// only the first.
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
        let mut reader = Reader { errors: Vec::new() };
        let root = document.as_table();
        let named = root.get("preset").and_then(|item| reader.preset(item));
        let mut config = Config::of_preset(preset.or(named).unwrap_or_default());
        reader.root(root, &mut config);
        if reader.errors.is_empty() {
            return Ok(config);
        }
        reader.errors.sort_by_key(|error| (error.span.start, error.span.end));
        Err(reader.errors)
    }

    /// The settings of a preset alone.
    pub fn of_preset(preset: Preset) -> Config {
        let mut config = Config { preset, ..Config::default() };
        let mut reader = Reader { errors: Vec::new() };
        let document = Document::parse(preset.text()).expect("a test parses every preset");
        reader.root(document.as_table(), &mut config);
        debug_assert_eq!(reader.errors, [], "a test reads every preset");
        for layer in &mut config.policy.layers {
            layer.preset = Some(preset);
        }
        config
    }
}

/// Error messages of this tool begin in lower case.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect::<String>().replace('\n', ", ")
    })
}

/// The nearest of `candidates`, where one is near enough to be meant.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|&(score, _)| score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

/// The help of a message about an unknown word.
pub(crate) fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    nearest(word, candidates).map(|it| format!("did you mean `{it}`?"))
}

/// What other tools report of changes, besides what rules name as a whole: which
/// of these do depends on the change.
const ALIASES: &[&str] = &[
    "buf:ENUM_NO_DELETE",
    "buf:ENUM_SAME_JSON_FORMAT",
    "buf:ENUM_VALUE_NO_DELETE",
    "buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED",
    "buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED",
    "buf:EXTENSION_NO_DELETE",
    "buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED",
    "buf:FIELD_SAME_CARDINALITY",
    "buf:FIELD_SAME_TYPE",
    "buf:FIELD_WIRE_COMPATIBLE_CARDINALITY",
    "buf:FIELD_WIRE_COMPATIBLE_TYPE",
    "buf:FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY",
    "buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE",
    "buf:FILE_SAME_CC_GENERIC_SERVICES",
    "buf:FILE_SAME_CSHARP_NAMESPACE",
    "buf:FILE_SAME_GO_PACKAGE",
    "buf:FILE_SAME_JAVA_GENERIC_SERVICES",
    "buf:FILE_SAME_JAVA_MULTIPLE_FILES",
    "buf:FILE_SAME_JAVA_OUTER_CLASSNAME",
    "buf:FILE_SAME_JAVA_PACKAGE",
    "buf:FILE_SAME_OBJC_CLASS_PREFIX",
    "buf:FILE_SAME_PACKAGE",
    "buf:FILE_SAME_PHP_CLASS_PREFIX",
    "buf:FILE_SAME_PHP_METADATA_NAMESPACE",
    "buf:FILE_SAME_PHP_NAMESPACE",
    "buf:FILE_SAME_PY_GENERIC_SERVICES",
    "buf:FILE_SAME_RUBY_PACKAGE",
    "buf:FILE_SAME_SWIFT_PREFIX",
    "buf:FILE_SAME_SYNTAX",
    "buf:MESSAGE_NO_DELETE",
    "buf:MESSAGE_SAME_JSON_FORMAT",
    "buf:MESSAGE_SAME_REQUIRED_FIELDS",
    "buf:PACKAGE_ENUM_NO_DELETE",
    "buf:PACKAGE_EXTENSION_NO_DELETE",
    "buf:PACKAGE_MESSAGE_NO_DELETE",
    "buf:PACKAGE_SERVICE_NO_DELETE",
    "buf:RPC_SAME_CLIENT_STREAMING",
    "buf:RPC_SAME_SERVER_STREAMING",
    "buf:SERVICE_NO_DELETE",
    "google:ENUM_REMOVAL",
    "google:FIELD_BEHAVIOR_CHANGE",
    "google:FIELD_ONEOF_MOVE_IN",
    "google:FIELD_ONEOF_MOVE_OUT",
    "google:FIELD_PROTO3_OPTIONAL_CHANGE",
    "google:FIELD_REPEATED_CHANGE",
    "google:FIELD_TYPE_CHANGE",
    "google:MESSAGE_REMOVAL",
    "google:METHOD_CLIENT_STREAMING_CHANGE",
    "google:METHOD_SERVER_STREAMING_CHANGE",
    "google:NEW_REQUIRED_FIELD",
    "google:PACKAGING_OPTION_ADDITION",
    "google:PACKAGING_OPTION_REMOVAL",
    "google:SERVICE_REMOVAL",
    "protolock:NoChangingFieldTypes",
    "protolock:NoMovingExistingFieldsIntoOrOutOfOneof",
    "protolock:NoRemovingFieldsWithoutReserve",
];

struct Reader {
    errors: Vec<ConfigError>,
}

/// A key of a table, with its value.
struct Entry<'d> {
    key: &'d str,
    key_span: Span,
    item: &'d Item,
}

fn entries(table: &dyn TableLike) -> Vec<Entry<'_>> {
    let entry = |(key, item)| {
        let key_span = table.key(key).and_then(|key| key.span());
        let key_span = to_span(key_span);
        Entry { key, key_span, item }
    };
    table.iter().map(entry).collect()
}

/// Files of 4 GiB and more are refused before they get here.
fn to_span(range: Option<std::ops::Range<usize>>) -> Span {
    range.map_or_else(Span::default, |it| Span::new(it.start as u32, it.end as u32))
}

fn span(item: &Item) -> Span {
    to_span(item.span())
}

impl Reader {
    fn error(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.errors.push(ConfigError { message: message.into(), span, help });
    }

    fn unknown_key(&mut self, entry: &Entry<'_>, place: &str, known: &[&str]) {
        let help = did_you_mean(entry.key, known.iter().copied()).unwrap_or_else(|| match known {
            [] => "it has no keys yet".to_owned(),
            _ => format!("its keys are {}", listed(known, "and")),
        });
        let message = format!("unknown key `{}` in {place}", entry.key);
        self.error(entry.key_span, message, Some(help));
    }

    fn wrong_type<T>(&mut self, item: &Item, wanted: &str) -> Option<T> {
        let message = format!("expected {wanted}, found {}", type_name(item));
        self.error(span(item), message, None);
        None
    }

    fn string(&mut self, item: &Item) -> Option<String> {
        match item.as_str() {
            Some(text) => Some(text.to_owned()),
            None => self.wrong_type(item, "a string"),
        }
    }

    /// An array of strings, or one string alone; each with its place.
    fn strings(&mut self, item: &Item) -> Vec<(String, Span)> {
        if let Some(text) = item.as_str() {
            return vec![(text.to_owned(), span(item))];
        }
        let Some(array) = item.as_array() else {
            self.wrong_type::<()>(item, "a string or an array of strings");
            return Vec::new();
        };
        let mut strings = Vec::new();
        for value in array {
            let span = to_span(value.span());
            match value.as_str() {
                Some(text) => strings.push((text.to_owned(), span)),
                None => {
                    let message = format!("expected a string, found {}", value_type(value));
                    self.error(span, message, None);
                }
            }
        }
        strings
    }

    fn texts(&mut self, item: &Item) -> Vec<String> {
        self.strings(item).into_iter().map(|(text, _)| text).collect()
    }

    fn count(&mut self, item: &Item) -> Option<u32> {
        match item.as_integer().map(u32::try_from) {
            Some(Ok(number)) if number > 0 => Some(number),
            Some(_) => {
                self.error(span(item), "expected a number of at least 1", None);
                None
            }
            None => self.wrong_type(item, "a number"),
        }
    }

    fn glob(&mut self, text: &str, span: Span) -> Option<Glob> {
        match Glob::new(text) {
            Ok(glob) => Some(glob),
            Err(error) => {
                self.error(span, format!("`{text}` is no glob: {error}"), None);
                None
            }
        }
    }

    fn globs(&mut self, item: &Item) -> Vec<Glob> {
        let strings = self.strings(item);
        strings.into_iter().filter_map(|(text, span)| self.glob(&text, span)).collect()
    }

    fn date(&mut self, item: &Item) -> Option<Date> {
        let text = match item.as_value() {
            Some(Value::Datetime(date)) => date.value().to_string(),
            Some(Value::String(text)) => text.value().clone(),
            _ => return self.wrong_type(item, "a date"),
        };
        let date = parse_date(&text);
        if date.is_none() {
            let help = Some("write it as `2027-06-30`".to_owned());
            self.error(span(item), format!("`{text}` is no date"), help);
        }
        date
    }

    fn table<'d>(&mut self, item: &'d Item) -> Option<&'d dyn TableLike> {
        match item.as_table_like() {
            Some(table) => Some(table),
            None => self.wrong_type(item, "a table"),
        }
    }

    /// `[[name]]`, or an array of inline tables; each with its place.
    fn tables<'d>(&mut self, item: &'d Item) -> Vec<(&'d dyn TableLike, Span)> {
        if let Some(tables) = item.as_array_of_tables() {
            return tables
                .iter()
                .map(|table| (table as &dyn TableLike, to_span(table.span())))
                .collect();
        }
        let tables: Option<Vec<_>> = item.as_array().and_then(|array| {
            let table = |value: &'d Value| {
                let table = value.as_inline_table()?;
                Some((table as &dyn TableLike, to_span(table.span())))
            };
            array.iter().map(table).collect()
        });
        match tables {
            Some(tables) => tables,
            None => {
                self.wrong_type::<()>(item, "an array of tables");
                Vec::new()
            }
        }
    }

    /// One of a few words.
    fn word<T: Copy>(&mut self, text: &str, at: Span, words: &[(&str, T)]) -> Option<T> {
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            let message = format!("unknown word `{text}`, expected {}", listed(&known, "or"));
            self.error(at, message, did_you_mean(text, known.iter().copied()));
        }
        found
    }

    fn word_of<T: Copy>(&mut self, item: &Item, words: &[(&str, T)]) -> Option<T> {
        let text = self.string(item)?;
        self.word(&text, span(item), words)
    }

    fn preset(&mut self, item: &Item) -> Option<Preset> {
        let words: Vec<(&str, Preset)> =
            Preset::ALL.iter().map(|&preset| (preset.name(), preset)).collect();
        self.word_of(item, &words)
    }

    fn root(&mut self, root: &dyn TableLike, config: &mut Config) {
        const KEYS: &[&str] = &[
            "preset",
            "roots",
            "import-paths",
            "against",
            "bump-against",
            "version-in",
            "rules",
            "override",
            "waiver",
            "security-fix",
            "packages",
            "dependencies",
            "calendar",
            "deprecation",
            "breaking",
            "upgrade",
            "options",
        ];
        let mut layer = Layer::default();
        for entry in entries(root) {
            let item = entry.item;
            match entry.key {
                // Read before everything else: it is what the rest changes.
                "preset" => {}
                "roots" => config.roots = self.texts(item),
                "import-paths" => config.import_paths = self.texts(item),
                "against" => config.against = self.string(item),
                "bump-against" => config.bump_against = self.string(item),
                "version-in" => {
                    let words = [("lock", VersionIn::Lock), ("option", VersionIn::Option)];
                    config.version_in = self.word_of(item, &words).unwrap_or_default();
                }
                "rules" => layer.levels = self.levels(item),
                "override" => {
                    for (table, span) in self.tables(item) {
                        let part = self.part(table, span);
                        layer.overrides.push(part);
                    }
                }
                "waiver" => {
                    for (table, span) in self.tables(item) {
                        let waiver = self.waiver(table, span);
                        config.policy.waivers.extend(waiver);
                    }
                }
                "security-fix" => {
                    for (table, span) in self.tables(item) {
                        let fix = self.security_fix(table, span);
                        config.policy.security_fixes.extend(fix);
                    }
                }
                "packages" => self.packages(item, &mut config.policy),
                "dependencies" => self.dependencies(item, &mut config.policy),
                "calendar" => self.calendar(item, &mut config.policy),
                "deprecation" => self.deprecation(item, &mut config.policy),
                "breaking" => self.breaking(item, &mut config.policy),
                "upgrade" => self.upgrade(item, &mut config.policy),
                "options" => self.options(item, &mut config.policy),
                _ => self.unknown_key(&entry, "`abide.toml`", KEYS),
            }
        }
        config.policy.layers.push(layer);
    }

    fn levels(&mut self, item: &Item) -> Levels {
        const WORDS: &[(&str, Option<Severity>)] = &[
            ("error", Some(Severity::Error)),
            ("warning", Some(Severity::Warning)),
            ("note", Some(Severity::Note)),
            ("off", None),
        ];
        let mut levels = Levels::default();
        let Some(table) = self.table(item) else { return levels };
        for entry in entries(table) {
            let level = self.word_of(entry.item, WORDS);
            let groups = || Group::ALL.iter().map(|group| group.name());
            if let Some(group) = Group::ALL.iter().find(|group| group.name() == entry.key) {
                levels.groups.extend(level.map(|level| (*group, level)));
            } else if let Some(rule) = self.rule(entry.key, entry.key_span, groups()) {
                levels.rules.extend(level.map(|level| (rule.id, level)));
            }
        }
        levels
    }

    /// The rule with this id; where there is none, one of `others` may be meant.
    fn rule(
        &mut self,
        id: &str,
        at: Span,
        others: impl Iterator<Item = &'static str>,
    ) -> Option<&'static Rule> {
        let rule = Rule::find(id);
        if rule.is_none() {
            let help = did_you_mean(id, RULES.iter().map(|rule| rule.id).chain(others))
                .unwrap_or_else(|| "`abide rules` lists every rule".to_owned());
            self.error(at, format!("unknown rule `{id}`"), Some(help));
        }
        rule
    }

    fn part(&mut self, table: &dyn TableLike, at: Span) -> Override {
        const KEYS: &[&str] = &["packages", "stability", "surfaces", "directions", "rules"];
        let before = self.errors.len();
        let mut part = Override::default();
        for entry in entries(table) {
            match entry.key {
                "packages" => part.packages = self.globs(entry.item),
                "stability" => {
                    for (text, span) in self.strings(entry.item) {
                        part.stabilities.extend(self.word(
                            &text,
                            span,
                            &[
                                ("alpha", Some(Stability::Alpha)),
                                ("beta", Some(Stability::Beta)),
                                ("stable", Some(Stability::Stable)),
                                ("unversioned", None),
                            ],
                        ));
                    }
                }
                "surfaces" => part.surfaces = self.surfaces(entry.item),
                "directions" => {
                    let words: Vec<_> = Direction::ALL.iter().map(|it| (it.name(), *it)).collect();
                    for (text, span) in self.strings(entry.item) {
                        part.directions.extend(self.word(&text, span, &words));
                    }
                }
                "rules" => part.levels = self.levels(entry.item),
                _ => self.unknown_key(&entry, "`[[override]]`", KEYS),
            }
        }
        let sets = !part.levels.groups.is_empty() || !part.levels.rules.is_empty();
        if !sets && self.errors.len() == before {
            let help = "say in `rules` which severities hold there, or delete it".to_owned();
            self.error(at, "the override sets nothing", Some(help));
        }
        part
    }

    fn waiver(&mut self, table: &dyn TableLike, at: Span) -> Option<ConfigWaiver> {
        const KEYS: &[&str] = &["rule", "element", "fingerprint", "reason", "until"];
        let before = self.errors.len();
        let (mut rule, mut element, mut fingerprint) = (None, None, None);
        let (mut reason, mut until) = (None, None);
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "rule" => {
                    rule = self.string(item).and_then(|id| self.waived(&id, span(item)));
                }
                "element" => {
                    element = self.string(item).and_then(|text| self.glob(&text, span(item)));
                }
                "fingerprint" => fingerprint = self.fingerprint(item),
                "reason" => reason = self.reason(item, "a waiver"),
                "until" => until = self.date(item),
                _ => self.unknown_key(&entry, "`[[waiver]]`", KEYS),
            }
        }
        let target = target(element, fingerprint);
        if self.errors.len() > before {
            return None;
        }
        let complaint = match (&target, rule, &reason) {
            (None, ..) => "a waiver needs either `element` or `fingerprint`",
            (Some(WaiverTarget::Element(_)), None, _) => "a waiver needs `rule`",
            (.., None) => "a waiver needs `reason`",
            _ => "",
        };
        if !complaint.is_empty() {
            self.error(at, complaint, None);
            return None;
        }
        Some(ConfigWaiver { rule, target: target?, reason: reason?, until, span: at })
    }

    /// The rule that a waiver names.
    fn waived(&mut self, id: &str, at: Span) -> Option<&'static Rule> {
        let rule = self.rule(id, at, std::iter::empty())?;
        if rule.group == Group::Policy {
            let message = format!("`{id}` watches over waivers and cannot be waived");
            self.error(at, message, Some("turn it off in `[rules]` if you must".to_owned()));
            return None;
        }
        Some(rule)
    }

    fn fingerprint(&mut self, item: &Item) -> Option<String> {
        let text = self.string(item)?;
        if !is_fingerprint(&text) {
            let help = "it has 16 of the digits `0` to `9` and `a` to `f`, as reports show it";
            self.error(span(item), format!("`{text}` is no fingerprint"), Some(help.to_owned()));
        }
        Some(text)
    }

    fn reason(&mut self, item: &Item, of: &str) -> Option<String> {
        let reason = self.string(item);
        if reason.as_deref().is_some_and(|reason| reason.trim().is_empty()) {
            self.error(span(item), format!("the reason of {of} is empty"), None);
        }
        reason
    }

    fn security_fix(&mut self, table: &dyn TableLike, at: Span) -> Option<SecurityFix> {
        const KEYS: &[&str] = &["element", "fingerprint", "reason"];
        let before = self.errors.len();
        let (mut element, mut fingerprint, mut reason) = (None, None, None);
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "element" => {
                    element = self.string(item).and_then(|text| self.glob(&text, span(item)));
                }
                "fingerprint" => fingerprint = self.fingerprint(item),
                "reason" => reason = self.reason(item, "a security fix"),
                _ => self.unknown_key(&entry, "`[[security-fix]]`", KEYS),
            }
        }
        let fix = target(element, fingerprint).zip(reason);
        if fix.is_none() && self.errors.len() == before {
            let message = "a security fix needs `reason`, and either `element` or `fingerprint`";
            self.error(at, message, None);
        }
        fix.map(|(target, reason)| SecurityFix { target, reason })
    }

    fn packages(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] =
            &["pattern", "stabilities", "folder-prefix", "unversioned", "plain-from", "max-majors"];
        let packages = &mut policy.packages;
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "pattern" => {
                    let Some(text) = self.string(item) else { continue };
                    if text.split('.').any(|component| component == "vN") {
                        packages.pattern = self.glob(&text, span(item));
                    } else {
                        let message =
                            "the pattern has no component `vN`, which stands for the version";
                        self.error(span(item), message, None);
                    }
                }
                "stabilities" => {
                    let words = [
                        ("alpha", Stability::Alpha),
                        ("beta", Stability::Beta),
                        ("stable", Stability::Stable),
                    ];
                    let strings = self.strings(item);
                    packages.stabilities = strings
                        .into_iter()
                        .filter_map(|(text, span)| self.word(&text, span, &words))
                        .collect();
                }
                "folder-prefix" => packages.folder_prefixes = self.texts(item),
                "unversioned" => packages.unversioned = self.globs(item),
                "plain-from" => packages.plain_from = self.count(item),
                "max-majors" => packages.max_majors = self.count(item),
                _ => self.unknown_key(&entry, "`[packages]`", KEYS),
            }
        }
    }

    fn dependencies(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &["allow", "deny", "max-depth"];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "allow" => policy.dependencies.allow = self.edges(entry.item),
                "deny" => policy.dependencies.deny = self.edges(entry.item),
                "max-depth" => policy.dependencies.max_depth = self.count(entry.item),
                _ => self.unknown_key(&entry, "`[dependencies]`", KEYS),
            }
        }
    }

    fn edges(&mut self, item: &Item) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (text, span) in self.strings(item) {
            let is_one = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
            let names: Vec<&str> = text.split("->").map(str::trim).filter(is_one).collect();
            let arrows = text.matches("->").count();
            let ([from, to], 1) = (&names[..], arrows) else {
                let help = Some("write it as `FROM -> TO`".to_owned());
                self.error(span, format!("`{text}` is no edge"), help);
                continue;
            };
            let from = self.glob(from, span);
            let to = self.glob(to, span);
            if let (Some(from), Some(to)) = (from, to) {
                edges.push(Edge { from, to, span });
            }
        }
        edges
    }

    fn calendar(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "client-releases",
            "api-releases",
            "major-window-days",
            "previous-major-months",
            "stable-since",
            "alpha-max-months",
            "alpha-max-releases",
            "alpha-since",
            "version-dates",
        ];
        let calendar = &mut policy.calendar;
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "client-releases" => calendar.client_releases = self.clock(item),
                "api-releases" => calendar.api_releases = self.clock(item),
                "major-window-days" => calendar.major_window_days = self.count(item),
                "previous-major-months" => calendar.previous_major_months = self.count(item),
                "stable-since" => calendar.stable_since = self.dates(item),
                "alpha-max-months" => calendar.alpha_max_months = self.count(item),
                "alpha-max-releases" => calendar.alpha_max_releases = self.count(item),
                "alpha-since" => calendar.alpha_since = self.dates(item),
                "version-dates" => calendar.version_dates = self.dates(item),
                _ => self.unknown_key(&entry, "`[calendar]`", KEYS),
            }
        }
    }

    /// A table of dates by name.
    fn dates(&mut self, item: &Item) -> BTreeMap<String, Date> {
        let mut dates = BTreeMap::new();
        if let Some(table) = self.table(item) {
            for entry in entries(table) {
                if let Some(date) = self.date(entry.item) {
                    dates.insert(entry.key.to_owned(), date);
                }
            }
        }
        dates
    }

    /// Days of the year, such as `06-30`.
    fn clock(&mut self, item: &Item) -> Clock {
        let mut days = Vec::new();
        for (text, span) in self.strings(item) {
            match day_of_year(&text) {
                Some(day) => days.push(day),
                None => {
                    let help = "write month and day, such as `06-30`".to_owned();
                    self.error(span, format!("`{text}` is no day of every year"), Some(help));
                }
            }
        }
        Clock::of(days).expect("each is a day of every year")
    }

    fn deprecation(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &["removal", "window-months", "without-equivalent", "dropped"];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "removal" => {
                    let words = [
                        ("never", Removal::Never),
                        ("reserved", Removal::Reserved),
                        ("deprecated", Removal::Deprecated),
                    ];
                    policy.deprecation.removal =
                        self.word_of(entry.item, &words).unwrap_or_default();
                }
                "window-months" => policy.deprecation.window_months = self.count(entry.item),
                "without-equivalent" => {
                    policy.deprecation.without_equivalent = self.globs(entry.item);
                }
                "dropped" => policy.deprecation.dropped = self.globs(entry.item),
                _ => self.unknown_key(&entry, "`[deprecation]`", KEYS),
            }
        }
    }

    fn breaking(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &["aliases", "surfaces"];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "aliases" => {
                    let texts = self.strings(entry.item);
                    for (text, span) in &texts {
                        self.alias(text, *span);
                    }
                    policy.breaking.aliases = texts.into_iter().map(|(text, _)| text).collect();
                }
                "surfaces" => policy.breaking.surfaces = self.surfaces(entry.item),
                _ => self.unknown_key(&entry, "`[breaking]`", KEYS),
            }
        }
    }

    /// A name that no change can have would make notes of all of them.
    fn alias(&mut self, text: &str, at: Span) {
        let of_rules = RULES.iter().filter(|rule| rule.needs_baseline());
        let of_rules = of_rules.flat_map(|rule| rule.aliases.iter().copied());
        let known: Vec<&str> = of_rules.chain(ALIASES.iter().copied()).collect();
        if known.contains(&text) {
            return;
        }
        // Often just the name of the tool is missing.
        let named = known.iter().find(|it| it.split(':').nth(1) == Some(text)).copied();
        let help = named.map(|it| format!("did you mean `{it}`?"));
        let help =
            help.or_else(|| did_you_mean(text, known.iter().copied())).unwrap_or_else(|| {
                "name what another tool reports of a change, such as `buf:FIELD_SAME_TYPE`"
                    .to_owned()
            });
        self.error(at, format!("no change has the alias `{text}`"), Some(help));
    }

    fn surfaces(&mut self, item: &Item) -> Vec<Surface> {
        let words: Vec<_> = Surface::ALL.iter().map(|it| (it.name(), *it)).collect();
        let texts = self.strings(item);
        texts.iter().filter_map(|(text, span)| self.word(text, *span, &words)).collect()
    }

    /// Options of the preset that are not named here stay as they are.
    fn options(&mut self, item: &Item, policy: &mut Policy) {
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            if entry.item.is_table_like() {
                let message = format!("`{}` is no name of an option", entry.key);
                let help = "write the full name in quotes, as in `\"acme.max_rows\" = \"lower\"`";
                self.error(entry.key_span, message, Some(help.to_owned()));
                continue;
            }
            let words = self.strings(entry.item);
            let orders =
                words.into_iter().filter_map(|(word, at)| self.word(&word, at, OptionOrder::ALL));
            let orders = orders.collect();
            policy.options.insert(entry.key.to_owned(), orders);
        }
    }

    fn upgrade(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "always",
            "build-files",
            "build-labels",
            "closure",
            "drop-detached-comments",
            "dropped-options",
            "http-major",
            "imports",
            "layout",
            "links",
            "majors",
            "packages",
            "reasons",
            "services",
            "stable-moves",
            "unstable",
        ];
        let Some(table) = self.table(item) else { return };
        let upgrade = &mut policy.upgrade;
        for entry in entries(table) {
            match entry.key {
                "always" => upgrade.always = self.globs(entry.item),
                "build-files" => self.set(&mut upgrade.build_files, entry.item),
                "build-labels" => upgrade.build_labels = self.names(entry.item),
                "closure" => {
                    if let Some(closure) = self.word_of(entry.item, Closure::ALL) {
                        upgrade.closure = closure;
                    }
                }
                "drop-detached-comments" => {
                    self.set(&mut upgrade.drop_detached_comments, entry.item);
                }
                "dropped-options" => upgrade.dropped_options = self.texts(entry.item),
                "http-major" => upgrade.http_major = self.count(entry.item),
                "imports" => {
                    let words = [("kept", ImportOrder::Kept), ("computed", ImportOrder::Computed)];
                    if let Some(order) = self.word_of(entry.item, &words) {
                        upgrade.imports = order;
                    }
                }
                "layout" => {
                    if let Some(layout) = self.word_of(entry.item, CandidateLayout::ALL) {
                        upgrade.layout = layout;
                    }
                }
                "links" => self.links(entry.item, &mut upgrade.links),
                "majors" => upgrade.majors = self.majors(entry.item),
                "packages" => upgrade.packages = self.names(entry.item),
                "reasons" => {
                    let words = self.strings(entry.item);
                    let reasons = words
                        .into_iter()
                        .filter_map(|(word, at)| self.word(&word, at, UpgradeReason::ALL));
                    upgrade.reasons = reasons.collect();
                }
                "services" => self.set(&mut upgrade.services, entry.item),
                "stable-moves" => self.set(&mut upgrade.stable_moves, entry.item),
                "unstable" => self.set(&mut upgrade.unstable, entry.item),
                _ => self.unknown_key(&entry, "`[upgrade]`", KEYS),
            }
        }
    }

    fn links(&mut self, item: &Item, links: &mut LinkPolicy) {
        const KEYS: &[&str] = &["label", "members", "roots", "stale-members"];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "label" => links.label = self.string(entry.item),
                "members" => links.members = self.names(entry.item),
                "roots" => links.roots = self.texts(entry.item),
                "stale-members" => self.set(&mut links.stale_members, entry.item),
                _ => self.unknown_key(&entry, "`[upgrade.links]`", KEYS),
            }
        }
    }

    /// Names, and the name for each.
    fn names(&mut self, item: &Item) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        let Some(table) = self.table(item) else { return names };
        for entry in entries(table) {
            if let Some(name) = self.string(entry.item) {
                names.insert(entry.key.to_owned(), name);
            }
        }
        names
    }

    /// Majors, and the version that follows each.
    fn majors(&mut self, item: &Item) -> BTreeMap<u32, String> {
        let mut majors = BTreeMap::new();
        let Some(table) = self.table(item) else { return majors };
        for entry in entries(table) {
            let Ok(major) = entry.key.parse() else {
                let message = format!("`{}` is no major version", entry.key);
                self.error(entry.key_span, message, Some("write a number, such as `2`".to_owned()));
                continue;
            };
            if let Some(version) = self.string(entry.item) {
                majors.insert(major, version);
            }
        }
        majors
    }

    fn set(&mut self, flag: &mut bool, item: &Item) {
        match item.as_bool() {
            Some(value) => *flag = value,
            None => self.wrong_type(item, "`true` or `false`").unwrap_or_default(),
        }
    }
}

/// What a waiver covers, if it names one thing.
fn target(element: Option<Glob>, fingerprint: Option<String>) -> Option<WaiverTarget> {
    match (element, fingerprint) {
        (None, Some(fingerprint)) => Some(WaiverTarget::Fingerprint(fingerprint)),
        (Some(element), None) => Some(WaiverTarget::Element(element)),
        _ => None,
    }
}

/// A date without a time of day, such as `2027-06-30`.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    // `Date`'s own parser also takes a time of day and drops it.
    (text.len() == 10).then(|| text.parse().ok())?
}

/// Month and day, such as `06-30`.
fn day_of_year(text: &str) -> Option<(i8, i8)> {
    // A year without a 29 February.
    let date = parse_date(&format!("2023-{text}"))?;
    Some((date.month(), date.day()))
}

/// Words for a sentence: "`a`, `b` or `c`".
fn listed(words: &[&str], conjunction: &str) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|word| format!("`{word}`")).collect();
            format!("{} {conjunction} `{last}`", most.join(", "))
        }
    }
}

fn type_name(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Value(value) => value_type(value),
        Item::Table(_) => "a table",
        Item::ArrayOfTables(_) => "an array of tables",
    }
}

fn value_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Boolean(_) => "a truth value",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "an array",
        Value::InlineTable(_) => "a table",
    }
}
