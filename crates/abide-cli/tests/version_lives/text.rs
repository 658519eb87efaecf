//! What random edits have to know of a proto: the statements that take one line each.

/// A statement of one line in a message or an enum.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// The number of the line, from 0.
    pub(super) line: usize,
    /// The full name within the package.
    pub(super) name: String,
    /// True for an enum value.
    pub(super) is_value: bool,
    /// True if it has no options, and is no zero value: two of a package cannot be deprecated.
    pub(super) is_plain: bool,
}

/// The fields and enum values of a text that take one line each.
pub(super) fn list_statements(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut blocks: Vec<(String, String)> = Vec::new();
    for (line, written) in text.lines().enumerate() {
        let words = written.trim();
        if words.starts_with("//") {
            continue;
        }
        if words.ends_with('{') && !words.contains('}') {
            let mut parts = words.split([' ', '{']);
            let kind = parts.next().unwrap_or_default().to_owned();
            blocks.push((kind, parts.next().unwrap_or_default().to_owned()));
            continue;
        }
        if words.starts_with('}') {
            blocks.pop();
            continue;
        }
        let Some((kind, _)) = blocks.last() else { continue };
        let is_value = kind == "enum";
        let is_member = matches!(kind.as_str(), "message" | "oneof" | "enum");
        let holders: Vec<&str> =
            blocks.iter().filter(|it| it.0 != "oneof").map(|it| it.1.as_str()).collect();
        let is_known =
            blocks.iter().all(|it| matches!(it.0.as_str(), "message" | "oneof" | "enum"));
        if let Some(name) = read_name(words, is_value).filter(|_| is_member && is_known) {
            found.push(Statement {
                line,
                name: format!("{}.{name}", holders.join(".")),
                is_value,
                is_plain: !(words.contains('[') || is_value && words.contains(" = 0;")),
            });
        }
    }
    found
}

/// The name that a field or a value of one line declares.
fn read_name(words: &str, is_value: bool) -> Option<&str> {
    let head = words.strip_suffix(';').or_else(|| Some(words.split_once(';')?.0))?;
    let (declared, rest) = head.split_once(" = ")?;
    let number = rest.split(' ').next()?;
    let parts: Vec<&str> = declared.split_whitespace().collect();
    let is_shaped = match is_value {
        true => parts.len() == 1,
        false => (2..=3).contains(&parts.len()) && !matches!(parts[0], "option" | "reserved"),
    };
    let is_whole = !rest.contains('[') || rest.ends_with(']');
    let name = parts.last()?;
    let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    (is_shaped && is_whole && is_name && number.parse::<u32>().is_ok()).then_some(*name)
}

/// The lines that open a message, with its name.
pub(super) fn list_messages(text: &str) -> Vec<(usize, String)> {
    let heads = text.lines().enumerate();
    let found = heads.filter_map(|(line, written)| {
        let name = written.strip_prefix("message ")?.strip_suffix(" {")?;
        Some((line, name.to_owned()))
    });
    found.collect()
}

/// The package of a text.
pub(super) fn find_package(text: &str) -> Option<&str> {
    text.lines().find_map(|it| it.strip_prefix("package ")?.strip_suffix(';'))
}

/// A package name without its version, and the version.
pub(super) fn split_version(package: &str) -> Option<(&str, &str)> {
    let (api, version) = package.rsplit_once('.')?;
    let digit = version.strip_prefix('v')?.chars().next()?;
    digit.is_ascii_digit().then_some((api, version))
}

/// The major version of a stable package.
pub(super) fn find_stable_major(package: &str) -> Option<(&str, u32)> {
    let (api, version) = split_version(package)?;
    Some((api, version[1..].parse().ok()?))
}

/// A text in which a line is replaced.
pub(super) fn replace_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let lines = text.lines().enumerate();
    lines
        .map(|(at, line)| if at == number { change(line) + "\n" } else { format!("{line}\n") })
        .collect()
}

/// A text with this import.
pub(super) fn add_import(text: &str, path: &str) -> String {
    let import = format!("import \"{path}\";");
    if text.contains(&import) {
        return text.to_owned();
    }
    let at = text.lines().position(|it| it.starts_with("package ")).unwrap_or_default();
    replace_line(text, at, |line| format!("{line}\n\n{import}"))
}
