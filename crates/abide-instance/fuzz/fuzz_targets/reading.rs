//! Every way to read a text as a value, and every place in what is read.

use std::sync::{Arc, LazyLock};

use abide_instance::{Dialect, Instance, Notation, ReadOptions, walk};
use abide_schema::value::{Codec, Message, ReadError, Value};
use abide_schema::{FileDecl, SourceFile, Tree, find_missing_imports, find_well_known};
use abide_syntax::Span;

const API: &str =
    include_str!("../../../../crates/abide-oracle/src/runtimes/reading/reading.proto");

/// A tree with every kind of field, and the well-known types.
static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let mut files = vec![file("reading.proto", API)];
    loop {
        let missing = find_missing_imports(&files);
        let found: Vec<_> =
            missing.iter().filter_map(|path| Some(file(path, find_well_known(path)?))).collect();
        if found.is_empty() {
            break;
        }
        files.extend(found);
    }
    let tree = Tree::link(files);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    tree
});

fn file(path: &str, text: &str) -> Arc<FileDecl> {
    let (path, display): (Arc<str>, Arc<str>) = (path.into(), path.into());
    let text = text.as_bytes().into();
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
}

pub(crate) fn everything(notation: Notation, bytes: &[u8]) {
    let tree = &*TREE;
    let ty = tree.message_named("reading.Everything").map(|it| it.id);
    assert!(ty.is_some());
    for dialect in [None, Some(Dialect::Protobuf), Some(Dialect::Envoy)] {
        for (ty, path) in [(ty, ""), (None, ""), (ty, "a.*")] {
            let options = ReadOptions { notation, ty, dialect };
            ask(tree, &Instance::read_at(tree, bytes, path, options), bytes);
        }
    }
}

fn ask(tree: &Tree, instance: &Instance, bytes: &[u8]) {
    let check = |span: Span| {
        assert!(span.start <= span.end && span.end as usize <= bytes.len(), "{span:?}");
    };
    let check_error = |error: &ReadError| {
        assert!(!error.message.is_empty());
        check(error.span);
        error.related.iter().for_each(|(span, _)| check(*span));
    };
    instance.errors.iter().chain(&instance.leniencies).for_each(check_error);
    instance.comments.iter().for_each(|span| check(*span));
    for document in &instance.documents {
        check(document.span);
        let Some(reading) = &document.reading else { continue };
        reading.errors.iter().chain(&reading.leniencies).for_each(check_error);
        for name in &reading.undeclared {
            check(name.key);
            check(name.value);
        }
        check_places(&reading.message, &check);
        walk(tree, &reading.message, document.span, &mut |visit| check(visit.span));
        // What was read without an error is written and read again.
        let codec = Codec::new(tree);
        let bytes = codec.encode(&reading.message);
        if reading.errors.is_empty() && document.dialect == Dialect::Protobuf {
            let again = codec.decode(reading.message.ty, &bytes).expect("it was just written");
            assert_eq!(codec.encode(&again), bytes);
        }
    }
}

fn check_places(message: &Message, check: &dyn Fn(Span)) {
    for entry in &message.entries {
        check(entry.key);
        check(entry.span);
        if let Value::Message(inner) = &entry.value {
            check_places(inner, check);
        }
    }
    message.content.iter().for_each(|content| check_places(content, check));
}
