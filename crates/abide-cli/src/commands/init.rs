//! `abide init`.

mod buf;
mod conversion;
mod first_look;
mod yaml;

use std::path::{Path, PathBuf};

use abide::Preset;

use super::outcome::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::settings::{CONFIG, find_preset};
use crate::source::{DefaultBranch, Source, SourceOptions, default_branch, join};
use crate::terminal::say;
use crate::write::Folder;

use buf::{Buf, Note, bare_module, work_folders};
use first_look::FirstLook;

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
    // What buf was told holds, unless another policy is asked for.
    let found = ["buf.work.yaml", "buf.yaml"].iter().map(|name| folder.join(name));
    let found = found.into_iter().find(|it| global.preset.is_none() && it.is_file());
    let is_asked = from.is_some();
    let from = from.map(Path::to_owned).or(found);
    let mut notes = Vec::new();
    let branch;
    let text = match from {
        Some(from) => {
            if !is_asked {
                notes.push(format!("took over the settings of {}", from.display()));
            }
            let text = converted(global, folder, &from)?;
            branch = default_branch(folder);
            text
        }
        None => {
            let preset = match &global.preset {
                Some(name) => find_preset(name)?,
                None => Preset::default(),
            };
            let look = FirstLook::at(global, folder)?;
            notes.extend(look.notes());
            let text = suggested(preset, &look);
            branch = look.branch;
            text
        }
    };
    let cannot = |error| Error::File { what: format!("cannot write `{}`", path.display()), error };
    let made = Folder::make(folder).map_err(cannot)?;
    made.replace(CONFIG.as_ref(), text.as_bytes()).map_err(cannot)?;
    if !global.quiet {
        notes.iter().for_each(|note| say(&format!("note: {note}")));
    }
    let next = match branch {
        DefaultBranch::Named(branch) => {
            format!("next: `abide check` checks the tree and compares it with `{branch}`")
        }
        _ => "next: `abide check` checks the tree".to_owned(),
    };
    Ok(Outcome::of(format!("wrote {}\n{next}\n", path.display())))
}

fn suggested(preset: Preset, look: &FirstLook) -> String {
    let tree = look.toml();
    format!(
        "# The policy of this proto tree. `abide rules` lists the rules, `abide explain RULE`\n\
         # prints the page of one.\n\
         preset = \"{}\"\n\
         \n\
         {tree}\n\
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
    let read = |text: &str, base: &str, name: &str| {
        Buf::parse(text, base)
            .map_err(|reason| Error::Usage(format!("cannot read `{name}`: {reason}")))
    };
    let shown = name.to_string();
    let folders = work_folders(&text)
        .map_err(|reason| Error::Usage(format!("cannot read `{shown}`: {reason}")))?;
    // By file: what was dropped.
    let mut told: Vec<String> = Vec::new();
    let mut buf = match folders {
        None => read(&text, below, &shown)?,
        Some(folders) => {
            let mut all = Buf::default();
            for folder in folders {
                let file = from.with_file_name(&folder).join("buf.yaml");
                let (at, shown) = (join(below, &folder), file.display().to_string());
                match std::fs::read_to_string(&file) {
                    Ok(text) => {
                        let one = read(&text, &at, &shown)?;
                        all.modules.extend(one.modules);
                        told.extend(notes(&shown, one.notes));
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        all.modules.push(bare_module(&at));
                    }
                    Err(error) => return Err(cannot(format!("cannot read `{shown}`"))(error)),
                }
            }
            all
        }
    };
    let validates = uses_protovalidate(global, &folder, &buf)?;
    let text = buf.toml(validates, &default_branch(&folder));
    told.extend(notes(&shown, buf.notes));
    if !global.quiet {
        told.iter().for_each(|note| say(note));
    }
    Ok(text)
}

/// What was dropped from a file, in the order of its text.
fn notes(file: &str, mut notes: Vec<Note>) -> Vec<String> {
    notes.sort_by_key(|it| it.line);
    notes.into_iter().map(|it| format!("note: {file}: line {}: {}", it.line, it.text)).collect()
}

/// Whether a file of the modules has rules of protovalidate.
fn uses_protovalidate(global: &Global, folder: &Path, buf: &Buf) -> Result<bool, Error> {
    let roots: Vec<String> = buf.modules.iter().map(|it| it.root.clone()).collect();
    let excludes: Vec<String> = buf.modules.iter().flat_map(|it| it.excludes.clone()).collect();
    if roots.iter().any(|root| !folder.join(root).is_dir()) {
        return Ok(false);
    }
    let progress = Progress::new(global.quiet);
    let options =
        SourceOptions { roots: &roots, import_paths: &excludes, ..SourceOptions::new(folder) };
    let loaded = load(&Source::open(None, &options)?, &progress)?;
    progress.finish();
    let mut judged = loaded.tree.files().filter(|file| file.is_judged());
    let imports = |path: &str| path == "buf/validate/validate.proto";
    Ok(judged.any(|file| file.decl().imports.iter().any(|it| imports(&it.path))))
}
