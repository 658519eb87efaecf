//! `abide.lock`: the version and the hashes of each package as recorded, and
//! the ledger of every field, extension and enum value that there ever was.
//!
//! One line an element. The lines of a package stand together, in the order of
//! their names and numbers, and a blank line keeps packages apart: to git, two
//! edits that touch are one conflict, so what two people did to two packages
//! must never touch.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use abide_meaning::{Hashes, SemanticHash};
use abide_schema::{Enum, EnumValue, Field, Message, Stability, Tree};
use abide_syntax::Span;
use semver::Version;

use crate::bump::version;
use crate::config::ConfigError;

/// The first word of the file, before the number of its format.
const FORMAT: &str = "abide-lock";
/// The only format that there is so far.
const NEWEST: u32 = 1;
const HEADER: &str = "\
abide-lock 1
# Versions, hashes, and every number and name that was ever used. `abide bump --write` writes this
# file, and mends it after a merge.
";
/// What stands behind an element that the tree does not hold any more.
const GONE: &str = "gone";
/// How the package without a name is written.
const UNNAMED: &str = "-";
/// What stands in a text for bytes that are no UTF-8.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;
const REMEDY: &str = "take the line from version control; without the file `abide bump --write` \
                      begins a new one, which knows nothing of numbers and names that are free";

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
    ledger: BTreeMap<Use, Fate>,
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
struct Use {
    /// The full name of the message or enum; of an extension the message that
    /// it extends, which may be of any package.
    holder: String,
    kind: Kind,
    number: i32,
    /// The name; of an extension the full one, which JSON and text format use.
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
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

/// What of a field or an enum value was taken from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reuse<'l> {
    /// The name that had the number, where the number is reused.
    pub(crate) number_of: Option<&'l str>,
    /// The number that had the name, where the name is reused.
    pub(crate) name_of: Option<i32>,
}

impl Lock {
    /// Reads `abide.lock`; every malformed line is an error.
    ///
    /// Both sides of a merge conflict count: a record is that of the higher
    /// version, and the ledger is the union. [`Lock::is_unresolved`] tells.
    pub fn parse(text: &str) -> Result<Lock, Vec<ConfigError>> {
        let mut reader = Reader { text, lock: Lock::default(), errors: Vec::new() };
        let uses = reader.lines();
        for (at, used, fate) in uses {
            reader.enter(at, used, fate);
        }
        if reader.errors.is_empty() {
            return Ok(reader.lock);
        }
        reader.errors.sort_by_key(|it| it.span.start);
        Err(reader.errors)
    }

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
        let carried: Vec<Use> = known
            .filter_map(|used| {
                let rest = used.holder.strip_prefix(was)?;
                let is_within = rest.is_empty() || rest.starts_with('.');
                let keeps_name = used.kind != Kind::Extension;
                (is_within && keeps_name)
                    .then(|| Use { holder: format!("{is}{rest}"), ..used.clone() })
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
            let values = file.all_enums().flat_map(|it| it.values()).map(Use::of_value);
            // A descriptor may hold any text as a name.
            let is_word = |it: &Use| is_word(&it.holder) && is_word(&it.name);
            let uses = fields.filter_map(Use::of_field).chain(values).filter(is_word);
            entry.ledger.extend(uses.map(|it| (it, Fate::Alive)));
        }
    }
}

/// Who used which number and name in a message or enum. The ledgers of all
/// packages are one here: the extensions of a message may be declared anywhere.
pub(crate) struct Ledger<'l> {
    uses: BTreeMap<&'l Use, Fate>,
}

