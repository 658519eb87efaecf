//! Comments that lead the reader from a deprecated element to another.

/// Words that lead to a replacement, or say that none is needed. A word that
/// ends with `*` is the beginning of several words.
const WORDS: [&str; 25] = [
    "use",
    "using",
    "instead",
    "replace*",
    "in favor of",
    "in favour of",
    "supersede*",
    "prefer*",
    "see",
    "migrat*",
    "switch to",
    "moved to",
    "renamed",
    "is now",
    "should be set",
    "covered by",
    // An element without effect needs no replacement.
    "no effect",
    "ignored",
    "no longer",
    "not used",
    "unused",
    "not supported",
    "unsupported",
    "not implemented",
    "not-implemented",
];

/// Whether a text on one line leads from the element with this simple name to a
/// replacement: by a word, by a link, or by another name in backticks.
pub(crate) fn leads_to_another(text: &str, own: &str) -> bool {
    names_another(text, own) || has_word(text)
}

fn names_another(text: &str, own: &str) -> bool {
    let quoted = text.split('`').skip(1).step_by(2).any(|it| !it.is_empty() && it != own);
    quoted || text.contains("](") || text.contains("][")
}

fn has_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| holds(&lower, word))
}

/// The sentence of a comment that leads to a replacement: one that speaks of the
/// deprecation, or else the first with a word for it. A name alone may be there
/// for another reason.
pub(crate) fn sentence_about_another(comment: &str, own: &str) -> Option<String> {
    let text = one_line(comment);
    let mut sentences = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(". ").map_or(rest.len(), |at| at + 1);
        let (sentence, behind) = rest.split_at(end);
        sentences.push(without_directives(sentence));
        rest = behind;
    }
    let is_about = |it: &&&str| it.to_lowercase().contains("deprecat") && leads_to_another(it, own);
    let about = sentences.iter().find(is_about);
    about.or_else(|| sentences.iter().find(|it| has_word(it))).map(|it| (*it).to_owned())
}

/// A sentence without what tools read at its beginning: `[#mark:]`, `directive::`.
fn without_directives(sentence: &str) -> &str {
    let mut text = sentence.trim();
    loop {
        let mark = text.strip_prefix("[#").and_then(|it| it.split_once(']'));
        let word = text.split_once(":: ").filter(|(word, _)| !word.contains([' ', '`']));
        let Some((_, rest)) = mark.or(word) else { return text };
        text = rest.trim_start();
    }
}

/// A comment on one line: words may be split between lines.
pub(crate) fn one_line(comment: &str) -> String {
    comment.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text holds one of [`WORDS`]: "because" is not "use".
fn holds(text: &str, word: &str) -> bool {
    let (word, is_stem) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    let is_letter = |it: char| it.is_alphanumeric() || it == '_';
    text.match_indices(word).any(|(at, _)| {
        let behind = &text[at + word.len()..];
        !text[..at].ends_with(is_letter) && (is_stem || !behind.starts_with(is_letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_that_names_the_replacement_is_found() {
        for (comment, sentence) in [
            ("Its name. Use `mail`\n instead. See `x`.", Some("Use `mail` instead.")),
            ("Shown in `list`. Deprecated by `mail`.", Some("Deprecated by `mail`.")),
            ("[#hide:] [#x: 1] attention:: Use `mail`.", Some("Use `mail`.")),
            (
                "See `x`. It is deprecated in favor of `a::b`.",
                Some("It is deprecated in favor of `a::b`."),
            ),
            ("Shown in `list`.", None),
            ("Deprecated, like `nick`.", None),
            ("", None),
        ] {
            assert_eq!(sentence_about_another(comment, "nick").as_deref(), sentence, "{comment}");
        }
    }
}
