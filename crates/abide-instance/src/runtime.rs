//! The layered runtime: settings by key, from layers that override one another.
//!
//! [`DeclaredLayers`] are what a bootstrap declares. A [`Runtime`] holds what each of them
//! says now, and makes a [`RuntimeSnapshot`] of all of them whenever one changes. Nothing
//! here reads a disk, waits for a server or knows the time: files, resources and
//! overrides are handed over. Source: the reference implementation, Envoy 1.40,
//! which `cargo xtask oracle --only runtime` compares with.

mod bootstrap;
mod disk;
mod format_number;
mod fraction;
mod layers;
mod number;
mod problem;
mod snapshot;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use abide_schema::Tree;
use abide_schema::value::Message;

pub use bootstrap::get_known_bootstrap;
pub use disk::{
    DiskFailure, DiskFailureReason, DiskFiles, DiskReading, MAX_FOLDERS, key_to_path, path_to_key,
};
pub use fraction::{Denominator, FractionalPercent};
pub use layers::{DeclaredLayers, DiskLayer, LayerSource, RuntimeLayer};
pub use problem::{LayerProblem, LayerProblemKind};
pub use snapshot::{EffectiveLayer, RuntimeSnapshot, Values};
pub use value::{RuntimeLiteral, RuntimeMember, RuntimeValue};

/// The present values.
#[derive(Clone, Debug)]
pub struct Runtime {
    layers: DeclaredLayers,
    /// The values of each layer, in the order of the layers.
    contents: Vec<LayerContent>,
    /// Paths on disk that must not be keys, with their layers.
    reserved: Vec<(Box<str>, String)>,
    statistics: RuntimeStatistics,
    current: Arc<RuntimeSnapshot>,
}

/// The values of a layer.
#[derive(Clone, Debug)]
enum LayerContent {
    Values(Arc<Values>),
    /// Nothing, and that is no error: there is no such folder.
    Missing,
    Failed(DiskFailure),
}

/// The statistics of a runtime, under the names that Envoy gives them after
/// `runtime.`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuntimeStatistics {
    /// Snapshots for which every layer could be read.
    pub load_success: u64,
    /// Snapshots that lack a layer because of an error.
    pub load_error: u64,
    /// Snapshots with more than one layer from disk.
    pub override_dir_exists: u64,
    /// Snapshots with one layer from disk, or none.
    pub override_dir_not_exists: u64,
    /// The keys of the last snapshot.
    pub num_keys: u64,
    /// The layers of the last snapshot.
    pub num_layers: u64,
    /// True if any key is set by the admin interface.
    pub admin_overrides_active: bool,
}

/// A `Runtime` resource: the values of an RTDS layer.
#[derive(Clone, Debug)]
pub struct RtdsResource {
    /// Its name, which the layer asks for.
    pub name: Box<str>,
    /// Its values.
    pub values: Arc<Values>,
}

/// A refused change of a layer. The layer stays as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeRefusal {
    /// No layer has this name, or it is of another kind.
    NoSuchLayer(String),
    /// An update with so many resources added and removed, not one of both.
    NotOneResource(usize, usize),
    /// A resource that the layer does not ask for: its name, and the expected one.
    OtherResource(String, String),
    /// Runtime is declared without an admin layer.
    NoAdminLayer,
    /// An override that is no YAML: its key, and what is wrong.
    Malformed(String, String),
}

impl fmt::Display for RuntimeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeRefusal::NoSuchLayer(name) => {
                write!(f, "no layer of this kind is named `{name}`")
            }
            RuntimeRefusal::NotOneResource(added, removed) => write!(
                f,
                "an RTDS update adds or removes one resource, not {added} added and {removed} \
                 removed"
            ),
            RuntimeRefusal::OtherResource(name, expected) => {
                write!(f, "the layer asks for the resource `{expected}`, not `{name}`")
            }
            RuntimeRefusal::NoAdminLayer => f.write_str("the runtime has no admin layer"),
            RuntimeRefusal::Malformed(key, reason) => {
                write!(f, "the value of `{key}` is not YAML: {reason}")
            }
        }
    }
}

impl std::error::Error for RuntimeRefusal {}

