//! `abide.lock` as text: how it is read and written.

use std::fmt;
use std::str::FromStr;

use abide_hash::{Hashes, SemanticHash};
use abide_syntax::Span;
use jiff::civil::Date;
use semver::Version;

use super::{
    DependencyPin, EntryState, Freeze, Lock, NumberedName, PackageLock, Record, TextDigest,
    UNREADABLE, UseKind,
};
use crate::calendar::{parse_date, semantic_version};
use crate::finding::ConfigError;

/// The first word of the file, before the number of its format.
const FORMAT: &str = "abide-lock";
/// The only format so far.
const NEWEST: u32 = 1;
const HEADER: &str = "\
abide-lock 1
# Versions, hashes, and every number and name that was ever used. `abide bump --write` writes this
# file, and mends it after a merge.
";
/// The word after an element that is no longer in the tree.
const GONE: &str = "gone";
/// The first words of lines about the days of a package and about generated files.
const INTRODUCED: &str = "introduced";
const FROZEN: &str = "frozen";
const MADE: &str = "made";
/// Those of lines about what is outside of the tree.
const DEPENDENCY: &str = "dependency";
const BASE: &str = "base";
/// What the digest of a text begins with.
const DIGEST: &str = "sha256:";
/// How the package without a name is written.
const UNNAMED: &str = "-";
const REMEDY: &str = "restore the line from version control; if you delete the file instead, \
                      `abide bump --write` starts a new one without the numbers and names used \
                      before";

impl Lock {
    /// Reads `abide.lock`; every malformed line is an error.
    ///
    /// In a merge conflict both sides count: the record with the higher version
    /// wins, and the ledger is the union. [`Lock::is_unresolved`] says whether
    /// there was a conflict.
    pub fn parse(text: &str) -> Result<Lock, Vec<ConfigError>> {
        let mut reader =
            LockReader { text, lock: Lock::default(), days: Vec::new(), errors: Vec::new() };
        let uses = reader.lines();
        for (line, name, day) in std::mem::take(&mut reader.days) {
            reader.enter_day(line, name, day);
        }
        for (at, used, fate) in uses {
            reader.enter(at, used, fate);
        }
        if reader.errors.is_empty() {
            return Ok(reader.lock);
        }
        reader.errors.sort_by_key(|it| it.span.start);
        Err(reader.errors)
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
            if let Some(day) = package.introduced {
                writeln!(f, "{INTRODUCED} {name} {day}")?;
            }
            if let Some(Freeze { day, own }) = package.frozen {
                writeln!(f, "{FROZEN} {name} {day} {own}")?;
            }
            for (NumberedName { holder, kind, number, name }, fate) in &package.ledger {
                write!(f, "{} {holder} {number} {name}", kind.word())?;
                f.write_str(if *fate == EntryState::Gone { " gone\n" } else { "\n" })?;
            }
        }
        let made = || self.made.iter().flat_map(|(path, all)| all.iter().map(move |it| (path, it)));
        for (at, (path, digest)) in made().enumerate() {
            f.write_str(if at == 0 { "\n" } else { "" })?;
            writeln!(f, "{MADE} {digest} {path}")?;
        }
        self.write_pins(f)
    }
}

