//! Descriptor sets in files and on standard input.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::contents::DescriptorFormat;
use super::failure::{SourceError, io_reason};
use super::imports::place_imports;
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::program::is_program;
use super::roots::RootLayout;
use super::unpack::{self, Compression, UnpackAllowance};

pub(super) const KIND: SourceKind = SourceKind {
    help: "\
FILE.binpb           a descriptor set: .binpb, .pb, .bin, .desc, .protoset, .json,
                     .yaml or .txtpb, also with .gz or .zst; `-` reads one from
                     standard input",
    brief: "a descriptor set (`.binpb`, `.bin`, `.desc`, `.json`, `.yaml`, `.txtpb`)",
    is_spelled: |spec| spec == "-",
    is_found: |asked, found| {
        found.as_ref().is_ok_and(|it| it.is_file())
            && format(asked.name).is_some()
            // Some programs are called `.bin`.
            && !is_program(&asked.path).unwrap_or(false)
    },
    is_packed: true,
    open,
};

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let mut notes = Vec::new();
    let imports = place_imports(asked.options, |_| None, None, &mut layout, &mut notes);
    let file = (asked.spec != Some("-")).then(|| asked.path.clone());
    Ok(OpenedSource { source: Box::new(DescriptorSet { file }), layout, imports, notes })
}

/// A descriptor set in a file, or on standard input.
struct DescriptorSet {
    file: Option<PathBuf>,
}

impl OpenSource for DescriptorSet {
    fn read(&self, _layout: &RootLayout, name: &str) -> Result<SourceData, SourceError> {
        let (bytes, format) = read(self.file.as_deref(), name)?;
        Ok(SourceData::DescriptorSet { bytes, format, notes: Vec::new() })
    }
}

/// Returns true if a file with this name is read as a descriptor set.
pub(super) fn has_set_name(name: &str) -> bool {
    format(name).is_some()
}

/// The format that a file name indicates.
fn format(name: &str) -> Option<DescriptorFormat> {
    let (_, name) = Compression::from_name(name);
    match name.rsplit_once('.')?.1 {
        "binpb" | "pb" | "bin" | "desc" | "protoset" => Some(DescriptorFormat::Binary),
        "json" => Some(DescriptorFormat::Json),
        "txtpb" => Some(DescriptorFormat::Text),
        "yaml" | "yml" => Some(DescriptorFormat::Yaml),
        _ => None,
    }
}

/// The format and compression for a file with this name; the wire format by default.
pub fn detect_requested_format(name: &str) -> (DescriptorFormat, Compression) {
    (format(name).unwrap_or(DescriptorFormat::Binary), Compression::from_name(name).0)
}

/// The format that the content indicates: only the wire format contains control characters.
fn detect_format(bytes: &[u8]) -> DescriptorFormat {
    let Ok(text) = std::str::from_utf8(bytes) else { return DescriptorFormat::Binary };
    if text.chars().any(|c| c.is_ascii_control() && !c.is_ascii_whitespace()) {
        return DescriptorFormat::Binary;
    }
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // Text format has no lists of this kind.
    let is_list = |line: &str| line.trim_start().starts_with("- ");
    let mut lines = text.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    if text.starts_with('{') {
        DescriptorFormat::Json
    } else if lines.any(|it| it.trim_end() == "file:") && lines.next().is_some_and(is_list) {
        DescriptorFormat::Yaml
    } else {
        DescriptorFormat::Text
    }
}

/// Reads a descriptor set from a file, or from standard input.
fn read(path: Option<&Path>, name: &str) -> Result<(Vec<u8>, DescriptorFormat), SourceError> {
    match path {
        Some(path) => unpack::open(path)
            .map_err(|error| SourceError::unusable(name, io_reason(&error)))
            .and_then(|(file, size)| {
                let bytes = unpack_all(name, file, size, Compression::from_name(name).0)?;
                let format = format(name).unwrap_or_else(|| detect_format(&bytes));
                Ok((bytes, format))
            }),
        None => read_stream("standard input", io::stdin().lock()),
    }
}

fn read_stream(name: &str, stream: impl Read) -> Result<(Vec<u8>, DescriptorFormat), SourceError> {
    let packed = unpack_all(name, stream, u64::MAX, Compression::None)?;
    let bytes = match Compression::from_content(&packed) {
        Compression::None => packed,
        compression => unpack_all(name, &packed[..], packed.len() as u64, compression)?,
    };
    let format = detect_format(&bytes);
    Ok((bytes, format))
}

fn unpack_all(
    name: &str,
    packed: impl Read,
    size: u64,
    compression: Compression,
) -> Result<Vec<u8>, SourceError> {
    let failed = |error: io::Error| SourceError::unusable(name, unpack::describe_error(&error));
    // An uncompressed file cannot grow: only the absolute limit applies.
    let size = if compression == Compression::None { u64::MAX } else { size };
    let mut bytes = Vec::new();
    let mut allowance = UnpackAllowance::new(size);
    allowance
        .read(compression.unpack(packed).map_err(failed)?)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.is_empty() {
        return Err(SourceError::unusable(
            name,
            "it is empty: did the command that writes the descriptor set fail?",
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn a_stream_shows_its_format_and_compression() {
        // Lengths that read as '{' and '"' do not make a wire-format set look like JSON.
        let binary = b"\n{\n\"acme/aaaaaaaaaaaaaaaaaaaaaaaa.proto\x12\x04acme".as_slice();
        for (bytes, format) in [
            (binary, DescriptorFormat::Binary),
            (b"\xef\xbb\xbf {\"file\":[]}", DescriptorFormat::Json),
            (b"# a set\nfile { name: \"a.proto\" }\n", DescriptorFormat::Text),
            (b"# an image\nfile:\n  - name: a.proto\n", DescriptorFormat::Yaml),
            (b"file:\n{ name: 'a.proto' }\n", DescriptorFormat::Text),
        ] {
            let plain = read_stream("x", bytes).unwrap();
            assert_eq!(plain, (bytes.to_vec(), format));
            assert_eq!(read_stream("x", &gzip(bytes)[..]).unwrap(), plain);
            let packed = zstd::stream::encode_all(bytes, 1).unwrap();
            assert_eq!(read_stream("x", &packed[..]).unwrap(), plain);
        }
    }

    #[test]
    fn empty_and_cut_streams_are_refused() {
        let cut = gzip(b"file { name: 'a.proto' }");
        let zst = zstd::stream::encode_all(&b"file { name: 'a.proto' }"[..], 1).unwrap();
        for (bytes, wanted) in [
            (&b""[..], "empty"),
            (&gzip(b"")[..], "empty"),
            (&cut[..cut.len() - 4], "ends too early"),
            (&zst[..zst.len() - 2], "ends too early"),
        ] {
            let error = read_stream("standard input", bytes).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("`standard input`") && error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn a_bomb_stops_at_the_ratio() {
        let bomb = gzip(&vec![b' '; (unpack::ANY_RATIO + 1) as usize]);
        let error = read_stream("standard input", &bomb[..]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("decompression bomb"), "{error}");
        let harmless = gzip(&vec![b' '; unpack::ANY_RATIO as usize]);
        assert!(read_stream("standard input", &harmless[..]).is_ok());
    }
}
