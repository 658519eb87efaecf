use abide_schema::{File, Import};
use abide_upgrade::{
    HAND_MAINTAINED_HELP, StaleReason, extract_comparable_text, find_stale_candidates,
};

use crate::finding::{Severity, package_name};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "candidate-edited",
    summary: "a candidate that differs from what `abide upgrade` makes",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("candidate-edited.md"),
    check: Check::Tree(check),
};

/// The writer of the text of a candidate, by the digests in `abide.lock`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CandidateAuthor {
    Upgrade,
    Editor,
    Unknown,
}

impl CandidateAuthor {
    fn of(context: &Context<'_>, file: File<'_>, drift: StaleReason) -> CandidateAuthor {
        let path = &*file.decl().display;
        let (Some(lock), Some(text)) = (context.records().lock, file.decl().source_text()) else {
            return CandidateAuthor::Unknown;
        };
        // An upgrade carries additions along, unless the candidate goes.
        let carried = matches!(drift, StaleReason::Differs(_)).then_some(file);
        match lock.made_paths().any(|it| it == path) {
            true if lock.is_made(
                path,
                &extract_comparable_text(&context.policy.upgrade, carried, text),
            ) =>
            {
                CandidateAuthor::Upgrade
            }
            true => CandidateAuthor::Editor,
            false => CandidateAuthor::Unknown,
        }
    }
}

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for (id, drift) in find_stale_candidates(context.upgrade_basis()) {
        let file = context.tree.file(id);
        let (path, package) = (file.path(), file.package().name());
        let author = CandidateAuthor::of(context, file, drift);
        let message = match drift {
            // What calls for it, or what it is made from, may lie in another part.
            StaleReason::Unneeded { .. } | StaleReason::Stale | StaleReason::Orphaned
                if context.partial =>
            {
                continue;
            }
            // What it names may be upgraded in another part.
            StaleReason::Differs(from)
                if context.partial
                    && author != CandidateAuthor::Editor
                    && context.tree.file(from).imports().any(is_outside) =>
            {
                continue;
            }
            StaleReason::Differs(from) => {
                let source = context.tree.file(from).path();
                match author {
                    CandidateAuthor::Upgrade => {
                        format!(
                            "candidate `{path}` is out of date: `{source}` now upgrades to another text"
                        )
                    }
                    CandidateAuthor::Editor => format!(
                        "candidate `{path}` was edited by hand, and differs from what `abide \
                         upgrade` makes of `{source}`"
                    ),
                    CandidateAuthor::Unknown => format!(
                        "candidate `{path}` differs from what `abide upgrade` makes of `{source}`"
                    ),
                }
            }
            StaleReason::Stale => format!("candidate `{path}` is stale: no file upgrades to it"),
            StaleReason::Unneeded { from, .. } => {
                let source = context.tree.file(from).path();
                format!("candidate `{path}` is stale: nothing in `{source}` requires it")
            }
            StaleReason::Orphaned => {
                format!("candidate `{path}` has no active version to be made from")
            }
        };
        let finding = sink.report(package_name(file), package, path, message);
        if let StaleReason::Differs(from) | StaleReason::Unneeded { from, .. } = drift {
            let source = context.tree.file(from);
            finding.label(package_name(source), "the candidate is made from this file");
        }
        let (why, help) = advise(drift, author);
        finding.why(why);
        finding.help(help);
    }
}

fn is_outside(import: Import<'_>) -> bool {
    import.file.is_none_or(|it| !it.is_judged())
}

fn advise(drift: StaleReason, author: CandidateAuthor) -> (&'static str, String) {
    let is_ours = author == CandidateAuthor::Upgrade
        || matches!(drift, StaleReason::Unneeded { is_as_generated: true, .. });
    match drift {
        StaleReason::Differs(_) if is_ours => (
            "it is as `abide upgrade` wrote it, and the active version changed since",
            "run `abide upgrade --write`".to_owned(),
        ),
        StaleReason::Differs(_) if author == CandidateAuthor::Editor => (
            "a release refuses it, and `abide upgrade --write` leaves it alone",
            "make the change in the active version, or mark additions with `next_major_only`; \
             `abide upgrade --write --overwrite` discards the edit"
                .to_owned(),
        ),
        StaleReason::Differs(_) => (
            "nothing records that abide wrote it, so `abide upgrade --write` leaves it alone",
            format!(
                "run `abide upgrade --write --overwrite` to replace it; or, {HAND_MAINTAINED_HELP}"
            ),
        ),
        StaleReason::Stale if is_ours => (
            "the active version has no such file",
            "run `abide upgrade --write`, which deletes it".to_owned(),
        ),
        StaleReason::Unneeded { .. } if is_ours => (
            "the next upgrade deletes it: the active version has nothing to remove or to migrate",
            "run `abide upgrade --write`, or name the package in `always` of `[upgrade]`"
                .to_owned(),
        ),
        StaleReason::Stale | StaleReason::Unneeded { .. } => (
            "somebody may have written what is only in this file, so an upgrade leaves it alone",
            format!(
                "mark additions with `next_major_only`; or, {HAND_MAINTAINED_HELP}; `abide upgrade \
                 --write --overwrite` deletes it"
            ),
        ),
        StaleReason::Orphaned => (
            "no upgrade makes this file or deletes it",
            format!("delete it, or bring the active version back; or, {HAND_MAINTAINED_HELP}"),
        ),
    }
}
