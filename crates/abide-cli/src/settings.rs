//! The configuration of a run: `abide.toml`, found upward, and what the command line adds.

use std::path::{Path, PathBuf};

use abide::{Accepted, Config, Preset};

use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::render::{TextFile, config_errors};
use crate::source::{Source, SourceOptions};

/// The name of the configuration.
pub const CONFIG: &str = "abide.toml";
/// The name of the file of accepted findings.
pub const ACCEPTED: &str = "abide.accepted";

/// What a run is told to do.
pub struct Settings {
    /// The configuration, over the defaults of its preset.
    pub config: Config,
    /// Its text, where there is a file.
    pub file: Option<TextFile>,
    /// The folder of `abide.toml`; else that of the tree, else the current one.
    pub folder: PathBuf,
    /// The folder that the user is in.
    current: PathBuf,
}

impl Settings {
    /// Reads the configuration for a tree.
    pub fn read(global: &Global, source: Option<&str>, color: bool) -> Result<Settings, Error> {
        let current = std::env::current_dir()
            .map_err(|error| Error::File { what: "the current folder".to_owned(), error })?;
        let preset = global.preset.as_deref().map(find_preset).transpose()?;
        let tree = match source {
            Some(spec) if Path::new(spec).is_dir() => current.join(spec),
            Some(spec) if Path::new(spec).is_file() => {
                current.join(spec).parent().map_or_else(|| current.clone(), Path::to_owned)
            }
            _ => current.clone(),
        };
        let path = match &global.config {
            Some(path) => Some(current.join(path)),
            None => tree.ancestors().map(|dir| dir.join(CONFIG)).find(|path| path.is_file()),
        };
        let Some(path) = path else {
            let config = Config::of_preset(preset.unwrap_or_default());
            return Ok(Settings { config, file: None, folder: tree, current });
        };
        let name = shown(&path, &current);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Error::File { what: format!("cannot read `{name}`"), error })?;
        let file = TextFile { name, text };
        let config = Config::parse(&file.text, preset)
            .map_err(|errors| Error::Config(config_errors(&errors, &file, color)))?;
        let folder = path.parent().map_or_else(|| current.clone(), Path::to_owned);
        Ok(Settings { config, file: Some(file), folder, current })
    }

    /// Opens the tree that is judged.
    pub fn source(&self, tree: &TreeArgs) -> Result<Source, Error> {
        self.open(tree.source.as_deref(), &tree.import_path, None)
    }

    /// Opens the tree that the judged one is compared with.
    pub fn baseline(&self, spec: &str, tree: &TreeArgs) -> Result<Source, Error> {
        let judged = tree.source.as_deref().and_then(|spec| spec.strip_prefix("git:"));
        self.open(Some(spec), &tree.import_path, judged)
    }

    fn open(
        &self,
        spec: Option<&str>,
        import_path: &[String],
        merge_with: Option<&str>,
    ) -> Result<Source, Error> {
        // Only the tree that abide.toml describes has its roots; another folder is a root itself.
        let configured = match spec {
            None => true,
            Some(spec) if spec.starts_with("git:") => true,
            Some(spec) => same_folder(&self.current.join(spec), &self.folder),
        };
        let roots: &[String] = if configured { &self.config.roots } else { &[] };
        let mut import_paths: Vec<String> = import_path.to_vec();
        import_paths.extend(
            self.config
                .import_paths
                .iter()
                .map(|path| shown(&self.folder.join(path), &self.current)),
        );
        let base = if spec.is_none() && self.file.is_some() { &self.folder } else { &self.current };
        if base != &self.current {
            for path in &mut import_paths {
                *path = self.current.join(&path).display().to_string();
            }
        }
        let options = SourceOptions { base, import_paths: &import_paths, roots, merge_with };
        Ok(Source::open(spec, &options)?)
    }

    /// The accepted findings, where the file exists.
    pub fn accepted(&self, color: bool) -> Result<Option<(Accepted, TextFile)>, Error> {
        let path = self.accepted_path();
        let name = shown(&path, &self.current);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::File { what: format!("cannot read `{name}`"), error }),
        };
        let file = TextFile { name, text };
        let accepted = Accepted::parse(&file.text)
            .map_err(|errors| Error::Config(config_errors(&errors, &file, color)))?;
        Ok(Some((accepted, file)))
    }

    /// Where accepted findings are recorded: beside `abide.toml`, else in the tree's folder.
    pub fn accepted_path(&self) -> PathBuf {
        self.folder.join(ACCEPTED)
    }

    /// What stands before a path of the tree so that it counts from the current folder.
    pub fn prefix(&self, tree: &TreeArgs) -> String {
        let folder = match &tree.source {
            Some(spec) if Path::new(spec).is_dir() => spec.clone(),
            Some(_) => return String::new(),
            None => shown(&self.folder, &self.current),
        };
        match folder.trim_start_matches("./").trim_end_matches('/') {
            "" | "." => String::new(),
            folder => format!("{folder}/"),
        }
    }
}

/// The preset with this name.
pub fn find_preset(name: &str) -> Result<Preset, Error> {
    Preset::find(name).ok_or_else(|| {
        let known: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        Error::Usage(format!("there is no preset `{name}`; there are `{}`", known.join("`, `")))
    })
}

fn same_folder(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// A path as a user in the current folder would write it.
fn shown(path: &Path, current: &Path) -> String {
    let relative = path.strip_prefix(current).unwrap_or(path);
    if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.display().to_string() }
}
