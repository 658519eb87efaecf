//! The list of all settings of `abide.toml`, for editors and schemas: keys, values, and what each is
//! about. A test keeps it equal to what is read.

use abide_change::{Direction, Surface};
use abide_instance::Dialect;
use abide_schema::PackageVersion;
use abide_upgrade::{CandidateLayout, UpgradeClosure, UpgradeReason};

use crate::finding::{Group, Impact};
use crate::other_linters::LintGroup;
use crate::policy::{Compatibility, OptionOrder, Preset, Removal};
use crate::rules::RULES;

/// A key of `abide.toml`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// What it is about: a phrase.
    pub about: &'static str,
    /// What it holds.
    pub value: SettingValue,
}

/// What a key holds.
#[derive(Clone, Debug)]
pub enum SettingValue {
    /// A string.
    Text,
    /// A string of this form: a regular expression that all dialects have.
    Pattern(&'static str),
    /// A string, or an array of them, each of this form where there is one.
    Texts(Option<&'static str>),
    /// A string, a number, a boolean, or an array of one of them.
    Plain,
    /// A number of at least 1.
    Count,
    /// `true` or `false`.
    Flag,
    /// A day.
    Date,
    /// One of these words.
    Word(Vec<&'static str>),
    /// One of these rules, or one that the file declares.
    Rule(Vec<&'static str>),
    /// One of these words, or an array of them.
    Words(Vec<&'static str>),
    /// A table with these keys.
    Table(Vec<Setting>),
    /// An array of tables with these keys; the first list has keys of which every table needs all,
    /// the second keys of which it needs exactly one.
    Tables(Vec<Setting>, &'static [&'static str], &'static [&'static str]),
    /// A table with a name of the user for each value of this kind; the form of the names, where
    /// there is one.
    Named(Box<SettingValue>, Option<&'static str>),
    /// Severities by rule, group, or rule of another tool.
    Levels,
    /// `true`, a table, or an array of tables.
    FlagOrTables(Vec<Setting>),
}

/// The form of a fingerprint.
const FINGERPRINT: &str = "^[0-9a-f]{16}$";
/// The form of a day of every year.
const YEARLY: &str = "^[0-9]{2}-[0-9]{2}$";
/// The form of a text that says something.
const SOMETHING: &str = "[^\\s]";

const fn setting(key: &'static str, about: &'static str, value: SettingValue) -> Setting {
    Setting { key, about, value }
}

/// The names of words that settings take.
fn words_of<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(word, _)| *word).collect()
}

/// The words of `[rules]`: severities.
pub fn severity_words() -> &'static [&'static str] {
    &["error", "warning", "note", "off"]
}

/// The names that `[rules]` takes besides the rules of other tools: rules, groups, and the categories
/// of buf, protolint and api-linter.
pub fn level_names() -> Vec<&'static str> {
    let rules = RULES.iter().map(|rule| rule.id);
    let groups = Group::ALL.iter().map(|group| group.name());
    let aliases = RULES.iter().flat_map(|rule| rule.all_aliases());
    let mut names: Vec<&str> =
        rules.chain(groups).chain(aliases).chain(LintGroup::names()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Every key of `abide.toml`, in the order of the file that `abide init` writes.
pub fn list_settings() -> Vec<Setting> {
    use SettingValue::*;
    let presets = Preset::ALL.iter().map(|it| it.name()).collect();
    vec![
        setting("extends", "the configurations that this one builds on", Texts(None)),
        setting("preset", "the policy to start from", Word(presets)),
        setting("roots", "the folders that imports start from and that are checked", Texts(None)),
        setting("import-paths", "folders whose files are imported but not checked", Texts(None)),
        setting("import-prefix", "what imports begin with that the files do not have", Text),
        setting(
            "dependency",
            "a tree that imports come from",
            Tables(list_dependency_settings(), &[], &["git", "from"]),
        ),
        setting("dependency-folder", "the folder that dependencies are written to", Text),
        setting("rule", "a rule of one's own", Tables(list_rule_settings(), RULE_NEEDS, &[])),
        setting(
            "plugin",
            "a program that checks as plugins of buf do",
            Tables(list_plugin_settings(), &[], &["path", "command"]),
        ),
        setting("features", "lists of features that name elements", Texts(None)),
        setting("against", "the old trees that changes are reported against", Texts(None)),
        setting("bump-against", "the last release, from which versions are counted", Text),
        setting(
            "version-in",
            "where versions are recorded: in abide.lock, or in an option of each file",
            Word(vec!["lock", "option"]),
        ),
        setting("rules", "severities by rule, group, or rule of another tool", Levels),
        setting(
            "override",
            "severities for a part of the tree or of the changes",
            Tables(list_override_settings(), &[], &[]),
        ),
        setting(
            "waiver",
            "an exception with a reason",
            Tables(
                vec![
                    setting("rule", "the rule that it waives", Rule(list_waivable())),
                    setting("element", "a pattern of full names", Text),
                    setting("fingerprint", "the fingerprint of one finding", Pattern(FINGERPRINT)),
                    setting("reason", "why it is right", Pattern(SOMETHING)),
                    setting("until", "the last day", Date),
                ],
                &["reason"],
                &["element", "fingerprint"],
            ),
        ),
        setting(
            "security-fix",
            "a break that a security problem requires",
            Tables(
                vec![
                    setting("element", "a pattern of full names", Text),
                    setting("fingerprint", "the fingerprint of one finding", Pattern(FINGERPRINT)),
                    setting("reason", "what it fixes", Pattern(SOMETHING)),
                ],
                &["reason"],
                &["element", "fingerprint"],
            ),
        ),
        setting("packages", "the version scheme of packages", Table(list_package_settings())),
        setting(
            "dependencies",
            "which package may depend on which",
            Table(vec![
                setting(
                    "allow",
                    "edges that are allowed even if denied: `FROM -> TO`",
                    Texts(Some(EDGE)),
                ),
                setting("deny", "edges that are errors: `FROM -> TO`", Texts(Some(EDGE))),
                setting("max-depth", "the longest chain of packages", Count),
            ]),
        ),
        setting("calendar", "releases, windows and ages", Table(list_calendar_settings())),
        setting("deprecation", "deprecation and removal", Table(list_deprecation_settings())),
        setting("breaking", "which changes are errors", Table(list_breaking_settings())),
        setting("lint", "options of lint rules", Table(list_lint_settings())),
        setting("upgrade", "how vN becomes v(N+1)alpha", Table(list_upgrade_settings())),
        setting(
            "options",
            "in which direction a custom option may change, by its full name",
            Named(Box::new(Words(words_of(OptionOrder::ALL))), None),
        ),
        setting(
            "api",
            "a release of an API that instances are judged by",
            Named(
                Box::new(Table(vec![
                    setting("source", "where its protos are", Text),
                    setting("import-paths", "folders of its imports", Texts(None)),
                    setting(
                        "reader",
                        "the program that reads the instances",
                        Word(Dialect::ALL.iter().map(|it| it.name()).collect()),
                    ),
                ])),
                None,
            ),
        ),
        setting(
            "instances",
            "files that hold values of messages",
            Tables(
                vec![
                    setting("files", "patterns of paths", Texts(None)),
                    setting("type", "the message that they hold", Text),
                    setting("api", "the API of `[api.NAME]` that judges them", Text),
                    setting("at", "where in a file the value is", Text),
                ],
                &[],
                &[],
            ),
        ),
        setting(
            "usage",
            "who uses which element",
            Table(vec![setting(
                "files",
                "files of uses in JSON Lines: patterns of paths",
                Texts(None),
            )]),
        ),
    ]
}

/// The form of an edge between packages.
const EDGE: &str = "^\\s*[^\\s>]+\\s*->\\s*[^\\s>]+\\s*$";

/// The keys that a rule of one's own needs.
const RULE_NEEDS: &[&str] = &["id", "on", "when", "message"];

fn list_rule_settings() -> Vec<Setting> {
    use SettingValue::*;
    let example = vec![
        setting("proto", "a file", Text),
        setting("old", "the file as it was", Text),
        setting("reports", "the elements at which the rule reports", Texts(None)),
    ];
    vec![
        setting("id", "its name, with a prefix of one's own", Text),
        setting("on", "the kind of element, or `change-of-` one", Text),
        setting("when", "CEL that is true where it reports", Pattern(SOMETHING)),
        setting("message", "what it says", Pattern(SOMETHING)),
        setting("help", "what to do", Pattern(SOMETHING)),
        setting("severity", "its severity", Word(severity_words().to_vec())),
        setting("example", "a test of the rule", Tables(example, &[], &[])),
    ]
}

fn list_plugin_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting("path", "the program", Text),
        setting("command", "the program and its arguments", Texts(None)),
        setting("name", "what its rules begin with", Pattern("^[a-z0-9-]+$")),
        setting("options", "what the program is told", Named(Box::new(Plain), None)),
        setting("rules", "the rules or categories that run", Texts(None)),
        setting("except", "the rules or categories that do not run", Texts(None)),
        setting("severity", "the severity of its findings", Word(severity_words().to_vec())),
    ]
}

