//! A hash as it is written.

use std::fmt;
use std::str::FromStr;

/// The prefix of a semantic hash: the version of the algorithm and the digest.
const PREFIX: &str = "abide1:sha256:";

/// The hash of what protos mean, written `abide1:sha256:<64 hex digits>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SemanticHash([u8; 32]);

/// The two hashes of a message, a file or a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hashes {
    /// Covers its own elements; foreign types count by name.
    pub own: SemanticHash,
    /// Also covers everything it depends on.
    pub closure: SemanticHash,
}

impl SemanticHash {
    /// The hash with this SHA-256 digest.
    pub fn new(digest: [u8; 32]) -> SemanticHash {
        SemanticHash(digest)
    }

    /// The digits, in ASCII.
    pub(crate) fn to_hex_digits(self) -> [u8; 64] {
        let mut digits = [0; 64];
        for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = to_hex(byte);
        }
        digits
    }
}

/// The two digits of a byte. Without a table or a branch, the digits of a whole
/// hash take a few vector instructions.
pub(crate) fn to_hex(byte: u8) -> [u8; 2] {
    let digit = |half: u8| half + b'0' + u8::from(half > 9) * (b'a' - b'9' - 1);
    [digit(byte >> 4), digit(byte & 15)]
}

impl fmt::Display for SemanticHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(std::str::from_utf8(&self.to_hex_digits()).unwrap_or_default())
    }
}

/// A text that is not a semantic hash.
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
