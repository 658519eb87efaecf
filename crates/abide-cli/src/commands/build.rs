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
    args: &TreeArgs,
    out: &Path,
    exclude_imports: bool,
    exclude_source_info: bool,
    color: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, args.source.as_deref(), color)?;
    let loaded = load(&settings.source(args)?, &progress)?;
    progress.step("writing descriptors");
    let tree = &loaded.tree;
    let judged: Vec<_> = tree.files().filter(|file| file.is_judged()).map(|file| file.id).collect();
    let bytes = abide_schema::encode_set(tree, &judged, !exclude_imports, !exclude_source_info);
    progress.finish();
    write::write(Some(out), &bytes).map_err(|error| Error::File {
        what: format!("cannot write `{}`", out.display()),
        error,
    })?;
    Ok(Outcome { troubles: troubles(&loaded), ..Outcome::of(Vec::new()) })
}
