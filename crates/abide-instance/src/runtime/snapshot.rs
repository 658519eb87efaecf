//! A snapshot of the values of all layers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fraction::FractionalPercent;
use super::value::RuntimeValue;

/// The keys of a layer with their values.
pub type Values = BTreeMap<Box<str>, RuntimeValue>;

/// A layer that counts: one that was read without errors.
#[derive(Clone, Debug)]
pub struct EffectiveLayer {
    /// Its name.
    pub name: Box<str>,
    /// The value.
    pub values: Arc<Values>,
}

/// All layers at one moment. It never changes: whoever holds one sees values that
/// belong together.
#[derive(Clone, Debug, Default)]
pub struct RuntimeSnapshot {
    layers: Vec<EffectiveLayer>,
    /// Every key, and the last layer that has it.
    last: BTreeMap<Box<str>, usize>,
}

impl RuntimeSnapshot {
    /// A snapshot of layers, the first of them the lowest.
    pub(super) fn from_layers(layers: Vec<EffectiveLayer>) -> RuntimeSnapshot {
        let mut last = BTreeMap::new();
        for (at, layer) in layers.iter().enumerate() {
            for key in layer.values.keys() {
                last.insert(key.clone(), at);
            }
        }
        RuntimeSnapshot { layers, last }
    }

    /// The layers that count, in their order.
    pub fn layers(&self) -> &[EffectiveLayer] {
        &self.layers
    }

    /// Every key that a layer has, in alphabetical order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.last.keys().map(|key| &**key)
    }

    /// The value that each layer has for a key, in the order of the layers.
    pub fn iter_by_layer(&self, key: &str) -> impl Iterator<Item = Option<&RuntimeValue>> {
        self.layers.iter().map(move |layer| layer.values.get(key))
    }

    /// The value of a key: that of the last layer which has the key.
    pub fn get(&self, key: &str) -> Option<&RuntimeValue> {
        Some(self.find_deciding_layer(key)?.1)
    }

    /// The value of a key, and the layer that it is from.
    pub fn find_deciding_layer(&self, key: &str) -> Option<(&EffectiveLayer, &RuntimeValue)> {
        // Readers never find the empty key, though a layer may have it.
        let at = self.last.get(key).filter(|_| !key.is_empty())?;
        let layer = self.layers.get(*at)?;
        Some((layer, layer.values.get(key)?))
    }

    /// Reads a boolean as Envoy does; `None` means the reader's default.
    pub fn get_boolean(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_boolean()
    }

    /// Reads a whole number as Envoy does; `None` means the reader's default.
    pub fn get_integer(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_integer()
    }

    /// Reads a number as Envoy does; `None` means the reader's default.
    pub fn get_number(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_number()
    }

    /// Reads a text as Envoy does; `None` means the reader's default.
    pub fn get_text(&self, key: &str) -> Option<&str> {
        Some(&self.get(key)?.text)
    }

    /// Returns true if a feature is on for a random number, where the reader asks for a
    /// share. A whole number counts in percent.
    pub fn is_enabled(&self, key: &str, default: FractionalPercent, random: u64) -> bool {
        let value = self.get(key);
        if let Some(share) = value.and_then(RuntimeValue::as_percent) {
            return share.includes(random);
        }
        match value.and_then(RuntimeValue::as_integer) {
            Some(percent) => random % 100 < percent.min(100),
            None => default.includes(random),
        }
    }

    /// Returns true if a feature is on for a random number, where the reader asks for a
    /// whole number of so many buckets.
    pub fn is_enabled_in(&self, key: &str, default: u64, random: u64, buckets: u64) -> bool {
        let buckets = buckets.max(1);
        random % buckets < self.get_integer(key).unwrap_or(default).min(buckets)
    }
}
