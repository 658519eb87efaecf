//! Runtime that the operator sets above the layers that are served.

use std::sync::Arc;

use abide_instance::runtime::{
    RtdsResource, Runtime, RuntimeLiteral, RuntimeMember, RuntimeValue, Values,
};
use abide_schema::Tree;
use abide_schema::value::Codec;
use abide_xds::{Collection, Kind, Resource, Snapshot, TYPE_URL_PREFIX, Types};
use prost::Message;
use prost_types::value::Kind as Content;
use prost_types::{ListValue, Struct, Value};

use abide_xds::wire;

use crate::error::Error;

/// How many keys may be set.
const MAX_KEYS: usize = 1000;
/// How many bytes all keys and values may have together.
const MAX_BYTES: usize = 64 << 10;

/// What the operator set. It is part of every layer that clients are served, so it counts in
/// whatever order a client stacks them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overrides(Arc<Values>);

impl Overrides {
    /// Sets all of these keys, or none; an empty value takes back what was set.
    ///
    /// # Errors
    /// A key or value that cannot be set: then nothing was set.
    pub(crate) fn modify(&mut self, pairs: &[(String, String)]) -> Result<(), Error> {
        let mut runtime = Runtime::from_resources([], Arc::clone(&self.0));
        let pairs = pairs.iter().map(|(key, value)| (&**key, &**value));
        runtime.modify(pairs).map_err(|error| Error::RuntimeOverride(error.to_string()))?;
        let values = runtime.overrides();
        if let Some((key, _)) = values.iter().find(|(_, it)| !is_servable(it)) {
            return Err(Error::RuntimeOverride(format!(
                "the value of `{key}` is not a boolean, number, text or share of one"
            )));
        }
        if values.keys().any(|it| it.is_empty()) {
            return Err(Error::RuntimeOverride("a key is empty".to_owned()));
        }
        let bytes: usize = values.iter().map(|(key, it)| key.len() + it.text.len()).sum();
        if values.len() > MAX_KEYS || bytes > MAX_BYTES {
            return Err(Error::RuntimeOverride(format!(
                "at most {MAX_KEYS} keys may be set, and {MAX_BYTES} bytes of keys and values: set \
                 more in a layer of the resources"
            )));
        }
        self.0 = values;
        Ok(())
    }

    /// What was set.
    pub(crate) fn values(&self) -> &Values {
        &self.0
    }

    /// What was set, as it was written.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|(key, it)| (key.to_string(), it.text.to_string()))
    }

    /// The layers of a snapshot, and what was set above them.
    pub(crate) fn above(&self, types: &Types, tree: &Tree, snapshot: &Snapshot) -> Runtime {
        let layers = snapshot.types().filter(|(url, _)| types.kind(url) == Kind::RUNTIME);
        let layers =
            layers.flat_map(|(url, it)| it.iter().map(move |it| read_layer(tree, url, it)));
        Runtime::from_resources(layers.flatten(), Arc::clone(&self.0))
    }

    /// A snapshot whose layers have what was set.
    pub(crate) fn over(&self, types: &Types, tree: &Tree, snapshot: &Snapshot) -> Snapshot {
        if self.0.is_empty() {
            return snapshot.clone();
        }
        Snapshot::of_collections(snapshot.types().map(|(url, collection)| {
            let collection = match types.kind(url) {
                Kind::RUNTIME => {
                    let resources = collection.iter().map(|it| self.over_layer(tree, url, it));
                    Arc::new(Collection::of(resources))
                }
                _ => Arc::clone(collection),
            };
            (Arc::clone(url), collection)
        }))
    }

    fn over_layer(&self, tree: &Tree, url: &str, resource: &Arc<Resource>) -> Arc<Resource> {
        let Some(layer) = read_layer(tree, url, resource) else { return Arc::clone(resource) };
        let values = layer.values.iter().chain(self.0.iter()); // Of two the last one stays.
        let fields = values.map(|(key, it)| (key.to_string(), value(&it.literal))).collect();
        let layer = wire::Runtime { name: layer.name.into(), layer: Some(Struct { fields }) };
        let aliases: Vec<&str> = resource.aliases.iter().map(|it| &**it).collect();
        Arc::new(Resource::new(&resource.name, layer.encode_to_vec()).known_as(&aliases))
    }
}

