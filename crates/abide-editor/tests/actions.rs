//! Each quick fix does what it says: the text parses, the finding is gone, and nothing else came.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.
#![allow(clippy::disallowed_methods, reason = "the seed can be set")]

#[path = "../../abide-lint/tests/fixable/trees.rs"]
mod trees;

use std::sync::Arc;

use abide_editor::{ActionKind, CheckInputs, EditorAction, Project};
use abide_lint::{Config, Finding};
use abide_schema::{FileDecl, FileKey, SourceFile};
use abide_syntax::Span;
use fastrand::Rng;
use jiff::civil::date;
use trees::{Files, POLICY, part};

fn source(path: &str, text: &str) -> SourceFile {
    let (path, text): (Arc<str>, _) = (path.into(), text.as_bytes().into());
    SourceFile { display: Arc::clone(&path), path, root: 0, imported: false, text }
}

/// A project in which all files are open.
fn project(files: &Files) -> Project {
    let config = Config::parse(POLICY, None).unwrap();
    let judge = CheckInputs::new(config, date(2026, 1, 15));
    let parse = |(path, text): (&String, &String)| Arc::new(FileDecl::parse(source(path, text)));
    let mut project = Project::new(judge, files.iter().map(parse).collect());
    project.open(files.keys().map(|it| (0, Arc::from(&**it))).collect());
    project
}

/// The files after an action.
fn applied(files: &Files, action: &EditorAction) -> Files {
    let mut files = files.clone();
    for it in &action.edits {
        let text = files.get_mut(&*it.file.1).unwrap();
        let mut edits = it.edits.clone();
        edits.sort_by_key(|it| it.span.start);
        for edit in edits.iter().rev() {
            text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        }
    }
    files
}

/// How many findings a rule has in a file.
fn count(findings: &[Finding], of: &Finding) -> usize {
    let is_alike = |it: &&Finding| it.rule == of.rule && it.element == of.element;
    findings.iter().filter(is_alike).count()
}

#[test]
fn each_quick_fix_does_what_it_says() {
    let seed = std::env::var("SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let mut rng = Rng::with_seed(seed);
    let mut tried = 0;
    for _ in 0..8 {
        let files: Files = (0..2).flat_map(|n| part(&mut rng, n)).collect();
        let mut before = project(&files);
        for path in files.keys() {
            let key: FileKey = (0, Arc::from(&**path));
            let actions = before.collect_actions(&key, Span::new(0, files[path].len() as u32));
            let analysis = before.last_analysis().unwrap();
            let in_file: Vec<&Finding> = analysis.iter_findings_in(&key).collect();
            for action in actions.iter().filter(|it| it.kind == ActionKind::Fix) {
                let finding = in_file[action.finding];
                let made = applied(&files, action);
                let mut after = project(&made);
                let found = after.analyze().findings.clone();
                let said = format!("SEED={seed}: {path}: {}: {}", action.title, finding.message);
                for it in after.files() {
                    assert!(it.parses, "{said}\n{made:#?}");
                }
                assert!(
                    count(&found, finding) < count(&analysis.findings, finding),
                    "{said} is still there\n{made:#?}"
                );
                // Whether an import is used is not known while a name of its file is not found.
                for it in found.iter().filter(|it| it.rule != "import-unused") {
                    let alike = |all: &[Finding]| all.iter().filter(|a| a.rule == it.rule).count();
                    let more = alike(&found) > alike(&analysis.findings);
                    assert!(!more, "{said} causes {}: {}\n{made:#?}", it.rule, it.message);
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 30, "{tried} quick fixes were tried");
}
