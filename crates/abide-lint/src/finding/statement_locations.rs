//! Where statements stand that findings point at.

use abide_schema::{File, Package, Part, Place, RawOptions};
use abide_syntax::OptionNode;

/// The place of the name in the `package` statement of a file, or else of the
/// first statement.
pub(crate) fn package_name(file: File<'_>) -> Place {
    match file.decl().package {
        Some(package) => file.place_of(package.node, Part::Name),
        None => file.package_place(),
    }
}

/// The name of a folder in a sentence.
pub(crate) fn shown_folder(folder: &str) -> String {
    if folder.is_empty() { "the root".to_owned() } else { format!("`{folder}`") }
}

/// The place where a package is declared: in its first checked file, or else in
/// its first file.
pub(crate) fn package_place(package: Package<'_>) -> Option<Place> {
    let judged = package.files().find(|file| file.is_judged());
    judged.or_else(|| package.files().next()).map(package_name)
}

/// The place where the options of an element set a feature.
pub(crate) fn feature_place(file: File<'_>, options: RawOptions, feature: &str) -> Option<Place> {
    let decl = file.decl();
    let (RawOptions::Syntax(slice), Some(ast), Some(text)) =
        (options, decl.ast(), decl.source_text())
    else {
        return None;
    };
    let sets = |option: &OptionNode| {
        let parts = ast.name_parts(option);
        let is = |at: usize, name: &str| {
            parts.get(at).is_none_or(|part| part.name.of(text) == name.as_bytes())
        };
        parts.first().is_some_and(|part| !part.extension) && is(0, "features") && is(1, feature)
    };
    let ids = &decl.option_ids[slice.range()];
    let option = ids.iter().map(|&id| ast.options[id as usize]).find(sets)?;
    Some(Place { file: file.id, span: option.span })
}