/// A resource as a layer.
pub(super) fn read_layer(tree: &Tree, url: &str, resource: &Resource) -> Option<RtdsResource> {
    let ty = tree.message_named(url.strip_prefix(TYPE_URL_PREFIX)?)?;
    let message = Codec::new(tree).decode(ty.id, &resource.body).ok()?;
    RtdsResource::from_message(tree, &message).ok()
}

/// Whether clients take a value by RTDS, and take it as one.
fn is_servable(value: &RuntimeValue) -> bool {
    match &value.literal {
        RuntimeLiteral::Null | RuntimeLiteral::List => false,
        RuntimeLiteral::Number(number) => number.is_finite(),
        RuntimeLiteral::Struct(_) => value.as_percent().is_some(),
        RuntimeLiteral::Bool(_) | RuntimeLiteral::Text(_) => true,
    }
}

fn value(literal: &RuntimeLiteral) -> Value {
    let member = |it: &RuntimeMember| (it.key.to_string(), value(&it.value));
    Value {
        kind: Some(match literal {
            RuntimeLiteral::Null => Content::NullValue(0),
            RuntimeLiteral::Bool(value) => Content::BoolValue(*value),
            RuntimeLiteral::Number(number) => Content::NumberValue(*number),
            RuntimeLiteral::Text(text) => Content::StringValue(text.to_string()),
            RuntimeLiteral::Struct(members) => {
                Content::StructValue(Struct { fields: members.iter().map(member).collect() })
            }
            RuntimeLiteral::List => Content::ListValue(ListValue::default()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(overrides: &mut Overrides, key: &str, value: &str) -> Result<(), String> {
        let pair = (key.to_owned(), value.to_owned());
        overrides.modify(&[pair]).map_err(|error| error.to_string())
    }

    #[test]
    fn only_what_clients_take_by_rtds_can_be_set() {
        let mut overrides = Overrides::default();
        for good in ["1", "true", "text", "{numerator: 5, denominator: MILLION}", "{}", "'1'"] {
            assert_eq!(set(&mut overrides, "good", good), Ok(()), "{good}");
        }
        for bad in ["null", "[1]", "{a: 1}", "{numerator: 1, denominator: THREE}", "# nothing", "{"]
        {
            let said = set(&mut overrides, "bad", bad).expect_err(bad);
            assert!(said.starts_with("the value of `bad` is not "), "{said}");
        }
        assert_eq!(set(&mut overrides, "", "1"), Err("a key is empty".to_owned()));
        assert_eq!(overrides.0.keys().map(|it| &**it).collect::<Vec<_>>(), ["good"]);
        // One that is wrong keeps all of them out.
        let pairs = [("fine", "1"), ("bad", "[")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        overrides.modify(&pairs).expect_err("one is wrong");
        assert_eq!(overrides.0.len(), 1);
    }

    #[test]
    fn what_can_be_set_has_an_end() {
        let mut overrides = Overrides::default();
        let many: Vec<_> = (0..=MAX_KEYS).map(|it| (it.to_string(), "1".to_owned())).collect();
        let said = overrides.modify(&many).expect_err("too many").to_string();
        assert!(said.starts_with("at most 1000 keys may be set"), "{said}");
        assert!(overrides.modify(&many[1..]).is_ok());
        set(&mut overrides, "one-more", "1").expect_err("too many");
        assert_eq!(set(&mut overrides, "1", ""), Ok(()));
        assert_eq!(set(&mut overrides, "one-more", "1"), Ok(()));
        let mut overrides = Overrides::default();
        set(&mut overrides, "long", &"x".repeat(MAX_BYTES)).expect_err("too long");
        assert_eq!(set(&mut overrides, "long", &"x".repeat(MAX_BYTES - 4)), Ok(()));
    }
}
