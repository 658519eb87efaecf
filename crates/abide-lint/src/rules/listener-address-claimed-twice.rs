use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::Document;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "listener-address-claimed-twice",
    summary: "two listeners of one file at the same address",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("listener-address-claimed-twice.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let tree = context.tree;
    let mut claimed = BTreeMap::new();
    for (at, (listener, _)) in envoy::find_all(tree, document, "Listener").iter().enumerate() {
        // Of listeners with one name, the later one replaces the earlier.
        let name = listener.get_str(tree, "name").filter(|it| !it.is_empty());
        let owner = name.map_or_else(|| Err(at), Ok);
        let own = listener.get(tree, "address").into_iter();
        let others = listener
            .get_all(tree, "additional_addresses")
            .filter_map(|it| it.value.as_message()?.get(tree, "address"));
        for entry in own.chain(others) {
            let Some(address) = entry.value.as_message() else { continue };
            let Some(text) = envoy::format_address(tree, address) else { continue };
            let (first, holder) = *claimed.entry(text.clone()).or_insert((entry.span, owner));
            if holder == owner {
                continue;
            }
            let text = format!("another listener has the address `{text}`");
            envoy::report(context, listener, entry.span, text, sink)
                .label(context.at(first), "the first one")
                .help("give each listener an address or a port of its own");
        }
    }
}
