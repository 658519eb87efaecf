//! What rules about Google's API Improvement Proposals share.

use abide_change::OptionOwner;
use abide_schema::value::Entry;
use abide_schema::{Element, Field, File, Message, Place};

use crate::lifecycle::is_deprecated;
use crate::rule::Context;

/// Returns true if a rule spares an element: one that is deprecated, as api-linter does, or one in
/// a frozen package, unless the policy follows a rule of api-linter about it.
pub(crate) fn exempts<'t>(context: &Context<'t>, element: Element<'t>, aliases: &[&str]) -> bool {
    is_deprecated(element)
        || context.is_frozen(element.package()) && !context.policy.follows_any(aliases)
}

/// Returns true if the values of a field are points in time.
pub(crate) fn is_timestamp(field: Field<'_>) -> bool {
    field.message_type().is_some_and(|it| it.full_name() == "google.protobuf.Timestamp")
}

/// What `google.api.resource` or `google.api.resource_definition` says.
pub(crate) struct Resource<'t> {
    /// Its type, such as `library.example.com/Book`.
    pub(crate) kind: &'t str,
    pub(crate) patterns: Vec<&'t str>,
    /// The field that holds its name.
    pub(crate) name_field: &'t str,
    pub(crate) has_singular: bool,
    pub(crate) has_plural: bool,
    /// The place of the annotation.
    pub(crate) place: Place,
}

impl<'t> Resource<'t> {
    /// The resource that a message is.
    pub(crate) fn of(message: Message<'t>) -> Option<Resource<'t>> {
        let holder = OptionOwner::Element(Element::Message(message));
        Resource::read(holder, holder.custom("google.api.resource")?)
    }

    /// The resources that a file defines without a message.
    pub(crate) fn definitions(file: File<'t>) -> Vec<Resource<'t>> {
        let holder = OptionOwner::File(file);
        let entries = holder.collect_custom("google.api.resource_definition").into_iter();
        entries.filter_map(|entry| Resource::read(holder, entry)).collect()
    }

    fn read(holder: OptionOwner<'t>, entry: &'t Entry) -> Option<Resource<'t>> {
        let tree = holder.file().tree;
        let value = entry.value.as_message()?;
        let text = |name: &str| value.get_str(tree, name).filter(|it| !it.is_empty());
        let patterns = value.get_all(tree, "pattern").filter_map(|it| it.value.as_str());
        Some(Resource {
            kind: text("type").unwrap_or_default(),
            patterns: patterns.collect(),
            name_field: text("name_field").unwrap_or("name"),
            has_singular: text("singular").is_some(),
            has_plural: text("plural").is_some(),
            place: holder.place(Some(entry)),
        })
    }
}
