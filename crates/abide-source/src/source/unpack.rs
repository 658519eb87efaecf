//! Compression, and decompression that stops before it fills the memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::write::GzEncoder;

use super::failure::{io_reason, quote_error};

/// The largest size that a source may unpack to: a hundred times the largest public proto trees,
/// and still within the memory of a build machine.
pub(super) const MAX_UNPACKED: u64 = 4 << 30;

/// The highest plausible ratio of unpacked to packed size: proto trees reach 30.
pub(super) const MAX_RATIO: u64 = 200;

/// The size up to which any ratio is accepted, because it does no harm.
pub(super) const ANY_RATIO: u64 = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression that a file name indicates, and the name without that suffix.
    pub(super) fn from_name(name: &str) -> (Self, &str) {
        if let Some(name) = name.strip_suffix(".gz") {
            (Self::Gzip, name)
        } else if let Some(name) = name.strip_suffix(".zst") {
            (Self::Zstd, name)
        } else {
            (Self::None, name)
        }
    }

    /// The compression that the first bytes indicate (RFC 1952, section 2.3.1; RFC 8878, section
    /// 3.1.1).
    pub(super) fn from_content(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Packs what `fill` writes for [`Compression::unpack`], without a file name or a time in the
    /// result.
    pub fn pack(
        self,
        out: &mut (dyn Write + Send),
        fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::None => fill(out),
            Self::Gzip => {
                // Its bytes depend on how many it is given at a time, so it gets all of them.
                let mut bytes = Vec::new();
                fill(&mut bytes)?;
                let mut packed = GzEncoder::new(out, flate2::Compression::default());
                packed.write_all(&bytes)?;
                packed.finish().map(|_| ())
            }
            Self::Zstd => {
                let level = zstd::DEFAULT_COMPRESSION_LEVEL;
                let mut packed = zstd::stream::write::Encoder::new(out, level)?;
                fill(&mut packed)?;
                packed.finish().map(|_| ())
            }
        }
    }

    pub(super) fn unpack<'r>(self, packed: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Self::None => Box::new(packed),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(packed)?),
        })
    }
}

/// The number of bytes that a source may still unpack to.
pub(super) struct UnpackAllowance {
    left: u64,
    limit: u64,
}

impl UnpackAllowance {
    pub(super) fn new(packed: u64) -> Self {
        let limit = packed.saturating_mul(MAX_RATIO).clamp(ANY_RATIO, MAX_UNPACKED);
        Self { left: limit, limit }
    }

    /// A reader that fails once it has returned more than the allowance.
    pub(super) fn read<R: Read>(&mut self, inner: R) -> BoundedReader<'_, R> {
        BoundedReader { inner, allowance: self }
    }
}

pub(super) struct BoundedReader<'a, R> {
    inner: R,
    allowance: &'a mut UnpackAllowance,
}

impl<R: Read> Read for BoundedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.allowance.left.checked_sub(read as u64) {
            Some(left) => self.allowance.left = left,
            None => {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!(
                        "it unpacks to more than {} MiB and looks like a decompression bomb (the \
                         limit is {} GiB, and {MAX_RATIO} times the packed size)",
                        self.allowance.limit >> 20,
                        MAX_UNPACKED >> 30,
                    ),
                ));
            }
        }
        Ok(read)
    }
}

/// Opens a file for sequential reading, with its size.
pub(super) fn open(path: &Path) -> io::Result<(BufReader<File>, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((BufReader::with_capacity(1 << 16, file), size))
}

/// One phrase for what went wrong while unpacking.
pub(super) fn describe_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early: write or download it again".to_owned(),
        io::ErrorKind::FileTooLarge => error.to_string(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
            let why = quote_error(error);
            format!("it is damaged, or not of the kind that its name says ({why})")
        }
        _ => io_reason(error),
    }
}
