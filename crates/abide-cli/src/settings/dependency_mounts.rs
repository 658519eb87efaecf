//! The dependencies of the configured tree, where they are on this disk.

use std::path::Path;

use abide_lint::{ConfigError, DependencyOrigin, Lock};
use abide_source::dependencies::{Machine, ResolvedDependency, TreePlace, resolve_dependencies};
use abide_source::{ImportMount, LOCK, LoadedConfig, MountedFiles, Source, SourceOptions};

use super::Settings;
use crate::error::Error;
use crate::render::render_config_errors;

impl Settings {
    /// The dependencies as imports of a tree find them. Of a revision, in the versions that its own
    /// files record.
    pub(super) fn mount_dependencies(&self, spec: Option<&str>) -> Result<Vec<ImportMount>, Error> {
        if self.config.dependencies.is_empty() {
            return Ok(Vec::new());
        }
        let is_of_package =
            |origin: &DependencyOrigin| matches!(origin, DependencyOrigin::Package(..));
        let has_packages = self.config.dependencies.iter().any(|it| is_of_package(&it.origin));
        let revision = spec.filter(|it| has_packages && it.starts_with("git:"));
        // What cannot be opened is reported where it is opened to be read.
        let options = SourceOptions::new(&self.folder);
        let revision = revision.and_then(|it| Source::open(Some(it), &options).ok());
        let resolved = self.resolve_dependencies(revision.as_ref(), None)?;
        let mounts = resolved.into_iter().map(|it| it.mount);
        // The same is missing on both sides of a comparison, and said once.
        let is_there =
            |it: &ImportMount| spec.is_none() || !matches!(it.files, MountedFiles::Missing(_));
        Ok(mounts.filter(is_there).collect())
    }

    /// Finds every dependency on this disk, in the versions that a revision records, or the tree on
    /// disk without one.
    pub(crate) fn resolve_dependencies(
        &self,
        revision: Option<&Source>,
        lock: Option<&Lock>,
    ) -> Result<Vec<ResolvedDependency>, Error> {
        let links = self.links(&self.folder);
        let on_disk = |path: &Path| {
            let bytes = links.read(path).ok()?;
            String::from_utf8(bytes).ok()
        };
        let read = |path: &Path| {
            let recorded = revision.and_then(|it| it.read_at_revision(path).ok().flatten());
            match recorded {
                Some(text) => String::from_utf8(text.to_vec()).ok(),
                None => on_disk(path),
            }
        };
        let place = TreePlace::new(&self.folder, &self.config.roots, &read);
        let machine = Machine::from_environment();
        let resolved = resolve_dependencies(&self.config, lock, &place, &machine);
        self.check_dependency_links(&resolved)?;
        Ok(resolved)
    }

    /// Reports the dependencies in the tree that are links to other places.
    fn check_dependency_links(&self, resolved: &[ResolvedDependency]) -> Result<(), Error> {
        let Some(file) = &self.file else { return Ok(()) };
        let links = self.links(&self.folder);
        let error = |found: &ResolvedDependency| {
            let MountedFiles::Folder(_) = found.mount.files else { return None };
            let is_inside = found.mount.name != found.from;
            let reason = links.describe_refusal(&self.folder, &found.mount.name);
            let declared = self.config.dependencies.iter().find(|it| it.name == found.name)?;
            let message = format!("the dependency `{}` is not read", found.name);
            let help = Some(reason.filter(|_| is_inside)?);
            Some(ConfigError { message, span: declared.span, help })
        };
        let errors: Vec<ConfigError> = resolved.iter().filter_map(error).collect();
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Error::Config(render_config_errors(&errors, file, self.color))),
        }
    }

    /// Reads the `abide.lock` beside the configuration, with its text.
    pub(crate) fn read_own_lock(&self) -> Result<(Option<Vec<u8>>, Lock), Error> {
        let path = self.folder.join(LOCK);
        if !path.exists() {
            return Ok((None, Lock::default()));
        }
        let text = super::read_text(&path, LOCK, Some(&self.links(&self.folder)))?;
        let file = crate::render::TextFile { name: LOCK.to_owned(), text };
        let lock = Lock::parse(&file.text)
            .map_err(|errors| Error::Config(render_config_errors(&errors, &file, self.color)))?;
        Ok((Some(file.text.into_bytes()), lock))
    }

    /// The files of a dependency that `extends` names, by their paths there.
    pub(crate) fn list_base_files(&self, dependency: &str) -> Vec<String> {
        let Some(texts) = &self.texts else { return Vec::new() };
        let entries = abide_lint::Config::bases_of(texts, 0).into_iter();
        let inner = entries.filter_map(|(written, _)| {
            let rest = written.strip_prefix("dep:")?.strip_prefix(dependency)?;
            rest.strip_prefix('/').map(str::to_owned)
        });
        inner.collect()
    }

    /// The names and texts of the bases that are not in the tree, as they are now.
    pub(crate) fn read_outside_bases(&self) -> Vec<(String, String)> {
        let Some(file) = &self.file else { return Vec::new() };
        let links = self.links(&self.folder);
        let loaded = LoadedConfig::read(&file.name, &file.text, &self.folder, &links);
        let text = |it: &abide_source::OutsideBase| loaded.files.file(it.file).text.clone();
        loaded.outside.iter().map(|it| (it.name.clone(), text(it))).collect()
    }
}
