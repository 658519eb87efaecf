//! Since which version each element of an API exists, is deprecated, is refused
//! by default, and is gone: what a client of some version understands.
//!
//! An element is a name with a number: a field that is renamed or renumbered is
//! another one, because clients know it by both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{Element, File};
use jiff::civil::Date;
use semver::Version;

use crate::calendar::Calendar;

/// What a file says about one of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementFacts {
    /// Which element.
    pub id: ElementId,
    /// True if it is deprecated.
    pub deprecated: bool,
    /// True if servers refuse it unless an operator allows it.
    pub disallowed: bool,
}

/// Which element of a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementId {
    /// Its full name.
    pub name: String,
    /// The number of a field, an extension or an enum value.
    pub number: Option<i32>,
    /// The noun for it in a sentence.
    pub noun: &'static str,
}

impl ElementFacts {
    /// The elements of a file, without those that the compiler adds for maps.
    pub fn of_file(file: File<'_>) -> Vec<ElementFacts> {
        file.elements().filter(|it| !is_of_map(*it)).map(ElementFacts::of).collect()
    }

    /// Returns what is said about an element.
    pub fn of(element: Element<'_>) -> ElementFacts {
        let number = match element {
            Element::Field(field) => Some(field.number()),
            Element::EnumValue(value) => Some(value.number()),
            _ => None,
        };
        ElementFacts {
            id: ElementId { name: element.full_name(), number, noun: element.noun() },
            deprecated: element.deprecated().is_some(),
            disallowed: element.disallowed_by_default().is_some(),
        }
    }
}

fn is_of_map(element: Element<'_>) -> bool {
    match element {
        Element::Message(message) => message.is_map_entry(),
        _ => element.parent().is_some_and(is_of_map),
    }
}

/// When something happened to an element, as far as it is known. If nothing is
/// known, it happened before the first known revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryPoint {
    /// The first version of the package in which it is so; `None` as long as no
    /// version is recorded, and if the package is gone.
    pub version: Option<Version>,
    /// The day.
    pub day: Option<Date>,
    /// The revision, such as the id of a commit.
    pub revision: Option<Arc<str>>,
    /// True if the next version that is recorded is the first one in which it is so.
    pub unreleased: bool,
}

/// The life of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementHistory {
    /// Which element.
    pub id: ElementId,
    /// The package that declares it.
    pub package: String,
    /// Since when it exists.
    pub appeared: HistoryPoint,
    /// Since when it is deprecated.
    pub deprecated: Option<HistoryPoint>,
    /// Since when servers refuse it unless an operator allows it.
    pub disallowed: Option<HistoryPoint>,
    /// Since when it is gone.
    pub removed: Option<HistoryPoint>,
}

impl ElementHistory {
    fn moments(&mut self) -> impl Iterator<Item = &mut HistoryPoint> {
        let ElementHistory { appeared, deprecated, disallowed, removed, .. } = self;
        std::iter::once(appeared).chain([deprecated, disallowed, removed].into_iter().flatten())
    }

    fn record(&mut self, recorded: &Version) {
        for moment in self.moments() {
            if std::mem::take(&mut moment.unreleased) {
                moment.version = Some(recorded.clone());
            }
        }
    }

    /// Returns true if no version ever had it.
    fn is_unreleased(&self) -> bool {
        self.appeared.unreleased
    }
}

/// The elements of some files, sorted by package, name and number, with what their
/// annotations say about their lives.
pub fn elements<'t>(
    files: impl Iterator<Item = File<'t>>,
    calendar: &Calendar,
) -> Vec<ElementHistory> {
    let of_file = |file: File<'t>| {
        file.elements().filter(|it| !is_of_map(*it)).map(move |element| {
            let ElementFacts { id, deprecated, disallowed } = ElementFacts::of(element);
            let since = element.deprecated_since().map(|(text, _)| text);
            ElementHistory {
                id,
                package: element.package().name().to_owned(),
                appeared: HistoryPoint::default(),
                deprecated: deprecated.then(|| HistoryPoint {
                    version: since.and_then(version_of),
                    day: since.and_then(|text| calendar.day_of(text)),
                    ..HistoryPoint::default()
                }),
                disallowed: disallowed.then(HistoryPoint::default),
                removed: None,
            }
        })
    };
    let mut lives: Vec<ElementHistory> = files.flat_map(of_file).collect();
    sort(&mut lives);
    lives
}

