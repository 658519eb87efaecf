//! `abide drift`: what differs between what runs and the tree, and who is behind.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_lint::{Behind, ChangeFacts, Finding, Report, SERVICE_REMOVED};
use abide_schema::{Element, File, FileDecl, FileId, FileText, SourceFile, Tree, encode_file};
use abide_source::Source;

use super::changed::LAST_COMMIT;
use super::outcome::CommandOutcome;
use super::session::{CheckInputs, CheckRequest};
use crate::args::{DriftArgs, Global};
use crate::error::Error;
use crate::settings::Settings;
use crate::terminal::use_error_color;

/// So many earlier texts of one file are looked at.
const MAX_TEXTS: usize = 50;

pub(super) fn drift(global: &Global, args: &DriftArgs) -> Result<CommandOutcome, Error> {
    let judge = args.to_judge();
    let settings = Settings::read_for_parts(global, &judge, use_error_color(global))?;
    let request = CheckRequest::drift(global, &judge, &settings, &args.target);
    let mut inputs = CheckInputs::open(&request)?;
    let mut report = inputs.judge_enough()?;
    inputs.progress.begin_step("looking for who is behind");
    let history = TreeHistory::open(&inputs);
    if let Some(running) = &inputs.trees.baseline {
        report.unknown_services.clone_from(&running.left_out.unknown_services);
        report.hidden_packages.clone_from(&running.left_out.hidden_packages);
        let unknown = Verdicts::of(&report, &running.tree, &history).apply(&mut report);
        if !unknown.is_empty() && running.left_out.unknown_services.is_empty() {
            let names: Vec<String> = unknown.iter().map(|it| format!("`{it}`")).collect();
            let (name, names) = (&running.name, names.join(", "));
            inputs.notes.push(format!(
                "`{name}` also serves what this tree never declared, so it is not compared: {names}"
            ));
        }
        report.unknown_services.extend(unknown);
        report.unknown_services.sort_unstable();
    }
    inputs.progress.begin_step("writing the report");
    inputs.collect_notes()?;
    inputs.finish(report)
}

/// What the tree was before.
struct TreeHistory<'i> {
    tree: &'i Tree,
    /// The revision to look back from; `None` if nobody keeps a history.
    revision: Option<Revision<'i>>,
}

enum Revision<'i> {
    /// That of the tree itself.
    Own(&'i Source),
    /// The last commit, of a tree on disk.
    Last(Box<Source>),
}

/// What the history of a file says.
#[derive(Default)]
struct FilePast {
    /// True if the tree once had the file as it runs.
    was_as_running: bool,
    /// The elements asked for that the tree once had, and the path of the file if it had that.
    had: BTreeSet<String>,
}

impl<'i> TreeHistory<'i> {
    fn open(inputs: &'i CheckInputs<'_>) -> TreeHistory<'i> {
        let tree = &inputs.trees.loaded.tree;
        let own = &inputs.sources.new;
        let request = inputs.request;
        let last = || {
            let is_on_disk = own.folder().is_some();
            let last = request.settings.open_commit(LAST_COMMIT, &request.judge.tree);
            last.ok().flatten().filter(|_| is_on_disk).map(|it| Revision::Last(Box::new(it)))
        };
        let revision = if own.has_blobs() { Some(Revision::Own(own)) } else { last() };
        TreeHistory { tree, revision }
    }

    /// Looks for what a file that runs was in the tree, and for elements of it.
    fn look_back(
        &self,
        (running_tree, running): (&Tree, File<'_>),
        elements: &BTreeSet<&str>,
    ) -> FilePast {
        let revision = match &self.revision {
            None => return FilePast::default(),
            Some(Revision::Own(source)) => *source,
            Some(Revision::Last(source)) => source,
        };
        let wanted = encode_file(running_tree, running.id, false);
        let (past, left) = (RefCell::new(FilePast::default()), Cell::new(MAX_TEXTS));
        let read = |text: FileText| {
            let (tree, file) = self.link_with(running.path(), text)?;
            let mut past = past.borrow_mut();
            past.had.insert(running.path().to_owned());
            past.was_as_running |= encode_file(&tree, file, false) == wanted;
            let had = elements.iter().filter(|it| tree.element_named(it).is_some());
            past.had.extend(had.map(|it| (*it).to_owned()));
            left.set(left.get().saturating_sub(1));
            // What is found ends the search.
            (past.was_as_running || left.get() == 0).then_some(())
        };
        let roots: BTreeSet<u32> = self.tree.files().map(|it| it.decl().root).collect();
        for root in roots {
            if revision.find_earlier(root, running.path(), &read).is_some() {
                break;
            }
        }
        past.into_inner()
    }

    /// The tree with another text of a file.
    fn link_with(&self, path: &str, text: FileText) -> Option<(Tree, FileId)> {
        let path: Arc<str> = path.into();
        let (display, root) =
            self.tree.files().find(|it| it.path() == &*path).map_or((Arc::clone(&path), 0), |it| {
                (Arc::clone(&it.decl().display), it.decl().root)
            });
        let file = SourceFile { path: Arc::clone(&path), display, root, imported: false, text };
        let decl = FileDecl::parse(file);
        if !decl.parses {
            return None;
        }
        let others = self.tree.files().filter(|it| it.path() != &*path);
        let mut files: Vec<Arc<FileDecl>> = others.map(|it| Arc::clone(it.shared_decl())).collect();
        files.push(Arc::new(decl));
        let tree = Tree::link_again(files, self.tree);
        let id = tree.files().find(|it| it.path() == &*path)?.id;
        Some((tree, id))
    }
}

/// Who has an element that a finding is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// The tree alone.
    Tree,
    /// What runs alone.
    Running,
    /// Both, and it differs.
    Both,
}

