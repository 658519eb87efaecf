//! The comment that waives a finding, written where it covers the finding.

use abide_schema::File;
use jiff::civil::Date;

use super::allowance::{format_waiver, is_waivable};
use crate::finding::{Finding, Fix, with_comment_above};

/// Writes the waiver of a finding as a comment above the statement that it is in. `None` for what no
/// waiver covers, and for a file without a text.
pub fn waive_in_comment(
    file: File<'_>,
    finding: &Finding,
    until: Option<Date>,
    reason: &str,
) -> Option<Fix> {
    if !is_waivable(finding) {
        return None;
    }
    let words = format!("{}{reason}", format_waiver(finding, until));
    let title = format!("waive {} here, with a reason", finding.rule);
    with_comment_above(file, finding.location.place()?.span.start, &words, title)
}
