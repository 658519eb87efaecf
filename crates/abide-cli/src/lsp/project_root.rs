//! The trees that open documents belong to: found, read and kept up to date.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use abide_editor::{CheckInputs, Project};
use abide_lint::ConfigError;
use abide_schema::{FileDecl, FileKey, FileText, SourceFile};
use abide_source::LoadError;
use abide_source::{
    ACCEPTED, CONFIG, LOCK, LinkLimits, LoadedConfig, MAX_FILE, Progress, Source, SourceError,
    canonicalize, is_config, list_config_paths, normalize_lexically, parse_old, parse_tree,
    read_settings,
};

use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::settings::{Settings, read_lock, today};

/// The tree that a document belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TreeRoot {
    /// The tree in a folder: that of the nearest abide.toml, else the folder of the workspace.
    Folder(PathBuf),
    /// The document itself.
    Alone(PathBuf),
}

impl TreeRoot {
    /// The tree of a file: that of the nearest abide.toml upward, else the innermost folder of the
    /// workspace that has the file.
    pub(super) fn of(path: &Path, workspace: &[PathBuf], config: Option<&Path>) -> TreeRoot {
        let configured = config.and_then(Path::parent).map(canonicalize);
        if let Some(folder) = configured.filter(|it| path.starts_with(it)) {
            return TreeRoot::Folder(folder);
        }
        let places = path.parent().map(list_config_paths).unwrap_or_default();
        if let Some(folder) = places.iter().find(|it| is_config(it)).and_then(|it| it.parent()) {
            return TreeRoot::Folder(folder.to_owned());
        }
        let around = workspace.iter().filter(|it| path.starts_with(it));
        let around = around.max_by_key(|it| it.as_os_str().len());
        around.map_or_else(|| TreeRoot::Alone(path.to_owned()), |it| TreeRoot::Folder(it.clone()))
    }

    /// The folder or file.
    pub(super) fn path(&self) -> &Path {
        match self {
            TreeRoot::Folder(path) | TreeRoot::Alone(path) => path,
        }
    }
}

/// A tree that was read.
pub(super) struct EditedTree {
    pub(super) project: Project,
    source: Option<Source>,
    /// The folder that the paths of its files count from, with links resolved.
    folder: PathBuf,
    /// The same as the editor names it.
    shown: PathBuf,
    /// The files that were read, by where they lie.
    paths: HashMap<PathBuf, FileKey>,
    /// Troubles for the user: why there is no old tree, which files cannot be read.
    pub(super) troubles: Vec<String>,
}

/// The reason why a tree was not read.
pub(super) enum ReadFailure {
    /// The errors of abide.toml, with its path and text.
    Config(PathBuf, String, Vec<ConfigError>),
    Other(String),
}

impl From<Error> for ReadFailure {
    fn from(error: Error) -> ReadFailure {
        ReadFailure::Other(error.to_string())
    }
}