impl RtdsResource {
    /// A value of the message `Runtime`.
    ///
    /// # Errors
    /// What is wrong with it, if a client would refuse it.
    pub fn from_message(
        tree: &Tree,
        resource: &Message,
    ) -> Result<RtdsResource, Vec<LayerProblem>> {
        let name = resource.get_str(tree, "name").unwrap_or_default().into();
        let mut problems = Vec::new();
        let layer = resource.get_message(tree, "layer");
        let values =
            layer.map_or_else(Values::new, |it| layers::collect_values(tree, it, &mut problems));
        match problems.iter().any(LayerProblem::is_refused) {
            true => Err(problems),
            false => Ok(RtdsResource { name, values: Arc::new(values) }),
        }
    }
}

impl Runtime {
    /// The runtime of declared layers, for the files of those on disk: one reading
    /// for each layer on disk, in their order. A reading too few counts as missing.
    pub fn new(layers: DeclaredLayers, disk: Vec<DiskReading>) -> Runtime {
        let contents = layers.layers().iter().map(|layer| match &layer.source {
            LayerSource::Static(values) => LayerContent::Values(values.clone()),
            LayerSource::Disk(_) => LayerContent::Missing,
            LayerSource::Rtds(_) | LayerSource::Admin => LayerContent::Values(Arc::default()),
        });
        let mut runtime = Runtime {
            contents: contents.collect(),
            layers,
            reserved: Vec::new(),
            statistics: RuntimeStatistics::default(),
            current: Arc::default(),
        };
        runtime.update_disk(disk);
        runtime
    }

    /// The runtime of a management server: a layer for each `Runtime` resource that it
    /// serves, in their order, and above them an admin layer with these values.
    pub fn from_resources(
        resources: impl IntoIterator<Item = RtdsResource>,
        overrides: Arc<Values>,
    ) -> Runtime {
        let resources: Vec<RtdsResource> = resources.into_iter().collect();
        let layers = DeclaredLayers::from_resources(resources.iter().map(|it| &*it.name));
        let mut runtime = Runtime::new(layers, Vec::new());
        let values = resources.into_iter().map(|it| it.values).chain([overrides]);
        runtime.contents = values.map(LayerContent::Values).collect();
        runtime.load();
        runtime
    }

    /// The values of the admin layer; nothing without such a layer.
    pub fn overrides(&self) -> Arc<Values> {
        let mut layers = self.layers.layers().iter().zip(&self.contents);
        let admin = layers.find_map(|(layer, content)| match (&layer.source, content) {
            (LayerSource::Admin, LayerContent::Values(values)) => Some(Arc::clone(values)),
            _ => None,
        });
        admin.unwrap_or_default()
    }

    /// The snapshot of now. It does not change with the runtime.
    pub fn snapshot(&self) -> Arc<RuntimeSnapshot> {
        self.current.clone()
    }

    /// The statistics of now.
    pub fn statistics(&self) -> RuntimeStatistics {
        self.statistics
    }

    /// The declared layers.
    pub fn layers(&self) -> &DeclaredLayers {
        &self.layers
    }

    /// The declared layers that the snapshot lacks, and why: `None` where there is
    /// no folder.
    pub fn iter_left_out(&self) -> impl Iterator<Item = (&RuntimeLayer, Option<&DiskFailure>)> {
        self.layers.layers().iter().zip(&self.contents).filter_map(|(layer, content)| match content
        {
            LayerContent::Values(_) => None,
            LayerContent::Missing => Some((layer, None)),
            LayerContent::Failed(failure) => Some((layer, Some(failure))),
        })
    }

    /// Paths on disk with a name that makes a struct a share, `numerator` or
    /// `denominator`, and the names of their layers: the first path of each layer.
    /// Their keys count, but no static or RTDS layer can spell them.
    pub fn list_unspellable_paths(&self) -> &[(Box<str>, String)] {
        &self.reserved
    }

    /// Takes the files of the layers on disk anew, in the order of the layers.
    pub fn update_disk(&mut self, readings: Vec<DiskReading>) {
        let mut readings = readings.into_iter();
        self.reserved.clear();
        for (layer, content) in self.layers.layers().iter().zip(&mut self.contents) {
            if !matches!(layer.source, LayerSource::Disk(_)) {
                continue;
            }
            *content = match readings.next() {
                None | Some(DiskReading::Missing) => LayerContent::Missing,
                Some(DiskReading::Failed(failure)) => LayerContent::Failed(failure),
                Some(DiskReading::Files(files)) => {
                    let path = disk::find_reserved_path(&files);
                    self.reserved.extend(path.map(|path| (layer.name.clone(), path.to_owned())));
                    match disk::read_values(&files) {
                        Ok(values) => LayerContent::Values(Arc::new(values)),
                        Err(failure) => LayerContent::Failed(failure),
                    }
                }
            };
        }
        self.load();
    }