fn list_dependency_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting("name", "its name", Text),
        setting("git", "the URL of its repository", Text),
        setting("from", "the package that has it", Text),
        setting("rev", "its branch, tag or commit", Text),
        setting("subdir", "the folder in it that imports start from", Text),
        setting("import-prefix", "what imports begin with that its files do not have", Text),
        setting("paths", "the parts of it that are needed", Texts(None)),
    ]
}

/// The form of the ids of rules that an `abide.toml` declares: with a first word that no rule of ours
/// has.
pub fn own_rule_form() -> String {
    let first = |id: &'static str| id.split('-').next().unwrap_or_default();
    let mut words: Vec<&str> = RULES.iter().map(|rule| first(rule.id)).collect();
    words.dedup();
    format!("^(?!(?:{})[-/])[a-z][a-z0-9-]*[-/][a-z0-9/-]+$", words.join("|"))
}

fn list_waivable() -> Vec<&'static str> {
    RULES.iter().filter(|it| it.group != Group::Policy).map(|it| it.id).collect()
}

fn list_surfaces() -> SettingValue {
    SettingValue::Words(Surface::ALL.iter().map(|it| it.name()).collect())
}

fn list_directions() -> SettingValue {
    SettingValue::Words(Direction::ALL.iter().map(|it| it.name()).collect())
}

