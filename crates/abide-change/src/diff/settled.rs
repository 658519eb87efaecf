//! Skips what no rule has to look at: pairs of which every fact is the same, and what
//! is told with something else.
//!
//! Of a file that changed most elements did not, and a hundred rules would look
//! at each in vain. What is asked here is what any rule about a pair can ask: its
//! own declaration, its features as they hold in the end, what its type is
//! paired with, and its options. A pair of which this cannot be told at little
//! cost is left to the rules.

use abide_schema::value::{self, Value};
use abide_schema::{Element, Enum, EnumValue, Field, Message, Method, Oneof, Service, Type};

use super::Diff;
use super::pairs::twin;
use crate::change::Change;
use crate::element::{find_map_entries, find_value_field, have_equal_names, read_streaming};

/// An element that may be a member of another, which is told in its place when both came or
/// went together.
pub(super) trait Held<'t> {
    /// Returns what it is a member of. Types have names of their own, and an extension
    /// belongs to another message than the one around it.
    fn holder(self) -> Option<Element<'t>>;
}

macro_rules! held {
    ($($view:ident, |$it:ident| $holder:expr;)*) => {$(
        impl<'t> Held<'t> for $view<'t> {
            fn holder(self) -> Option<Element<'t>> {
                let $it = self;
                $holder
            }
        }
    )*};
}

held! {
    Message, |_it| None;
    Field, |it| it.parent().filter(|_| !it.is_extension()).map(Element::Message);
    Oneof, |it| Some(Element::Message(it.message()));
    Enum, |_it| None;
    EnumValue, |it| Some(Element::Enum(it.parent()));
    Service, |_it| None;
    Method, |it| Some(Element::Service(it.service()));
}

