//! Files of an old tree that do not parse. What they declared is not known, so nothing is said about
//! it: a git source has them as they were when they last parsed, any other has lost them.

use std::sync::Arc;

use abide_schema::{FileDecl, FileText, SourceFile};

use super::ParsedFiles;
use crate::printable::escape_unprintable;
use crate::source::{ReadProblem, Source};

/// Reads each file of an old tree that does not parse as it was before, and says so.
pub(super) fn read_as_last_parsed(source: &Source, old: &mut ParsedFiles) {
    for file in old.files.iter_mut().filter(|it| !it.parses && !it.imported) {
        let name = escape_unprintable(&file.display).to_string();
        let error = file.describe_parse_failure();
        if file.has_unknown_edition() {
            old.notes.push(format!("in the baseline, `{name}` is not compared: {error}"));
            continue;
        }
        let parse = |text: FileText| {
            FileDecl::parse(SourceFile {
                path: Arc::clone(&file.path),
                display: Arc::clone(&file.display),
                root: file.root,
                imported: file.imported,
                text,
            })
        };
        let earlier = source.find_earlier(file.root, &file.path, &|text| {
            let decl = parse(text);
            decl.parses.then_some(decl)
        });
        match earlier {
            Some((decl, commit)) => {
                old.notes.push(format!(
                    "in the baseline, `{name}` is read as it was in commit `{commit}`: {error}"
                ));
                *file = Arc::new(decl);
            }
            None => old.unreadable.push(ReadProblem {
                path: file.display.to_string(),
                reason: format!("{error}; its packages were not compared"),
                is_lost: true,
            }),
        }
    }
}
