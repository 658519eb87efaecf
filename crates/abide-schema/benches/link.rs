//! From texts to declarations to a tree to a descriptor set: `cargo bench -p abide-schema`.

#[path = "../../abide-syntax/benches/generated/mod.rs"]
mod generated;

use std::convert::Infallible;
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree, encode_pieces, set_files};
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
    let ids: Vec<_> = tree.files().map(|file| file.id).collect();
    let set = set_files(&tree, &ids, true);
    let encode = || {
        let mut bytes = 0;
        let written: Result<(), Infallible> = encode_pieces(&tree, &set, true, |piece| {
            bytes += piece.len();
            Ok(())
        });
        written.map(|()| bytes)
    };
    group.bench_function("encode", |bencher| bencher.iter(encode));
    group.bench_function("graph", |bencher| bencher.iter(|| tree.build_graph().compute_depths()));
    group.finish();
    criterion.final_summary();
}
