//! Whether the migrations that a tree declares can be made, and whether its
//! candidates are what would be made.

use std::collections::BTreeMap;

use abide_schema::{
    Cardinality, Element, Field, File, FileId, Message, Migration, Node, Part, Place, Presence,
};
use abide_syntax::DeclKind;

use crate::candidate::{is_made, remake};
use crate::links::name_after;
use crate::plan::UpgradeOptions;
use crate::plan::{Basis, Choice, Conflict, Plan, Stage, may_collide};
use crate::promote::promoted;
use crate::removal::{deprecated, removed};

/// A name that two elements would have.
pub struct Clash<'t> {
    /// The element that gets the name.
    pub element: Element<'t>,
    /// That name.
    pub name: &'t str,
    /// Where the migration is declared.
    pub place: Place,
    /// Who has it, and how.
    pub holder: String,
    /// Where that stands.
    pub holder_place: Option<Place>,
}

/// The names that migrations give to what lies in one scope and that are taken.
pub fn clashes<'t>(element: Element<'t>) -> Vec<Clash<'t>> {
    let (members, reserved): (Vec<Element<'t>>, Vec<(&'t str, Place)>) = match element {
        Element::Message(message) => {
            let oneofs = message.oneofs().filter(|it| !it.is_synthetic()).map(Element::Oneof);
            let fields = message.fields().map(Element::Field).chain(oneofs);
            let types = message.messages().filter(|it| !it.is_map_entry()).map(Element::Message);
            let all = fields.chain(types).chain(message.enums().map(Element::Enum));
            (all.collect(), reserved_names(element.file(), message.reserved_names()))
        }
        Element::Enum(it) => {
            let own = it.values().map(Element::EnumValue);
            (own.collect(), reserved_names(element.file(), it.reserved_names()))
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
            if removed(member) {
                continue;
            }
            let taken = |(index, other): (usize, &Element<'t>)| {
                // A oneof of that name is what a promotion joins, and of two
                // that get one name the second is told.
                let is_oneof = matches!(other, Element::Oneof(_));
                let later = index > at && *other != member && name_after(*other) != other.name();
                if index == at || promoted && is_oneof || later {
                    return None;
                }
                let noun = other.noun();
                match removed(*other) {
                    true if other.name() == name && !is_oneof => {
                        Some((*other, format!("the deprecated {noun} that is reserved with it")))
                    }
                    false if name_after(*other) == name => {
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
                clashes.push(Clash { element: member, name, place, holder, holder_place });
            }
        }
    }
    clashes.extend(zeros(element));
    clashes
}

fn reserved_names<'t>(
    file: File<'t>,
    names: &'t [abide_schema::ReservedNameDecl],
) -> Vec<(&'t str, Place)> {
    let name = |it: &'t abide_schema::ReservedNameDecl| {
        (file.decl().str(it.name), Place { file: file.id, span: it.span })
    };
    names.iter().map(name).collect()
}

/// The zero of an enum that loses its name where another one of the same scope
/// does: values are siblings of their enum, so that both would have one name.
fn zeros<'t>(element: Element<'t>) -> Option<Clash<'t>> {
    let Element::Enum(own) = element else { return None };
    let zero = |it: abide_schema::Enum<'t>| {
        let gone = |it: &abide_schema::EnumValue<'t>| {
            let element = Element::EnumValue(*it);
            it.number() == 0 && deprecated(element) && !removed(element)
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
    Some(Clash {
        element,
        name: name_after(element),
        place: value.place(Part::Name),
        holder: format!("the enum value `{}`", before.full_name()),
        holder_place: Some(before.place(Part::Name)),
    })
}

/// Why a field cannot become a member of a oneof.
pub fn promotion_fault(field: Field<'_>) -> Option<String> {
    let oneof = promoted(field).filter(|_| !removed(Element::Field(field)))?;
    if field.cardinality() != Cardinality::Singular {
        let kind = if field.is_map() { "a map" } else { "repeated" };
        return Some(format!("it is {kind}, and a member of a oneof holds one value"));
    }
    if field.presence() == Presence::LegacyRequired {
        return Some("it is required, and a oneof may hold another member".to_owned());
    }
    if field.is_extension() {
        return Some("it is an extension, and no member of a message".to_owned());
    }
    if let Some(own) = field.oneof().filter(|it| !it.is_synthetic() && it.name() != oneof) {
        return Some(format!("it is a member of the oneof `{}` already", own.name()));
    }
    let first = first_apart(field.parent()?, oneof)?;
    (first == field).then(|| {
        format!("something stands between it and the other members of `{oneof}`, which have to be neighbours")
    })
}

/// The first field that is promoted to a oneof and not a neighbour of the
/// members before it.
fn first_apart<'t>(message: Message<'t>, oneof: &str) -> Option<Field<'t>> {
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
    for id in ast.children(Some(node.0)) {
        let field = fields.get(&id);
        if field.is_some_and(|it| removed(Element::Field(*it)) && promoted(*it).is_none()) {
            continue;
        }
        let belongs = match ast.decls[id as usize].kind {
            DeclKind::Oneof { .. } => {
                message.oneofs().any(|it| it.decl().node.0 == id && it.name() == oneof)
            }
            DeclKind::Empty => continue,
            _ => field.is_some_and(|it| promoted(*it) == Some(oneof)),
        };
        if belongs && ended {
            // Of a oneof that comes late, the fields before it stand apart.
            return field
                .copied()
                .or_else(|| fields.values().copied().find(|it| promoted(*it) == Some(oneof)));
        }
        ended |= begun && !belongs;
        begun |= belongs;
    }
    None
}

/// A file whose candidate has no place to go.
pub struct Taken<'t> {
    /// The file.
    pub file: File<'t>,
    /// Where its candidate would go.
    pub path: String,
    /// The file in that place, or the one whose candidate goes there.
    pub other: File<'t>,
    /// Whether that one is there already.
    pub exists: bool,
}

/// The files whose candidates have no place to go.
pub fn taken<'t>(basis: Basis<'_, 't>) -> Vec<Taken<'t>> {
    if !may_collide(basis) {
        return Vec::new();
    }
    let options = UpgradeOptions::default();
    let Ok(plan) = Plan::of(basis, Choice::Asked(&options), Stage::Candidate) else {
        return Vec::new();
    };
    let conflict = |it: &Conflict| {
        let path = plan.next(it.file)?.path.clone();
        let (file, other) = (basis.tree.file(it.file), basis.tree.file(it.other));
        Some(Taken { file, path, other, exists: it.exists })
    };
    plan.conflicts.iter().filter_map(conflict).collect()
}

/// What is wrong with a candidate.
pub enum Drift {
    /// The file that it is made from makes another one.
    Differs(FileId),
    /// No file makes it.
    Stale,
}

/// The candidates of a tree that are not what an upgrade makes.
pub fn drifts(basis: Basis<'_, '_>) -> Vec<(FileId, Drift)> {
    let candidates: BTreeMap<&str, File<'_>> =
        basis.standings.candidates(basis.tree).map(|it| (it.path(), it)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Ok(made) = remake(basis) else { return Vec::new() };
    let mut drifts: Vec<(FileId, Drift)> =
        made.stale.iter().map(|it| (*it, Drift::Stale)).collect();
    for file in &made.files {
        let Some(candidate) = candidates.get(file.path.as_str()) else { continue };
        if candidate.decl().source_text().is_some() && !is_made(*candidate, file) {
            drifts.push((candidate.id, Drift::Differs(file.from)));
        }
    }
    drifts.sort_by_key(|(file, _)| *file);
    drifts
}