/// Reads a tree, and the old one that it is compared with. Known files are not parsed again.
pub(super) fn read_tree(
    global: &Global,
    home: &TreeRoot,
    against: Option<&str>,
    known: &[Arc<FileDecl>],
) -> Result<EditedTree, ReadFailure> {
    let path = home.path();
    let spec = path.to_string_lossy().into_owned();
    if let Some((path, text, errors)) = find_config_errors(global, path) {
        return Err(ReadFailure::Config(path, text, errors));
    }
    let progress = Progress::new(true);
    // What was never saved is judged as if it were in its folder, not in that of the process.
    let saved = path.ancestors().find(|it| it.exists()).map(Path::to_string_lossy);
    let settings = Settings::read(global, saved.as_deref(), false)?;
    let config = settings.config.clone();
    if !path.exists() {
        let folder = path.parent().unwrap_or(path).to_owned();
        let project = Project::new(CheckInputs::new(config, as_of(global)), Vec::new());
        let (shown, folder, paths) = (folder.clone(), canonicalize(&folder), HashMap::new());
        return Ok(EditedTree {
            project,
            source: None,
            folder,
            shown,
            paths,
            troubles: Vec::new(),
        });
    }
    let args = TreeArgs { source: Some(spec), import_path: Vec::new() };
    let source = settings.open_source(&args)?;
    let mut troubles = Vec::new();
    let files = match parse_tree(&source, known, &progress) {
        Ok(parsed) => {
            troubles.extend(parsed.unreadable.iter().map(ToString::to_string));
            parsed.files
        }
        // There may be some as soon as the user writes them.
        Err(LoadError::Source(SourceError::NoProtoFiles { .. })) => Vec::new(),
        Err(error) => return Err(Error::from(error).into()),
    };
    let mut old_files = |spec: Option<&str>| {
        let spec = spec?;
        let old = settings.open_baseline(spec, &args).and_then(|old| {
            let files = parse_old(&old, &source, &files, &progress)?.files;
            Ok((files, read_lock(&old, &format!(" of {spec}"), false)?, old.get_commit_day()))
        });
        match old {
            Ok(old) => Some(old),
            Err(error) => {
                troubles.push(format!("breaking changes are not reported: {error}"));
                None
            }
        }
    };
    // Of several old trees, the newest says what an edit breaks.
    let against = against.map(str::to_owned).or_else(|| settings.list_old_trees(&[]).pop());
    let against = old_files(against.as_deref());
    let released = old_files(config.bump_against.as_deref());
    let judge = CheckInputs {
        lock: read_lock(&source, "", false)?,
        released: released.as_ref().or(against.as_ref()).and_then(|it| it.1.clone()),
        accepted: settings.read_accepted(false)?.map(|it| it.0),
        baseline_day: against.as_ref().and_then(|it| it.2),
        features: source.read_features(config.features.as_deref()).map_err(Error::from)?,
        partial: settings.is_part(),
        ..CheckInputs::new(config, as_of(global))
    };
    let shown = match home {
        TreeRoot::Folder(folder) => folder.clone(),
        // Without the path of the file in the tree, the folder is left.
        TreeRoot::Alone(path) => {
            let own = files.iter().find(|it| !it.imported && path.ends_with(&*it.display));
            let depth = own.map_or(1, |it| Path::new(&*it.display).components().count());
            path.ancestors().nth(depth).unwrap_or(path).to_owned()
        }
    };
    let folder = source.folder().map_or_else(|| canonicalize(&shown), Path::to_owned);
    let paths = files
        .iter()
        .map(|it: &Arc<FileDecl>| {
            (normalize_lexically(&folder.join(&*it.display)), (it.root, Arc::clone(&it.path)))
        })
        .collect();
    let mut project = Project::new(judge, files);
    if let Some((old, ..)) = against {
        project = project.compare_with(old);
    }
    if let Some((released, ..)) = released {
        project = project.count_bump_from(released);
    }
    Ok(EditedTree { project, source: Some(source), folder, shown, paths, troubles })
}

fn as_of(global: &Global) -> jiff::civil::Date {
    global.as_of.unwrap_or_else(today)
}

/// The errors in the abide.toml of a tree, with its path and text.
fn find_config_errors(global: &Global, tree: &Path) -> Option<(PathBuf, String, Vec<ConfigError>)> {
    let path = global
        .config
        .clone()
        .or_else(|| list_config_paths(tree).into_iter().find(|it| is_config(it)))?;
    // What cannot be read is told where the settings are read.
    let text = String::from_utf8(read_settings(&path).ok()?).ok()?;
    let preset = global.preset.as_deref().and_then(abide_lint::Preset::find);
    let folder = path.parent().unwrap_or(Path::new("."));
    let errors = find_base_errors(&text, folder, preset)?;
    Some((path, text, errors))
}

/// The errors in an abide.toml and in what it builds on: those of a base at its entry of `extends`.
fn find_base_errors(
    text: &str,
    folder: &Path,
    preset: Option<abide_lint::Preset>,
) -> Option<Vec<ConfigError>> {
    let loaded = LoadedConfig::read(CONFIG, text, folder, &LinkLimits::around(folder, &[]));
    let texts = loaded.files;
    let errors = match loaded.errors.is_empty() {
        true => abide_lint::Config::read_files(&texts, preset).err()?,
        false => loaded.errors,
    };
    let entry = abide_lint::Config::bases_of(&texts, 0).first().map(|it| it.1);
    let at_entry = |error: ConfigError| match texts.locate(error.span).0.name.as_str() {
        CONFIG => error,
        _ => {
            let (name, line) = texts.find_line(error.span);
            let message = format!("{name}, line {line}: {}", error.message);
            ConfigError { message, span: entry.unwrap_or_default(), ..error }
        }
    };
    Some(errors.into_iter().map(at_entry).collect())
}

/// A path with the links of its folder resolved; the file need not exist.
fn resolve_folder_links(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => canonicalize(folder).join(name),
        _ => path.to_owned(),
    }
}

impl EditedTree {
    /// The file of the tree that is, or would be, at a path.
    pub(super) fn find_key(&self, path: &Path) -> Option<FileKey> {
        let path = &resolve_folder_links(path);
        if let Some(key) = self.paths.get(path) {
            return Some(key.clone());
        }
        let below = path.strip_prefix(&self.folder).ok()?;
        let names: Option<Vec<&str>> = below.iter().map(|it| it.to_str()).collect();
        let display = names?.join("/");
        match &self.source {
            Some(source) => source.find_place(&display).map(|(root, path)| (root, path.into())),
            None => Some((0, display.into())),
        }
    }

