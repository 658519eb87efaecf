//! `abide config`.

use std::io::Read;
use std::path::Path;

use abide::{counted, nearest};
use abide_instance::{Dialect, Instance, Kind, Notation, ReadOptions};
use abide_schema::value::ReadErrorKind;
use abide_schema::{MessageId, Tree};
use rayon::prelude::*;

use super::fitness::troubles;
use super::outcome::Outcome;
use super::selection::Selection;
use crate::args::{ConfigArgs, ConfigCheckArgs, ConfigCommand, Global, TreeArgs};
use crate::error::Error;
use crate::load::{load, load_beside};
use crate::progress::Progress;
use crate::render::{Scene, TextFile};
use crate::settings::{Settings, today};
use crate::terminal::{error_color, look, say};

pub(super) fn config(global: &Global, args: &ConfigArgs) -> Result<Outcome, Error> {
    match &args.command {
        ConfigCommand::Check(args) => check(global, args),
        ConfigCommand::Diff(args) => super::instance_diff::config_diff(global, args),
    }
}

/// A file with instances: its name and bytes.
pub(super) struct InstanceFile {
    pub(super) name: String,
    pub(super) notation: Notation,
    pub(super) bytes: Vec<u8>,
}

fn check(global: &Global, args: &ConfigCheckArgs) -> Result<Outcome, Error> {
    let settings = Settings::read(global, args.api.as_deref(), error_color(global))?;
    let tree_args = TreeArgs { source: args.api.clone(), import_path: args.import_path.clone() };
    let selection = Selection::of(&args.show, args.format)?;
    let progress = Progress::new(global.quiet);
    let files = read_files(args)?;
    spare_inputs(global, args)?;
    let source = settings.source(&tree_args)?;
    let mut loaded = load(&source, &progress)?;
    let mut instances = read_instances(&loaded.tree, &files, args);
    if !args.import_path.is_empty() && !instances.as_ref().is_ok_and(|it| all_types_are_known(it)) {
        // What nothing imports may be the type of an instance, or of what it holds.
        let folder = |folder: &String| {
            let import_path = args.import_path.clone();
            settings.source(&TreeArgs { source: Some(folder.clone()), import_path })
        };
        let folders = args.import_path.iter().map(folder).collect::<Result<Vec<_>, _>>()?;
        loaded = load_beside(&source, &folders, &progress)?;
        instances = read_instances(&loaded.tree, &files, args);
    }
    let instances = instances?;
    if let Some(path) = &args.at {
        say_what_has_no_path(global, path, &files, &instances)?;
    }
    progress.step(format!("judging {} files", files.len()));
    let policy = &settings.config.policy;
    let as_of = global.as_of.unwrap_or_else(today);
    let mut report = abide::check_instances(&loaded.tree, policy, as_of, &instances);
    selection.select(&mut report);
    let failed = report.errors > 0;
    let texts: Vec<TextFile> = files.into_iter().map(InstanceFile::shown).collect();
    let scene = Scene {
        tree: &loaded.tree,
        old: None,
        config: settings.file.as_ref(),
        accepted: None,
        features: &[],
        instances: &texts,
        touched: &[],
        prefix: "",
        config_prefix: "",
        look: look(global, args.format.is_styled),
    };
    let (text, hidden) = match selection.counts(&report) {
        Some(counts) => (counts, None),
        None => {
            let hidden = scene.limit(&mut report, args.show.limit);
            ((args.format.write)(&report, &scene), hidden)
        }
    };
    progress.finish();
    // An instance is judged by the part of the API that links.
    let broken = loaded.tree.problems().iter().filter(|it| it.kind.is_error()).count();
    if broken > 0 && !global.quiet {
        say(&format!(
            "note: the API does not link everywhere, so some types may not be known: `abide lint` \
             shows the {}",
            counted(broken, "error")
        ));
    }
    for note in loaded.notes.iter().chain(&hidden).filter(|_| !global.quiet) {
        say(&format!("note: {note}"));
    }
    Ok(Outcome { report: Some(text), failed, troubles: troubles(&loaded) })
}

fn read_instances(
    tree: &Tree,
    files: &[InstanceFile],
    args: &ConfigCheckArgs,
) -> Result<Vec<Instance>, Error> {
    let ty = args.ty.as_deref().map(|name| message_named(tree, name)).transpose()?;
    let dialect = Dialect::ALL.iter().copied().find(|it| Some(it.name()) == args.reader.as_deref());
    let path = args.at.as_deref().unwrap_or_default();
    let read = |file: &InstanceFile| {
        let options = ReadOptions { notation: file.notation, ty, dialect };
        Instance::read_at(tree, &file.bytes, path, options)
    };
    Ok(files.par_iter().map(read).collect())
}

fn all_types_are_known(instances: &[Instance]) -> bool {
    let mut documents = instances.iter().flat_map(|it| &it.documents);
    documents.all(|document| {
        let mut errors = document.reading.iter().flat_map(|it| &it.errors);
        !matches!(document.kind, Kind::Unknown(_))
            && !errors.any(|it| it.kind == ReadErrorKind::TypeNotFound)
    })
}

