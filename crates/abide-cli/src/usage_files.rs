//! Reads the files that say who uses which element: `[usage] files`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use abide_lint::{ElementUse, Usage, find_nearest};
use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::matching_files::list_matching;
use crate::settings::Settings;

/// The most bytes of one line: names are short.
const MAX_LINE: u64 = 64 << 10;

/// The most uses that all files list together.
const MAX_USES: usize = 4_000_000;

/// The keys of a line.
const KEYS: [&str; 5] = ["element", "client", "release", "last", "count"];

/// Reads the files of uses that the configuration names; `None` if it names none.
pub(crate) fn read_usage(settings: &Settings) -> Result<Option<Usage>, Error> {
    let patterns = &settings.config.usage_files;
    if patterns.is_empty() {
        return Ok(None);
    }
    let folder = &settings.folder;
    let links = settings.links(folder);
    let mut names = Vec::new();
    for pattern in patterns {
        // A file that is named may be one that git ignores.
        if folder.join(pattern).is_file() {
            settings.check_inside("[usage] files", pattern)?;
            names.push(pattern.clone());
            continue;
        }
        let found = list_matching(folder, std::slice::from_ref(pattern), &links, "[usage] files")?;
        if found.is_empty() {
            let message = format!("`[usage] files` matches no file: {pattern}");
            return Err(Error::Usage(message));
        }
        names.extend(found);
    }
    names.sort();
    names.dedup();
    let mut uses = Vec::new();
    for name in names {
        read_file(folder, &name, &mut uses)?;
    }
    Ok(Some(Usage::new(uses)))
}

/// Reads the uses that a file lists, line by line.
fn read_file(folder: &Path, name: &str, uses: &mut Vec<ElementUse>) -> Result<(), Error> {
    let unreadable = |error| Error::File { what: format!("cannot read `{name}`"), error };
    let mut file = BufReader::new(File::open(folder.join(name)).map_err(unreadable)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = file.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
        if read.map_err(unreadable)? == 0 {
            break;
        }
        let refuse = |what: String| Error::Usage(format!("`{name}`, line {number}: {what}"));
        if line.len() as u64 > MAX_LINE {
            return Err(refuse(format!("it is longer than {MAX_LINE} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if uses.len() == MAX_USES {
            return Err(refuse(format!("there are more than {MAX_USES} uses")));
        }
        uses.push(parse_line(&line).map_err(refuse)?);
    }
    Ok(())
}

/// Reads a line: an object with an element and a client.
fn parse_line(line: &[u8]) -> Result<ElementUse, String> {
    let object: Map<String, Value> = serde_json::from_slice(line).map_err(|_| {
        "expected an object such as `{\"element\": \"acme.v1.User\", \"client\": \"billing\"}`"
            .to_owned()
    })?;
    if let Some(key) = object.keys().find(|it| !KEYS.contains(&it.as_str())) {
        let near = find_nearest(key, KEYS);
        let near = near.map_or(String::new(), |it| format!("; did you mean `{it}`?"));
        return Err(format!("there is no key `{key}`{near} (the keys are {})", KEYS.join(", ")));
    }
    let text = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
        Some(_) => Err(format!("expected a name for `{key}`")),
    };
    let required = |key: &str| text(key)?.ok_or_else(|| format!("`{key}` is missing"));
    let last: Option<Date> = match text("last")? {
        None => None,
        Some(day) if day.len() == 10 => Some(day.parse().map_err(|_| refuse_day(&day))?),
        Some(day) => return Err(refuse_day(&day)),
    };
    let count = match object.get("count") {
        None | Some(Value::Null) => None,
        Some(count) => Some(count.as_u64().ok_or("expected a number of at least 0 for `count`")?),
    };
    let (element, client) = (required("element")?, required("client")?);
    Ok(ElementUse { element, client, release: text("release")?, last, count })
}

fn refuse_day(day: &str) -> String {
    format!("`{day}` is not a day: write one like 2026-06-30")
}

#[cfg(test)]
mod tests {
    use super::parse_line;

    #[test]
    fn each_line_is_read_whole_or_refused() {
        let read = |line: &str| parse_line(line.as_bytes());
        let full = r#"{"element":"a.B","client":"c","release":"1","last":"2026-01-02","count":3}"#;
        let full = read(full).expect("it is right");
        assert_eq!((full.element.as_str(), full.client.as_str()), ("a.B", "c"));
        assert_eq!((full.release.as_deref(), full.count), (Some("1"), Some(3)));
        assert_eq!(full.last.map(|it| it.to_string()).as_deref(), Some("2026-01-02"));
        for (line, says) in [
            ("[]", "expected an object"),
            ("{", "expected an object"),
            (r#"{"client":"c"}"#, "`element` is missing"),
            (r#"{"element":"a"}"#, "`client` is missing"),
            (r#"{"element":1,"client":"c"}"#, "expected a name for `element`"),
            (r#"{"element":"a","client":" "}"#, "expected a name for `client`"),
            (r#"{"element":"a","client":"c","last":"2026-02-30"}"#, "not a day"),
            (r#"{"element":"a","client":"c","last":"2026-02-03T04:05"}"#, "not a day"),
            (r#"{"element":"a","client":"c","count":-1}"#, "at least 0"),
            (r#"{"element":"a","client":"c","counts":1}"#, "did you mean `count`"),
        ] {
            let error = read(line).expect_err(line);
            assert!(error.contains(says), "{line}: {error}");
        }
    }
}
