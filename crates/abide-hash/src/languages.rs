//! Language features, as resolved values. Source:
//! `cpp_features.proto`, `java_features.proto` and `go_features.proto` of
//! protobuf.

use abide_schema::value::{Message, Value};
use abide_schema::{Edition, Tree};

use crate::facts::{Facts, push, push_number};

/// The kind of element that a feature applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureTarget {
    File,
    /// Top-level messages and enums, and services.
    Class,
    Message,
    Enum,
    EnumValue,
    /// Fields that hold an enum.
    EnumField,
    /// Fields that hold strings or bytes.
    TextField,
    /// Fields that hold strings.
    StringField,
    /// Fields that are repeated or maps.
    ManyField,
}

struct LanguageFeature {
    language: &'static str,
    name: &'static str,
    target: FeatureTarget,
    is_bool: bool,
    /// The defaults in proto2, proto3, edition 2023 and edition 2024. Edition 2026 changes none.
    defaults: [i32; 4],
}

const fn feature(
    language: &'static str,
    name: &'static str,
    target: FeatureTarget,
    defaults: [i32; 4],
) -> LanguageFeature {
    LanguageFeature { language, name, target, is_bool: false, defaults }
}

const fn flag(
    language: &'static str,
    name: &'static str,
    target: FeatureTarget,
    defaults: [i32; 4],
) -> LanguageFeature {
    LanguageFeature { language, name, target, is_bool: true, defaults }
}

const COUNT: usize = 13;

/// The resolved features. `API_LEVEL_UNSPECIFIED` means the open API.
const FEATURES: [LanguageFeature; COUNT] = [
    flag("pb.cpp", "legacy_closed_enum", FeatureTarget::EnumField, [1, 0, 0, 0]),
    feature("pb.cpp", "string_type", FeatureTarget::TextField, [STRING, STRING, STRING, 1]),
    flag("pb.cpp", "enum_name_uses_string_view", FeatureTarget::Enum, [0, 0, 0, 1]),
    feature("pb.cpp", "repeated_type", FeatureTarget::ManyField, [1; 4]),
    flag("pb.java", "legacy_closed_enum", FeatureTarget::EnumField, [1, 0, 0, 0]),
    feature("pb.java", "utf8_validation", FeatureTarget::StringField, [1; 4]),
    flag("pb.java", "large_enum", FeatureTarget::Enum, [0; 4]),
    flag("pb.java", "use_old_outer_classname_default", FeatureTarget::File, [1, 1, 1, 0]),
    feature(
        "pb.java",
        "nest_in_file_class",
        FeatureTarget::Class,
        [NEST_LEGACY, NEST_LEGACY, NEST_LEGACY, 1],
    ),
    flag("pb.go", "legacy_unmarshal_json_enum", FeatureTarget::Enum, [1, 0, 0, 0]),
    feature("pb.go", "api_level", FeatureTarget::Message, [1, 1, 1, 3]),
    feature("pb.go", "strip_enum_prefix", FeatureTarget::EnumValue, [1; 4]),
    feature("pb.go", "optimize_mode", FeatureTarget::Message, [0; 4]),
];

const PROTO3: usize = 1;
const STRING_TYPE: usize = 1;
const JAVA_UTF8: usize = 5;
const VERIFY: i32 = 2;
const STRING: i32 = 3;
const CORD: i32 = 2;
const NEST_LEGACY: i32 = 3;
const NEST_YES: i32 = 2;

/// Returns true if a field of a language's features is resolved, and so is not an ordinary
/// option.
pub(crate) fn is_resolved(language: &str, name: &str) -> bool {
    FEATURES.iter().any(|it| it.language == language && it.name == name)
}

/// The extension of `FeatureSet` with this full name, if it has resolved features.
pub(crate) fn find_language(full_name: &str) -> Option<&'static str> {
    FEATURES.iter().map(|it| it.language).find(|it| *it == full_name)
}

/// The features of all languages in effect for an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LanguageSettings {
    edition: Edition,
    values: [i32; COUNT],
    /// True if all of them are as in proto3, which is nearly always true.
    is_usual: bool,
}

