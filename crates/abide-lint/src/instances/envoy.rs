//! What rules about the refusals of Envoy ask of values.

use abide_instance::{Document, Item, WalkItem, walk};
use abide_schema::Tree;
use abide_schema::value::Message;
use abide_syntax::Span;

use crate::finding::Finding;
use crate::rule::{InstanceContext, Sink};

/// Returns true if a message is of Envoy's API and has this name in its package.
pub(crate) fn is_named(tree: &Tree, message: &Message, name: &str) -> bool {
    let ty = tree.message(message.ty);
    name.ends_with(ty.name())
        && ty.file().package().name().starts_with("envoy.")
        && ty.relative_name() == name
}

/// The message that a walk meets, if it has this name in a package of Envoy's API.
pub(crate) fn visited<'m>(tree: &Tree, visit: WalkItem<'_, 'm>, name: &str) -> Option<&'m Message> {
    let Item::Message(message) = visit.met else { return None };
    Some(message).filter(|it| is_named(tree, it, name))
}

/// All messages of a document with this name in a package of Envoy's API.
pub(crate) fn find_all<'m>(
    tree: &Tree,
    document: &'m Document,
    name: &str,
) -> Vec<(&'m Message, Span)> {
    let mut found = Vec::new();
    let Some(message) = document.message() else { return found };
    walk(tree, message, document.span, &mut |visit| {
        found.extend(visited(tree, visit, name).map(|it| (it, visit.span)));
    });
    found
}

/// An address as one text; `None` if many may have it.
pub(crate) fn format_address(tree: &Tree, address: &Message) -> Option<String> {
    if let Some(pipe) = address.get_message(tree, "pipe") {
        return pipe.get_str(tree, "path").map(str::to_owned);
    }
    let socket = address.get_message(tree, "socket_address")?;
    let port = socket.get_i64(tree, "port_value").filter(|it| *it != 0)?;
    let protocol = match socket.get_enum_name(tree, "protocol") {
        Some("UDP") => "udp://",
        _ => "",
    };
    Some(format!("{protocol}{}:{port}", socket.get_str(tree, "address").unwrap_or_default()))
}

/// Reports what Envoy refuses of a message.
pub(crate) fn report<'s>(
    context: &InstanceContext<'_>,
    message: &Message,
    place: Span,
    text: String,
    sink: &'s mut Sink,
) -> &'s mut Finding {
    let ty = context.tree.message(message.ty);
    sink.report(context.at(place), ty.file().package().name(), ty.full_name(), text)
}
