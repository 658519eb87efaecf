//! `abide config upgrade` and `abide config downgrade`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use abide_instance::{
    ConvertedText, DeclarationError, Dialect, Direction, Instance, MigrationFile, Notation,
    ReadOptions, VersionConverter, VersionMapping, convert_text, mask_secrets,
};
use abide_lint::{CarriedFile, InstanceOptions, pluralize};
use abide_schema::{MessageId, PackageVersion};
use abide_source::NamedFile;
use abide_source::printable::count_line_and_column;
use abide_source::printable::{self, escape_unprintable as shown_name};
use abide_source::write::{self, FileChange, UnmadeChange};
use abide_source::{Progress, load};
use abide_syntax::Span;
use rayon::prelude::*;

use crate::args::{Global, TranslationArgs, TreeArgs};
use crate::commands::folder_lock::recover;
use crate::commands::instance_files::{print_notes, read_named_files, text_for_report, unreadable};
use crate::commands::instances::find_message;
use crate::commands::outcome::CommandOutcome;
use crate::commands::preconditions::read_errors;
use crate::diff::render_unified;
use crate::error::Error;
use crate::render::{RenderContext, TextFile, TranslationReport};
use crate::settings::{Settings, today};
use crate::terminal::{eprint_block, eprint_line, style, use_error_color};

/// The direction between majors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConvertDirection {
    Up,
    Down,
}

