//! `cargo xtask oracle`: compares Abide with programs that others wrote.
//!
//! Trees are built as the real protoc builds them, to the byte; what protoc refuses is refused
//! on the same line; and each part holds another of our claims against what decides about it.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program at the edge: it runs others, reads and writes files, and prints"
)]

mod buf;
mod edits;
mod envoy;
mod generators;
mod judged_pairs;
mod pages;
mod protoc;
mod remote;
mod requirements;
mod runtimes;
mod serving;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, abide};
use abide_harness::{ExternalPaths, Result, exit_code};
use clap::Parser;

use self::buf::{breaking, hidden, moving, peers, plugins, protovalidate};
use self::edits::{edition, fix, layout, upgrade, versions};
use self::envoy::{instances, runtime, shutdown, translate};
use self::generators::{gapic, symbols};
use self::pages::{editor, findings, history};
use self::protoc::diff::Counts;
use self::protoc::sets::compare;
use self::protoc::{editions, hash, verdicts};
use self::runtimes::{reading, validation};
use self::serving::sources;

/// Check that Abide agrees with protoc, buf, code generators and other libraries.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    paths: ExternalPaths,
    /// Run only these parts, such as `hash` or `instances`, or the trees of these names: `own`,
    /// `googleapis`, or an archive. An unknown name lists all parts
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The number of differences to print for each file.
    #[arg(long, default_value_t = 5)]
    show: usize,
}

fn main() -> ExitCode {
    let Arguments { paths, only, show } = Arguments::parse();
    exit_code("oracle", run_parts(&paths, &only, show))
}

/// A part: its name, and what runs it; true if nothing differs.
type Part = (&'static str, fn(&Means<'_>) -> Result<bool>);

/// The parts besides the trees, in their order.
const PARTS: &[Part] = &[
    ("requirements", |means| requirements::run(means.paths)),
    ("runtime", |means| runtime::run(means.abide()?)),
    ("moving", |means| moving::run(means.paths)),
    ("peers", |_| peers::run()),
    ("editor", |means| editor::run(means.abide()?)),
    ("instances", |means| instances::run(means.abide()?, means.show)),
    ("translate", |means| translate::run(means.paths, means.abide()?)),
    ("serving", |means| serving::run(means.paths)),
    ("page", |means| serving::page::run(means.paths)),
    ("restart", |means| serving::restart::run(means.paths)),
    ("shutdown", |means| shutdown::run(means.paths)),
    ("sources", |means| sources::run(means.paths)),
    ("remote", |means| remote::run(means.paths, means.newest()?, means.abide()?)),
    ("reading", |means| reading::run(means.protoc()?, means.show)),
    ("validation", |means| validation::run(means.protoc()?, means.show)),
    ("protovalidate", |means| protovalidate::run(means.protoc()?, means.abide()?)),
    ("history", |means| history::run(means.abide()?)),
    ("findings", |means| findings::run(means.abide()?)),
    ("versions", |means| versions::run(means.abide()?)),
    ("plugins", |means| {
        plugins::run(means.archives()?, means.protoc()?, means.abide()?, means.show)
    }),
    ("hash", hashes),
    ("verdicts", |means| verdicts::run(means.newest()?, means.abide()?)),
    ("editions", |_| editions::run(&Protoc::find_newest_installed()?)),
    ("breaking", |means| {
        breaking::run(means.archives()?, means.protoc()?, means.abide()?, means.show)
    }),
    ("hidden", |means| hidden::run(means.abide()?)),
    ("symbols", |means| symbols::run(means.archives()?, means.protoc()?, means.show)),
    ("gapic", |means| gapic::run(means.protoc()?, means.abide()?, means.show)),
    ("layout", |means| {
        let trees = [means.archives()?, &[means.own()?, means.googleapis()?]].concat();
        layout::run(&trees, means.newest()?, means.show)
    }),
    ("edition", |means| {
        let is_wanted = |it: &&Corpus| matches!(&*it.name, "envoy-head" | "envoy-v2-to-v3");
        let mut trees: Vec<Corpus> = means.archives()?.iter().filter(is_wanted).cloned().collect();
        trees.push(means.googleapis()?);
        edition::run(&trees, means.newest()?, means.abide()?, means.show)
    }),
    ("fix", |means| {
        let trees = [means.archives()?, &[means.googleapis()?]].concat();
        fix::run(&trees, means.protoc()?, means.abide()?, means.show)
    }),
    ("upgrade", |means| {
        upgrade::run(
            means.archives()?,
            &means.googleapis()?,
            means.protoc()?,
            means.abide()?,
            means.show,
        )
    }),
];

/// The names of trees that are not archives.
const OWN: &str = "own";
const GOOGLEAPIS: &str = "googleapis";

/// What parts compare, and with what: found or made when the first of them asks.
struct Means<'a> {
    paths: &'a ExternalPaths,
    /// How many differences are shown.
    show: usize,
    /// The protoc that generates code beside the gRPC of Python.
    protoc: OnceCell<Protoc>,
    /// The protoc whose verdicts and bytes are ours.
    newest: OnceCell<Protoc>,
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

    fn newest(&self) -> Result<&Protoc> {
        once(&self.newest, || {
            let protoc = Protoc::find_newest()?;
            println!("oracle: {}", protoc.version);
            Ok(protoc)
        })
    }

    fn abide(&self) -> Result<&Path> {
        Ok(once(&self.abide, || abide(self.paths.abide.as_deref()))?)
    }

    fn archives(&self) -> Result<&[Corpus]> {
        Ok(once(&self.archives, || corpora::unpack_archives(self.paths))?)
    }

    fn own(&self) -> Result<Corpus> {
        corpora::own()
    }

    fn googleapis(&self) -> Result<Corpus> {
        corpora::googleapis(self.paths)
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
fn run_parts(paths: &ExternalPaths, only: &[String], show: usize) -> Result<bool> {
    let means = Means {
        paths,
        show,
        protoc: OnceCell::new(),
        newest: OnceCell::new(),
        abide: OnceCell::new(),
        archives: OnceCell::new(),
    };
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
        let (counts, differences) = compare(tree, means.newest()?, means.abide()?, means.show)?;
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
        agreed &= hash::run(&tree, means.newest()?, means.abide()?, means.show)?;
    }
    Ok(agreed)
}
