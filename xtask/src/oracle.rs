//! `cargo xtask oracle`: checks that Abide reads protos as the real protoc does.
//!
//! `abide build` must write the same bytes as protoc for each file of the set, and
//! `abide check` must refuse what protoc refuses, on the same line.

mod breaking;
mod browser;
mod diff;
mod editor;
mod findings;
mod fix;
mod gapic;
mod hash;
mod history;
mod judged;
mod layout;
mod moving;
mod peers;
mod protovalidate;
mod release;
mod requirements;
mod serving;
mod sets;
mod symbols;
mod upgrade;
mod validation;
mod verdicts;
mod versions;
mod wire;
mod witnesses;

use self::diff::Counts;
use self::sets::compare;
use crate::corpora::{self, Corpus};
use crate::task::{Place, Result};
use crate::tools::{Protoc, abide};

/// The parts besides the trees.
const PARTS: &[&str] = &[
    "own",
    "googleapis",
    "hash",
    "history",
    "findings",
    "editor",
    "verdicts",
    "breaking",
    "moving",
    "peers",
    "protovalidate",
    "validation",
    "symbols",
    "gapic",
    "layout",
    "fix",
    "upgrade",
    "versions",
    "requirements",
    "serving",
];

/// Compares all requested parts; true if nothing differs.
pub(crate) fn run(place: &Place, only: &[String], show: usize) -> Result<bool> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|part| part == name);
    let mut agreed = true;
    if wanted("requirements") {
        agreed &= requirements::run(place, PARTS)?;
    }
    if !only.is_empty() && only.iter().all(|part| part == "requirements") {
        return Ok(agreed);
    }
    if wanted("moving") {
        agreed &= moving::run(place)?;
    }
    if wanted("peers") {
        agreed &= peers::run()?;
    }
    if !only.is_empty() && only.iter().all(|part| ["moving", "peers"].contains(&part.as_str())) {
        return Ok(agreed);
    }
    if wanted("serving") {
        agreed &= serving::run(place)?;
    }
    if !only.is_empty() && only.iter().all(|part| part == "serving") {
        return Ok(agreed);
    }
    if wanted("editor") {
        agreed &= editor::run(&abide(place.abide.as_deref())?)?;
    }
    if !only.is_empty() && only.iter().all(|part| part == "editor") {
        return Ok(agreed);
    }
    let protoc = Protoc::find()?;
    println!("oracle: {}", protoc.version);
    if wanted("validation") {
        agreed &= validation::run(&protoc, show)?;
    }
    if !only.is_empty() && only.iter().all(|part| part == "validation") {
        return Ok(agreed);
    }
    let abide = abide(place.abide.as_deref())?;
    if wanted("protovalidate") {
        agreed &= protovalidate::run(&protoc, &abide)?;
    }
    if wanted("history") {
        agreed &= history::run(&abide)?;
    }
    if wanted("findings") {
        agreed &= findings::run(&abide)?;
    }
    if wanted("versions") {
        agreed &= versions::run(&abide)?;
    }

    let archives = corpora::archives(place)?;
    let mut corpora = Vec::new();
    let hashed = wanted("hash");
    if hashed || wanted("own") {
        corpora.push(corpora::own()?);
    }
    let chosen = |corpus: &&Corpus| hashed || wanted(&corpus.name);
    corpora.extend(archives.iter().filter(chosen).cloned());
    if hashed || wanted("googleapis") {
        corpora.push(corpora::googleapis(place)?);
    }

    let named = |part: &String| {
        PARTS.contains(&part.as_str()) || corpora.iter().any(|corpus| corpus.name == *part)
    };
    if let Some(part) = only.iter().find(|part| !named(part)) {
        return Err(format!("there is no part `{part}`").into());
    }

    let mut total = Counts::default();
    let mut different = 0;
    for corpus in corpora.iter().filter(|corpus| wanted(&corpus.name)) {
        let (counts, differences) = compare(corpus, &protoc, &abide, show)?;
        println!("{}: {counts}; {differences} differences", corpus.name);
        if counts.files() == 0 {
            return Err(format!("nothing was compared in `{}`", corpus.name).into());
        }
        total += &counts;
        different += differences;
    }
    if total.files() > 0 {
        println!("all trees: {total}; {different} differences");
    }
    if hashed {
        for corpus in &corpora {
            agreed &= hash::run(corpus, &protoc, &abide, show)?;
        }
    }
    if wanted("verdicts") {
        agreed &= verdicts::run(&protoc, &abide)?;
    }
    if wanted("breaking") {
        agreed &= breaking::run(&archives, &protoc, &abide, show)?;
    }
    if wanted("symbols") {
        agreed &= symbols::run(&archives, &protoc, show)?;
    }
    if wanted("gapic") {
        agreed &= gapic::run(&protoc, &abide, show)?;
    }
    if wanted("layout") {
        let mut trees = archives.clone();
        trees.extend([corpora::own()?, corpora::googleapis(place)?]);
        agreed &= layout::run(&trees, &protoc, show)?;
    }
    if wanted("fix") {
        let mut trees = archives.clone();
        trees.push(corpora::googleapis(place)?);
        agreed &= fix::run(&trees, &protoc, &abide, show)?;
    }
    if wanted("upgrade") {
        let googleapis = corpora::googleapis(place)?;
        agreed &= upgrade::run(&archives, &googleapis, &protoc, &abide, show)?;
    }
    Ok(different == 0 && agreed)
}
