//! Counters in a memory file, which outlives the process that counts.
//!
//! One process writes, the next one reads. Two slots are written in turn, each with its number
//! and a checksum: whenever the writer is killed, and whatever it writes meanwhile, one of them is
//! whole.
//!
//! Layout, all numbers little-endian: the magic (8 bytes), the layout version (4), zeros (4); then
//! the slots, each with its number (8), the checksum of all that follows (8), the length of the
//! body (8), and the body: a message `abide.restart.v1.Counters`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use prost::Message;
use rustix::fs::{MemfdFlags, memfd_create};

use super::messages::Counters;
use crate::checksum::checksum;

const MAGIC: &[u8; 8] = b"abidecnt";
/// The version of the layout. A process that does not know it begins to count anew.
const LAYOUT: u32 = 1;
const HEADER: usize = 16;
const SLOT: usize = 32 << 10;
/// The length of what stands before the body of a slot.
const SLOT_HEADER: usize = 24;

/// A memory file that this process writes.
pub(super) struct CounterFile {
    file: File,
    /// The number of the next slot, from 1 on.
    next: u64,
    last: BTreeMap<String, u64>,
}

impl CounterFile {
    /// A file with nothing in it.
    ///
    /// # Errors
    /// If the system has none left.
    pub(super) fn create() -> io::Result<CounterFile> {
        let file = File::from(memfd_create(c"abide-serve counters", MemfdFlags::CLOEXEC)?);
        file.set_len((HEADER + 2 * SLOT) as u64)?;
        file.write_all_at(&[&MAGIC[..], &LAYOUT.to_le_bytes()].concat(), 0)?;
        Ok(CounterFile { file, next: 1, last: BTreeMap::new() })
    }

    /// Writes the counters, if they have changed.
    ///
    /// # Errors
    /// If they do not fit.
    pub(super) fn write(&mut self, counters: BTreeMap<String, u64>) -> io::Result<()> {
        if counters == self.last {
            return Ok(());
        }
        let body = Counters { values: counters.clone() }.encode_to_vec();
        if body.len() > SLOT - SLOT_HEADER {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "there are too many counters"));
        }
        let checked = [&(body.len() as u64).to_le_bytes()[..], &body].concat();
        let number = self.next.to_le_bytes();
        let sum = checksum(self.next, &checked).to_le_bytes();
        let slot = [&number[..], &sum, &checked].concat();
        self.file.write_all_at(&slot, slot_at(self.next))?;
        self.next += 1;
        self.last = counters;
        Ok(())
    }
}

impl AsFd for CounterFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// An error of counters of another process that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum CounterFileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("they are in no file of counters")]
    NotCounters,
    #[error("they have the layout {0}, known is {LAYOUT}")]
    UnknownLayout(u32),
}

/// The memory file of another process.
pub(super) struct InheritedCounters(File);

impl InheritedCounters {
    /// Opens a file that another process passed on.
    ///
    /// # Errors
    /// A file that is not one of counters, or has a layout that is not known here.
    pub(super) fn open(fd: OwnedFd) -> Result<InheritedCounters, CounterFileError> {
        let file = File::from(fd);
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)?;
        let layout = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        match (header.starts_with(MAGIC), layout) {
            (false, _) => Err(CounterFileError::NotCounters),
            (true, LAYOUT) => Ok(InheritedCounters(file)),
            (true, other) => Err(CounterFileError::UnknownLayout(other)),
        }
    }

    /// Reads what was written last; `None` before anything was.
    pub(super) fn read(&self) -> Option<BTreeMap<String, u64>> {
        let slots = [1, 2].map(|number| self.slot(number));
        let newest = slots.into_iter().flatten().max_by_key(|(number, _)| *number);
        newest.map(|(_, counters)| counters.values)
    }

    /// A slot with its number, if it is whole.
    fn slot(&self, place: u64) -> Option<(u64, Counters)> {
        let mut slot = vec![0; SLOT];
        self.0.read_exact_at(&mut slot, slot_at(place)).ok()?;
        let number = |at: usize| Some(u64::from_le_bytes(slot.get(at..at + 8)?.try_into().ok()?));
        let (own, sum) = (number(0)?, number(8)?);
        let length = usize::try_from(number(16)?).ok()?;
        let end = SLOT_HEADER.checked_add(length)?;
        let checked = slot.get(16..end)?;
        let is_whole = own > 0 && checksum(own, checked) == sum;
        is_whole.then(|| Counters::decode(&slot[SLOT_HEADER..end]).ok())?.map(|it| (own, it))
    }
}

/// Returns the offset of the slot with a number.
fn slot_at(number: u64) -> u64 {
    HEADER as u64 + number % 2 * SLOT as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
        all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    fn reader(file: &CounterFile) -> InheritedCounters {
        InheritedCounters::open(file.as_fd().try_clone_to_owned().unwrap()).unwrap()
    }

    #[test]
    fn what_was_written_last_is_read() {
        let mut file = CounterFile::create().unwrap();
        let reader = reader(&file);
        assert_eq!(reader.read(), None);
        for value in 1..=5 {
            file.write(counters(&[("a", value), ("b", 2 * value)])).unwrap();
            let expected = [("a".to_owned(), value), ("b".to_owned(), 2 * value)].into();
            assert_eq!(reader.read(), Some(expected));
        }
    }

    #[test]
    fn a_writer_that_is_killed_leaves_what_it_wrote_before() {
        let mut file = CounterFile::create().unwrap();
        file.write(counters(&[("a", 1)])).unwrap();
        file.write(counters(&[("a", 2)])).unwrap();
        let reader = reader(&file);
        let newest = slot_at(2);
        let mut slot = [0; 64];
        file.file.read_exact_at(&mut slot, newest).unwrap();
        for cut in 0..SLOT_HEADER + 5 {
            let mut torn = slot;
            torn[cut] ^= 1;
            file.file.write_all_at(&torn, newest).unwrap();
            assert_eq!(reader.read().unwrap()["a"], 1, "byte {cut}");
        }
    }

    #[test]
    fn another_layout_is_not_read() {
        let file = CounterFile::create().unwrap();
        let open = || InheritedCounters::open(file.as_fd().try_clone_to_owned().unwrap()).err();
        file.file.write_all_at(&9_u32.to_le_bytes(), 8).unwrap();
        assert_eq!(
            open().map(|it| it.to_string()).as_deref(),
            Some("they have the layout 9, known is 1")
        );
        file.file.write_all_at(b"x", 0).unwrap();
        assert_eq!(
            open().map(|it| it.to_string()).as_deref(),
            Some("they are in no file of counters")
        );
        file.file.set_len(3).unwrap();
        assert!(open().is_some());
    }
}