impl Lock {
    /// Writes what is recorded about things outside of the tree.
    fn write_pins(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, pins) in &self.dependencies {
            f.write_str("\n")?;
            for DependencyPin { url, rev, commit, content } in pins {
                writeln!(f, "{DEPENDENCY} {name} {commit} {DIGEST}{content} {url} {rev}")?;
            }
        }
        for (name, digests) in &self.bases {
            f.write_str("\n")?;
            for digest in digests {
                writeln!(f, "{BASE} {digest} {name}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for TextDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DIGEST)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl TextDigest {
    /// Reads what `Display` writes.
    fn parse(text: &str) -> Option<TextDigest> {
        let digits = text.strip_prefix(DIGEST).filter(|it| it.len() == 64 && it.is_ascii())?;
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = &digits[2 * at..2 * at + 2];
            let is_lower = pair.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
            *byte = u8::from_str_radix(pair, 16).ok().filter(|_| is_lower)?;
        }
        Some(TextDigest(bytes))
    }
}

/// A day in the life of a package.
enum PackageDay {
    Introduced(Date),
    Frozen(Freeze),
}

/// The part of a merge conflict that a line is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConflictSide {
    None,
    Ours,
    Base,
    Theirs,
}

struct LockReader<'a> {
    text: &'a str,
    lock: Lock,
    /// The days of packages, by line and name.
    days: Vec<(&'a str, &'a str, PackageDay)>,
    errors: Vec<ConfigError>,
}

impl<'a> LockReader<'a> {
    fn error(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        // Every part is a slice of the text.
        let start = at.as_ptr() as usize - self.text.as_ptr() as usize;
        let span = Span::new(start as u32, (start + at.len()) as u32);
        self.errors.push(ConfigError { message: message.into(), span, help: Some(help.into()) });
    }

