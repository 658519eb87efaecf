//! Markers in fixtures that say what is reported: `// ^^^^ error: part of the
//! message` below the line with the span, or `// <- error: …` where the span
//! begins where the comment does.

/// A marker, or a finding in the same shape.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// `None` for `<-`, and for a span that goes on after its first line.
    pub(crate) end: Option<u32>,
    pub(crate) severity: String,
    pub(crate) message: String,
}

impl Expected {
    fn describe(&self) -> String {
        let Expected { path, line, column, end, severity, message } = self;
        let end = end.map_or_else(|| "…".to_owned(), |end| end.to_string());
        format!("{path}:{line}:{column}-{end}: {severity}: {message}\n")
    }
}

/// The markers of a text whose comments begin with `comment`.
pub(crate) fn markers(path: &str, text: &str, comment: &str) -> Vec<Expected> {
    let mut markers = Vec::new();
    let mut last = 0;
    for (line, number) in text.lines().zip(1..) {
        let marker = line.trim_start().strip_prefix(comment).map(str::trim_start);
        let Some(marker) = marker.filter(|it| it.starts_with('^') || it.starts_with("<-")) else {
            last = number;
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let start = line.len() - marker.len();
        let rest = marker.trim_start_matches("<-").trim_start_matches('^');
        let (column, end) = match marker.starts_with('^') {
            true => (start, Some((line.len() - rest.len()) as u32 + 1)),
            false => (indent, None),
        };
        let (severity, message) = rest.split_once(':').expect("a marker is `severity: message`");
        markers.push(Expected {
            path: path.to_owned(),
            line: last,
            column: column as u32 + 1,
            end,
            severity: severity.trim().to_owned(),
            message: message.trim().to_owned(),
        });
    }
    markers
}

fn matches(marker: &Expected, finding: &Expected) -> bool {
    marker.path == finding.path
        && (marker.line, marker.column) == (finding.line, finding.column)
        && (marker.end.is_none() || finding.end.is_none() || marker.end == finding.end)
        && marker.severity == finding.severity
        && finding.message.contains(&marker.message)
}

/// What is marked and not reported, and the reverse; empty where they agree.
pub(crate) fn compare(expected: Vec<Expected>, mut found: Vec<Expected>) -> String {
    let mut complaints = String::new();
    for marker in expected {
        match found.iter().position(|finding| matches(&marker, finding)) {
            Some(at) => drop(found.remove(at)),
            None => complaints += &format!("  not reported: {}", marker.describe()),
        }
    }
    for finding in found {
        complaints += &format!("  not marked:   {}", finding.describe());
    }
    complaints
}