/// The version that `deprecated_at` names, with zeros for what is left out.
fn version_of(text: &str) -> Option<Version> {
    let zeros = 2_usize.checked_sub(text.matches('.').count())?;
    Version::parse(&format!("{text}{}", ".0".repeat(zeros))).ok()
}

fn sort(lives: &mut [ElementHistory]) {
    lives.sort_by(|a, b| (&a.package, &a.id).cmp(&(&b.package, &b.id)));
}

/// The lives of the elements of a tree that changes file by file.
#[derive(Debug, Default)]
pub struct ElementHistoryBuilder {
    alive: BTreeMap<ElementId, ElementHistory>,
    past: Vec<ElementHistory>,
    /// The elements of each file.
    files: BTreeMap<String, Vec<ElementId>>,
    /// The living elements, by package, of which something happened that no version
    /// records yet; and the past ones, by their index.
    unrecorded: BTreeMap<String, BTreeSet<ElementId>>,
    unrecorded_past: BTreeMap<String, Vec<usize>>,
}

/// What a file holds now: its package and its elements. `None` if it is gone.
pub type FileElements = Option<(String, Vec<ElementFacts>)>;

impl ElementHistoryBuilder {
    /// The state before the first step: what exists then appeared earlier.
    pub fn begin(&mut self, files: BTreeMap<String, FileElements>) {
        self.step(files, |_| HistoryPoint::default());
    }

    /// Applies the changes of some files. `moment` says when they happened, for a
    /// package.
    pub fn step(
        &mut self,
        files: BTreeMap<String, FileElements>,
        moment: impl Fn(&str) -> HistoryPoint,
    ) {
        let mut gone: BTreeSet<ElementId> = BTreeSet::new();
        for path in files.keys() {
            gone.extend(self.files.remove(path).into_iter().flatten());
        }
        for (path, elements) in files {
            let Some((package, elements)) = elements else { continue };
            let ids = elements.iter().map(|it| it.id.clone()).collect();
            self.files.insert(path, ids);
            for facts in elements {
                // It may come from another file of the tree.
                gone.remove(&facts.id);
                self.set(&package, facts, &moment);
            }
        }
        for id in gone {
            let Some(mut life) = self.alive.remove(&id) else { continue };
            if let Some(unrecorded) = self.unrecorded.get_mut(&life.package) {
                unrecorded.remove(&id);
            }
            if life.is_unreleased() {
                continue;
            }
            let removed = moment(&life.package);
            if removed.unreleased {
                let index = self.past.len();
                self.unrecorded_past.entry(life.package.clone()).or_default().push(index);
            }
            life.removed = Some(removed);
            self.past.push(life);
        }
    }

    fn set(&mut self, package: &str, facts: ElementFacts, moment: impl Fn(&str) -> HistoryPoint) {
        let life = self.alive.entry(facts.id.clone()).or_insert_with(|| ElementHistory {
            id: facts.id.clone(),
            package: package.to_owned(),
            appeared: moment(package),
            deprecated: None,
            disallowed: None,
            removed: None,
        });
        for (is, known) in
            [(facts.deprecated, &mut life.deprecated), (facts.disallowed, &mut life.disallowed)]
        {
            match is {
                true if known.is_none() => *known = Some(moment(package)),
                true => {}
                false => *known = None,
            }
        }
        if life.moments().any(|it| it.unreleased) {
            self.unrecorded.entry(package.to_owned()).or_default().insert(facts.id);
        }
    }

