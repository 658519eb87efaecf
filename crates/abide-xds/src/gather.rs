//! Instances made into a snapshot.

mod canonical;
mod health_checks;
mod references;

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_instance::Instance;
use abide_instance::runtime::{LayerProblem, RtdsResource};
use abide_schema::Tree;
use abide_schema::value::{Codec, Message, Value};
use abide_syntax::Span;

use crate::collection::Collection;
use crate::kind::{Kind, TYPE_URL_PREFIX, Types};
use crate::resource::{Resource, hash};
use crate::snapshot::Snapshot;
use canonical::canonicalize;
use health_checks::find_first_round;
use references::collect_references;

/// The resources of one instance.
#[derive(Clone, Debug, Default)]
pub struct Found {
    resources: Vec<FoundResource>,
    /// Messages that are not resources: the place of each, and what is wrong with it.
    misfits: Vec<(Span, String)>,
    /// Parts of what is around resources that have no effect: the place of each, and why.
    notes: Vec<(Span, String)>,
}

#[derive(Clone, Debug)]
struct FoundResource {
    type_url: Arc<str>,
    resource: Arc<Resource>,
    span: Span,
}

impl Found {
    /// Its resources, each with its type URL.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Arc<Resource>)> {
        self.resources.iter().map(|it| (&*it.type_url, &it.resource))
    }

    /// What is around its resources and has no effect: the place of each part, and why, one phrase.
    pub fn notes(&self) -> impl Iterator<Item = (Span, &str)> {
        self.notes.iter().map(|(span, message)| (*span, &**message))
    }

    /// Its resources: the type URL, the name and the place of each.
    pub fn places(&self) -> impl Iterator<Item = (&str, &str, Span)> {
        self.resources.iter().map(|it| (&*it.type_url, &*it.resource.name, it.span))
    }
}

/// The resources of several instances together.
#[derive(Clone, Debug, Default)]
pub struct BuiltSnapshot {
    /// Their resources.
    pub snapshot: Snapshot,
    /// Messages that are not resources, in the order of the instances and of the places in them.
    pub misfits: Vec<RejectedResource>,
}

/// Something in an instance that is no resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedResource {
    /// The number of its instance.
    pub file: usize,
    /// Its place.
    pub span: Span,
    /// The problem, one phrase.
    pub message: String,
}

/// Finds the resources of an instance: each document is one, or a `DiscoveryResponse`
/// with several, or a `Resource` that wraps one with a name and aliases. Documents
/// without a type are passed over: whoever checks instances reports them.
pub fn find(types: &Types, tree: &Tree, instance: &Instance) -> Found {
    let mut finding = Finding { types, tree, found: Found::default() };
    for document in &instance.documents {
        if let Some(message) = document.message() {
            finding.document(document.span, message);
        }
    }
    finding.found
}

/// Puts together what instances hold, each with its number. Of two resources of one type with one
/// name, the second is a misfit.
pub fn build_snapshot<'f>(all: impl IntoIterator<Item = (usize, &'f Found)>) -> BuiltSnapshot {
    let mut types: BTreeMap<&Arc<str>, Vec<(usize, &FoundResource)>> = BTreeMap::new();
    let mut misfits = Vec::new();
    for (file, found) in all {
        let own = found.misfits.iter();
        misfits.extend(own.map(|(span, message)| RejectedResource {
            file,
            span: *span,
            message: message.clone(),
        }));
        for it in &found.resources {
            types.entry(&it.type_url).or_default().push((file, it));
        }
    }
    let mut collections = Vec::new();
    for (type_url, mut all) in types {
        // Those with one name stay in the order of their files.
        all.sort_by_key(|(_, it)| &it.resource.name);
        all.dedup_by(|(file, it), (_, first)| {
            let name = &it.resource.name;
            let is_same = *name == first.resource.name;
            if is_same {
                let type_name = type_url.strip_prefix(TYPE_URL_PREFIX).unwrap_or(type_url);
                let message = format!("there is another `{type_name}` with the name `{name}`");
                misfits.push(RejectedResource { file: *file, span: it.span, message });
            }
            is_same
        });
        let resources = all.into_iter().map(|(_, it)| Arc::clone(&it.resource));
        collections.push((Arc::clone(type_url), Arc::new(Collection::of(resources))));
    }
    misfits.sort_by_key(|it| (it.file, it.span.start));
    BuiltSnapshot { snapshot: Snapshot::of_collections(collections), misfits }
}

struct Finding<'t> {
    types: &'t Types,
    tree: &'t Tree,
    found: Found,
}

/// The name of a resource where it is wrapped.
#[derive(Clone, Debug, Default)]
struct Wrapping {
    name: Option<String>,
    aliases: Vec<String>,
}

