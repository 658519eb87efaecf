//! Prints to the terminal of the user, and finds out what it can show.

use std::io::{IsTerminal, Write};

use abide_source::printable::escape_unprintable;

use crate::args::{Color, Global};
use crate::render::Style;

/// The width of a report if it does not go to a terminal.
const WIDTH: usize = 100;

/// Prints a line to standard error, with every character that a terminal would obey escaped. If
/// that fails, the exit status still says what happened.
pub(crate) fn eprint_line(line: &str) {
    eprint_block(&escape_unprintable(line));
}

/// Prints a text that is rendered already: lines, perhaps in colour.
pub(crate) fn eprint_block(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The lines of findings that fit on a terminal, more or less: with more, the first scroll away.
const SCREEN: usize = 80;

/// Returns the style of a report. On a terminal only as much is shown as fits, unless somebody said
/// how much to show.
pub(crate) fn report_style(global: &Global, is_styled: bool, limit: Option<usize>) -> Style {
    let style = style(global, is_styled);
    let max_lines = (style.is_terminal && limit.is_none()).then_some(SCREEN);
    Style { max_lines, ..style }
}

/// Returns the style of a format; one that is not for people looks the same everywhere.
pub(crate) fn style(global: &Global, is_styled: bool) -> Style {
    Style {
        color: is_styled && use_report_color(global),
        is_terminal: is_styled && is_report_on_terminal(global),
        width: if is_styled { find_width(global) } else { WIDTH },
        quiet: global.quiet,
        verbose: global.verbose,
        shows_exempted: false,
        max_lines: None,
    }
}

/// Returns the style of standard error.
pub(crate) fn error_style(global: &Global) -> Style {
    Style {
        color: use_error_color(global),
        is_terminal: std::io::stderr().is_terminal(),
        width: find_width(global),
        quiet: true,
        verbose: global.verbose,
        shows_exempted: false,
        max_lines: None,
    }
}

/// Returns true if the report is shown on a terminal.
fn is_report_on_terminal(global: &Global) -> bool {
    global.output.is_none() && std::io::stdout().is_terminal()
}

fn use_report_color(global: &Global) -> bool {
    use_color(global, is_report_on_terminal(global))
}

/// Returns true if the errors of the tool itself are coloured.
pub(crate) fn use_error_color(global: &Global) -> bool {
    use_color(global, std::io::stderr().is_terminal())
}

fn use_color(global: &Global, terminal: bool) -> bool {
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            terminal
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// The width of a report: that of the terminal, within readable limits.
fn find_width(global: &Global) -> usize {
    if !is_report_on_terminal(global) {
        return WIDTH;
    }
    terminal_size::terminal_size().map_or(WIDTH, |(columns, _)| columns.0.clamp(40, 160).into())
}
