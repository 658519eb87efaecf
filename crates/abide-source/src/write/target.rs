//! What is written, and where its links lead.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The number of links that a path may lead through, as in most kernels; more are taken for a loop.
const MAX_LINKS: u32 = 40;

/// A function that writes the content of a file, piece by piece. It may write from another thread.
pub type Fill<'a> = dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()> + 'a;

/// The path behind all links, whether or not it exists.
pub(super) fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&path) {
            Ok(path) => return Ok(path),
            Err(_) if !path.is_symlink() => return Ok(path),
            // `canonicalize` refuses a link to a file that does not exist yet; follow it here.
            Err(_) => {
                let target = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
        }
    }
    // The links form a loop, and `canonicalize` reports that.
    fs::canonicalize(&path)
}
