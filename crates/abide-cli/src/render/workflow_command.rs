//! Workflow commands of GitHub Actions: `::notice title=…::…`.

/// The annotation that names the packages of a change.
pub(super) fn render_touched_packages(sentence: &str) -> String {
    format!("::notice title=touched packages::{}\n", escape_data(sentence))
}

/// Escapes the message of a workflow command.
pub(super) fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
pub(super) fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
