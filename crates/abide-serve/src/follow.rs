//! A folder of resources, followed: every change is judged before it is served.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Event, EventKind, RecursiveMode, Watcher};

use crate::fleet::Fleet;
use crate::folder::{Folder, Listing, ResourceFile};
use crate::judge::Judge;

/// How long the folder has to be quiet before it is read.
const QUIET: Duration = Duration::from_millis(50);
/// How long changes may follow one another before it is read all the same.
const RESTLESS: Duration = Duration::from_secs(1);
/// When it is read though nobody said that it changed: links may be swapped elsewhere.
const RECHECK: Duration = Duration::from_secs(5);

/// How many reasons for a refusal are logged; `/ready` has all of them.
const MAX_REASONS: usize = 20;

/// Serves a folder and its changes. Ends only with an error.
///
/// # Errors
/// A folder that cannot be read at the start: one phrase.
pub(crate) fn follow(
    fleet: &Fleet,
    judge: &Judge,
    path: &Path,
    today: fn() -> Date,
) -> Result<(), String> {
    let (sender, events) = channel();
    // Whoever hears nothing any more is gone.
    let watcher = notify::recommended_watcher(move |event| drop(sender.send(event)));
    let watched = watcher.and_then(|mut it| {
        it.watch(path, RecursiveMode::Recursive)?;
        Ok(it)
    });
    if let Err(error) = &watched {
        tracing::warn!(%error, "the system does not tell of changes: looking for them every 5 s");
    }
    let mut folder = Folder::new(path.to_owned());
    let mut listing = folder.read()?;
    let mut before: Option<Listing> = None;
    loop {
        let notes = listing.notes.iter();
        let is_known = |note: &&String| before.as_ref().is_some_and(|it| it.notes.contains(note));
        for note in notes.filter(|note| !is_known(note)) {
            tracing::warn!("{note}");
        }
        if !before.as_ref().is_some_and(|it| is_same(&it.files, &listing.files)) {
            take(fleet, judge, today(), &listing.files);
        }
        before = Some(listing);
        listing = loop {
            wait(&events, &mut folder);
            match folder.read() {
                Ok(listing) => break listing,
                Err(error) => tracing::warn!("{error}"),
            }
        };
    }
}

fn is_same(old: &[ResourceFile], new: &[ResourceFile]) -> bool {
    let same =
        |(old, new): (&ResourceFile, &ResourceFile)| old.path == new.path && old.bytes == new.bytes;
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// Judges the files of one moment and serves them, or says why not.
fn take(fleet: &Fleet, judge: &Judge, today: Date, files: &[ResourceFile]) {
    let verdict = judge.judge(today, files);
    for line in &verdict.warnings {
        tracing::warn!("{line}");
    }
    match verdict.served {
        Some(served) => {
            tracing::info!(files = files.len(), "serving the resources of the folder");
            fleet.serve(served);
        }
        None => {
            let shown: Vec<&str> =
                verdict.errors.iter().take(MAX_REASONS).map(String::as_str).collect();
            tracing::error!(
                problems = verdict.errors.len(),
                reasons = shown.join("\n"),
                "the resources are refused, and what was served before stays"
            );
            fleet.refuse(verdict.errors);
        }
    }
}

/// Waits until the folder changed and is quiet again, or for [`RECHECK`].
fn wait(events: &Receiver<notify::Result<Event>>, folder: &mut Folder) {
    let mut begin = None;
    loop {
        let event = match begin {
            None => events.recv_timeout(RECHECK),
            Some(begin) if Instant::now() < begin + RESTLESS => events.recv_timeout(QUIET),
            Some(_) => return,
        };
        match event {
            Ok(Ok(event)) => {
                if note(folder, event) {
                    begin = begin.or_else(|| Some(Instant::now()));
                }
            }
            Ok(Err(error)) => tracing::warn!(%error, "changes may have been missed"),
            Err(RecvTimeoutError::Timeout) => return,
            Err(RecvTimeoutError::Disconnected) => return std::thread::sleep(RECHECK),
        }
    }
}

/// Takes an event in. Returns whether something changed.
fn note(folder: &mut Folder, event: Event) -> bool {
    match event.kind {
        EventKind::Create(CreateKind::File) if cfg!(target_os = "linux") => {
            event.paths.into_iter().for_each(|path| folder.began(path));
            true
        }
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Modify(ModifyKind::Name(_))
        | EventKind::Remove(_) => {
            event.paths.iter().for_each(|path| folder.finished(path));
            true
        }
        EventKind::Access(_) => false,
        _ => true,
    }
}
