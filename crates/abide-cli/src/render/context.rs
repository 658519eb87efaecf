//! The context of every renderer, and the names of places.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use abide_change::{Effects, Witness};
use abide_lint::{
    Behind, Dependent, ElementUser, FeatureFile, Finding, Impact, Location, OldTree, Origin,
    PackageOwners, Report, Severity, backtick, find_old_file, pluralize,
};
use abide_schema::{File, Tree};
use abide_source::ForgeLinks;
use abide_syntax::{LineIndex, Position, Span};

/// The style of output, by the options of every command.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// True to use colour.
    pub(crate) color: bool,
    /// True if the output goes to a terminal.
    pub(crate) is_terminal: bool,
    /// The width of lines for people, in columns.
    pub(crate) width: usize,
    /// Less: errors only, and no summary.
    pub(crate) quiet: bool,
    /// More: why each finding has its severity, and every reason.
    pub(crate) verbose: bool,
    /// True to show waived and accepted findings, too.
    pub(crate) shows_exempted: bool,
    /// The lines after which no more findings are shown; `None` shows all.
    pub(crate) max_lines: Option<usize>,
}

impl Style {
    /// Output without colour in which nothing is left out, as wide as this.
    pub(crate) const fn plain(width: usize) -> Style {
        Style {
            color: false,
            is_terminal: false,
            width,
            quiet: false,
            verbose: false,
            shows_exempted: false,
            max_lines: None,
        }
    }
}

/// The origin of a report: what was judged, and how.
pub(crate) struct ReportOrigin {
    /// The tree, as the user names it.
    pub(crate) source: String,
    /// The old trees that it was compared with, as the user names them.
    pub(crate) old: Vec<String>,
    /// The day as of which it was judged.
    pub(crate) as_of: String,
    /// The pages of the files on a forge.
    pub(crate) forge: Option<ForgeLinks>,
}

/// Everything that a renderer needs besides the findings.
pub(crate) struct RenderContext<'a> {
    /// The tree that was judged.
    pub(crate) tree: &'a Tree,
    /// The old tree, where there is one.
    pub(crate) old: Option<&'a Tree>,
    /// The old trees besides it.
    pub(crate) older: &'a [OldTree],
    /// The configuration, with the name to show for it.
    pub(crate) config: Option<&'a TextFile>,
    /// The accepted findings, with the name to show for them.
    pub(crate) accepted: Option<&'a TextFile>,
    /// The lists of features, in the order of their numbers.
    pub(crate) features: &'a [FeatureFile],
    /// The files that hold instances, in the order of their numbers.
    pub(crate) instances: &'a [TextFile],
    /// True if only the instances are judged, and the tree is not.
    pub(crate) are_only_instances: bool,
    /// The packages that the change touches, with their owners.
    pub(crate) touched: &'a [PackageOwners],
    /// Where the report comes from, if its format says so.
    pub(crate) origin: Option<&'a ReportOrigin>,
    /// The prefix that makes a path of the tree relative to the top of the repository, or without
    /// one to the current folder.
    pub(crate) prefix: &'a str,
    /// The same for every other file.
    pub(crate) config_prefix: &'a str,
    /// The style of the output.
    pub(crate) style: Style,
}

/// A text outside the tree that findings may point into.
#[derive(Clone)]
pub(crate) struct TextFile {
    /// The name to show.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
}

/// A text that findings point into.
#[derive(Clone, Copy)]
pub(super) enum SourceText<'a> {
    /// A file of one of the trees.
    Proto(File<'a>),
    /// A list of features in the tree.
    Features(&'a FeatureFile),
    /// Any other.
    Other(&'a TextFile),
}

impl<'a> SourceText<'a> {
    /// The name to show.
    pub(super) fn name(self) -> &'a str {
        match self {
            SourceText::Proto(file) => &file.decl().display,
            SourceText::Features(file) => &file.path,
            SourceText::Other(file) => &file.name,
        }
    }

    /// Its bytes; `None` for a file that was read from a descriptor.
    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            SourceText::Proto(file) => file.decl().source_text(),
            SourceText::Features(file) => Some(file.text.as_bytes()),
            SourceText::Other(file) => Some(file.text.as_bytes()),
        }
    }

    /// The lines and columns of a span, where they are known.
    pub(super) fn range(self, span: Span) -> Option<(Position, Position)> {
        match self {
            SourceText::Proto(file) => file.decl().line_range(span),
            SourceText::Features(FeatureFile { text, .. })
            | SourceText::Other(TextFile { text, .. }) => {
                let text = text.as_bytes();
                let index = LineIndex::new(text);
                Some((index.position(text, span.start), index.position(text, span.end)))
            }
        }
    }
}

