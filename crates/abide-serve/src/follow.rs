//! A source of resources, followed: every change is judged before it is served.

use jiff::civil::Date;

use crate::fleet::Fleet;
use crate::judge::Judge;
use crate::source::{Listing, ResourceFile, Source};

/// How many reasons for a refusal are logged; `/ready` has all of them.
const MAX_REASONS: usize = 20;

/// Serves what a source has and its changes. Whatever happens to the source, what was served last
/// stays.
pub(crate) fn follow(
    fleet: &Fleet,
    judge: &Judge,
    source: &mut dyn Source,
    today: fn() -> Date,
) -> ! {
    let mut before: Option<Listing> = None;
    loop {
        match source.read() {
            Ok(listing) => {
                fleet.source_is_there();
                let is_known =
                    |note: &&String| before.as_ref().is_some_and(|it| it.notes.contains(note));
                for note in listing.notes.iter().filter(|note| !is_known(note)) {
                    tracing::warn!("{note}");
                }
                if !before.as_ref().is_some_and(|it| is_same(&it.files, &listing.files)) {
                    take(fleet, judge, today(), &listing);
                }
                before = Some(listing);
            }
            Err(error) => {
                if fleet.source_is_away(&error) {
                    tracing::error!("{error}; what was served before stays");
                }
            }
        }
        source.wait();
    }
}

fn is_same(old: &[ResourceFile], new: &[ResourceFile]) -> bool {
    let same =
        |(old, new): (&ResourceFile, &ResourceFile)| old.path == new.path && old.bytes == new.bytes;
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// Judges the files of one moment and serves them, or says why not.
fn take(fleet: &Fleet, judge: &Judge, today: Date, listing: &Listing) {
    let verdict = judge.judge(today, &listing.files);
    for line in &verdict.warnings {
        tracing::warn!("{line}");
    }
    let revision = listing.revision.as_deref();
    let outcome = match verdict.served {
        Some(served) => fleet.serve(served.of_revision(revision)),
        None => Err(verdict.errors),
    };
    match outcome {
        Ok(()) => tracing::info!(files = listing.files.len(), revision, "serving the resources"),
        Err(errors) => {
            let shown: Vec<&str> = errors.iter().take(MAX_REASONS).map(String::as_str).collect();
            tracing::error!(
                revision,
                problems = errors.len(),
                reasons = shown.join("\n"),
                "the resources are refused, and what was served before stays"
            );
            fleet.refuse(revision, errors);
        }
    }
}
