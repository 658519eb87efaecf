//! `abide release`.

use abide::Records;
use abide_schema::Tree;
use abide_upgrade::{Refusal, Release, Risen};

use super::days;
use super::fitness::{for_people, troubles};
use super::outcome::Outcome;
use super::upgrade::{
    Builds, Changes, FileChange, Opened, count, diff_of, display, hindrances, write_changes,
};
use crate::args::{Global, ReleaseTarget, TreeArgs};
use crate::error::Error;
use crate::load::{Loaded, load};
use crate::printable::shown;
use crate::settings::{Settings, lock};
use crate::terminal::{error_color, say};

pub(super) fn release(
    global: &Global,
    args: &TreeArgs,
    target: &ReleaseTarget,
) -> Result<Outcome, Error> {
    let Opened { progress, settings, folder, guard: _guard } =
        Opened::of(global, args, target.write)?;
    if settings.is_partial() {
        return Err(Error::Usage(
            "a release is always of the whole tree: leave SOURCE out".to_owned(),
        ));
    }
    let source = settings.source(args)?;
    let loaded = load(&source, &progress)?;
    if !loaded.unreadable.is_empty() {
        return Err(Error::Usage(format!(
            "nothing was released, because some files cannot be read: {}",
            troubles(&loaded).join("; ")
        )));
    }
    progress.step("releasing");
    let made = abide_upgrade::release(&loaded.tree, settings.config.policy.upgrade_settings())
        .map_err(|refusal: Refusal| Error::Usage(refusal.to_string()))?;
    let hindrances = hindrances(global, &loaded, &settings, &made.files);
    progress.finish();
    if !hindrances.findings.is_empty() {
        say(&for_people(global, &loaded.tree, &hindrances));
        say("note: nothing was released");
        return Ok(Outcome::nothing(true));
    }
    let policy = settings.config.policy.upgrade_settings();
    let mut build_files = abide_upgrade::build_files(&loaded.tree, policy, &made.files);
    build_files.extend(abide_upgrade::version_build_file(&loaded.tree, policy, &made));
    let builds = Builds::of(&loaded.tree, &build_files, &made.deleted, folder.as_deref());
    let mut changes = changes(&loaded.tree, &made);
    builds.add_to(&mut changes);
    if !global.quiet {
        let recorded = lock(&source, "", error_color(global))?;
        let records = Records { lock: recorded.as_ref(), ..Records::default() };
        for note in notes(global, &loaded, &settings, &made, records) {
            say(&format!("note: {}", shown(&note)));
        }
    }
    if target.write {
        let folder = folder.unwrap_or_default();
        write_changes(&folder, &changes)?;
        days::record(&folder, |lock| {
            abide::stamp_release(lock, &loaded.tree, &made, days::as_of(global));
        })?;
        return Ok(Outcome::nothing(false));
    }
    if target.diff {
        return Ok(Outcome::of(diff_of(&changes, &settings.prefix(args))));
    }
    Ok(Outcome::nothing(!changes.is_empty()))
}

fn changes<'a>(tree: &'a Tree, made: &'a Release) -> Changes<'a> {
    let mut changes = Changes::new();
    for file in &made.files {
        let path = display(tree.file(file.from), &file.path);
        let candidate = tree.files().find(|it| it.path() == file.path);
        let old = candidate.and_then(|it| it.decl().source_text());
        changes.insert(path, FileChange { old, new: Some(&file.text), last: true });
    }
    let old = |id| {
        let decl = tree.file(id).decl();
        (decl.display.to_string(), decl.source_text())
    };
    for (id, text) in &made.edited {
        let (path, old) = old(*id);
        changes.insert(path, FileChange { old, new: Some(text), last: false });
    }
    for id in &made.deleted {
        let (path, old) = old(*id);
        changes.insert(path, FileChange { old, new: None, last: false });
    }
    changes
}

/// Notes about the packages that are released and why, and about alphas that are too old.
fn notes(
    global: &Global,
    loaded: &Loaded,
    settings: &Settings,
    made: &Release,
    records: Records<'_>,
) -> Vec<String> {
    let next = |risen: &Risen| risen.next.join("` and `");
    let told = |risen: &Risen| match &risen.because {
        None => format!("`{}` becomes `{}`", risen.package, next(risen)),
        Some(other) => format!(
            "`{}` becomes `{}` to catch up: it depends on `{other}`, which gets a new major",
            risen.package,
            next(risen)
        ),
    };
    let mut notes: Vec<String> = made.risen.iter().map(told).collect();
    if made.risen.is_empty() && !made.deleted.is_empty() {
        notes.push("the interrupted release is now complete".to_owned());
    } else if made.risen.is_empty() {
        notes.push("there is no candidate to release".to_owned());
    } else {
        notes.push(format!("{} released", count(made.files.len(), "file")));
    }
    let options = abide::Options { records, ..abide::Options::on(days::as_of(global)) };
    let report = abide::check(&loaded.tree, &settings.config.policy, options);
    let old = report.findings.iter().filter(|finding| finding.rule == abide::ALPHA_TOO_OLD.id);
    notes.extend(old.map(|finding| format!("promote or remove: {}", finding.message)));
    notes
}
