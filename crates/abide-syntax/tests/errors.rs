//! Every file of `testdata/syntax` says what is wrong with it: see the README
//! there.

#![allow(clippy::disallowed_methods, reason = "the test reads its fixtures")]

mod sound;

use std::path::{Path, PathBuf};

use abide_syntax::{LineIndex, Span};

/// What a marker says, or the parser: where, and what.
#[derive(Debug, PartialEq, PartialOrd)]
struct Said {
    /// From 1; the end of the file is behind every line.
    line: u32,
    column: u32,
    /// One past the last column; `None` where the span goes on over lines.
    end: Option<u32>,
    message: String,
}

impl Said {
    fn new(lines: &LineIndex, text: &[u8], span: Span, message: String) -> Said {
        if span.start as usize == text.len() {
            return Said { line: u32::MAX, column: 0, end: None, message };
        }
        let start = lines.position(text, span.start);
        let end = lines.position(text, span.end);
        let column = (start.line == end.line).then_some(end.column.max(start.column + 1));
        Said { line: start.line, column: start.column, end: column, message }
    }

    /// The comment that says it.
    fn marker(&self) -> String {
        let Said { line, column, end, message } = self;
        let indent = " ".repeat((*column as usize).saturating_sub(1));
        match end {
            _ if *line == u32::MAX => format!("// <end> {message}\n"),
            Some(end) if *column > 3 => {
                let carets = "^".repeat((end - column) as usize);
                format!("{}// {carets} {message}\n", &indent[3..])
            }
            _ => format!("{indent}// <- {message}\n"),
        }
    }
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/syntax");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|it| it == "proto"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no fixture");
    paths
}

fn is_marker(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("// ").unwrap_or_default();
    ["^", "<- ", "<end> "].iter().any(|mark| comment.starts_with(mark))
}

/// The text with a marker for everything that is reported of it.
fn marked(text: &str) -> String {
    let said = reported(text.as_bytes());
    let plain = text.lines().zip(1..).filter(|(line, _)| !is_marker(line));
    let mut marked = String::new();
    let mut said = said.into_iter().peekable();
    let mut lines = plain.peekable();
    while let Some((line, _)) = lines.next() {
        marked += line;
        marked += "\n";
        let next = lines.peek().map_or(u32::MAX, |(_, number)| *number);
        while let Some(it) = said.next_if(|it| it.line < next) {
            marked += &it.marker();
        }
    }
    marked.extend(said.map(|it| it.marker()));
    marked
}

/// What is reported, in the order of places.
fn reported(text: &[u8]) -> Vec<Said> {
    let (_, errors) = sound::check(text);
    let lines = LineIndex::new(text);
    let mut said = Vec::new();
    for error in errors {
        said.push(Said::new(&lines, text, error.span, format!("error: {}", error.message)));
        if let Some(help) = error.help {
            said.push(Said::new(&lines, text, error.span, format!("help: {help}")));
        }
        if let Some((span, message)) = error.related {
            said.push(Said::new(&lines, text, span, format!("label: {message}")));
        }
    }
    for it in &said {
        let phrase = it.message.split_once(": ").map_or("", |(_, phrase)| phrase);
        let lower = !phrase.starts_with(char::is_uppercase) && !phrase.ends_with('.');
        assert!(lower && phrase.matches('`').count() % 2 == 0, "not one phrase: {it:?}");
    }
    said.sort_by_key(|it| (it.line, it.column));
    said
}

#[test]
fn every_fixture_says_what_is_reported() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite");
    for path in fixtures() {
        let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the file is UTF-8");
        let marked = marked(&text);
        assert!(marked.contains(" error: "), "{name} has no error");
        if overwrite {
            std::fs::write(&path, &marked).expect("the file is writable");
        }
        let differs = text.lines().zip(marked.lines()).zip(1..).find(|((a, b), _)| a != b);
        assert!(
            overwrite || text == marked,
            "{name}: marked, and reported, with the line: {differs:?}\n\
             `SNAPSHOTS=overwrite cargo test -p abide-syntax` writes the markers"
        );
    }
}