fn list_stabilities() -> SettingValue {
    SettingValue::Words(vec!["alpha", "beta", "stable", "unversioned"])
}

fn list_override_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting("packages", "patterns of packages", Texts(None)),
        setting("files", "files and folders", Texts(None)),
        setting("stability", "stabilities of packages", list_stabilities()),
        setting("surfaces", "surfaces that a change breaks", list_surfaces()),
        setting("directions", "directions in which a change breaks", list_directions()),
        setting("rules", "severities by rule, group, or rule of another tool", Levels),
        setting("lint", "options of lint rules for these files", Table(list_lint_settings())),
        setting("floor", "true to let nothing that builds on it be laxer", Flag),
    ]
}

fn list_package_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting(
            "pattern",
            "the form of versioned packages, with `vN` for the version",
            Pattern("(^|\\.)vN(\\.|$)"),
        ),
        setting(
            "stabilities",
            "the stabilities that versions may have",
            Words(vec!["alpha", "beta", "stable"]),
        ),
        setting(
            "versions",
            "the forms that versions may have",
            Words(PackageVersion::FORMS.to_vec()),
        ),
        setting("folder-prefix", "folders that are no part of the package", Texts(None)),
        setting(
            "path-prefix",
            "prefixes of packages that folders leave out",
            Texts(Some("^[^./]+(\\.[^./]+)*$")),
        ),
        setting("unversioned", "patterns of packages without a version", Texts(None)),
        setting("plain-from", "the first major without a minor in its name", Count),
        setting("max-majors", "the most stable majors at a time", Count),
    ]
}

fn list_calendar_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting("client-releases", "days on which clients are released", Texts(Some(YEARLY))),
        setting("api-releases", "days on which the API is released", Texts(Some(YEARLY))),
        setting("major-window-days", "days before a release in which a major may appear", Count),
        setting("previous-major-months", "months for which the previous major stays", Count),
        setting(
            "stable-since",
            "the day since which packages are stable",
            Named(Box::new(Date), None),
        ),
        setting("alpha-max-months", "months after which an alpha is too old", Count),
        setting("alpha-max-releases", "releases after which an alpha is too old", Count),
        setting("alpha-since", "the day since which alphas exist", Named(Box::new(Date), None)),
        setting(
            "version-dates",
            "the days of versions",
            Named(Box::new(Date), Some("^[0-9]+\\.[0-9]+(\\.[0-9]+)?$")),
        ),
    ]
}

