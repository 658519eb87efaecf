//! The helpers of a client that make names of resources, such as `user_path`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::value::Entry;
use abide_schema::{
    Element, File, Message, MessageId, Package, PackageId, Service, ServiceId, Tree,
};

use super::{OPERATION, describe_loss, resolve_operation_type, to_snake_case};
use crate::diff::Diff;
use crate::memo::Memo;
use crate::option::OptionOwner;
use crate::symbols::LostSymbol;

/// The helpers of the clients of one tree.
#[derive(Debug, Default)]
pub(crate) struct PathHelpers {
    /// For each service, the name of each helper with the format of its results.
    helpers: Memo<ServiceId, BTreeMap<String, String>>,
    /// For each package, the resources that it and its imports define, by type.
    resources: Memo<PackageId, BTreeMap<String, (String, String)>>,
}

/// Returns what clients lose that had a helper for this type of resource. The helpers are those of
/// the old tree and the new one.
pub(crate) fn find_lost_path_helper(
    diff: &Diff<'_>,
    [before, after]: &[PathHelpers; 2],
    resource_type: &str,
) -> Option<LostSymbol> {
    let name = format_helper_name(resource_type)?;
    for old in diff.old.files().filter(|it| it.is_judged()).flat_map(File::services) {
        let Some(new) = diff.new_service(old) else { continue };
        let (had, has) = (before.get_or_build(old), after.get_or_build(new));
        let Some(was) = had.get(&name) else { continue };
        let client = format!("{}Client.{name}", old.name());
        match has.get(&name) {
            Some(is) if is == was => {}
            Some(is) => {
                return Some(describe_loss(format!("`{client}` changed from `{was}` to `{is}`")));
            }
            None => return Some(describe_loss(format!("`{client}` was removed"))),
        }
    }
    None
}

impl PathHelpers {
    fn get_or_build(&self, service: Service<'_>) -> Arc<BTreeMap<String, String>> {
        self.helpers.get_or_compute(service.id, || self.build_helpers(service))
    }

    fn build_helpers(&self, service: Service<'_>) -> BTreeMap<String, String> {
        let package = service.package();
        let known = self.resources.get_or_compute(package.id, || collect_resources(package));
        let mut helpers = BTreeMap::new();
        for message in collect_messages(service) {
            helpers.extend(read_helper(message.tree, find_resource(message)));
            for field in message.fields() {
                let named = field.resource_reference().and_then(|(it, _)| known.get(it));
                helpers.extend(named.cloned());
            }
        }
        helpers
    }
}

/// Every message that a call of the service takes or returns, at any depth.
fn collect_messages(service: Service<'_>) -> Vec<Message<'_>> {
    let tree = service.tree;
    let mut waiting: Vec<Message<'_>> = Vec::new();
    for method in service.methods() {
        let ends_in = resolve_operation_type(method, "response_type");
        let is_operation = |it: &Message<'_>| it.full_name() == OPERATION;
        let output = match (method.output(), ends_in) {
            (Some(it), Some(name)) if is_operation(&it) => tree.message_named(&name),
            (it, _) => it,
        };
        waiting.extend(method.input().into_iter().chain(output));
    }
    let mut seen: BTreeSet<MessageId> = BTreeSet::new();
    let mut reached = Vec::new();
    while let Some(message) = waiting.pop() {
        if seen.insert(message.id) {
            waiting.extend(message.fields().filter_map(|it| it.message_type()));
            reached.push(message);
        }
    }
    reached
}

/// The resources that the files of a package and their imports define at the top level, each
/// with its helper.
fn collect_resources(package: Package<'_>) -> BTreeMap<String, (String, String)> {
    let tree = package.tree;
    let mut waiting: Vec<File<'_>> = package.files().collect();
    let mut seen = BTreeSet::new();
    let mut found = BTreeMap::new();
    while let Some(file) = waiting.pop() {
        if !seen.insert(file.id) {
            continue;
        }
        waiting.extend(file.imports().filter_map(|it| it.file));
        let of_file = OptionOwner::File(file).collect_custom("google.api.resource_definition");
        let of_messages = file.messages().filter_map(find_resource);
        for entry in of_file.into_iter().chain(of_messages) {
            if let (Some(ty), Some(helper)) =
                (read_resource_type(tree, entry), read_helper(tree, Some(entry)))
            {
                found.entry(ty.to_owned()).or_insert(helper);
            }
        }
    }
    found
}

fn find_resource(message: Message<'_>) -> Option<&Entry> {
    OptionOwner::Element(Element::Message(message)).custom("google.api.resource")
}

fn read_resource_type<'t>(tree: &Tree, entry: &'t Entry) -> Option<&'t str> {
    entry.value.as_message()?.get_str(tree, "type")
}

/// The helper for a resource: its name, and its format from the first pattern.
fn read_helper(tree: &Tree, entry: Option<&Entry>) -> Option<(String, String)> {
    let message = entry?.value.as_message()?;
    let pattern = message.get_all(tree, "pattern").next()?.value.as_str()?;
    // What a variable stands for is not checked.
    let format = pattern.replace("=**}", "}");
    Some((format_helper_name(message.get_str(tree, "type")?)?, format))
}

/// `user_path` for `acme.example/User`.
fn format_helper_name(resource_type: &str) -> Option<String> {
    let name = resource_type.split_once('/').map_or(resource_type, |it| it.1);
    (!name.is_empty()).then(|| format!("{}_path", to_snake_case(name)))
}
