//! Instances made into a snapshot.

mod canonical;
mod references;

use std::collections::BTreeMap;

use abide_instance::Instance;
use abide_instance::runtime::{LayerProblem, RtdsResource};
use abide_schema::Tree;
use abide_schema::value::{Codec, Message, Value};
use abide_syntax::Span;

use crate::kind::{Kind, TYPE_URL_PREFIX};
use crate::resource::{Resource, hash};
use crate::snapshot::Snapshot;
use canonical::canonical;
use references::references;

/// What instances hold.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// Their resources.
    pub snapshot: Snapshot,
    /// What is no resource, in the order of the instances.
    pub misfits: Vec<Misfit>,
}

/// Something in an instance that is no resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The number of its instance.
    pub file: usize,
    /// Its place.
    pub span: Span,
    /// What is wrong, one phrase.
    pub message: String,
}

/// Gathers the resources of instances, each with its number: each document is one, or a `DiscoveryResponse`
/// with several, or a `Resource` that wraps one with a name and aliases. Documents
/// without a type are passed over: whoever checks instances reports them.
pub fn gather<'i>(
    tree: &Tree,
    instances: impl IntoIterator<Item = (usize, &'i Instance)>,
) -> Gathered {
    let mut gathering = Gathering { tree, found: BTreeMap::new(), misfits: Vec::new() };
    for (file, instance) in instances {
        for document in &instance.documents {
            if let Some(message) = document.message() {
                gathering.document(Place { file, span: document.span }, message);
            }
        }
    }
    let found = gathering.found;
    let resources = found.iter().map(|((url, _), resource)| (url.as_str(), resource.clone()));
    Gathered { snapshot: Snapshot::of(resources), misfits: gathering.misfits }
}

#[derive(Clone, Copy)]
struct Place {
    file: usize,
    span: Span,
}

impl Place {
    /// Inside it, where that is known.
    fn at(self, span: Span) -> Place {
        if span.is_empty() { self } else { Place { span, ..self } }
    }
}

struct Gathering<'t> {
    tree: &'t Tree,
    /// By type URL and name.
    found: BTreeMap<(String, String), Resource>,
    misfits: Vec<Misfit>,
}

/// What a resource is called where it is wrapped.
#[derive(Clone, Debug, Default)]
struct Wrapping {
    name: Option<String>,
    aliases: Vec<String>,
}

impl Gathering<'_> {
    fn misfit(&mut self, place: Place, message: impl Into<String>) {
        let message = message.into();
        self.misfits.push(Misfit { file: place.file, span: place.span, message });
    }

    fn document(&mut self, place: Place, message: &Message) {
        let tree = self.tree;
        let message = match canonical(tree, message) {
            Ok(message) => message,
            Err(reason) => return self.misfit(place, reason),
        };
        let full_name = tree.message(message.ty).full_name();
        match &*full_name {
            "envoy.service.discovery.v3.DiscoveryResponse" | "envoy.api.v2.DiscoveryResponse" => {
                for entry in message.get_all(tree, "resources") {
                    self.packed(
                        place.at(entry.span),
                        entry.value.as_message(),
                        Wrapping::default(),
                    );
                }
            }
            _ => self.unwrapped(place, &message, Wrapping::default()),
        }
    }

    /// A resource in an Any.
    fn packed(&mut self, place: Place, any: Option<&Message>, wrapping: Wrapping) {
        match any.map(|any| (any.content.as_deref(), any.str(self.tree, "type_url"))) {
            Some((Some(content), _)) => self.unwrapped(place, content, wrapping),
            Some((None, Some(url))) => {
                let message = format!("the API does not declare the type `{url}`");
                self.misfit(place, message);
            }
            Some((None, None)) | None => self.misfit(place, "a resource is empty"),
        }
    }

    fn unwrapped(&mut self, place: Place, message: &Message, wrapping: Wrapping) {
        let tree = self.tree;
        let full_name = tree.message(message.ty).full_name();
        if matches!(&*full_name, "envoy.service.discovery.v3.Resource" | "envoy.api.v2.Resource") {
            let aliases = message.get_all(tree, "aliases");
            let wrapping = Wrapping {
                name: message.str(tree, "name").filter(|it| !it.is_empty()).map(str::to_owned),
                aliases: aliases.filter_map(|it| it.value.as_str()).map(str::to_owned).collect(),
            };
            return self.packed(place, message.message(tree, "resource"), wrapping);
        }
        if Kind::of(&format!("{TYPE_URL_PREFIX}{full_name}")) == Kind::Runtime
            && let Err(problems) = RtdsResource::of(tree, message)
        {
            for problem in problems.into_iter().filter(LayerProblem::is_refused) {
                self.misfit(place.at(problem.span), problem.to_string());
            }
            return;
        }
        let own_name = name_of(tree, message);
        let Some(name) = wrapping.name.as_deref().or(own_name) else {
            let message = format!("a `{full_name}` has no name that clients could ask for it by");
            return self.misfit(place, message);
        };
        let body = Codec::new(tree).encode(message);
        let aliases: Vec<&str> = wrapping.aliases.iter().map(String::as_str).collect();
        let mut resource = Resource::new(name, body).known_as(&aliases);
        resource = resource.referring_to(references(tree, message));
        if !aliases.is_empty() {
            let parts = [&*resource.version].into_iter().chain(aliases.iter().copied());
            resource.version = hash(parts.map(str::as_bytes));
        }
        let key = (format!("{TYPE_URL_PREFIX}{full_name}"), name.to_owned());
        if self.found.contains_key(&key) {
            let message = format!("there is another `{full_name}` with the name `{name}`");
            return self.misfit(place, message);
        }
        self.found.insert(key, resource);
    }
}

/// The field that names a resource.
fn name_of<'m>(tree: &Tree, message: &'m Message) -> Option<&'m str> {
    let named = ["name", "cluster_name"].into_iter().find_map(|field| message.get(tree, field));
    match &named?.value {
        Value::String(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}
