//! The sentences of a comment.

/// Words that begin a sentence at the start of a line, even in lower case.
const OPENERS: [&str; 12] = [
    "use",
    "see",
    "replaced",
    "superseded",
    "renamed",
    "moved",
    "prefer",
    "please",
    "note",
    "todo",
    "warning",
    "obsolete",
];

/// Words with which no sentence ends.
const UNFINISHED: [&str; 60] = [
    "a", "an", "the", "this", "that", "these", "those", "its", "their", "your", "our", "of", "to",
    "in", "into", "on", "at", "by", "with", "without", "from", "for", "as", "and", "or", "but",
    "nor", "not", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "will",
    "would", "should", "must", "may", "might", "can", "could", "do", "does", "if", "unless",
    "until", "than", "use", "using", "see", "please", "prefer", "new", "old", "now",
];

/// Short words that end with a full stop inside of a sentence.
const ABBREVIATIONS: [&str; 7] = ["e.g.", "i.e.", "cf.", "vs.", "etc.", "resp.", "approx."];

/// Where comments are wrapped at the latest; wider ones are wrapped at their widest line.
const NARROWEST: usize = 60;

/// The sentences of a comment by paragraph, each on one line, without the marks that tools read at
/// its beginning. A line that could have held the first word of the next one, but does not, ends
/// what it says if a new sentence may begin there.
pub(crate) fn sentences(comment: &str) -> Vec<Vec<String>> {
    let comment = without_internal(comment);
    let lines: Vec<&str> = comment.lines().map(str::trim).collect();
    let width = lines.iter().map(|it| it.chars().count()).max().unwrap_or(0).max(NARROWEST);
    let mut paragraphs = vec![Vec::new()];
    let mut passage = String::new();
    let mut before = "";
    for line in lines {
        let item = ["- ", "* ", "+ "].iter().find_map(|it| line.strip_prefix(it));
        if line.is_empty() || item.is_some() || ends_at(before, line, width) {
            take_sentences(&mut passage, &mut paragraphs);
        }
        if line.is_empty() {
            paragraphs.push(Vec::new());
        }
        let space = if passage.is_empty() { "" } else { " " };
        passage.push_str(space);
        passage.push_str(item.unwrap_or(line));
        before = line;
    }
    take_sentences(&mut passage, &mut paragraphs);
    paragraphs
}

/// Moves the sentences of a passage without a break to the last paragraph.
fn take_sentences(passage: &mut String, paragraphs: &mut [Vec<String>]) {
    let text = std::mem::take(passage);
    let Some(paragraph) = paragraphs.last_mut() else { return };
    let words: Vec<&str> = text.split_whitespace().collect();
    let ends = |word: &&str| {
        let word = word.trim_end_matches([')', '"', '\'', '`', ']', '*']);
        word.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&&*word.to_lowercase())
    };
    for sentence in words.split_inclusive(ends) {
        let sentence = sentence.join(" ");
        let sentence = without_directives(&sentence);
        if !sentence.is_empty() {
            paragraph.push(sentence.to_owned());
        }
    }
}

/// Returns true if a sentence ends with a line although nothing marks its end.
fn ends_at(line: &str, next: &str, width: usize) -> bool {
    let last = line.split_whitespace().next_back().unwrap_or_default();
    let first = next.split_whitespace().next().unwrap_or_default();
    let is_open = last.ends_with([',', ':', ';', '-', '(']) && !last.ends_with("::")
        || UNFINISHED.contains(&&*last.to_lowercase());
    if is_open {
        return false;
    }
    let opener = first.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    if opener.starts_with("deprecat") || OPENERS.contains(&&*opener) {
        return true;
    }
    let fits = line.chars().count() + 1 + first.chars().count() <= width;
    fits && first.starts_with(char::is_uppercase) || last.ends_with("::")
}

/// A comment without what is only for the people who write it: `(-- … --)`.
fn without_internal(comment: &str) -> String {
    let mut kept = String::new();
    let mut rest = comment;
    while let Some((before, internal)) = rest.split_once("(--") {
        kept.push_str(before);
        rest = internal.split_once("--)").map_or("", |(_, behind)| behind);
    }
    kept + rest
}

/// A sentence without what tools read at its beginning: `[#mark:]`, `directive::`.
fn without_directives(sentence: &str) -> &str {
    let mut text = sentence.trim();
    loop {
        text = text.strip_prefix(".. ").unwrap_or(text);
        let mark = text.strip_prefix("[#").and_then(|it| it.split_once(']'));
        let directive = |(word, _): &(&str, &str)| !word.is_empty() && !word.contains([' ', '`']);
        let word = text.split_once("::").filter(directive);
        let word = word.filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        let Some((_, rest)) = mark.or(word) else { return text };
        text = rest.trim_start();
    }
}
