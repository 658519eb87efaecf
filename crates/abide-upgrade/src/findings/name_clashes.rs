//! Names that two elements would have in the next version.

use abide_schema::{Element, File, Migration, Part, Place};

use crate::plan::{is_deprecated, is_removed, resolve_next_name};

/// A name that two elements would have in the next version.
pub struct NameClash<'t> {
    /// The element that gets the name.
    pub element: Element<'t>,
    /// That name.
    pub name: &'t str,
    /// The file with the declaration of the migration.
    pub place: Place,
    /// A description of the element that has it.
    pub holder: String,
    /// The span of the declaration.
    pub holder_place: Option<Place>,
}

/// The names that migrations in one scope give but that are taken.
pub fn find_name_clashes<'t>(element: Element<'t>) -> Vec<NameClash<'t>> {
    let (members, reserved): (Vec<Element<'t>>, Vec<(&'t str, Place)>) = match element {
        Element::Message(message) => {
            let oneofs = message.oneofs().filter(|it| !it.is_synthetic()).map(Element::Oneof);
            let fields = message.fields().map(Element::Field).chain(oneofs);
            let types = message.messages().filter(|it| !it.is_map_entry()).map(Element::Message);
            let all = fields.chain(types).chain(message.enums().map(Element::Enum));
            (all.collect(), read_reserved_names(element.file(), message.reserved_names()))
        }
        Element::Enum(it) => {
            let own = it.values().map(Element::EnumValue);
            (own.collect(), read_reserved_names(element.file(), it.reserved_names()))
        }
        _ => return Vec::new(),
    };
    let mut clashes = Vec::new();
    for (at, &member) in members.iter().enumerate() {
        for (migration, place) in member.migrations() {
            let (name, promoted) = match migration {
                Migration::Rename(name) => (name, false),
                Migration::PromoteToOneof(name) => (name, true),
                Migration::MoveToPackage(_) => continue,
            };
            if is_removed(member) {
                continue;
            }
            let taken = |(index, other): (usize, &Element<'t>)| {
                // A promotion joins a oneof of that name. Of two elements that
                // get the same name, the second is reported.
                let is_oneof = matches!(other, Element::Oneof(_));
                let later =
                    index > at && *other != member && resolve_next_name(*other) != other.name();
                if index == at || promoted && is_oneof || later {
                    return None;
                }
                let noun = other.noun();
                match is_removed(*other) {
                    true if other.name() == name && !is_oneof => {
                        Some((*other, format!("the deprecated {noun}, whose name is reserved")))
                    }
                    false if resolve_next_name(*other) == name => {
                        Some((*other, format!("the {noun} `{}`", other.full_name())))
                    }
                    _ => None,
                }
            };
            let holder = members.iter().enumerate().find_map(taken);
            let holder = holder.map(|(other, holder)| (holder, Some(other.place(Part::Name))));
            let reserved = reserved.iter().find(|(reserved, _)| *reserved == name);
            let reserved =
                reserved.map(|(_, place)| ("a `reserved` statement".to_owned(), Some(*place)));
            if let Some((holder, holder_place)) = holder.or(reserved) {
                clashes.push(NameClash { element: member, name, place, holder, holder_place });
            }
        }
    }
    clashes.extend(find_zero_clash(element));
    clashes
}

fn read_reserved_names<'t>(
    file: File<'t>,
    names: &'t [abide_schema::ReservedNameDecl],
) -> Vec<(&'t str, Place)> {
    let name = |it: &'t abide_schema::ReservedNameDecl| {
        (file.decl().str(it.name), Place { file: file.id, span: it.span })
    };
    names.iter().map(name).collect()
}

/// The zero value of an enum that loses its name, if another zero value in the
/// same scope also does. Values are siblings of their enum, so both would have the
/// same name.
fn find_zero_clash<'t>(element: Element<'t>) -> Option<NameClash<'t>> {
    let Element::Enum(own) = element else { return None };
    let zero = |it: abide_schema::Enum<'t>| {
        let gone = |it: &abide_schema::EnumValue<'t>| {
            let element = Element::EnumValue(*it);
            it.number() == 0 && is_deprecated(element) && !is_removed(element)
        };
        it.values().find(gone)
    };
    let value = zero(own)?;
    let before = match own.parent() {
        Some(message) => message.enums().take_while(|it| *it != own).find_map(zero),
        None => {
            let enums = own.package().files().flat_map(File::enums);
            enums.take_while(|it| *it != own).find_map(zero)
        }
    }?;
    let element = Element::EnumValue(value);
    Some(NameClash {
        element,
        name: resolve_next_name(element),
        place: value.place(Part::Name),
        holder: format!("the enum value `{}`", before.full_name()),
        holder_place: Some(before.place(Part::Name)),
    })
}
