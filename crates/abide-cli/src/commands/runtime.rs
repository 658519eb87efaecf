//! `abide runtime`.

use std::path::Path;

use abide_instance::runtime::{
    DeclaredLayers, LayerSource, Runtime, RuntimeLayer, RuntimeSnapshot, get_known_bootstrap,
};
use abide_instance::{Instance, Notation, ReadOptions};
use abide_lint::find_nearest;
use abide_schema::value::{Message, UndeclaredName, UnknownName};
use abide_schema::{MessageId, Tree};
use abide_source::NamedFile;
use abide_source::printable::escape_unprintable;
use abide_source::runtime_disk::read_layers;
use abide_source::{Progress, load};
use abide_syntax::{LineIndex, Span};

use super::outcome::CommandOutcome;
use crate::args::{Global, RuntimeArgs, RuntimeCommand, RuntimeShowArgs, TreeArgs};
use crate::error::Error;
use crate::render::{RuntimePlace, RuntimeReport};
use crate::settings::Settings;
use crate::terminal::{eprint_line, style, use_error_color};

pub(super) fn runtime(global: &Global, args: &RuntimeArgs) -> Result<CommandOutcome, Error> {
    match &args.command {
        RuntimeCommand::Show(args) => show(global, args),
    }
}

fn show(global: &Global, args: &RuntimeShowArgs) -> Result<CommandOutcome, Error> {
    let notation = Notation::ALL.iter().copied();
    let notation = { notation }.find(|it| Some(it.name()) == args.notation.as_deref());
    let file = NamedFile::open(&args.bootstrap, notation)?;
    let (tree, ty) = match &args.api {
        Some(api) => (load_api(global, args, api)?, None),
        None => {
            let (tree, bootstrap) = get_known_bootstrap();
            (tree, Some(bootstrap))
        }
    };
    let options = ReadOptions { notation: file.notation, ty, dialect: None };
    let instance = Instance::read(&tree, &file.bytes, options);
    let index = LineIndex::new(&file.bytes);
    if let Some(error) = instance.errors.first() {
        let place = format_place(&file, &index, error.span);
        return Err(Error::Usage(format!("{place}: {}", escape_unprintable(&error.message))));
    }
    let Some(document) = instance.documents.first() else {
        return Err(Error::Usage(format!(
            "`{}` is empty: it is not a bootstrap",
            escape_unprintable(&file.name)
        )));
    };
    let Some(reading) = &document.reading else {
        return Err(Error::Usage(format!(
            "nothing in `{}` says of which message of the API it is: begin it with a comment \
             `# proto-message: NAME`",
            escape_unprintable(&file.name)
        )));
    };
    check_bootstrap(&tree, reading.message.ty)?;
    let bootstrap = &reading.message;
    let layers = match &args.service_cluster {
        Some(cluster) => DeclaredLayers::from_bootstrap_of_cluster(&tree, bootstrap, cluster),
        None => DeclaredLayers::from_bootstrap(&tree, bootstrap),
    };
    let errors = reading.errors.iter().map(|it| (it.span, true, it.message.clone()));
    let unknown = reading.undeclared.iter().filter_map(|it| describe_unknown_field(&tree, it));
    let read = errors.chain(unknown).filter(|it| is_about_runtime(&tree, bootstrap, it.0));
    let problems = layers.problems().iter();
    let problems = problems.map(|it| (it.span, it.is_refused(), it.to_string()));
    let places = read.chain(problems).map(|(span, is_error, message)| {
        let [start, end] = [span.start, span.end].map(|at| index.position(&file.bytes, at));
        RuntimePlace { start, end, is_error, message }
    });
    let mut places: Vec<RuntimePlace> = places.collect();
    // Who asks for one key wants to know no more than that it is right.
    places.retain(|it| it.is_error || args.key.is_none());
    places.sort();
    let readings = read_layers(&layers, Path::new(""));
    let runtime = Runtime::new(layers, readings);
    let snapshot = runtime.snapshot();
    let keys: Vec<&str> = match &args.key {
        Some(key) => snapshot.keys().filter(|it| it == key).collect(),
        None => snapshot.keys().collect(),
    };
    let report = RuntimeReport {
        path: &file.name,
        runtime: &runtime,
        snapshot: &snapshot,
        keys: &keys,
        places: &places,
        service_node: args.service_node.as_deref(),
    };
    let text = (args.format.write)(&report, style(global, args.format.is_styled));
    if !global.quiet {
        let unknown = args.key.as_deref().filter(|_| keys.is_empty());
        let unknown = unknown.map(|key| describe_unknown_key(&snapshot, key));
        for note in unknown.into_iter().chain(describe_runtime(&runtime)) {
            eprint_line(&format!("note: {note}"));
        }
    }
    let has_failed = runtime.iter_left_out().any(|(_, failure)| failure.is_some());
    let failed = has_failed
        || !runtime.list_unspellable_paths().is_empty()
        || places.iter().any(|it| it.is_error);
    Ok(CommandOutcome { failed, ..CommandOutcome::of(text) })
}

