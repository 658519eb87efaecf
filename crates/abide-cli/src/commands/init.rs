//! `abide init`.

mod buf;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use abide::Preset;

use super::outcome::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::settings::{CONFIG, find_preset};
use crate::source::{Source, SourceOptions, join};
use crate::terminal::say;
use crate::write::Folder;

use buf::Buf;

pub(super) fn init(
    global: &Global,
    dir: Option<&Path>,
    from: Option<&Path>,
) -> Result<Outcome, Error> {
    let folder = dir.unwrap_or(Path::new("."));
    let path = folder.join(CONFIG);
    if path.exists() {
        return Err(Error::Usage(format!(
            "`{}` already exists: edit it, or remove it first",
            path.display()
        )));
    }
    let text = match from {
        Some(from) => converted(global, folder, from)?,
        None => suggested(match &global.preset {
            Some(name) => find_preset(name)?,
            None => Preset::default(),
        }),
    };
    let cannot = |error| Error::File { what: format!("cannot write `{}`", path.display()), error };
    let made = Folder::make(folder).map_err(cannot)?;
    made.replace(CONFIG.as_ref(), text.as_bytes()).map_err(cannot)?;
    Ok(Outcome::of(format!("wrote {}\n", path.display())))
}

fn suggested(preset: Preset) -> String {
    format!(
        "# The policy of this proto tree. `abide rules` lists the rules, `abide explain RULE`\n\
         # prints the page of one.\n\
         preset = \"{}\"\n\
         \n\
         # The folders with the files to check, and folders that only hold imports.\n\
         roots = [\".\"]\n\
         import-paths = []\n\
         \n\
         # The old tree to compare with, so that `abide check` also reports breaking changes.\n\
         # against = \"git:main...\"\n\
         \n\
         # Severities: \"error\", \"warning\", \"note\" or \"off\".\n\
         # [rules]\n\
         # one-definition = \"warning\"\n\
         \n\
         # The days, each year, on which clients and the API are released. The phases of a\n\
         # deprecation are counted in client releases. A new major version may only appear in\n\
         # the weeks before an API release.\n\
         # [calendar]\n\
         # client-releases = [\"03-31\", \"06-30\", \"09-30\", \"12-31\"]\n\
         # api-releases = [\"06-30\"]\n\
         # previous-major-months = 12\n",
        preset.name()
    )
}

/// Converts a `buf.yaml` to an `abide.toml` in `folder`.
fn converted(global: &Global, folder: &Path, from: &Path) -> Result<String, Error> {
    if global.preset.is_some() {
        let message = "`--from` chooses the preset: leave `--preset` out";
        return Err(Error::Usage(message.to_owned()));
    }
    let name = from.display();
    let cannot = |what: String| move |error| Error::File { what, error };
    let text = std::fs::read_to_string(from).map_err(cannot(format!("cannot read `{name}`")))?;
    let full = |path: &Path| path.canonicalize().map_err(cannot(format!("cannot read `{name}`")));
    let folder =
        folder.canonicalize().map_err(cannot(format!("cannot read `{}`", folder.display())))?;
    let home = full(from)?.parent().map_or_else(PathBuf::new, Path::to_owned);
    let Some(below) = home.strip_prefix(&folder).ok().and_then(Path::to_str) else {
        return Err(Error::Usage(format!(
            "`{name}` is not below the folder of {CONFIG}: choose a folder that contains it, as in \
             `abide init DIR --from {name}`"
        )));
    };
    let mut buf = Buf::parse(&text)
        .map_err(|reason| Error::Usage(format!("cannot read `{name}`: {reason}")))?;
    let packages = if buf.names_paths() { packages(global, &home, &buf)? } else { BTreeMap::new() };
    let counted = |path: &String| {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        match join(below, if path == "." { "" } else { path }) {
            path if path.is_empty() => ".".to_owned(),
            path => path,
        }
    };
    if buf.roots.is_empty() {
        buf.roots.push(".".to_owned());
    }
    let roots: Vec<String> = buf.roots.iter().map(counted).collect();
    let excludes: Vec<String> = buf.excludes.iter().map(counted).collect();
    let text = buf.toml(&roots, &excludes, &packages);
    if !global.quiet {
        buf.told().iter().for_each(|note| say(&format!("note: {name}: {note}")));
    }
    Ok(text)
}

/// The files of each package, by their paths from the folder of `buf.yaml`.
fn packages(
    global: &Global,
    home: &Path,
    buf: &Buf,
) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let progress = Progress::new(global.quiet);
    let options = SourceOptions {
        roots: &buf.roots,
        import_paths: &buf.excludes,
        ..SourceOptions::new(home)
    };
    let loaded = load(&Source::open(None, &options)?, &progress)?;
    progress.finish();
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in loaded.tree.files().filter(|file| file.is_judged()) {
        let files = packages.entry(file.package().full_name()).or_default();
        files.push(file.decl().display.to_string());
    }
    Ok(packages)
}
