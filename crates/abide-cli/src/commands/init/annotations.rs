//! Abide's annotations as files, for protoc and other compilers.

use std::path::Path;

use abide_source::write::OpenFolder;

use super::fail_to;
use crate::commands::outcome::CommandOutcome;
use crate::error::Error;

/// Writes the annotations below a folder that imports start from.
pub(in crate::commands) fn write_annotations(folder: &Path) -> Result<CommandOutcome, Error> {
    let made = OpenFolder::make(folder).map_err(fail_to("write", folder))?;
    let mut report = String::new();
    for (path, text) in abide_schema::annotation_files() {
        let whole = folder.join(path);
        made.replace(path.as_ref(), text.as_bytes()).map_err(fail_to("write", &whole))?;
        report.push_str(&format!("wrote {}\n", whole.display()));
    }
    let folder = folder.display();
    report.push_str(&format!(
        "next: pass `-I {folder}` to protoc; if a checked tree holds {folder}, name it in \
         `import-paths` of abide.toml\n"
    ));
    Ok(CommandOutcome::of(report))
}
