//! Asks the newest protoc that can be installed for its editions, features and built-in files, and
//! lists what we lack.

use std::collections::BTreeMap;
use std::fs;

use abide_harness::Result;
use abide_harness::corpora::{make_fresh_folder, stage, write};
use abide_harness::programs::{Protoc, output, stdout};
use abide_schema::{Edition, FEATURES, find_well_known, well_known_paths};

use crate::protoc::wire::{Value, read_fields, read_messages, read_string};

/// Prints what we lack; true if it is nothing.
pub(crate) fn run(protoc: &Protoc) -> Result<bool> {
    let files = list_built_in_files(protoc)?;
    let editions = read_released_editions(protoc)?;
    let mut lacks = find_missing_files(protoc, &files)?;
    lacks.extend(find_missing_editions(&editions));
    let newest = editions.iter().max_by_key(|it| it.number).ok_or("protoc knows no edition")?;
    lacks.extend(find_missing_features(protoc, &newest.word)?);
    for lack in &lacks {
        println!("  {lack}");
    }
    println!(
        "editions: {}, up to {}: {} files, {} features; {} lacking or different",
        protoc.version,
        newest.word,
        files.len(),
        FEATURES.len(),
        lacks.len()
    );
    Ok(lacks.is_empty())
}

/// The paths of the files that protoc brings along.
fn list_built_in_files(protoc: &Protoc) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in ["google/protobuf", "google/protobuf/compiler"] {
        for entry in fs::read_dir(protoc.include.join(folder))? {
            let name = entry?.file_name();
            if let Some(name) = name.to_str().filter(|it| it.ends_with(".proto")) {
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The files that we do not have, or that declare something else here: protoc's descriptors of both
/// texts are compared.
fn find_missing_files(protoc: &Protoc, files: &[String]) -> Result<Vec<String>> {
    let ours = make_fresh_folder("editions/built-in")?;
    let mut lacks = Vec::new();
    for path in well_known_paths() {
        let text = find_well_known(path).unwrap_or_default();
        write(&ours.join(path), text.as_bytes())?;
    }
    for path in files {
        if find_well_known(path).is_none() {
            lacks.push(format!("`{path}` is not built in"));
            continue;
        }
        let compile = |root| -> Result<Vec<u8>> {
            let made = stage()?.join("editions/one.binpb");
            let mut command = protoc.command(&[root]);
            stdout(command.arg("-o").arg(&made).arg(path))?;
            Ok(fs::read(made)?)
        };
        match compile(&ours) {
            Ok(ours) if ours == compile(&protoc.include)? => {}
            Ok(_) => lacks.push(format!("`{path}` declares something else")),
            Err(error) => lacks.push(format!("`{path}` does not compile: {error}")),
        }
    }
    Ok(lacks)
}

/// An edition in the enum of descriptor.proto.
struct ReleasedEdition {
    /// What follows `EDITION_` in its name.
    word: String,
    number: i32,
}

/// The editions of files that protoc compiles without a flag.
fn read_released_editions(protoc: &Protoc) -> Result<Vec<ReleasedEdition>> {
    let root = make_fresh_folder("editions/probes")?;
    let mut released = Vec::new();
    for edition in read_declared_editions(protoc)? {
        let probe = format!("{}.proto", edition.number);
        write(&root.join(&probe), format!("edition = \"{}\";\n", edition.word).as_bytes())?;
        let mut compile = protoc.command(&[&root]);
        if output(compile.args(["-o", "/dev/null", &probe]))?.status.success() {
            released.push(edition);
        }
    }
    Ok(released)
}

/// The values of the enum `google.protobuf.Edition`.
fn read_declared_editions(protoc: &Protoc) -> Result<Vec<ReleasedEdition>> {
    const ENUM_TYPE: u32 = 5;
    let descriptor = super::sets::descriptor_proto(protoc)?;
    let mut found = Vec::new();
    for item in read_messages(&descriptor, ENUM_TYPE)? {
        if read_string(item, 1)? != Some("Edition") {
            continue;
        }
        for value in read_messages(item, 2)? {
            let name = read_string(value, 1)?.unwrap_or_default();
            let numbers = read_fields(value)?.into_iter().filter(|(number, _)| *number == 2);
            let number = numbers.map(|(_, value)| as_number(value)).next_back().unwrap_or(0);
            if let Some(word) = name.strip_prefix("EDITION_") {
                found.push(ReleasedEdition { word: word.to_owned(), number });
            }
        }
    }
    Ok(found)
}

fn as_number(value: Value<'_>) -> i32 {
    match value {
        Value::Varint(number) => number as i32,
        _ => 0,
    }
}

/// The editions that protoc compiles and we do not know, and the other way round.
fn find_missing_editions(released: &[ReleasedEdition]) -> Vec<String> {
    let unknown = released.iter().filter(|it| Edition::from_number(it.number).is_none());
    let lacks = unknown.map(|it| format!("edition {} ({}) is not known", it.word, it.number));
    let ours = Edition::iter_known().filter(|it| it.is_edition());
    let early = ours.filter(|own| released.iter().all(|it| it.number != own.number()));
    lacks.chain(early.map(|it| format!("{it} is not released"))).collect()
}

/// The features whose number, or whose default in an edition, is not in our table.
fn find_missing_features(protoc: &Protoc, newest: &str) -> Result<Vec<String>> {
    let made = stage()?.join("editions/defaults.binpb");
    let mut command = protoc.command(&[]);
    command.arg(format!("--edition_defaults_out={}", made.display()));
    command.args(["--edition_defaults_minimum=PROTO2", "google/protobuf/descriptor.proto"]);
    stdout(command.arg(format!("--edition_defaults_maximum={newest}")))?;
    let mut lacks = Vec::new();
    for defaults in read_messages(&fs::read(made)?, 1)? {
        let mut edition = None;
        // The features that can be set, and those that cannot yet or no longer.
        let mut theirs: BTreeMap<u32, i32> = BTreeMap::new();
        for (number, value) in read_fields(defaults)? {
            match (number, value) {
                (3, value) => edition = Some(as_number(value)),
                (4 | 5, Value::Bytes(features)) => {
                    for (feature, value) in read_fields(features)? {
                        theirs.insert(feature, as_number(value));
                    }
                }
                _ => {}
            }
        }
        // What came before editions, `EDITION_LEGACY`, is proto2 here.
        let number = edition.unwrap_or_default().max(Edition::Proto2.number());
        let Some(edition) = Edition::from_number(number) else { continue };
        for (feature, value) in theirs {
            let row = FEATURES.iter().find(|row| u32::try_from(row.number) == Ok(feature));
            let Some(row) = row else {
                lacks.push(format!("feature {feature} is not known, in {edition}"));
                continue;
            };
            let default = row.defaults.iter().rev().find(|(since, _)| *since <= edition);
            let name = usize::try_from(value).ok().and_then(|value| row.values.get(value));
            if name != default.map(|(_, name)| name) {
                lacks.push(format!("the default of `{}` in {edition} is {value}", row.name));
            }
        }
    }
    Ok(lacks)
}
