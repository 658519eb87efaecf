//! All rules, all hashes, and what changes reach, over a linked tree: `cargo bench -p abide-lint`.

#[path = "../../abide-syntax/benches/generated/mod.rs"]
mod generated;

use std::sync::Arc;

use abide_lint::{Config, Finding, Options, find_dependents};
use abide_schema::{FileDecl, SourceFile, Tree};
use criterion::{BatchSize, Criterion, Throughput};
use jiff::civil::date;

fn main() {
    let declare = |(path, text): (String, String)| {
        let path: Arc<str> = path.into();
        let display = Arc::clone(&path);
        let text = text.into_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(generated::tree().into_iter().map(declare).collect());
    let edited =
        |(path, text): (String, String)| declare((path, text.replacen("string ", "bytes ", 1)));
    let edited = Tree::link(generated::tree().into_iter().map(edited).collect());
    let policy = Config::parse("", None).expect("an empty configuration is valid").policy;
    let options = Options::on(date(2026, 1, 15));

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("abide");
    group.throughput(Throughput::Elements(tree.files().len() as u64));
    group.bench_function("check", |bencher| {
        bencher.iter(|| abide_lint::check(&tree, &policy, options))
    });
    group.bench_function("hash", |bencher| bencher.iter(|| abide_hash::TreeHashes::of(&tree)));
    let since = Options { baseline: Some(&tree), ..options };
    group.bench_function("breaking", |bencher| {
        bencher.iter(|| abide_lint::check(&edited, &policy, since));
    });
    let changes = abide_lint::check(&edited, &policy, since).findings;
    group.bench_function("dependents", |bencher| {
        let find = |changes: &mut Vec<Finding>| find_dependents(changes, &edited, Some(&tree), &[]);
        bencher.iter_batched_ref(|| changes.clone(), find, BatchSize::LargeInput);
    });
    group.finish();
    criterion.final_summary();
}
