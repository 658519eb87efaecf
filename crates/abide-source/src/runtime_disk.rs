//! Reads the layers of a runtime that are on disk.
//!
//! `symlink_root` is a link that whoever deploys moves from one whole tree to the next. Everything
//! below it is read from the folder that it led to at the start. If it leads elsewhere at the end,
//! everything is read again: what is read is one tree, never a part of two.

use std::collections::BTreeSet;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use abide_instance::runtime::{
    DeclaredLayers, DiskFailure, DiskFailureReason, DiskFiles, DiskLayer, DiskReading, LayerSource,
    MAX_FOLDERS,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

use crate::source::LinkLimits;

/// So often a root is read that is moved every time while it is read.
const ATTEMPTS: u32 = 1000;
/// No more files are read of one layer.
const MAX_FILES: usize = 100_000;
/// No more bytes are read of one layer.
const MAX_BYTES: usize = 64 << 20;
/// The names that Envoy does not read, whatever path or link leads there.
const REFUSED: &[&str] = &["/dev", "/proc", "/sys"];
/// The reason for not reading a file or a folder that a tree names.
const OUTSIDE: &str = "it is outside of the tree";

/// Reads the files on disk of each layer there, in the order of the layers. Relative roots start at
/// `base`.
pub fn read_layers(layers: &DeclaredLayers, base: &Path) -> Vec<DiskReading> {
    read_roots(layers, &mut |root, folders| read_root(&base.join(root), folders, None))
}

/// The same for layers that a file of a tree declares: nothing is read that lies out of reach.
pub fn read_layers_within(layers: &DeclaredLayers, reach: &LinkLimits) -> Vec<DiskReading> {
    read_roots(layers, &mut |root, folders| read_root(Path::new(root), folders, Some(reach)))
}

/// The same for a copy of the disk that the layers are on: `top` is its uppermost folder.
pub fn read_layers_below(layers: &DeclaredLayers, top: &Path) -> Vec<DiskReading> {
    let place = |root: &str| top.join(root.trim_start_matches('/'));
    read_roots(layers, &mut |root, folders| read_root(&place(root), folders, None))
}

/// The same with what reads folders below one root. It is called once for each root, so that layers
/// of one root are of one tree; roots that lead into one another are read one by one.
fn read_roots(
    layers: &DeclaredLayers,
    read: &mut dyn FnMut(&str, &[&str]) -> Vec<DiskReading>,
) -> Vec<DiskReading> {
    let on_disk = layers.layers().iter().filter_map(|layer| match &layer.source {
        LayerSource::Disk(disk) => Some(disk),
        _ => None,
    });
    let on_disk: Vec<&DiskLayer> = on_disk.collect();
    let roots: BTreeSet<&str> = on_disk.iter().map(|it| &*it.symlink_root).collect();
    let mut readings: Vec<Option<DiskReading>> = on_disk.iter().map(|_| None).collect();
    for root in roots {
        let below = on_disk.iter().enumerate().filter(|(_, layer)| &*layer.symlink_root == root);
        let (places, folders): (Vec<usize>, Vec<&str>) =
            below.map(|(at, layer)| (at, &*layer.folder)).unzip();
        for (at, reading) in places.into_iter().zip(read(root, &folders)) {
            readings[at] = Some(reading);
        }
    }
    readings.into_iter().map(|it| it.unwrap_or(DiskReading::Missing)).collect()
}

/// Reads the folders below one root.
fn read_root(root: &Path, folders: &[&str], reach: Option<&LinkLimits>) -> Vec<DiskReading> {
    let read = |top: &TopFolder<'_>| {
        if !top.reaches(&top.path) {
            let path = root.display().to_string();
            let reason = DiskFailureReason::Unreadable(OUTSIDE.to_owned());
            return vec![DiskReading::Failed(DiskFailure { path, reason }); folders.len()];
        }
        folders.iter().map(|it| top.read_layer(it)).collect()
    };
    read_unmoved(root, reach, read).unwrap_or_else(|failed| vec![failed; folders.len()])
}

