//! A file that is typed piece by piece, with questions in between: all answers come.
#![no_main]

use std::sync::Arc;

use abide_editor::{CheckInputs, Project};
use abide_lint::Config;
use abide_schema::{FileDecl, FileKey, SourceFile};
use jiff::civil::date;

const PATH: &str = "acme/user/v1/user.proto";

fn source(text: &str) -> SourceFile {
    let path: Arc<str> = PATH.into();
    let text = text.as_bytes().into();
    SourceFile { display: Arc::clone(&path), path, root: 0, imported: false, text }
}

fn open(text: &str) -> Project {
    let judge = CheckInputs::new(Config::default(), date(2026, 1, 15));
    let mut project = Project::new(judge, vec![Arc::new(FileDecl::parse(source(text)))]);
    project.open([key()].into());
    project
}

fn key() -> FileKey {
    (0, PATH.into())
}

fn ask(project: &mut Project, offset: u32) {
    let key = key();
    project.hover(&key, offset);
    project.complete_at(&key, offset);
    project.collect_outline(&key);
    project.collect_folds(&key);
    project.missing_imports(&key);
    project.find_references(&key, offset);
    if let Some(analysis) = project.last_analysis() {
        analysis.find_highlights(&key, offset);
        analysis.find_definition(&key, offset);
        analysis.find_type_definition(&key, offset);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&step, text)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let ends: Vec<usize> = text.char_indices().map(|it| it.0).collect();
    let mut project = open("");
    for end in ends.iter().step_by(usize::from(step).max(text.len() / 8 + 1)) {
        project.set(source(&text[..*end]));
        ask(&mut project, *end as u32);
        ask(&mut project, (*end / 2) as u32);
    }
    project.set(source(&text));
    ask(&mut project, text.len() as u32);
});