pub(super) fn convert_files(
    global: &Global,
    args: &TranslationArgs,
    direction: ConvertDirection,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.api.as_deref(), use_error_color(global))?;
    let tree_args = TreeArgs { source: args.api.clone(), import_path: args.import_path.clone() };
    let progress = Progress::new(global.quiet);
    let notation = args.notation.as_deref().and_then(Notation::from_name);
    let mut files = read_named_files(&args.files, notation)?;
    if args.target.write {
        let named = files.iter().filter(|it| it.name != "-").map(|it| Path::new(&it.name));
        let folder = write::find_common_folder(named)
            .map_err(|error| Error::File { what: "cannot find the files".to_owned(), error })?;
        // A file with several names may hold a part of what a killed run wrote.
        if recover(&folder)? {
            files = read_named_files(&args.files, notation)?;
        }
    }
    let all_targets = choose_targets(args, &files)?;
    let mapping = args.mapping.as_deref().map(read_mapping).transpose()?.unwrap_or_default();
    let migrations = read_steps(&args.steps)?;
    let loaded = load(&settings.open_source(&tree_args)?, &progress)?;
    let tree = &loaded.tree;
    let translator = VersionConverter::new(tree, mapping, &migrations)
        .map_err(|fault| Error::Usage(format!("a step does not fit the API: {}", fault.message)))?;
    let way = parse_way(args.to.as_deref(), direction)?;
    let ty = args.ty.as_deref().map(|name| find_message(tree, name)).transpose()?;
    let dialect = args.reader.as_deref().and_then(Dialect::from_name);
    progress.begin_step(format!("translating {}", pluralize(files.len(), "file")));
    let convert = |file: &NamedFile| {
        let options = ReadOptions { notation: file.notation, ty, dialect };
        convert_text(tree, &translator, &file.bytes, options, way.as_ref()).map_err(|why| {
            format!(
                "internal error in `{}`: {why}; this file was not written. Please report it with \
                 the file",
                file.name
            )
        })
    };
    let results: Vec<Result<ConvertedText, String>> = files.par_iter().map(convert).collect();
    let (mut carried, mut targets, mut troubles) = (Vec::new(), Vec::new(), Vec::new());
    // The other files are carried all the same.
    let all_files = std::mem::take(&mut files).into_iter().zip(all_targets);
    for ((file, target), result) in all_files.zip(results) {
        match result {
            Ok(it) => {
                carried.push(it);
                files.push(file);
                targets.push(target);
            }
            Err(why) => troubles.push(why),
        }
    }
    let as_of = global.as_of.unwrap_or_else(today);
    let policy = &settings.config.policy;
    let options = InstanceOptions::on(as_of);
    let judged = carried.iter().zip(&files);
    let judged: Vec<CarriedFile<'_>> =
        judged.map(|(carried, file)| CarriedFile { carried, text: &file.bytes }).collect();
    let report = abide_lint::check_translations(tree, policy, options, &judged, args.allow_loss);
    progress.finish();
    let bytes: Vec<Vec<u8>> = files.iter().map(|it| it.bytes.clone()).collect();
    let secrets: Vec<Vec<Span>> = carried.iter().map(|it| it.instance.find_secrets(tree)).collect();
    let texts: Vec<TextFile> =
        files.iter().zip(&secrets).map(|(file, secrets)| text_for_report(file, secrets)).collect();
    let context = RenderContext {
        config: settings.file.as_ref(),
        instances: &texts,
        are_only_instances: true,
        ..RenderContext::of_trees(tree, None, style(global, args.format.is_styled))
    };
    let changed: Vec<bool> = carried
        .iter()
        .zip(&bytes)
        .map(|(it, old): (&ConvertedText, &Vec<u8>)| it.text.as_ref().is_some_and(|new| new != old))
        .collect();
    let shown = TranslationReport {
        files: &carried,
        findings: &report,
        changed: &changed,
        name: &|ty: MessageId| tree.message(ty).full_name(),
    };
    let shown = (args.format.write)(&shown, &context);
    let kept_back = report.errors > 0;
    troubles.extend(read_errors(&loaded));
    let mut outcome = CommandOutcome { troubles, ..CommandOutcome::nothing(kept_back) };
    let count = changed.iter().filter(|it| **it).count();
    let mut printed: Vec<u8> = Vec::new();
    // Files whose patch does not show all of them.
    let mut masked: Vec<&str> = Vec::new();
    let mut writes: Vec<FileChange<'_>> = Vec::new();
    for (index, it) in carried.iter().enumerate() {
        let Some(text) = it.text.as_deref().filter(|_| !kept_back) else { continue };
        let is_changed = changed[index];
        let file = &texts[index].name;
        match &targets[index] {
            TextTarget::Nothing => {}
            TextTarget::Check if is_changed && args.format.is_styled => {
                printed.extend(format!("{} would change\n", shown_name(file)).into_bytes())
            }
            TextTarget::Check => {}
            TextTarget::Patch if secrets[index].is_empty() => {
                printed.extend(render_unified(file, Some(&bytes[index]), Some(text)))
            }
            TextTarget::Patch => {
                let types: Vec<MessageId> = it.documents.iter().map(|it| it.new).collect();
                let ty = types.first().copied().filter(|_| types.len() == 1);
                let options = ReadOptions { notation: files[index].notation, ty, dialect };
                let mut new_secrets = Instance::read(tree, text, options).find_secrets(tree);
                let options = ReadOptions { ty: None, ..options };
                new_secrets.extend(Instance::read(tree, text, options).find_secrets(tree));
                let [mut old, mut new] = [bytes[index].clone(), text.to_vec()];
                mask_secrets(&mut old, &secrets[index]);
                mask_secrets(&mut new, &new_secrets);
                printed.extend(render_unified(file, Some(&old), Some(&new)));
                masked.push(file);
            }
            TextTarget::File(path) if path == Path::new("-") => {
                write::write(None, text).map_err(|error| Error::unwritten(None, error))?;
            }
            TextTarget::File(_) if args.target.write && !is_changed => {}
            TextTarget::File(path) => writes.push(FileChange {
                path,
                old: Some(bytes[index].as_slice()).filter(|_| args.target.write),
                new: text,
                is_private: !args.target.write && !secrets[index].is_empty(),
            }),
        }
    }
    write::replace_all(&writes).map_err(replace_error)?;
    // Findings stand beside a patch, not in it.
    let takes_output = args.target.diff || args.target.out.as_deref() == Some(Path::new("-"));
    if takes_output {
        eprint_block(&String::from_utf8_lossy(&shown));
        outcome.report = Some(printed).filter(|it| !it.is_empty());
    } else {
        outcome.report = Some([printable::report(shown), printed].concat());
    }
    if !global.quiet {
        for file in &masked {
            eprint_line(&format!(
                "note: `{}` holds secrets, which the patch shows as `*`: use `--write` or `--out`",
                shown_name(file)
            ));
        }
        for (file, it) in texts.iter().zip(&carried) {
            for (span, text) in &it.notes {
                let (line, column) = count_line_and_column(&file.text, span.start);
                eprint_line(&format!("note: {}:{line}:{column}: {text}", file.name));
            }
        }
        for (file, it) in texts.iter().zip(&carried) {
            if it.text.is_some()
                && it.documents.iter().all(|it: &abide_instance::ConvertedDocument| {
                    it.changes.is_empty() && it.old == it.new
                })
            {
                eprint_line(&format!(
                    "note: `{}` is at that version already, or nothing in it changes",
                    file.name
                ));
            }
        }
        loaded.notes.iter().for_each(|note| eprint_line(&format!("note: {note}")));
        match (kept_back, &args.target) {
            (true, target) if target.write || target.out.is_some() => {
                eprint_line("note: nothing was written")
            }
            (false, target) if target.write => {
                eprint_line(&format!("changed {count} of {}", pluralize(texts.len(), "file")));
            }
            _ => {}
        }
    }
    outcome.failed |= args.target.check && count > 0;
    Ok(outcome)
}

