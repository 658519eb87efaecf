//! The fields in which the values of an enum cross, one of each kind.

use abide_schema::value::{self, Value};
use abide_schema::{Edition, Enum, Field};

use super::cache::Carrier;
use super::crossing::Transfer;
use super::smallest;
use crate::element::find_held_enum;
use crate::surface::Surface;

impl<'t> Transfer<'_, 't> {
    /// Fields of the writing side that hold this enum, with the fields of the reading
    /// side that are equal except for the enum itself, and the crossing in which they
    /// are equal: one of each kind. A renamed field is only equal on the wire.
    pub(super) fn list_carriers(
        self,
        item: Enum<'t>,
        twin: Enum<'t>,
    ) -> Vec<(Self, Field<'t>, Field<'t>)> {
        let key = (self.direction, item.id, twin.id);
        let carriers = self.cache.carriers.get_or_compute(key, || self.find_carriers(item, twin));
        let view = |&(surface, from, to): &Carrier| {
            let crossing = Transfer { surface, ..self };
            (crossing, self.writer().field(from), self.reader().field(to))
        };
        carriers.iter().map(view).collect()
    }

    fn find_carriers(self, item: Enum<'t>, twin: Enum<'t>) -> Vec<Carrier> {
        let (writer, reader) = (self.writer(), self.reader());
        let proto2 = |field: Field<'t>| field.file().decl().edition == Edition::Proto2;
        let kind = |field: Field<'t>| (field.cardinality(), field.presence(), proto2(field));
        let mut kinds = Vec::new();
        let mut carriers = Vec::new();
        for surface in [None].into_iter().chain(Surface::NOTATIONS.iter().copied().map(Some)) {
            let crossing = Transfer { surface, ..self };
            let is_one_place = |from: Field<'t>, to: Field<'t>| match surface {
                Some(Surface::Wire) => from.number() == to.number(),
                Some(Surface::Text) => from.name() == to.name(),
                Some(_) => from.json_name() == to.json_name(),
                None => {
                    let place = |it: Field<'t>| (it.number(), it.name(), it.json_name());
                    place(from) == place(to)
                }
            };
            for from in self.diff.users(self.direction, item.id) {
                let from = writer.field(from);
                let Some(to) = crossing.find_reader_field(from) else { continue };
                let known = |at| kinds.contains(&(at, kind(from), kind(to)));
                // The costly check is last: an enum may have many users.
                let paired = || {
                    from.containing_message().is_some_and(|it| {
                        self.find_message(it).is_some()
                            && smallest::build_minimal(writer, it.id, 0).is_some()
                    })
                };
                if find_held_enum(to).map(|id| reader.enumeration(id)) == Some(twin)
                    && is_one_place(from, to)
                    && from.cardinality() == to.cardinality()
                    && !known(None)
                    && !known(surface)
                    && paired()
                {
                    kinds.push((surface, kind(from), kind(to)));
                    carriers.push((surface, from.id, to.id));
                }
            }
        }
        carriers
    }

    /// The smallest valid message that holds this value of an enum in a field or, for
    /// a map, in an entry.
    pub(super) fn wrap_enum_value(self, field: Field<'t>, number: i32) -> Option<value::Message> {
        let value = Value::Enum(number);
        let value = match field.message_type() {
            None => value,
            Some(entry) => smallest::build_entry(entry, value)?,
        };
        self.wrap_values(field, vec![value])
    }
}
