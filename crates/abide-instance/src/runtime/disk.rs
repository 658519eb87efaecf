//! Layers on disk: a folder for each part of a key but the last, which is a file.
//!
//! Whoever reads the disk hands over the files of a layer with their paths. What
//! counts as a file, how deep folders may nest and what fails a layer is the same
//! as for Envoy: links are followed, files that begin with a dot are keys, and
//! one that cannot be read fails the whole layer.

use std::collections::BTreeMap;
use std::fmt;

use super::fraction::RESERVED;
use super::number::trim_white_space_end;
use super::snapshot::Values;
use super::value::RuntimeValue;

/// Folders may nest this deep, the folder of the layer included. A link that leads
/// up makes them nest without an end, which this finds out.
pub const MAX_FOLDERS: u32 = 16;

/// The files of a layer: their paths from the folder of the layer, with `/`, and
/// what they hold.
pub type DiskFiles = BTreeMap<String, Vec<u8>>;

/// The content of a path where a layer should be.
#[derive(Clone, Debug)]
pub enum DiskReading {
    /// No folder. The layer is left out, which is no error.
    Missing,
    /// Its files.
    Files(DiskFiles),
    /// Something that fails the layer.
    Failed(DiskFailure),
}

/// A layer on disk that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskFailure {
    /// The path in the folder of the layer.
    pub path: String,
    /// The reason.
    pub reason: DiskFailureReason,
}

/// A fault of a path in the folder of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskFailureReason {
    /// Folders nest too deep.
    TooDeep,
    /// With it there would be more than anybody reads.
    TooMuch,
    /// It is in a folder that the system makes up, such as `/proc`.
    OfTheSystem,
    /// It cannot be read, which the system gives this reason for.
    Unreadable(String),
    /// The value in a file is no YAML.
    Malformed(String),
}

impl fmt::Display for DiskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.reason {
            DiskFailureReason::TooDeep => write!(
                f,
                "`{path}` is more than {MAX_FOLDERS} folders deep, perhaps by a link that leads up"
            ),
            DiskFailureReason::TooMuch => {
                write!(f, "`{path}` is one file too many: the layer is too large to be read")
            }
            DiskFailureReason::OfTheSystem => {
                write!(f, "`{path}` leads to a folder of the system, which Envoy does not read")
            }
            DiskFailureReason::Unreadable(reason) => write!(f, "`{path}` cannot be read: {reason}"),
            DiskFailureReason::Malformed(reason) => write!(f, "`{path}` is not YAML: {reason}"),
        }
    }
}

/// The key of a file of a layer: its path with dots.
pub fn path_to_key(path: &str) -> String {
    path.replace('/', ".")
}

/// The path where the value of a key is written.
pub fn key_to_path(key: &str) -> String {
    key.replace('.', "/")
}

/// A path with a name that keys on disk must not have, because it makes a struct a
/// share. Envoy takes such a file for a key, which no static layer could spell.
pub(super) fn find_reserved_path(files: &DiskFiles) -> Option<&str> {
    let is_reserved = |path: &&String| path.split('/').any(|name| RESERVED.contains(&name));
    files.keys().find(is_reserved).map(String::as_str)
}

/// Reads the values in the files of a layer.
pub(super) fn read_values(files: &DiskFiles) -> Result<Values, DiskFailure> {
    let mut values = Values::new();
    for (path, bytes) in files {
        let text = read_value(&String::from_utf8_lossy(bytes));
        let value = RuntimeValue::parse_text(&text).map_err(|reason| {
            let reason = DiskFailureReason::Malformed(reason);
            DiskFailure { path: path.clone(), reason }
        })?;
        values.insert(path_to_key(path).into(), value);
    }
    Ok(values)
}

/// The value in a file: its lines without those that begin with `#` and without
/// empty ones. The last line, and every line that equals it, loses the white space
/// and the line end behind it: a comment as the last line keeps that line end.
fn read_value(text: &str) -> String {
    let lines = || text.split('\n').filter(|line| !line.is_empty());
    let last = lines().next_back().unwrap_or_default();
    let mut value = String::new();
    for line in lines().filter(|line| !line.starts_with('#')) {
        if line == last {
            value.push_str(trim_white_space_end(line));
        } else {
            value.push_str(line);
            value.push('\n');
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_in_a_file_leaves_comments_out() {
        for (text, expected) in [
            ("", ""),
            (" 7 \n", " 7"),
            ("# a comment\n 7\n", " 7"),
            (" #no comment\n", " #no comment"),
            ("# only\n# comments\n", ""),
            ("/home#about-us\n", "/home#about-us"),
            ("hello\r\nworld\r\n", "hello\r\nworld"),
            ("a\n# at the end\n", "a\n"),
            ("1\n2\n1\n", "12\n1"),
            ("a\n\n\nb\n\n", "a\nb"),
        ] {
            assert_eq!(read_value(text), expected, "{text:?}");
        }
    }

    #[test]
    fn each_dot_of_a_runtime_key_is_a_folder() {
        assert_eq!(key_to_path("health_check.min_interval"), "health_check/min_interval");
        let mut random = fastrand::Rng::with_seed(10);
        for _ in 0..1000 {
            let steps: Vec<String> = (0..random.usize(1..6))
                .map(|_| (0..random.usize(1..6)).map(|_| random.lowercase()).collect())
                .collect();
            let key = steps.join(".");
            assert_eq!(key_to_path(&key), steps.join("/"));
            assert_eq!(path_to_key(&key_to_path(&key)), key);
        }
    }
}
