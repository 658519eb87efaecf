//! Records what `buf lint` says of the annotations of `testdata/protovalidate`, which a test
//! compares with `abide lint`, and compares it here with the real definitions of protovalidate.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{Protoc, output, stdout, workspace};
use serde_json::Value;

/// The files with a case on each line that names `buf.validate.`.
const FILES: &[&str] = &["annotations.proto", "expressions.proto", "predefined.proto"];

/// What a line ends with on which the two differ, before the reason.
const DIFFERS: &str = "// differs: ";

/// Only this rule of buf counts.
const CONFIG: &str = r#"{"version":"v2","lint":{"use":["PROTOVALIDATE"]}}"#;

/// A Python script that writes a descriptor set with the definitions of protovalidate, and with
/// what the cases import.
const DEFINITIONS: &str = "\
import sys
from importlib import import_module
from google.protobuf import descriptor_pb2
from protovalidate._gen.buf.validate import validate_pb
files = descriptor_pb2.FileDescriptorSet()
for name in ['descriptor', 'any', 'duration', 'field_mask', 'struct', 'timestamp', 'wrappers']:
    import_module(f'google.protobuf.{name}_pb2').DESCRIPTOR.CopyToProto(files.file.add())
files.file.append(descriptor_pb2.FileDescriptorProto.FromString(validate_pb._DESC.proto.to_binary()))
open(sys.argv[1], 'wb').write(files.SerializeToString())
";

/// Lines that are reported, such as `annotations.proto:20`.
type Lines = BTreeSet<String>;

/// Compares both tools; true if they agree and nothing that is recorded has changed.
pub(crate) fn run(protoc: &Protoc, abide: &Path) -> Result<bool> {
    let source = workspace()?.join("testdata/protovalidate");
    let folder = corpora::make_fresh_folder("protovalidate")?;
    let (definitions, set) = (folder.join("definitions.binpb"), folder.join("cases.binpb"));
    stdout(Command::new("python3").arg("-c").arg(DEFINITIONS).arg(&definitions))
        .map_err(|error| format!("`pip install protovalidate`: {error}"))?;
    let mut compile = protoc.command(&[&source]);
    compile.arg(format!("--descriptor_set_in={}", definitions.display()));
    compile.args(["--include_imports", "--include_source_info", "-o"]).arg(&set).args(FILES);
    stdout(&mut compile)?;

    let mut buf = Command::new("buf");
    buf.arg("lint").arg(&set).args(["--config", CONFIG, "--error-format", "json"]);
    let theirs = collect_reported_lines(&mut buf, |finding| {
        (finding["type"] == "PROTOVALIDATE").then_some(&finding["start_line"])
    })?;
    fs::write(folder.join("abide.toml"), "preset = \"buf-wire\"\n")?;
    let mut command = Command::new(abide);
    command.args(["lint", "cases.binpb", "--format", "json"]).current_dir(&folder);
    let ours = collect_reported_lines(&mut command, |finding| {
        let known = finding["aliases"].as_array()?.iter().any(|it| it == "buf:PROTOVALIDATE");
        known.then_some(&finding["start"]["line"])
    })?;

    let (mut cases, mut agreed, mut explained) = (0, 0, 0);
    for name in FILES {
        let text = fs::read_to_string(source.join(name))?;
        for (at, line) in text.lines().enumerate().filter(|(_, it)| it.contains("buf.validate.")) {
            let place = format!("{name}:{}", at + 1);
            cases += 1;
            match (ours.contains(&place) == theirs.contains(&place), line.contains(DIFFERS)) {
                (true, false) => agreed += 1,
                (false, true) => explained += 1,
                _ => println!("  {place}: buf {}: {line}", theirs.contains(&place)),
            }
        }
    }
    let recorded = source.join("verdicts.txt");
    let now: String = theirs.iter().map(|line| format!("{line}\n")).collect();
    let unchanged = fs::read_to_string(&recorded).is_ok_and(|text| text == now);
    if !unchanged {
        println!("protovalidate: {} changed: review it", recorded.display());
        fs::write(&recorded, now)?;
    }
    println!(
        "protovalidate: {cases} annotations, {} reported by buf; {agreed} agree, {explained} \
         differ for a reason",
        theirs.len()
    );
    Ok(unchanged && cases > 0 && agreed + explained == cases)
}

/// The lines of the findings that a command prints as JSON Lines.
fn collect_reported_lines(
    command: &mut Command,
    line_of: impl Fn(&Value) -> Option<&Value>,
) -> Result<Lines> {
    let said = output(command)?;
    if !matches!(said.status.code(), Some(0 | 1 | 100)) {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let mut lines = Lines::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let finding: Value = serde_json::from_str(line)?;
        if let Some(line) = line_of(&finding) {
            lines.insert(format!("{}:{line}", finding["path"].as_str().unwrap_or_default()));
        }
    }
    Ok(lines)
}