/// Appends a text, in the colour of an escape code if `color` is set.
pub(super) fn write_styled(out: &mut String, color: bool, code: &str, text: &str) {
    if color {
        out.push_str(&format!("\x1b[{code}m{text}\x1b[0m"));
    } else {
        out.push_str(text);
    }
}

/// A place in lines and columns, counted from 1; the end column is exclusive.
#[derive(Default)]
pub(super) struct TextPlace<'a> {
    pub(super) path: &'a str,
    /// The prefix that makes the path relative to the top of the repository.
    pub(super) prefix: &'a str,
    pub(super) range: Option<(Position, Position)>,
}

impl TextPlace<'_> {
    /// The path with its prefix.
    pub(super) fn full_path(&self) -> String {
        full_path(self.prefix, self.path)
    }
}

/// A path with a prefix, and without `..`: services match findings with the files of a repository
/// by the text of their paths.
pub(crate) fn full_path(prefix: &str, path: &str) -> String {
    let mut prefix = prefix.trim_end_matches('/');
    let mut path = path;
    while let Some(rest) = path.strip_prefix("../").filter(|_| !prefix.is_empty()) {
        prefix = prefix.rsplit_once('/').map_or("", |(above, _)| above);
        path = rest;
    }
    if prefix.is_empty() { path.to_owned() } else { format!("{prefix}/{path}") }
}

/// The number of affected packages that are shown to people.
const SHOWN_DEPENDENTS: usize = 3;

/// The number of clients that are named of those that use an element.
const SHOWN_USERS: usize = 5;

/// Whom a change breaks on which surface, in the words of people: those who stay with the old side are
/// old clients, those who move to the new side are new ones.
pub(super) fn describe_effects(effects: Effects) -> String {
    effects
        .to_string()
        .replace(" in both directions", " for old and new clients")
        .replace(" backward", " for old clients")
        .replace(" forward", " for new clients")
}

