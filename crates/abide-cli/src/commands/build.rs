//! `abide build`.

use std::path::Path;

use super::{Outcome, check::troubles};
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::write;

pub(super) fn build(
    global: &Global,
    tree: &TreeArgs,
    out: &Path,
    exclude_imports: bool,
    exclude_source_info: bool,
    color: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, tree.source.as_deref(), color)?;
    let loaded = load(&settings.source(tree)?, &progress)?;
    progress.step("writing descriptors");
    let bytes = abide_schema::encode_set(&loaded.tree, !exclude_imports, !exclude_source_info);
    progress.finish();
    write::write(Some(out), &bytes).map_err(|error| Error::File {
        what: format!("cannot write `{}`", out.display()),
        error,
    })?;
    Ok(Outcome { troubles: troubles(&loaded), ..Outcome::of(Vec::new()) })
}
