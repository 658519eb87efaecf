//! The files that every protoc brings along.
//!
//! They are written anew and without comments, and declare the same: the
//! descriptors that protoc 35.1 makes of them equal those of its own copies,
//! which `cargo xtask oracle` checks.

macro_rules! built_in {
    ($($name:literal)*) => {
        &[$((concat!("google/protobuf/", $name), include_str!(concat!("wellknown/", $name))),)*]
    };
}

const FOLDER: &str = "google/protobuf/";

/// The root of what is built in.
pub(crate) const BUILT_IN: u32 = u32::MAX;

/// The file that declares the options themselves.
pub(crate) const DESCRIPTOR_PROTO: &str = "google/protobuf/descriptor.proto";

/// Sorted by path, which is what imports write, each with its text.
const FILES: &[(&str, &str)] = built_in! {
    "any.proto"
    "api.proto"
    "compiler/plugin.proto"
    "cpp_features.proto"
    "descriptor.proto"
    "duration.proto"
    "empty.proto"
    "field_mask.proto"
    "go_features.proto"
    "java_features.proto"
    "source_context.proto"
    "struct.proto"
    "timestamp.proto"
    "type.proto"
    "wrappers.proto"
};

/// The text of a file that is built in, by the path that imports use, such as
/// `google/protobuf/any.proto`.
pub fn well_known(path: &str) -> Option<&'static str> {
    built_in(path).map(|(_, text)| text)
}

/// A file that is built in: its path and its text.
pub(crate) fn built_in(path: &str) -> Option<(&'static str, &'static str)> {
    // Every import of a tree is asked for, and nearly none is one of these.
    if !path.starts_with(FOLDER) {
        return None;
    }
    let at = FILES.binary_search_by(|(known, _)| (*known).cmp(path)).ok()?;
    Some(FILES[at])
}

/// The paths of the files that are built in, in their order.
pub fn well_known_paths() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|(path, _)| *path)
}

#[cfg(test)]
mod tests {
    use super::{well_known, well_known_paths};

    #[test]
    fn every_built_in_file_is_found_and_parses() {
        let paths: Vec<_> = well_known_paths().collect();
        assert!(paths.is_sorted() && paths.contains(&"google/protobuf/descriptor.proto"));
        for path in paths {
            let text = well_known(path).unwrap_or_else(|| panic!("{path} is not found"));
            let (ast, errors) = abide_syntax::parse(text.as_bytes());
            assert!(errors.is_empty() && !ast.decls.is_empty(), "{path}: {errors:?}");
        }
        assert_eq!(well_known("google/protobuf/nothing.proto"), None);
    }
}
