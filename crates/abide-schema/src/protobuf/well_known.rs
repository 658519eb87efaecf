//! The files that every protoc brings along.
//!
//! They are written anew and without comments, and declare the same: the
//! descriptors that protoc 36.2 makes of them equal those of its own copies,
//! which `cargo xtask oracle` checks.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use abide_syntax::{DeclId, DeclKind, Span};

macro_rules! built_in {
    ($($name:literal)*) => {
        &[$((concat!("google/protobuf/", $name), include_str!(concat!("well_known/", $name))),)*]
    };
}

const FOLDER: &str = "google/protobuf/";

const ANNOTATIONS_FOLDER: &str = "abide/annotations/v1/";

/// The root of what is built in.
pub(crate) const BUILT_IN: u32 = u32::MAX;

/// The file that declares the options themselves.
pub(crate) const DESCRIPTOR_PROTO: &str = "google/protobuf/descriptor.proto";

/// Sorted by path, which is what imports write, each with its text.
const FILES: &[(&str, &str)] = built_in! {
    "any.proto"
    "api.proto"
    "c_sharp_features.proto"
    "compiler/plugin.proto"
    "cpp_features.proto"
    "cpp_file_options.proto"
    "cpp_options.proto"
    "descriptor.proto"
    "duration.proto"
    "empty.proto"
    "field_mask.proto"
    "go_features.proto"
    "java_features.proto"
    "json_enumvalue_options.proto"
    "json_options.proto"
    "source_context.proto"
    "struct.proto"
    "timestamp.proto"
    "type.proto"
    "wrappers.proto"
};

/// Our own annotations, which a tree may use without a copy of them. Sorted by path.
const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "abide/annotations/v1/lifecycle.proto",
        include_str!("../../../../api/abide/annotations/v1/lifecycle.proto"),
    ),
    (
        "abide/annotations/v1/status.proto",
        include_str!("../../../../api/abide/annotations/v1/status.proto"),
    ),
];

/// The text of a file that every protoc brings along, by the path that imports use, such as
/// `google/protobuf/any.proto`.
pub fn find_well_known(path: &str) -> Option<&'static str> {
    find_in(FILES, path).map(|(_, text)| text)
}

/// The path and the text of a file among these.
fn find_in(
    files: &[(&'static str, &'static str)],
    path: &str,
) -> Option<(&'static str, &'static str)> {
    let at = files.binary_search_by(|(known, _)| (*known).cmp(path)).ok()?;
    Some(files[at])
}

/// A file that is built in: its path and its text.
pub(crate) fn find_built_in(path: &str) -> Option<(&'static str, &'static str)> {
    // Every import of a tree is asked for, and nearly none is one of these.
    match path {
        _ if path.starts_with(FOLDER) => find_in(FILES, path),
        _ if path.starts_with(ANNOTATIONS_FOLDER) => find_in(ANNOTATIONS, path),
        _ => None,
    }
}

/// The paths of the files that every protoc brings along, in their order.
pub fn well_known_paths() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|(path, _)| *path)
}

/// The paths of all files that are built in, in their order: our own annotations, and what every
/// protoc brings along.
pub fn built_in_paths() -> impl Iterator<Item = &'static str> {
    ANNOTATIONS.iter().chain(FILES).map(|(path, _)| *path)
}

/// Returns true if the file that imports name so is built in.
pub fn is_built_in(path: &str) -> bool {
    find_built_in(path).is_some()
}

/// Our own annotations, which are built in as well: paths and texts.
pub fn annotation_files() -> &'static [(&'static str, &'static str)] {
    ANNOTATIONS
}

/// The path of the built-in file that declares a type or an extension with this full name.
pub(crate) fn find_declaring(full_name: &str) -> Option<&'static str> {
    index_declared().get(full_name).copied()
}

/// Everything that the built-in files declare, by full name, with the path of the file. They are
/// read once, and only where a name was not found.
pub(crate) fn index_declared() -> &'static BTreeMap<String, &'static str> {
    static DECLARED: OnceLock<BTreeMap<String, &'static str>> = OnceLock::new();
    DECLARED.get_or_init(|| {
        let files = ANNOTATIONS.iter().chain(FILES);
        files
            .flat_map(|(path, text)| collect_names(text).into_iter().map(|it| (it, *path)))
            .collect()
    })
}

/// The full names of the types and extensions that a text declares.
fn collect_names(text: &str) -> Vec<String> {
    let (ast, _) = abide_syntax::parse(text.as_bytes());
    let word = |span: Span| span.str(text.as_bytes());
    let mut package = String::new();
    // The declarations around the next one: where each ends, and its name if it has a scope.
    let mut around: Vec<(DeclId, Option<&str>)> = Vec::new();
    let mut found = Vec::new();
    for (at, decl) in (0..).zip(&ast.decls) {
        while around.last().is_some_and(|(end, _)| *end <= at) {
            around.pop();
        }
        let is_extension = matches!(around.last(), Some((_, None)));
        let name = match decl.kind {
            DeclKind::Package { name } => {
                word(name).clone_into(&mut package);
                continue;
            }
            DeclKind::Message { name, .. } | DeclKind::Enum { name, .. } => word(name),
            DeclKind::Field(field) if is_extension => word(field.name),
            DeclKind::Extend { .. } => {
                around.push((decl.end, None));
                continue;
            }
            _ => continue,
        };
        let scope = around.iter().filter_map(|it| it.1);
        let parts: Vec<&str> = [&*package].into_iter().chain(scope).chain([name]).collect();
        found.push(parts.join("."));
        around.push((decl.end, Some(name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{built_in_paths, find_declaring, find_well_known, is_built_in, well_known_paths};

    #[test]
    fn the_names_of_built_in_files_are_known() {
        for (name, path) in [
            ("google.protobuf.Timestamp", Some("timestamp.proto")),
            ("google.protobuf.FieldOptions.JSType", Some("descriptor.proto")),
            ("google.protobuf.compiler.CodeGeneratorRequest", Some("compiler/plugin.proto")),
            ("pb.java", Some("java_features.proto")),
            ("pb.JavaFeatures.NestInFileClassFeature", Some("java_features.proto")),
            ("Timestamp", None),
            ("google.protobuf", None),
        ] {
            let path = path.map(|it| format!("google/protobuf/{it}"));
            assert_eq!(find_declaring(name), path.as_deref(), "{name}");
        }
    }

    #[test]
    fn every_built_in_file_is_found_and_parses() {
        let paths: Vec<_> = well_known_paths().collect();
        assert!(paths.is_sorted() && paths.contains(&"google/protobuf/descriptor.proto"));
        for path in paths {
            let text = find_well_known(path).unwrap_or_else(|| panic!("{path} is not found"));
            let (ast, errors) = abide_syntax::parse(text.as_bytes());
            assert!(errors.is_empty() && !ast.decls.is_empty(), "{path}: {errors:?}");
        }
        assert_eq!(find_well_known("google/protobuf/nothing.proto"), None);
        assert!(built_in_paths().is_sorted() && built_in_paths().all(is_built_in));
        assert!(is_built_in("abide/annotations/v1/lifecycle.proto"));
        assert!(!is_built_in("abide/annotations/v1/nothing.proto") && !is_built_in("a.proto"));
    }
}
