//! A language server on standard input and output: the protocol around [`abide_editor`].

mod answer;
mod background;
mod client;
mod diagnostics;
mod documents;
mod edits;
mod encoding;
mod hover_completion;
mod project_root;
mod requests;
mod server;
mod session;
mod transport;
mod tree_work;
mod uri;

use crate::args::Global;

/// Answers an editor until it leaves. Returns whether it said so before.
pub(crate) fn serve(global: &Global, against: Option<&str>) -> bool {
    let (incoming, outgoing) = transport::start(std::io::stdin(), std::io::stdout());
    server::serve(global, against, &incoming, outgoing)
}
