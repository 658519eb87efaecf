//! The policy that the descriptors of another tool are judged by, and the judgement.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_lint::{Accepted, Config, Lock, Options, Records, Report, RuleScope};
use abide_schema::{FileDecl, Tree};
use abide_source::{ACCEPTED, LOCK, LinkLimits, read_limited};
use jiff::civil::Date;

use crate::error::Error;
use crate::render::{RenderContext, Style, TextFile, render_config_errors};
use crate::settings::{find_preset, read_with_pinned_bases, today};

/// The options that the plugins have in common, as the other tool passes them.
#[derive(Default)]
pub(super) struct PluginOptions {
    /// A preset, instead of the one that the configuration names.
    pub(super) preset: Option<String>,
    /// The path of an `abide.toml`. Without it none is read, wherever the tool runs.
    pub(super) config: Option<PathBuf>,
    /// The day of the check.
    pub(super) as_of: Option<String>,
}

impl PluginOptions {
    /// Their names, for messages.
    pub(super) const NAMES: &str = "`preset`, `config`, `as_of`";

    /// Sets the option with this name; `None` if there is no such option.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "preset" => self.preset = Some(value.to_owned()),
            "config" => self.config = Some(value.into()),
            "as_of" => self.as_of = Some(value.to_owned()),
            _ => return None,
        }
        Some(())
    }
}

/// The settings that descriptors are judged by: a preset, or an `abide.toml` and what is beside it.
pub(super) struct PluginPolicy {
    /// The policy, and the baseline that it names.
    pub(super) config: Config,
    file: Option<TextFile>,
    accepted: Option<(Accepted, TextFile)>,
    lock: Option<Lock>,
    as_of: Date,
}

impl PluginPolicy {
    /// Reads what the options name.
    pub(super) fn read(options: &PluginOptions) -> Result<PluginPolicy, Error> {
        let preset = options.preset.as_deref().map(find_preset).transpose()?;
        let as_of = options.as_of.as_deref().map(parse_day).transpose()?;
        let mut terms = PluginPolicy {
            config: Config::of_preset(preset.unwrap_or_default()),
            file: None,
            accepted: None,
            lock: None,
            as_of: as_of.unwrap_or_else(today),
        };
        let Some(path) = &options.config else { return Ok(terms) };
        let file = TextFile {
            name: path.display().to_string(),
            text: decode_text(path, read_limited(path))?,
        };
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        terms.config = read_with_pinned_bases(&file, folder, preset)?;
        terms.file = Some(file);
        let beside = |name: &str| {
            let path = path.with_file_name(name);
            let reach = LinkLimits::around(path.parent().unwrap_or(Path::new("")), &[]);
            path.exists()
                .then(|| {
                    decode_text(&path, reach.read(&path))
                        .map(|text| TextFile { name: path.display().to_string(), text })
                })
                .transpose()
        };
        if let Some(file) = beside(ACCEPTED)? {
            let accepted = Accepted::parse(&file.text)
                .map_err(|errors| Error::Config(render_config_errors(&errors, &file, false)))?;
            terms.accepted = Some((accepted, file));
        }
        if let Some(file) = beside(LOCK)? {
            let lock = Lock::parse(&file.text)
                .map_err(|errors| Error::Config(render_config_errors(&errors, &file, false)))?;
            terms.lock = Some(lock);
        }
        Ok(terms)
    }

    /// Judges a tree, and what changed since an old one. A part of the configured tree is taken for
    /// what it is: nothing is said of waivers that concern the rest.
    pub(super) fn check(&self, tree: &Tree, old: Option<&Tree>, scope: RuleScope) -> Report {
        let options = Options {
            scope,
            baseline: old,
            accepted: self.accepted.as_ref().map(|(accepted, _)| accepted),
            records: Records {
                version_in: self.config.version_in,
                lock: self.lock.as_ref(),
                ..Records::default()
            },
            partial: true,
            ..Options::on(self.as_of)
        };
        abide_lint::check(tree, &self.config.policy, options)
    }

    /// Builds the context that reports about a tree are rendered in.
    pub(super) fn render_context<'a>(
        &'a self,
        tree: &'a Tree,
        old: Option<&'a Tree>,
    ) -> RenderContext<'a> {
        RenderContext {
            config: self.file.as_ref(),
            accepted: self.accepted.as_ref().map(|(_, file)| file),
            ..RenderContext::of_trees(tree, old, Style::plain(100))
        }
    }
}

fn parse_day(text: &str) -> Result<Date, Error> {
    text.parse().map_err(|_| Error::Usage(format!("`as_of={text}` is not a day (YYYY-MM-DD)")))
}

fn decode_text(path: &Path, read: io::Result<Vec<u8>>) -> Result<String, Error> {
    let text = read.and_then(|it| String::from_utf8(it).map_err(io::Error::other));
    text.map_err(|error| Error::File { what: format!("cannot read `{}`", path.display()), error })
}

/// Reads one serialised FileDescriptorProto.
pub(super) fn read_file_descriptor(file: &[u8]) -> Result<FileDecl, String> {
    // A FileDescriptorSet with this file alone: its field 1, and the length as a varint.
    let mut set = vec![0x0a];
    let mut length = file.len();
    while length >= 0x80 {
        set.push(length as u8 | 0x80);
        length >>= 7;
    }
    set.push(length as u8);
    set.extend(file);
    let files = FileDecl::from_descriptor_set(&Arc::from(set));
    let files = files.map_err(|error| format!("not a FileDescriptorProto: {error}"))?;
    files.into_iter().next().ok_or_else(|| "a request with a file that is too large".to_owned())
}