impl Finding<'_> {
    fn misfit(&mut self, place: Span, message: impl Into<String>) {
        self.found.misfits.push((place, message.into()));
    }

    fn document(&mut self, place: Span, message: &Message) {
        let tree = self.tree;
        let message = match canonicalize(tree, message) {
            Ok(message) => message,
            Err(error) => return self.misfit(place, error.to_string()),
        };
        let full_name = tree.message(message.ty).full_name();
        match &*full_name {
            "envoy.service.discovery.v3.DiscoveryResponse" | "envoy.api.v2.DiscoveryResponse" => {
                self.check_envelope(place, &message);
                self.check_response_type(place, &message);
                for entry in message.get_all(tree, "resources") {
                    let place = inside(place, entry.span);
                    self.packed(place, entry.value.as_message(), Wrapping::default());
                }
            }
            _ => self.unwrapped(place, &message, Wrapping::default()),
        }
    }

    /// Reports the parts of what is around resources that are not carried out. What would change how long
    /// or by whom a resource is held must not get lost; what this server says itself may.
    fn check_envelope(&mut self, place: Span, envelope: &Message) {
        for entry in &envelope.entries {
            let name = self.tree.field(entry.field).name();
            let place = inside(place, entry.span);
            match name {
                "resources" | "type_url" | "resource" | "name" | "aliases" => {}
                "version" | "version_info" | "nonce" | "canary" | "control_plane" => {
                    let message = format!("`{name}` has no effect: servers make their own");
                    self.found.notes.push((place, message));
                }
                "ttl" => self.misfit(
                    place,
                    "`ttl` is not carried out, and the resource would stay: take it out, or remove the \
                     resource when its time is over",
                ),
                _ => {
                    let message = format!("`{name}` is not carried out: take it out");
                    self.misfit(place, message);
                }
            }
        }
    }

    /// Reports resources of another type than the response around them says.
    fn check_response_type(&mut self, place: Span, response: &Message) {
        let said = response.get_str(self.tree, "type_url").filter(|it| !it.is_empty());
        let Some(said) = said.map(str::to_owned) else { return };
        for entry in response.get_all(self.tree, "resources") {
            let any = entry.value.as_message();
            let url = any.and_then(|it| it.get_str(self.tree, "type_url")).unwrap_or_default();
            let is_wrapped = url.ends_with(".Resource");
            if url != said && !is_wrapped && !url.is_empty() {
                let message = format!("a response of `{said}` has a resource of `{url}`");
                self.misfit(inside(place, entry.span), message);
            }
        }
    }

    /// A resource in an Any.
    fn packed(&mut self, place: Span, any: Option<&Message>, wrapping: Wrapping) {
        match any.map(|any| (any.content.as_deref(), any.get_str(self.tree, "type_url"))) {
            Some((Some(content), _)) => self.unwrapped(place, content, wrapping),
            Some((None, Some(url))) => {
                let message = format!("the API does not declare the type `{url}`");
                self.misfit(place, message);
            }
            Some((None, None)) | None => self.misfit(place, "a resource is empty"),
        }
    }

    fn unwrapped(&mut self, place: Span, message: &Message, wrapping: Wrapping) {
        let tree = self.tree;
        let full_name = tree.message(message.ty).full_name();
        if matches!(&*full_name, "envoy.service.discovery.v3.Resource" | "envoy.api.v2.Resource") {
            self.check_envelope(place, message);
            let aliases = message.get_all(tree, "aliases");
            let wrapping = Wrapping {
                name: message.get_str(tree, "name").filter(|it| !it.is_empty()).map(str::to_owned),
                aliases: aliases.filter_map(|it| it.value.as_str()).map(str::to_owned).collect(),
            };
            return self.packed(place, message.get_message(tree, "resource"), wrapping);
        }
        let type_url: Arc<str> = format!("{TYPE_URL_PREFIX}{full_name}").into();
        if self.types.kind(&type_url) == Kind::RUNTIME
            && let Err(problems) = RtdsResource::from_message(tree, message)
        {
            for problem in problems.into_iter().filter(LayerProblem::is_refused) {
                self.misfit(inside(place, problem.span), problem.to_string());
            }
            return;
        }
        let described = self.types.of(&type_url).and_then(|(ty, _)| ty.entry.name_field.as_deref());
        let own_name = find_name(tree, message, described);
        let Some(name) = wrapping.name.as_deref().or(own_name) else {
            let message = format!("a `{full_name}` has no name that clients could ask for it by");
            return self.misfit(place, message);
        };
        let body = Codec::new(tree).encode(message);
        let aliases: Vec<&str> = wrapping.aliases.iter().map(String::as_str).collect();
        let mut resource = Resource::new(name, body).known_as(&aliases);
        resource = resource.referring_to(collect_references(self.types, tree, message));
        resource.health_round = find_first_round(tree, message);
        if !aliases.is_empty() {
            let parts = [&*resource.version].into_iter().chain(aliases.iter().copied());
            resource.version = hash(parts.map(str::as_bytes));
        }
        let resource = Arc::new(resource);
        self.found.resources.push(FoundResource { type_url, resource, span: place });
    }
}

/// A place inside another one, where that is known.
fn inside(place: Span, inner: Span) -> Span {
    if inner.is_empty() { place } else { inner }
}

/// Finds the name of a resource, by the field that names it if somebody said which one that is.
fn find_name<'m>(tree: &Tree, message: &'m Message, described: Option<&str>) -> Option<&'m str> {
    let fields = described.map_or(vec!["name", "cluster_name"], |field| vec![field]);
    let named = fields.into_iter().find_map(|field| message.get(tree, field));
    match &named?.value {
        Value::String(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}
