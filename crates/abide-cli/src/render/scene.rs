//! What every renderer is given, and how it names places.

use std::collections::BTreeMap;

use abide::{Finding, Label, Location, Report, Severity};
use abide_schema::{Place, Tree};
use abide_syntax::{LineIndex, Position, Span};

/// How output looks, as the options of every command say it.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Whether to use colour.
    pub(crate) color: bool,
    /// How wide lines for people may be, in columns.
    pub(crate) width: usize,
    /// Less: errors only, and no summary.
    pub(crate) quiet: bool,
    /// More: why each finding has its severity, and every reason.
    pub(crate) verbose: bool,
}

/// What a renderer needs besides the findings.
pub(crate) struct Scene<'a> {
    /// The tree that was judged.
    pub(crate) tree: &'a Tree,
    /// The old tree, where there is one.
    pub(crate) old: Option<&'a Tree>,
    /// The configuration, with the name to show for it.
    pub(crate) config: Option<&'a TextFile>,
    /// The accepted findings, with the name to show for them.
    pub(crate) accepted: Option<&'a TextFile>,
    /// What stands before the path of a file of the tree so that it counts from the top of the
    /// repository, else from the current folder.
    pub(crate) prefix: &'a str,
    /// The same for the configuration and the accepted findings.
    pub(crate) config_prefix: &'a str,
    /// How it looks.
    pub(crate) look: Look,
}

/// A text that findings may point into and that is no part of the tree.
pub(crate) struct TextFile {
    /// The name to show.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
}

/// Appends a text, in the colour of an escape code where there are colours.
pub(super) fn paint(out: &mut String, color: bool, code: &str, text: &str) {
    if color {
        out.push_str(&format!("\x1b[{code}m{text}\x1b[0m"));
    } else {
        out.push_str(text);
    }
}

/// A place as a reader counts: the end column is exclusive.
#[derive(Default)]
pub(super) struct Lines<'a> {
    pub(super) path: &'a str,
    /// What stands before it so that it counts from the top of the repository.
    pub(super) prefix: &'a str,
    pub(super) range: Option<(Position, Position)>,
}

impl Lines<'_> {
    /// The path behind its prefix.
    pub(super) fn full_path(&self) -> String {
        full_path(self.prefix, self.path)
    }
}

/// A path behind a prefix, with every `..` undone: services match findings with the files of a
/// repository by the text of their paths.
pub(super) fn full_path(prefix: &str, path: &str) -> String {
    let mut prefix = prefix.trim_end_matches('/');
    let mut path = path;
    while let Some(rest) = path.strip_prefix("../").filter(|_| !prefix.is_empty()) {
        prefix = prefix.rsplit_once('/').map_or("", |(above, _)| above);
        path = rest;
    }
    if prefix.is_empty() { path.to_owned() } else { format!("{prefix}/{path}") }
}

impl<'a> Scene<'a> {
    pub(super) fn shown<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r Finding> {
        let quiet = self.look.quiet;
        report.findings.iter().filter(move |it| !quiet || it.severity == Severity::Error)
    }

    pub(super) fn lines(&self, location: &Location) -> Lines<'a> {
        match location {
            Location::Tree(place) => self.lines_in(self.tree, *place),
            Location::Old(place) => self.old_lines(*place),
            Location::Config(span) => self.text_lines(self.config, *span),
            Location::Accepted(span) => self.text_lines(self.accepted, *span),
        }
    }

    /// Lines of the old tree.
    pub(super) fn old_lines(&self, place: Place) -> Lines<'a> {
        self.old.map_or(Lines::default(), |old| self.lines_in(old, place))
    }

    pub(super) fn label_lines(&self, label: &Label) -> Lines<'a> {
        self.lines_in(self.tree, label.place)
    }

    fn lines_in(&self, tree: &'a Tree, place: Place) -> Lines<'a> {
        let decl = tree.file(place.file).decl();
        Lines { path: &decl.display, prefix: self.prefix, range: decl.lines(place.span) }
    }

    fn text_lines(&self, file: Option<&'a TextFile>, span: Span) -> Lines<'a> {
        let Some(file) = file else { return Lines::default() };
        let text = file.text.as_bytes();
        let index = LineIndex::new(text);
        let range = (index.position(text, span.start), index.position(text, span.end));
        Lines { path: &file.name, prefix: self.config_prefix, range: Some(range) }
    }

    /// The findings to show, by the paths of their files.
    pub(super) fn by_path<'r>(&self, report: &'r Report) -> BTreeMap<String, Vec<&'r Finding>> {
        let mut files: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
        for finding in self.shown(report) {
            let path = self.lines(&finding.location).full_path();
            files.entry(path).or_default().push(finding);
        }
        files
    }

    /// What is told below a finding: whom a change breaks, the value that shows it, why, and what
    /// to do; each with the word it stands under.
    pub(super) fn notes(&self, finding: &Finding) -> Vec<(&'static str, String)> {
        let mut notes = Vec::new();
        if let Some(change) = &finding.change {
            if !change.effects.is_empty() {
                notes.push(("breaks", change.effects.to_string()));
            }
            for lost in &change.symbols {
                notes.push((lost.surface.name(), lost.symbol.clone()));
            }
            if let Some(witness) = &change.witness {
                let side = witness.direction.writer();
                let value = match witness.value.as_str() {
                    "" => "the empty message".to_owned(),
                    _ => witness.shown(),
                };
                let text = format!(
                    "{value} as {side} {} on {}: {}",
                    witness.message, witness.surface, witness.observed,
                );
                notes.push(("witness", text));
            }
        }
        for (head, text) in [("why", &finding.why), ("help", &finding.help)] {
            notes.extend(text.clone().map(|text| (head, text)));
        }
        if self.look.verbose {
            notes.extend(finding.severity_reason.clone().map(|text| ("severity", text)));
            notes.push(("fingerprint", finding.fingerprint()));
        }
        notes
    }
}
