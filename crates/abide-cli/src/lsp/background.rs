//! Work on trees: they are read and checked by other threads, and shown when that is done.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::json;

use super::diagnostics::build_error as file_error;
use super::encoding::LineOffsets;
use super::project_root::{self, EditedTree, FileTimes, ReadFailure, TreeRoot};
use super::session::ServerSession;
use super::tree_work::BackgroundResult;
use super::uri::format_uri;

/// The pause in typing after which the whole tree is checked.
const TYPING_PAUSE: Duration = Duration::from_millis(300);

/// The most times that everything is read anew after an error of Abide itself.
const MAX_RESTARTS: u32 = 5;

impl ServerSession {
    /// Reads the trees anew whose settings changed, or in whose repository something was committed
    /// or fetched.
    pub(super) fn reread_changed(&mut self) {
        let homes: Vec<TreeRoot> = self.works.keys().cloned().collect();
        for home in homes {
            let stamps = self.read_file_times(&home);
            if self.works.get(&home).is_some_and(|it| !it.stamps.is_unchanged(&stamps)) {
                self.read(&home);
            }
        }
    }

    fn read_file_times(&self, home: &TreeRoot) -> FileTimes {
        let tree = self.works.get(home).and_then(|it| it.tree.as_ref());
        let configured = tree.and_then(|it| it.project.judge().config.against.last());
        FileTimes::of(home, self.against.as_ref().or(configured).map(String::as_str))
    }

    /// Reads everything anew, after an error of Abide itself. If it does not help, the server stays
    /// without trees: it would do nothing else.
    pub(super) fn restart(&mut self) {
        self.works.clear();
        self.starts += 1;
        if self.starts > MAX_RESTARTS {
            return;
        }
        let names: Vec<String> = self.documents.keys().cloned().collect();
        names.iter().for_each(|it| self.add_to_tree(it));
    }