/// Refuses to write the report over what it is about.
fn spare_inputs(global: &Global, args: &ConfigCheckArgs) -> Result<(), Error> {
    let Some(output) = global.output.as_deref().and_then(|it| it.canonicalize().ok()) else {
        return Ok(());
    };
    let is_output =
        |name: &&String| Path::new(name).canonicalize().is_ok_and(|it| output.starts_with(it));
    match args.files.iter().find(is_output) {
        None => Ok(()),
        Some(name) => Err(Error::Usage(format!(
            "`--output` would overwrite what is checked: `{}` is in `{name}`",
            output.display()
        ))),
    }
}

/// Files in which nothing stands at the path that is asked for are no instances.
fn say_what_has_no_path(
    global: &Global,
    path: &str,
    files: &[InstanceFile],
    instances: &[Instance],
) -> Result<(), Error> {
    let is_empty = |it: &Instance| it.documents.is_empty() && it.errors.is_empty();
    let passed = files.iter().zip(instances).filter(|(_, it)| is_empty(it));
    let passed: Vec<&str> = passed.map(|(file, _)| &*file.name).collect();
    if passed.len() == files.len() {
        let message = format!("nothing stands at `{path}`, the path that `--at` names");
        return Err(Error::Usage(message));
    }
    if !passed.is_empty() && !global.quiet {
        let count = counted(passed.len(), "file");
        say(&format!("note: {count} passed, nothing stands at `{path}`: {}", passed.join(", ")));
    }
    Ok(())
}

/// The files that the command line names, and those in folders that it names, in the order of
/// their names.
fn read_files(args: &ConfigCheckArgs) -> Result<Vec<InstanceFile>, Error> {
    let notation = Notation::ALL.iter().copied();
    let notation = { notation }.find(|it| Some(it.name()) == args.notation.as_deref());
    let mut files = Vec::new();
    let mut named: Vec<&String> = Vec::new();
    for name in &args.files {
        if named.contains(&name) {
            continue;
        }
        named.push(name);
        if name == "-" || !Path::new(name).is_dir() {
            files.push(InstanceFile::open(name, notation)?);
            continue;
        }
        let before = files.len();
        for path in in_folder(name)? {
            if let Some(notation) = Notation::of_path(&path) {
                files.push(InstanceFile::read(&path, notation)?);
            }
        }
        if files.len() == before {
            let message = format!("no file in `{name}` has a name of YAML, JSON, text or binary");
            return Err(Error::Usage(message));
        }
    }
    Ok(files)
}

/// The files in a folder and in the folders inside it, hidden and ignored ones left out. A link to
/// a file inside counts as a file, as in a folder that Kubernetes mounts; others are told.
fn in_folder(name: &str) -> Result<Vec<String>, Error> {
    let mut paths = Vec::new();
    let top = Path::new(name).canonicalize().map_err(|error| unreadable(name, error))?;
    for entry in ignore::WalkBuilder::new(name).build() {
        let entry = entry
            .map_err(|error| Error::Usage(format!("cannot read the folder `{name}`: {error}")))?;
        let path = entry.path().display().to_string();
        let is_link = entry.path_is_symlink();
        if is_link && Notation::of_path(&path).is_some() {
            let target = entry.path().canonicalize();
            let is_inside = target.as_ref().is_ok_and(|it| it.starts_with(&top) && it.is_file());
            match is_inside {
                true => paths.push(path),
                false => say(&format!("note: `{path}` was not read: it is a link out of `{name}`")),
            }
        } else if entry.file_type().is_some_and(|it| it.is_file()) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn unreadable(name: &str, error: std::io::Error) -> Error {
    Error::File { what: format!("cannot read `{name}`"), error }
}

impl InstanceFile {
    /// Reads a file, or standard input if its name is `-`.
    pub(super) fn open(name: &str, notation: Option<Notation>) -> Result<InstanceFile, Error> {
        if name == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| unreadable("standard input", error))?;
            let notation = notation.unwrap_or(Notation::Yaml);
            return Ok(InstanceFile { name: "-".to_owned(), notation, bytes });
        }
        std::fs::metadata(name).map_err(|error| unreadable(name, error))?;
        let notation = notation.or_else(|| Notation::of_path(name)).ok_or_else(|| {
            Error::Usage(format!(
                "the name of `{name}` does not tell its notation: name it with `--notation`"
            ))
        })?;
        InstanceFile::read(name, notation)
    }

    fn read(name: &str, notation: Notation) -> Result<InstanceFile, Error> {
        let bytes = std::fs::read(name).map_err(|error| unreadable(name, error))?;
        Ok(InstanceFile { name: name.to_owned(), notation, bytes })
    }

    /// What reports show of it. Bytes that are no text are not shown.
    fn shown(self) -> TextFile {
        let text = match self.notation {
            Notation::Binary => String::new(),
            Notation::Yaml | Notation::Json | Notation::Text => {
                String::from_utf8_lossy(&self.bytes).into_owned()
            }
        };
        TextFile { name: self.name, text }
    }
}

/// The message with this full name.
pub(super) fn message_named(tree: &Tree, name: &str) -> Result<MessageId, Error> {
    let name = name.trim_start_matches('.');
    if let Some(message) = tree.message_named(name) {
        return Ok(message.id);
    }
    let all: Vec<String> =
        tree.files().flat_map(|file| file.all_messages()).map(|it| it.full_name()).collect();
    let near = nearest(name, all.iter().map(String::as_str));
    let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(Error::Usage(format!("the API has no message `{name}`{help}")))
}
