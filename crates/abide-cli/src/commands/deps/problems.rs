//! The differences between the dependencies on disk, `abide.toml` and `abide.lock`.

use abide_lint::{ConfigDependency, Lock};
use abide_source::MountedFiles;
use abide_source::dependencies::{ResolvedDependency, compute_content, read_vendored};

use super::vendor::find_repository;
use crate::error::Error;
use crate::render::{DependencyList, ImportOrigin};
use crate::settings::Settings;

/// Finds what is missing, was edited, or is not what `abide.toml` asks for, one phrase each.
pub(super) fn find_problems(
    settings: &Settings,
    report: &DependencyList,
) -> Result<Vec<String>, Error> {
    let (_, lock) = settings.read_own_lock()?;
    let mut problems = Vec::new();
    for (declared, found) in settings.config.dependencies.iter().zip(&report.dependencies) {
        problems.extend(find_problem(declared, found, &lock)?);
    }
    let is_declared = |name: &str| settings.config.dependencies.iter().any(|it| it.name == name);
    for name in lock.dependency_names().filter(|it| !is_declared(it)) {
        problems.push(format!(
            "`{name}` is in abide.lock and not in abide.toml: `abide deps vendor` removes it"
        ));
    }
    for import in &report.imports {
        if let ImportOrigin::Missing { users } = &import.origin {
            let first = users.first().map_or("", String::as_str);
            problems.push(format!("the import `{}` of `{first}` was not found", import.path));
        }
    }
    Ok(problems)
}

fn find_problem(
    declared: &ConfigDependency,
    found: &ResolvedDependency,
    lock: &Lock,
) -> Result<Option<String>, Error> {
    let name = &found.name;
    if let MountedFiles::Missing(reason) = &found.mount.files {
        return Ok(Some(reason.clone()));
    }
    let MountedFiles::Folder(folder) = &found.mount.files else { return Ok(None) };
    if !found.is_vendored {
        return Ok(None);
    }
    if lock.is_dependency_unresolved(name) {
        return Ok(Some(format!(
            "`{name}` has two commits in abide.lock after a merge: `abide deps update {name}` \
             chooses the newest"
        )));
    }
    let Some(pin) = lock.dependency(name) else {
        return Ok(Some(format!(
            "`{name}` is not recorded in abide.lock: run `abide deps vendor`"
        )));
    };
    if let Some(wanted) = find_repository(declared)
        && (wanted.url != pin.url || wanted.rev != pin.rev)
    {
        return Ok(Some(format!(
            "`{name}` is `{}` at `{}` in abide.toml, and `{}` at `{}` in abide.lock: run `abide \
             deps vendor`",
            wanted.url, wanted.rev, pin.url, pin.rev
        )));
    }
    let files = read_vendored(folder).map_err(|error| Error::File {
        what: format!("cannot read `{}`", found.mount.name),
        error,
    })?;
    Ok((compute_content(&files) != pin.content).then(|| {
        format!(
            "`{}` was edited after it was brought: `abide deps vendor` restores it",
            found.mount.name
        )
    }))
}
