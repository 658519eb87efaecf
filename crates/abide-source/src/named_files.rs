//! Files that hold instances, as they are named and found.

use std::io::Read;
use std::path::Path;

use abide_instance::Notation;
use ignore::Match;

use crate::error::NamedFileError;
use crate::source::{LinkLimits, list_visible_files};

/// A file with instances: its name and bytes.
#[derive(Debug)]
pub struct NamedFile {
    /// Its name, as the user wrote it; `-` for standard input.
    pub name: String,
    /// The notation, as the user or the name says.
    pub notation: Notation,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The files with these names, and those in folders with these names, in the order of their names.
pub fn read_named_files(
    names: &[String],
    notation: Option<Notation>,
    notes: &mut Vec<String>,
) -> Result<Vec<NamedFile>, NamedFileError> {
    let mut files = Vec::new();
    let mut named: Vec<&String> = Vec::new();
    for name in names {
        if named.contains(&name) {
            continue;
        }
        named.push(name);
        if name == "-" || !Path::new(name).is_dir() {
            files.push(NamedFile::open(name, notation)?);
            continue;
        }
        let before = files.len();
        for path in list_folder(name, notes)? {
            if let Some(notation) = Notation::from_path(&path) {
                files.push(NamedFile::read(&path, notation)?);
            }
        }
        if files.len() == before {
            return Err(NamedFileError::NoInstances { name: name.clone() });
        }
    }
    Ok(files)
}

/// The files in a folder and in the folders inside it, hidden and ignored ones left out. A link to
/// a file inside counts as a file, as in a folder that Kubernetes mounts; others are told.
fn list_folder(name: &str, notes: &mut Vec<String>) -> Result<Vec<String>, NamedFileError> {
    let mut paths = Vec::new();
    let top = Path::new(name).canonicalize().map_err(|error| build_error(name, error))?;
    let links = LinkLimits::around(&top, &[]);
    let files = list_visible_files(Path::new(name), &links, &|_, _| Match::None);
    let files = files.map_err(|(path, error)| build_error(&path.display().to_string(), error))?;
    for file in files {
        let path = Path::new(name).join(&file.path);
        let shown = path.display().to_string();
        if file.is_link && Notation::from_path(&shown).is_some() {
            let target = path.canonicalize();
            let is_inside = target.as_ref().is_ok_and(|it| it.starts_with(&top) && it.is_file());
            match is_inside {
                true => paths.push(shown),
                false => {
                    notes.push(format!("`{shown}` was not read: it is a link out of `{name}`"));
                }
            }
        } else if !file.is_link {
            paths.push(shown);
        }
    }
    paths.sort();
    Ok(paths)
}

fn build_error(name: &str, error: std::io::Error) -> NamedFileError {
    NamedFileError::Unreadable { name: name.to_owned(), error }
}

impl NamedFile {
    /// Reads a file, or standard input if its name is `-`.
    pub fn open(name: &str, notation: Option<Notation>) -> Result<NamedFile, NamedFileError> {
        if name == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| build_error("standard input", error))?;
            let notation = notation.unwrap_or(Notation::Yaml);
            return Ok(NamedFile { name: "-".to_owned(), notation, bytes });
        }
        std::fs::metadata(name).map_err(|error| build_error(name, error))?;
        let notation = notation
            .or_else(|| Notation::from_path(name))
            .ok_or_else(|| NamedFileError::UnknownNotation { name: name.to_owned() })?;
        NamedFile::read(name, notation)
    }

    fn read(name: &str, notation: Notation) -> Result<NamedFile, NamedFileError> {
        let bytes = std::fs::read(name).map_err(|error| build_error(name, error))?;
        Ok(NamedFile { name: name.to_owned(), notation, bytes })
    }

    /// Reads a file of a folder that its name counts from.
    pub fn read_below(folder: &Path, name: &str) -> Result<NamedFile, NamedFileError> {
        let notation = Notation::from_path(name).unwrap_or(Notation::Yaml);
        let bytes = std::fs::read(folder.join(name)).map_err(|error| build_error(name, error))?;
        Ok(NamedFile { name: name.to_owned(), notation, bytes })
    }
}
