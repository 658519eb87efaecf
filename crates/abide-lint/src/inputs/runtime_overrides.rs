//! What operators decide about deprecated elements: keys of runtime.
//!
//! Source: the reference implementation, releases 1.36 to 1.40. Runtime is a stack
//! of layers, and of two layers with a key the later one counts.

use std::collections::BTreeMap;

use abide_instance::runtime::{DeclaredLayers, DiskReading, LayerSource, Runtime, Values};
use abide_instance::{Document, Instance, Item, walk};
use abide_schema::value::Message;
use abide_schema::{Element, Tree, format_api_name};
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
    /// True if the reader takes the instance and warns.
    pub(crate) is_allowed: bool,
    /// The key that decided, with its value; `None` for what holds without any.
    pub(crate) by: Option<(&'o str, &'o RuntimeSetting)>,
}

impl Overrides {
    /// These layers with others on top of them.
    #[must_use]
    pub fn with(&self, above: &Overrides) -> Overrides {
        let mut all = self.clone();
        for (key, settings) in &above.keys {
            all.keys.entry(key.clone()).or_default().extend(settings.iter().cloned());
        }
        all
    }

    /// The layers of a bootstrap, which is in the file with this number: the static ones, and those
    /// on disk that were read, in their order.
    pub(crate) fn of_bootstrap(
        tree: &Tree,
        bootstrap: &Message,
        file: u32,
        disk: &[DiskReading],
    ) -> Overrides {
        let mut all = Overrides::default();
        let runtime = Runtime::new(DeclaredLayers::from_bootstrap(tree, bootstrap), disk.to_vec());
        for layer in runtime.snapshot().layers() {
            let declared = runtime.layers().layers().iter().find(|it| it.name == layer.name);
            let is_static = declared.is_some_and(|it| matches!(it.source, LayerSource::Static(_)));
            all.push_layer(&layer.name, &layer.values, is_static.then_some(file));
        }
        all
    }

    /// The keys of the RTDS resources in a file with this number.
    pub(crate) fn of_resources(tree: &Tree, instance: &Instance, file: u32) -> Overrides {
        let mut all = Overrides::default();
        for layers in instance.documents.iter().flat_map(|it| runtime_resources(tree, it)) {
            for layer in layers.layers() {
                if let LayerSource::Static(values) = &layer.source {
                    all.push_layer(&layer.name, values, Some(file));
                }
            }
        }
        all
    }

    /// Puts a layer on top of those so far. If it is in a file of the run, `file` is its number.
    pub fn push_layer(&mut self, name: &str, values: &Values, file: Option<u32>) {
        for (key, value) in values {
            let setting = RuntimeSetting {
                boolean: value.as_boolean(),
                written: value.literal.to_string(),
                layer: name.to_owned(),
                file,
                span: value.span,
            };
            self.keys.entry(key.to_string()).or_default().push(setting);
        }
    }

    /// Returns true if no layer has any key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
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

    /// Decides whether a reader with this runtime takes an element that is deprecated, or even
    /// disallowed.
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

/// The RTDS resources that a document holds, each as a layer of its own.
pub(crate) fn runtime_resources(tree: &Tree, document: &Document) -> Vec<DeclaredLayers> {
    let mut found = Vec::new();
    let Some(message) = document.message() else { return found };
    walk(tree, message, document.span, &mut |visit| {
        let Item::Message(resource) = visit.met else { return };
        let ty = tree.message(resource.ty);
        let api = format_api_name(ty.file().package().name());
        // In v2 days it stood beside the service that sends it.
        let is_runtime = ty.name() == "Runtime"
            && ["envoy.service.runtime.*", "envoy.service.discovery.*"]
                .contains(&api.as_deref().unwrap_or_default());
        if let Some(layer) = resource.get_message(tree, "layer").filter(|_| is_runtime) {
            let name = resource.get_str(tree, "name").unwrap_or_default();
            found.push(DeclaredLayers::from_struct(tree, name, layer));
        }
    });
    found
}

/// The layers of runtime that the bootstrap in a file declares; `None` if it holds no bootstrap.
pub fn declared_layers(tree: &Tree, instance: &Instance) -> Option<DeclaredLayers> {
    let mut bootstraps = instance.documents.iter().filter_map(|it| bootstrap_of(tree, it));
    bootstraps.next().map(|it| DeclaredLayers::from_bootstrap(tree, it))
}

/// The bootstrap that a document holds.
pub(crate) fn bootstrap_of<'d>(tree: &Tree, document: &'d Document) -> Option<&'d Message> {
    document.message().filter(|it| is_bootstrap(tree, it))
}

fn is_bootstrap(tree: &Tree, message: &Message) -> bool {
    let ty = tree.message(message.ty);
    ty.name() == "Bootstrap"
        && format_api_name(ty.file().package().name()).as_deref()
            == Some("envoy.config.bootstrap.*")
}
