//! Meaning as a hash. `hash.md` beside this file is the specification.
//!
//! Two stages: [`Meaning`] is what one file means, [`TreeHashes`] what follows
//! for all that refers to it.

mod closure;
mod facts;
mod languages;
mod meaning;
mod options;
mod rolling;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use abide_schema::{Package, Tree};

pub use closure::TreeHashes;
pub use meaning::Meaning;
pub use rolling::{PackageStep, RollingHashes};

/// What a semantic hash begins with: the algorithm's version, then the digest.
const PREFIX: &str = "abide1:sha256:";

/// The hash of what protos mean, written `abide1:sha256:<64 hex digits>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SemanticHash([u8; 32]);

/// The two hashes of a message, a file or a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hashes {
    /// Of its own elements, foreign types by name.
    pub own: SemanticHash,
    /// Of everything reachable from it.
    pub closure: SemanticHash,
}

impl SemanticHash {
    /// From a SHA-256 digest.
    pub fn new(digest: [u8; 32]) -> SemanticHash {
        SemanticHash(digest)
    }

    /// The digits, in ASCII.
    fn digits(self) -> [u8; 64] {
        let mut digits = [0; 64];
        for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = hex(byte);
        }
        digits
    }
}

/// The two digits of a byte. Without a table or a branch, those of a whole hash
/// are a few vector instructions.
fn hex(byte: u8) -> [u8; 2] {
    let digit = |half: u8| half + b'0' + u8::from(half > 9) * (b'a' - b'9' - 1);
    [digit(byte >> 4), digit(byte & 15)]
}

impl fmt::Display for SemanticHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

/// A text that is no semantic hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashError;

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a semantic hash is `{PREFIX}` and 64 hexadecimal digits in lower case")
    }
}

impl std::error::Error for HashError {}

impl FromStr for SemanticHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<SemanticHash, HashError> {
        let digits = text.strip_prefix(PREFIX).ok_or(HashError)?.as_bytes();
        if digits.len() != 64 {
            return Err(HashError);
        }
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(HashError),
        };
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = value(pair[0])? << 4 | value(pair[1])?;
        }
        Ok(SemanticHash(digest))
    }
}

/// What was hashed, to be read and compared: the title and the facts of the own
/// hash, and behind an empty line those of the closure. The name is that of a
/// package, the path of a file, or the full name of a message, an enum, a
/// service or an extension of the top level. A service and an extension have no
/// closure.
pub fn facts(tree: &Tree, name: &str) -> Option<String> {
    closure::unit_facts(tree, name).or_else(|| {
        let own = tree.files().find_map(|file| meaning::element_facts(file, name))?;
        Some(match closure::type_facts(tree, name) {
            Some(closure) => format!("{own}\n{closure}"),
            None => own,
        })
    })
}

/// The facts of the own hash of a package.
pub(crate) fn package_facts(package: Package<'_>) -> BTreeSet<String> {
    let meanings = package.files().map(Meaning::of);
    meanings.flat_map(|it| it.facts().map(text).collect::<Vec<_>>()).collect()
}

/// The facts of the own hash of a message, an enum, a service or an extension
/// of the top level.
pub(crate) fn element_facts(package: Package<'_>, name: &str) -> Option<BTreeSet<String>> {
    let shown = package.files().find_map(|file| meaning::element_facts(file, name))?;
    Some(shown.lines().skip(1).map(str::to_owned).collect())
}

fn text(fact: &[u8]) -> String {
    String::from_utf8_lossy(fact).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_and_nothing_else_is_one() {
        let hash = SemanticHash(std::array::from_fn(|index| index as u8 * 7));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let text = hash.to_string();
        for wrong in [&text[1..], &text[..77], &text.to_uppercase(), &format!("{text}0")] {
            assert_eq!(wrong.parse::<SemanticHash>(), Err(HashError), "{wrong}");
        }
    }
}