    /// Reads every line. It returns the lines of the ledger and keeps the days,
    /// because packages are only known after all of them are read.
    fn lines(&mut self) -> Vec<(&'a str, NumberedName, EntryState)> {
        let mut uses = Vec::new();
        let mut side = ConflictSide::None;
        let mut opened = "";
        let mut is_first = true;
        for line in self.text.lines() {
            if let Some(next) = after_marker(line, side) {
                if side == ConflictSide::None {
                    opened = line;
                }
                side = next;
                self.lock.unresolved = true;
                continue;
            }
            // Both sides contain what the base contained.
            if side == ConflictSide::Base || line.trim().is_empty() {
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
        if side != ConflictSide::None {
            self.error(opened, "this merge conflict has no end", REMEDY);
        }
        // A truncated name could be mistaken for a whole one.
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            let last = self.text.lines().last().unwrap_or_default();
            self.error(last, "the file ends in the middle of this line", REMEDY);
        }
        if is_first {
            let message = format!("expected `{FORMAT} {NEWEST}` in the first line");
            self.error(&self.text[..0], message, REMEDY);
        }
        uses
    }

    /// Returns true if this is the first line of a file of a known format.
    fn header(&mut self, line: &'a str) -> bool {
        let format = line.strip_prefix(FORMAT).and_then(|it| it.strip_prefix(' '));
        match format.map(|it| (it, it.trim_end().parse::<u32>())) {
            Some((_, Ok(NEWEST))) => return true,
            Some((format, Ok(newer))) if newer > NEWEST => {
                let message =
                    format!("format {newer} is too new: this abide reads format {NEWEST}");
                self.error(format, message, "update abide");
            }
            _ => {
                let message = format!("expected `{FORMAT} {NEWEST}` in the first line");
                self.error(line, message, REMEDY);
            }
        }
        false
    }

    fn line(&mut self, line: &'a str) -> Option<(&'a str, NumberedName, EntryState)> {
        if line.contains(UNREADABLE) {
            self.error(line, "this line is not valid UTF-8", REMEDY);
            return None;
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (words, fate) = match &words[..] {
            // `gone` may also be a name.
            [rest @ .., GONE] if matches!(rest, ["package", _, ..] | [_, _, _, _]) => {
                (rest, EntryState::Gone)
            }
            all => (all, EntryState::Alive),
        };
        match *words {
            ["package", name] => self.package(name, None, fate),
            ["package", name, version, own, closure] => {
                let record = self.record(name, version, own, closure)?;
                self.package(name, Some(record), fate);
            }
            [MADE, digest, ..] => match TextDigest::parse(digest) {
                // A path may have spaces.
                Some(parsed) => {
                    let path = line.split_once(digest).map_or("", |(_, rest)| rest.trim());
                    self.lock.made.entry(path.to_owned()).or_default().insert(parsed);
                }
                None => {
                    let message = format!("expected `{DIGEST}` and 64 hexadecimal digits");
                    self.error(digest, message, REMEDY);
                }
            },
            [DEPENDENCY, name, commit, content, url, rev] => {
                self.dependency(name, [commit, content, url, rev]);
            }
            [BASE, digest, ..] => match TextDigest::parse(digest) {
                Some(parsed) => {
                    let name = line.split_once(digest).map_or("", |(_, rest)| rest.trim());
                    self.lock.bases.entry(name.to_owned()).or_default().insert(parsed);
                }
                None => {
                    let message = format!("expected `{DIGEST}` and 64 hexadecimal digits");
                    self.error(digest, message, REMEDY);
                }
            },
            [INTRODUCED, name, day] => {
                let day = self.day(day)?;
                self.days.push((line, unwritten(name), PackageDay::Introduced(day)));
            }
            [FROZEN, name, day, own] => {
                let (day, own) = (self.day(day), self.hash(own));
                let freeze = Freeze { day: day?, own: own? };
                self.days.push((line, unwritten(name), PackageDay::Frozen(freeze)));
            }
            [word, holder, number, name] if let Some(kind) = UseKind::named(word) => {
                let Ok(parsed) = i32::from_str(number) else {
                    self.error(number, format!("`{number}` is not a number"), REMEDY);
                    return None;
                };
                let (holder, name) = (holder.to_owned(), name.to_owned());
                return Some((line, NumberedName { holder, kind, number: parsed, name }, fate));
            }
            _ => {
                let message = "expected `package NAME VERSION OWN CLOSURE`, `introduced NAME DAY`, \
                               `frozen NAME DAY OWN`, `field MESSAGE NUMBER NAME`, `extension \
                               MESSAGE NUMBER NAME`, `value ENUM NUMBER NAME`, `made SHA256 PATH`, `dependency NAME \
                               COMMIT SHA256 URL REV` or `base SHA256 NAME`";
                self.error(line, message, REMEDY);
            }
        }
        None
    }

    /// A dependency. Two contents of one are the two sides of a merge.
    fn dependency(&mut self, name: &str, [commit, content, url, rev]: [&str; 4]) {
        if TextDigest::parse(content).is_none() {
            let message = format!("expected `{DIGEST}` and 64 hexadecimal digits");
            return self.error(content, message, "run `abide deps vendor` to write it anew");
        }
        let is_commit = |it: &str| it.len() >= 40 && it.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_commit(commit) {
            let message = format!("`{commit}` is not the id of a commit");
            return self.error(commit, message, "run `abide deps vendor` to write it anew");
        }
        let content = content.strip_prefix(DIGEST).unwrap_or(content);
        let [url, rev, commit, content] = [url, rev, commit, content].map(str::to_owned);
        let pins = self.lock.dependencies.entry(name.to_owned()).or_default();
        pins.insert(DependencyPin { url, rev, commit, content });
        self.lock.unresolved |= pins.len() > 1;
    }

    fn hash(&mut self, text: &str) -> Option<SemanticHash> {
        SemanticHash::from_str(text)
            .map_err(|error| self.error(text, error.to_string(), REMEDY))
            .ok()
    }

    fn day(&mut self, text: &str) -> Option<Date> {
        let day = parse_date(text);
        if day.is_none() {
            self.error(text, format!("`{text}` is not a day like 2026-06-30"), REMEDY);
        }
        day
    }

    fn record(&mut self, name: &str, version: &str, own: &str, closure: &str) -> Option<Record> {
        let (own, closure) = (self.hash(own), self.hash(closure));
        let parsed = match Version::parse(version) {
            Ok(parsed) if semantic_version::fits(&parsed, unwritten(name)) => parsed,
            Ok(_) => {
                let first = semantic_version::first(unwritten(name));
                let message = format!("`{name}` has versions like `{first}`, not `{version}`");
                self.error(version, message, REMEDY);
                return None;
            }
            Err(_) => {
                self.error(version, format!("`{version}` is not a semantic version"), REMEDY);
                return None;
            }
        };
        Some(Record { version: parsed, hashes: Hashes { own: own?, closure: closure? } })
    }

    fn package(&mut self, name: &str, record: Option<Record>, fate: EntryState) {
        let gone = fate == EntryState::Gone;
        let new = PackageLock { record, gone, ..PackageLock::default() };
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

    /// Of two days, as of the two sides of a merge, the earlier one counts.
    fn enter_day(&mut self, line: &str, name: &str, day: PackageDay) {
        let Some(package) = self.lock.packages.get_mut(name) else {
            return self.error(line, format!("no line declares the package `{name}`"), REMEDY);
        };
        match day {
            PackageDay::Introduced(day) => {
                package.introduced = Some(package.introduced.map_or(day, |known| known.min(day)));
            }
            PackageDay::Frozen(freeze) => {
                let known = package.frozen.get_or_insert(freeze);
                *known = if freeze.day < known.day { freeze } else { *known };
            }
        }
    }

    /// Puts a use into the ledger of its package: the one with the longest name
    /// that is a prefix of its scope.
    fn enter(&mut self, line: &str, used: NumberedName, fate: EntryState) {
        let mut name = used.scope();
        while !name.is_empty() && !self.lock.packages.contains_key(name) {
            name = name.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        let name = name.to_owned();
        let Some(package) = self.lock.packages.get_mut(&name) else {
            let known = if used.scope().is_empty() { &used.name } else { used.scope() };
            let message = format!("no line declares the package of `{known}`");
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

/// The part of a conflict that begins after a line, if the line is a marker of
/// git.
fn after_marker(line: &str, side: ConflictSide) -> Option<ConflictSide> {
    let mark = line.split(' ').next().unwrap_or_default();
    match (mark, side) {
        ("<<<<<<<", ConflictSide::None) => Some(ConflictSide::Ours),
        ("|||||||", ConflictSide::Ours) => Some(ConflictSide::Base),
        ("=======", ConflictSide::Ours | ConflictSide::Base) => Some(ConflictSide::Theirs),
        (">>>>>>>", ConflictSide::Theirs) => Some(ConflictSide::None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn hashes(seed: u8) -> Hashes {
        Hashes { own: SemanticHash::new([seed; 32]), closure: SemanticHash::new([!seed; 32]) }
    }

    fn used(kind: UseKind, holder: &str, number: i32, name: &str) -> NumberedName {
        NumberedName { holder: holder.to_owned(), kind, number, name: name.to_owned() }
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
                let version = semantic_version::first(name);
                let version = (0..random.u8(..4)).fold(version, |it, _| {
                    semantic_version::next(&it, crate::finding::Bump::Minor)
                });
                package.record = Some(Record { version, hashes: hashes(random.u8(..)) });
            }
            let day = |random: &mut fastrand::Rng| jiff::civil::date(2026, 6, random.i8(1..31));
            package.introduced = random.bool().then(|| day(random));
            let freeze = Freeze { day: day(random), own: hashes(random.u8(..)).own };
            package.frozen = random.bool().then_some(freeze);
            package.gone = random.u8(..4) == 0;
            for _ in 0..random.usize(..6) {
                let kind = random.choice(UseKind::ALL).expect("there are kinds");
                let mut holder = if name.is_empty() { "Top".into() } else { format!("{name}.Top") };
                let mut named = (*random.choice(NAMES).expect("there are names")).to_owned();
                if kind == UseKind::Extension {
                    named = if name.is_empty() { named } else { format!("{name}.{named}") };
                    holder =
                        ["google.protobuf.FieldOptions", "acme.v1.Top"][random.usize(..2)].into();
                }
                let fate = if random.bool() { EntryState::Alive } else { EntryState::Gone };
                package.ledger.insert(used(kind, &holder, random.i32(-3..12), &named), fate);
            }
        }
        for path in ["a/v2alpha/a.proto", "with space/b.proto", "made"] {
            if random.bool() {
                lock.set_made(path, &[random.u8(..)]);
            }
        }
        if random.bool() {
            let pin = DependencyPin {
                url: "https://example.com/a.git".to_owned(),
                rev: "v1".to_owned(),
                commit: "0123456789".repeat(4),
                content: "0123456789abcdef".repeat(4),
            };
            lock.set_dependency("a-b", pin);
        }
        if random.bool() {
            lock.set_bases([("git:v1:with space/abide.toml", &b"x"[..])].into_iter());
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
                let mut union: BTreeMap<&NumberedName, EntryState> = BTreeMap::new();
                for (used, fate) in sides.iter().flat_map(|it| &it.ledger) {
                    let known = union.entry(used).or_insert(*fate);
                    *known = (*known).max(*fate);
                }
                assert!(package.ledger.iter().map(|(it, fate)| (it, *fate)).eq(union), "{text}");
                let version = |it: &PackageLock| it.record.as_ref().map(|it| it.version.clone());
                assert_eq!(version(package), sides.iter().filter_map(|it| version(it)).max());
                let first = sides.iter().filter_map(|it| it.introduced).min();
                assert_eq!(package.introduced, first, "{text}");
                let first = sides.iter().filter_map(|it| it.frozen).map(|it| it.day).min();
                assert_eq!(package.frozen.map(|it| it.day), first, "{text}");
                assert_eq!(package.gone, sides.iter().all(|it| it.gone));
            }
            for (path, digests) in &both.made {
                let sides = [&ours, &theirs].map(|it| it.made.get(path));
                let union: BTreeSet<_> = sides.into_iter().flatten().flatten().collect();
                assert!(digests.iter().eq(union), "{text}");
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
            ("abide-lock 2\nwhatever\n", 11, "format 2 is too new: this abide reads format 1"),
            ("abide-lock one\n", 0, "expected `abide-lock 1` in the first line"),
            ("abide-lock 1\npackage a.v1 1.0\n", 13, "expected `package NAME VERSION OWN CLOSURE`"),
            (
                &format!("abide-lock 1\npackage a.v1 1.0 {hash} {hash}\n"),
                26,
                "`1.0` is not a semantic version",
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
            ("abide-lock 1\npackage a\nfield a.M one id\n", 33, "`one` is not a number"),
            (
                "abide-lock 1\npackage a\nfield b.M 1 id\n",
                23,
                "no line declares the package of `b.M`",
            ),
            (
                "abide-lock 1\npackage a\nextension a.M 1 id\n",
                23,
                "no line declares the package of `id`",
            ),
            ("abide-lock 1\npackage a\nmessage a.M 1 id\n", 23, "expected `package NAME"),
            ("abide-lock 1\nintroduced a 2026-06-30\n", 13, "no line declares the package `a`"),
            ("abide-lock 1\npackage a\nintroduced a June\n", 36, "`June` is not a day"),
            ("abide-lock 1\npackage a\nfrozen a 2026-06-30 x\n", 43, "a semantic hash is"),
            ("abide-lock 1\nmade sha256:0 a.proto\n", 18, "expected `sha256:` and 64"),
            ("abide-lock 1\n<<<<<<< ours\npackage a\n", 13, "this merge conflict has no end"),
            (
                "abide-lock 1\npackage a\nfield a.M 1 i",
                23,
                "the file ends in the middle of this line",
            ),
            (
                "abide-lock 1\npackage a\nfield a.M 1 i\u{fffd}\n",
                23,
                "this line is not valid UTF-8",
            ),
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
        assert!(lock.packages["a.v1"].ledger.values().all(|it| *it == EntryState::Alive));
    }
}
