//! A source of resources, followed: every change is judged before it is served.

use std::sync::atomic::Ordering;

use jiff::civil::Date;

use crate::clients::ServerState;
use crate::resources::{Judge, Listing, Overrides, ResourceFile, Source, Verdict};

/// The number of reasons for a refusal that are logged, and of warnings about a change; `/ready`
/// has all reasons, and `abide-serve check` both.
const MAX_REASONS: usize = 20;

/// Serves what a source has and its changes. Whatever happens to the source, what was served last
/// stays.
pub(crate) fn follow(
    fleet: &ServerState,
    judge: &Judge,
    source: &mut dyn Source,
    today: fn() -> Date,
) -> ! {
    let mut before: Option<Listing> = None;
    let mut served: Vec<ResourceFile> = Vec::new();
    let mut set = Overrides::default();
    loop {
        let set_now = fleet.overrides();
        let is_same_runtime = set_now == set;
        set = set_now;
        match source.read() {
            Ok(listing) => {
                if fleet.mark_source_readable() {
                    tracing::info!("the resources can be read again");
                }
                let is_known =
                    |note: &&String| before.as_ref().is_some_and(|it| it.notes.contains(note));
                warn(listing.notes.iter().filter(|note| !is_known(note)));
                fleet.set_notes(&listing.notes);
                let is_same = |it: &Listing| is_same(&it.files, &listing.files);
                if !is_same_runtime || !before.as_ref().is_some_and(is_same) {
                    let verdict = judge.judge(today(), &listing.files, &set);
                    apply_listing(fleet, verdict, &listing, &mut served);
                }
                before = Some(listing);
            }
            Err(error) => {
                if fleet.mark_source_unreadable(&error.to_string()) {
                    tracing::error!("{error}; what was served before stays");
                }
            }
        }
        source.wait();
    }
}

/// Logs the first ones of some warnings, and how many there are beside.
fn warn<'w>(mut warnings: impl Iterator<Item = &'w String>) {
    for line in warnings.by_ref().take(MAX_REASONS) {
        tracing::warn!("{line}");
    }
    match warnings.count() {
        0 => {}
        1 => tracing::warn!("there is 1 more warning: `abide-serve check` prints all"),
        more => tracing::warn!("there are {more} more warnings: `abide-serve check` prints all"),
    }
}

fn is_same(old: &[ResourceFile], new: &[ResourceFile]) -> bool {
    let same =
        |(old, new): (&ResourceFile, &ResourceFile)| old.path == new.path && old.bytes == new.bytes;
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// Counts the uses of what is deprecated in files that were not served before as they are.
fn new_uses(old: &[ResourceFile], new: &[ResourceFile], uses: &[usize]) -> usize {
    let is_known = |it: &ResourceFile| {
        let found = old.binary_search_by(|old| old.path.cmp(&it.path));
        found.is_ok_and(|at| old[at].bytes == it.bytes)
    };
    new.iter().zip(uses).filter(|(it, _)| !is_known(it)).map(|(_, uses)| uses).sum()
}

/// The first ones of some reasons, one a line.
fn first_reasons(all: &[String]) -> String {
    all.iter().take(MAX_REASONS).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Serves the files of one moment in place of those that are served now, or says why not.
fn apply_listing(
    fleet: &ServerState,
    verdict: Verdict,
    listing: &Listing,
    now: &mut Vec<ResourceFile>,
) {
    warn(verdict.warnings.iter());
    let revision = listing.revision.as_deref();
    let Verdict { served, deprecated_uses, errors, stopped, .. } = verdict;
    if !stopped.is_empty() {
        tracing::error!(
            revision,
            problems = stopped.len(),
            reasons = first_reasons(&stopped),
            "resources of some clients are refused, and these keep what they had"
        );
    }
    let outcome = match served {
        Some(served) => fleet.serve(served.read_from(&listing.files, revision), stopped),
        None => Err(errors),
    };
    match outcome {
        Ok(()) => {
            let uses = new_uses(now, &listing.files, &deprecated_uses);
            fleet.counters.deprecated_uses.fetch_add(uses as u64, Ordering::Relaxed);
            now.clone_from(&listing.files);
            tracing::info!(files = listing.files.len(), revision, "serving the resources");
        }
        Err(errors) => {
            tracing::error!(
                revision,
                problems = errors.len(),
                reasons = first_reasons(&errors),
                "the resources are refused, and what was served before stays"
            );
            fleet.reject_update(revision, errors);
        }
    }
}
