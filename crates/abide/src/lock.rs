//! `abide.lock`: the version and the hashes of each package as recorded, and
//! the ledger of every field, extension and enum value that there ever was.
//!
//! One line an element. The lines of a package stand together, in the order of
//! their names and numbers, and a blank line keeps packages apart: to git, two
//! edits that touch are one conflict, so what two people did to two packages
//! must never touch.

pub(crate) mod format;
pub(crate) mod ledger;

use std::collections::BTreeMap;

use abide_meaning::Hashes;
use abide_schema::{Enum, EnumValue, Field, Message, Stability, Tree};
use semver::Version;

/// What stands in a text for bytes that are no UTF-8.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

/// The content of `abide.lock`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    packages: BTreeMap<String, PackageLock>,
    unresolved: bool,
}

/// What is recorded of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PackageLock {
    record: Option<Record>,
    gone: bool,
    ledger: BTreeMap<NumberedName, Fate>,
}

/// The version of a package and what it meant under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The version.
    pub version: Version,
    /// The hashes of the package at that version.
    pub hashes: Hashes,
}

/// A number and a name, used together in a message or an enum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NumberedName {
    /// The full name of the message or enum; of an extension the message that
    /// it extends, which may be of any package.
    holder: String,
    kind: UseKind,
    number: i32,
    /// The name; of an extension the full one, which JSON and text format use.
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum UseKind {
    Field,
    Extension,
    Value,
}

/// Whether a use was in the tree when it was last recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Gone,
    Alive,
}

impl Lock {
    /// Whether the text held a merge conflict, or one line twice, as a merge
    /// by union leaves it.
    pub fn is_unresolved(&self) -> bool {
        self.unresolved
    }

    /// Takes the conflict for resolved: what is written has none.
    pub(crate) fn resolve(&mut self) {
        self.unresolved = false;
    }

    /// What is recorded of a package.
    pub fn record(&self, package: &str) -> Option<&Record> {
        self.packages.get(package)?.record.as_ref()
    }

    /// The packages that are recorded as part of the tree.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        self.packages.iter().filter(|(_, it)| !it.gone).map(|(name, _)| name.as_str())
    }

    /// Records a package; without a record only its ledger is kept here.
    pub(crate) fn set_record(&mut self, package: &str, record: Option<Record>) {
        let entry = self.packages.entry(package.to_owned()).or_default();
        (entry.record, entry.gone) = (record, false);
    }

    /// Records that a package is no part of the tree any more. Its numbers and
    /// names stay, if it was to be relied on.
    pub(crate) fn set_gone(&mut self, package: &str) {
        let Some(entry) = self.packages.get_mut(package) else { return };
        if !keeps_ledger(package) {
            self.packages.remove(package);
            return;
        }
        entry.gone = true;
        entry.ledger.values_mut().for_each(|fate| *fate = Fate::Gone);
    }

    /// Takes over what the lock of a release knows of the numbers and names of a
    /// package, so that a line which got lost since does not free them.
    pub(crate) fn remember(&mut self, released: &Lock, package: &str) {
        let Some(known) = released.packages.get(package) else { return };
        if !keeps_ledger(package) || known.ledger.is_empty() {
            return;
        }
        let absent = || PackageLock { gone: true, ..PackageLock::default() };
        let entry = self.packages.entry(package.to_owned()).or_insert_with(absent);
        for used in known.ledger.keys() {
            entry.ledger.entry(used.clone()).or_insert(Fate::Gone);
        }
    }

    /// Takes what was ever used in a message or enum, and in what is declared in
    /// it, for used under its new name, too: what was written then is read there.
    pub(crate) fn carry(&mut self, package: &str, was: &str, is: &str) {
        if !keeps_ledger(package) {
            return;
        }
        let known = self.packages.values().flat_map(|it| it.ledger.keys());
        let carried: Vec<NumberedName> = known
            .filter_map(|used| {
                let rest = used.holder.strip_prefix(was)?;
                let is_within = rest.is_empty() || rest.starts_with('.');
                let keeps_name = used.kind != UseKind::Extension;
                (is_within && keeps_name)
                    .then(|| NumberedName { holder: format!("{is}{rest}"), ..used.clone() })
            })
            .collect();
        if let Some(entry) = self.packages.get_mut(package) {
            carried.into_iter().for_each(|it| {
                entry.ledger.entry(it).or_insert(Fate::Gone);
            });
        }
    }

    /// The packages that are known, also those that are gone.
    pub(crate) fn known_packages(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }

    /// Brings the ledger of a package up to the tree: what is there is alive,
    /// what was is gone.
    pub(crate) fn set_uses(&mut self, tree: &Tree, package: &str) {
        let entry = self.packages.entry(package.to_owned()).or_default();
        entry.ledger.values_mut().for_each(|fate| *fate = Fate::Gone);
        if !keeps_ledger(package) {
            entry.ledger.clear();
            return;
        }
        let files = tree.package_named(package).into_iter().flat_map(|it| it.files());
        for file in files.filter(|it| it.is_judged()) {
            let of_map = |it: &Field<'_>| it.parent().is_some_and(Message::is_map_entry);
            let fields = file.all_fields().filter(|it| !of_map(it));
            let values = file.all_enums().flat_map(|it| it.values()).map(NumberedName::of_value);
            // A descriptor may hold any text as a name.
            let is_word = |it: &NumberedName| is_word(&it.holder) && is_word(&it.name);
            let uses = fields.filter_map(NumberedName::of_field).chain(values).filter(is_word);
            entry.ledger.extend(uses.map(|it| (it, Fate::Alive)));
        }
    }
}

/// Whether the numbers and names of a package are kept for ever: in an alpha
/// everything may change.
fn keeps_ledger(package: &str) -> bool {
    let version = abide_schema::PackageVersion::of_package(package);
    version.is_none_or(|it| it.stability != Stability::Alpha)
}

fn is_word(text: &str) -> bool {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || c == UNREADABLE;
    !text.is_empty() && !text.contains(breaks)
}

impl NumberedName {
    /// None where it is not known whose field it is.
    fn of_field(field: Field<'_>) -> Option<NumberedName> {
        let holder = field.containing_message()?.full_name();
        let (kind, name) = match field.is_extension() {
            true => (UseKind::Extension, field.full_name()),
            false => (UseKind::Field, field.name().to_owned()),
        };
        Some(NumberedName { holder, kind, number: field.number(), name })
    }

    fn of_value(value: EnumValue<'_>) -> NumberedName {
        let holder = Enum::full_name(value.parent());
        NumberedName {
            holder,
            kind: UseKind::Value,
            number: value.number(),
            name: value.name().to_owned(),
        }
    }

    /// The full name of a scope in the package that declares it.
    fn scope(&self) -> &str {
        match self.kind {
            UseKind::Extension => self.name.rsplit_once('.').map_or("", |(scope, _)| scope),
            UseKind::Field | UseKind::Value => &self.holder,
        }
    }
}

impl UseKind {
    const ALL: [UseKind; 3] = [UseKind::Field, UseKind::Extension, UseKind::Value];

    /// The first word of its lines.
    const fn word(self) -> &'static str {
        match self {
            UseKind::Field => "field",
            UseKind::Extension => "extension",
            UseKind::Value => "value",
        }
    }

    fn named(word: &str) -> Option<UseKind> {
        UseKind::ALL.into_iter().find(|it| it.word() == word)
    }
}