    /// Returns the path of a file on disk, as the editor names it.
    pub(super) fn path(&self, decl: &FileDecl) -> PathBuf {
        self.path_of(&decl.display)
    }

    /// Returns the path on disk of a file that reports call by this path.
    pub(super) fn path_of(&self, display: &str) -> PathBuf {
        normalize_lexically(&self.shown.join(display))
    }

    /// Gives a file of the tree another text. Files that it imports and that are outside of the
    /// tree are read.
    pub(super) fn set_text(&mut self, key: &FileKey, path: &Path, text: &[u8]) {
        let path = &resolve_folder_links(path);
        let display = path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy();
        let display = display.replace(std::path::MAIN_SEPARATOR, "/");
        let known = self.project.file(key);
        let file = SourceFile {
            path: Arc::clone(&key.1),
            display: known.map_or_else(|| display.into(), |it| Arc::clone(&it.display)),
            root: key.0,
            imported: known.is_some_and(|it| it.imported),
            text: FileText::from(text),
        };
        self.project.set(file);
        self.paths.insert(path.to_owned(), key.clone());
        let Some(source) = &self.source else { return };
        let mut missing = self.project.missing_imports(key);
        while let Some(import) = missing.pop() {
            if let Ok(Some(file)) = source.find_import(&import) {
                let key = (file.root, Arc::clone(&file.path));
                let path = normalize_lexically(&self.folder.join(&*file.display));
                self.project.set(file);
                missing.extend(self.project.missing_imports(&key));
                self.paths.insert(path, key);
            }
        }
    }

    /// Gives a file the text that it has on disk, or takes it out of the tree. Whether that was
    /// possible: where a link may lead is decided where a tree is read.
    pub(super) fn reset_text(&mut self, key: &FileKey, path: &Path) -> bool {
        let found = std::fs::symlink_metadata(path).ok();
        if found.as_ref().is_some_and(|it| !it.is_file() || it.len() > MAX_FILE) {
            return false;
        }
        match std::fs::read(path) {
            Ok(text) => self.set_text(key, path, &text),
            Err(_) => {
                self.project.remove(key);
                self.paths.remove(&resolve_folder_links(path));
            }
        }
        true
    }
}

/// Change times of the files that a tree is read by: its settings, and where git keeps what HEAD
/// and the old revision are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileTimes(Vec<Option<(SystemTime, u64)>>);

impl FileTimes {
    /// Returns true if nothing changed, as far as both know of the same files.
    pub(super) fn is_unchanged(&self, other: &FileTimes) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other)
    }

    pub(super) fn of(home: &TreeRoot, against: Option<&str>) -> FileTimes {
        let folder = match home {
            TreeRoot::Folder(folder) => folder,
            TreeRoot::Alone(path) => path.parent().unwrap_or(path),
        };
        let mut files: Vec<PathBuf> =
            [CONFIG, LOCK, ACCEPTED].iter().map(|it| folder.join(it)).collect();
        if let Some((own, common)) = find_git_folders(folder) {
            files.extend(["HEAD", "logs/HEAD"].iter().map(|it| own.join(it)));
            files.extend(["packed-refs", "FETCH_HEAD"].iter().map(|it| common.join(it)));
            let revision = against.and_then(|it| it.strip_prefix("git:"));
            let revision = revision.and_then(|it| it.split([':', '.']).next());
            // A full name begins with `refs/` itself.
            let kinds = ["", "refs/heads", "refs/tags", "refs/remotes"];
            files.extend(
                revision
                    .map(|revision: &str| kinds.map(|kind| common.join(kind).join(revision)))
                    .into_iter()
                    .flatten(),
            );
        }
        FileTimes(
            files
                .into_iter()
                .map(|path: PathBuf| {
                    let found = std::fs::metadata(path).ok()?;
                    Some((found.modified().ok()?, found.len()))
                })
                .collect(),
        )
    }
}

/// The folder of git for the worktree that a folder is in, and the one of its repository.
fn find_git_folders(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = folder.ancestors().map(|it| it.join(".git")).find(|it| it.exists())?;
    if git.is_dir() {
        return Some((git.clone(), git));
    }
    let own = git.parent()?.join(read_text(&git)?.strip_prefix("gitdir:")?.trim());
    let common = read_text(&own.join("commondir"));
    let common = common.map_or_else(|| own.clone(), |it| normalize_lexically(&own.join(it.trim())));
    Some((own, common))
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_settings(path).ok()?).ok()
}