fn load_api(global: &Global, args: &RuntimeShowArgs, api: &str) -> Result<Tree, Error> {
    let settings = Settings::read(global, Some(api), use_error_color(global))?;
    let import_path = args.import_path.clone();
    let source = TreeArgs { source: Some(api.to_owned()), import_path };
    Ok(load(&settings.open_source(&source)?, &Progress::new(global.quiet))?.tree)
}

/// Fails if the message is no bootstrap.
fn check_bootstrap(tree: &Tree, ty: MessageId) -> Result<(), Error> {
    let message = tree.message(ty);
    let mut fields = message.fields().filter(|it| it.message_type().is_some());
    if fields.any(|it| matches!(it.name(), "layered_runtime" | "runtime")) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "`{}` is not a bootstrap: it has no field `layered_runtime`",
        message.full_name()
    )))
}

/// A field that a message does not have, which a server refuses. Of messages that are built in
/// without any field, nothing is known.
fn describe_unknown_field(tree: &Tree, name: &UndeclaredName) -> Option<(Span, bool, String)> {
    let UnknownName::Message(message) = name.lacked_by else { return None };
    let message = tree.message(message);
    message.fields().next()?;
    let text = format!("`{}` is not a field of `{}`", name.name, message.name());
    Some((name.key, true, text))
}

/// Returns true if a place is where the layers are declared.
fn is_about_runtime(tree: &Tree, bootstrap: &Message, place: Span) -> bool {
    ["layered_runtime", "runtime"].iter().any(|name| {
        let entry = bootstrap.get(tree, name);
        entry.is_some_and(|it| it.span.start <= place.start && place.end <= it.span.end)
    })
}

fn format_place(file: &NamedFile, index: &LineIndex, span: Span) -> String {
    let start = index.position(&file.bytes, span.start);
    format!("{}:{}:{}", escape_unprintable(&file.name), start.line, start.column)
}

fn describe_unknown_key(snapshot: &RuntimeSnapshot, key: &str) -> String {
    let near = find_nearest(key, snapshot.keys());
    let near =
        near.map_or_else(String::new, |it| format!("; did you mean `{}`?", escape_unprintable(it)));
    format!("no layer has the key `{}`{near}", escape_unprintable(key))
}

/// Notes for readers of the report.
fn describe_runtime(runtime: &Runtime) -> Vec<String> {
    let mut notes = Vec::new();
    if !runtime.layers().is_declared() {
        notes.push(
            "the bootstrap declares no runtime layers, so every reader of a key gets its default"
                .to_owned(),
        );
    }
    for (layer, _) in runtime.iter_left_out().filter(|(_, failure)| failure.is_none()) {
        notes.push(describe_missing_layer(layer));
    }
    let by_rtds = runtime.layers().layers().iter().filter_map(|it| match &it.source {
        LayerSource::Rtds(resource) => Some((&it.name, resource)),
        _ => None,
    });
    for (name, resource) in by_rtds {
        notes.push(format!(
            "the layer `{}` is empty here: its values are the resource `{}` of a management server",
            escape_unprintable(name),
            escape_unprintable(resource)
        ));
    }
    notes
}

/// A layer on disk without a folder.
fn describe_missing_layer(layer: &RuntimeLayer) -> String {
    let LayerSource::Disk(disk) = &layer.source else { return String::new() };
    let root = Path::new(&*disk.symlink_root);
    let folder = root.join(disk.folder.trim_matches('/'));
    let around = root.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir());
    let effect = match around {
        Some(around) => format!(
            "; there is no `{}` either, without which Envoy does not start",
            escape_unprintable(&around.display().to_string())
        ),
        None => String::new(),
    };
    let folder = escape_unprintable(&folder.display().to_string());
    format!(
        "the layer `{}` is left out: there is no folder `{folder}`{effect}",
        escape_unprintable(&layer.name)
    )
}
