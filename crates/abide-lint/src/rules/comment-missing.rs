use abide_schema::{Element, MessageKind, Part};

use crate::checks::{BUF_MARKER, MARKER};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "comment-missing",
    summary: "an element without a comment",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "buf:COMMENT_ENUM",
        "buf:COMMENT_ENUM_VALUE",
        "buf:COMMENT_FIELD",
        "buf:COMMENT_MESSAGE",
        "buf:COMMENT_ONEOF",
        "buf:COMMENT_RPC",
        "buf:COMMENT_SERVICE",
        "protolint:ENUMS_HAVE_COMMENT",
        "protolint:ENUM_FIELDS_HAVE_COMMENT",
        "protolint:FIELDS_HAVE_COMMENT",
        "protolint:MESSAGES_HAVE_COMMENT",
        "protolint:RPCS_HAVE_COMMENT",
        "protolint:SERVICES_HAVE_COMMENT",
        "aip:192",
        "api-linter:core::0192::has-comments",
    ]],
    spares_work_in_progress: true,
    page: include_str!("comment-missing.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let (buf, protolint) = match element {
        Element::Message(it) if it.is_map_entry() => return,
        Element::Message(_) => ("buf:COMMENT_MESSAGE", "protolint:MESSAGES_HAVE_COMMENT"),
        Element::Field(it) => {
            let holder = it.parent().filter(|_| !it.is_extension());
            // The comment above a group documents its message.
            let is_group = it.message_type().is_some_and(|it| it.decl().kind == MessageKind::Group);
            if is_group || holder.is_some_and(|it| it.is_map_entry()) {
                return;
            }
            ("buf:COMMENT_FIELD", "protolint:FIELDS_HAVE_COMMENT")
        }
        Element::Oneof(it) if it.is_synthetic() => return,
        // protolint has no rule about them.
        Element::Oneof(_) => ("buf:COMMENT_ONEOF", ""),
        Element::Enum(_) => ("buf:COMMENT_ENUM", "protolint:ENUMS_HAVE_COMMENT"),
        Element::EnumValue(_) => ("buf:COMMENT_ENUM_VALUE", "protolint:ENUM_FIELDS_HAVE_COMMENT"),
        Element::Service(_) => ("buf:COMMENT_SERVICE", "protolint:SERVICES_HAVE_COMMENT"),
        Element::Method(_) => ("buf:COMMENT_RPC", "protolint:RPCS_HAVE_COMMENT"),
    };
    let comments = element.file().decl().comments(element.node());
    let mut aliases = vec![buf, "aip:192", "api-linter:core::0192::has-comments"];
    // Any comment near it counts for protolint.
    let is_bare =
        comments.leading.is_none() && comments.trailing.is_none() && comments.detached.is_empty();
    let is_group = matches!(element, Element::Message(it) if it.decl().kind == MessageKind::Group);
    aliases.extend(Some(protolint).filter(|it| is_bare && !is_group && !it.is_empty()));
    if comments.leading.is_some_and(|it| it.text.lines().any(says_something))
        || context.exempts(element, &aliases)
    {
        return;
    }
    let (noun, name) = (element.noun(), element.relative_name());
    let message = format!("{noun} `{name}` has no comment above it");
    sink.report(element.place(Part::Whole), element.package().name(), element.full_name(), message)
        .help("say in a sentence what it is for")
        .aliases(&aliases);
}

/// Returns true if a line of a comment is for readers, not for tools.
fn says_something(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with(BUF_MARKER) && !line.starts_with(MARKER)
}
