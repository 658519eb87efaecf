//! The text of a page: its title, its links, and what its code blocks say of themselves.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};

/// A link of a page.
pub(super) struct Link<'a> {
    /// What it leads to, as it is written.
    pub(super) url: &'a str,
    /// Its words.
    pub(super) words: String,
    /// The heading of the second level that it is below.
    pub(super) below: Option<&'a str>,
}

/// The first heading.
pub(super) fn find_title(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(|it| it.replace('`', ""))
}

/// Where the links of a page lead in the book.
pub(super) trait Targets {
    /// Where a link leads; `None` if it stays as it is.
    fn of_link(&mut self, link: &Link<'_>) -> Option<String>;

    /// Where a name in code leads, if it has a page.
    fn of_name(&self, name: &str) -> Option<String>;
}

/// The text with each link and each name as `targets` says, and with a line above each code block
/// that names its file.
pub(super) fn rewrite_links(text: &str, targets: &mut dyn Targets) -> String {
    let mut options = Options::default();
    options.extension.table = true;
    let arena = Arena::new();
    let root = parse_document(&arena, text, &options);
    let begins: Vec<usize> = text.split_inclusive('\n').scan(0, begin_of_next).collect();
    // What is replaced: from, to, by.
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    let mut below = None;
    for node in root.descendants() {
        let data = node.data.borrow();
        let begin = |line: usize| begins.get(line.saturating_sub(1)).copied().unwrap_or(text.len());
        let start =
            begin(data.sourcepos.start.line) + data.sourcepos.start.column.saturating_sub(1);
        let end = begin(data.sourcepos.end.line) + data.sourcepos.end.column;
        match &data.value {
            NodeValue::Heading(heading) if heading.level == 2 => below = Some(collect_words(node)),
            NodeValue::Link(link) => {
                let words = collect_words(node);
                let new = targets.of_link(&Link { url: &link.url, words, below: below.as_deref() });
                let written = format!("]({})", link.url);
                let at = text.get(start..end).and_then(|span| span.rfind(&written));
                if let (Some(new), Some(at)) = (new, at) {
                    let at = start + at + "](".len();
                    edits.push((at, at + link.url.len(), new));
                }
            }
            NodeValue::Code(code) if is_plain(node) => {
                let span = format!("`{}`", code.literal);
                // The span may begin behind the backtick.
                let around = text.get(start.saturating_sub(1)..end + 1);
                let at = around.and_then(|around| around.find(&span));
                if let (Some(at), Some(url)) = (at, targets.of_name(&code.literal)) {
                    let at = start.saturating_sub(1) + at;
                    edits.push((at, at, "[".to_owned()));
                    edits.push((at + span.len(), at + span.len(), format!("]({url})")));
                }
            }
            NodeValue::CodeBlock(block) if block.fenced => {
                if let Some(caption) = find_caption(&block.info) {
                    edits.push((start, start, caption));
                    let language = block.info.split(' ').next().unwrap_or_default().len();
                    let info = start + block.fence_length;
                    edits.push((info + language, info + block.info.len(), String::new()));
                }
            }
            _ => {}
        }
    }
    edits.sort();
    let mut new = String::new();
    let mut done = 0;
    for (from, to, by) in edits {
        new += text.get(done..from).unwrap_or_default();
        new += &by;
        done = to;
    }
    new + text.get(done..).unwrap_or_default()
}

fn begin_of_next(next: &mut usize, line: &str) -> Option<usize> {
    let begin = *next;
    *next += line.len();
    Some(begin)
}

/// What an example of a rule's page is: `proto old file=a.proto` is an old side.
fn find_caption(info: &str) -> Option<String> {
    let mut words = info.split(' ').skip(1).peekable();
    let is_old = words.next_if_eq(&"old").is_some();
    let file = words.find_map(|word| word.strip_prefix("file="));
    let name = file.map_or("the file".to_owned(), |file| format!("`{file}`"));
    match (is_old, file) {
        (true, _) => Some(format!("Before, {name}:\n\n")),
        (false, Some(_)) => Some(format!("In {name}:\n\n")),
        (false, None) => None,
    }
}

/// Whether a node is in no heading and in no link.
fn is_plain<'a>(node: &'a AstNode<'a>) -> bool {
    let above = |it: &'a AstNode<'a>| {
        matches!(it.data.borrow().value, NodeValue::Heading(_) | NodeValue::Link(_))
    };
    !node.ancestors().any(above)
}

/// The words below a node.
fn collect_words<'a>(node: &'a AstNode<'a>) -> String {
    let text = |it: &'a AstNode<'a>| match &it.data.borrow().value {
        NodeValue::Text(text) => Some(text.to_string()),
        NodeValue::Code(code) => Some(code.literal.clone()),
        _ => None,
    };
    node.descendants().filter_map(text).collect()
}