impl<'l> Ledger<'l> {
    /// What either of two locks knows; where both know something, the second one
    /// is right.
    pub(crate) fn of(released: Option<&'l Lock>, lock: Option<&'l Lock>) -> Ledger<'l> {
        let locks = released.into_iter().chain(lock);
        let all = locks.flat_map(|it| it.packages.values()).flat_map(|it| &it.ledger);
        Ledger { uses: all.map(|(used, fate)| (used, *fate)).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// What a field or extension takes from one that is gone.
    pub(crate) fn reuse_by_field(&self, field: Field<'_>) -> Option<Reuse<'l>> {
        self.reuse(&Use::of_field(field)?)
    }

    /// What an enum value takes from one that is gone.
    pub(crate) fn reuse_by_value(&self, value: EnumValue<'_>) -> Option<Reuse<'l>> {
        self.reuse(&Use::of_value(value))
    }

    /// A number is reused where all that had it are gone, and so is a name. What
    /// comes back as it was is no other. On the wire an extension is a field of
    /// the message that it extends.
    fn reuse(&self, new: &Use) -> Option<Reuse<'l>> {
        if self.uses.contains_key(new) {
            return None;
        }
        let first = Use { kind: Kind::Field, number: i32::MIN, name: String::new(), ..new.clone() };
        let of_holder =
            || self.uses.range::<Use, _>(&first..).take_while(|(it, _)| it.holder == new.holder);
        let last = |had: &dyn Fn(&Use) -> bool| {
            let mut found = None;
            for (used, fate) in of_holder().filter(|(it, _)| had(it)) {
                if *fate == Fate::Alive {
                    return None;
                }
                found = Some(*used);
            }
            found
        };
        let is_value = |it: &Use| it.kind == Kind::Value;
        let number_of = last(&|it| it.number == new.number && is_value(it) == is_value(new));
        let name_of = last(&|it| it.name == new.name && it.kind == new.kind);
        (number_of.is_some() || name_of.is_some()).then_some(Reuse {
            number_of: number_of.map(|it| it.name.as_str()),
            name_of: name_of.map(|it| it.number),
        })
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

impl Use {
    /// None where it is not known whose field it is.
    fn of_field(field: Field<'_>) -> Option<Use> {
        let holder = field.containing_message()?.full_name();
        let (kind, name) = match field.is_extension() {
            true => (Kind::Extension, field.full_name()),
            false => (Kind::Field, field.name().to_owned()),
        };
        Some(Use { holder, kind, number: field.number(), name })
    }

    fn of_value(value: EnumValue<'_>) -> Use {
        let holder = Enum::full_name(value.parent());
        Use { holder, kind: Kind::Value, number: value.number(), name: value.name().to_owned() }
    }

    /// The full name of a scope in the package that declares it.
    fn scope(&self) -> &str {
        match self.kind {
            Kind::Extension => self.name.rsplit_once('.').map_or("", |(scope, _)| scope),
            Kind::Field | Kind::Value => &self.holder,
        }
    }
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Field, Kind::Extension, Kind::Value];

    /// The first word of its lines.
    const fn word(self) -> &'static str {
        match self {
            Kind::Field => "field",
            Kind::Extension => "extension",
            Kind::Value => "value",
        }
    }

    fn named(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|it| it.word() == word)
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        for (name, package) in &self.packages {
            let name = if name.is_empty() { UNNAMED } else { name };
            write!(f, "\npackage {name}")?;
            if let Some(Record { version, hashes }) = &package.record {
                write!(f, " {version} {} {}", hashes.own, hashes.closure)?;
            }
            f.write_str(if package.gone { " gone\n" } else { "\n" })?;
            for (Use { holder, kind, number, name }, fate) in &package.ledger {
                write!(f, "{} {holder} {number} {name}", kind.word())?;
                f.write_str(if *fate == Fate::Gone { " gone\n" } else { "\n" })?;
            }
        }
        Ok(())
    }
}

/// In which part of a merge conflict a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    None,
    Ours,
    Base,
    Theirs,
}

struct Reader<'a> {
    text: &'a str,
    lock: Lock,
    errors: Vec<ConfigError>,
}

impl<'a> Reader<'a> {
    fn error(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        // Every part is a slice of the text.
        let start = at.as_ptr() as usize - self.text.as_ptr() as usize;
        let span = Span::new(start as u32, (start + at.len()) as u32);
        self.errors.push(ConfigError { message: message.into(), span, help: Some(help.into()) });
    }

