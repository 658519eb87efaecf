//! `abide graph`.

use abide::GraphView;

use super::fitness::{link_errors, troubles};
use super::outcome::Outcome;
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::render::GraphFormat;
use crate::settings::Settings;
use crate::terminal::{error_color, say, say_rendered};

pub(super) fn graph(
    global: &Global,
    tree: &TreeArgs,
    format: &GraphFormat,
    imports: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, tree.source.as_deref(), error_color(global))?;
    let loaded = load(&settings.source(tree)?, &progress)?;
    let errors = link_errors(global, &settings, &loaded.tree);
    progress.finish();
    if let Some(errors) = &errors {
        say_rendered(errors);
        say("note: the tree is not valid, so the graph may be incomplete");
    }
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        say(&format!("note: {note}"));
    }
    let view = GraphView { imported: imports };
    let graph = loaded.tree.graph();
    let text = (format.write)(view, &graph);
    Ok(Outcome { failed: errors.is_some(), troubles: troubles(&loaded), ..Outcome::of(text) })
}
