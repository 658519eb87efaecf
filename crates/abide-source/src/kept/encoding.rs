//! A report as bytes.
//!
//! Files are numbers in a list that the caller has. What a report says of anything but one tree and
//! the settings (an old tree, an instance, a declared rule) has no bytes: such a report is not kept.

use abide_lint::{
    Applied, Exception, ExceptionKind, Finding, FindingLabel, Fix, FixEdit, Location, Origin,
    Report, Rule, Severity, find_rule,
};
use abide_schema::FileId;
use abide_syntax::Span;

use crate::bytes::{ByteReader, ByteWriter};

const SEVERITIES: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Error];
const APPLIED: [Applied; 3] = [Applied::Always, Applied::IfCompatible, Applied::Never];
const EXCEPTIONS: [ExceptionKind; 3] =
    [ExceptionKind::Comment, ExceptionKind::Waiver, ExceptionKind::Accepted];

/// The bytes of a report; `None` if they would not give the same report again.
pub(super) fn encode(report: &Report) -> Option<Vec<u8>> {
    let mut out = ByteWriter::default();
    out.put_u32(report.files as u32);
    out.put_u32(report.packages as u32);
    out.put_u8(report.depends_on_everything.into());
    out.put_list(&report.not_judged, |out, it| out.put_str(it));
    out.put_list(&report.findings, put_finding);
    out.put_list(&report.exempted, put_finding);
    let mut bytes = ByteReader(&out.0);
    let again = decode(&mut bytes).filter(|it| bytes.0.is_empty() && is_same(it, report))?;
    drop(again);
    Some(out.0)
}

/// Returns true if two reports have no difference.
fn is_same(a: &Report, b: &Report) -> bool {
    let counts = |it: &Report| {
        let by_severity = (it.errors, it.warnings, it.notes, it.waived, it.accepted);
        (it.files, it.packages, by_severity, it.required_bump, it.waives_breaks)
    };
    counts(a) == counts(b)
        && a.depends_on_everything == b.depends_on_everything
        && a.not_judged == b.not_judged
        && a.own_rules.len() == b.own_rules.len()
        && a.findings == b.findings
        && a.exempted == b.exempted
}

/// Reads a report.
pub(super) fn decode(bytes: &mut ByteReader<'_>) -> Option<Report> {
    let mut report = Report {
        files: bytes.read_u32()? as usize,
        packages: bytes.read_u32()? as usize,
        depends_on_everything: bytes.read_bool()?,
        not_judged: bytes.read_list(ByteReader::read_string)?,
        findings: bytes.read_list(read_finding)?,
        exempted: bytes.read_list(read_finding)?,
        ..Report::default()
    };
    // Counts the findings.
    report.retain(|_| true);
    Some(report)
}

/// Every place of a finding.
pub(super) fn iter_locations(finding: &Finding) -> impl Iterator<Item = &Location> {
    let labels = finding.labels.iter().map(|it| &it.location);
    let edits = finding.fixes.iter().flat_map(|it| &it.edits).map(|it| &it.location);
    std::iter::once(&finding.location).chain(labels).chain(edits)
}

fn put_finding(out: &mut ByteWriter, finding: &Finding) {
    out.put_str(finding.rule);
    out.put_u8(finding.severity as u8);
    put_location(out, &finding.location);
    for text in [&finding.message, &finding.element, &finding.package] {
        out.put_str(text);
    }
    for text in [&finding.at, &finding.why, &finding.help, &finding.severity_reason] {
        out.put_option(text.as_deref(), ByteWriter::put_str);
    }
    out.put_list(&finding.labels, |out, label| {
        put_location(out, &label.location);
        out.put_str(&label.message);
    });
    out.put_list(&finding.fixes, put_fix);
    out.put_list(&finding.facts, |out, it| out.put_str(it));
    out.put_list(&finding.aliases, |out, it| out.put_str(it));
    out.put_option(finding.exception.as_deref(), |out, it| {
        out.put_u8(it.kind as u8);
        out.put_str(&it.reason);
    });
}

fn read_finding(bytes: &mut ByteReader<'_>) -> Option<Finding> {
    let rule = find_rule(bytes.read_str()?)?;
    let severity = *SEVERITIES.get(usize::from(bytes.read_u8()?))?;
    let location = read_location(bytes)?;
    let [message, element, package] =
        [bytes.read_string()?, bytes.read_string()?, bytes.read_string()?];
    let mut read_text = || bytes.read_option(ByteReader::read_string);
    let [at, why, help, severity_reason] = [read_text()?, read_text()?, read_text()?, read_text()?];
    Some(Finding {
        rule: rule.id,
        severity,
        message,
        location,
        at,
        element,
        package,
        labels: bytes.read_list(|bytes| {
            Some(FindingLabel { location: read_location(bytes)?, message: bytes.read_string()? })
        })?,
        why,
        help,
        fixes: bytes.read_list(read_fix)?,
        facts: bytes.read_list(ByteReader::read_string)?,
        severity_reason,
        aliases: bytes.read_list(|bytes| find_alias(rule, bytes.read_str()?))?,
        releases: Vec::new(),
        baselines: Vec::new(),
        users: Vec::new(),
        behind: None,
        change: None,
        exception: bytes.read_option(read_exception)?.map(Box::new),
    })
}

/// The name of a rule in another tool, as the rule has it.
fn find_alias(rule: &Rule, name: &str) -> Option<&'static str> {
    rule.all_aliases().find(|it| *it == name)
}

fn put_fix(out: &mut ByteWriter, fix: &Fix) {
    out.put_str(&fix.title);
    out.put_u8(fix.applied as u8);
    out.put_list(&fix.edits, |out, edit| {
        put_location(out, &edit.location);
        out.put_str(&edit.text);
    });
}

fn read_fix(bytes: &mut ByteReader<'_>) -> Option<Fix> {
    Some(Fix {
        title: bytes.read_string()?,
        applied: *APPLIED.get(usize::from(bytes.read_u8()?))?,
        edits: bytes.read_list(|bytes| {
            Some(FixEdit { location: read_location(bytes)?, text: bytes.read_string()? })
        })?,
    })
}

fn read_exception(bytes: &mut ByteReader<'_>) -> Option<Exception> {
    let kind = *EXCEPTIONS.get(usize::from(bytes.read_u8()?))?;
    Some(Exception { kind, reason: bytes.read_string()? })
}

fn put_location(out: &mut ByteWriter, location: &Location) {
    let (kind, number) = match location.origin {
        Origin::Tree(FileId(file)) => (0, file),
        Origin::Config => (1, 0),
        Origin::Accepted => (2, 0),
        Origin::Features(list) => (3, list),
        // Nothing is read of this.
        Origin::Old(_) | Origin::Instance(_) => (u8::MAX, 0),
    };
    out.put_u8(kind);
    for number in [number, location.span.start, location.span.end] {
        out.put_u32(number);
    }
}

fn read_location(bytes: &mut ByteReader<'_>) -> Option<Location> {
    let (kind, number) = (bytes.read_u8()?, bytes.read_u32()?);
    let origin = match kind {
        0 => Origin::Tree(FileId(number)),
        1 => Origin::Config,
        2 => Origin::Accepted,
        3 => Origin::Features(number),
        _ => return None,
    };
    let (start, end) = (bytes.read_u32()?, bytes.read_u32()?);
    (start <= end).then(|| Location { origin, span: Span::new(start, end) })
}
