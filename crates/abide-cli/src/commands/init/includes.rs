//! `includes` of a module: only what they name belongs to it.

use std::path::Path;

use abide_source::join;

use super::buf::BufModule;

/// Adds to the excludes of a module the folders that its includes leave out. Says what is not in
/// a folder of its own, and so cannot be left out.
pub(super) fn exclude_not_included(
    module: &mut BufModule,
    top: &Path,
    roots: &[String],
    told: &mut Vec<String>,
) {
    if module.includes.is_empty() {
        return;
    }
    let root = if module.root == "." { "" } else { module.root.as_str() };
    let mut folders = vec![root.to_owned()];
    let mut left_out = Vec::new();
    while let Some(folder) = folders.pop() {
        if module.includes.iter().any(|it| is_at_or_below(&folder, it)) {
            continue;
        }
        let holds_included =
            folder.is_empty() || module.includes.iter().any(|it| is_at_or_below(it, &folder));
        if !holds_included {
            left_out.push(folder);
            continue;
        }
        let entries = std::fs::read_dir(top.join(&folder)).into_iter().flatten();
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = join(&folder, &name);
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_skipped = name.starts_with('.') || roots.contains(&path);
            if is_folder && !is_skipped {
                folders.push(path);
            } else if !is_folder && name.ends_with(".proto") {
                told.push(format!("note: `{path}` is checked, although no `includes` has it"));
            }
        }
    }
    module.excludes.append(&mut left_out);
    module.excludes.sort_unstable();
    module.excludes.dedup();
    told.sort_unstable();
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