/// Who is behind in each file that runs.
struct Verdicts<'t> {
    running: &'t Tree,
    tree: &'t Tree,
    running_paths: BTreeSet<&'t str>,
    tree_paths: BTreeSet<&'t str>,
    pasts: BTreeMap<String, FilePast>,
    /// The files in which the tree has something, or had it, that what runs does not know yet.
    newer: BTreeSet<String>,
    /// The files of which what runs has something that the tree never had.
    older: BTreeSet<String>,
}

impl<'t> Verdicts<'t> {
    fn of(report: &Report, running: &'t Tree, history: &TreeHistory<'t>) -> Verdicts<'t> {
        let mut elements: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for finding in &report.findings {
            let file = find_running_file(finding, running);
            if let Some(file) = file {
                let names = elements.entry(file.path().to_owned()).or_default();
                names.insert(&finding.element);
            }
        }
        let mut pasts = BTreeMap::new();
        for file in running.files() {
            if let Some((path, names)) = elements.remove_entry(file.path()) {
                pasts.insert(path, history.look_back((running, file), &names));
            }
        }
        let mut verdicts = Verdicts {
            running,
            tree: history.tree,
            running_paths: running.files().map(|it| it.path()).collect(),
            tree_paths: history.tree.files().map(|it| it.path()).collect(),
            pasts,
            newer: BTreeSet::new(),
            older: BTreeSet::new(),
        };
        for finding in &report.findings {
            let Some(change) = &finding.change else { continue };
            let path = verdicts.find_path(finding);
            match verdicts.judge_one_sided(finding, change) {
                Some(Behind::Target) => verdicts.newer.insert(path),
                Some(Behind::Tree) => verdicts.older.insert(path),
                None => false,
            };
        }
        verdicts
    }

    /// The path of the file that a finding is about, in what runs if it is there.
    fn find_path(&self, finding: &Finding) -> String {
        let file = find_running_file(finding, self.running);
        let place = || finding.location.place().map(|it| self.tree.file(it.file));
        file.or_else(place).map(|it| it.path().to_owned()).unwrap_or_default()
    }

    fn find_presence(&self, finding: &Finding, change: &ChangeFacts) -> Presence {
        let element = finding.element.as_str();
        let is_removed = change.gone.is_some()
            || self.running_paths.contains(element) && !self.tree_paths.contains(element);
        match change.old {
            None => Presence::Tree,
            Some(_) if is_removed => Presence::Running,
            Some(_) => Presence::Both,
        }
    }

    /// Says who is behind, where only one side has an element.
    fn judge_one_sided(&self, finding: &Finding, change: &ChangeFacts) -> Option<Behind> {
        let past = self.pasts.get(&self.find_path(finding));
        match self.find_presence(finding, change) {
            Presence::Tree => Some(Behind::Target),
            Presence::Running => {
                // Who reserves a number or a name has removed what had it.
                let is_reserved = change.gone.as_ref().is_some_and(|it| {
                    it.reserved
                        && self.running.element_named(&finding.element).is_some_and(has_number)
                });
                let had =
                    past.is_some_and(|it| it.was_as_running || it.had.contains(&finding.element));
                Some(if is_reserved || had { Behind::Target } else { Behind::Tree })
            }
            Presence::Both => None,
        }
    }

    /// Says who is behind.
    fn judge(&self, finding: &Finding) -> Option<Behind> {
        let change = finding.change.as_ref()?;
        self.judge_one_sided(finding, change).or_else(|| {
            let path = self.find_path(finding);
            let was = self.pasts.get(&path).is_some_and(|it| it.was_as_running);
            let is_only_older = self.older.contains(&path) && !self.newer.contains(&path);
            Some(if is_only_older && !was { Behind::Tree } else { Behind::Target })
        })
    }

    /// Marks the findings of a report. Takes those away that are about services which the tree never
    /// had, and returns the names of these.
    fn apply(&self, report: &mut Report) -> Vec<String> {
        for finding in report.findings.iter_mut().chain(&mut report.exempted) {
            finding.behind = self.judge(finding);
        }
        let is_strange = |finding: &Finding| {
            finding.behind == Some(Behind::Tree)
                && (finding.rule == SERVICE_REMOVED.id || self.is_in_strange_file(finding))
        };
        let strange = report.findings.iter().filter(|it| is_strange(it));
        let mut services: BTreeSet<String> = strange
            .flat_map(|finding| {
                let own = (finding.rule == SERVICE_REMOVED.id).then(|| finding.element.clone());
                let file = find_running_file(finding, self.running);
                let file = file.filter(|_| self.is_in_strange_file(finding));
                let others = file.into_iter().flat_map(|it| it.services()).map(|it| it.full_name());
                others.chain(own).collect::<Vec<String>>()
            })
            .collect();
        services.retain(|it| self.tree.element_named(it).is_none());
        report.retain(|it| !is_strange(it));
        services.into_iter().collect()
    }

    /// Returns true if the tree has, and had, no such file as that of a finding.
    fn is_in_strange_file(&self, finding: &Finding) -> bool {
        let Some(file) = find_running_file(finding, self.running) else { return false };
        let is_absent = !self.tree_paths.contains(file.path());
        let past = self.pasts.get(file.path());
        let is_new = past.is_none_or(|it| !it.was_as_running && it.had.is_empty());
        is_absent && is_new && file.services().next().is_some()
    }
}

fn has_number(element: Element<'_>) -> bool {
    matches!(element, Element::Field(_) | Element::EnumValue(_))
}

/// The file of what runs that a finding is about.
fn find_running_file<'t>(finding: &Finding, running: &'t Tree) -> Option<File<'t>> {
    let old = finding.change.as_ref().and_then(|it| it.old)?;
    Some(running.file(old.old_place()?.file))
}
