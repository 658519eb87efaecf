//! Says in the help of a finding where the annotation comes from that it asks for.

use abide_schema::Tree;

use crate::finding::Finding;

/// What elements and files may say of themselves, with the file that declares it.
const ANNOTATIONS: [(&str, &[&str]); 2] = [
    (
        "abide/annotations/v1/lifecycle.proto",
        &[
            "deprecated_at",
            "disallowed_by_default",
            "lossy",
            "next_major_only",
            "previous_type",
            "replaced_by",
        ],
    ),
    ("abide/annotations/v1/status.proto", &["by_hand", "file_policy", "introduced"]),
];

/// Adds the import to every help that asks for an annotation of which the tree has none yet.
pub(super) fn add_annotation_advice(tree: &Tree, findings: &mut [Finding]) {
    let imports_file = |path: &str| {
        tree.files().any(|file| file.decl().imports.iter().any(|it| &*it.path == path))
    };
    let missing: Vec<_> = ANNOTATIONS.iter().filter(|(path, _)| !imports_file(path)).collect();
    for help in findings.iter_mut().filter_map(|it| it.help.as_mut()) {
        let is_asked = |word: &&str| {
            help.contains(&format!("`{word}`")) || help.contains(&format!("`{word} ="))
        };
        if let Some((path, _)) = missing.iter().find(|(_, words)| words.iter().any(is_asked)) {
            help.push_str(&format!(
                " (`import \"{path}\";` is built in; `abide init --annotations DIR` writes it for \
                 protoc)"
            ));
        }
    }
}
