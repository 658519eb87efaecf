//! The outlines of blobs, kept between runs.
//!
//! What a file says about itself depends on its text alone, so it is kept under the id of its blob
//! in the folder of git that all worktrees share. The outlines only choose which files are read;
//! they decide no verdict. A file of another version, or a damaged one, counts as absent. It may be
//! deleted at any time.

use std::collections::hash_map::Entry;
use std::fs;
use std::hash::Hasher;
use std::path::PathBuf;
use std::sync::Arc;

use abide_schema::Outline;
use gix::ObjectId;
use rustc_hash::{FxHashMap, FxHasher};

use crate::bytes::ByteReader;
use crate::write::write;

/// The path of the outlines, from the folder of git.
const FILE: &str = "abide/outlines";
/// The first bytes of a file of outlines. Outlines of other versions are made anew.
const HEAD: &str = concat!("abide outlines 3 ", env!("CARGO_PKG_VERSION"), "\n");
/// The number of outlines that may be missing before the file is written again. A few files are
/// read sooner than the outlines of all are written.
const FEW: usize = 16;
/// The number of outlines kept for each one in use: those of other branches.
const SPARE: usize = 3;
/// A file larger than this is not read.
const LARGEST: u64 = 1 << 28;

/// The outlines of blobs.
#[derive(Default)]
pub(super) struct OutlineCache {
    known: FxHashMap<ObjectId, Arc<Outline>>,
    /// The number of them that the file does not have.
    added: usize,
    file: Option<PathBuf>,
}

impl OutlineCache {
    /// Reads the outlines in a folder of git.
    pub(super) fn read(git: Option<PathBuf>) -> OutlineCache {
        let file = git.map(|it| it.join(FILE));
        let known = file.as_ref().and_then(|path| {
            let found = fs::symlink_metadata(path).ok()?;
            let is_usual = found.is_file() && found.len() <= LARGEST;
            is_usual.then(|| decode(&fs::read(path).ok()?))?
        });
        // What somebody else put there is left alone: a write into a pipe would wait for a reader.
        let is_ours = |path: &PathBuf| fs::symlink_metadata(path).map_or(true, |it| it.is_file());
        OutlineCache { known: known.unwrap_or_default(), added: 0, file: file.filter(is_ours) }
    }

    pub(super) fn get(&self, blob: ObjectId) -> Option<&Arc<Outline>> {
        self.known.get(&blob)
    }

    /// Adds the outline of a blob.
    pub(super) fn add(&mut self, blob: ObjectId, outline: Arc<Outline>) {
        if let Entry::Vacant(entry) = self.known.entry(blob) {
            entry.insert(outline);
            self.added += 1;
        }
    }

    /// Writes the outlines if many are new. Where that is not possible, as in a repository that
    /// cannot be written to, the next run makes them again.
    pub(super) fn keep(&mut self, used: impl Iterator<Item = ObjectId>) {
        let Some(file) = self.file.as_ref().filter(|_| self.added > FEW) else { return };
        let mut blobs: Vec<ObjectId> = used.collect();
        match self.known.len() > blobs.len() * (1 + SPARE) {
            true => blobs.retain(|it| self.known.contains_key(it)),
            false => blobs = self.known.keys().copied().collect(),
        }
        blobs.sort_unstable();
        blobs.dedup();
        let outlines = blobs.iter().filter_map(|it| Some((it, &**self.known.get(it)?)));
        let _ = write(Some(file), &encode(outlines.collect()));
        self.added = 0;
    }
}

