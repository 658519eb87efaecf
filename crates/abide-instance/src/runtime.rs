//! The layered runtime: settings by key, from layers that override one another.
//!
//! [`Layers`] are what a bootstrap declares. A [`Runtime`] holds what each of them
//! says now, and makes a [`Snapshot`] of all of them whenever one changes. Nothing
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

pub use bootstrap::known_bootstrap;
pub use disk::{
    DiskFailure, DiskFailureReason, DiskFiles, DiskReading, MAX_FOLDERS, key_of_path, path_of_key,
};
pub use fraction::{Denominator, FractionalPercent};
pub use layers::{DiskLayer, Layer, LayerSource, Layers};
pub use problem::{LayerProblem, LayerProblemKind};
pub use snapshot::{EffectiveLayer, Snapshot, Values};
pub use value::{Literal, Member, RuntimeValue};

/// What the layers say now.
#[derive(Clone, Debug)]
pub struct Runtime {
    layers: Layers,
    /// What each layer says, in the order of the layers.
    contents: Vec<Content>,
    /// Paths on disk that must not be keys, with their layers.
    reserved: Vec<(Box<str>, String)>,
    statistics: Statistics,
    current: Arc<Snapshot>,
}

/// What a layer says.
#[derive(Clone, Debug)]
enum Content {
    Values(Arc<Values>),
    /// Nothing, and that is no error: there is no such folder.
    Missing,
    Failed(DiskFailure),
}

/// The statistics of a runtime, under the names that Envoy gives them after
/// `runtime.`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
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
    /// Whether any key is set by the admin interface.
    pub admin_overrides_active: bool,
}

/// A `Runtime` resource: the values of an RTDS layer.
#[derive(Clone, Debug)]
pub struct RtdsResource {
    /// Its name, which the layer asks for.
    pub name: Box<str>,
    /// What it says.
    pub values: Arc<Values>,
}