impl<'t> Diff<'t> {
    /// Returns true if an element is on one side alone, and so is what holds it.
    pub(super) fn has_moved_with_parent<T: Held<'t> + Copy>(&self, change: Change<T>) -> bool {
        match change {
            Change::Added(new) => new.holder().is_some_and(|it| self.old_element(it).is_none()),
            Change::Removed(old) => old.holder().is_some_and(|it| self.new_element(it).is_none()),
            Change::Both { .. } => false,
        }
    }

    pub(super) fn is_settled_message(&self, old: Message<'t>, new: Message<'t>) -> bool {
        let ranges = |it: Message<'t>| it.extension_ranges().is_empty();
        ranges(old)
            && ranges(new)
            && self.has_equal_homes(Element::Message(old), Element::Message(new))
            && self.has_equal_options(old.options(), new.options())
    }

    pub(super) fn is_settled_field(&self, old: Field<'t>, new: Field<'t>) -> bool {
        let (was, is) = (old.decl(), new.decl());
        // Few fields have a default or a JSON name of their own, or extend another message.
        was.extras.is_none()
            && is.extras.is_none()
            && (was.number, was.label, was.proto3_optional)
                == (is.number, is.label, is.proto3_optional)
            && old.name() == new.name()
            && self.has_equal_types(old, new)
            && self.has_equal_oneofs(old, new)
            && match (old.options(), new.options()) {
                (None, None) => true,
                (before, after) => {
                    self.has_equal_options(before, after) && self.has_equal_constraints(old, new)
                }
            }
    }

    pub(super) fn is_settled_oneof(&self, old: Oneof<'t>, new: Oneof<'t>) -> bool {
        old.name() == new.name() && self.has_equal_options(old.options(), new.options())
    }

    pub(super) fn is_settled_enum(&self, old: Enum<'t>, new: Enum<'t>) -> bool {
        let values = |it: Enum<'t>| it.values().map(|it| (it.number(), it.name()));
        old.features() == new.features()
            && values(old).eq(values(new))
            && self.has_equal_homes(Element::Enum(old), Element::Enum(new))
            && self.has_equal_options(old.options(), new.options())
    }

    pub(super) fn is_settled_value(&self, old: EnumValue<'t>, new: EnumValue<'t>) -> bool {
        old.number() == new.number()
            && old.name() == new.name()
            && self.has_equal_options(old.options(), new.options())
    }

    /// Returns what services offer depends on options of their files; they are few.
    pub(super) fn is_settled_service(&self, _: Service<'t>, _: Service<'t>) -> bool {
        false
    }

    pub(super) fn is_settled_method(&self, old: Method<'t>, new: Method<'t>) -> bool {
        let equal = |old: Option<Message<'t>>, new: Option<Message<'t>>| match (old, new) {
            (Some(old), Some(new)) => self.is_same_message(old, new),
            _ => false,
        };
        old.name() == new.name()
            && read_streaming(old) == read_streaming(new)
            && equal(old.input(), new.input())
            && equal(old.output(), new.output())
            // Types that options name are looked up from the package.
            && old.package().name() == new.package().name()
            && self.has_equal_options(old.options(), new.options())
    }

    /// Returns true if two elements have one full name, in two files that are one.
    fn has_equal_homes(&self, old: Element<'t>, new: Element<'t>) -> bool {
        have_equal_names(old, new) && self.new_file(old.file()) == Some(new.file())
    }

    /// Returns true if two fields have one type and one way to be encoded, and the keys
    /// and values of two maps have.
    fn has_equal_types(&self, old: Field<'t>, new: Field<'t>) -> bool {
        old.features() == new.features()
            && old.ty() != Type::Unresolved
            && self.is_same_type(old.ty(), new.ty())
            && match (find_map_entries(old), find_map_entries(new)) {
                (None, None) => old.is_map() == new.is_map(),
                (Some([key, value]), Some([new_key, new_value])) => {
                    self.has_equal_types(key, new_key) && self.has_equal_types(value, new_value)
                }
                _ => false,
            }
    }

    fn has_equal_oneofs(&self, old: Field<'t>, new: Field<'t>) -> bool {
        match (old.real_oneof(), new.real_oneof()) {
            (None, None) => old.oneof().is_some() == new.oneof().is_some(),
            (Some(old), Some(new)) => self.new_oneof(old) == Some(new),
            _ => false,
        }
    }

    /// Returns true if annotations of two fields whose options and types are equal are
    /// about the same values: an enum may declare others, and what is said of a
    /// message concerns its fields.
    fn has_equal_constraints(&self, old: Field<'t>, new: Field<'t>) -> bool {
        let around = old.parent().zip(new.parent());
        around.is_some_and(|(old, new)| self.has_equal_options(old.options(), new.options()))
            && match (find_value_field(old).ty(), find_value_field(new).ty()) {
                (Type::Scalar(_), Type::Scalar(_)) => true,
                (Type::Enum(old), Type::Enum(new)) => twin!(self.same, old) == Some(new),
                (Type::Message(old), Type::Message(new)) => {
                    twin!(self.same, old) == Some(new) || {
                        let name = self.old.message(old).full_name();
                        // Some of the well-known types are validated by what they hold.
                        !name.starts_with("google.protobuf.")
                            && name == self.new.message(new).full_name()
                    }
                }
                _ => false,
            }
    }

    /// Returns true if two options messages have the same values in the same order, of
    /// options that are declared in files which are the same.
    fn has_equal_options(
        &self,
        old: Option<&value::Message>,
        new: Option<&value::Message>,
    ) -> bool {
        match (old, new) {
            (None, None) => true,
            (Some(old), Some(new)) => self.has_equal_messages(old, new),
            _ => false,
        }
    }

    fn has_equal_messages(&self, old: &value::Message, new: &value::Message) -> bool {
        old.unknown == new.unknown
            && old.entries.len() == new.entries.len()
            && old.entries.iter().zip(&new.entries).all(|(old, new)| {
                twin!(self.same, old.field) == Some(new.field)
                    && match (&old.value, &new.value) {
                        (Value::Message(old), Value::Message(new)) => {
                            twin!(self.same, old.ty) == Some(new.ty)
                                && self.has_equal_messages(old, new)
                        }
                        // An enum may be declared elsewhere, and have other names for its numbers.
                        (Value::Enum(was), Value::Enum(is)) => {
                            let (old, new) = (self.old.field(old.field), self.new.field(new.field));
                            let pair = old.enum_type().zip(new.enum_type());
                            let twins = |(old, new): (Enum<'t>, Enum<'t>)| {
                                twin!(self.same, old.id) == Some(new.id)
                            };
                            was == is && pair.is_some_and(twins)
                        }
                        // Zeros of two signs are equal, and are not.
                        (Value::F32(was), Value::F32(is)) => {
                            was == is && was.to_bits() == is.to_bits()
                        }
                        (Value::F64(was), Value::F64(is)) => {
                            was == is && was.to_bits() == is.to_bits()
                        }
                        (was, is) => was == is,
                    }
            })
    }
}