fn compute_checksum(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The head, the checksum of the rest, the lengths of the texts, the texts, and then each blob with
/// the numbers of its texts.
fn encode(outlines: Vec<(&ObjectId, &Outline)>) -> Vec<u8> {
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut texts: Vec<&str> = Vec::new();
    let mut entries: Vec<u8> = Vec::new();
    for (blob, outline) in &outlines {
        entries.extend(blob.as_slice());
        entries.extend(numbered(&outline.package, &mut texts, &mut numbers).to_le_bytes());
        entries.extend((outline.imports.len() as u32).to_le_bytes());
        for import in &outline.imports {
            entries.extend(numbered(import, &mut texts, &mut numbers).to_le_bytes());
        }
        entries.extend((outline.strings.len() as u32).to_le_bytes());
        for string in &outline.strings {
            entries.extend(numbered(string, &mut texts, &mut numbers).to_le_bytes());
        }
        entries.extend((outline.claims.len() as u32).to_le_bytes());
        outline.claims.iter().for_each(|it| entries.extend(it.to_le_bytes()));
    }
    let mut body: Vec<u8> = (texts.len() as u32).to_le_bytes().into();
    texts.iter().for_each(|it| body.extend((it.len() as u32).to_le_bytes()));
    let texts = texts.concat();
    body.extend((texts.len() as u32).to_le_bytes());
    body.extend(texts.as_bytes());
    body.extend((outlines.len() as u32).to_le_bytes());
    body.extend(entries);
    [HEAD.as_bytes(), &compute_checksum(&body).to_le_bytes(), &body].concat()
}

/// The number of a text, which is added if it is not among the texts yet.
fn numbered<'a>(
    text: &'a str,
    texts: &mut Vec<&'a str>,
    numbers: &mut FxHashMap<&'a str, u32>,
) -> u32 {
    *numbers.entry(text).or_insert_with(|| {
        texts.push(text);
        texts.len() as u32 - 1
    })
}

fn decode(bytes: &[u8]) -> Option<FxHashMap<ObjectId, Arc<Outline>>> {
    let mut rest = ByteReader(bytes.strip_prefix(HEAD.as_bytes())?);
    if rest.read_u64()? != compute_checksum(rest.0) {
        return None;
    }
    let lengths = rest.read_list(ByteReader::read_u32)?;
    let length = rest.read_u32()? as usize;
    let mut text = std::str::from_utf8(rest.take(length)?).ok()?;
    let mut texts: Vec<Arc<str>> = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (first, others) = text.split_at_checked(length as usize)?;
        texts.push(first.into());
        text = others;
    }
    let blob_length = gix::hash::Kind::Sha1.len_in_bytes();
    let number = |rest: &mut ByteReader<'_>| texts.get(rest.read_u32()? as usize).cloned();
    let count = rest.read_u32()? as usize;
    let mut outlines = FxHashMap::default();
    outlines.reserve(count.min(rest.0.len() / blob_length));
    for _ in 0..count {
        let rest = &mut rest;
        let blob = ObjectId::try_from(rest.take(blob_length)?).ok()?;
        let package = number(rest)?;
        let imports = rest.read_list(number)?;
        let strings = rest.read_list(number)?;
        let claims = rest.read_list(ByteReader::read_u64)?;
        outlines
            .insert(blob, Arc::new(Outline { package, imports, claims, strings, parses: true }));
    }
    Some(outlines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(package: &str, imports: &[&str], claims: &[u64]) -> Outline {
        let imports: Vec<Arc<str>> = imports.iter().map(|it| (*it).into()).collect();
        let strings = imports.clone();
        Outline { package: package.into(), imports, claims: claims.to_vec(), strings, parses: true }
    }

    #[test]
    fn outlines_are_read_as_they_were_written() {
        let blobs = [[1; 20], [2; 20], [3; 20]].map(ObjectId::Sha1);
        let outlines = [
            outline("a.v1", &["b.proto", "c.proto"], &[1, u64::MAX]),
            outline("", &[], &[]),
            outline("a.v1", &["c.proto"], &[7]),
        ];
        let bytes = encode(blobs.iter().zip(&outlines).collect());
        let read = decode(&bytes).expect("it was just written");
        assert_eq!(read.len(), 3);
        for (blob, outline) in blobs.iter().zip(&outlines) {
            assert_eq!(read.get(blob).map(|it| &**it), Some(outline));
        }
    }

    /// Whatever is cut off or changed, nothing wrong is read.
    #[test]
    fn damaged_outlines_count_as_absent() {
        let one = outline("a.v1", &["b.proto"], &[1, 2]);
        let blob = ObjectId::Sha1([9; 20]);
        let bytes = encode(vec![(&blob, &one)]);
        assert!(decode(&bytes).is_some());
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            assert!(decode(&damaged).is_none(), "damaged at {at}");
        }
    }
}
