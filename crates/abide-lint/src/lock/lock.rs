//! `abide.lock`: the recorded version, hashes and days of each package, the
//! ledger of every field, extension and enum value that ever existed, and what
//! the generated files contained.
//!
//! Each element has one line. The lines of a package are together, sorted by
//! name and number, with a blank line between packages. To git, two edits of
//! adjacent lines are a conflict; the blank line keeps edits of two packages
//! apart.

pub(crate) mod format;
pub(crate) mod ledger;
mod pins;

use std::collections::{BTreeMap, BTreeSet};

use abide_hash::{Hashes, SemanticHash};
use abide_schema::{Enum, EnumValue, Field, Message, Tree};
use jiff::civil::Date;
use semver::Version;
use sha2::{Digest, Sha256};

use crate::policy::BreakingPolicy;

pub use pins::DependencyPin;

/// The character that replaces bytes that are not UTF-8.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

/// The content of `abide.lock`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    packages: BTreeMap<String, PackageLock>,
    /// The digests of generated files, by path. After a merge a file has two.
    made: BTreeMap<String, BTreeSet<TextDigest>>,
    /// The dependencies that were brought, by name. After a merge one may have two.
    dependencies: BTreeMap<String, BTreeSet<DependencyPin>>,
    /// The digests of the files that the configuration builds on, by how it names them.
    bases: BTreeMap<String, BTreeSet<TextDigest>>,
    unresolved: bool,
}

/// What is recorded about a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PackageLock {
    record: Option<Record>,
    introduced: Option<Date>,
    frozen: Option<Freeze>,
    gone: bool,
    ledger: BTreeMap<NumberedName, EntryState>,
}

/// The version of a package, and its hashes at that version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The version.
    pub version: Version,
    /// The hashes of the package at that version.
    pub hashes: Hashes,
}

/// Since when a package is frozen, and what it meant then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// The day.
    pub day: Date,
    /// Its own hash on that day. Later changes of its dependencies do not count.
    pub own: SemanticHash,
}

/// The SHA-256 of the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TextDigest([u8; 32]);

impl TextDigest {
    fn of(text: &[u8]) -> TextDigest {
        TextDigest(Sha256::digest(text).into())
    }
}

/// A number and a name, used together in a message or an enum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NumberedName {
    /// The full name of the message or enum. For an extension, the message that
    /// it extends, which may be in any package.
    holder: String,
    kind: UseKind,
    number: i32,
    /// The name; for an extension the full name, which JSON and text format use.
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
enum EntryState {
    Gone,
    Alive,
}

impl Lock {
    /// Returns true if the text had a merge conflict, or a duplicate line as left by a
    /// union merge.
    pub fn is_unresolved(&self) -> bool {
        self.unresolved
    }

    /// Marks the conflict as resolved: the written file has none.
    pub(crate) fn resolve(&mut self) {
        self.unresolved = false;
    }

    /// The packages about which something else is recorded than in another lock.
    pub fn packages_unlike<'a>(&'a self, other: &'a Lock) -> BTreeSet<&'a str> {
        let (own, others) = (&self.packages, &other.packages);
        let names = own.keys().chain(others.keys());
        names.filter(|it| own.get(*it) != others.get(*it)).map(String::as_str).collect()
    }

    /// The paths of generated files about which something else is recorded than in another lock.
    pub fn made_unlike<'a>(&'a self, other: &'a Lock) -> BTreeSet<&'a str> {
        let (own, others) = (&self.made, &other.made);
        let paths = own.keys().chain(others.keys());
        paths.filter(|it| own.get(*it) != others.get(*it)).map(String::as_str).collect()
    }

    /// The record of a package.
    pub fn record(&self, package: &str) -> Option<&Record> {
        self.packages.get(package)?.record.as_ref()
    }

    /// The day on which a package was introduced, if it is recorded.
    pub fn introduced(&self, package: &str) -> Option<Date> {
        self.packages.get(package)?.introduced
    }

    /// Records the day on which a package was introduced. If a day is recorded, the
    /// earlier one is kept.
    pub fn introduce(&mut self, package: &str, day: Date) {
        let entry = self.packages.entry(package.to_owned()).or_default();
        entry.introduced = Some(entry.introduced.map_or(day, |known| known.min(day)));
    }

    /// Since when a package is frozen, if it is recorded.
    pub fn frozen(&self, package: &str) -> Option<&Freeze> {
        self.packages.get(package)?.frozen.as_ref()
    }

    /// Records that a package is frozen, unless that is recorded already.
    pub fn freeze(&mut self, package: &str, freeze: Freeze) {
        self.packages.entry(package.to_owned()).or_default().frozen.get_or_insert(freeze);
    }

    /// Returns true if a file at this path was generated, whatever is there now.
    pub(crate) fn has_made(&self, path: &str) -> bool {
        self.made.contains_key(path)
    }

    /// Returns true if a file contains what was generated there.
    pub fn is_made(&self, path: &str, text: &[u8]) -> bool {
        self.made.get(path).is_some_and(|digests| digests.contains(&TextDigest::of(text)))
    }

    /// Records what was generated at a path, in place of what is recorded. A path
    /// that no line can hold is left out.
    pub fn set_made(&mut self, path: &str, text: &[u8]) {
        if path.trim() != path || path.contains(char::is_control) || path.contains(UNREADABLE) {
            return;
        }
        self.made.insert(path.to_owned(), BTreeSet::from([TextDigest::of(text)]));
    }

    /// Forgets what was generated at a path.
    pub fn forget_made(&mut self, path: &str) {
        self.made.remove(path);
    }

    /// The paths of the recorded generated files, sorted.
    pub fn made_paths(&self) -> impl Iterator<Item = &str> {
        self.made.keys().map(String::as_str)
    }

