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
    let quoted = text.split('`').skip(1).step_by(2).any(|it| !it.is_empty() && it != own);
    let linked = text.contains("](") || text.contains("][");
    let lower = text.to_lowercase();
    quoted || linked || WORDS.iter().any(|word| holds(&lower, word))
}

/// The first sentence of a comment that leads to a replacement.
pub(crate) fn sentence_about_another(comment: &str, own: &str) -> Option<String> {
    let text = one_line(comment);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(". ").map_or(rest.len(), |at| at + 1);
        let (sentence, behind) = rest.split_at(end);
        if leads_to_another(sentence, own) {
            return Some(sentence.trim().to_owned());
        }
        rest = behind;
    }
    None
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
