//! The files that a configuration builds on, read from where `extends` names them.

use std::path::{Path, PathBuf};

use abide_lint::{Config, ConfigError, ConfigTexts, Lock};
use abide_syntax::Span;

use crate::dependencies::DEPENDENCY_FOLDER;
use crate::printable::escape_unprintable;
use crate::source::{
    CONFIG, LinkLimits, Source, SourceOptions, canonicalize, join, normalize_lexically,
    read_settings,
};

/// The most files that a configuration builds on, and how deep.
const MAX_FILES: usize = 100;
const MAX_DEPTH: usize = 20;

/// The texts of a configuration, and which of them are not in its tree.
pub struct LoadedConfig {
    /// The texts.
    pub files: ConfigTexts,
    /// The bases that are not in the tree.
    pub outside: Vec<OutsideBase>,
    /// What could not be read, at its place among the texts.
    pub errors: Vec<ConfigError>,
}

/// A base that is not in the tree.
pub struct OutsideBase {
    /// Its name in `abide.lock`.
    pub name: String,
    /// Its number among the texts.
    pub file: usize,
    /// Where `extends` names it.
    pub span: Span,
}

impl LoadedConfig {
    /// Reads what a configuration in a folder builds on.
    pub fn read(name: &str, text: &str, folder: &Path, links: &LinkLimits) -> LoadedConfig {
        let files = ConfigTexts::new(name, text);
        let loaded = LoadedConfig { files, outside: Vec::new(), errors: Vec::new() };
        let folder = canonicalize(folder);
        let dependencies = Config::dependency_folder_of(text);
        let dependencies = dependencies.unwrap_or_else(|| DEPENDENCY_FOLDER.to_owned());
        let own = BasePlace::Disk(folder.join(CONFIG));
        let mut reader = BaseReader { folder, dependencies, links, loaded };
        reader.read_bases(0, &own, &mut vec![own.clone()]);
        reader.loaded
    }

    /// Returns true if a base is outside of the tree, which `abide.lock` has to pin.
    pub fn needs_pins(&self) -> bool {
        !self.outside.is_empty()
    }

    /// Reports the bases outside of the tree that `abide.lock` does not have as they are.
    pub fn check_pins(&mut self, lock: Option<&Lock>) {
        for base in &self.outside {
            let name = &base.name;
            let text = self.files.file(base.file).text.as_bytes();
            if lock.is_some_and(|it| it.is_base(name, text)) {
                continue;
            }
            let is_known = lock.is_some_and(|it| it.has_base(name));
            let (message, help) = match is_known {
                true => (
                    format!("`{name}` is not what abide.lock records of it"),
                    "look at what changed there, and run `abide deps update` to record it",
                ),
                false => (
                    format!("`{name}` is not in this tree, and abide.lock does not pin it"),
                    "run `abide deps update`, which records what it holds",
                ),
            };
            self.errors.push(ConfigError { message, span: base.span, help: Some(help.to_owned()) });
        }
    }
}

/// The place of a text of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BasePlace {
    Disk(PathBuf),
    /// A revision, and the path from the top of its repository.
    Revision(String, String),
}

struct BaseReader<'a> {
    folder: PathBuf,
    /// The folder of dependencies, from `folder`.
    dependencies: String,
    links: &'a LinkLimits,
    loaded: LoadedConfig,
}

