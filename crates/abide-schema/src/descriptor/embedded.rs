//! Finds the FileDescriptorProtos that generated code left in a native program.
//!
//! Generated code of C++, Go and other languages holds each file descriptor as one constant: its
//! canonical serialisation, without a length. A descriptor begins with the name of its file and
//! ends where its fields end.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_syntax::Span;

use crate::decl::FileDecl;
use crate::protobuf::descriptor_number::{file, file_set};
use crate::protobuf::{Edition, WirePayload, WireReader, WireRecord, WireWriter};

/// The end of every file name, by which descriptors are found.
const SUFFIX: &[u8] = b".proto";
/// The longest name of a file.
const MAX_NAME: usize = 1024;
/// The largest descriptor that is found: ten times the largest of public trees.
const MAX_DESCRIPTOR: usize = 4 << 20;

/// The file descriptors in a program, which is given piece by piece. Holds at most two
/// descriptors of the largest size and what was found.
#[derive(Debug, Default)]
pub struct EmbeddedFiles {
    /// The end of what was given, with room behind each place that is searched.
    window: Vec<u8>,
    /// The end of the last part of the window that was read as a descriptor. What is inside of
    /// one is none.
    read_to: usize,
    /// By name, the longest descriptor of each file.
    found: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl EmbeddedFiles {
    /// Searches the next bytes of the program.
    pub fn scan(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = (2 * MAX_DESCRIPTOR - self.window.len()).min(bytes.len());
            let (next, rest) = bytes.split_at(room);
            self.window.extend_from_slice(next);
            bytes = rest;
            if self.window.len() == 2 * MAX_DESCRIPTOR {
                self.search(MAX_DESCRIPTOR);
                self.window.drain(..MAX_DESCRIPTOR);
                self.read_to = self.read_to.saturating_sub(MAX_DESCRIPTOR);
            }
        }
    }

    /// Returns the number of files found, and a serialised FileDescriptorSet of them, by name.
    pub fn finish(mut self) -> (usize, Vec<u8>) {
        self.search(self.window.len());
        let mut set = WireWriter::default();
        self.found.values().for_each(|it| set.write_bytes(file_set::FILE, it));
        (self.found.len(), set.into_bytes())
    }

    /// Finds the descriptors that begin before `end` in the window.
    fn search(&mut self, end: usize) {
        let searched = &self.window[..self.window.len().min(end + MAX_NAME)];
        for at in memchr::memmem::find_iter(searched, SUFFIX) {
            let Some((start, name)) = find_name_ending_at(searched, at + SUFFIX.len()) else {
                continue;
            };
            if start >= end || start < self.read_to {
                continue;
            }
            let descriptor_end = find_descriptor_end(&self.window, start);
            let descriptor = &self.window[start..descriptor_end];
            let known = self.found.get(name).map_or(0, Vec::len);
            if descriptor.len() <= known || is_name_only(descriptor) {
                continue;
            }
            self.read_to = descriptor_end;
            if is_readable(descriptor) {
                self.found.insert(name.to_vec(), descriptor.to_vec());
            }
        }
    }
}

/// Finds the start of a descriptor whose name ends at `end`, and the name.
fn find_name_ending_at(bytes: &[u8], end: usize) -> Option<(usize, &[u8])> {
    const TAG: u8 = (file::NAME << 3 | 2) as u8;
    let from = end.saturating_sub(MAX_NAME + 3);
    // The tag is the last one before the name, unless that is the length.
    let last = from + memchr::memrchr(TAG, &bytes[from..end])?;
    let before = last.checked_sub(1).filter(|it| bytes[*it] == TAG);
    [Some(last), before].into_iter().flatten().find_map(|start| {
        let whole = Span::new(start as u32, bytes.len() as u32);
        let record = WireReader::new(bytes, whole).next_record().ok()??;
        let WirePayload::Bytes(name) = record.payload else { return None };
        let is_name = name.end as usize == end;
        let name = name.of(bytes);
        (is_name && !name.iter().any(u8::is_ascii_control)).then_some((start, name))
    })
}

/// Finds the end of the fields that make up the descriptor at `start`. They come by number.
fn find_descriptor_end(bytes: &[u8], start: usize) -> usize {
    let window = &bytes[..bytes.len().min(start + MAX_DESCRIPTOR)];
    let mut reader = WireReader::new(window, Span::new(start as u32, window.len() as u32));
    let mut end = start;
    let mut before = 0;
    while let Ok(Some(record)) = reader.next_record() {
        let is_next = match record.number {
            file::NAME | file::PACKAGE | file::OPTIONS | file::SYNTAX | file::EDITION => {
                record.number > before
            }
            _ => record.number >= before,
        };
        if !is_next || !is_field(window, record) {
            break;
        }
        before = record.number;
        end = record.span.end as usize;
    }
    end
}

/// Returns true if this can be a field of a FileDescriptorProto.
fn is_field(bytes: &[u8], record: WireRecord) -> bool {
    let payload = match record.payload {
        WirePayload::Bytes(span) => span.of(bytes),
        WirePayload::Varint(value) => {
            return match record.number {
                file::PUBLIC_DEPENDENCY | file::WEAK_DEPENDENCY => value <= u16::MAX.into(),
                file::EDITION => {
                    i32::try_from(value).is_ok_and(|it| Edition::from_number(it).is_some())
                }
                _ => false,
            };
        }
        WirePayload::Fixed64(_) | WirePayload::Fixed32(_) | WirePayload::Group(_) => return false,
    };
    match record.number {
        file::NAME | file::PACKAGE | file::DEPENDENCY | file::OPTION_DEPENDENCY => {
            !payload.iter().any(u8::is_ascii_control) && std::str::from_utf8(payload).is_ok()
        }
        file::MESSAGE | file::ENUM | file::SERVICE | file::EXTENSION => is_declaration(payload),
        file::OPTIONS | file::SOURCE_INFO => is_message(payload),
        file::SYNTAX => matches!(payload, b"proto2" | b"proto3" | b"editions"),
        _ => false,
    }
}