impl LanguageSettings {
    /// The defaults of an edition.
    pub(crate) fn of(edition: Edition) -> LanguageSettings {
        let column = match edition {
            Edition::Proto2 => 0,
            Edition::Proto3 => PROTO3,
            Edition::Edition2023 => 2,
            // Nothing is judged by the hash of a file in an edition that is not known.
            Edition::Edition2024 | Edition::Edition2026 | Edition::Unknown(_) => 3,
        };
        let values = std::array::from_fn(|at| FEATURES[at].defaults[column]);
        LanguageSettings { edition, values, is_usual: is_usual(&values) }
    }

    /// These features with the settings of the options of the file. Before editions, Java had an
    /// option for one of them.
    pub(crate) fn with_file(mut self, tree: &Tree, options: Option<&Message>) -> LanguageSettings {
        let checks_utf8 = options.and_then(|it| it.get_bool(tree, "java_string_check_utf8"));
        if checks_utf8 == Some(true) && !self.edition.is_edition() {
            self.values[JAVA_UTF8] = VERIFY;
            self.is_usual = false;
        }
        self.with(tree, options)
    }

    /// These features with the settings of the options of an element.
    pub(crate) fn with(self, tree: &Tree, options: Option<&Message>) -> LanguageSettings {
        match options {
            Some(options) if self.edition.is_edition() => self.override_by(tree, options),
            _ => self,
        }
    }

    fn override_by(mut self, tree: &Tree, options: &Message) -> LanguageSettings {
        let Some(features) = options.get_message(tree, "features") else { return self };
        for (at, feature) in FEATURES.iter().enumerate() {
            let language = features.find_extension(tree, feature.language);
            let language = language.and_then(|entry| entry.value.as_message());
            match language.and_then(|it| it.get(tree, feature.name)).map(|entry| &entry.value) {
                Some(Value::Bool(value)) => self.values[at] = (*value).into(),
                Some(Value::Enum(value)) if *value != 0 => self.values[at] = *value,
                _ => {}
            }
        }
        self.is_usual = is_usual(&self.values);
        self
    }

    /// Like [`with`](Languages::with), for a field: the option `ctype` means the same
    /// as `string_type`.
    pub(crate) fn with_field(self, tree: &Tree, options: Option<&Message>) -> LanguageSettings {
        let mut found = self;
        if is_cord(tree, options) {
            found.values[STRING_TYPE] = CORD;
            found.is_usual = false;
        }
        found.with(tree, options)
    }

    /// Writes a fact, after `holder` and a space, for each feature of the target
    /// that is not as in proto3.
    pub(crate) fn write(
        &self,
        facts: &mut Facts,
        target: FeatureTarget,
        holder: impl Fn(&mut Vec<u8>),
    ) {
        if self.is_usual {
            return;
        }
        for (at, feature) in FEATURES.iter().enumerate() {
            let value = self.values[at];
            let is_usual = match target {
                // Before edition 2024 an option sets it.
                FeatureTarget::Class => value != NEST_YES || self.edition < Edition::Edition2024,
                _ => value == feature.defaults[PROTO3],
            };
            if feature.target != target || is_usual {
                continue;
            }
            facts
                .write(&holder)
                .push("feature ")
                .push(feature.language)
                .push(".")
                .push(feature.name)
                .push(" = ")
                .write(|out| match (feature.is_bool, value) {
                    (true, 0) => push(out, "false"),
                    (true, _) => push(out, "true"),
                    (false, value) => push_number(out, value.into()),
                })
                .end();
        }
    }
}

/// Returns true if options ask for a Java class inside of that of the file.
pub(crate) fn is_nested_by_option(tree: &Tree, options: Option<&Message>) -> bool {
    let features = options.and_then(|it| it.get_message(tree, "features"));
    let java = features.and_then(|it| it.find_extension(tree, "pb.java"));
    let java = java.and_then(|it| it.value.as_message());
    let nested = java.and_then(|it| it.get(tree, "nest_in_file_class"));
    nested.is_some_and(|it| it.value == Value::Enum(NEST_YES))
}

fn is_usual(values: &[i32; COUNT]) -> bool {
    values.iter().zip(&FEATURES).all(|(value, feature)| *value == feature.defaults[PROTO3])
}

/// Returns true if the option `ctype` is `CORD`.
fn is_cord(tree: &Tree, options: Option<&Message>) -> bool {
    const CTYPE_CORD: i32 = 1;
    let ctype = options.and_then(|options| options.get(tree, "ctype"));
    ctype.is_some_and(|entry| entry.value == Value::Enum(CTYPE_CORD))
}
