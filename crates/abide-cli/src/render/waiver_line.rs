//! The waiver of a finding, ready to be written into a file.

use abide_lint::{Finding, Origin, format_waiver, is_waivable};

use super::context::{RenderContext, SourceText};

/// The reason that the author of a waiver replaces.
const REASON: &str = "TODO: say why";

/// The waiver of a finding: a comment for the line above what the finding points at, or an entry of
/// `abide.toml` where the text has no comments. `None` for what no waiver covers.
pub(super) fn format_waiver_line(finding: &Finding, context: &RenderContext) -> Option<String> {
    if finding.exception.is_some() || !is_waivable(finding) {
        return None;
    }
    let waiver = format_waiver(finding, None);
    match (finding.location.origin, context.find_text(finding.location.origin)?) {
        (Origin::Tree(_), SourceText::Proto(file)) if file.decl().source_text().is_some() => {
            Some(format!("// {waiver}{REASON}"))
        }
        (Origin::Instance(_), text) if has_hash_comments(text.name()) => {
            Some(format!("# {waiver}{REASON}"))
        }
        _ => Some(format_table(finding)),
    }
}

/// Returns true if the notation of an instance has comments that begin with `#`.
fn has_hash_comments(name: &str) -> bool {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    [".yaml", ".yml", ".txtpb", ".textproto", ".pbtxt", ".prototxt"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// The entry of `abide.toml` for this finding alone.
fn format_table(finding: &Finding) -> String {
    format!(
        "in abide.toml:\n[[waiver]]\nrule = \"{}\"\nfingerprint = \"{}\"\nreason = \"{REASON}\"",
        finding.rule,
        finding.fingerprint()
    )
}