/// Reads below one root, again and again until that led to one folder all the time.
///
/// # Errors
/// What takes the place of each reading: there is no folder, or never one for long enough.
fn read_unmoved<T>(
    root: &Path,
    reach: Option<&LinkLimits>,
    mut read: impl FnMut(&TopFolder<'_>) -> T,
) -> Result<T, DiskReading> {
    for _ in 0..ATTEMPTS {
        let Ok(real) = root.canonicalize() else { break };
        let Ok(dir) = Dir::open_ambient_dir(&real, ambient_authority()) else {
            // It may have been removed because the link had left it.
            if root.canonicalize().is_ok_and(|now| now != real) {
                continue;
            }
            break;
        };
        let top = TopFolder { dir, path: real, reach };
        let found = read(&top);
        if root.canonicalize().is_ok_and(|now| now == top.path) {
            return Ok(found);
        }
    }
    Err(match root.is_dir() {
        true => DiskReading::Failed(DiskFailure {
            path: root.display().to_string(),
            reason: DiskFailureReason::Unreadable("it changes faster than it is read".to_owned()),
        }),
        false => DiskReading::Missing,
    })
}

/// The folder that a root led to.
struct TopFolder<'l> {
    dir: Dir,
    path: PathBuf,
    /// The limit of links, if a file of a tree names the folder.
    reach: Option<&'l LinkLimits>,
}

/// A file or a folder, with the folder that it is opened from.
struct FoundPath {
    metadata: Metadata,
    /// A folder that a link out of the tree led to; `None` is that of the tree.
    outside: Option<Dir>,
    path: String,
    /// True if it is where Envoy reads nothing.
    is_refused: bool,
}

/// The part of a layer that was read so far.
#[derive(Default)]
struct ReadLayer {
    files: DiskFiles,
    bytes: usize,
}

