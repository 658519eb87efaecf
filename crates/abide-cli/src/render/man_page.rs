//! Manual pages, from the grammar and the help of the command line.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// The page of one command.
pub(crate) struct ManPage {
    /// The name of its file, as `man` looks for it.
    pub(crate) name: String,
    /// Its text, in the macros of man(7).
    pub(crate) text: Vec<u8>,
}

/// Beginnings of paragraphs in help texts that become sections of the page.
const SECTIONS: &[(&str, &str)] = &[
    ("Examples:", "EXAMPLES"),
    ("Exit status:", "EXIT STATUS"),
    ("SOURCE is one of:", "SOURCES"),
    ("Verdicts:", "VERDICTS"),
];

impl ManPage {
    /// The page of a built command.
    pub(crate) fn build(command: &Command) -> ManPage {
        // No day: the same text whenever it is made. An argument that is empty would be left out.
        let man = Man::new(command.clone()).date("\"\"").manual("Abide");
        let man = man.source(concat!("abide ", env!("CARGO_PKG_VERSION")));
        let mut text = Vec::new();
        write(&man, command, &mut text).expect("a vector takes every byte");
        ManPage { name: man.get_filename(), text }
    }
}

fn write(man: &Man, command: &Command, text: &mut Vec<u8>) -> std::io::Result<()> {
    man.render_title(text)?;
    man.render_name_section(text)?;
    man.render_synopsis_section(text)?;
    man.render_description_section(text)?;
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (about, sections) = split_help(&help);
    about.to_writer(text)?;
    man.render_options_section(text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(text)?;
    }
    sections.to_writer(text)
}

/// The end of a help text: what says more about the command, and what is a section of its own.
fn split_help(help: &str) -> (Roff, Roff) {
    let (mut about, mut sections) = (Roff::new(), Roff::new());
    let mut is_in_section = false;
    for paragraph in help.split("\n\n").filter(|it| !it.is_empty()) {
        let section = SECTIONS.iter().find(|(begin, _)| paragraph.starts_with(begin));
        is_in_section |= section.is_some();
        let roff = if is_in_section { &mut sections } else { &mut about };
        let rest = match section {
            Some((begin, heading)) => {
                roff.control("SH", [*heading]);
                paragraph.strip_prefix(begin).unwrap_or(paragraph)
            }
            None => {
                roff.control("PP", []);
                paragraph
            }
        };
        write_lines(roff, rest);
    }
    (about, sections)
}

/// Text is filled; lines that are indented stay as they are.
fn write_lines(roff: &mut Roff, text: &str) {
    let mut is_kept = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let kept = line.strip_prefix("  ");
        if kept.is_some() != is_kept {
            is_kept = kept.is_some();
            roff.control(if is_kept { "nf" } else { "fi" }, []);
        }
        match kept {
            Some(line) if line.starts_with("abide ") => roff.text([bold(line)]),
            Some(line) => roff.text([roman(line)]),
            None => roff.text([roman(line.trim_start())]),
        };
    }
    if is_kept {
        roff.control("fi", []);
    }
}
