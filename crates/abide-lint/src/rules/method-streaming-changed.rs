use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Method, MethodDecl, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-streaming-changed",
    summary: "a method whose streaming changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "buf:RPC_SAME_CLIENT_STREAMING",
        "buf:RPC_SAME_SERVER_STREAMING",
        "google:METHOD_CLIENT_STREAMING_CHANGE",
        "google:METHOD_SERVER_STREAMING_CHANGE",
        "protolock:NoChangingRPCSignature",
    ]],
    spares_work_in_progress: true,
    page: include_str!("method-streaming-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.decl(), new.decl());
    let client = was.client_streaming != is.client_streaming;
    let server = was.server_streaming != is.server_streaming;
    if !client && !server {
        return;
    }
    let name = new.relative_name();
    let message = format!("`{name}` changed from {} to {}", name_kind(was), name_kind(is));
    let (was, is) = (describe_streams(was), describe_streams(is));

    let finding = sink.change(diff, change.map(Element::Method), Part::Whole, message);
    finding.changed(was, is).breaks(Effects::both(&[Surface::Rpc]));
    finding.source(diff, change.map(Element::Method));
    let mut aliases = vec!["protolock:NoChangingRPCSignature"];
    if client {
        aliases.extend(["buf:RPC_SAME_CLIENT_STREAMING", "google:METHOD_CLIENT_STREAMING_CHANGE"]);
    }
    if server {
        aliases.extend(["buf:RPC_SAME_SERVER_STREAMING", "google:METHOD_SERVER_STREAMING_CHANGE"]);
    }
    finding.aliases(&aliases);
}

fn name_kind(method: &MethodDecl) -> &'static str {
    match (method.client_streaming, method.server_streaming) {
        (false, false) => "unary",
        (true, false) => "client streaming",
        (false, true) => "server streaming",
        (true, true) => "bidirectional streaming",
    }
}

/// Says what a method streams. Findings are recorded by this text, so it never changes.
fn describe_streams(method: &MethodDecl) -> &'static str {
    match (method.client_streaming, method.server_streaming) {
        (false, false) => "nothing",
        (true, false) => "its requests",
        (false, true) => "its responses",
        (true, true) => "both ways",
    }
}
