//! Formats of output, and the parser of `--format`.

use std::fmt;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A form that the output of a command can take. A new one is one of these, in a list of
/// `render.rs`.
pub(crate) struct OutputFormat<W: 'static> {
    /// Its name in `--format`.
    pub(crate) name: &'static str,
    /// Its description in the help.
    pub(crate) help: &'static str,
    /// True if it is for people, with the colours and the width of their terminal.
    pub(crate) is_styled: bool,
    /// True if it is about what changed, compatible changes included.
    pub(crate) is_of_changes: bool,
    /// True if it names the packages that a change touches, and their owners.
    pub(crate) names_packages: bool,
    /// True if it can show waived and accepted findings.
    pub(crate) shows_waived: bool,
    /// True if it says where it comes from, and links to the files.
    pub(crate) links: bool,
    /// Writes it.
    pub(crate) write: W,
}

impl<W: Copy> OutputFormat<W> {
    /// A format for people.
    pub(super) const fn styled(name: &'static str, help: &'static str, write: W) -> Self {
        Self { is_styled: true, ..Self::plain(name, help, write) }
    }

    /// A format for programs, the same wherever it is written to.
    pub(super) const fn plain(name: &'static str, help: &'static str, write: W) -> Self {
        Self {
            name,
            help,
            is_styled: false,
            is_of_changes: false,
            names_packages: false,
            shows_waived: false,
            links: false,
            write,
        }
    }

    /// The same, as a format that is about what changed.
    pub(super) const fn of_changes(self) -> Self {
        Self { is_of_changes: true, ..self }
    }

    /// The same, as a format that can show waived and accepted findings.
    pub(super) const fn showing_waived(self) -> Self {
        Self { shows_waived: true, ..self }
    }

    /// The same, as a format that says where it comes from, and links to the files.
    pub(super) const fn linking(self) -> Self {
        Self { links: true, ..self }
    }

    /// The same, as a format that names the packages of a change.
    pub(super) const fn naming_packages(self) -> Self {
        Self { names_packages: true, ..self }
    }
}

impl<W> fmt::Debug for OutputFormat<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Reads the argument of `--format`.
pub(crate) fn parse_format<W: Sync>(
    formats: &'static [OutputFormat<W>],
) -> impl TypedValueParser<Value = &'static OutputFormat<W>> {
    let values = formats.iter().map(|it| PossibleValue::new(it.name).help(it.help));
    PossibleValuesParser::new(values).map(|name: String| {
        let found = formats.iter().find(|it| it.name == name);
        found.expect("the parser refuses all other names")
    })
}
