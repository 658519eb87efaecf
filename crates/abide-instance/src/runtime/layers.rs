//! The layers that a bootstrap declares.

use std::sync::Arc;

use abide_schema::Tree;
use abide_schema::value::{Entry, Message};
use abide_syntax::Span;

use super::fraction::RESERVED;
use super::number::trimmed;
use super::problem::{LayerProblem, LayerProblemKind};
use super::snapshot::Values;
use super::value::{Literal, Member, RuntimeValue, members_of};

/// The layers that a bootstrap declares, the first of them the lowest.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
    problems: Vec<LayerProblem>,
    is_declared: bool,
    service_cluster: Box<str>,
}

/// A declared layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its name.
    pub name: Box<str>,
    /// Where it is declared.
    pub span: Span,
    /// Where its values are from.
    pub source: LayerSource,
}

/// Where the values of a layer are from.
#[derive(Clone, Debug)]
pub enum LayerSource {
    /// The bootstrap itself.
    Static(Arc<Values>),
    /// A folder.
    Disk(DiskLayer),
    /// A management server: the name of the resource.
    Rtds(Box<str>),
    /// Whoever may use the admin interface.
    Admin,
}

/// Where a layer on disk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskLayer {
    /// The link that leads to the current tree.
    pub symlink_root: Box<str>,
    /// The folder in that tree, with the service cluster where that is appended.
    pub folder: Box<str>,
}

impl Layers {
    /// The layers of a bootstrap: those of `layered_runtime`, else those that the
    /// older `runtime` stands for.
    pub fn of(tree: &Tree, bootstrap: &Message) -> Layers {
        let node = bootstrap.get_message(tree, "node");
        let cluster = node.and_then(|it| it.get_str(tree, "cluster")).unwrap_or_default();
        Layers::for_cluster(tree, bootstrap, cluster)
    }

    /// The layers of a bootstrap for a service cluster that is named elsewhere, as
    /// by `--service-cluster`: it beats that of the bootstrap.
    pub fn for_cluster(tree: &Tree, bootstrap: &Message, service_cluster: &str) -> Layers {
        let mut found = Layers { service_cluster: service_cluster.into(), ..Layers::default() };
        if let Some(runtime) = bootstrap.get_message(tree, "layered_runtime") {
            found.is_declared = true;
            for entry in runtime.get_all(tree, "layers") {
                found.declare(tree, entry);
            }
            if found.layers.is_empty() && found.problems.is_empty() {
                found.push("", Span::default(), LayerSource::Admin);
            }
        } else if let Some(entry) = bootstrap.get(tree, "runtime") {
            found.is_declared = true;
            found.declare_older(tree, entry);
        }
        found
    }

    /// One layer alone: the files below a folder.
    pub fn of_folder(root: &str) -> Layers {
        let source = LayerSource::Disk(DiskLayer { symlink_root: root.into(), folder: "".into() });
        let mut found = Layers { is_declared: true, ..Layers::default() };
        found.push(root, Span::default(), source);
        found
    }

    /// One layer alone: the keys of a `google.protobuf.Struct`.
    pub fn of_struct(tree: &Tree, name: &str, fields: &Message) -> Layers {
        let mut found = Layers { is_declared: true, ..Layers::default() };
        let values = found.values(tree, fields);
        found.push(name, Span::default(), values);
        found
    }

