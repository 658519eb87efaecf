//! What a job of a continuous integration hands on to others: a line `NAME=VALUE` for each.

use std::collections::BTreeSet;

use abide_lint::{Bump, Report};

use super::context::RenderContext;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let bump = report.required_bump.map_or("", Bump::name);
    let breaks = report.findings.iter().filter(|it| it.effects().breaks_backward()).count();
    let owners: BTreeSet<&str> = context.touched.iter().flat_map(|it| it.owners()).collect();
    // An owner is a word of `CODEOWNERS`, so it ends no line.
    let owners = owners.into_iter().collect::<Vec<_>>().join(" ");
    format!(
        "bump={bump}\nbreaks={breaks}\nerrors={}\nwarnings={}\nowners={owners}\n",
        report.errors, report.warnings
    )
    .into_bytes()
}
