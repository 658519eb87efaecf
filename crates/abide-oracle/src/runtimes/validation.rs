//! Compares the verdicts of Abide on values with those of the validation libraries:
//! the Python packages of protoc-gen-validate and protovalidate.
//!
//! The definitions of the annotations come from those packages.

mod draw;
mod samples;
mod subjects;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{Protoc, stdout};
use abide_schema::value::Codec;
use abide_schema::{FileDecl, MessageId, Tree};

use self::draw::Numbers;
use self::samples::generate_messages;
use self::subjects::render_schema;

/// Known differences between what the Python packages document and what they do, by
/// library and rule.
const EXPLAINED: &[Explained] = &[
    Explained(
        "pgv",
        "repeated bytes",
        "",
        "its Python package has no rules for items that are bytes",
    ),
    Explained(
        "pgv",
        "map bytes",
        "",
        "its Python package has no rules for map values that are bytes",
    ),
    Explained(
        "pgv",
        "string uri",
        "",
        "its Python package requires scheme, host and path, not the RFC",
    ),
    Explained(
        "pgv",
        "string uuid",
        "",
        "its Python package accepts UUIDs without hyphens and in braces",
    ),
    Explained("pgv", "string ipv6", "%", "Python reads addresses with zones"),
    Explained("pgv", "string address", "%", "Python reads addresses with zones"),
    Explained("pgv", "pattern", "\\n", "`$` of Python matches before a final line end"),
    Explained("pgv", "well_known_regex", "\\n", "`$` of Python matches before a final line end"),
];

/// The library, a part of the rule, a part of the value, and the reason.
struct Explained(&'static str, &'static str, &'static str, &'static str);

impl Explained {
    fn explains(&self, (library, rule): (&str, &str), line: &str) -> bool {
        library == self.0 && rule.contains(self.1) && line.contains(self.2)
    }
}

/// A Python script that prints the folder with the definitions of
/// protoc-gen-validate and writes a descriptor set with those of protovalidate.
const DEFINITIONS: &str = "\
import os, sys
from importlib import metadata
from google.protobuf import descriptor_pb2
from protovalidate._gen.buf.validate import validate_pb
files = descriptor_pb2.FileDescriptorSet()
files.file.append(descriptor_pb2.FileDescriptorProto.FromString(validate_pb._DESC.proto.to_binary()))
open(sys.argv[1], 'wb').write(files.SerializeToString())
found = [file.locate() for file in metadata.files('protoc-gen-validate') if str(file).endswith('validate.proto')]
print(os.path.dirname(os.path.realpath(found[0])))
print(metadata.version('protovalidate'), metadata.version('protoc-gen-validate'))
";