/// Why a change of a layer is refused. The layer stays as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoSuchLayer(name) => write!(f, "no layer of this kind is named `{name}`"),
            Refusal::NotOneResource(added, removed) => write!(
                f,
                "an RTDS update adds or removes one resource, not {added} added and {removed} \
                 removed"
            ),
            Refusal::OtherResource(name, expected) => {
                write!(f, "the layer asks for the resource `{expected}`, not `{name}`")
            }
            Refusal::NoAdminLayer => f.write_str("the runtime has no admin layer"),
            Refusal::Malformed(key, reason) => {
                write!(f, "the value of `{key}` is not YAML: {reason}")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl RtdsResource {
    /// A value of the message `Runtime`.
    ///
    /// # Errors
    /// What is wrong with it, if a client would refuse it.
    pub fn of(tree: &Tree, resource: &Message) -> Result<RtdsResource, Vec<LayerProblem>> {
        let name = resource.get_str(tree, "name").unwrap_or_default().into();
        let mut problems = Vec::new();
        let layer = resource.get_message(tree, "layer");
        let values =
            layer.map_or_else(Values::new, |it| layers::values_of(tree, it, &mut problems));
        match problems.iter().any(LayerProblem::is_refused) {
            true => Err(problems),
            false => Ok(RtdsResource { name, values: Arc::new(values) }),
        }
    }
}

impl Runtime {
    /// The runtime of declared layers, for the files of those on disk: one reading
    /// for each layer on disk, in their order. A reading too few counts as missing.
    pub fn new(layers: Layers, disk: Vec<DiskReading>) -> Runtime {
        let contents = layers.layers().iter().map(|layer| match &layer.source {
            LayerSource::Static(values) => Content::Values(values.clone()),
            LayerSource::Disk(_) => Content::Missing,
            LayerSource::Rtds(_) | LayerSource::Admin => Content::Values(Arc::default()),
        });
        let mut runtime = Runtime {
            contents: contents.collect(),
            layers,
            reserved: Vec::new(),
            statistics: Statistics::default(),
            current: Arc::default(),
        };
        runtime.disk_changed(disk);
        runtime
    }

    /// The runtime of a management server: a layer for each `Runtime` resource that it
    /// serves, in their order, and above them an admin layer with these values.
    pub fn of_resources(
        resources: impl IntoIterator<Item = RtdsResource>,
        overrides: Arc<Values>,
    ) -> Runtime {
        let resources: Vec<RtdsResource> = resources.into_iter().collect();
        let layers = Layers::of_resources(resources.iter().map(|it| &*it.name));
        let mut runtime = Runtime::new(layers, Vec::new());
        let values = resources.into_iter().map(|it| it.values).chain([overrides]);
        runtime.contents = values.map(Content::Values).collect();
        runtime.load();
        runtime
    }

    /// What the admin layer says; nothing without such a layer.
    pub fn overrides(&self) -> Arc<Values> {
        let mut layers = self.layers.layers().iter().zip(&self.contents);
        let admin = layers.find_map(|(layer, content)| match (&layer.source, content) {
            (LayerSource::Admin, Content::Values(values)) => Some(Arc::clone(values)),
            _ => None,
        });
        admin.unwrap_or_default()
    }

    /// The snapshot of now. It does not change with the runtime.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.clone()
    }

    /// The statistics of now.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The declared layers.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The declared layers that the snapshot lacks, and why: `None` where there is
    /// no folder.
    pub fn left_out(&self) -> impl Iterator<Item = (&Layer, Option<&DiskFailure>)> {
        self.layers.layers().iter().zip(&self.contents).filter_map(|(layer, content)| match content
        {
            Content::Values(_) => None,
            Content::Missing => Some((layer, None)),
            Content::Failed(failure) => Some((layer, Some(failure))),
        })
    }

    /// Paths on disk with a name that makes a struct a share, `numerator` or
    /// `denominator`, and the names of their layers: the first path of each layer.
    /// Their keys count, but no static or RTDS layer can spell them.
    pub fn reserved_paths(&self) -> &[(Box<str>, String)] {
        &self.reserved
    }

    /// Takes the files of the layers on disk anew, in the order of the layers.
    pub fn disk_changed(&mut self, readings: Vec<DiskReading>) {
        let mut readings = readings.into_iter();
        self.reserved.clear();
        for (layer, content) in self.layers.layers().iter().zip(&mut self.contents) {
            if !matches!(layer.source, LayerSource::Disk(_)) {
                continue;
            }
            *content = match readings.next() {
                None | Some(DiskReading::Missing) => Content::Missing,
                Some(DiskReading::Failed(failure)) => Content::Failed(failure),
                Some(DiskReading::Files(files)) => {
                    let path = disk::reserved_path(&files);
                    self.reserved.extend(path.map(|path| (layer.name.clone(), path.to_owned())));
                    match disk::values_of(&files) {
                        Ok(values) => Content::Values(Arc::new(values)),
                        Err(failure) => Content::Failed(failure),
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
    ) -> Result<(), Refusal> {
        let (expected, content) = self.rtds(layer)?;
        let (name, values) = match (added, removed) {
            ([resource], []) => (&*resource.name, resource.values.clone()),
            ([], [name]) => (*name, Arc::default()),
            _ => return Err(Refusal::NotOneResource(added.len(), removed.len())),
        };
        if name != expected {
            return Err(Refusal::OtherResource(name.to_owned(), expected.to_owned()));
        }
        *content = Content::Values(values);
        self.load();
        Ok(())
    }

    fn rtds(&mut self, name: &str) -> Result<(&str, &mut Content), Refusal> {
        let mut layers = self.layers.layers().iter().zip(&mut self.contents);
        let found = layers.find_map(|(layer, content)| match &layer.source {
            LayerSource::Rtds(resource) if &*layer.name == name => Some((&**resource, content)),
            _ => None,
        });
        found.ok_or_else(|| Refusal::NoSuchLayer(name.to_owned()))
    }

    /// Sets keys in the admin layer. An empty value removes what was set for a key.
    ///
    /// Where the bootstrap says nothing about runtime, an admin layer comes into
    /// being. (Envoy refuses instead; ask [`Layers::is_declared`] to do the same.)
    ///
    /// # Errors
    /// Why nothing was set.
    pub fn modify<'k>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<(), Refusal> {
        let mut parsed = BTreeMap::new();
        for (key, text) in pairs {
            let value = match text {
                "" => None,
                text => Some(
                    RuntimeValue::of_text(text)
                        .map_err(|reason| Refusal::Malformed(key.to_owned(), reason))?,
                ),
            };
            parsed.insert(key, value);
        }
        if !self.layers.is_declared() && self.layers.layers().is_empty() {
            self.layers.add_admin();
            self.contents.push(Content::Values(Arc::default()));
        }
        let is_admin = |layer: &Layer| matches!(layer.source, LayerSource::Admin);
        let admin = self.layers.layers().iter().position(is_admin);
        let content = admin.and_then(|at| self.contents.get_mut(at));
        let Some(Content::Values(values)) = content else { return Err(Refusal::NoAdminLayer) };
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
                Content::Values(values) => {
                    on_disk += u32::from(matches!(layer.source, LayerSource::Disk(_)));
                    let (name, values) = (layer.name.clone(), values.clone());
                    layers.push(EffectiveLayer { name, values });
                }
                Content::Missing => {}
                Content::Failed(_) => has_failed = true,
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
        let snapshot = Snapshot::of(layers);
        statistics.num_layers = snapshot.layers().len() as u64;
        statistics.num_keys = snapshot.keys().len() as u64;
        self.current = Arc::new(snapshot);
    }
}

#[cfg(test)]
mod tests;