impl TopFolder<'_> {
    fn reaches(&self, path: &Path) -> bool {
        self.reach.is_none_or(|it| it.is_in_reach(path))
    }

    fn read_layer(&self, folder: &str) -> DiskReading {
        let folder = folder.trim_matches('/');
        let folder = if folder.is_empty() { "." } else { folder };
        let Ok(found) = self.find(folder) else { return DiskReading::Missing };
        if !found.metadata.is_dir() {
            return DiskReading::Missing;
        }
        if found.is_refused {
            let (path, reason) = (folder.to_owned(), DiskFailureReason::OfTheSystem);
            return DiskReading::Failed(DiskFailure { path, reason });
        }
        let mut taken = ReadLayer::default();
        match self.walk(&found, folder, "", 1, &mut taken) {
            Ok(()) => DiskReading::Files(taken.files),
            Err(failure) => DiskReading::Failed(failure),
        }
    }

    /// Reads all files in a folder and in those inside it, at most [`MAX_FOLDERS`] of them deep, so
    /// that this recursion ends.
    fn walk(
        &self,
        folder: &FoundPath,
        path: &str,
        key_path: &str,
        depth: u32,
        taken: &mut ReadLayer,
    ) -> Result<(), DiskFailure> {
        let fail = |path: &str, reason| DiskFailure { path: path.to_owned(), reason };
        let unreadable = |path: &str, error: io::Error| {
            fail(path, DiskFailureReason::Unreadable(error.to_string()))
        };
        if depth > MAX_FOLDERS {
            return Err(fail(key_path, DiskFailureReason::TooDeep));
        }
        let shown = if key_path.is_empty() { "." } else { key_path };
        for name in self.names(folder).map_err(|error| unreadable(shown, error))? {
            let path = format!("{path}/{name}");
            let key_path = match key_path {
                "" => name,
                above => format!("{above}/{name}"),
            };
            let found = match self.find(&path) {
                Ok(found) => found,
                // A link to itself: unlike one to nothing, Envoy passes it over.
                Err(error) if is_loop(&error) => continue,
                Err(error) => return Err(unreadable(&key_path, error)),
            };
            let holds_values = found.metadata.is_dir() || found.metadata.is_file();
            if found.is_refused && holds_values {
                return Err(fail(&key_path, DiskFailureReason::OfTheSystem));
            }
            if found.metadata.is_dir() {
                self.walk(&found, &path, &key_path, depth + 1, taken)?;
            } else if found.metadata.is_file() {
                let left = MAX_BYTES - taken.bytes;
                let bytes = self.read(&found, left).map_err(|it| unreadable(&key_path, it))?;
                if bytes.len() > left || taken.files.len() == MAX_FILES {
                    return Err(fail(&key_path, DiskFailureReason::TooMuch));
                }
                taken.bytes += bytes.len();
                taken.files.insert(key_path, bytes);
            }
        }
        Ok(())
    }

    /// Finds a path below the folder, or the end of a link in it, which may be anywhere.
    fn find(&self, path: &str) -> io::Result<FoundPath> {
        let is_refused = |path: &Path| REFUSED.iter().any(|it| path.starts_with(it));
        let below = match self.dir.metadata(path) {
            // The way leads out of the folder.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            found => Some(found?),
        };
        if let Some(metadata) = below {
            let (path, is_refused) = (path.to_owned(), is_refused(&self.path));
            return Ok(FoundPath { metadata, outside: None, path, is_refused });
        }
        let real = self.path.join(path).canonicalize()?;
        if !self.reaches(&real) {
            return Err(io::Error::other(OUTSIDE));
        }
        let (above, name) = match (real.parent(), real.file_name()) {
            (Some(above), Some(name)) => (above, name.to_string_lossy().into_owned()),
            _ => (&*real, ".".to_owned()),
        };
        let outside = Dir::open_ambient_dir(above, ambient_authority())?;
        let metadata = outside.metadata(&name)?;
        Ok(FoundPath {
            metadata,
            outside: Some(outside),
            path: name,
            is_refused: is_refused(&real),
        })
    }

    /// The folder that something found is opened from.
    fn dir_of<'d>(&'d self, found: &'d FoundPath) -> &'d Dir {
        found.outside.as_ref().unwrap_or(&self.dir)
    }

    /// The names in a folder, sorted.
    fn names(&self, folder: &FoundPath) -> io::Result<BTreeSet<String>> {
        let entries = self.dir_of(folder).read_dir(&folder.path)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// The first bytes of a file, one more than `limit` if there are so many.
    fn read(&self, file: &FoundPath, limit: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = self.dir_of(file).open(&file.path)?;
        file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn is_loop(error: &io::Error) -> bool {
    // The standard library does not name this kind of error on stable Rust.
    const ELOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };
    error.raw_os_error() == Some(ELOOP)
}

#[cfg(test)]
mod tests {
    use abide_instance::runtime::get_known_bootstrap;
    use abide_instance::{Instance, Notation, ReadOptions};

    use super::*;

    /// Layers on disk, each with its root and its folder.
    fn layers(on_disk: &[(&str, &str)]) -> DeclaredLayers {
        let layer = |(at, (root, folder)): (usize, &(&str, &str))| {
            format!(
                "  - name: l{at}\n    disk_layer: {{symlink_root: {root}, subdirectory: {folder}}}\n"
            )
        };
        let all: String = on_disk.iter().enumerate().map(layer).collect();
        let text = format!("layered_runtime:\n  layers:\n{all}");
        let (tree, bootstrap) = get_known_bootstrap();
        let options = ReadOptions { notation: Notation::Yaml, ty: Some(bootstrap), dialect: None };
        let instance = Instance::read(&tree, text.as_bytes(), options);
        DeclaredLayers::from_bootstrap(&tree, instance.documents[0].message().expect("a bootstrap"))
    }

    /// The roots that are read, in that order, each with its folders.
    fn reads(on_disk: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let mut reads = Vec::new();
        let readings = read_roots(&layers(on_disk), &mut |root, folders| {
            reads.push((root.to_owned(), folders.iter().map(|&it| it.to_owned()).collect()));
            folders.iter().map(|_| DiskReading::Missing).collect()
        });
        assert_eq!(readings.len(), on_disk.len());
        reads
    }

    #[test]
    fn one_root_is_read_once_for_all_of_its_layers() {
        let found = reads(&[("/r/a", "one"), ("/r/b", "one"), ("/r/a", "two"), ("/r/a", "one/in")]);
        let folders = |all: &[&str]| all.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found,
            [
                ("/r/a".to_owned(), folders(&["one", "two", "one/in"])),
                ("/r/b".to_owned(), folders(&["one"])),
            ]
        );
    }

    #[test]
    fn roots_that_link_into_each_other_are_read_separately() {
        let found = reads(&[("/r", "a/x"), ("/r/a", "x"), ("/r", "a/y"), ("/r/a/", "x")]);
        let roots: Vec<&str> = found.iter().map(|it| &*it.0).collect();
        // Each once, however many layers it has; the same folder in another spelling is another root.
        assert_eq!(roots, ["/r", "/r/a", "/r/a/"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_moves_during_reading_is_read_again_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for tree in ["one", "two"] {
            for layer in ["a", "b"] {
                std::fs::create_dir_all(place(tree).join(layer)).unwrap();
                std::fs::write(place(tree).join(layer).join("key"), tree).unwrap();
            }
        }
        std::os::unix::fs::symlink("one", place("current")).unwrap();
        std::os::unix::fs::symlink("two", place("next")).unwrap();
        let mut times = 0;
        let readings = read_unmoved(&place("current"), None, |top| {
            times += 1;
            let first = top.read_layer("a");
            if times == 1 {
                std::fs::rename(place("next"), place("current")).unwrap();
                std::fs::remove_dir_all(place("one")).unwrap();
            }
            [first, top.read_layer("b")]
        });
        let key = |it: DiskReading| match it {
            DiskReading::Files(files) => String::from_utf8(files["key"].clone()).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!((times, readings.unwrap().map(key)), (2, ["two", "two"].map(str::to_owned)));
    }
}