/// Returns true if these are the fields of a declaration: its name comes first.
fn is_declaration(bytes: &[u8]) -> bool {
    let whole = Span::new(0, bytes.len() as u32);
    let first = WireReader::new(bytes, whole).next_record();
    let name = match first {
        Ok(Some(WireRecord { number: 1, payload: WirePayload::Bytes(name), .. })) => name.of(bytes),
        _ => return false,
    };
    let is_word = name.iter().all(|it| it.is_ascii_alphanumeric() || *it == b'_');
    is_word && !name.is_empty() && is_message(bytes)
}

fn is_message(bytes: &[u8]) -> bool {
    let mut reader = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
    loop {
        match reader.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Returns true if these bytes can be read to their end.
fn is_readable(descriptor: &[u8]) -> bool {
    let mut set = WireWriter::default();
    set.write_bytes(file_set::FILE, descriptor);
    FileDecl::from_descriptor_set(&Arc::from(set.into_bytes())).is_ok()
}

/// A name alone is a text that looks like one.
fn is_name_only(descriptor: &[u8]) -> bool {
    let mut reader = WireReader::new(descriptor, Span::new(0, descriptor.len() as u32));
    let _name = reader.next_record();
    !matches!(reader.next_record(), Ok(Some(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> WireWriter {
        let mut fields = WireWriter::default();
        fields.write_bytes(file::NAME, name);
        fields.write_bytes(file::PACKAGE, "acme");
        fields.write_message(file::MESSAGE, |it| it.write_bytes(1, "User"));
        fields
    }

    fn proto3(name: &str) -> Vec<u8> {
        let mut fields = message(name);
        fields.write_bytes(file::SYNTAX, "proto3");
        fields.into_bytes()
    }

    #[track_caller]
    fn check(program: &[u8], piece: usize, expected: &[&[u8]]) {
        let mut files = EmbeddedFiles::default();
        program.chunks(piece).for_each(|it| files.scan(it));
        let mut set = WireWriter::default();
        expected.iter().for_each(|it| set.write_bytes(file_set::FILE, it));
        assert_eq!(files.finish(), (expected.len(), set.into_bytes()));
    }

    #[test]
    fn descriptors_end_where_their_fields_end() {
        let (a, b, old) = (proto3("a.proto"), proto3("b/b.proto"), message("old.proto"));
        let old = old.into_bytes();
        check(&[], 1, &[]);
        check(&a, 1, &[&a]);
        // Side by side, and with what no field of a descriptor begins with.
        check(&[b"\x7fELF\0".as_slice(), &a, &b, b"\0\0"].concat(), 7, &[&a, &b]);
        check(&[&old, b"\x32Text of the program".as_slice()].concat(), 7, &[&old]);
        check(&[&old, b"proto3\0b.proto".as_slice(), &a].concat(), 7, &[&a, &old]);
        // The length of this name is the tag of names.
        let ten = proto3("four.proto");
        check(&[b"\0".as_slice(), &ten, &a].concat(), 7, &[&a, &ten]);
        // A long name has a length of two bytes.
        let long = proto3(&format!("{}.proto", "deep/".repeat(60)));
        check(&[b"\n".as_slice(), &long, b"\n"].concat(), 7, &[&long]);
    }

    #[test]
    fn of_two_descriptors_the_longest_counts() {
        let (short, long) = (message("a.proto").into_bytes(), proto3("a.proto"));
        check(&[&*long, b"\0", &short].concat(), 7, &[&long]);
        check(&[&*short, b"\0", &long].concat(), 7, &[&long]);
    }

    #[test]
    fn texts_are_no_descriptors() {
        for text in [
            &b"\n\x07a.proto"[..],
            b"\n\x07a.proto\x12\x04ac",
            b"a.proto",
            b"\n\x08a.proto",
            b".proto",
        ] {
            check(text, 7, &[]);
        }
        let mut broken = message("a.proto");
        broken.write_message(file::MESSAGE, |it| it.write_bytes(1, "No word"));
        check(&broken.into_bytes(), 7, &[&message("a.proto").into_bytes()]);
    }

    #[test]
    fn programs_full_of_names_take_no_longer() {
        check(&b".proto".repeat(1 << 20), 1 << 20, &[]);
        // Each holds all that follow, and none ends.
        let nested = b"\n\x07a.proto\x4a\xff\xff\xff\x01".repeat(1 << 17);
        check(&nested, 1 << 20, &[]);
    }

    #[test]
    fn descriptors_between_two_windows_are_found() {
        let a = proto3("a.proto");
        for before in [MAX_DESCRIPTOR - 4, 2 * MAX_DESCRIPTOR - 9, 3 * MAX_DESCRIPTOR - 1] {
            let program = [&vec![b'x'; before][..], &a, &[b'y'; 100]].concat();
            check(&program, 1 << 20, &[&a]);
        }
    }
}
