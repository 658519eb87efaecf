//! Renaming, as far as the policy allows it.

use abide::{Finding, Severity};
use abide_schema::{FileKey, TypeDecl};
use abide_syntax::Span;

use crate::names::{Meaning, last_component};
use crate::navigation::{Identity, Occurrence};
use crate::project::Project;
use crate::text_edit::{FileEdits, TextEdit};

/// What can be renamed at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamable {
    /// The part of the name that changes.
    pub span: Span,
    /// The name that it has.
    pub name: String,
}

/// Why something is not renamed, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameRefusal(pub String);

impl Project {
    /// What can be renamed at an offset of a file.
    pub fn renamable(&mut self, file: &FileKey, offset: u32) -> Result<Renamable, RenameRefusal> {
        let text = self.file(file).and_then(|it| it.source_text()).map(<[u8]>::to_vec);
        let text = text.unwrap_or_default();
        let refuse = |why: &str| Err(RenameRefusal(why.to_owned()));
        match self.analysis().meaning_at(file, offset) {
            None => refuse("There is no name to rename here."),
            Some((Meaning::File(_), _)) => {
                refuse("Rename the file itself; Abide renames what is declared in it.")
            }
            Some((Meaning::Element(it), _)) if !it.file().is_judged() => refuse(&format!(
                "`{}` is declared in `{}`, which is only imported and not part of this tree.",
                it.full_name(),
                it.file().path()
            )),
            Some((Meaning::Element(abide_schema::Element::Field(it)), _))
                if matches!(it.decl().ty, TypeDecl::Group(_)) =>
            {
                refuse("A group has the name of its type; rename the type.")
            }
            Some((_, span)) => {
                let span = last_component(&text, span);
                Ok(Renamable { span, name: span.str(&text).to_owned() })
            }
        }
    }

    /// The edits that rename what an offset of a file names, in all files that use it. Refused if
    /// the policy forbids the change, compared with the old tree.
    pub fn rename(
        &mut self,
        file: &FileKey,
        offset: u32,
        name: &str,
    ) -> Result<Vec<FileEdits>, RenameRefusal> {
        let old = self.renamable(file, offset)?;
        if !is_identifier(name) {
            return Err(RenameRefusal(format!(
                "`{name}` is not a name: use letters, digits and `_`, and begin with a letter or `_`."
            )));
        }
        if old.name == name {
            return Ok(Vec::new());
        }
        let Some((meaning, _)) = self.analysis().meaning_at(file, offset) else {
            return Ok(Vec::new());
        };
        let identity = Identity::of(meaning);
        let edits = edits_of(self.occurrences(&identity), name);
        self.refuse_if_forbidden(&edits)?;
        Ok(edits)
    }

    /// Refuses edits after which there are errors that were not there before.
    fn refuse_if_forbidden(&mut self, edits: &[FileEdits]) -> Result<(), RenameRefusal> {
        let texts = edits.iter().filter_map(|it| {
            let text = self.file(&it.file)?.source_text()?;
            Some((it.file.clone(), abide_upgrade::apply(text, it.edits.clone()).ok()?))
        });
        let mut after = self.with_texts(texts.collect());
        let mut before = self.with_texts(Vec::new());
        before.open(edits.iter().map(|it| it.file.clone()).collect());
        after.open(edits.iter().map(|it| it.file.clone()).collect());
        let known: Vec<(&str, String)> =
            errors(&before.analysis().findings).map(|it| (it.rule, it.element.clone())).collect();
        let new = errors(&after.analysis().findings).find(|it| {
            !known.iter().any(|(rule, element)| *rule == it.rule && *element == it.element)
        });
        match new {
            None => Ok(()),
            Some(finding) => {
                let why = finding.severity_reason.as_ref();
                let why = why.map(|it| format!(" ({it})")).unwrap_or_default();
                Err(RenameRefusal(format!(
                    "Not renamed: {} [{}]{why}",
                    finding.message, finding.rule
                )))
            }
        }
    }
}

fn errors(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|it| it.severity == Severity::Error)
}

fn edits_of(occurrences: Vec<Occurrence>, name: &str) -> Vec<FileEdits> {
    let mut files: Vec<FileEdits> = Vec::new();
    for Occurrence { file, span, .. } in occurrences {
        let edit = TextEdit::replace(span, name);
        match files.last_mut().filter(|it| it.file == file) {
            Some(last) => last.edits.push(edit),
            None => files.push(FileEdits { file, edits: vec![edit] }),
        }
    }
    files
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
}
