//! Folders on disk, walked the way ripgrep walks them.

use super::*;
use std::sync::{Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};

/// Nearly all files are smaller than this.
const USUAL_FILE: usize = 1 << 16;

/// Reads the tree at `top`, which is canonical.
///
/// A linked file counts as one; a linked folder is not entered, as in ripgrep: build systems link
/// whole output trees into the folder they work in.
pub(super) fn read(top: &Path, layout: &Layout) -> Gathered {
    let ends: Arc<BTreeSet<PathBuf>> = Arc::new(
        layout
            .roots
            .iter()
            .chain(&layout.excluded)
            .map(|folder| top.join(folder))
            .flat_map(|folder| [canonical(&folder), folder])
            .collect(),
    );
    let gathered = Mutex::new(Gathered::default());
    for (index, root) in layout.roots.iter().enumerate() {
        walk_root(top, layout, index, root, &ends, &gathered);
    }
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn walk_root(
    top: &Path,
    layout: &Layout,
    index: usize,
    root: &str,
    ends: &Arc<BTreeSet<PathBuf>>,
    gathered: &Mutex<Gathered>,
) {
    let gathered = || gathered.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = canonical(&top.join(root));
    if !folder.is_dir() {
        gathered().problem(root, NO_ROOT);
        return;
    }
    let display = |path: &Path| {
        let path = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy();
        join(root, &path.replace(std::path::MAIN_SEPARATOR, "/"))
    };
    let ends = Arc::clone(ends);
    let walker = WalkBuilder::new(&folder)
        .require_git(false)
        .threads(rayon::current_num_threads())
        .filter_entry(move |entry| {
            let enters = entry.file_type().is_some_and(|kind| kind.is_dir() || kind.is_symlink());
            entry.depth() == 0
                || !enters
                || (entry.file_name() != "node_modules" && !ends.contains(entry.path()))
        })
        .build_parallel();
    // A file is read where it is found, so that no thread waits for the end of the walk.
    let read = |file: &Path, path: String, buffer: &mut Vec<u8>| {
        let display = layout.display(index, &path);
        match read_regular(file, buffer) {
            Ok(text) => gathered().files.push(SourceFile {
                path: path.into(),
                display: display.into(),
                root: index as u32,
                imported: false,
                text,
            }),
            Err(error) => gathered().problem(display, io_reason(&error)),
        }
    };
    let (read, display, gathered, folder) = (&read, &display, &gathered, folder.as_path());
    walker.run(|| {
        let mut buffer = vec![0; USUAL_FILE];
        Box::new(move |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error_path(&error).map_or(root.to_owned(), display);
                    let reason = error.io_error().map_or_else(|| error.to_string(), io_reason);
                    gathered().problem(path, reason);
                    return WalkState::Continue;
                }
            };
            let is_proto = is_proto(entry.file_name().as_encoded_bytes());
            let Some(kind) = entry.file_type() else { return WalkState::Continue };
            if kind.is_dir() || !(is_proto || kind.is_symlink()) {
                return WalkState::Continue;
            }
            // The kind is known from the listing; only a link has to be asked for.
            let target = match kind.is_symlink().then(|| fs::metadata(entry.path())) {
                None => Ok(kind),
                Some(target) => target.map(|target| target.file_type()),
            };
            match target {
                Ok(kind) if kind.is_dir() => {
                    let name = display(entry.path());
                    gathered().notes.push(format!(
                        "the linked folder `{}` was not entered: name it in `roots` to judge it",
                        shown(&name)
                    ));
                }
                _ if !is_proto => {}
                Ok(kind) if kind.is_file() => match relative(entry.path(), folder) {
                    Some(path) => read(entry.path(), path, &mut buffer),
                    None => gathered().problem(display(entry.path()), NOT_UNICODE),
                },
                Ok(_) => gathered().problem(display(entry.path()), NOT_REGULAR),
                Err(error) => gathered().problem(display(entry.path()), io_reason(&error)),
            }
            WalkState::Continue
        })
    });
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            error_path(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}
