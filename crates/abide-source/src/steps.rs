//! Declared steps between major versions: those that come with Abide, and those of files.

use abide_instance::{DeclarationError, MigrationFile, Notation};

use crate::error::NamedFileError;
use crate::named_files::read_named_files;
use crate::printable::count_line_and_column;

/// The steps that come with Abide: their name, and the files.
const BUILT_IN: &[(&str, &[(&str, &str)])] = &[(
    "envoy-v2-to-v3",
    &[
        ("cluster.yaml", include_str!("../../../testdata/instances/envoy-v2-to-v3/cluster.yaml")),
        (
            "extensions.yaml",
            include_str!("../../../testdata/instances/envoy-v2-to-v3/extensions.yaml"),
        ),
        (
            "bootstrap.yaml",
            include_str!("../../../testdata/instances/envoy-v2-to-v3/bootstrap.yaml"),
        ),
        ("filters.yaml", include_str!("../../../testdata/instances/envoy-v2-to-v3/filters.yaml")),
        ("listener.yaml", include_str!("../../../testdata/instances/envoy-v2-to-v3/listener.yaml")),
        ("route.yaml", include_str!("../../../testdata/instances/envoy-v2-to-v3/route.yaml")),
    ],
)];

/// Reads all steps that come with Abide.
///
/// # Errors
/// A fault in one of them.
pub fn read_built_in_steps() -> Result<Vec<MigrationFile>, NamedFileError> {
    let names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    read_steps(&names, &mut Vec::new())
}

/// Reads the steps of files, of folders, and of those that come with Abide, by their names.
/// `notes` gets one phrase for each link that is not read.
///
/// # Errors
/// A file that cannot be read, or that holds no steps.
pub fn read_steps(
    names: &[String],
    notes: &mut Vec<String>,
) -> Result<Vec<MigrationFile>, NamedFileError> {
    let mut migrations = Vec::new();
    for (name, files) in BUILT_IN.iter().filter(|(name, _)| names.iter().any(|it| it == name)) {
        for (file, text) in *files {
            let read = MigrationFile::read(text.as_bytes(), Notation::Yaml);
            let file = format!("{name}/{file}");
            migrations
                .extend(read.map_err(|fault| build_invalid_error(&file, text.as_bytes(), fault))?);
        }
    }
    let is_built_in = |name: &String| BUILT_IN.iter().any(|(built_in, _)| name == built_in);
    let paths: Vec<String> = names.iter().filter(|name| !is_built_in(name)).cloned().collect();
    for file in read_named_files(&paths, None, notes)? {
        let read = MigrationFile::read(&file.bytes, file.notation);
        migrations
            .extend(read.map_err(|fault| build_invalid_error(&file.name, &file.bytes, fault))?);
    }
    Ok(migrations)
}

fn build_invalid_error(name: &str, text: &[u8], fault: DeclarationError) -> NamedFileError {
    let text = String::from_utf8_lossy(text);
    let (line, column) = count_line_and_column(&text, fault.span.start);
    NamedFileError::InvalidSteps { name: name.to_owned(), line, column, message: fault.message }
}
