//! The configuration of a tree over the files that it builds on.

use std::path::Path;

use abide_lint::{Config, ConfigError, ConfigTexts, Lock, Preset};
use abide_source::{LOCK, LinkLimits, LoadedConfig};
use abide_syntax::Span;

use crate::error::Error;
use crate::render::{TextFile, render_config_errors};

/// How bases are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaseReading {
    /// All must be there, and those outside of the tree as `abide.lock` has them.
    Pinned,
    /// What is there, for a command that brings the rest.
    AsFound,
}

/// Reads a configuration over its bases. Errors are rendered, each in its file.
pub(super) fn read_with_bases(
    file: &TextFile,
    folder: &Path,
    links: &LinkLimits,
    preset: Option<Preset>,
    reading: BaseReading,
    color: bool,
) -> Result<(Config, ConfigTexts), Error> {
    let mut loaded = LoadedConfig::read(&file.name, &file.text, folder, links);
    match reading {
        BaseReading::Pinned if loaded.needs_pins() => {
            loaded.check_pins(read_lock_beside(folder, links).as_ref());
        }
        BaseReading::Pinned => {}
        BaseReading::AsFound => {
            loaded.errors.clear();
            loaded.files.allow_missing_bases();
        }
    }
    let render = |errors: Vec<ConfigError>, texts: &ConfigTexts| {
        Error::Config(render_in_files(&errors, texts, color))
    };
    if !loaded.errors.is_empty() {
        return Err(render(loaded.errors, &loaded.files));
    }
    match Config::read_files(&loaded.files, preset) {
        Ok(config) => Ok((config, loaded.files)),
        Err(errors) => Err(render(errors, &loaded.files)),
    }
}

/// Reads a configuration over its bases, all of which must be as they are pinned.
pub(crate) fn read_with_pinned_bases(
    file: &TextFile,
    folder: &Path,
    preset: Option<Preset>,
) -> Result<Config, Error> {
    let links = LinkLimits::around(folder, &[]);
    let read = read_with_bases(file, folder, &links, preset, BaseReading::Pinned, false);
    read.map(|(config, _)| config)
}

/// The `abide.lock` in a folder. One that cannot be read pins nothing; commands that need it say why.
fn read_lock_beside(folder: &Path, links: &LinkLimits) -> Option<Lock> {
    let text = links.read(&folder.join(LOCK)).ok()?;
    Lock::parse(&String::from_utf8(text).ok()?).ok()
}

/// Renders errors, each in the file that it is in.
fn render_in_files(errors: &[ConfigError], texts: &ConfigTexts, color: bool) -> String {
    let render = |error: &ConfigError| {
        let (file, span): (_, Span) = texts.locate(error.span);
        let file = TextFile { name: file.name.clone(), text: file.text.clone() };
        render_config_errors(&[ConfigError { span, ..error.clone() }], &file, color)
    };
    errors.iter().map(render).collect::<Vec<String>>().concat()
}