    /// Takes an update for an RTDS layer: one resource that takes the place of what
    /// the layer said, or the name of one that is removed.
    ///
    /// # Errors
    /// Why the update is refused. The layer keeps what it said.
    pub fn rtds_changed(
        &mut self,
        layer: &str,
        added: &[RtdsResource],
        removed: &[&str],
    ) -> Result<(), RuntimeRefusal> {
        let (expected, content) = self.rtds(layer)?;
        let (name, values) = match (added, removed) {
            ([resource], []) => (&*resource.name, resource.values.clone()),
            ([], [name]) => (*name, Arc::default()),
            _ => return Err(RuntimeRefusal::NotOneResource(added.len(), removed.len())),
        };
        if name != expected {
            return Err(RuntimeRefusal::OtherResource(name.to_owned(), expected.to_owned()));
        }
        *content = LayerContent::Values(values);
        self.load();
        Ok(())
    }

    fn rtds(&mut self, name: &str) -> Result<(&str, &mut LayerContent), RuntimeRefusal> {
        let mut layers = self.layers.layers().iter().zip(&mut self.contents);
        let found = layers.find_map(|(layer, content)| match &layer.source {
            LayerSource::Rtds(resource) if &*layer.name == name => Some((&**resource, content)),
            _ => None,
        });
        found.ok_or_else(|| RuntimeRefusal::NoSuchLayer(name.to_owned()))
    }

    /// Sets keys in the admin layer. An empty value removes what was set for a key.
    ///
    /// Where the bootstrap says nothing about runtime, an admin layer comes into
    /// being. (Envoy refuses instead; ask [`DeclaredLayers::is_declared`] to do the same.)
    ///
    /// # Errors
    /// Why nothing was set.
    pub fn modify<'k>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<(), RuntimeRefusal> {
        let mut parsed = BTreeMap::new();
        for (key, text) in pairs {
            let value = match text {
                "" => None,
                text => Some(
                    RuntimeValue::parse_text(text)
                        .map_err(|reason| RuntimeRefusal::Malformed(key.to_owned(), reason))?,
                ),
            };
            parsed.insert(key, value);
        }
        if !self.layers.is_declared() && self.layers.layers().is_empty() {
            self.layers.add_admin();
            self.contents.push(LayerContent::Values(Arc::default()));
        }
        let is_admin = |layer: &RuntimeLayer| matches!(layer.source, LayerSource::Admin);
        let admin = self.layers.layers().iter().position(is_admin);
        let content = admin.and_then(|at| self.contents.get_mut(at));
        let Some(LayerContent::Values(values)) = content else {
            return Err(RuntimeRefusal::NoAdminLayer);
        };
        let changed = Arc::make_mut(values);
        for (key, value) in parsed {
            match value {
                Some(value) => changed.insert(key.into(), value),
                None => changed.remove(key),
            };
        }
        self.load();
        Ok(())
    }

    /// Makes a snapshot of what all layers say.
    fn load(&mut self) {
        let mut layers = Vec::new();
        let (mut on_disk, mut has_failed) = (0, false);
        for (layer, content) in self.layers.layers().iter().zip(&self.contents) {
            match content {
                LayerContent::Values(values) => {
                    on_disk += u32::from(matches!(layer.source, LayerSource::Disk(_)));
                    let (name, values) = (layer.name.clone(), values.clone());
                    layers.push(EffectiveLayer { name, values });
                }
                LayerContent::Missing => {}
                LayerContent::Failed(_) => has_failed = true,
            }
        }
        let is_overridden = !self.overrides().is_empty();
        let statistics = &mut self.statistics;
        statistics.admin_overrides_active = is_overridden;
        *match has_failed {
            true => &mut statistics.load_error,
            false => &mut statistics.load_success,
        } += 1;
        *match on_disk > 1 {
            true => &mut statistics.override_dir_exists,
            false => &mut statistics.override_dir_not_exists,
        } += 1;
        let snapshot = RuntimeSnapshot::from_layers(layers);
        statistics.num_layers = snapshot.layers().len() as u64;
        statistics.num_keys = snapshot.keys().len() as u64;
        self.current = Arc::new(snapshot);
    }
}

#[cfg(test)]
mod tests;