/// The error of files of which none was written.
fn replace_error(why: UnmadeChange) -> Error {
    match why {
        UnmadeChange::Edited(paths) => {
            let names: Vec<String> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
            Error::Usage(format!(
                "{} was edited in the meantime, so nothing was written: run the command again",
                names.join(", ")
            ))
        }
        UnmadeChange::Failed { path, error, .. } => {
            Error::File { what: format!("cannot write `{}`", path.display()), error }
        }
    }
}

/// The use of a new text.
enum TextTarget {
    Nothing,
    Check,
    Patch,
    File(PathBuf),
}

/// Chooses the use of the new text of each file.
fn choose_targets(args: &TranslationArgs, files: &[NamedFile]) -> Result<Vec<TextTarget>, Error> {
    let target = &args.target;
    let Some(out) = &target.out else {
        return files
            .iter()
            .map(|file| match file.name.as_str() {
                "-" if target.write => Err(Error::Usage(
                    "standard input cannot be changed: choose where it goes with `--out PATH`"
                        .to_owned(),
                )),
                name if target.write => Ok(TextTarget::File(name.into())),
                _ if target.diff => Ok(TextTarget::Patch),
                _ if target.check => Ok(TextTarget::Check),
                _ => Ok(TextTarget::Nothing),
            })
            .collect();
    };
    let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/');
    let one_file = args.files.len() == 1 && !Path::new(&args.files[0]).is_dir();
    if one_file && !is_folder {
        return Ok(vec![TextTarget::File(out.clone())]);
    }
    if out.is_file() || out == Path::new("-") {
        let message = format!("`{}` is not a folder, and there are many files", out.display());
        return Err(Error::Usage(message));
    }
    let mut taken: BTreeMap<PathBuf, &str> = BTreeMap::new();
    let mut targets = Vec::new();
    for file in files {
        let name = Path::new(&file.name);
        let folders = args.files.iter().map(Path::new).filter(|it| it.is_dir());
        let below = { folders }.find_map(|it| name.strip_prefix(it).ok());
        let below = below.or(name.file_name().map(Path::new)).unwrap_or(name);
        let path = out.join(below);
        if let Some(other) = taken.insert(path.clone(), &file.name) {
            return Err(Error::Usage(format!(
                "`{other}` and `{}` would both become `{}`",
                file.name,
                path.display()
            )));
        }
        targets.push(TextTarget::File(path));
    }
    Ok(targets)
}

/// Parses the version to go to; `None` for one major down.
fn parse_way(to: Option<&str>, direction: ConvertDirection) -> Result<Option<Direction>, Error> {
    let to = to
        .map(|text: &str| {
            let component = match text.starts_with('v') {
                true => text.to_owned(),
                false => format!("v{text}"),
            };
            PackageVersion::parse_component(&component).ok_or_else(|| {
                Error::Usage(format!("`{text}` is not a version of a package: write it as `v3`"))
            })
        })
        .transpose()?;
    Ok(match direction {
        ConvertDirection::Up => Some(Direction::Up(to)),
        ConvertDirection::Down => to.map(|it| Direction::Down(it.major)),
    })
}

fn read_mapping(path: &Path) -> Result<VersionMapping, Error> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| unreadable(&name, error))?;
    let notation = notation_of(&name)?;
    VersionMapping::read(&bytes, notation).map_err(|fault| format_fault(&name, &bytes, fault))
}

fn notation_of(name: &str) -> Result<Notation, Error> {
    Notation::from_path(name)
        .ok_or_else(|| Error::Usage(format!("the name of `{name}` does not say its notation")))
}

fn format_fault(name: &str, text: &[u8], fault: DeclarationError) -> Error {
    let text = String::from_utf8_lossy(text);
    let (line, column) = count_line_and_column(&text, fault.span.start);
    Error::Usage(format!("{name}:{line}:{column}: {}", fault.message))
}

/// Reads the steps of files and folders, or without any those that come with Abide.
fn read_steps(names: &[String]) -> Result<Vec<MigrationFile>, Error> {
    if names.is_empty() {
        return Ok(abide_source::read_built_in_steps()?);
    }
    let mut notes = Vec::new();
    let migrations = abide_source::read_steps(names, &mut notes);
    print_notes(&notes);
    Ok(migrations?)
}