fn list_deprecation_settings() -> Vec<Setting> {
    use SettingValue::*;
    let freeze =
        vec![setting("from", "the first day", Date), setting("until", "the last day", Date)];
    vec![
        setting("removal", "what may be removed", Word(words_of(&Removal::ALL))),
        setting("window-months", "months between deprecation and removal", Count),
        setting("unused-days", "days without a use after which an element may go", Count),
        setting("without-equivalent", "patterns of elements that nothing replaces", Texts(None)),
        setting("dropped", "patterns of elements that go without a replacement", Texts(None)),
        setting("file", "the list of deprecations that --write writes", Pattern("\\.md$")),
        setting("freeze", "days on which no phase begins", FlagOrTables(freeze)),
    ]
}

fn list_breaking_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting("stabilities", "packages in which breaks are errors", list_stabilities()),
        setting("strict-annotations", "true to count annotations that loosen", Flag),
        setting(
            "aliases",
            "changes that are errors, by rules of other tools",
            Texts(Some("^[a-z-]+:")),
        ),
        setting("surfaces", "surfaces on which breaks are errors", list_surfaces()),
        setting("directions", "directions in which breaks are errors", list_directions()),
        setting(
            "compatibility",
            "the mode of schema registries",
            Word(words_of(Compatibility::ALL)),
        ),
        setting("lightest", "the least impact that is an error", Word(words_of(Impact::ALL))),
    ]
}

fn list_lint_settings() -> Vec<Setting> {
    use SettingValue::*;
    vec![
        setting("zero-value-suffix", "the end of the name of zero values", Text),
        setting("service-suffix", "the end of the names of services", Text),
        setting("allow-same-request-response", "true to let both be one message", Flag),
        setting("allow-empty-requests", "true to let requests be `Empty`", Flag),
        setting("allow-empty-responses", "true to let responses be `Empty`", Flag),
        setting("buf-comments", "true to read the comments of buf", Flag),
        setting("protolint-comments", "true to read the comments of protolint", Flag),
        setting("api-linter-comments", "true to read the comments of api-linter", Flag),
        setting("syntax", "the syntax that files have", Text),
    ]
}

fn list_upgrade_settings() -> Vec<Setting> {
    use SettingValue::*;
    let names = || Named(Box::new(Text), None);
    vec![
        setting("additions", "patterns of elements that only candidates have", Texts(None)),
        setting("always", "patterns of packages that always get a candidate", Texts(None)),
        setting("build-files", "true to write Bazel BUILD files", Flag),
        setting("build-labels", "labels of imports by the start of their paths", names()),
        setting("by-hand", "patterns of packages that people maintain", Texts(None)),
        setting("closure", "what is upgraded together", Word(words_of(UpgradeClosure::ALL))),
        setting("drop-detached-comments", "true to drop comments of removed elements", Flag),
        setting("dropped-options", "options that candidates do not have", Texts(None)),
        setting("http-major", "the major in the paths of HTTP routes", Count),
        setting("imports", "the order of imports", Word(vec!["kept", "computed"])),
        setting("layout", "the layout of candidates", Word(words_of(CandidateLayout::ALL))),
        setting(
            "links",
            "links to elements in comments",
            Table(vec![
                setting("label", "how a link names an element", Text),
                setting("members", "how links name members", names()),
                setting("roots", "roots of names in links", Texts(None)),
                setting("stale-members", "true to keep links to what is removed", Flag),
            ]),
        ),
        setting("lossy", "patterns of elements whose values may get lost", Texts(None)),
        setting(
            "majors",
            "the version that follows each major",
            Named(Box::new(Text), Some("^[0-9]+$")),
        ),
        setting("packages", "the next name of a package", names()),
        setting("reasons", "the changes that need a major", Words(words_of(UpgradeReason::ALL))),
        setting("services", "true to upgrade services", Flag),
        setting("stable-moves", "true to let stable packages move", Flag),
        setting("unstable", "true to upgrade unstable packages", Flag),
    ]
}
