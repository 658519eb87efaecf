//! `abide config diff`.

use abide_instance::diff::{InstanceDifference, compare_instances};
use abide_instance::{Document, Instance, Notation, ReadOptions};
use abide_lint::pluralize;
use abide_schema::{MessageId, Tree};
use abide_source::NamedFile;
use abide_source::printable::escape_unprintable;
use abide_source::{Progress, load};
use abide_syntax::LineIndex;

use super::instances::find_message;
use super::outcome::CommandOutcome;
use super::preconditions::read_errors;
use crate::args::{ConfigDiffArgs, Global, TreeArgs};
use crate::error::Error;
use crate::render::{DiffReport, DiffSide};
use crate::settings::Settings;
use crate::terminal::{eprint_line, style, use_error_color};

pub(super) fn config_diff(global: &Global, args: &ConfigDiffArgs) -> Result<CommandOutcome, Error> {
    let notation = Notation::ALL.iter().copied();
    let notation = { notation }.find(|it| Some(it.name()) == args.notation.as_deref());
    if args.old == "-" && args.new == "-" {
        return Err(Error::Usage("only one of the two can be standard input".to_owned()));
    }
    let old = NamedFile::open(&args.old, notation)?;
    let new = NamedFile::open(&args.new, notation)?;
    let settings = Settings::read(global, args.api.as_deref(), use_error_color(global))?;
    let tree_args = TreeArgs { source: args.api.clone(), import_path: args.import_path.clone() };
    let progress = Progress::new(global.quiet);
    let loaded = load(&settings.open_source(&tree_args)?, &progress)?;
    let tree = &loaded.tree;
    let ty = args.ty.as_deref().map(|name| find_message(tree, name)).transpose()?;
    let (old_instance, new_instance) =
        (read_instance(tree, ty, &old)?, read_instance(tree, ty, &new)?);
    let differences = compare_documents(tree, (&old, &old_instance), (&new, &new_instance))?;
    progress.finish();
    let report = DiffReport {
        tree,
        old: build_side(tree, &old, &old_instance),
        new: build_side(tree, &new, &new_instance),
        differences: &differences,
    };
    let text = (args.format.write)(&report, style(global, args.format.is_styled));
    for (file, instance) in [(&old, &old_instance), (&new, &new_instance)] {
        let readings = instance.documents.iter().filter_map(|it| it.reading.as_ref());
        let errors: usize = readings.map(|it| it.errors.len() + it.undeclared.len()).sum();
        if errors > 0 && !global.quiet {
            eprint_line(&format!(
                "note: `{}` has {} that the API does not take, which were not compared: `abide \
                 config check` shows them",
                escape_unprintable(&file.name),
                pluralize(errors, "part")
            ));
        }
    }
    Ok(CommandOutcome { troubles: read_errors(&loaded), ..CommandOutcome::of(text) })
}

fn build_side<'a>(tree: &Tree, file: &'a NamedFile, instance: &Instance) -> DiffSide<'a> {
    DiffSide::new(&file.name, file.notation, &file.bytes, instance.find_secrets(tree))
}

/// Reads a file as values of the API; its first error refuses it.
fn read_instance(tree: &Tree, ty: Option<MessageId>, file: &NamedFile) -> Result<Instance, Error> {
    let options = ReadOptions { notation: file.notation, ty, dialect: None };
    let instance = Instance::read(tree, &file.bytes, options);
    match instance.errors.first() {
        None => Ok(instance),
        Some(error) => {
            let start = LineIndex::new(&file.bytes).position(&file.bytes, error.span.start);
            let (name, message) =
                (escape_unprintable(&file.name), escape_unprintable(&error.message));
            let place = format!("{name}:{}:{}", start.line, start.column);
            Err(Error::Usage(format!("{place}: {message}")))
        }
    }
}

/// Compares two files, document by document.
fn compare_documents(
    tree: &Tree,
    (old, old_instance): (&NamedFile, &Instance),
    (new, new_instance): (&NamedFile, &Instance),
) -> Result<Vec<InstanceDifference>, Error> {
    let (olds, news) = (&old_instance.documents, &new_instance.documents);
    if olds.len() != news.len() {
        return Err(Error::Usage(format!(
            "`{}` has {} and `{}` {}: compare files with as many documents",
            escape_unprintable(&old.name),
            pluralize(olds.len(), "document"),
            escape_unprintable(&new.name),
            news.len()
        )));
    }
    let mut found = Vec::new();
    for (old_document, new_document) in olds.iter().zip(news) {
        let (old_value, new_value) = (value(old, old_document)?, value(new, new_document)?);
        if old_value.ty != new_value.ty {
            let [old, new] = [old_value.ty, new_value.ty].map(|it| tree.message(it).full_name());
            return Err(Error::Usage(format!(
                "the old value is a `{old}` and the new one a `{new}`"
            )));
        }
        let (old, new) = ((old_value, old_document.span), (new_value, new_document.span));
        found.extend(compare_instances(tree, old, new));
    }
    Ok(found)
}

fn value<'d>(
    file: &NamedFile,
    document: &'d Document,
) -> Result<&'d abide_schema::value::Message, Error> {
    document.message().ok_or_else(|| {
        Error::Usage(format!(
            "nothing in `{}` says of which message it is: name it with `--type`, or begin it with a \
             comment `# proto-message: NAME`",
            escape_unprintable(&file.name)
        ))
    })
}