/// The packages that a change reaches, the nearest with their paths.
pub(super) fn describe_dependents(dependents: &[Dependent]) -> Option<String> {
    let shown = dependents.iter().take(SHOWN_DEPENDENTS).map(|it| {
        let steps: Vec<String> = it.path.iter().map(String::as_str).map(backtick).collect();
        format!("{} ({})", backtick(&it.package), steps.join(" → "))
    });
    let mut parts: Vec<String> = shown.collect();
    let more = dependents.len().saturating_sub(SHOWN_DEPENDENTS);
    if more > 0 {
        parts.push(pluralize(more, "more package"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The old trees that an element breaks, where there are several: since which one, and all of them.
fn describe_baselines(finding: &Finding) -> Option<(String, String)> {
    let names: Vec<&str> = finding
        .baselines
        .iter()
        .map(|it| it.name.strip_prefix("git:").unwrap_or(&it.name))
        .collect();
    Some((format!("since {}", names.first()?), names.join(", ")))
}

/// The clients that use the element of a finding, where files say so.
pub(super) fn describe_users(users: &[ElementUser]) -> Option<String> {
    let shown = users.iter().take(SHOWN_USERS).map(describe_user);
    let mut parts: Vec<String> = shown.collect();
    let more = users.len().saturating_sub(SHOWN_USERS);
    if more > 0 {
        parts.push(pluralize(more, "more client"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn describe_user(user: &ElementUser) -> String {
    let mut facts = Vec::new();
    if !user.releases.is_empty() {
        facts.push(user.releases.join(" and "));
    }
    facts.extend(user.last.map(|it| format!("last on {it}")));
    facts.extend(user.count.map(|it| match it {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }));
    match facts.is_empty() {
        true => user.client.clone(),
        false => format!("{} ({})", user.client, facts.join(", ")),
    }
}

/// Whom an element concerns, each with its heading: the old trees that it breaks, the clients that use
/// it, and who is behind, if it compares what runs with a tree.
pub(super) fn list_concerned(finding: &Finding) -> Vec<(String, String)> {
    let users = describe_users(&finding.users).map(|it| ("used by".to_owned(), it));
    let behind = finding.behind.map(|it| ("behind".to_owned(), describe_behind(it).to_owned()));
    describe_baselines(finding).into_iter().chain(users).chain(behind).collect()
}

/// Who is behind, for people.
fn describe_behind(behind: Behind) -> &'static str {
    match behind {
        Behind::Target => "what runs: the tree is newer",
        Behind::Tree => "the tree: what runs is newer",
    }
}

/// A value that shows what breaks, in a phrase.
fn describe_witness(witness: &Witness) -> String {
    let side = witness.direction.writer();
    let value = match witness.value.as_str() {
        "" => "(the empty message)".to_owned(),
        _ => backtick(witness.shown()),
    };
    let Witness { message, surface, observed, .. } = witness;
    format!("{side} {message} {value} on {surface}: {observed}")
}

/// Findings with less of it come first.
fn order(finding: &Finding) -> (Reverse<Severity>, Impact) {
    (Reverse(finding.severity), Impact::of(finding))
}

impl<'a> RenderContext<'a> {
    /// A context of nothing but a tree, perhaps beside an old one.
    pub(crate) const fn of_trees(tree: &'a Tree, old: Option<&'a Tree>, style: Style) -> Self {
        RenderContext {
            tree,
            old,
            older: &[],
            config: None,
            accepted: None,
            features: &[],
            instances: &[],
            are_only_instances: false,
            touched: &[],
            origin: None,
            prefix: "",
            config_prefix: "",
            style,
        }
    }

    pub(super) fn visible_findings<'r>(
        &self,
        report: &'r Report,
    ) -> impl Iterator<Item = &'r Finding> {
        let quiet = self.style.quiet;
        report.findings.iter().filter(move |it| !quiet || it.severity == Severity::Error)
    }

    /// The waived and accepted findings, as far as they are asked for.
    pub(super) fn visible_exempted<'r>(&self, report: &'r Report) -> &'r [Finding] {
        if self.style.shows_exempted { &report.exempted } else { &[] }
    }

    /// The findings to show: errors first, and of these the heaviest.
    pub(super) fn sort_by_impact<'r>(&self, report: &'r Report) -> Vec<&'r Finding> {
        let mut findings: Vec<&Finding> = self.visible_findings(report).collect();
        findings.sort_by_key(|it| order(it));
        findings
    }

    /// Leaves only the first findings of that order; 0 leaves all. Returns a note about the others,
    /// which still count.
    pub(crate) fn limit(&self, report: &mut Report, limit: Option<usize>) -> Option<String> {
        let limit = limit.filter(|it| *it > 0)?;
        let shown = self.visible_findings(report).count();
        let mut indices: Vec<usize> = (0..report.findings.len()).collect();
        indices.sort_by_key(|&at| (order(&report.findings[at]), at));
        let kept: BTreeSet<usize> = indices.into_iter().take(limit).collect();
        let mut at = 0..;
        report.findings.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
        let hidden = shown.saturating_sub(limit);
        (hidden > 0).then(|| format!("{} not shown", pluralize(hidden, "more finding")))
    }

    /// The text that a place lies in, whatever it is part of.
    pub(super) fn find_text(&self, origin: Origin) -> Option<SourceText<'a>> {
        let file = match origin {
            Origin::Tree(file) => return Some(SourceText::Proto(self.tree.file(file))),
            Origin::Old(file) => {
                return find_old_file(self.old, self.older, file).map(SourceText::Proto);
            }
            Origin::Config => self.config,
            Origin::Accepted => self.accepted,
            Origin::Features(index) => {
                return self.features.get(index as usize).map(SourceText::Features);
            }
            Origin::Instance(index) => self.instances.get(index as usize),
        };
        file.map(SourceText::Other)
    }

    /// A place as a reader finds it: path, line and column.
    pub(super) fn locate(&self, location: &Location) -> TextPlace<'a> {
        let Some(text) = self.find_text(location.origin) else { return TextPlace::default() };
        let prefix = match text {
            SourceText::Proto(_) | SourceText::Features(_) => self.prefix,
            SourceText::Other(_) => self.config_prefix,
        };
        TextPlace { path: text.name(), prefix, range: text.range(location.span) }
    }

    /// A place as compilers write it: `FILE:LINE:COLUMN`, or without lines the file alone.
    pub(crate) fn format_place(&self, location: &Location) -> String {
        let lines = self.locate(location);
        let start = lines.range.map(|(start, _)| format!(":{}:{}", start.line, start.column));
        lines.full_path() + &start.unwrap_or_default()
    }

    /// The owners of the file of a finding, else those of its package.
    pub(super) fn find_owners(&self, finding: &Finding) -> BTreeSet<&'a str> {
        let path = self.locate(&finding.location).full_path();
        match self.touched.iter().find_map(|it| it.files.get(&path)) {
            Some(ownership) => ownership.owners.iter().map(String::as_str).collect(),
            None => self
                .touched
                .iter()
                .filter(|it| it.package == finding.package)
                .flat_map(|it| it.owners())
                .collect(),
        }
    }

    /// The findings to show, by the paths of their files.
    pub(super) fn group_by_path<'r>(
        &self,
        report: &'r Report,
    ) -> BTreeMap<String, Vec<&'r Finding>> {
        let mut files: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
        for finding in self.visible_findings(report) {
            let path = self.locate(&finding.location).full_path();
            files.entry(path).or_default().push(finding);
        }
        files
    }

    /// The notes below a finding, each with its heading: whom a change breaks, a value that shows
    /// it, why it matters, and what to do.
    pub(super) fn collect_notes(&self, finding: &Finding) -> Vec<(String, String)> {
        let mut notes: Vec<(String, String)> = Vec::new();
        let mut add = |head: &str, text: String| notes.push((head.to_owned(), text));
        if let Some(exception) = &finding.exception {
            add(exception.kind.word(), exception.reason.clone());
        }
        for (head, names) in list_concerned(finding) {
            add(&head, names);
        }
        if let Some(change) = &finding.change {
            if !change.effects.is_empty() {
                add("breaks", describe_effects(change.effects));
            }
            if let Some(text) = describe_dependents(&change.dependents) {
                add("reaches", text);
            }
            for lost in &change.symbols {
                add(lost.surface.name(), lost.symbol.clone());
            }
            if let Some(witness) = &change.witness {
                add("witness", describe_witness(witness));
            }
        }
        for (head, text) in [("why", &finding.why), ("help", &finding.help)] {
            text.iter().for_each(|text| add(head, text.clone()));
        }
        if self.style.verbose {
            finding.severity_reason.iter().for_each(|text| add("severity", text.clone()));
            add("fingerprint", finding.fingerprint());
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abide_schema::{FileDecl, FileId, SourceFile};
    use codespan_reporting::files::Files;

    use super::super::sources::SnippetSources;
    use super::*;

    fn tree(path: &str, text: &str) -> Tree {
        let (path, text): (Arc<str>, _) = (path.into(), text.as_bytes().into());
        let display = Arc::clone(&path);
        let file = SourceFile { path, display, root: 0, imported: false, text };
        Tree::link(vec![Arc::new(FileDecl::parse(file))])
    }

    #[test]
    fn a_place_of_any_origin_is_found() {
        let (new, old) = (tree("new.proto", "\nxx"), tree("old.proto", "\n\nxx"));
        let file = |name: &str, text: &str| TextFile { name: name.into(), text: text.into() };
        let (config, accepted) = (file("abide.toml", "xx"), file("abide.accepted", "\n xx"));
        let list = |path: &str, text: &str| FeatureFile { path: path.into(), text: text.into() };
        let features = [list("features.txt", " xx")];
        let instances = [file("a.json", "\n\n xx"), file("b.json", " xx")];
        let context = RenderContext {
            tree: &new,
            old: Some(&old),
            older: &[],
            config: Some(&config),
            accepted: Some(&accepted),
            features: &features,
            instances: &instances,
            are_only_instances: true,
            touched: &[],
            origin: None,
            prefix: "api/",
            config_prefix: "",
            style: Style::plain(80),
        };
        let sources = SnippetSources::new(&context);
        for (origin, path, line, column) in [
            (Origin::Tree(FileId(0)), "api/new.proto", 2, 1),
            (Origin::Old(FileId(0)), "api/old.proto", 3, 1),
            (Origin::Config, "abide.toml", 1, 1),
            (Origin::Accepted, "abide.accepted", 2, 2),
            (Origin::Features(0), "api/features.txt", 1, 2),
            (Origin::Instance(0), "a.json", 3, 2),
            (Origin::Instance(1), "b.json", 1, 2),
        ] {
            let text =
                context.find_text(origin).and_then(SourceText::bytes).expect("there is text");
            let start = text.iter().position(|it| *it == b'x').expect("it is there") as u32;
            let location = Location { origin, span: Span::new(start, start + 2) };
            let lines = context.locate(&location);
            assert_eq!(lines.full_path(), path);
            let range = lines.range.map(|(start, end)| (start.line, start.column, end.column));
            assert_eq!(range, Some((line, column, column + 2)), "{path}");
            // The snippet is of the same text.
            let (id, span) = sources.locate(&location).expect("there is text to show");
            assert_eq!(sources.clip_to_first_line(id, span), start as usize..start as usize + 2);
            let shown = sources.source(id).expect("it is a text");
            assert_eq!(shown.as_bytes(), text, "{path}");
        }
        let absent = Location { origin: Origin::Instance(2), span: Span::default() };
        assert!(context.locate(&absent).range.is_none() && sources.locate(&absent).is_none());
    }
}