/// Compares verdicts; true if each difference has a reason.
pub(crate) fn run(protoc: &Protoc, show: usize) -> Result<bool> {
    let folder = corpora::stage()?.join("validation");
    fs::create_dir_all(&folder)?;
    let definitions = folder.join("buf.binpb");
    let said = stdout(Command::new("python3").arg("-c").arg(DEFINITIONS).arg(&definitions))
        .map_err(|error| format!("`pip install protovalidate protoc-gen-validate`: {error}"))?;
    let (pgv, versions) = said.trim().split_once('\n').ok_or("no definitions were found")?;

    let mut numbers = Numbers::new();
    let mut subjects = Vec::new();
    for library in ["pgv", "buf"] {
        fs::write(
            folder.join(format!("{library}.proto")),
            render_schema(library, &mut numbers, &mut subjects),
        )?;
    }
    let set = compile_schemas(&folder, Path::new(pgv), &definitions, protoc)?;
    let decls = FileDecl::from_descriptor_set(&fs::read(&set)?.into())?;
    let tree = Tree::link(decls.into_iter().map(Arc::new).collect());

    let mut cases = Vec::new();
    let mut lines = String::new();
    for subject in &subjects {
        let ty = find(&tree, &subject.name).ok_or_else(|| format!("no `{}`", subject.name))?;
        let mut seen = BTreeSet::new();
        for value in generate_messages(&tree, ty, &mut numbers) {
            let bytes = Codec::new(&tree).encode(&value);
            if !seen.insert(bytes.clone()) {
                continue;
            }
            write!(lines, "{} {} ", subject.library, subject.name)?;
            bytes.iter().try_for_each(|byte| write!(lines, "{byte:02x}"))?;
            lines.push('\n');
            cases.push((subject, Codec::new(&tree).decode(ty, &bytes)?));
        }
    }
    let path = folder.join("cases.txt");
    fs::write(&path, lines)?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/runtimes/validation.py");
    let theirs = stdout(Command::new("python3").arg(script).arg(&set).arg(&path))?;
    let theirs: Vec<&str> = theirs.lines().collect();
    if theirs.len() != cases.len() {
        return Err(format!("{} verdicts on {} cases", theirs.len(), cases.len()).into());
    }

    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut errors: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut different: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for ((subject, value), theirs) in cases.iter().zip(theirs) {
        let judgement = abide_validate::evaluate(&tree, value);
        let ours = match (judgement.rejects(), judgement.accepts()) {
            (true, _) => "no",
            (_, true) => "yes",
            _ => "unknown",
        };
        let outcome = match (ours, theirs) {
            (_, theirs) if theirs.starts_with("error") => "they have no verdict",
            ("unknown", _) => "we say nothing",
            (ours, theirs) if ours == theirs => {
                if ours == "yes" {
                    "accepted"
                } else {
                    "rejected"
                }
            }
            _ => "different",
        };
        *counts.entry(outcome).or_default() += 1;
        let line = format!(
            "{}: `{}` ours {ours}, theirs {theirs}",
            subject.name,
            Codec::new(&tree).to_text(value).trim().replace('\n', " ")
        );
        if outcome == "they have no verdict" {
            errors.entry(theirs).or_default().push(&subject.rule);
        }
        if outcome == "different" {
            different.entry((subject.library, &subject.rule)).or_default().push(line);
        }
    }
    println!("validation: {versions}; {} cases of {} types", cases.len(), subjects.len());
    for (outcome, count) in &counts {
        println!("  {outcome}: {count}");
    }
    let mut agreed = counts.get("accepted").is_some_and(|it| *it > 0)
        && counts.get("rejected").is_some_and(|it| *it > 0);
    for (error, rules) in &errors {
        println!("    {} of {}: {error}", rules.len(), rules[0]);
    }
    let mut used = vec![0; EXPLAINED.len()];
    for (rule, lines) in &mut different {
        lines.retain(|line| {
            let known = EXPLAINED.iter().position(|it| it.explains(*rule, line));
            known.map(|at| used[at] += 1).is_none()
        });
        if !lines.is_empty() {
            agreed = false;
            println!("  {} `{}`: {} differences", rule.0, rule.1, lines.len());
            lines.iter().take(show).for_each(|line| println!("    {line}"));
        }
    }
    for (Explained(library, rule, _, why), count) in EXPLAINED.iter().zip(used) {
        println!("  {library} `{rule}`: {count} explained: {why}");
        agreed &= count > 0;
    }
    Ok(agreed)
}

fn compile_schemas(folder: &Path, pgv: &Path, buf: &Path, protoc: &Protoc) -> Result<PathBuf> {
    let set = folder.join("schema.binpb");
    let mut command = protoc.command(&[folder, pgv]);
    command.arg(format!("--descriptor_set_in={}", buf.display()));
    command.args(["--include_imports", "-o"]).arg(&set).args(["pgv.proto", "buf.proto"]);
    stdout(&mut command)?;
    Ok(set)
}

fn find(tree: &Tree, name: &str) -> Option<MessageId> {
    let mut all = tree.files().flat_map(abide_schema::File::all_messages);
    all.find(|message| message.full_name() == name).map(|message| message.id)
}
