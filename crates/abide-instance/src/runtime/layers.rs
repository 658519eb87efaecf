//! The layers that a bootstrap declares.

use std::sync::Arc;

use abide_schema::Tree;
use abide_schema::value::{Entry, Message};
use abide_syntax::Span;

use super::fraction::RESERVED;
use super::number::trim_white_space;
use super::problem::{LayerProblem, LayerProblemKind};
use super::snapshot::Values;
use super::value::{RuntimeLiteral, RuntimeMember, RuntimeValue, read_members};

/// The layers that a bootstrap declares, the first of them the lowest.
#[derive(Clone, Debug, Default)]
pub struct DeclaredLayers {
    layers: Vec<RuntimeLayer>,
    problems: Vec<LayerProblem>,
    is_declared: bool,
    service_cluster: Box<str>,
}

/// A declared layer.
#[derive(Clone, Debug)]
pub struct RuntimeLayer {
    /// Its name.
    pub name: Box<str>,
    /// The span of its declaration.
    pub span: Span,
    /// The source of its values.
    pub source: LayerSource,
}

/// The source of the values of a layer.
#[derive(Clone, Debug)]
pub enum LayerSource {
    /// The bootstrap itself.
    Static(Arc<Values>),
    /// A folder.
    Disk(DiskLayer),
    /// A management server: the name of the resource.
    Rtds(Box<str>),
    /// Anybody who may use the admin interface.
    Admin,
}

/// The folders of a layer on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskLayer {
    /// The link that leads to the current tree.
    pub symlink_root: Box<str>,
    /// The folder in that tree, with the service cluster where that is appended.
    pub folder: Box<str>,
}

impl DeclaredLayers {
    /// The layers of a bootstrap: those of `layered_runtime`, else those that the
    /// older `runtime` stands for.
    pub fn from_bootstrap(tree: &Tree, bootstrap: &Message) -> DeclaredLayers {
        let node = bootstrap.get_message(tree, "node");
        let cluster = node.and_then(|it| it.get_str(tree, "cluster")).unwrap_or_default();
        DeclaredLayers::from_bootstrap_of_cluster(tree, bootstrap, cluster)
    }

    /// The layers of a bootstrap for a service cluster that is named elsewhere, as
    /// by `--service-cluster`: it beats that of the bootstrap.
    pub fn from_bootstrap_of_cluster(
        tree: &Tree,
        bootstrap: &Message,
        service_cluster: &str,
    ) -> DeclaredLayers {
        let mut found =
            DeclaredLayers { service_cluster: service_cluster.into(), ..DeclaredLayers::default() };
        if let Some(runtime) = bootstrap.get_message(tree, "layered_runtime") {
            found.is_declared = true;
            for entry in runtime.get_all(tree, "layers") {
                found.add_declared(tree, entry);
            }
            if found.layers.is_empty() && found.problems.is_empty() {
                found.push("", Span::default(), LayerSource::Admin);
            }
        } else if let Some(entry) = bootstrap.get(tree, "runtime") {
            found.is_declared = true;
            found.add_older(tree, entry);
        }
        found
    }

    /// One layer alone: the files below a folder.
    pub fn from_folder(root: &str) -> DeclaredLayers {
        let source = LayerSource::Disk(DiskLayer { symlink_root: root.into(), folder: "".into() });
        let mut found = DeclaredLayers { is_declared: true, ..DeclaredLayers::default() };
        found.push(root, Span::default(), source);
        found
    }

    /// One layer alone: the keys of a `google.protobuf.Struct`.
    pub fn from_struct(tree: &Tree, name: &str, fields: &Message) -> DeclaredLayers {
        let mut found = DeclaredLayers { is_declared: true, ..DeclaredLayers::default() };
        let values = found.build_static_source(tree, fields);
        found.push(name, Span::default(), values);
        found
    }

