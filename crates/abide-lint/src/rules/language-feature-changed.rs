use abide_change::option::{self};
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::value::Value;
use abide_schema::{Edition, Element, File, Openness};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "language-feature-changed",
    summary: "a language feature that changes generated code",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("language-feature-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

/// A feature of one language.
struct LanguageFeature {
    language: &'static str,
    name: &'static str,
    surface: Surface,
    /// The elements that it applies to.
    of: fn(Element<'_>) -> bool,
    /// Its value where nothing sets it.
    default: fn(Element<'_>) -> &'static str,
    /// Values that generate everything that the others do, and more.
    more: &'static [&'static str],
    why: &'static str,
}

const FEATURES: &[LanguageFeature] = &[
    LanguageFeature {
        language: "pb.go",
        name: "api_level",
        surface: Surface::SourceGo,
        of: |it| matches!(it, Element::Message(_)),
        default: |it| if option::is_since_2024(it.file()) { "API_OPAQUE" } else { "API_OPEN" },
        more: &["API_HYBRID"],
        why: "the open API has fields, the opaque API has setters, the hybrid API has both",
    },
    LanguageFeature {
        language: "pb.go",
        name: "strip_enum_prefix",
        surface: Surface::SourceGo,
        of: is_enum,
        default: |_| "STRIP_ENUM_PREFIX_KEEP",
        more: &["STRIP_ENUM_PREFIX_GENERATE_BOTH"],
        why: "the Go constants of enum values get different names",
    },
    LanguageFeature {
        language: "pb.go",
        name: "legacy_unmarshal_json_enum",
        surface: Surface::SourceGo,
        of: is_enum,
        default: default_in_proto2,
        more: &["true"],
        why: "it decides whether the Go enum has the method `UnmarshalJSON`",
    },
    LanguageFeature {
        language: "pb.java",
        name: "nest_in_file_class",
        surface: Surface::SourceJava,
        of: is_class,
        default: |it| match OptionOwner::File(it.file()).standard("java_multiple_files") {
            _ if option::is_since_2024(it.file()) => "NO",
            Some(entry) if entry.value == Value::Bool(true) => "NO",
            _ => "YES",
        },
        more: &[],
        why: "the Java class moves into the outer class of the file, or out of it",
    },
    LanguageFeature {
        language: "pb.java",
        name: "large_enum",
        surface: Surface::SourceJava,
        of: is_enum,
        default: |_| "false",
        more: &[],
        why: "the enum becomes a class instead of a Java enum, or the reverse",
    },
    LanguageFeature {
        language: "pb.java",
        name: "legacy_closed_enum",
        surface: Surface::SourceJava,
        of: holds_open_enum,
        default: default_in_proto2,
        more: &[],
        why: "undeclared enum values move between the field and the unknown fields",
    },
    LanguageFeature {
        language: "pb.cpp",
        name: "legacy_closed_enum",
        surface: Surface::SourceCpp,
        of: holds_open_enum,
        default: default_in_proto2,
        more: &[],
        why: "undeclared enum values move between the field and the unknown fields",
    },
    LanguageFeature {
        language: "pb.cpp",
        name: "enum_name_uses_string_view",
        surface: Surface::SourceCpp,
        of: is_enum,
        default: |it| if option::is_since_2024(it.file()) { "true" } else { "false" },
        more: &[],
        why: "the C++ function that returns the name of a value returns a different type",
    },
];

fn is_enum(element: Element<'_>) -> bool {
    matches!(element, Element::Enum(_))
}

/// Returns true if Java generates a class for it that no other element encloses.
fn is_class(element: Element<'_>) -> bool {
    match element {
        Element::Message(_) | Element::Enum(_) => element.parent().is_none(),
        Element::Service(_) => {
            let option = OptionOwner::File(element.file()).standard("java_generic_services");
            option.is_some_and(|it| it.value == Value::Bool(true))
        }
        _ => false,
    }
}

fn holds_open_enum(element: Element<'_>) -> bool {
    let Element::Field(field) = element else { return false };
    field.enum_type().is_some_and(|it| it.features().openness == Openness::Open)
}

fn default_in_proto2(element: Element<'_>) -> &'static str {
    if element.file().decl().edition == Edition::Proto2 { "true" } else { "false" }
}

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(files) = change.both() else { return };
    // Files with `syntax` cannot set features.
    let editions = (files.0.decl().edition, files.1.decl().edition);
    if editions.0 == editions.1 && !editions.0.is_edition() {
        return;
    }
    let all = option::collect_pairs(diff, files.1, |_| true);
    for feature in FEATURES {
        // Before edition 2024 `java_multiple_files` decides this: see `packaging-option-changed`.
        let option = feature.name == "nest_in_file_class";
        if option && !option::is_since_2024(files.0) && !option::is_since_2024(files.1) {
            continue;
        }
        let pairs = all.iter().copied();
        let pairs = pairs.filter(|&(old, new)| (feature.of)(old) && (feature.of)(new));
        let own = |holder: OptionOwner<'t>| holder.feature(feature.language, feature.name);
        let resolve = |element: Element<'t>| {
            let set =
                OptionOwner::Element(element).inherited_feature(feature.language, feature.name);
            let set = set.filter(|it| !matches!(*it, "LEGACY" | "API_LEVEL_UNSPECIFIED"));
            set.unwrap_or_else(|| (feature.default)(element))
        };
        for found in option::find_inherited(files, pairs, own, resolve) {
            let (was, is, name) = (&found.was, &found.is, feature.name);
            let language = feature.language;
            let what = found.phrase();
            let message =
                format!("feature `({language}).{name}` of {what} changed from `{was}` to `{is}`");
            let finding = sink.setting(&found.setting, message);
            finding.fact(language).fact(name).fact(was).fact(is).why(feature.why);
            if !feature.more.contains(&is.as_str()) {
                finding.breaks(Effects::backward(&[feature.surface]));
            }
            if !feature.more.contains(&was.as_str()) {
                finding.breaks(Effects::forward(&[feature.surface]));
            }
        }
    }
}
