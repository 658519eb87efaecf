use std::collections::BTreeMap;

use abide_change::OptionOwner;
use abide_schema::{Cardinality, Element, Field, File, Message, Part, Place, Scalar, Type};
use abide_syntax::FieldLabel;

use crate::checks::{NameCase, Resource, exempts};
use crate::rule::{Check, Context, Group, Rule, Sink};

const TYPE: &str = "api-linter:core::0123::resource-type-name";
const TYPE_OF_DEFINITION: &str = "api-linter:core::0123::resource-definition-type-name";
const MESSAGE: &str = "api-linter:core::0123::resource-type-message";
const PATTERN: &str = "api-linter:core::0123::resource-pattern";
const PATTERN_OF_DEFINITION: &str = "api-linter:core::0123::resource-definition-pattern";
const VARIABLES: &str = "api-linter:core::0123::resource-variables";
const VARIABLES_OF_DEFINITION: &str = "api-linter:core::0123::resource-definition-variables";
const ALTERNATE: &str = "api-linter:core::0123::resource-name-components-alternate";
const NAME: &str = "api-linter:core::0123::resource-name-field";
const OPTIONAL: &str = "api-linter:core::0123::name-never-optional";
const SINGULAR: &str = "api-linter:core::0123::resource-singular";
const PLURAL: &str = "api-linter:core::0123::resource-plural";
const DUPLICATE: &str = "api-linter:core::0123::duplicate-resource";
const REFERENCE: &str = "api-linter:core::0123::resource-reference-type";

pub(super) static RULE: Rule = Rule {
    id: "resource-malformed",
    summary: "a resource (`google.api.resource`) that clients cannot name or find",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "aip:123",
        TYPE,
        TYPE_OF_DEFINITION,
        MESSAGE,
        PATTERN,
        PATTERN_OF_DEFINITION,
        VARIABLES,
        VARIABLES_OF_DEFINITION,
        ALTERNATE,
        NAME,
        OPTIONAL,
        SINGULAR,
        PLURAL,
        DUPLICATE,
        REFERENCE,
    ]],
    spares_work_in_progress: true,
    page: include_str!("resource-malformed.md"),
    check: Check::File(check),
};

/// A defect of a resource, with the rule of other tools about it.
struct ResourceDefect {
    place: Place,
    message: String,
    help: String,
    rule: &'static str,
}

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let mut by_type: BTreeMap<&str, Vec<(Place, String)>> = BTreeMap::new();
    for resource in Resource::definitions(file) {
        let mut defects = Vec::new();
        find_resource_defects(&resource, None, &mut defects);
        by_type.entry(resource.kind).or_default().push((resource.place, file.full_name()));
        for defect in defects {
            report(file, file.full_name(), defect, sink);
        }
    }
    for message in file.all_messages() {
        let Some(resource) = Resource::of(message) else { continue };
        let name = message.full_name();
        by_type.entry(resource.kind).or_default().push((resource.place, name.clone()));
        let mut defects = Vec::new();
        find_resource_defects(&resource, Some(message), &mut defects);
        defects.extend(check_name_field(&resource, message));
        for defect in defects {
            if !exempts(context, Element::Message(message), &[defect.rule]) {
                report(file, name.clone(), defect, sink);
            }
        }
    }
    for (kind, places) in by_type {
        if kind.is_empty() || places.len() < 2 {
            continue;
        }
        for (place, name) in places {
            let message = format!("resource `{kind}` is defined more than once in this file");
            let help = "define it once: on its message if there is one".to_owned();
            report(file, name, ResourceDefect { place, message, help, rule: DUPLICATE }, sink);
        }
    }
    for field in file.all_fields() {
        let defect = check_reference(field);
        let defect = defect.filter(|it| !exempts(context, Element::Field(field), &[it.rule]));
        if let Some(defect) = defect {
            report(file, field.full_name(), defect, sink);
        }
    }
}

fn report(file: File<'_>, element: String, defect: ResourceDefect, sink: &mut Sink) {
    sink.report(defect.place, file.package().name(), element, &defect.message)
        .why("names of resources are stored by users, so they can never change")
        .help(defect.help)
        .fact(defect.message)
        .aliases(&["aip:123", defect.rule]);
}

