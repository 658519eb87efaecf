//! `abide init`.

use std::path::Path;

use abide::Preset;

use super::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::settings::{CONFIG, find_preset};
use crate::write;

pub(super) fn init(global: &Global, dir: Option<&Path>) -> Result<Outcome, Error> {
    let preset = match &global.preset {
        Some(name) => find_preset(name)?,
        None => Preset::default(),
    };
    let path = dir.unwrap_or(Path::new(".")).join(CONFIG);
    if path.exists() {
        return Err(Error::Usage(format!("`{}` exists; nothing was written", path.display())));
    }
    let text = format!(
        "# The policy of this proto tree; `abide rules` lists the rules.\n\
         preset = \"{}\"\n\
         \n\
         # Where proto files are, and where their imports resolve.\n\
         roots = [\".\"]\n\
         import-paths = []\n\
         \n\
         # [rules]\n\
         # one-definition = \"warning\"\n\
         \n\
         # When clients and the API are released, as month and day: phases of a deprecation are\n\
         # counted in releases of clients, and majors rise only before a release of the API.\n\
         # [calendar]\n\
         # client-releases = [\"03-31\", \"06-30\", \"09-30\", \"12-31\"]\n\
         # api-releases = [\"06-30\"]\n\
         # previous-major-months = 12\n",
        preset.name()
    );
    write::write(Some(&path), text.as_bytes()).map_err(|error| Error::File {
        what: format!("cannot write `{}`", path.display()),
        error,
    })?;
    Ok(Outcome::of(format!("wrote {}\n", path.display())))
}