    /// An RTDS layer for each of these resources, and an admin layer above them.
    pub(super) fn from_resources<'n>(names: impl IntoIterator<Item = &'n str>) -> DeclaredLayers {
        let mut found = DeclaredLayers { is_declared: true, ..DeclaredLayers::default() };
        for name in names {
            found.push(name, Span::default(), LayerSource::Rtds(name.into()));
        }
        found.add_admin();
        found
    }

    /// The declared layers, without those that are refused.
    pub fn layers(&self) -> &[RuntimeLayer] {
        &self.layers
    }

    /// The problems of the layers.
    pub fn problems(&self) -> &[LayerProblem] {
        &self.problems
    }

    /// Returns true if the bootstrap says anything about runtime.
    pub fn is_declared(&self) -> bool {
        self.is_declared
    }

    /// The service cluster that folders are looked up for.
    pub fn service_cluster(&self) -> &str {
        &self.service_cluster
    }

    /// Adds an admin layer above all, for a bootstrap that declares none.
    pub(super) fn add_admin(&mut self) {
        self.push("admin", Span::default(), LayerSource::Admin);
    }

    fn push(&mut self, name: &str, span: Span, source: LayerSource) {
        self.layers.push(RuntimeLayer { name: name.into(), span, source });
    }

    fn report(&mut self, kind: LayerProblemKind, span: Span) {
        self.problems.push(LayerProblem::new(kind, span));
    }

    /// Adds a `RuntimeLayer`.
    fn add_declared(&mut self, tree: &Tree, entry: &Entry) {
        let Some(layer) = entry.value.as_message() else { return };
        let named = layer.get(tree, "name");
        let name = named.and_then(|it| it.value.as_str()).unwrap_or_default();
        let at = named.map_or(entry.span, |it| it.span);
        if name.is_empty() {
            return self.report(LayerProblemKind::NoName, at);
        }
        if let Some(first) = self.layers.iter().find(|it| &*it.name == name) {
            let first = first.span;
            return self.report(LayerProblemKind::NameTaken(name.into(), first), at);
        }
        // Of a oneof the last member counts.
        let mut sources = layer.entries.iter().rev().filter_map(|source| {
            Some((tree.field(source.field).name(), source, source.value.as_message()?))
        });
        let source = match sources.next() {
            Some(("static_layer", _, fields)) => self.build_static_source(tree, fields),
            Some(("disk_layer", source, disk)) => {
                let text = |name| disk.get_str(tree, name).unwrap_or_default();
                let root = text("symlink_root");
                if !root.contains('/') {
                    let place = disk.get(tree, "symlink_root").unwrap_or(source).span;
                    self.report(LayerProblemKind::RootWithoutSlash(root.into()), place);
                }
                let appends = disk.get_bool(tree, "append_service_cluster").unwrap_or_default();
                self.build_disk_source(root, text("subdirectory"), appends)
            }
            Some(("rtds_layer", _, rtds)) => {
                LayerSource::Rtds(rtds.get_str(tree, "name").unwrap_or_default().into())
            }
            Some(("admin_layer", source, _)) => {
                let is_admin = |it: &&RuntimeLayer| matches!(it.source, LayerSource::Admin);
                if let Some(first) = self.layers.iter().find(is_admin) {
                    let kind = LayerProblemKind::SeveralAdminLayers(first.span);
                    return self.report(kind, source.key);
                }
                LayerSource::Admin
            }
            _ => return self.report(LayerProblemKind::NoSource(name.into()), entry.span),
        };
        self.push(name, at, source);
    }

    /// Adds the layers of the older `Runtime`, whose order is fixed.
    fn add_older(&mut self, tree: &Tree, entry: &Entry) {
        let Some(runtime) = entry.value.as_message() else { return };
        let text = |name| runtime.get_str(tree, name).unwrap_or_default();
        let none = Message::new(runtime.ty);
        let base = runtime.get_message(tree, "base").unwrap_or(&none);
        let base = self.build_static_source(tree, base);
        self.push("base", entry.key, base);
        if !text("symlink_root").is_empty() {
            for (name, folder) in [("root", "subdirectory"), ("override", "override_subdirectory")]
            {
                if name == "root" || !text(folder).is_empty() {
                    let disk = self.build_disk_source(
                        text("symlink_root"),
                        text(folder),
                        name == "override",
                    );
                    self.push(name, entry.key, disk);
                }
            }
        }
        self.push("admin", entry.key, LayerSource::Admin);
    }

    fn build_disk_source(
        &self,
        root: &str,
        subdirectory: &str,
        appends_cluster: bool,
    ) -> LayerSource {
        let folder = match appends_cluster {
            true => format!("{subdirectory}/{}", self.service_cluster),
            false => subdirectory.to_owned(),
        };
        LayerSource::Disk(DiskLayer { symlink_root: root.into(), folder: folder.into() })
    }

    fn build_static_source(&mut self, tree: &Tree, fields: &Message) -> LayerSource {
        let values = collect_values(tree, fields, &mut self.problems);
        LayerSource::Static(Arc::new(values))
    }
}

/// The keys and values of a `google.protobuf.Struct`: a struct inside it is a level
/// of keys, unless it is empty or a share.
pub(super) fn collect_values(
    tree: &Tree,
    fields: &Message,
    problems: &mut Vec<LayerProblem>,
) -> Values {
    let mut values = Values::new();
    for member in read_members(tree, fields) {
        let key = String::from(&*member.key);
        add_member(member, key, &mut values, problems);
    }
    values
}

fn add_member(
    member: RuntimeMember,
    key: String,
    values: &mut Values,
    problems: &mut Vec<LayerProblem>,
) {
    let mut report = |kind: fn(Box<str>) -> LayerProblemKind| {
        problems.push(LayerProblem::new(kind(key.as_str().into()), member.span));
    };
    match &member.value {
        RuntimeLiteral::Null | RuntimeLiteral::List => return report(LayerProblemKind::NoValue),
        RuntimeLiteral::Struct(inner) if inner.iter().any(|it| RESERVED.contains(&&*it.key)) => {
            if super::FractionalPercent::from_members(inner).is_none() {
                report(LayerProblemKind::NoShare);
            }
        }
        RuntimeLiteral::Text(text) => {
            let word = trim_white_space(text);
            if word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false") {
                report(LayerProblemKind::BooleanInQuotes);
            }
        }
        RuntimeLiteral::Struct(_) | RuntimeLiteral::Bool(_) | RuntimeLiteral::Number(_) => {}
    }
    match member.value {
        RuntimeLiteral::Struct(inner)
            if !inner.is_empty() && !inner.iter().any(|it| RESERVED.contains(&&*it.key)) =>
        {
            for member in inner {
                let key = format!("{key}.{}", member.key);
                add_member(member, key, values, problems);
            }
        }
        literal => match values.get(key.as_str()) {
            Some(first) => {
                let kind = LayerProblemKind::KeyTwice(key.into(), first.span);
                problems.push(LayerProblem::new(kind, member.span));
            }
            None => {
                values.insert(key.into(), RuntimeValue::from_literal(literal, member.span));
            }
        },
    }
}
