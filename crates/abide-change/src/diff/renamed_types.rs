//! Types that have another name now, and who uses them.

use abide_schema::{Element, Field, File, Message, Method, Package, Service, Type};
use rustc_hash::FxHashMap;

use super::Diff;
use crate::element::{find_value_field, have_equal_names};

/// A message or an enum with another full name than before, and the elements of a
/// package that use it.
#[derive(Clone, Debug)]
pub struct RenamedType<'t> {
    /// The type as it was.
    pub old: Element<'t>,
    /// The type as it is.
    pub new: Element<'t>,
    /// Both sides of each field, extension and method that uses it, in the order of
    /// files.
    pub users: Vec<(Element<'t>, Element<'t>)>,
}

impl<'t> Diff<'t> {
    /// The types of other packages that a package still uses, now by other names; in
    /// the order of their first use.
    pub fn find_renamed_types(&self, old: Package<'t>, new: Package<'t>) -> Vec<RenamedType<'t>> {
        let mut renamed: Vec<RenamedType<'t>> = Vec::new();
        let mut places: FxHashMap<Type, usize> = FxHashMap::default();
        self.visit_renamed_uses(new, |user, ty, (was, is)| {
            // What moved itself is reported as such, and so is a type of the package.
            if was.package() == old || user.0.package() != old {
                return;
            }
            let at = *places.entry(ty).or_insert_with(|| {
                renamed.push(RenamedType { old: was, new: is, users: Vec::new() });
                renamed.len() - 1
            });
            let users = &mut renamed[at].users;
            // A method may take and return one type.
            if users.last() != Some(&user) {
                users.push(user);
            }
        });
        renamed
    }

    /// The fields, extensions and methods in the package of a renamed type that use it, or a type
    /// inside it; each with both sides.
    pub fn collect_users(&self, ty: Element<'t>) -> Vec<(Element<'t>, Element<'t>)> {
        let Some(package) = self.new_package(ty.package()) else { return Vec::new() };
        let mut users = Vec::new();
        self.visit_renamed_uses(package, |user, _, (was, _)| {
            let mut around = std::iter::successors(Some(was), |it| it.parent());
            if around.any(|it| it == ty) {
                users.push(user);
            }
        });
        users
    }

    /// Offers every use of a type in a package that has another name now: both sides of the user,
    /// the old type, and both sides of the type.
    fn visit_renamed_uses(
        &self,
        new: Package<'t>,
        mut offer: impl FnMut((Element<'t>, Element<'t>), Type, (Element<'t>, Element<'t>)),
    ) {
        let mut note = |user, ty: Type, now: Type| {
            if let Some(both) = self.find_renamed(ty, now) {
                offer(user, ty, both);
            }
        };
        let changed = |it: &File<'t>| self.same_old[it.id.0 as usize].is_none() && it.is_judged();
        for file in new.files().filter(changed) {
            for field in
                file.all_fields().filter(|it| !it.parent().is_some_and(Message::is_map_entry))
            {
                let Some(before) = self.old_field(field) else { continue };
                let user = (Element::Field(before), Element::Field(field));
                note(user, find_value_field(before).ty(), find_value_field(field).ty());
                if let (Some(was), Some(is)) = (find_extended(before), find_extended(field)) {
                    note(user, was, is);
                }
            }
            for method in file.services().flat_map(Service::methods) {
                let Some(before) = self.old_method(method) else { continue };
                let user = (Element::Method(before), Element::Method(method));
                for side in [Method::input, Method::output] {
                    if let (Some(was), Some(is)) = (side(before), side(method)) {
                        note(user, Type::Message(was.id), Type::Message(is.id));
                    }
                }
            }
        }
    }

    /// Two types that are one type with two names.
    fn find_renamed(&self, old: Type, new: Type) -> Option<(Element<'t>, Element<'t>)> {
        let (old, new) = match (old, new) {
            (Type::Message(old), Type::Message(new)) => {
                (Element::Message(self.old.message(old)), Element::Message(self.new.message(new)))
            }
            (Type::Enum(old), Type::Enum(new)) => {
                (Element::Enum(self.old.enumeration(old)), Element::Enum(self.new.enumeration(new)))
            }
            _ => return None,
        };
        let one = !have_equal_names(old, new) && self.new_element(old) == Some(new);
        one.then_some((old, new))
    }
}

/// The message that an extension extends.
fn find_extended(field: Field<'_>) -> Option<Type> {
    field.extendee().filter(|_| field.is_extension()).map(|it| Type::Message(it.id))
}
