//! The command line, as the user writes it.

use std::path::PathBuf;
use std::time::Duration;

use abide_transport::ClientTlsArgs;
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use jiff::SignedDuration;
use tonic::metadata::{Ascii, MetadataKey, MetadataValue};

use crate::target::Target;

/// Read the API of a running server, for `abide`, which never uses the network itself
#[derive(Debug, Parser)]
#[command(name = "abide-remote", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  abide-remote reflect localhost:50051 -o api.binpb   save the API of a server
  abide drift grpc://localhost:50051                  compare it with the tree: runs this program

Exit status: 0 if it worked, 2 if not.")]
pub(crate) struct Args {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read the API of a server by reflection, as a FileDescriptorSet
    Reflect(Box<ReflectArgs>),
    /// Print what makes a shell complete commands and options
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

/// Arguments of `abide-remote completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

const REFLECT: &str = "\
The set has the files of all services that the server names, and the files that these import, each
after its imports. Services of reflection itself are left out, and so is what no service uses:
reflection does not show it. Comments and options that stay in the source are not known to servers.

Examples:
  abide-remote reflect localhost:50051 -o api.binpb
  abide-remote reflect api.example.com:443 --tls -o api.binpb
  abide-remote reflect api.example.com:443 --tls --ca ca.pem --cert me.pem --key me.key -o api.binpb
  abide-remote reflect localhost:50051 --header 'authorization: Bearer TOKEN' -o api.binpb
  abide-remote reflect localhost:50051 | abide breaking --against -

Environment, where an option is not given. `abide` runs this program with the same environment, so
these also count for grpc:// and grpcs:// sources:
  ABIDE_REMOTE_CA, ABIDE_REMOTE_CERT, ABIDE_REMOTE_KEY   files, as --ca, --cert and --key
  ABIDE_REMOTE_SERVER_NAME                               as --server-name
  ABIDE_REMOTE_HEADERS                                   headers, one a line
  ABIDE_REMOTE_TIMEOUT, ABIDE_REMOTE_MAX_SIZE            as --timeout and --max-size

Exit status: 0 if the API was read, 2 if not; then nothing is written.";

/// Arguments of `abide-remote reflect`.
#[derive(Debug, clap::Args)]
#[command(after_help = REFLECT)]
pub(crate) struct ReflectArgs {
    /// The address of the server. `grpc://HOST:PORT` is the same, and `grpcs://HOST:PORT` means --tls
    #[arg(value_name = "HOST:PORT")]
    pub(crate) target: Target,
    /// Speak TLS. Without --ca, the authorities of the system count
    #[arg(long)]
    pub(crate) tls: bool,
    /// TLS to the server.
    #[command(flatten)]
    pub(crate) files: ClientTlsArgs,
    /// A header to send, as `NAME: VALUE` or `NAME=VALUE` (repeatable)
    #[arg(long, value_name = "HEADER", value_parser = parse_header)]
    pub(crate) header: Vec<Header>,
    /// The time that all of it may take [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// The most bytes that the set may have, such as 64MiB [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_size: Option<usize>,
    /// Write the set to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A header of a request.
pub(crate) type Header = (MetadataKey<Ascii>, MetadataValue<Ascii>);

/// A text that an option cannot take.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("write it as `NAME: VALUE`, such as `authorization: Bearer TOKEN`")]
    Header,
    #[error("write it like `90s`, `1m30s` or `200ms`")]
    Duration,
    #[error("write it as a number of bytes, such as 1000000, 512KiB, 64MiB or 1GiB")]
    Size,
}

/// Reads `NAME: VALUE` or `NAME=VALUE`.
pub(crate) fn parse_header(text: &str) -> Result<Header, ValueError> {
    let at = text.find([':', '=']).ok_or(ValueError::Header)?;
    let (name, value) = (text[..at].trim().to_ascii_lowercase(), text[at + 1..].trim());
    let name = MetadataKey::from_bytes(name.as_bytes()).map_err(|_| ValueError::Header)?;
    let value = value.parse().map_err(|_| ValueError::Header)?;
    Ok((name, value))
}

/// Reads a span of time; a number alone means seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, ValueError> {
    let span = match text.parse::<u32>() {
        Ok(seconds) => SignedDuration::from_secs(seconds.into()),
        Err(_) => text.parse().map_err(|_| ValueError::Duration)?,
    };
    let span = Duration::try_from(span).map_err(|_| ValueError::Duration)?;
    // Nothing is done in no time.
    if span.is_zero() { Err(ValueError::Duration) } else { Ok(span) }
}

/// Reads a number of bytes.
pub(crate) fn parse_size(text: &str) -> Result<usize, ValueError> {
    const UNITS: [(&str, usize); 10] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("K", 1 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("B", 1),
    ];
    let unit = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let (number, size) = unit.unwrap_or((text, 1));
    let number = number.trim_end().parse::<usize>().map_err(|_| ValueError::Size)?;
    let bytes = number.checked_mul(size).filter(|it| *it > 0);
    bytes.ok_or(ValueError::Size)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn headers_are_read_with_a_colon_or_an_equals_sign() {
        for text in ["Authorization: Bearer a:b=c", "authorization=Bearer a:b=c"] {
            let (name, value) = parse_header(text).expect("it is one");
            assert_eq!(
                (name.as_str(), value.to_str().ok()),
                ("authorization", Some("Bearer a:b=c"))
            );
        }
        for text in ["authorization", ": x", "a b: c", "a: b\nc"] {
            assert!(parse_header(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_have_units_or_are_seconds() {
        for (text, millis) in [("5", 5000), ("90s", 90_000), ("1m30s", 90_000), ("200ms", 200)] {
            assert_eq!(parse_duration(text).ok(), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "0", "0s", "-1s", "soon"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("1", 1), ("2KiB", 2048), ("3 MB", 3_000_000), ("64M", 64 << 20)] {
            assert_eq!(parse_size(text).ok(), Some(bytes), "{text}");
        }
        for text in ["", "0", "-1", "MiB", "1TB", "99999999999999999999", "1.5MiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
