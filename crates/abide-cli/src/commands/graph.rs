//! `abide graph`.

use super::{Outcome, check::troubles};
use crate::args::{Global, GraphFormat, TreeArgs};
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::settings::Settings;

pub(super) fn graph(
    global: &Global,
    tree: &TreeArgs,
    format: GraphFormat,
    imports: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, tree.source.as_deref(), false)?;
    let loaded = load(&settings.source(tree)?, &progress)?;
    progress.finish();
    let text = match format {
        GraphFormat::Dot => abide::graph::dot(&loaded.tree, imports),
        GraphFormat::Mermaid => abide::graph::mermaid(&loaded.tree, imports),
        GraphFormat::Json => abide::graph::json(&loaded.tree, imports),
    };
    Ok(Outcome { troubles: troubles(&loaded), ..Outcome::of(text) })
}
