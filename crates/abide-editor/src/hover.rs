//! Describes a name in Markdown: the declaration, its package and version, whether it is
//! deprecated and by what it is replaced, and its comment.

use abide_lint::{backtick, pluralize};
use abide_schema::{
    AttachedComments, Cardinality, Edition, Element, FeatureSource, Field, FileKey, MentionTarget,
    Package, Presence, Scalar, Stability, Type,
};
use abide_syntax::Span;

use crate::analysis::TreeAnalysis;
use crate::project::{CheckInputs, Project};

impl Project {
    /// Describes the name at an offset of a file in Markdown, and returns its span.
    pub fn hover(&mut self, file: &FileKey, offset: u32) -> Option<(String, Span)> {
        self.analyze();
        let analysis = self.last_analysis()?;
        let (meaning, span) = analysis.find_meaning(file, offset)?;
        let text = match meaning {
            MentionTarget::Element(it) => describe_element(it, analysis, self.judge()),
            MentionTarget::File(it) => {
                let package = describe_package(it.package(), self.judge());
                format!("```proto\nimport \"{}\";\n```\n\n{package}", it.path())
            }
            MentionTarget::Package(name) => match analysis.tree.package_named(name) {
                Some(it) => {
                    let package = describe_package(it, self.judge());
                    format!("```proto\npackage {name};\n```\n\n{package}")
                }
                None => {
                    let begins = self.files().map(|it| it.package_name()).filter(|it| {
                        it.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
                    });
                    let packages = begins.collect::<std::collections::BTreeSet<_>>().len();
                    let packages = pluralize(packages, "package");
                    format!("{} begins the names of {packages}", backtick(name))
                }
            },
        };
        Some((text, span))
    }
}

fn describe_element(element: Element<'_>, analysis: &TreeAnalysis, judge: &CheckInputs) -> String {
    let mut parts = vec![format!("```proto\n{}\n```", format_declaration(element))];
    let mut facts = vec![format!("{} {}", element.noun(), backtick(element.full_name()))];
    if let Element::Field(field) = element {
        facts.extend(describe_presence(field));
        facts.push(format!("JSON {}", backtick(field.json_name())));
    }
    facts.extend(describe_visibility(element));
    parts.push(facts.join(" · "));
    parts.extend(describe_features(element));
    let of_package = describe_package(element.package(), judge);
    let is_new = analysis.old.as_ref().is_some_and(|old| !is_in(old, element));
    parts.push(match is_new {
        true => format!("{of_package} · new: not in the old tree"),
        false => of_package,
    });
    parts.extend(describe_deprecation(element));
    parts.extend(format_comment(&element.file().decl().comments(element.node())));
    parts.join("\n\n")
}

/// Returns true if an old tree has an element with this name, or with this number in its message or
/// enum.
fn is_in(old: &abide_schema::Tree, element: Element<'_>) -> bool {
    let holder = |it: Element<'_>| it.parent().map(Element::full_name);
    old.element_named(&element.full_name()).is_some()
        || match element {
            Element::Field(it) if !it.is_extension() => {
                let message = holder(element).and_then(|it| old.message_named(&it));
                message.is_some_and(|old| old.fields().any(|old| old.number() == it.number()))
            }
            Element::EnumValue(it) => {
                let values = holder(element).and_then(|it| old.enum_named(&it));
                values.is_some_and(|old| old.values().any(|old| old.number() == it.number()))
            }
            _ => false,
        }
}

/// The declaration in one line, with resolved types.
pub(crate) fn format_declaration(element: Element<'_>) -> String {
    let name = element.name();
    match element {
        Element::Message(_) => format!("message {name} {{ … }}"),
        Element::Enum(_) => format!("enum {name} {{ … }}"),
        Element::Service(_) => format!("service {name} {{ … }}"),
        Element::Oneof(it) => {
            let members: Vec<String> = it.fields().map(|it| it.name().to_owned()).collect();
            format!("oneof {name} {{ {} }}", members.join(" | "))
        }
        Element::EnumValue(it) => format!("{name} = {};", it.number()),
        Element::Method(it) => {
            let stream = |is: bool| if is { "stream " } else { "" };
            let ty = |it: Option<abide_schema::Message<'_>>| {
                it.map_or_else(|| "?".to_owned(), |it| it.full_name())
            };
            format!(
                "rpc {name}({}{}) returns ({}{});",
                stream(it.decl().client_streaming),
                ty(it.input()),
                stream(it.decl().server_streaming),
                ty(it.output())
            )
        }
        Element::Field(it) => {
            let label = match it.decl().label {
                _ if it.is_map() => "",
                Some(abide_syntax::FieldLabel::Optional) => "optional ",
                Some(abide_syntax::FieldLabel::Required) => "required ",
                Some(abide_syntax::FieldLabel::Repeated) => "repeated ",
                None => "",
            };
            format!("{label}{} {name} = {};", format_type_name(it), it.number())
        }
    }
}