    /// Has a tree read by another thread.
    pub(super) fn read(&mut self, home: &TreeRoot) {
        let stamps = self.read_file_times(home);
        let Some(work) = self.works.get_mut(home) else { return };
        if work.is_reading {
            work.is_outdated = true;
            return;
        }
        (work.is_reading, work.is_outdated, work.stamps) = (true, false, stamps);
        let known = work
            .tree
            .as_ref()
            .map(|it| it.project.files().chain(it.project.old_files()).map(Arc::clone).collect());
        let is_first = known.is_none();
        let known: Vec<_> = known.unwrap_or_default();
        let (global, against) = (self.global.clone(), self.against.clone());
        let (sender, owned) = (self.events.0.clone(), home.clone());
        std::thread::spawn(move || {
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                project_root::read_tree(&global, &owned, against.as_deref(), &known)
            }));
            let read = read.unwrap_or_else(|_| {
                Err(ReadFailure::Other("abide has an error of its own".to_owned()))
            });
            let _ = sender.send(BackgroundResult::Read(owned, Box::new(read)));
        });
        if is_first && self.client.shows_progress {
            let token = format_progress_token(home);
            self.send_request("window/workDoneProgress/create", json!({ "token": token }));
            let begin = json!({ "kind": "begin", "title": "Abide reads the protos" });
            self.notify("$/progress", json!({ "token": token, "value": begin }));
        }
    }

    /// Takes the result of other threads.
    pub(super) fn receive(&mut self, event: BackgroundResult) {
        match event {
            BackgroundResult::Read(home, read) => self.receive_tree(&home, *read),
            BackgroundResult::Checked(home, changes, analysis) => {
                let Some(work) = self.works.get_mut(&home) else { return };
                work.is_checking = false;
                let is_of_now = work.changes.load(Ordering::Relaxed) == changes;
                match analysis.filter(|_| is_of_now) {
                    Some(analysis) => {
                        work.whole = Some(analysis);
                        self.show(&home);
                        self.request_refresh();
                    }
                    None if !is_of_now && work.tree.is_some() => {
                        work.check_at.get_or_insert_with(|| Instant::now() + TYPING_PAUSE);
                    }
                    None => {}
                }
            }
        }
    }

    fn receive_tree(&mut self, home: &TreeRoot, read: Result<EditedTree, ReadFailure>) {
        let Some(work) = self.works.get_mut(home) else { return };
        work.is_reading = false;
        let is_first = work.tree.is_none();
        let mut troubles = Vec::new();
        let mut shown = Vec::new();
        match read {
            Ok(tree) => {
                troubles.clone_from(&tree.troubles);
                work.tree = Some(tree);
                work.mark_changed();
                // The settings name the old tree, and with it more files to look at.
                let stamps = self.read_file_times(home);
                if let Some(work) =
                    self.works.get_mut(home).filter(|it| it.stamps.is_unchanged(&stamps))
                {
                    work.stamps = stamps;
                }
            }
            Err(ReadFailure::Config(path, text, errors)) => {
                let lines = LineOffsets::new(text.as_bytes(), self.encoding);
                let at = errors.iter().map(|it| (lines.range(it.span), it.message.clone()));
                shown = at.map(|(range, message)| file_error(range, message)).collect();
                if let Some(work) = self.works.get_mut(home) {
                    work.config = format_uri(&path);
                }
                let name = path.display();
                troubles.push(format!("{name} has errors, so nothing is checked by it"));
            }
            Err(ReadFailure::Other(why)) => troubles.push(why),
        }
        let Some(work) = self.works.get_mut(home) else { return };
        let is_outdated = work.is_outdated;
        let is_news = work.troubles != troubles && !troubles.is_empty();
        work.troubles.clone_from(&troubles);
        if let Some(uri) = work.config.clone() {
            if shown.is_empty() {
                work.config = None;
            }
            self.send_diagnostics(uri, shown, None);
        }
        if is_news {
            let message = format!("Abide: {}", troubles.join("\n"));
            self.notify("window/showMessage", json!({ "type": 2, "message": message }));
        }
        if is_first && self.client.shows_progress {
            let token = format_progress_token(home);
            self.notify("$/progress", json!({ "token": token, "value": { "kind": "end" } }));
        }
        self.add_documents(home);
        if is_outdated {
            self.read(home);
        }
        self.run_waiting_requests();
        self.request_refresh();
    }

    /// Puts the open documents of a tree into it.
    fn add_documents(&mut self, home: &TreeRoot) {
        let names: Vec<String> = self.documents.keys().cloned().collect();
        for name in &names {
            if self.works.get(home).is_some_and(|it| it.tree.is_some())
                && self.documents.get(name).is_some_and(|it| it.home == *home)
            {
                self.add_to_tree(name);
            }
        }
    }

    /// Returns the time at which the next delayed check is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.works.values().filter(|it| !it.is_checking).filter_map(|it| it.check_at).min()
    }

    /// Finds and shows what changed, first in open documents. Whether there was anything to do.
    pub(super) fn update_diagnostics(&mut self) -> bool {
        let dirty = self.works.iter().find(|(_, it)| it.is_dirty && it.tree.is_some());
        if let Some(home) = dirty.map(|(home, _)| home.clone()) {
            let Some(work) = self.works.get_mut(&home) else { return false };
            work.is_dirty = false;
            let Some(tree) = &mut work.tree else { return false };
            let is_exact = tree.project.analyze().is_exact;
            work.check_at = (!is_exact).then(|| Instant::now() + TYPING_PAUSE);
            self.show(&home);
            return true;
        }
        let now = Instant::now();
        let due = self
            .works
            .iter()
            .find(|(_, work)| !work.is_checking && work.check_at.is_some_and(|at| at <= now));
        let home = due.map(|(home, _)| home.clone());
        home.is_some_and(|home| {
            self.check(&home);
            true
        })
    }

    /// Has the whole tree checked by another thread.
    fn check(&mut self, home: &TreeRoot) {
        let Some(work) = self.works.get_mut(home) else { return };
        work.check_at = None;
        let Some(tree) = &work.tree else { return };
        work.is_checking = true;
        let whole = tree.project.build_whole_check();
        let changes = Arc::clone(&work.changes);
        let wanted = changes.load(Ordering::Relaxed);
        let (sender, home) = (self.events.0.clone(), home.clone());
        std::thread::spawn(move || {
            // One thread of its own, so that it does not hold up what the user waits for.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match pool {
                Ok(pool) => {
                    pool.install(|| whole.check(|| changes.load(Ordering::Relaxed) == wanted))
                }
                Err(_) => None,
            }));
            let analysis = checked.ok().flatten().map(Box::new);
            let _ = sender.send(BackgroundResult::Checked(home, wanted, analysis));
        });
    }
}

fn format_progress_token(home: &TreeRoot) -> String {
    format!("abide:{}", home.path().display())
}