impl BaseReader<'_> {
    /// Reads what a file builds on. `path` are the places on the way to it.
    fn read_bases(&mut self, file: usize, place: &BasePlace, path: &mut Vec<BasePlace>) {
        for (written, span) in Config::bases_of(&self.loaded.files, file) {
            let found = self.find(&written, place);
            if let Err(message) = found.and_then(|base| self.read_base(file, base, span, path)) {
                let message = escape_unprintable(&message);
                self.loaded.errors.push(ConfigError { message, span, help: None });
            }
        }
    }

    fn read_base(
        &mut self,
        file: usize,
        base: BasePlace,
        span: Span,
        path: &mut Vec<BasePlace>,
    ) -> Result<(), String> {
        let name = self.describe(&base);
        if path.contains(&base) {
            return Err(format!("`{name}` builds on itself: remove one `extends` of the cycle"));
        }
        if path.len() > MAX_DEPTH || self.loaded.outside.len() > MAX_FILES {
            return Err(format!("`{name}` is not read: a configuration builds on too many files"));
        }
        let text = self.read(&base, &name)?;
        let number = self.loaded.files.add(&name, &text);
        self.loaded.files.add_base(file, number);
        if !self.is_in_tree(&base) {
            self.loaded.outside.push(OutsideBase { name, file: number, span });
        }
        path.push(base.clone());
        self.read_bases(number, &base, path);
        path.pop();
        Ok(())
    }

    /// The place that an entry of `extends` names, by the place of the file that has it.
    fn find(&self, written: &str, from: &BasePlace) -> Result<BasePlace, String> {
        if let Some(rest) = written.strip_prefix("git:") {
            let (revision, path) = rest
                .split_once(':')
                .ok_or_else(|| format!("`{written}` names no file: write it as `git:REV:PATH`"))?;
            let path = if path.ends_with(".toml") { path.to_owned() } else { join(path, CONFIG) };
            return Ok(BasePlace::Revision(format!("git:{revision}"), path));
        }
        if let Some(rest) = written.strip_prefix("dep:") {
            let is_inside = !rest.starts_with('/') && !rest.split('/').any(|it| it == "..");
            if !is_inside || !rest.contains('/') {
                return Err(format!("`{written}` names no file: write it as `dep:NAME/PATH`"));
            }
            return Ok(BasePlace::Disk(self.folder.join(&self.dependencies).join(rest)));
        }
        match from {
            BasePlace::Disk(file) => {
                let around = file.parent().unwrap_or(&self.folder);
                let path = normalize_lexically(&around.join(written));
                Ok(BasePlace::Disk(if path.is_dir() { path.join(CONFIG) } else { path }))
            }
            BasePlace::Revision(revision, file) => {
                let around = Path::new(file).parent().unwrap_or(Path::new(""));
                let path = normalize_lexically(&around.join(written));
                let path = path.to_string_lossy().into_owned();
                let path = if path.ends_with(".toml") { path } else { join(&path, CONFIG) };
                Ok(BasePlace::Revision(revision.clone(), path))
            }
        }
    }

    fn read(&self, base: &BasePlace, name: &str) -> Result<String, String> {
        let bytes = match base {
            BasePlace::Disk(path) if !path.exists() => {
                let help = match name.starts_with("dep:") {
                    true => "run `abide deps vendor`",
                    false => "correct the path",
                };
                return Err(format!("`{name}` does not exist: {help}"));
            }
            BasePlace::Disk(path) if self.links.is_in_reach(path) => self.links.read(path),
            BasePlace::Disk(path) => read_settings(path),
            BasePlace::Revision(revision, path) => {
                let options = SourceOptions::new(&self.folder);
                let source = Source::open(Some(revision), &options).map_err(|it| it.to_string())?;
                let text = source.read_at_top(path).map_err(|it| it.to_string())?;
                let text = text.ok_or_else(|| format!("`{revision}` has no file `{path}`"))?;
                Ok(text.to_vec())
            }
        };
        let bytes = bytes.map_err(|error| format!("cannot read `{name}`: {error}"))?;
        String::from_utf8(bytes).map_err(|_| format!("cannot read `{name}`: it is not UTF-8"))
    }

    /// The name of a base for messages and in `abide.lock`: the same on every machine.
    fn describe(&self, base: &BasePlace) -> String {
        match base {
            BasePlace::Revision(revision, path) => format!("{revision}:{path}"),
            BasePlace::Disk(path) => {
                let dependencies = self.folder.join(&self.dependencies);
                if let Ok(below) = path.strip_prefix(&dependencies) {
                    return format!("dep:{}", below.to_string_lossy());
                }
                let up = self.folder.ancestors().enumerate();
                let mut shared = up.filter_map(|(up, it)| Some((up, path.strip_prefix(it).ok()?)));
                match shared.next() {
                    Some((up, below)) => "../".repeat(up) + &below.to_string_lossy(),
                    None => path.to_string_lossy().into_owned(),
                }
            }
        }
    }

    /// Returns true if a base changes only with the tree itself.
    fn is_in_tree(&self, base: &BasePlace) -> bool {
        match base {
            BasePlace::Revision(..) => false,
            BasePlace::Disk(path) => {
                let is_dependency = path.starts_with(self.folder.join(&self.dependencies));
                !is_dependency && LinkLimits::around(&self.folder, &[]).is_in_reach(path)
            }
        }
    }
}
