//! Where a client gets what a message names: `envoy.config.core.v3.ConfigSource`.

use abide_schema::Tree;
use abide_schema::value::Message;

/// The source that a message gives for what it names, if it gives one.
pub fn config_source<'m>(tree: &Tree, message: &'m Message) -> Option<&'m Message> {
    let fields = ["config_source", "sds_config", "eds_config"];
    fields.iter().find_map(|it| message.get_message(tree, it))
}

/// Returns true if a source is a file or another server: only what comes over the same stream, or from
/// the server of the resource itself, has to be among the resources.
pub fn is_other_source(tree: &Tree, source: &Message) -> bool {
    let others = ["path", "path_config_source", "api_config_source"];
    others.iter().any(|it| source.get(tree, it).is_some())
}
