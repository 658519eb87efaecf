//! Finds the replacement of a deprecated element, by its annotation or its comment.

use abide_schema::{Comment, Element, Node};

/// Words of a paragraph that says what to use instead.
const MARKS: [&str; 10] = [
    "deprecated",
    "use ",
    "instead",
    "replaced by",
    "replaced with",
    "superseded by",
    "in favor of",
    "in favour of",
    "renamed to",
    "moved to",
];

/// Finds the element that takes the place of a deprecated one: the one that its annotation names, or
/// the only one that its comment names.
pub(crate) fn find_replacement<'t>(element: Element<'t>) -> Option<Element<'t>> {
    match element.replaced_by() {
        Some(_) => element.replacement(),
        None => find_in_comments(element),
    }
}

/// Returns true if a comment of an element says why nothing replaces it, as in `Deprecated without
/// replacement: nobody set it.`
pub(crate) fn says_why_dropped(element: Element<'_>) -> bool {
    collect_comments(element).iter().any(|comment| {
        let words: Vec<&str> = comment.text.split_whitespace().collect();
        let words = words.join(" ").to_ascii_lowercase();
        let reason = words.split_once("without replacement: ").map(|it| it.1);
        reason.is_some_and(|it| it.contains(char::is_alphanumeric))
    })
}

fn collect_comments(element: Element<'_>) -> Vec<Comment> {
    let mut comments = element.comments_at_deprecated();
    if element.node() != Node::NONE {
        let attached = element.file().decl().comments(element.node());
        comments.extend(attached.leading.into_iter().chain(attached.trailing));
    }
    comments
}

/// Finds the only other element that the comments of an element name where they say what to use. If
/// they name several, a person has to choose.
fn find_in_comments<'t>(element: Element<'t>) -> Option<Element<'t>> {
    let comments = collect_comments(element);
    let mut found: Option<Element<'t>> = None;
    for text in comments.iter().map(|it| &*it.text) {
        for name in list_names(text) {
            let Some(other) = element.find_other(name) else { continue };
            if other.full_name() == element.full_name() {
                continue;
            }
            if found.is_some_and(|it| it.full_name() != other.full_name()) {
                return None;
            }
            found = Some(other);
        }
    }
    found
}

/// Lists the names in the paragraphs of a comment that say what to use: what stands in backticks or
/// brackets, and words that no plain English has.
fn list_names(comment: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for paragraph in comment.split("\n\n") {
        let lower = paragraph.to_ascii_lowercase();
        if !MARKS.iter().any(|mark| lower.contains(mark)) {
            continue;
        }
        let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.');
        for word in paragraph.split(|it| !is_name(it)) {
            let start = word.as_ptr() as usize - paragraph.as_ptr() as usize;
            let is_quoted = paragraph[..start].ends_with(['`', '[']);
            let name = word.trim_matches('.');
            let is_marked = name.contains(['_', '.']);
            if !name.is_empty() && (is_quoted || is_marked) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abide_schema::{Element, FileDecl, SourceFile, Tree};

    use super::find_replacement;

    #[test]
    fn a_comment_that_names_one_element_says_what_replaces_another() {
        for (comment, expected) in [
            ("Deprecated: use `mail_address`.", Some("mail_address")),
            ("Deprecated: use mail_address instead.", Some("mail_address")),
            ("The mail.\n//\n// Use [mail_address][a.v1.User.mail_address].", Some("mail_address")),
            ("Replaced by `a.v1.User.phone`.", Some("phone")),
            ("Deprecated: use `mail_address` or `phone`.", None),
            ("Deprecated: the `mail` is not used.", None),
            ("Deprecated: use `other`.", None),
            ("Set beside `phone`.", None),
            ("Deprecated.\n//\n// Set beside `phone`.", None),
        ] {
            let text = format!(
                "syntax = \"proto3\";\npackage a.v1;\nmessage User {{\n  // {comment}\n  string mail = 1 \
                 [deprecated = true];\n  string mail_address = 2;\n  string phone = 3;\n}}\n"
            );
            let path: Arc<str> = "a/v1/a.proto".into();
            let (display, text) = (Arc::clone(&path), text.into_bytes().into());
            let file = SourceFile { path, display, root: 0, imported: false, text };
            let tree = Tree::link(vec![Arc::new(FileDecl::parse(file))]);
            let mail = tree.element_named("a.v1.User.mail").expect("it is declared");
            let found = find_replacement(mail).map(Element::name);
            assert_eq!(found, expected, "{comment}");
        }
    }
}
