//! Merge conflicts in what files record of their versions: both sides count, as they do in
//! `abide.lock`.

use semver::Version;

/// The fields of `file_policy` that `abide bump` writes.
const RECORD: [&str; 4] = ["version", "hash", "introduced", "frozen"];

/// The text of a file whose merge conflicts are all in what it records: of both versions the higher
/// one, the earlier day, and no hash, which is that of neither side. `None` if there is no
/// conflict, or one in anything else.
pub fn without_record_conflicts(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut out = String::with_capacity(text.len());
    let mut sides: Vec<Vec<&str>> = Vec::new();
    let mut conflicts = 0;
    for line in text.split_inclusive('\n') {
        match (marker(line), sides.len()) {
            (Some(b'<'), 0) => sides.push(Vec::new()),
            (Some(b'|'), 1) | (Some(b'='), 1 | 2) => sides.push(Vec::new()),
            (Some(b'>'), 2 | 3) => {
                let (ours, theirs) = (&sides[0], &sides[sides.len() - 1]);
                out.push_str(&merged(ours, theirs)?);
                sides.clear();
                conflicts += 1;
            }
            (Some(_), _) => return None,
            (None, 0) => out.push_str(line),
            (None, _) => sides.last_mut()?.push(line),
        }
    }
    (sides.is_empty() && conflicts > 0).then(|| out.into_bytes())
}

/// The character of a conflict marker of git.
fn marker(line: &str) -> Option<u8> {
    let first = line.bytes().next().filter(|it| b"<|=>".contains(it))?;
    let rest = line.trim_start_matches(first as char);
    let is_marker =
        line.len() - rest.len() == 7 && (rest.trim().is_empty() || rest.starts_with(' '));
    is_marker.then_some(first)
}

/// The lines of a conflict, both sides joined; `None` if one of them is about anything else.
fn merged(ours: &[&str], theirs: &[&str]) -> Option<String> {
    let mut facts: Vec<(&str, &str, &str)> = Vec::new();
    for line in ours.iter().chain(theirs).filter(|it| !it.trim().is_empty()) {
        let (field, value) = fact(line)?;
        match facts.iter_mut().find(|it| it.0 == field) {
            None => facts.push((field, value, line)),
            Some(known) if is_better(field, value, known.1) => *known = (field, value, line),
            Some(_) => {}
        }
    }
    Some(facts.iter().filter(|it| it.0 != "hash").map(|it| it.2).collect())
}

/// Returns true if a value counts more than another one.
fn is_better(field: &str, value: &str, than: &str) -> bool {
    match field {
        "version" => Version::parse(value).ok() > Version::parse(than).ok(),
        _ => value < than,
    }
}

/// The field that a line sets, and its value: `version: "1.2.0"`, or a whole statement.
fn fact(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, rest) = match line.strip_prefix("option") {
        Some(statement) => statement.split_once('=')?,
        None => line.split_once(':')?,
    };
    let name = name.trim();
    let name = match name.rsplit_once(").") {
        Some((annotation, field)) if annotation.ends_with("file_policy") => field,
        Some(_) => return None,
        None => name,
    };
    let value = rest.trim().trim_end_matches([',', ';']).trim();
    let value = value.strip_prefix('"')?.strip_suffix('"').filter(|it| !it.contains('"'))?;
    RECORD.into_iter().find(|it| *it == name).map(|field| (field, value))
}

#[cfg(test)]
mod tests {
    use super::without_record_conflicts;

    fn resolved(text: &str) -> Option<String> {
        without_record_conflicts(text.as_bytes()).map(|it| String::from_utf8(it).expect("text"))
    }

    #[test]
    fn both_sides_of_what_is_recorded_count() {
        let text = "a\n<<<<<<< HEAD\n  version: \"1.2.0\"\n  hash: \"x\"\n=======\n  version: \
                    \"1.10.0\"\n  hash: \"y\"\n>>>>>>> b\nz\n";
        assert_eq!(resolved(text).as_deref(), Some("a\n  version: \"1.10.0\"\nz\n"));
        let base = "<<<<<<< a\n  hash: \"x\"\n||||||| base\n  hash: \"o\"\n=======\n  hash: \
                    \"y\"\n>>>>>>> b\n";
        assert_eq!(resolved(base).as_deref(), Some(""));
        let statement = "<<<<<<< a\noption (abide.annotations.v1.file_policy).hash = \
                         \"x\";\n=======\noption (abide.annotations.v1.file_policy).hash = \
                         \"y\";\n>>>>>>> b\n";
        assert_eq!(resolved(statement).as_deref(), Some(""));
    }

    #[test]
    fn other_conflicts_are_left_to_people() {
        let other = "<<<<<<< a\n  hash: \"x\"\n=======\n  string id = 1;\n>>>>>>> b\n";
        assert_eq!(resolved(other), None);
        assert_eq!(resolved("no conflict\n"), None);
        assert_eq!(resolved("<<<<<<< a\n  hash: \"x\"\n=======\n"), None);
        assert_eq!(resolved("=======\n"), None);
    }
}
