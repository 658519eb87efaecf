use abide_schema::{Comment, File, Node, Place};
use abide_syntax::Span;
use memchr::memmem;

use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "experimental-in-stable",
    summary: "a comment that marks an element of a stable package as experimental",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("experimental-in-stable.md"),
    check: Check::File(check),
};

const MARKS: [&str; 4] = [
    "[#not-implemented-hide:",
    "[#not-implemented-warn:",
    "[#proto-status: draft",
    "[#proto-status: experimental",
];

fn check<'t>(_: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let stable = file.package().version().is_some_and(|version| version.is_stable());
    if !stable {
        return;
    }
    // One pass for the text that all marks begin with; most files lack it.
    let marks = file.decl().source_text().map(|text| {
        let begins = memmem::find_iter(text, b"[#").filter(|at| begins_with_mark(&text[*at..]));
        begins.map(|at| at as u32).collect::<Vec<u32>>()
    });
    if marks.as_ref().is_some_and(Vec::is_empty) {
        return;
    }
    let marks = marks.as_deref();
    let statements = [file.decl().syntax.map(|it| it.node), file.decl().package.map(|it| it.node)];
    for node in statements.into_iter().flatten().filter(|node| may_be_marked(file, *node, marks)) {
        report(file, node, "file", file.path(), sink);
    }
    let elements = file
        .elements()
        .filter(|it| it.node() != Node::NONE && may_be_marked(file, it.node(), marks));
    for element in elements.filter(|it| !is_deprecated(*it)) {
        report(file, element.node(), element.noun(), &element.full_name(), sink);
    }
}

fn begins_with_mark(text: &[u8]) -> bool {
    MARKS.iter().any(|mark| text.starts_with(mark.as_bytes()))
}

fn report(file: File<'_>, node: Node, noun: &str, name: &str, sink: &mut Sink) {
    let comments = file.decl().comments(node);
    let detached = if noun == "file" { comments.detached } else { Vec::new() };
    for comment in comments.leading.into_iter().chain(comments.trailing).chain(detached) {
        let Some(mark) = MARKS.iter().find(|mark| comment.text.contains(*mark)) else { continue };
        let package = file.package().name();
        let word = mark.trim_start_matches("[#").trim_end_matches(':');
        let message = format!("{noun} `{name}` in stable package `{package}` is marked `{word}`");
        sink.report(find_mark(file, &comment, mark), package, name, message)
            .why("tools and users cannot rely on a comment: a stable package promises stability")
            .help("remove the mark, or move the element to an alpha package until it is ready")
            .fact(word);
    }
}

/// The place of the mark in its comment.
fn find_mark(file: File<'_>, comment: &Comment, mark: &str) -> Place {
    let text = comment.span.of(file.decl().source_text().unwrap_or_default());
    let span = match memmem::find(text, mark.as_bytes()) {
        Some(at) => {
            let start = comment.span.start + at as u32;
            let end = memchr::memchr(b']', &text[at..]).map_or(mark.len(), |at| at + 1);
            Span::new(start, start + end as u32)
        }
        None => comment.span,
    };
    Place { file: file.id, span }
}

/// Returns true if a comment of the statement holds one of the places where a mark begins. A file
/// without text comes from a descriptor, which has comments of its own: there any may.
fn may_be_marked(file: File<'_>, node: Node, marks: Option<&[u32]>) -> bool {
    let Some(marks) = marks else { return true };
    let spans = file.decl().collect_comment_spans(node);
    spans.iter().any(|span| marks.iter().any(|at| span.start <= *at && *at < span.end))
}