    /// The packages that are recorded as part of the tree.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        self.packages.iter().filter(|(_, it)| !it.gone).map(|(name, _)| name.as_str())
    }

    /// Returns true if versions are recorded here. A lock with nothing but days or
    /// generated files does not say so; an empty one does.
    pub(crate) fn is_of_versions(&self) -> bool {
        let mut packages = self.packages.values();
        packages.any(|it| it.record.is_some() || !it.ledger.is_empty())
            || self.packages.is_empty() && self.made.is_empty() && !self.has_pins()
    }

    /// Records a package; without a record, only its ledger is kept here.
    pub(crate) fn set_record(&mut self, package: &str, record: Option<Record>) {
        let entry = self.packages.entry(package.to_owned()).or_default();
        (entry.record, entry.gone) = (record, false);
    }

    /// Records that a package is no longer in the tree. Its numbers and names are
    /// kept, unless it was allowed to break.
    pub(crate) fn set_gone(&mut self, package: &str, policy: &BreakingPolicy) {
        let Some(entry) = self.packages.get_mut(package) else { return };
        if !policy.binds(package) {
            self.packages.remove(package);
            return;
        }
        entry.gone = true;
        entry.ledger.values_mut().for_each(|fate| *fate = EntryState::Gone);
    }

    /// Returns what another lock records of packages that must not break, and this one does not:
    /// that they are frozen, and the numbers and names that they used. A phrase for each package.
    pub(crate) fn forgotten(&self, old: &Lock, policy: &BreakingPolicy) -> Vec<(String, String)> {
        let mut forgotten = Vec::new();
        for (name, known) in old.packages.iter().filter(|(name, _)| policy.binds(name)) {
            let own = self.packages.get(name);
            if let Some(freeze) = known.frozen.filter(|_| own.is_none_or(|it| it.frozen.is_none()))
            {
                let day = freeze.day;
                forgotten.push((name.clone(), format!("that `{name}` is frozen since {day}")));
            }
            let is_lost = |it: &&NumberedName| own.is_none_or(|own| !own.ledger.contains_key(it));
            let mut lost = known.ledger.keys().filter(is_lost);
            let Some(first) = lost.next() else { continue };
            let more = match lost.count() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let NumberedName { holder, number, name: used, .. } = first;
            let what = format!("number {number} of `{holder}`, which `{used}` used{more}");
            forgotten.push((name.clone(), what));
        }
        forgotten
    }

    /// Takes what another lock records of a package, be it nothing.
    pub(crate) fn adopt(&mut self, other: &Lock, package: &str) {
        match other.packages.get(package) {
            Some(known) => drop(self.packages.insert(package.to_owned(), known.clone())),
            None => drop(self.packages.remove(package)),
        }
    }

    /// Adds the numbers, names and days of a package from the lock of a release, so
    /// that a line that got lost since then does not free them, or thaw it.
    pub(crate) fn remember(&mut self, released: &Lock, package: &str, policy: &BreakingPolicy) {
        let Some(known) = released.packages.get(package) else { return };
        let has_days = known.introduced.is_some() || known.frozen.is_some();
        if !policy.binds(package) || known.ledger.is_empty() && !has_days {
            return;
        }
        let absent = || PackageLock { gone: true, ..PackageLock::default() };
        let entry = self.packages.entry(package.to_owned()).or_insert_with(absent);
        entry.introduced = [entry.introduced, known.introduced].into_iter().flatten().min();
        entry.frozen = entry.frozen.or(known.frozen);
        for used in known.ledger.keys() {
            entry.ledger.entry(used.clone()).or_insert(EntryState::Gone);
        }
    }

    /// Copies everything ever used in a message or enum, and inside it, to its new
    /// name: old data is read under the new name.
    pub(crate) fn carry(&mut self, [package, was, is]: [&str; 3], policy: &BreakingPolicy) {
        if !policy.binds(package) {
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
                entry.ledger.entry(it).or_insert(EntryState::Gone);
            });
        }
    }

    /// Returns true if anything is recorded about a package.
    pub(crate) fn knows(&self, package: &str) -> bool {
        self.packages.contains_key(package)
    }

    /// The known packages, including removed ones.
    pub(crate) fn known_packages(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }

    /// Updates the ledger of a package: elements in the tree are alive, all others
    /// are gone. A package that may break has none, since everything in it may change.
    pub(crate) fn set_uses(&mut self, tree: &Tree, package: &str, policy: &BreakingPolicy) {
        let entry = self.packages.entry(package.to_owned()).or_default();
        entry.ledger.values_mut().for_each(|fate| *fate = EntryState::Gone);
        if !policy.binds(package) {
            entry.ledger.clear();
            return;
        }
        let files = tree.package_named(package).into_iter().flat_map(|it| it.files());
        for file in files.filter(|it| it.is_judged()) {
            let of_map = |it: &Field<'_>| it.parent().is_some_and(Message::is_map_entry);
            let fields = file.all_fields().filter(|it| !of_map(it));
            let values = file.all_enums().flat_map(|it| it.values()).map(NumberedName::of_value);
            // In a descriptor, a name may be any text.
            let is_word = |it: &NumberedName| is_word(&it.holder) && is_word(&it.name);
            let uses = fields.filter_map(NumberedName::of_field).chain(values).filter(is_word);
            entry.ledger.extend(uses.map(|it| (it, EntryState::Alive)));
        }
    }
}

fn is_word(text: &str) -> bool {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || c == UNREADABLE;
    !text.is_empty() && !text.contains(breaks)
}

impl NumberedName {
    /// `None` if the message of the field is not known.
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

    /// The full name of the scope that declares it.
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
