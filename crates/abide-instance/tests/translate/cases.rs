//! Texts, and what becomes of them: the files of `testdata/instances/translation`.
//!
//! Above the first line `=== PATH` stand a sentence about the case and how it is run: `way: up`,
//! `way: up v3`, `way: down`, `type: NAME`. Behind such lines stand files: protos, `steps.yaml`,
//! `mapping.json`, and the text `old.NOTATION`. Then comes what is made: `new.NOTATION`, and in
//! `report` what changed and what is lost.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use abide_instance::{
    Direction, MigrationFile, Notation, ReadOptions, VersionConverter, VersionMapping, convert_text,
};
use abide_schema::PackageVersion;
use abide_syntax::Span;

use crate::tree;

/// What the protos of a case may import.
const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "abide/annotations/v1/lifecycle.proto",
        include_str!("../../../../api/abide/annotations/v1/lifecycle.proto"),
    ),
    (
        "abide/annotations/v1/status.proto",
        include_str!("../../../../api/abide/annotations/v1/status.proto"),
    ),
];

struct Case<'c> {
    head: &'c str,
    parts: Vec<(&'c str, &'c str)>,
}

impl<'c> Case<'c> {
    fn of(text: &'c str) -> Case<'c> {
        let mut parts = text.split("=== ");
        let head = parts.next().unwrap_or_default();
        let parts = parts.map(|it| it.split_once('\n').expect("a file follows its path"));
        Case { head, parts: parts.collect() }
    }

    fn setting(&self, name: &str) -> Option<&'c str> {
        let lines = self.head.lines();
        lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).next()
    }

    fn part(&self, name: &str) -> Option<(&'c str, &'c str)> {
        self.parts.iter().copied().find(|(path, _)| path.starts_with(name))
    }
}

fn place(text: &str, span: Span) -> String {
    let before = &text[..span.start as usize];
    let line = before.matches('\n').count() + 1;
    format!("{line}:{}", before.rsplit('\n').next().unwrap_or_default().len() + 1)
}

fn run(case: &Case<'_>) -> (String, String) {
    let protos = case.parts.iter().copied().filter(|(path, _)| path.ends_with(".proto"));
    let api = tree(protos.chain(ANNOTATIONS.iter().copied()));
    let steps = case.part("steps.yaml").map(|(_, text)| {
        MigrationFile::read(text.as_bytes(), Notation::Yaml).expect("the steps can be read")
    });
    let mapping = case.part("mapping.json").map(|(_, text)| {
        VersionMapping::read(text.as_bytes(), Notation::Json).expect("the mapping can be read")
    });
    let translator =
        VersionConverter::new(&api, mapping.unwrap_or_default(), &steps.unwrap_or_default())
            .expect("the steps fit");
    let (name, text) = case.part("old.").expect("a case has a text");
    let ty = case.setting("type").map(|name| api.message_named(name).expect("the type").id);
    let notation = Notation::from_path(name).expect("a notation");
    let version = |it: &str| PackageVersion::parse_component(it).expect("a version");
    let way = match case.setting("way").expect("a case has a way").split_once(' ') {
        None if case.setting("way") == Some("down") => None,
        None => Some(Direction::Up(None)),
        Some(("up", to)) => Some(Direction::Up(Some(version(to)))),
        Some((_, to)) => Some(Direction::Down(version(to).major)),
    };
    let options = ReadOptions { notation, ty, dialect: None };
    let carried = convert_text(&api, &translator, text.as_bytes(), options, way.as_ref())
        .expect("no internal error");
    let mut report = String::new();
    for document in &carried.documents {
        let name = |ty| api.message(ty).full_name();
        writeln!(report, "{} -> {}", name(document.old), name(document.new)).expect("a string");
        for change in &document.changes {
            let at = place(text, change.span);
            let line = match change.old.is_empty() {
                true => format!("  {at} + {}", change.new),
                false => format!("  {at} {} -> {}", change.old, change.new),
            };
            writeln!(report, "{line}").expect("a string");
        }
        for loss in &document.losses {
            writeln!(report, "  {} lost: {}", place(text, loss.span), loss.message)
                .expect("a string");
        }
    }
    for (span, note) in &carried.notes {
        writeln!(report, "  {} note: {note}", place(text, *span)).expect("a string");
    }
    for document in &carried.instance.documents {
        for error in document.reading.iter().flat_map(|it| &it.errors) {
            writeln!(report, "{} error: {}", place(text, error.span), error.message)
                .expect("a string");
        }
    }
    let new = carried.text.map(|it| String::from_utf8(it).expect("a text"));
    (new.unwrap_or_default(), report)
}

#[test]
fn every_text_becomes_what_its_case_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/instances/translation");
    let entries = std::fs::read_dir(&folder).expect("the folder of the cases");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let overwrites = std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite");
    let mut complaints = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let case = Case::of(&text);
        let (new, report) = run(&case);
        let made = |it: &&(&str, &str)| it.0.starts_with("new.") || it.0 == "report";
        let given: String = std::iter::once(case.head.to_owned())
            .chain(case.parts.iter().filter(|it| !made(it)).map(|(p, t)| format!("=== {p}\n{t}")))
            .collect();
        let notation = case.part("old.").unwrap().0.strip_prefix("old.").unwrap();
        let now = format!("{given}=== new.{notation}\n{new}=== report\n{report}");
        if overwrites {
            std::fs::write(&path, &now).unwrap();
        } else if now != text {
            writeln!(complaints, "{}:\n{now}", path.display()).unwrap();
        }
    }
    assert!(complaints.is_empty(), "`SNAPSHOTS=overwrite cargo test` records this:\n{complaints}");
}
