//! `abide graph`.

use abide::GraphView;

use super::build::link_errors;
use super::{Outcome, check::troubles, error_color, say};
use crate::args::{Global, GraphFormat, TreeArgs};
use crate::error::Error;
use crate::load::load;
use crate::printable::shown;
use crate::progress::Progress;
use crate::settings::Settings;

pub(super) fn graph(
    global: &Global,
    tree: &TreeArgs,
    format: GraphFormat,
    imports: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, tree.source.as_deref(), error_color(global))?;
    let loaded = load(&settings.source(tree)?, &progress)?;
    let errors = link_errors(global, &settings, &loaded.tree);
    progress.finish();
    if let Some(errors) = &errors {
        say(errors);
        say("note: the graph is that of a tree that is not valid");
    }
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        say(&format!("note: {}", shown(note)));
    }
    let view = GraphView { imported: imports };
    let graph = loaded.tree.graph();
    let text = match format {
        GraphFormat::Dot => view.dot(&graph),
        GraphFormat::Mermaid => view.mermaid(&graph),
        GraphFormat::Json => view.json(&graph),
        GraphFormat::Svg => view.svg(&graph),
    };
    Ok(Outcome { failed: errors.is_some(), troubles: troubles(&loaded), ..Outcome::of(text) })
}