    /// An RTDS layer for each of these resources, and an admin layer above them.
    pub(super) fn of_resources<'n>(names: impl IntoIterator<Item = &'n str>) -> Layers {
        let mut found = Layers { is_declared: true, ..Layers::default() };
        for name in names {
            found.push(name, Span::default(), LayerSource::Rtds(name.into()));
        }
        found.add_admin();
        found
    }

    /// The declared layers, without those that are refused.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What is wrong with them.
    pub fn problems(&self) -> &[LayerProblem] {
        &self.problems
    }

    /// Whether the bootstrap says anything about runtime.
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
        self.layers.push(Layer { name: name.into(), span, source });
    }

    fn report(&mut self, kind: LayerProblemKind, span: Span) {
        self.problems.push(LayerProblem::new(kind, span));
    }

    /// Adds a `RuntimeLayer`.
    fn declare(&mut self, tree: &Tree, entry: &Entry) {
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
            Some(("static_layer", _, fields)) => self.values(tree, fields),
            Some(("disk_layer", source, disk)) => {
                let text = |name| disk.get_str(tree, name).unwrap_or_default();
                let root = text("symlink_root");
                if !root.contains('/') {
                    let place = disk.get(tree, "symlink_root").unwrap_or(source).span;
                    self.report(LayerProblemKind::RootWithoutSlash(root.into()), place);
                }
                let appends = disk.get_bool(tree, "append_service_cluster").unwrap_or_default();
                self.disk(root, text("subdirectory"), appends)
            }
            Some(("rtds_layer", _, rtds)) => {
                LayerSource::Rtds(rtds.get_str(tree, "name").unwrap_or_default().into())
            }
            Some(("admin_layer", source, _)) => {
                let is_admin = |it: &&Layer| matches!(it.source, LayerSource::Admin);
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
    fn declare_older(&mut self, tree: &Tree, entry: &Entry) {
        let Some(runtime) = entry.value.as_message() else { return };
        let text = |name| runtime.get_str(tree, name).unwrap_or_default();
        let none = Message::new(runtime.ty);
        let base = runtime.get_message(tree, "base").unwrap_or(&none);
        let base = self.values(tree, base);
        self.push("base", entry.key, base);
        if !text("symlink_root").is_empty() {
            for (name, folder) in [("root", "subdirectory"), ("override", "override_subdirectory")]
            {
                if name == "root" || !text(folder).is_empty() {
                    let disk = self.disk(text("symlink_root"), text(folder), name == "override");
                    self.push(name, entry.key, disk);
                }
            }
        }
        self.push("admin", entry.key, LayerSource::Admin);
    }

    fn disk(&self, root: &str, subdirectory: &str, appends_cluster: bool) -> LayerSource {
        let folder = match appends_cluster {
            true => format!("{subdirectory}/{}", self.service_cluster),
            false => subdirectory.to_owned(),
        };
        LayerSource::Disk(DiskLayer { symlink_root: root.into(), folder: folder.into() })
    }

    fn values(&mut self, tree: &Tree, fields: &Message) -> LayerSource {
        let values = values_of(tree, fields, &mut self.problems);
        LayerSource::Static(Arc::new(values))
    }
}

/// The keys and values of a `google.protobuf.Struct`: a struct inside it is a level
/// of keys, unless it is empty or a share.
pub(super) fn values_of(tree: &Tree, fields: &Message, problems: &mut Vec<LayerProblem>) -> Values {
    let mut values = Values::new();
    for member in members_of(tree, fields) {
        let key = String::from(&*member.key);
        add(member, key, &mut values, problems);
    }
    values
}

fn add(member: Member, key: String, values: &mut Values, problems: &mut Vec<LayerProblem>) {
    let mut report = |kind: fn(Box<str>) -> LayerProblemKind| {
        problems.push(LayerProblem::new(kind(key.as_str().into()), member.span));
    };
    match &member.value {
        Literal::Null | Literal::List => return report(LayerProblemKind::NoValue),
        Literal::Struct(inner) if inner.iter().any(|it| RESERVED.contains(&&*it.key)) => {
            if super::FractionalPercent::of_members(inner).is_none() {
                report(LayerProblemKind::NoShare);
            }
        }
        Literal::Text(text) => {
            let word = trimmed(text);
            if word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false") {
                report(LayerProblemKind::BooleanInQuotes);
            }
        }
        Literal::Struct(_) | Literal::Bool(_) | Literal::Number(_) => {}
    }
    match member.value {
        Literal::Struct(inner)
            if !inner.is_empty() && !inner.iter().any(|it| RESERVED.contains(&&*it.key)) =>
        {
            for member in inner {
                let key = format!("{key}.{}", member.key);
                add(member, key, values, problems);
            }
        }
        literal => match values.get(key.as_str()) {
            Some(first) => {
                let kind = LayerProblemKind::KeyTwice(key.into(), first.span);
                problems.push(LayerProblem::new(kind, member.span));
            }
            None => {
                values.insert(key.into(), RuntimeValue::of_literal(literal, member.span));
            }
        },
    }
}
