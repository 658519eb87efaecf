//! What operators decide about deprecated elements: keys of runtime.
//!
//! Source: the reference implementation, releases 1.36 to 1.40. Runtime is a stack
//! of layers, and of two layers with a key the later one counts.

use std::collections::BTreeMap;

use abide_instance::Document;
use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Element, Tree, api_name};
use abide_syntax::Span;

/// What the key of each element begins with.
pub(crate) const FEATURE: &str = "envoy.deprecated_features:";
/// The key that refuses what is only deprecated.
pub(crate) const FAIL_ON_ANY: &str = "envoy.features.fail_on_any_deprecated_feature";
/// The key that decides about every element without a key of its own.
pub(crate) const ENABLE_ALL: &str = "envoy.features.enable_all_deprecated_features";

/// A value that a layer has for a key.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeSetting {
    /// What it is as a boolean; `None` if it is none.
    pub boolean: Option<bool>,
    /// The value as it is written, in short.
    pub written: String,
    /// The name of the layer.
    pub layer: String,
    /// The file of the run that the layer is in, by its number; `None` if it is in none.
    pub file: Option<u32>,
    /// Where the key stands in that file.
    pub span: Span,
}

/// The keys of runtime, each with the values of all layers that have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    keys: BTreeMap<String, Vec<RuntimeSetting>>,
}

/// Who decided about an element that is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision<'o> {
    /// Whether the reader takes the instance and warns.
    pub(crate) is_allowed: bool,
    /// The key that decided, with its value; `None` for what holds without any.
    pub(crate) by: Option<(&'o str, &'o RuntimeSetting)>,
}

impl Overrides {
    /// Puts a value on top of the layers so far.
    pub fn push(&mut self, key: impl Into<String>, setting: RuntimeSetting) {
        self.keys.entry(key.into()).or_default().push(setting);
    }

    /// These layers with others on top of them.
    #[must_use]
    pub fn with(&self, above: &Overrides) -> Overrides {
        let mut all = self.clone();
        for (key, settings) in &above.keys {
            all.keys.entry(key.clone()).or_default().extend(settings.iter().cloned());
        }
        all
    }

    /// The static layers of a bootstrap.
    pub(crate) fn of_bootstrap(tree: &Tree, bootstrap: &Message, file: u32) -> Overrides {
        let mut all = Overrides::default();
        for layer in layers(tree, bootstrap) {
            let name = layer.str(tree, "name").unwrap_or_default();
            if let Some(content) = layer.message(tree, "static_layer") {
                each_value(tree, content, "", &mut |key, entry, value| {
                    let (boolean, written) = understood(tree, value);
                    let layer = name.to_owned();
                    let span = entry.key;
                    all.push(key, RuntimeSetting { boolean, written, layer, file: Some(file), span });
                });
            }
        }
        all
    }

    /// The keys in alphabetical order, each with the values of its layers.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &[RuntimeSetting])> {
        self.keys.iter().map(|(key, settings)| (key.as_str(), settings.as_slice()))
    }

    /// The value that counts for a key, if it is a boolean. One that is none hides
    /// those of the layers below and counts as none.
    fn boolean(&self, key: &str) -> Option<(bool, (&str, &RuntimeSetting))> {
        let (key, settings) = self.keys.get_key_value(key)?;
        let last = settings.last()?;
        Some((last.boolean?, (key, last)))
    }

    /// Whether a reader with this runtime takes an element that is deprecated, or even disallowed.
    pub(crate) fn decide(&self, element: Element<'_>, is_disallowed: bool) -> Decision<'_> {
        let own = self.boolean(&format!("{FEATURE}{}", element.full_name()));
        if let Some((is_allowed, by)) = own.or_else(|| self.boolean(ENABLE_ALL)) {
            // What is as it would be anyway was not decided by the key.
            let fails = self.boolean(FAIL_ON_ANY).is_some_and(|(fails, _)| fails);
            let decides = is_allowed == (is_disallowed || fails);
            return Decision { is_allowed, by: decides.then_some(by) };
        }
        match self.boolean(FAIL_ON_ANY) {
            Some((true, by)) if !is_disallowed => Decision { is_allowed: false, by: Some(by) },
            _ => Decision { is_allowed: !is_disallowed, by: None },
        }
    }
}

/// The bootstrap that a document holds.
pub(crate) fn bootstrap_of<'d>(tree: &Tree, document: &'d Document) -> Option<&'d Message> {
    document.message().filter(|it| is_bootstrap(tree, it))
}

fn is_bootstrap(tree: &Tree, message: &Message) -> bool {
    let ty = tree.message(message.ty);
    ty.name() == "Bootstrap"
        && api_name(ty.file().package().name()).as_deref() == Some("envoy.config.bootstrap.*")
}

/// The layers of the runtime of a bootstrap, in their order.
pub(crate) fn layers<'m>(tree: &'m Tree, bootstrap: &'m Message) -> Vec<&'m Message> {
    let runtime = bootstrap.message(tree, "layered_runtime");
    let layers = runtime.into_iter().flat_map(|it| it.get_all(tree, "layers"));
    layers.filter_map(|entry| entry.value.as_message()).collect()
}

/// Calls `each` with every key of a layer: the names on the way to a value, with
/// dots between them.
pub(crate) fn each_value<'m>(
    tree: &Tree,
    layer: &'m Message,
    above: &str,
    each: &mut dyn FnMut(String, &'m Entry, &'m Message),
) {
    for entry in &layer.entries {
        let Some(pair) = entry.value.as_message() else { continue };
        let name = pair.numbered(tree, 1).and_then(|it| it.value.as_str()).unwrap_or_default();
        let Some(value) = pair.numbered(tree, 2).and_then(|it| it.value.as_message()) else {
            continue;
        };
        let key = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        match inner_struct(value).filter(|it| !is_share(tree, it)) {
            Some(inner) => each_value(tree, inner, &key, each),
            None => each(key, entry, value),
        }
    }
}

fn inner_struct(value: &Message) -> Option<&Message> {
    value.entries.last().and_then(|entry| entry.value.as_message())
}

/// Whether a struct is a value, a share of requests, and holds no keys.
pub(crate) fn is_share(tree: &Tree, content: &Message) -> bool {
    let name = |entry: &Entry| {
        let pair = entry.value.as_message()?;
        pair.numbered(tree, 1)?.value.as_str().map(str::to_owned)
    };
    let names = content.entries.iter().filter_map(name);
    content.entries.is_empty() || { names }.any(|it| it == "numerator" || it == "denominator")
}

/// A `google.protobuf.Value` as a boolean, and as it is written. True and false are, and whole
/// numbers below 2^31, also in quotes.
fn understood(tree: &Tree, value: &Message) -> (Option<bool>, String) {
    let whole = |number: f64| {
        let range = f64::from(i32::MIN)..f64::from(i32::MAX);
        (range.contains(&number) && number.fract() == 0.0).then_some(number != 0.0)
    };
    let Some(entry) = value.entries.last() else { return (None, "null".to_owned()) };
    match &entry.value {
        Value::Bool(value) => (Some(*value), value.to_string()),
        Value::F64(number) => (whole(*number), number.to_string()),
        Value::String(text) => {
            (text.trim_ascii().parse().ok().and_then(whole), format!("{text:?}"))
        }
        Value::Message(_) if tree.field(entry.field).number() == 6 => (None, "a list".to_owned()),
        Value::Message(_) => (None, "a share".to_owned()),
        _ => (None, "null".to_owned()),
    }
}
