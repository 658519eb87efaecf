//! What files look like, and laws that hold for all of them.

#![allow(clippy::disallowed_methods, reason = "the files formatted are files")]

mod placements;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use abide_format::format;
use abide_syntax::{Lexer, Span, TokenKind, find_comments};
use placements::{placed, violation};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The `.proto` files below a folder, by path.
fn protos(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            protos(&path, found);
        } else if path.extension().is_some_and(|it| it == "proto") {
            let text = std::fs::read(&path).expect("the file is readable");
            found.insert(path, text);
        }
    }
}

/// The tokens of a text that are no punctuation, and the words of its comments; both sorted,
/// because imports and options move.
fn said(text: &[u8]) -> [String; 2] {
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    let mut lexer = Lexer::new(text, 0);
    let mut at = abide_syntax::skip_byte_order_mark(text);
    loop {
        let token = lexer.next_token();
        for comment in find_comments(text, Span::new(at, token.span.start)) {
            let words = String::from_utf8_lossy(comment.span.of(text));
            let words = words.trim_start_matches("//").trim_start_matches("/*");
            let words = words.trim_end_matches("*/").split_whitespace();
            comments.push(words.collect::<Vec<_>>().join(" "));
        }
        match token.kind {
            TokenKind::End => break,
            TokenKind::Symbol(b',' | b';' | b':' | b'<' | b'>' | b'{' | b'}') => {}
            _ => tokens.push(String::from_utf8_lossy(token.span.of(text)).into_owned()),
        }
        at = token.span.end;
    }
    tokens.sort_unstable();
    comments.sort_unstable();
    [tokens.join("\n"), comments.join("\n")]
}

/// Formats a text and checks the laws.
fn lawful(name: &str, text: &[u8]) -> Vec<u8> {
    let formatted = format(text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let shown = String::from_utf8_lossy(&formatted).into_owned();
    assert_eq!(said(&formatted), said(text), "{name}: something was lost or made up\n{shown}");
    let again = format(&formatted).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{shown}"));
    let again = String::from_utf8_lossy(&again).into_owned();
    assert_eq!(again, shown, "{name}: formatting twice differs from formatting once");
    let trailing = |line: &str| line.ends_with([' ', '\t']);
    assert!(!shown.lines().any(trailing), "{name}: a line ends with white space\n{shown}");
    formatted
}

/// Our samples: those that look as `buf format` gives them, and those that do not.
fn samples() -> BTreeMap<PathBuf, Vec<u8>> {
    let mut samples = BTreeMap::new();
    protos(&testdata().join("format"), &mut samples);
    samples.retain(|path, _| !path.components().any(|it| it.as_os_str() == "formatted"));
    assert!(!samples.is_empty());
    samples
}

#[test]
fn the_samples_look_as_recorded() {
    for (path, text) in samples() {
        let formatted = lawful(&path.to_string_lossy(), &text);
        let recorded = path.with_file_name("formatted").join(path.file_name().unwrap_or_default());
        if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
            std::fs::write(&recorded, &formatted).expect("the record is writable");
            continue;
        }
        assert_eq!(
            String::from_utf8_lossy(&formatted),
            String::from_utf8_lossy(&std::fs::read(&recorded).unwrap_or_default()),
            "{path:?} differs; `SNAPSHOTS=overwrite cargo test` records it"
        );
    }
}

#[test]
fn every_valid_file_keeps_what_it_says() {
    let mut files = BTreeMap::new();
    protos(&testdata(), &mut files);
    let mut formatted = 0;
    for (path, text) in &files {
        if format(text).is_ok() {
            lawful(&path.to_string_lossy(), text);
            formatted += 1;
        }
    }
    assert!(formatted > 100, "only {formatted} files are valid");
}

/// Kinds of comments to put between two tokens.
const COMMENTS: [&str; 7] = [
    " // here\n",
    " /* here */ ",
    "\n// above\n",
    "\n\n// apart\n\n",
    "\n\n// two\n// lines\n",
    " /* one */ /* two\n    lines */\n// three\n\n",
    " // has */ inside\n",
];

#[test]
fn a_comment_between_any_two_tokens_is_kept() {
    for (path, text) in &samples() {
        let mut lexer = Lexer::new(text, 0);
        loop {
            let token = lexer.next_token();
            let (before, after) = text.split_at(token.span.start as usize);
            for comment in COMMENTS {
                let text = [before, comment.as_bytes(), after].concat();
                lawful(&format!("{path:?} with {comment:?} at {}", token.span.start), &text);
            }
            if token.kind == TokenKind::End {
                break;
            }
        }
    }
}

/// How many files [`what_a_file_says_stays_wherever_comments_and_options_stand`] lays out; the
/// soundness program tries more.
const PLACED: u64 = 3_000;

#[test]
fn what_a_file_says_stays_wherever_comments_and_options_stand() {
    for seed in 0..PLACED {
        let text = placed(&mut fastrand::Rng::with_seed(seed));
        if let Some(why) = violation(&text, |text| format(text).ok()) {
            panic!("seed {seed}: {why}\nIt was:\n{}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn line_ends_stay_what_they_are() {
    let unix = b"message A {\n// a\n/* b\n   c */\n\n\n int32 a=1; // d\n}\n";
    let windows = String::from_utf8_lossy(unix).replace('\n', "\r\n");
    let formatted = lawful("unix", unix);
    assert!(!formatted.contains(&b'\r'));
    let theirs = format(windows.as_bytes()).expect("it is valid");
    let expected = String::from_utf8_lossy(&formatted).replace('\n', "\r\n");
    assert_eq!(String::from_utf8_lossy(&theirs), expected);
    assert_eq!(format(&theirs).expect("it is valid"), theirs);
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let text = b"// \xff\nmessage A {} // \xfe\n";
    assert_eq!(format(text).expect("it is valid"), text);
}

#[test]
fn little_and_nothing_have_a_layout() {
    assert_eq!(format(b"").expect("it is valid"), b"");
    assert_eq!(format(b"\n \n").expect("it is valid"), b"");
    assert_eq!(format(b"\n// a").expect("it is valid"), b"// a\n");
    assert_eq!(format(b"\xef\xbb\xbfmessage A{}").expect("it is valid"), b"message A {}\n");
}

#[test]
fn a_text_with_errors_has_no_layout() {
    let errors = format(b"message A { int32 = 1; }").expect_err("a name is missing");
    assert!(!errors.is_empty());
}
