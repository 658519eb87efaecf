//! `cargo xtask oracle --only layout`: checks that both layouts, that of candidates and that of
//! `abide format`, keep what a file says, and that the latter is the layout of `buf format`.
//!
//! Every file of every tree is laid out. For the result, the real protoc must write the same
//! descriptors, except for the order of imports, with the same comments at the same elements. No
//! comment that protoc ignores may be lost. A second layout must change nothing.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, stdout, workspace};
use abide_syntax::{Lexer, Span, TokenKind, find_comments};

use crate::edits::upgrade::{Comments, compile_tree, read_attached_comments};
use crate::protoc::sets::index_by_name;
use crate::protoc::wire::{Value, read_fields, read_strings};

/// A way to lay out a text; `None` where it has no layout.
struct Layout {
    name: &'static str,
    lay_out: fn(&[u8]) -> Option<Vec<u8>>,
    /// Whether `buf format` gives the same, and comments may change their marks and white space.
    is_bufs: bool,
}

const LAYOUTS: [Layout; 2] = [
    Layout { name: "layout", lay_out: abide_upgrade::format_canonically, is_bufs: false },
    Layout { name: "format", lay_out: format_text, is_bufs: true },
];

/// The layout of `abide format`. It exists for texts that are not UTF-8, too; their descriptors
/// cannot be compared.
fn format_text(text: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(text).ok()?;
    abide_format::format(text).ok()
}

/// Lays out every file of these trees; true if nothing differs.
pub(crate) fn run(corpora: &[Corpus], protoc: &Protoc, show: usize) -> Result<bool> {
    let mut agreed = compare(&build_commented_tree()?, &LAYOUTS[..1], protoc, show)?;
    for corpus in corpora {
        agreed &= compare(corpus, &LAYOUTS, protoc, show)?;
        // Our own files are pitfalls; what buf makes of them is shown by the samples below.
        for layout in LAYOUTS.iter().filter(|it| it.is_bufs && !is_own(corpus)) {
            agreed &= compare_with_buf(corpus, layout, show)?;
        }
    }
    let samples = corpora::folder("format-samples", "testdata/format")?;
    agreed &= compare_with_buf(&samples, &LAYOUTS[1], show)?;
    // These are there because they differ.
    let others = corpora::folder("format-differences", "testdata/format/differences")?;
    agreed &= !compare_with_buf(&others, &LAYOUTS[1], show)?;
    Ok(agreed)
}

/// Kinds of comments to put between two tokens.
const COMMENTS: [&str; 6] = [
    " // here\n",
    " /* here */ ",
    "\n// above\n",
    "\n\n// apart\n\n",
    "\n\n// two\n// lines\n",
    " /* one */ /* two\n    lines */\n// three\n\n",
];

/// Copies of our sample, one for each place and kind of a comment.
fn build_commented_tree() -> Result<Corpus> {
    let text = fs::read_to_string(workspace()?.join("testdata/layout/sample.proto"))?;
    let (sample, _) = text.split_once("// ===\n").ok_or("the sample has no end")?;
    let mut files = Vec::new();
    let mut lexer = Lexer::new(sample.as_bytes(), 0);
    loop {
        let token = lexer.next_token();
        for comment in COMMENTS {
            let package = format!("sample{}", files.len());
            let (before, after) = sample.split_at(token.span.start as usize);
            let mut text = format!("{before}{comment}{after}").replace("sample", &package);
            // An extension number can only be used once.
            for (at, number) in (50000..=50003).enumerate() {
                let own = 60000 + files.len() * 4 + at;
                text = text.replace(&number.to_string(), &own.to_string());
            }
            files.push((format!("{package}.proto"), text));
        }
        if token.kind == TokenKind::End {
            return corpora::write_tree("commented", &files);
        }
    }
}

/// Checks what protoc reads of a tree in each layout.
fn compare(corpus: &Corpus, layouts: &[Layout], protoc: &Protoc, show: usize) -> Result<bool> {
    let theirs = compile_tree(corpus, &corpus.roots(), &corpus.files, protoc, true)?;
    let theirs = index_by_name(&theirs)?;
    let mut agreed = true;
    for layout in layouts {
        let name = format!("{}-{}", corpus.name, layout.name);
        let root = corpora::make_fresh_folder(&name)?;
        let mut faults = Vec::new();
        let mut laid_out = Vec::new();
        let mut changed = 0;
        for file in &corpus.files {
            let text = fs::read(corpus.root.join(file))?;
            let Some(made) = (layout.lay_out)(&text) else {
                // A file that is not UTF-8 has no layout.
                if std::str::from_utf8(&text).is_ok() {
                    faults.push(format!("{file}: has syntax errors"));
                }
                corpora::write(&root.join(file), &text)?;
                continue;
            };
            if (layout.lay_out)(&made).as_ref() != Some(&made) {
                faults.push(format!("{file}: changes when it is laid out again"));
            }
            if read_comments(&text, layout) != read_comments(&made, layout) {
                faults.push(format!("{file}: has other comments"));
            }
            changed += usize::from(made != text);
            laid_out.push(file);
            corpora::write(&root.join(file), &made)?;
        }
        let made = corpora::tree(&name, root, corpus.imports.clone())?;
        let ours = compile_tree(&made, &made.roots(), &corpus.files, protoc, true)?;
        let ours = index_by_name(&ours)?;
        for file in &laid_out {
            let (Some(our), Some(their)) =
                (ours.files.get(file.as_str()), theirs.files.get(file.as_str()))
            else {
                faults.push(format!("{file}: does not compile"));
                continue;
            };
            if said(our)? != said(their)? {
                faults.push(format!("{file}: has another descriptor"));
            }
            // Whom protoc gives a comment to depends on its line, and in our pitfalls some share
            // a line with the next statement.
            if layout.is_bufs && is_own(corpus) {
                continue;
            }
            let (our, their) = (told(our, layout)?, told(their, layout)?);
            let mut places = our.keys().chain(their.keys());
            if let Some(at) = places.find(|at| our.get(*at) != their.get(*at)) {
                faults.push(format!("{file}: has other comments at {at:?}"));
            }
        }
        println!(
            "{} of {}: of {} files {changed} change; {} differences",
            layout.name,
            corpus.name,
            laid_out.len(),
            faults.len()
        );
        for fault in faults.iter().take(show.max(1) * 8) {
            println!("  {fault}");
        }
        agreed &= faults.is_empty() && !laid_out.is_empty();
    }
    Ok(agreed)
}

