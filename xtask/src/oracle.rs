//! `cargo xtask oracle`: compares Abide with programs that others wrote.
//!
//! Trees are built as the real protoc builds them, to the byte; what protoc refuses is refused
//! on the same line; and each part holds another of our claims against what decides about it.

mod breaking;
mod browser;
mod diff;
mod editor;
mod findings;
mod fix;
mod gapic;
mod hash;
mod history;
mod instances;
mod judged;
mod layout;
mod moving;
mod peers;
mod plugins;
mod protovalidate;
mod reading;
mod release;
mod requirements;
mod runtime;
mod serving;
mod sets;
mod shutdown;
mod sources;
mod symbols;
mod translate;
mod upgrade;
mod validation;
mod verdicts;
mod versions;
mod wire;
mod witnesses;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use self::diff::Counts;
use self::sets::compare;
use crate::corpora::{self, Corpus};
use crate::task::{Place, Result};
use crate::tools::{Protoc, abide};

/// A part: its name, and what runs it; true if nothing differs.
type Part = (&'static str, fn(&Means<'_>) -> Result<bool>);

/// The parts besides the trees, in their order.
const PARTS: &[Part] = &[
    ("requirements", |it| requirements::run(it.place)),
    ("runtime", |it| runtime::run(it.abide()?)),
    ("moving", |it| moving::run(it.place)),
    ("peers", |_| peers::run()),
    ("editor", |it| editor::run(it.abide()?)),
    ("instances", |it| instances::run(it.abide()?, it.show)),
    ("translate", |it| translate::run(it.place, it.abide()?)),
    ("serving", |it| serving::run(it.place)),
    ("page", |it| serving::page::run(it.place)),
    ("restart", |it| serving::restart::run(it.place)),
    ("shutdown", |it| shutdown::run(it.place)),
    ("sources", |it| sources::run(it.place)),
    ("reading", |it| reading::run(it.protoc()?, it.show)),
    ("validation", |it| validation::run(it.protoc()?, it.show)),
    ("protovalidate", |it| protovalidate::run(it.protoc()?, it.abide()?)),
    ("history", |it| history::run(it.abide()?)),
    ("findings", |it| findings::run(it.abide()?)),
    ("versions", |it| versions::run(it.abide()?)),
    ("plugins", |it| plugins::run(it.archives()?, it.protoc()?, it.abide()?, it.show)),
    ("hash", hashes),
    ("verdicts", |it| verdicts::run(it.protoc()?, it.abide()?)),
    ("breaking", |it| breaking::run(it.archives()?, it.protoc()?, it.abide()?, it.show)),
    ("symbols", |it| symbols::run(it.archives()?, it.protoc()?, it.show)),
    ("gapic", |it| gapic::run(it.protoc()?, it.abide()?, it.show)),
    ("layout", |it| {
        let trees = [it.archives()?, &[it.own()?, it.googleapis()?]].concat();
        layout::run(&trees, it.protoc()?, it.show)
    }),
    ("fix", |it| {
        let trees = [it.archives()?, &[it.googleapis()?]].concat();
        fix::run(&trees, it.protoc()?, it.abide()?, it.show)
    }),
    ("upgrade", |it| {
        upgrade::run(it.archives()?, &it.googleapis()?, it.protoc()?, it.abide()?, it.show)
    }),
];

/// The names of trees that are not archives.
const OWN: &str = "own";
const GOOGLEAPIS: &str = "googleapis";

/// What parts compare, and with what: found or made when the first of them asks.
struct Means<'a> {
    place: &'a Place,
    /// How many differences are shown.
    show: usize,
    protoc: OnceCell<Protoc>,
    abide: OnceCell<PathBuf>,
    archives: OnceCell<Vec<Corpus>>,
}

impl Means<'_> {
    fn protoc(&self) -> Result<&Protoc> {
        once(&self.protoc, || {
            let protoc = Protoc::find()?;
            println!("oracle: {}", protoc.version);
            Ok(protoc)
        })
    }

    fn abide(&self) -> Result<&Path> {
        Ok(once(&self.abide, || abide(self.place.abide.as_deref()))?)
    }

    fn archives(&self) -> Result<&[Corpus]> {
        Ok(once(&self.archives, || corpora::archives(self.place))?)
    }

    fn own(&self) -> Result<Corpus> {
        corpora::own()
    }

    fn googleapis(&self) -> Result<Corpus> {
        corpora::googleapis(self.place)
    }
}

/// What is made once.
fn once<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

/// Compares all requested parts; true if nothing differs.
pub(crate) fn run(place: &Place, only: &[String], show: usize) -> Result<bool> {
    let (protoc, abide, archives) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
    let means = Means { place, show, protoc, abide, archives };
    for name in only.iter().filter(|it| !is_part(it) && *it != OWN && *it != GOOGLEAPIS) {
        if !means.archives()?.iter().any(|tree| tree.name == *name) {
            let parts: Vec<&str> = PARTS.iter().map(|(part, _)| *part).collect();
            return Err(format!("there is no part `{name}`: {}", parts.join(", ")).into());
        }
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|part| part == name);
    let of_trees = only.is_empty() || only.iter().any(|name| !is_part(name));
    let mut different = Vec::new();
    if of_trees && !trees(&means, &wanted)? {
        different.push("trees");
    }
    for (name, part) in PARTS.iter().filter(|(name, _)| wanted(name)) {
        // The others are looked at all the same.
        let agrees = part(&means).unwrap_or_else(|error| {
            println!("oracle: `{name}` did not get to its end: {error}");
            false
        });
        if !agrees {
            different.push(name);
        }
    }
    if !different.is_empty() {
        println!("oracle: not all agrees in: {}", different.join(", "));
    }
    Ok(different.is_empty())
}

/// Whether a part has this name.
fn is_part(name: &str) -> bool {
    PARTS.iter().any(|(part, _)| *part == name)
}

/// Builds trees as protoc does.
fn trees(means: &Means<'_>, wanted: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut trees: Vec<Corpus> = Vec::new();
    if wanted(OWN) {
        trees.push(means.own()?);
    }
    trees.extend(means.archives()?.iter().filter(|tree| wanted(&tree.name)).cloned());
    if wanted(GOOGLEAPIS) {
        trees.push(means.googleapis()?);
    }
    let mut total = Counts::default();
    let mut different = 0;
    for tree in &trees {
        let (counts, differences) = compare(tree, means.protoc()?, means.abide()?, means.show)?;
        println!("{}: {counts}; {differences} differences", tree.name);
        if counts.files() == 0 {
            return Err(format!("nothing was compared in `{}`", tree.name).into());
        }
        total += &counts;
        different += differences;
    }
    println!("all trees: {total}; {different} differences");
    Ok(different == 0)
}

/// Compares hashes of every tree.
fn hashes(means: &Means<'_>) -> Result<bool> {
    let mut agreed = true;
    for tree in [&[means.own()?], means.archives()?, &[means.googleapis()?]].concat() {
        agreed &= hash::run(&tree, means.protoc()?, means.abide()?, means.show)?;
    }
    Ok(agreed)
}