/// The type of a field as it could be written.
pub(crate) fn format_type_name(field: Field<'_>) -> String {
    if let (Cardinality::Map, Some(entry)) = (field.cardinality(), field.message_type()) {
        let parts: Vec<String> = entry.fields().map(format_type_name).collect();
        return format!("map<{}>", parts.join(", "));
    }
    match field.ty() {
        Type::Scalar(it) => Scalar::keyword(it).to_owned(),
        Type::Message(id) => field.tree.message(id).full_name(),
        Type::Enum(id) => field.tree.enumeration(id).full_name(),
        Type::Unresolved => "?".to_owned(),
    }
}

fn describe_presence(field: Field<'_>) -> Option<String> {
    let source = Element::Field(field).find_feature_source("field_presence");
    let is_singular = field.cardinality() == Cardinality::Singular && !is_unknown(source);
    let presence = match field.presence() {
        Presence::Explicit => "explicit presence",
        Presence::Implicit => "implicit presence",
        Presence::LegacyRequired => "required",
    };
    is_singular.then(|| presence.to_owned())
}

/// Says if other files may use a type, in editions where that differs.
fn describe_visibility(element: Element<'_>) -> Option<String> {
    let is_type = matches!(element, Element::Message(_) | Element::Enum(_));
    if !is_type || element.file().decl().edition < Edition::Edition2024 {
        return None;
    }
    if !element.has_known_visibility() {
        return None;
    }
    let word = if element.is_exported() { "exported" } else { "local to its file" };
    let name = "default_symbol_visibility";
    Some(match element.visibility() {
        Some(_) => word.to_owned(),
        None => {
            let value = element.file().features().value_name(name);
            let source = describe_source(element, element.find_feature_source(name));
            format!("{word}, by {} ({source})", backtick(format!("features.{name} = {value}")))
        }
    })
}

/// The features that have an effect on an element, and what decides about each.
fn describe_features(element: Element<'_>) -> Option<String> {
    let features = element.resolved_features().into_iter().map(|it| {
        let source = describe_source(element, it.source);
        if is_unknown(it.source) {
            return format!("{} is unknown ({source})", backtick(format!("features.{}", it.name)));
        }
        format!("{} ({source})", backtick(format!("features.{} = {}", it.name, it.value)))
    });
    let features: Vec<String> = features.collect();
    (!features.is_empty()).then(|| features.join(" · "))
}

/// Returns true if a feature is left to an edition that is not known.
fn is_unknown(source: FeatureSource<'_>) -> bool {
    matches!(source, FeatureSource::Edition(edition) if !edition.is_known())
}

fn describe_source(element: Element<'_>, source: FeatureSource<'_>) -> String {
    match source {
        FeatureSource::Element(it) if it == element => "set here".to_owned(),
        FeatureSource::Element(it) => format!("set for {} {}", it.noun(), backtick(it.name())),
        FeatureSource::File(_) => "set for the file".to_owned(),
        FeatureSource::Edition(edition) => format!("default of {edition}"),
    }
}

/// The package, its stability, its version as it is recorded, since when it exists, and whether it
/// is frozen.
fn describe_package(package: Package<'_>, judge: &CheckInputs) -> String {
    let mut facts = vec![format!("package {}", backtick(package.name()))];
    facts.extend(package.version().map(|it| {
        let word = match it.stability {
            Stability::Alpha => "alpha",
            Stability::Beta => "beta",
            Stability::Stable => "stable",
        };
        word.to_owned()
    }));
    let recorded = judge.lock.as_ref().and_then(|it| it.record(package.name()));
    let recorded = recorded.map(|it| it.version.to_string());
    let option = || package.files().find_map(|it| Some(it.released_version()?.0.to_owned()));
    facts.extend(recorded.or_else(option).map(|it| format!("version {it}")));
    let introduced = judge.lock.as_ref().and_then(|it| it.introduced(package.name()));
    facts.extend(introduced.map(|it| format!("introduced {it}")));
    let frozen = judge.lock.as_ref().and_then(|it| it.frozen(package.name()));
    facts.extend(frozen.map(|it| format!("frozen since {}", it.day)));
    facts.join(" · ")
}

fn describe_deprecation(element: Element<'_>) -> Option<String> {
    element.deprecated()?;
    let since = element.deprecated_since().map(|(it, _)| format!(" since {it}"));
    let by = element.replaced_by().map(|(it, _)| format!("; use {}", backtick(it)));
    let refused = element.disallowed_by_default().map(|_| "; refused unless an operator allows it");
    Some(format!(
        "**Deprecated**{}{}{}",
        since.unwrap_or_default(),
        by.unwrap_or_default(),
        refused.unwrap_or_default()
    ))
}

/// The comment as text: what stands in it is not ours, but an editor shows Markdown of the comment
/// as its author wrote it.
fn format_comment(comments: &AttachedComments) -> Option<String> {
    let texts = [&comments.leading, &comments.trailing];
    let texts = texts.into_iter().flatten().map(|it| {
        let lines = it.text.lines().map(|it| it.strip_prefix(' ').unwrap_or(it));
        lines.collect::<Vec<_>>().join("\n")
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    let text = text.trim();
    (!text.is_empty()).then(|| format!("---\n\n{text}"))
}