    /// Reads every line; the lines of the ledger are given back, for which
    /// package an element belongs to is known when all packages are.
    fn lines(&mut self) -> Vec<(&'a str, Use, Fate)> {
        let mut uses = Vec::new();
        let mut side = Side::None;
        let mut opened = "";
        let mut is_first = true;
        for line in self.text.lines() {
            if let Some(next) = after_marker(line, side) {
                if side == Side::None {
                    opened = line;
                }
                side = next;
                self.lock.unresolved = true;
                continue;
            }
            // Both sides know what the base knew.
            if side == Side::Base || line.trim().is_empty() {
                continue;
            }
            if is_first || line.starts_with(FORMAT) {
                is_first = false;
                if !self.header(line) {
                    return Vec::new();
                }
            } else if !line.starts_with('#') {
                uses.extend(self.line(line));
            }
        }
        if side != Side::None {
            self.error(opened, "this conflict has no end", REMEDY);
        }
        // A name that was cut off is a name, too.
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            let last = self.text.lines().last().unwrap_or_default();
            self.error(last, "the file is cut off in this line", REMEDY);
        }
        if is_first {
            let message = format!("expected `{FORMAT} {NEWEST}` in the first line");
            self.error(&self.text[..0], message, REMEDY);
        }
        uses
    }

    /// Whether this is the first line of a file of a known format.
    fn header(&mut self, line: &'a str) -> bool {
        let format = line.strip_prefix(FORMAT).and_then(|it| it.strip_prefix(' '));
        match format.map(|it| (it, it.trim_end().parse::<u32>())) {
            Some((_, Ok(NEWEST))) => return true,
            Some((format, Ok(newer))) if newer > NEWEST => {
                let message =
                    format!("format {newer} is newer than this abide, which reads {NEWEST}");
                self.error(format, message, "update abide");
            }
            _ => {
                let message = format!("expected `{FORMAT} {NEWEST}` in the first line");
                self.error(line, message, REMEDY);
            }
        }
        false
    }

    fn line(&mut self, line: &'a str) -> Option<(&'a str, Use, Fate)> {
        if line.contains(UNREADABLE) {
            self.error(line, "this line is no UTF-8", REMEDY);
            return None;
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (words, fate) = match &words[..] {
            // `gone` may be a name, too.
            [rest @ .., GONE] if matches!(rest, ["package", _, ..] | [_, _, _, _]) => {
                (rest, Fate::Gone)
            }
            all => (all, Fate::Alive),
        };
        match *words {
            ["package", name] => self.package(name, None, fate),
            ["package", name, version, own, closure] => {
                let record = self.record(name, version, own, closure)?;
                self.package(name, Some(record), fate);
            }
            [word, holder, number, name] if let Some(kind) = Kind::named(word) => {
                let Ok(parsed) = i32::from_str(number) else {
                    self.error(number, format!("`{number}` is no number"), REMEDY);
                    return None;
                };
                let (holder, name) = (holder.to_owned(), name.to_owned());
                return Some((line, Use { holder, kind, number: parsed, name }, fate));
            }
            _ => {
                let message = "expected `package NAME VERSION OWN CLOSURE`, `field MESSAGE NUMBER \
                               NAME`, `extension MESSAGE NUMBER NAME` or `value ENUM NUMBER NAME`";
                self.error(line, message, REMEDY);
            }
        }
        None
    }

    fn record(&mut self, name: &str, version: &str, own: &str, closure: &str) -> Option<Record> {
        let mut hash = |text: &str| match SemanticHash::from_str(text) {
            Ok(hash) => Some(hash),
            Err(error) => {
                self.error(text, error.to_string(), REMEDY);
                None
            }
        };
        let (own, closure) = (hash(own), hash(closure));
        let parsed = match Version::parse(version) {
            Ok(parsed) if version::fits(&parsed, unwritten(name)) => parsed,
            Ok(_) => {
                let first = version::first(unwritten(name));
                let message = format!("`{name}` has versions like `{first}`, not `{version}`");
                self.error(version, message, REMEDY);
                return None;
            }
            Err(_) => {
                self.error(version, format!("`{version}` is no semantic version"), REMEDY);
                return None;
            }
        };
        Some(Record { version: parsed, hashes: Hashes { own: own?, closure: closure? } })
    }

    fn package(&mut self, name: &str, record: Option<Record>, fate: Fate) {
        let gone = fate == Fate::Gone;
        let new = PackageLock { record, gone, ledger: BTreeMap::new() };
        let name = unwritten(name);
        let Some(known) = self.lock.packages.get_mut(name) else {
            self.lock.packages.insert(name.to_owned(), new);
            return;
        };
        self.lock.unresolved = true;
        known.gone &= gone;
        let version = |it: &Option<Record>| it.as_ref().map(|it| it.version.clone());
        if version(&new.record) > version(&known.record) {
            known.record = new.record;
        }
    }

    /// Puts a use into the ledger of the package with the longest name that
    /// begins its own.
    fn enter(&mut self, line: &str, used: Use, fate: Fate) {
        let mut name = used.scope();
        while !name.is_empty() && !self.lock.packages.contains_key(name) {
            name = name.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        let name = name.to_owned();
        let Some(package) = self.lock.packages.get_mut(&name) else {
            let known = if used.scope().is_empty() { &used.name } else { used.scope() };
            let message = format!("no line says which package `{known}` is of");
            return self.error(line, message, REMEDY);
        };
        let known = package.ledger.entry(used).or_insert(fate);
        *known = fate.max(*known);
    }
}

/// The name of a package as written in the file.
fn unwritten(name: &str) -> &str {
    if name == UNNAMED { "" } else { name }
}

/// The part of a conflict that begins behind a line, if the line is a marker
/// of git.
fn after_marker(line: &str, side: Side) -> Option<Side> {
    let mark = line.split(' ').next().unwrap_or_default();
    match (mark, side) {
        ("<<<<<<<", Side::None) => Some(Side::Ours),
        ("|||||||", Side::Ours) => Some(Side::Base),
        ("=======", Side::Ours | Side::Base) => Some(Side::Theirs),
        (">>>>>>>", Side::Theirs) => Some(Side::None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(seed: u8) -> Hashes {
        Hashes { own: SemanticHash::new([seed; 32]), closure: SemanticHash::new([!seed; 32]) }
    }

    fn record(version: &str, seed: u8) -> Option<Record> {
        let version = version.parse().expect("a version");
        Some(Record { version, hashes: hashes(seed) })
    }

    fn used(kind: Kind, holder: &str, number: i32, name: &str) -> Use {
        Use { holder: holder.to_owned(), kind, number, name: name.to_owned() }
    }

    /// Packages of every kind, with names that look like words of the format.
    fn any_lock(random: &mut fastrand::Rng) -> Lock {
        const PACKAGES: &[&str] =
            &["", "acme", "acme.v1", "acme.v1.sub", "gone", "package.v3", "z.v1p1beta1"];
        const NAMES: &[&str] = &["id", "gone", "package", "field", "Größe", "-"];
        let mut lock = Lock::default();
        for name in PACKAGES {
            if random.bool() {
                continue;
            }
            let package = lock.packages.entry((*name).to_owned()).or_default();
            if random.bool() {
                let version = version::first(name);
                let version = (0..random.u8(..4))
                    .fold(version, |it, _| version::next(&it, crate::level::Bump::Minor));
                package.record = Some(Record { version, hashes: hashes(random.u8(..)) });
            }
            package.gone = random.u8(..4) == 0;
            for _ in 0..random.usize(..6) {
                let kind = random.choice(Kind::ALL).expect("there are kinds");
                let mut holder = if name.is_empty() { "Top".into() } else { format!("{name}.Top") };
                let mut named = (*random.choice(NAMES).expect("there are names")).to_owned();
                if kind == Kind::Extension {
                    named = if name.is_empty() { named } else { format!("{name}.{named}") };
                    holder =
                        ["google.protobuf.FieldOptions", "acme.v1.Top"][random.usize(..2)].into();
                }
                let fate = if random.bool() { Fate::Alive } else { Fate::Gone };
                package.ledger.insert(used(kind, &holder, random.i32(-3..12), &named), fate);
            }
        }
        lock
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..2000 {
            let lock = any_lock(&mut random);
            let text = lock.to_string();
            assert_eq!(Lock::parse(&text).as_ref(), Ok(&lock), "{text}");
            assert_eq!(Lock::parse(&text.replace('\n', "\r\n")), Ok(lock), "{text}");
        }
    }

    #[test]
    fn of_two_sides_the_ledger_is_the_union() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..1000 {
            let (ours, theirs) = (any_lock(&mut random), any_lock(&mut random));
            let text = format!(
                "<<<<<<< ours\n{ours}||||||| base\nabide-lock 1\nwhatever\n=======\n{theirs}>>>>>>> theirs\n"
            );
            let both = Lock::parse(&text).expect("both sides are sound");
            assert!(both.is_unresolved());
            for (name, package) in &both.packages {
                let sides = [&ours, &theirs].map(|it| it.packages.get(name));
                let sides: Vec<&PackageLock> = sides.into_iter().flatten().collect();
                let mut union: BTreeMap<&Use, Fate> = BTreeMap::new();
                for (used, fate) in sides.iter().flat_map(|it| &it.ledger) {
                    let known = union.entry(used).or_insert(*fate);
                    *known = (*known).max(*fate);
                }
                assert!(package.ledger.iter().map(|(it, fate)| (it, *fate)).eq(union), "{text}");
                let version = |it: &PackageLock| it.record.as_ref().map(|it| it.version.clone());
                assert_eq!(version(package), sides.iter().filter_map(|it| version(it)).max());
                assert_eq!(package.gone, sides.iter().all(|it| it.gone));
            }
            let names = ours.packages.keys().chain(theirs.packages.keys());
            assert!(names.into_iter().all(|it| both.packages.contains_key(it)), "{text}");
        }
    }

    #[test]
    fn an_extension_is_of_the_package_that_declares_it() {
        let text = "abide-lock 1\npackage a.v1\npackage b.v1\n\
                    extension a.v1.M 100 b.v1.Scope.note\nextension a.v1.M 101 b.v1.b gone\n";
        let lock = Lock::parse(text).expect("it can be read");
        assert_eq!(lock.packages["b.v1"].ledger.len(), 2);
        assert!(lock.packages["a.v1"].ledger.is_empty());
    }

    #[test]
    fn a_damaged_file_says_where_and_what_to_do() {
        let hash = hashes(1).own;
        let rows = [
            ("", 0, "expected `abide-lock 1` in the first line"),
            ("package a.v1\n", 0, "expected `abide-lock 1` in the first line"),
            ("abide-lock 2\nwhatever\n", 11, "format 2 is newer than this abide, which reads 1"),
            ("abide-lock one\n", 0, "expected `abide-lock 1` in the first line"),
            ("abide-lock 1\npackage a.v1 1.0\n", 13, "expected `package NAME VERSION OWN CLOSURE`"),
            (
                &format!("abide-lock 1\npackage a.v1 1.0 {hash} {hash}\n"),
                26,
                "`1.0` is no semantic version",
            ),
            (
                &format!("abide-lock 1\npackage a.v2 1.0.0 {hash} {hash}\n"),
                26,
                "`a.v2` has versions like `2.0.0`, not `1.0.0`",
            ),
            (
                &format!("abide-lock 1\npackage a.v1 1.0.0 {hash} abide1:x\n"),
                111,
                "a semantic hash is",
            ),
            ("abide-lock 1\npackage a\nfield a.M one id\n", 33, "`one` is no number"),
            (
                "abide-lock 1\npackage a\nfield b.M 1 id\n",
                23,
                "no line says which package `b.M` is of",
            ),
            (
                "abide-lock 1\npackage a\nextension a.M 1 id\n",
                23,
                "no line says which package `id` is of",
            ),
            ("abide-lock 1\npackage a\nmessage a.M 1 id\n", 23, "expected `package NAME"),
            ("abide-lock 1\n<<<<<<< ours\npackage a\n", 13, "this conflict has no end"),
            ("abide-lock 1\npackage a\nfield a.M 1 i", 23, "the file is cut off in this line"),
            ("abide-lock 1\npackage a\nfield a.M 1 i\u{fffd}\n", 23, "this line is no UTF-8"),
            ("\u{feff}abide-lock 1\n", 0, "expected `abide-lock 1` in the first line"),
        ];
        for (text, at, message) in rows {
            let errors = Lock::parse(text).expect_err(text);
            let first = errors.first().expect("an error is told");
            assert!(first.message.starts_with(message), "{text}: {errors:?}");
            assert_eq!(first.span.start, at, "{text}");
            assert!(first.help.as_ref().is_some_and(|it| !it.is_empty()), "{text}");
        }
        let text = "abide-lock 1\npackage a\nfield\nvalue a.E x y\n";
        assert_eq!(Lock::parse(text).expect_err(text).len(), 2, "every line is told");
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20 {
            let text = any_lock(&mut random).to_string();
            for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
                // At the end of a line nothing shows that others followed.
                let is_whole = text[..cut].ends_with('\n');
                assert_eq!(Lock::parse(&text[..cut]).is_ok(), is_whole, "{}", &text[..cut]);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let mut random = fastrand::Rng::with_seed(6);
        let pieces = [
            "<<<<<<< a\n",
            "=======\n",
            ">>>>>>> b\n",
            "||||||| c\n",
            "gone",
            "package",
            " ",
            "\n",
            "é",
            "-9",
        ];
        let (mut read, mut refused) = (0, 0);
        for _ in 0..3000 {
            let mut text = any_lock(&mut random).to_string();
            for _ in 0..random.usize(..4) {
                let at = random.usize(..=text.len());
                let at = (0..=at).rev().find(|&it| text.is_char_boundary(it)).unwrap_or(0);
                match random.bool() {
                    true => text.truncate(at),
                    false => text.insert_str(at, pieces[random.usize(..pieces.len())]),
                }
            }
            match Lock::parse(&text) {
                Ok(_) => read += 1,
                Err(errors) => {
                    refused += 1;
                    let inside = |it: &ConfigError| text.get(it.span.range()).is_some();
                    assert!(!errors.is_empty() && errors.iter().all(inside), "{text}");
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
    }

    #[test]
    fn a_line_that_stands_twice_is_a_merge_to_resolve() {
        let text = format!(
            "abide-lock 1\npackage a.v1 1.1.0 {0} {0}\nfield a.v1.M 1 id gone\n\
             package a.v1 1.2.0 {1} {1}\nfield a.v1.M 1 id\n",
            hashes(1).own,
            hashes(2).own,
        );
        let lock = Lock::parse(&text).expect("it can be read");
        assert!(lock.is_unresolved());
        assert_eq!(lock.record("a.v1").map(|it| it.version.to_string()), Some("1.2.0".into()));
        assert!(lock.packages["a.v1"].ledger.values().all(|it| *it == Fate::Alive));
    }

    #[test]
    fn a_number_or_a_name_is_reused_where_all_that_had_it_are_gone() {
        let mut lock = Lock::default();
        lock.set_record("a.v1", record("1.0.0", 1));
        let ledger = &mut lock.packages.get_mut("a.v1").expect("it is there").ledger;
        let field = |number, name| used(Kind::Field, "a.v1.M", number, name);
        ledger.insert(field(1, "id"), Fate::Alive);
        ledger.insert(field(2, "mail"), Fate::Gone);
        ledger.insert(field(3, "old"), Fate::Gone);
        ledger.insert(field(3, "renamed"), Fate::Alive);
        ledger.insert(used(Kind::Field, "a.v1.Other", 9, "x"), Fate::Gone);
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
        let unknown = used(Kind::Field, "b.v1.M", 2, "email");
        assert_eq!(Ledger::of(None, Some(&lock)).reuse(&unknown), None, "an unknown message");
    }

    #[test]
    fn an_extension_takes_numbers_from_whatever_held_them_in_its_message() {
        let mut lock = Lock::default();
        let mut enter = |package: &str, used: Use, fate| {
            lock.packages.entry(package.to_owned()).or_default().ledger.insert(used, fate);
        };
        let extension = |number, name| used(Kind::Extension, "a.v1.M", number, name);
        enter("a.v1", used(Kind::Field, "a.v1.M", 5, "id"), Fate::Gone);
        enter("a.v1", used(Kind::Value, "a.v1.M", 6, "SIX"), Fate::Gone);
        enter("b.v1", extension(100, "b.v1.note"), Fate::Gone);
        enter("b.v1", extension(101, "b.v1.kept"), Fate::Alive);
        enter("b.v1", used(Kind::Extension, "a.v1.N", 102, "b.v1.moved"), Fate::Gone);
        let reuse = |new: Use| {
            Ledger::of(None, Some(&lock)).reuse(&new).map(|it| (it.number_of, it.name_of))
        };
        let of_another = extension(100, "c.v1.note");
        assert_eq!(reuse(of_another), Some((Some("b.v1.note"), None)), "of another package");
        assert_eq!(reuse(extension(7, "b.v1.note")), Some((None, Some(100))), "its name");
        assert_eq!(reuse(extension(100, "b.v1.note")), None, "it is back");
        assert_eq!(reuse(extension(101, "b.v1.again")), None, "a rename told elsewhere");
        assert_eq!(reuse(extension(5, "c.v1.x")), Some((Some("id"), None)), "of a field");
        let field = used(Kind::Field, "a.v1.M", 100, "note");
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
            .insert(extension(101, "b.v1.kept"), Fate::Gone);
        let both = Ledger::of(Some(&lock), Some(&later));
        let reuse = |new: Use| both.reuse(&new).map(|it| (it.number_of, it.name_of));
        assert_eq!(reuse(extension(100, "c.v1.note")), Some((Some("b.v1.note"), None)));
        assert_eq!(reuse(extension(101, "b.v1.again")), Some((Some("b.v1.kept"), None)));
    }
}
