//! Native programs that carry the descriptors of their protos.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use abide_schema::EmbeddedFiles;

use super::contents::DescriptorFormat;
use super::failure::{SourceError, io_reason};
use super::imports::place_imports;
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::launcher::{find_started_program, is_script};
use super::roots::RootLayout;

pub(super) const KIND: SourceKind = SourceKind {
    help: "PROGRAM              a native program with descriptors compiled in, such as Envoy, or a\n                     script that starts it",
    brief: "a native program",
    is_spelled: |_| false,
    is_found: |asked, found| {
        let is_native = || is_program(&asked.path).unwrap_or(false);
        found.as_ref().is_ok_and(|it| it.is_file()) && (is_native() || is_script(&asked.path))
    },
    is_packed: true,
    open,
};

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let mut notes = Vec::new();
    let imports = place_imports(asked.options, |_| None, None, &mut layout, &mut notes);
    let mut path = asked.path.clone();
    if is_script(&path) {
        path = find_started_program(&path).ok_or_else(|| {
            SourceError::unusable(
                asked.name,
                "it is a script, and no native program was found that it starts. Name the \
                 program itself",
            )
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        notes.push(format!("`{}` is a script that starts `{name}`, whose API is used", asked.name));
    }
    Ok(OpenedSource { source: Box::new(Program(path)), layout, imports, notes })
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

impl Program {
    /// Reads the program piece by piece.
    fn scan(&self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut program = File::open(&self.0)?;
        let mut piece = vec![0; 1 << 20];
        loop {
            match program.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) => take(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl OpenSource for Program {
    fn read(&self, _layout: &RootLayout, name: &str) -> Result<SourceData, SourceError> {
        let mut files = EmbeddedFiles::default();
        self.scan(|piece| files.scan(piece))
            .map_err(|error| SourceError::unusable(name, io_reason(&error)))?;
        match files.finish() {
            (0, _) => Err(SourceError::unusable(
                name,
                "no descriptors are compiled into this program: it may use the lite runtime of \
                 protobuf, or be packed. Name the protos that it was built from",
            )),
            (_, bytes) => {
                let format = DescriptorFormat::Binary;
                Ok(SourceData::DescriptorSet { bytes, format, notes: Vec::new() })
            }
        }
    }

    fn find_guards(&self) -> Option<BTreeSet<String>> {
        let mut guards = BTreeSet::new();
        let mut rest: Vec<u8> = Vec::new();
        let scanned = self.scan(|piece| {
            rest.extend_from_slice(piece);
            collect_guards(&rest, &mut guards);
            // A name may go on in the next piece.
            let kept = rest.len().saturating_sub(MAX_GUARD);
            rest.drain(..kept);
        });
        scanned.ok().map(|()| guards).filter(|it| !it.is_empty())
    }
}

/// What the names of Envoy's runtime guards begin with.
const GUARD_PREFIXES: [&[u8]; 2] = [b"envoy.reloadable_features.", b"envoy.restart_features."];

/// No name of a guard is longer.
const MAX_GUARD: usize = 256;

/// Collects the names of guards that stand in some bytes, each with a byte behind it that ends it.
fn collect_guards(bytes: &[u8], guards: &mut BTreeSet<String>) {
    for prefix in GUARD_PREFIXES {
        for start in memchr::memmem::find_iter(bytes, prefix) {
            let name = &bytes[start..];
            let is_inside = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.');
            let Some(end) = name.iter().position(|it| !is_inside(it)) else { continue };
            if end > prefix.len() && end < MAX_GUARD {
                guards.insert(String::from_utf8_lossy(&name[..end]).into_owned());
            }
        }
    }
}
