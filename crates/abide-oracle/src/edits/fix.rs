//! `cargo xtask oracle --only fix`: checks that `abide lint --fix` keeps what a tree says.
//!
//! A copy of each tree is fixed twice. First with the fixes that are always applied: the real protoc
//! must then write the same descriptors, but for imports that are gone. Then with all of them,
//! renames included: protoc must compile the result. After each, nothing is left to fix.

use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::Protoc;
use abide_lint::{Applied, REMEDIES};

use crate::edits::layout::said;
use crate::edits::upgrade::compile_tree;
use crate::protoc::sets::index_by_name;

/// Fixes a copy of these trees; true if nothing differs.
pub(crate) fn run(corpora: &[Corpus], protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let mut agreed = true;
    for corpus in corpora {
        let theirs = compile_tree(corpus, &corpus.roots(), &corpus.files, protoc, false)?;
        let theirs = index_by_name(&theirs)?;
        for applied in [Applied::Always, Applied::IfCompatible] {
            let copy = copy(corpus, applied)?;
            let fixed = fix(&copy, abide, applied)?;
            let again = fix(&copy, abide, applied)?;
            let mut faults = Vec::new();
            if again.contains("note: fixed ") {
                faults.push(format!("a second run fixes more: {again}"));
            }
            let ours = compile_tree(&copy, &copy.roots(), &copy.files, protoc, false)?;
            let ours = index_by_name(&ours)?;
            for file in &copy.files {
                let (Some(our), Some(their)) =
                    (ours.files.get(file.as_str()), theirs.files.get(file.as_str()))
                else {
                    faults.push(format!("{file}: does not compile"));
                    continue;
                };
                let ((our_imports, our), (imports, their)) = (said(our)?, said(their)?);
                let is_there = |it: &_| imports.contains(it);
                if !our_imports.iter().all(is_there) {
                    faults.push(format!("{file}: has another import"));
                }
                if applied == Applied::Always && our != their {
                    faults.push(format!("{file}: has another descriptor"));
                }
            }
            let words = applied.word();
            let said = fixed.lines().filter_map(|it| it.strip_prefix("note: fixed ")).next();
            let count = said.unwrap_or("nothing");
            let refused = fixed.lines().filter(|it| it.contains(": did not ")).count();
            let name = &corpus.name;
            println!(
                "fix of {name} ({words}): fixed {count}; {refused} fixes refused; {} differences",
                faults.len()
            );
            for fault in faults.iter().take(show.max(1) * 8) {
                println!("  {fault}");
            }
            agreed &= faults.is_empty() && !copy.files.is_empty();
        }
    }
    Ok(agreed)
}

/// A copy of a tree, with a policy that reports all that can be fixed.
fn copy(corpus: &Corpus, applied: Applied) -> Result<Corpus> {
    let name = format!("{}-fix-{}", corpus.name, applied.word());
    let root = corpora::make_fresh_folder(&name)?;
    for file in &corpus.files {
        corpora::write(&root.join(file), &fs::read(corpus.root.join(file))?)?;
    }
    let rules = REMEDIES.iter().filter(|it| it.applied <= applied);
    let rules: String = rules.map(|it| format!("{} = \"warning\"\n", it.rule.id)).collect();
    corpora::write(&root.join("abide.toml"), format!("[rules]\n{rules}").as_bytes())?;
    corpora::tree(&name, root, corpus.imports.clone())
}

/// Fixes a tree, and returns the notes about it.
fn fix(tree: &Corpus, abide: &Path, applied: Applied) -> Result<String> {
    let mut command = Command::new(abide);
    command.current_dir(&tree.root).args(["lint", "--fix", "--statistics"]);
    for import in &tree.imports {
        command.arg("-I").arg(import);
    }
    for it in REMEDIES.iter().filter(|it| it.applied <= applied) {
        command.args(["--select", it.rule.id]);
    }
    let output = command.output()?;
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0 | 1) => Ok(notes),
        _ => Err(format!("{}: {notes}", tree.name).into()),
    }
}
