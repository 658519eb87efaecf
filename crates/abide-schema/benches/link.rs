//! From texts to declarations to a tree: `cargo bench -p abide-schema`.

#[path = "../../abide-syntax/benches/generated/mod.rs"]
mod generated;

use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};
use criterion::{BatchSize, Criterion, Throughput};

fn main() {
    let sources: Vec<SourceFile> = generated::tree()
        .into_iter()
        .map(|(path, text)| {
            let path: Arc<str> = path.into();
            let display = Arc::clone(&path);
            SourceFile { path, display, root: 0, imported: false, text: text.into_bytes().into() }
        })
        .collect();
    let declare = || -> Vec<Arc<FileDecl>> {
        sources.iter().map(|source| Arc::new(FileDecl::parse(source.clone()))).collect()
    };
    let files = declare();
    let tree = Tree::link(files.clone());
    assert!(tree.problems().iter().all(|it| !it.kind.is_error()), "{:?}", tree.problems().first());

    let bytes: usize = sources.iter().map(|source| source.text.len()).sum();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("schema");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("declare", |bencher| bencher.iter(declare));
    group.bench_function("link", |bencher| {
        bencher.iter_batched(|| files.clone(), Tree::link, BatchSize::LargeInput);
    });
    group.bench_function("graph", |bencher| bencher.iter(|| tree.graph().depths()));
    group.finish();
    criterion.final_summary();
}
