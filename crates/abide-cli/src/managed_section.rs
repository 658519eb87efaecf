//! The generated part of a file that people may write around.

/// The line before the generated part.
const BEGIN: &str =
    "<!-- abide deprecations: begin; `abide deprecations --write` replaces this part -->";
/// The line after it.
const END: &str = "<!-- abide deprecations: end -->";

/// The reason why a text cannot take a generated part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SectionError {
    /// It has no marks: somebody else wrote it.
    Foreign,
    /// Its marks are not one beginning before one end.
    Marks,
    /// Somebody wrote this line between its marks.
    Edited(String),
}

/// The whole text with its generated part replaced. A text that does not exist, or is blank, becomes
/// a title and the part; so does any text if `overwrite` is set and it has no marks. The part gets
/// the line endings of the text. `is_ours` knows the lines that a part may have: others stay, unless
/// `overwrite` is set.
pub(crate) fn replace_section(
    old: Option<&str>,
    title: &str,
    part: &str,
    is_ours: impl Fn(&str) -> bool,
    overwrite: bool,
) -> Result<String, SectionError> {
    let marked = format!("{BEGIN}\n\n{}\n\n{END}", part.trim_end());
    let whole = format!("# {title}\n\n{marked}\n");
    let Some(old) = old.filter(|old| !old.trim().is_empty()) else { return Ok(whole) };
    let ends = if old.contains("\r\n") { "\r\n" } else { "\n" };
    match (find_marks(old, "begin").as_slice(), find_marks(old, "end").as_slice()) {
        ([], []) if overwrite => Ok(whole.replace('\n', ends)),
        ([], []) => Err(SectionError::Foreign),
        (&[(from, after)], &[(begin, to)]) if from < begin => {
            let mut lines = old[after.min(begin)..begin].lines().map(str::trim_end);
            let theirs = lines.find(|it| !it.is_empty() && !is_ours(it));
            if let Some(line) = theirs.filter(|_| !overwrite) {
                return Err(SectionError::Edited(line.to_owned()));
            }
            Ok(format!("{}{}{}", &old[..from], marked.replace('\n', ends), &old[to..]))
        }
        _ => Err(SectionError::Marks),
    }
}

/// Finds the comments that begin or end the part. What follows the word is not compared.
fn find_marks(text: &str, word: &str) -> Vec<(usize, usize)> {
    let mark = format!("<!-- abide deprecations: {word}");
    let found = text.match_indices(&mark).filter_map(|(at, _)| {
        let close = text[at..].find("-->")?;
        Some((at, at + close + "-->".len()))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_around_the_part_stays() {
        let replaced = |old, title, part, over| {
            replace_section(old, title, part, |it| it.starts_with('|'), over)
        };
        let first = replaced(None, "Gone", "| a |\n", false).expect("there is nothing to lose");
        assert_eq!(first, format!("# Gone\n\n{BEGIN}\n\n| a |\n\n{END}\n"));
        let edited = first.replace("# Gone", "# Ours\n\nBefore.") + "\nBehind.\n";
        let again = replaced(Some(&edited), "Gone", "| b |", true).expect("it has marks");
        assert_eq!(again, edited.replace("| a |", "| b |"));
        assert_eq!(replaced(Some(&again), "Gone", "| b |", false), Ok(again.clone()));
        // A checkout with Windows line endings is up to date, too.
        let windows = again.replace('\n', "\r\n");
        assert_eq!(replaced(Some(&windows), "Gone", "| b |", false), Ok(windows.clone()));
        // What they wrote into the part stays as well, until they say otherwise.
        let mixed = again.replace("| b |", "| b |\n\nOurs, too.");
        let line = "Ours, too.".to_owned();
        assert_eq!(replaced(Some(&mixed), "Gone", "| b |", false), Err(SectionError::Edited(line)));
        assert_eq!(replaced(Some(&mixed), "Gone", "| b |", true), Ok(again));
    }

    #[test]
    fn what_others_wrote_is_refused() {
        let replaced = |old: Option<&str>, title, part, over| {
            replace_section(old, title, part, |_| true, over)
        };
        assert_eq!(replaced(Some("# Notes\n"), "Gone", "", false), Err(SectionError::Foreign));
        assert!(
            replaced(Some("# Notes\n"), "Gone", "x", true).is_ok_and(|it| !it.contains("Notes"))
        );
        assert!(replaced(Some(" \n"), "Gone", "x", false).is_ok());
        for broken in [format!("{END}\n{BEGIN}"), BEGIN.to_owned(), format!("{BEGIN}{BEGIN}{END}")]
        {
            assert_eq!(
                replaced(Some(&broken), "Gone", "x", true),
                Err(SectionError::Marks),
                "{broken}"
            );
        }
    }
}
