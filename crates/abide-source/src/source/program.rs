//! Native programs that carry the descriptors of their protos.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use abide_schema::EmbeddedFiles;

use super::contents::DescriptorFormat;
use super::failure::{SourceError, io_reason};
use super::imports::place_imports;
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::roots::RootLayout;

pub(super) const KIND: SourceKind = SourceKind {
    help: "PROGRAM              a native program with descriptors compiled in, such as Envoy",
    brief: "a native program",
    is_spelled: |_| false,
    is_found: |asked, found| {
        found.as_ref().is_ok_and(|it| it.is_file()) && is_program(&asked.path).unwrap_or(false)
    },
    is_packed: true,
    open,
};

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let mut notes = Vec::new();
    let imports = place_imports(asked.options, |_| None, None, &mut layout, &mut notes);
    Ok(OpenedSource { source: Box::new(Program(asked.path.clone())), layout, imports, notes })
}

/// The first bytes of programs: ELF, PE, WebAssembly, and Mach-O in both byte orders and for
/// several processors at once.
const MAGIC: [&[u8]; 9] = [
    b"\x7fELF",
    b"MZ",
    b"\0asm",
    b"\xfe\xed\xfa\xce",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\xca\xfe\xba\xbf",
];

/// Returns true if a file begins as programs do.
pub(super) fn is_program(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut head)?;
    Ok(MAGIC.iter().any(|magic| head.starts_with(magic)))
}

struct Program(PathBuf);

impl OpenSource for Program {
    fn read(&self, _layout: &RootLayout, name: &str) -> Result<SourceData, SourceError> {
        let unusable = |error: io::Error| SourceError::unusable(name, io_reason(&error));
        let mut program = File::open(&self.0).map_err(unusable)?;
        let mut files = EmbeddedFiles::default();
        let mut piece = vec![0; 1 << 20];
        loop {
            match program.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => files.scan(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unusable(error)),
            }
        }
        match files.finish() {
            (0, _) => Err(SourceError::unusable(
                name,
                "no descriptors are compiled into this program: it may use the lite runtime of \
                 protobuf, or be packed. Name the protos that it was built from",
            )),
            (_, bytes) => Ok(SourceData::DescriptorSet { bytes, format: DescriptorFormat::Binary }),
        }
    }
}