/// Whether `buf format` gives every file of a tree this layout.
fn compare_with_buf(corpus: &Corpus, layout: &Layout, show: usize) -> Result<bool> {
    let made = corpora::make_fresh_folder(&format!("{}-buf", corpus.name))?;
    let mut buf = Command::new("buf");
    let config = ["--config", r#"{"version":"v2"}"#, "--output"];
    stdout(buf.arg("format").arg(&corpus.root).args(config).arg(&made))?;
    let mut different = Vec::new();
    let mut count = 0;
    for file in &corpus.files {
        let text = fs::read(corpus.root.join(file))?;
        let (Some(ours), Ok(theirs)) = ((layout.lay_out)(&text), fs::read(made.join(file))) else {
            continue;
        };
        count += 1;
        if ours != theirs {
            different.push(file);
        }
    }
    println!("{}: buf gives {} of {count} files another layout", corpus.name, different.len());
    for file in different.iter().take(show.max(1) * 8) {
        println!("  {file}");
    }
    Ok(different.is_empty() && count > 0)
}

/// Whether these are our own files, made of pitfalls.
fn is_own(corpus: &Corpus) -> bool {
    corpus.name == "own"
}

/// The text of every comment, sorted.
fn read_comments(text: &[u8], layout: &Layout) -> Vec<String> {
    let mut found = Vec::new();
    let mut lexer = Lexer::new(text, 0);
    let mut at = 0;
    loop {
        let token = lexer.next_token();
        for comment in find_comments(text, Span::new(at, token.span.start)) {
            let text = String::from_utf8_lossy(comment.span.of(text));
            let marks: &[_] = if layout.is_bufs { &['/', '*'] } else { &[] };
            found.push(join_words(text.trim_matches(marks)));
        }
        if token.kind == TokenKind::End {
            found.sort();
            return found;
        }
        at = token.span.end;
    }
}

fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const DEPENDENCY: u32 = 3;
const PUBLIC: u32 = 10;
const WEAK: u32 = 11;
const SOURCE_INFO: u32 = 9;

/// The content of a descriptor without source info: its sorted imports with their kinds, and
/// everything else.
pub(crate) type Said<'a> = (Vec<(&'a str, [bool; 2])>, Vec<(u32, Value<'a>)>);

pub(crate) fn said(file: &[u8]) -> Result<Said<'_>> {
    let mut rest = read_fields(file)?;
    let is = |wanted: u32, index: usize| {
        let index = Value::Varint(index as u64);
        rest.iter().any(|(number, value)| *number == wanted && *value == index)
    };
    let paths = read_strings(file, DEPENDENCY)?.into_iter().enumerate();
    let mut imports: Vec<_> =
        paths.map(|(at, path)| (path, [is(PUBLIC, at), is(WEAK, at)])).collect();
    imports.sort_unstable();
    rest.retain(|(number, _)| ![DEPENDENCY, PUBLIC, WEAK, SOURCE_INFO].contains(number));
    Ok((imports, rest))
}

/// The comments of elements, by path: those before, behind and apart.
type Told = BTreeMap<Vec<u64>, Vec<[Vec<String>; 3]>>;

/// The comments of a file; those of an import by its index among the sorted imports.
fn told(file: &[u8], layout: &Layout) -> Result<Told> {
    let paths = read_strings(file, DEPENDENCY)?;
    let place = |path: &[u64]| -> Vec<u64> {
        match path {
            [import, at] if *import == u64::from(DEPENDENCY) => {
                let own = paths.get(*at as usize);
                let before = paths.iter().filter(|it| Some(*it) < own).count();
                vec![*import, before as u64]
            }
            _ => path.to_vec(),
        }
    };
    let text = |it: &str| if layout.is_bufs { join_words(it) } else { it.to_owned() };
    let texts = |it: Vec<Comments<'_>>| -> Vec<_> {
        it.into_iter().map(|kinds| kinds.map(|it| it.into_iter().map(text).collect())).collect()
    };
    Ok(read_attached_comments(file)?
        .into_iter()
        .map(|(path, it)| (place(&path), texts(it)))
        .collect())
}
