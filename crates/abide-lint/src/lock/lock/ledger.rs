//! Numbers and names that were ever used, and what takes one of them again.

use std::collections::BTreeMap;

use abide_schema::{EnumValue, Field};

use super::{EntryState, Lock, NumberedName, UseKind};

/// What a field or an enum value reuses of a removed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reuse<'l> {
    /// The name that had the number, if the number is reused.
    pub(crate) number_of: Option<&'l str>,
    /// The number that had the name, if the name is reused.
    pub(crate) name_of: Option<i32>,
}

/// The numbers and names that were used in messages and enums. It joins the
/// ledgers of all packages, since extensions of a message may be anywhere.
pub(crate) struct Ledger<'l> {
    uses: BTreeMap<&'l NumberedName, EntryState>,
}

impl<'l> Ledger<'l> {
    /// Joins two locks; where both have an entry, the second one wins.
    pub(crate) fn of(released: Option<&'l Lock>, lock: Option<&'l Lock>) -> Ledger<'l> {
        let locks = released.into_iter().chain(lock);
        let all = locks.flat_map(|it| it.packages.values()).flat_map(|it| &it.ledger);
        Ledger { uses: all.map(|(used, fate)| (used, *fate)).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Returns what a field or extension reuses of a removed one.
    pub(crate) fn reuse_by_field(&self, field: Field<'_>) -> Option<Reuse<'l>> {
        self.reuse(&NumberedName::of_field(field)?)
    }

    /// Returns what an enum value reuses of a removed one.
    pub(crate) fn reuse_by_value(&self, value: EnumValue<'_>) -> Option<Reuse<'l>> {
        self.reuse(&NumberedName::of_value(value))
    }

    /// A number or name is reused if all elements that had it are gone. An element
    /// that comes back unchanged reuses nothing. On the wire, an extension is a
    /// field of the message that it extends.
    fn reuse(&self, new: &NumberedName) -> Option<Reuse<'l>> {
        if self.uses.contains_key(new) {
            return None;
        }
        let first = NumberedName {
            kind: UseKind::Field,
            number: i32::MIN,
            name: String::new(),
            ..new.clone()
        };
        let of_holder = || {
            self.uses
                .range::<NumberedName, _>(&first..)
                .take_while(|(it, _)| it.holder == new.holder)
        };
        let last = |had: &dyn Fn(&NumberedName) -> bool| {
            let mut found = None;
            for (used, fate) in of_holder().filter(|(it, _)| had(it)) {
                if *fate == EntryState::Alive {
                    return None;
                }
                found = Some(*used);
            }
            found
        };
        let is_value = |it: &NumberedName| it.kind == UseKind::Value;
        let number_of = last(&|it| it.number == new.number && is_value(it) == is_value(new));
        let name_of = last(&|it| it.name == new.name && it.kind == new.kind);
        (number_of.is_some() || name_of.is_some()).then_some(Reuse {
            number_of: number_of.map(|it| it.name.as_str()),
            name_of: name_of.map(|it| it.number),
        })
    }
}

#[cfg(test)]
mod tests {
    use abide_hash::{Hashes, SemanticHash};

    use super::*;
    use crate::lock::lock::Record;

    fn hashes(seed: u8) -> Hashes {
        Hashes { own: SemanticHash::new([seed; 32]), closure: SemanticHash::new([!seed; 32]) }
    }

    fn record(version: &str, seed: u8) -> Option<Record> {
        let version = version.parse().expect("a version");
        Some(Record { version, hashes: hashes(seed) })
    }

    fn used(kind: UseKind, holder: &str, number: i32, name: &str) -> NumberedName {
        NumberedName { holder: holder.to_owned(), kind, number, name: name.to_owned() }
    }

    #[test]
    fn a_number_or_a_name_is_reused_where_all_that_had_it_are_gone() {
        let mut lock = Lock::default();
        lock.set_record("a.v1", record("1.0.0", 1));
        let ledger = &mut lock.packages.get_mut("a.v1").expect("it is there").ledger;
        let field = |number, name| used(UseKind::Field, "a.v1.M", number, name);
        ledger.insert(field(1, "id"), EntryState::Alive);
        ledger.insert(field(2, "mail"), EntryState::Gone);
        ledger.insert(field(3, "old"), EntryState::Gone);
        ledger.insert(field(3, "renamed"), EntryState::Alive);
        ledger.insert(used(UseKind::Field, "a.v1.Other", 9, "x"), EntryState::Gone);
        let reuse = |number, name| {
            Ledger::of(None, Some(&lock))
                .reuse(&field(number, name))
                .map(|it| (it.number_of, it.name_of))
        };
        assert_eq!(reuse(2, "email"), Some((Some("mail"), None)), "the number");
        assert_eq!(reuse(7, "mail"), Some((None, Some(2))), "the name");
        assert_eq!(reuse(2, "mail"), None, "it is back");
        assert_eq!(reuse(2, "old"), Some((Some("mail"), Some(3))), "both, of two");
        assert_eq!(reuse(3, "again"), None, "a rename told elsewhere");
        assert_eq!(reuse(9, "x"), None, "of another message");
        assert_eq!(reuse(4, "new"), None);
        let unknown = used(UseKind::Field, "b.v1.M", 2, "email");
        assert_eq!(Ledger::of(None, Some(&lock)).reuse(&unknown), None, "an unknown message");
    }

    #[test]
    fn an_extension_takes_numbers_from_whatever_held_them_in_its_message() {
        let mut lock = Lock::default();
        let mut enter = |package: &str, used: NumberedName, fate| {
            lock.packages.entry(package.to_owned()).or_default().ledger.insert(used, fate);
        };
        let extension = |number, name| used(UseKind::Extension, "a.v1.M", number, name);
        enter("a.v1", used(UseKind::Field, "a.v1.M", 5, "id"), EntryState::Gone);
        enter("a.v1", used(UseKind::Value, "a.v1.M", 6, "SIX"), EntryState::Gone);
        enter("b.v1", extension(100, "b.v1.note"), EntryState::Gone);
        enter("b.v1", extension(101, "b.v1.kept"), EntryState::Alive);
        enter("b.v1", used(UseKind::Extension, "a.v1.N", 102, "b.v1.moved"), EntryState::Gone);
        let reuse = |new: NumberedName| {
            Ledger::of(None, Some(&lock)).reuse(&new).map(|it| (it.number_of, it.name_of))
        };
        let of_another = extension(100, "c.v1.note");
        assert_eq!(reuse(of_another), Some((Some("b.v1.note"), None)), "of another package");
        assert_eq!(reuse(extension(7, "b.v1.note")), Some((None, Some(100))), "its name");
        assert_eq!(reuse(extension(100, "b.v1.note")), None, "it is back");
        assert_eq!(reuse(extension(101, "b.v1.again")), None, "a rename told elsewhere");
        assert_eq!(reuse(extension(5, "c.v1.x")), Some((Some("id"), None)), "of a field");
        let field = used(UseKind::Field, "a.v1.M", 100, "note");
        assert_eq!(reuse(field), Some((Some("b.v1.note"), None)), "of an extension");
        assert_eq!(reuse(extension(6, "c.v1.x")), None, "enums have their own numbers");
        assert_eq!(reuse(extension(102, "b.v1.moved")), None, "of another message");
        assert_eq!(reuse(extension(9, "id")), None, "a short name is no full one");
        // What a release knew is known, unless it is known better.
        let mut later = Lock::default();
        later
            .packages
            .entry("b.v1".to_owned())
            .or_default()
            .ledger
            .insert(extension(101, "b.v1.kept"), EntryState::Gone);
        let both = Ledger::of(Some(&lock), Some(&later));
        let reuse = |new: NumberedName| both.reuse(&new).map(|it| (it.number_of, it.name_of));
        assert_eq!(reuse(extension(100, "c.v1.note")), Some((Some("b.v1.note"), None)));
        assert_eq!(reuse(extension(101, "b.v1.again")), Some((Some("b.v1.kept"), None)));
    }
}