    /// A version of a package is recorded: what happened since the last one happened
    /// in this one.
    pub fn record(&mut self, package: &str, version: &Version) {
        for id in self.unrecorded.remove(package).unwrap_or_default() {
            if let Some(life) = self.alive.get_mut(&id) {
                life.record(version);
            }
        }
        for index in self.unrecorded_past.remove(package).unwrap_or_default() {
            self.past[index].record(version);
        }
    }

    /// All lives, sorted by package, name and number; of several lives of one
    /// element, the earlier comes first.
    pub fn finish(self) -> Vec<ElementHistory> {
        let mut lives = self.past;
        lives.extend(self.alive.into_values());
        sort(&mut lives);
        lives
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn facts(name: &str, number: i32, phase: u8) -> ElementFacts {
        let id = ElementId { name: name.to_owned(), number: Some(number), noun: "field" };
        ElementFacts { id, deprecated: phase > 0, disallowed: phase > 1 }
    }

    fn files(elements: &[ElementFacts]) -> BTreeMap<String, FileElements> {
        BTreeMap::from([("a.proto".to_owned(), Some(("a.v1".to_owned(), elements.to_vec())))])
    }

    fn at(day: i8, version: Option<u64>) -> HistoryPoint {
        let version = version.map(|minor| Version::new(1, minor, 0));
        let unreleased = version.is_none();
        HistoryPoint {
            version,
            day: Some(date(2026, 1, day)),
            revision: Some("r".into()),
            unreleased,
        }
    }

    #[test]
    fn what_happens_belongs_to_the_next_version_that_is_recorded() {
        let mut lives = ElementHistoryBuilder::default();
        lives.begin(files(&[facts("a.v1.M.old", 1, 0)]));
        lives.step(files(&[facts("a.v1.M.old", 1, 1), facts("a.v1.M.new", 2, 0)]), |_| at(2, None));
        lives.record("a.v1", &Version::new(1, 1, 0));
        lives.step(files(&[facts("a.v1.M.new", 2, 2)]), |_| at(3, None));
        lives.step(files(&[facts("a.v1.M.new", 2, 2), facts("a.v1.M.x", 3, 0)]), |_| at(4, None));
        // Nobody ever saw the field that comes and goes between two versions.
        lives.step(files(&[facts("a.v1.M.new", 2, 2)]), |_| at(5, None));
        lives.record("a.v1", &Version::new(1, 2, 0));
        let lives = lives.finish();
        let told: Vec<_> = lives.iter().map(|it| (it.id.name.as_str(), it.id.number)).collect();
        assert_eq!(told, [("a.v1.M.new", Some(2)), ("a.v1.M.old", Some(1))]);
        let [new, old] = &lives[..] else { panic!("there are two") };
        assert_eq!(new.appeared, at(2, Some(1)));
        assert_eq!(new.deprecated, Some(at(3, Some(2))));
        assert_eq!(new.disallowed, Some(at(3, Some(2))));
        assert_eq!(new.removed, None);
        assert_eq!(old.appeared, HistoryPoint::default());
        assert_eq!(old.deprecated, Some(at(2, Some(1))));
        assert_eq!(old.removed, Some(at(3, Some(2))));
    }

    #[test]
    fn an_element_that_moves_to_another_file_lives_on_and_one_that_returns_lives_twice() {
        let mut lives = ElementHistoryBuilder::default();
        lives.step(files(&[facts("a.v1.M.id", 1, 0)]), |_| at(1, Some(0)));
        let mut moved = files(&[]);
        let there = Some(("a.v1".to_owned(), vec![facts("a.v1.M.id", 1, 0)]));
        moved.insert("b.proto".to_owned(), there);
        lives.step(moved, |_| at(2, Some(1)));
        lives.step(BTreeMap::from([("b.proto".to_owned(), None)]), |_| at(3, Some(2)));
        lives.step(files(&[facts("a.v1.M.id", 1, 0)]), |_| at(4, Some(3)));
        let lives = lives.finish();
        let told: Vec<_> = lives.into_iter().map(|it| (it.appeared, it.removed)).collect();
        assert_eq!(told, [(at(1, Some(0)), Some(at(3, Some(2)))), (at(4, Some(3)), None)]);
    }
}