fn find_resource_defects(
    resource: &Resource<'_>,
    message: Option<Message<'_>>,
    defects: &mut Vec<ResourceDefect>,
) {
    let place = resource.place;
    let mut push = |message: String, help: String, rules: [&'static str; 2], is_message: bool| {
        let rule = rules[usize::from(!is_message)];
        defects.push(ResourceDefect { place, message, help, rule });
    };
    let is_message = message.is_some();
    let kind = resource.kind;
    let parts = kind
        .split_once('/')
        .filter(|(service, name)| !service.is_empty() && !name.is_empty() && !name.contains('/'));
    match parts {
        None => push(
            format!("resource type `{kind}` is not `SERVICE/TYPE`"),
            "write it as `library.example.com/Book`".to_owned(),
            [TYPE, TYPE_OF_DEFINITION],
            is_message,
        ),
        Some((_, name)) if !is_upper_camel(name) => push(
            format!("the name in resource type `{kind}` is not `UpperCamelCase`"),
            format!("write it as `{}`", NameCase::UpperCamel.convert(name)),
            [TYPE, TYPE_OF_DEFINITION],
            is_message,
        ),
        Some((_, name)) => {
            if let Some(message) = message.filter(|it| it.name() != name) {
                push(
                    format!("resource type `{kind}` is not named after `{}`", message.name()),
                    format!("end it with `/{}`", message.name()),
                    [MESSAGE, MESSAGE],
                    true,
                );
            }
        }
    }
    if resource.patterns.is_empty() {
        push(
            format!("resource `{kind}` has no pattern"),
            "add a pattern such as `pattern: \"publishers/{publisher}/books/{book}\"`".to_owned(),
            [PATTERN, PATTERN_OF_DEFINITION],
            is_message,
        );
    }
    for pattern in &resource.patterns {
        if let Some(right) = suggest_variables(pattern) {
            push(
                format!("the variables in pattern `{pattern}` are not plain names"),
                format!("write it as `{right}`"),
                [VARIABLES, VARIABLES_OF_DEFINITION],
                is_message,
            );
        }
        if is_message && !is_alternating(pattern) {
            push(
                format!("pattern `{pattern}` does not alternate between collections and ids"),
                "write it as `publishers/{publisher}/books/{book}`".to_owned(),
                [ALTERNATE, ALTERNATE],
                true,
            );
        }
    }
    for (word, has, rule) in
        [("singular", resource.has_singular, SINGULAR), ("plural", resource.has_plural, PLURAL)]
    {
        if is_message && !has {
            push(
                format!("resource `{kind}` has no `{word}`"),
                format!("set `{word}`, which generated names are made of"),
                [rule, rule],
                true,
            );
        }
    }
}

fn is_upper_camel(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_uppercase())
        && name.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// The pattern with variables as AIPs write them, if it has others.
fn suggest_variables(pattern: &str) -> Option<String> {
    let right: Vec<String> = pattern
        .split('/')
        .map(|segment| {
            let variable = segment.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            let Some(name) = variable.filter(|it| !it.contains(['{', '}', '=', '*'])) else {
                return segment.to_owned();
            };
            let is_snake = name.bytes().all(|it| !it.is_ascii_uppercase() && it != b'-');
            let snake = if is_snake { name.to_owned() } else { NameCase::LowerSnake.convert(name) };
            format!("{{{}}}", snake.strip_suffix("_id").unwrap_or(&snake))
        })
        .collect();
    let right = right.join("/");
    (right != pattern).then_some(right)
}

/// Returns true if collections and ids take turns: `publishers/{publisher}/books/{book}`, or, for a
/// singleton, without the last id.
fn is_alternating(pattern: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let mut segments = pattern.split('/').enumerate();
    segments.all(|(at, segment)| segment.starts_with('{') == (at % 2 == 1))
}

/// The field for the name is missing, or cannot hold it.
fn check_name_field(resource: &Resource<'_>, message: Message<'_>) -> Option<ResourceDefect> {
    let wanted = resource.name_field;
    let Some(field) = message.fields().find(|it| it.name() == wanted) else {
        return Some(ResourceDefect {
            place: message.place(Part::Name),
            message: format!("resource `{}` has no field `{wanted}`", message.relative_name()),
            help: format!("add `string {wanted} = 1;` for the name of the resource"),
            rule: NAME,
        });
    };
    if !is_text(field) {
        return Some(ResourceDefect {
            place: field.place(Part::Type),
            message: format!(
                "field `{}` names a resource, but is no string",
                field.relative_name()
            ),
            help: "change its type to `string`".to_owned(),
            rule: NAME,
        });
    }
    (field.decl().label == Some(FieldLabel::Optional)).then(|| ResourceDefect {
        place: field.place(Part::Label),
        message: format!("field `{}` names a resource, but is optional", field.relative_name()),
        help: "remove `optional`: a resource without a name cannot be found".to_owned(),
        rule: OPTIONAL,
    })
}

fn is_text(field: Field<'_>) -> bool {
    field.ty() == Type::Scalar(Scalar::String) && field.cardinality() == Cardinality::Singular
}

/// A reference that is not text.
fn check_reference(field: Field<'_>) -> Option<ResourceDefect> {
    let holder = OptionOwner::Element(Element::Field(field));
    let entry = holder.custom("google.api.resource_reference")?;
    let holds_text = field.ty() == Type::Scalar(Scalar::String);
    // The values of a map carry the reference of the map.
    (!holds_text && field.ty() != Type::Unresolved && !field.is_map()).then(|| ResourceDefect {
        place: holder.place(Some(entry)),
        message: format!(
            "field `{}` refers to a resource, but is no string",
            field.relative_name()
        ),
        help: "refer to the resource by its name, or remove the annotation".to_owned(),
        rule: REFERENCE,
    })
}
