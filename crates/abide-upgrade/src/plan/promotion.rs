//! Fields that become members of a oneof, and why one cannot.

use std::collections::BTreeMap;

use abide_schema::{Cardinality, Element, Field, Message, Migration, Node, Presence};
use abide_syntax::DeclKind;

use super::removal::is_removed;

/// The oneof that a field is promoted to.
pub(crate) fn find_promotion_target<'t>(field: Field<'t>) -> Option<&'t str> {
    Element::Field(field).migrations().into_iter().find_map(|(migration, _)| match migration {
        Migration::PromoteToOneof(name) => Some(name),
        Migration::Rename(_) | Migration::MoveToPackage(_) => None,
    })
}

/// The oneof that a field becomes a member of: the one that it is promoted to, if
/// all fields that are promoted to it can be.
pub(crate) fn find_oneof_after<'t>(field: Field<'t>) -> Option<&'t str> {
    let oneof = find_promotion_target(field)?;
    let mut siblings =
        field.parent()?.fields().filter(|it| find_promotion_target(*it) == Some(oneof));
    siblings.all(|it| find_promotion_fault(it).is_none()).then_some(oneof)
}

/// Describes the reason for a field that cannot become a member of a oneof.
pub fn find_promotion_fault(field: Field<'_>) -> Option<String> {
    let oneof = find_promotion_target(field).filter(|_| !is_removed(Element::Field(field)))?;
    if field.cardinality() != Cardinality::Singular {
        let kind = if field.is_map() { "a map" } else { "repeated" };
        return Some(format!("it is {kind}, but a member of a oneof has one value"));
    }
    if field.presence() == Presence::LegacyRequired {
        return Some("it is required, but a oneof may hold another member".to_owned());
    }
    if field.is_extension() {
        return Some("it is an extension, not a member of a message".to_owned());
    }
    if let Some(own) = field.oneof().filter(|it| !it.is_synthetic() && it.name() != oneof) {
        return Some(format!("it is already a member of the oneof `{}`", own.name()));
    }
    let first = find_first_separated(field.parent()?, oneof)?;
    (first == field).then(|| format!("it is not next to the other members of `{oneof}`"))
}

/// The first field that is promoted to a oneof but not adjacent to the members
/// before it.
fn find_first_separated<'t>(message: Message<'t>, oneof: &str) -> Option<Field<'t>> {
    let file = message.file();
    let ast = file.decl().ast()?;
    let fields: BTreeMap<u32, Field<'t>> =
        message.fields().map(|field| (field.decl().node.0, field)).collect();
    let mut begun = false;
    let mut ended = false;
    let node = message.decl().node;
    if node == Node::NONE {
        return None;
    }
    for id in ast.children_of(Some(node.0)) {
        let field = fields.get(&id);
        if field.is_some_and(|it| {
            is_removed(Element::Field(*it)) && find_promotion_target(*it).is_none()
        }) {
            continue;
        }
        let belongs = match ast.decls[id as usize].kind {
            DeclKind::Oneof { .. } => {
                message.oneofs().any(|it| it.decl().node.0 == id && it.name() == oneof)
            }
            DeclKind::Empty => continue,
            _ => field.is_some_and(|it| find_promotion_target(*it) == Some(oneof)),
        };
        if belongs && ended {
            // If the oneof comes later, the fields before it are the ones apart.
            return field.copied().or_else(|| {
                fields.values().copied().find(|it| find_promotion_target(*it) == Some(oneof))
            });
        }
        ended |= begun && !belongs;
        begun |= belongs;
    }
    None
}
