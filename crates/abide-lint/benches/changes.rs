//! Large messages compared with an edited copy, at two sizes each, so that a cost
//! that grows with the square of a message shows: `cargo bench -p abide-lint changes`.

use std::fmt::Write;
use std::sync::Arc;

use abide_lint::{Config, Options};
use abide_schema::{FileDecl, SourceFile, Tree};
use criterion::{Criterion, Throughput};
use jiff::civil::date;

const SIZES: [u32; 2] = [1000, 2000];

/// A message of many lines, each made of its index.
fn message(size: u32, line: impl Fn(u32) -> String) -> String {
    let mut text = "syntax = \"proto3\";\npackage acme.v1;\nmessage M {\n".to_owned();
    for index in 1..=size {
        let _ = writeln!(text, "{}", line(index));
    }
    text + "}\n"
}

/// Each edit by its name: the old text and the new one.
fn edits(size: u32) -> [(&'static str, String, String); 4] {
    let fields = |name: &str, type_: &str, from: u32| {
        message(size, |it| format!("{type_} {name}{it} = {};", it + from))
    };
    let plain = fields("f", "string", 0);
    let pair = |it: u32| format!("string f{it} = {}; string g{it} = {};", 2 * it, 2 * it + 1);
    let merged = |it: u32| match it {
        1 => format!("oneof o {{ {}", pair(it)),
        _ if it == size => format!("{} }}", pair(it)),
        _ => pair(it),
    };
    [
        ("renumbered", plain.clone(), fields("f", "string", size)),
        ("renamed", plain.clone(), fields("g", "string", 0)),
        ("retyped", plain, fields("f", "int32", 0)),
        (
            "oneofs-merged",
            message(size, |it| format!("oneof o{it} {{ {} }}", pair(it))),
            message(size, merged),
        ),
    ]
}

fn tree(text: String) -> Tree {
    let path: Arc<str> = "acme/v1/m.proto".into();
    let (display, text) = (Arc::clone(&path), text.into_bytes().into());
    let file = SourceFile { path, display, root: 0, imported: false, text };
    Tree::link(vec![Arc::new(FileDecl::parse(file))])
}

fn main() {
    let policy = Config::parse("", None).expect("an empty configuration is valid").policy;
    let mut criterion = Criterion::default().configure_from_args();
    for size in SIZES {
        for (name, old, new) in edits(size) {
            let (old, new) = (tree(old), tree(new));
            let options = Options { baseline: Some(&old), ..Options::on(date(2026, 1, 15)) };
            let mut group = criterion.benchmark_group(format!("changes/{name}"));
            group.throughput(Throughput::Elements(u64::from(size))).sample_size(10);
            group.bench_function(size.to_string(), |bencher| {
                bencher.iter(|| abide_lint::check(&new, &policy, options));
            });
            group.finish();
        }
    }
    criterion.final_summary();
}
