//! All types of resource that a server knows.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use abide_schema::Glob;

use super::{Kind, ROOM, ResourceType, TYPE_URL_PREFIX, builtin};

/// The number of types that there may be besides the built-in ones.
const MAX_ADDED: usize = 1000;

/// The name under which types are counted that nobody described.
const OTHER: &str = "other";

/// The facts that the protocol has to know about a type of resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeEntry {
    /// The short name, such as `cds`: the name of its files and of what is counted.
    pub name: String,
    /// The full names of its messages, by major 2 and 3.
    pub messages: [Option<String>; 2],
    /// The full names of its discovery services, by major 2 and 3. Without one, only a stream of
    /// all types has it.
    pub services: [Option<String>; 2],
    /// The end of the names of their methods: `Stream` and `Delta` stand before it.
    pub methods: Option<String>,
    /// The last part of its REST path. Without one, it has none.
    pub rest: Option<String>,
    /// The field that names a resource; without one `name` or `cluster_name`, if there is any.
    pub name_field: Option<String>,
    /// The name of the type after which it is sent; without one, after all others.
    pub after: Option<String>,
    /// True if an answer in the state of the world holds all resources, so that one which is not
    /// in it is gone.
    pub is_whole: bool,
    /// True if clients ask for a resource before it has to exist: they wait for it, and for a
    /// missing one no answer is an answer.
    pub is_awaited: bool,
    /// True if its resources direct requests to clusters, so that these have to be ready before.
    pub directs_requests: bool,
    /// The name of the type whose resources clients need to warm up a change of this one.
    pub warmed_by: Option<String>,
    /// The fields that name a resource of it without which they cannot work, as `MESSAGE.FIELD`
    /// with the message as a [`Glob`].
    pub required_by: Vec<String>,
    /// The same for resources that clients may have from elsewhere.
    pub referred_by: Vec<String>,
}

/// A key of a [`TypeEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after the field")]
pub enum TypeKey {
    Name,
    /// By major 2 and 3.
    Message(usize),
    /// By major 2 and 3.
    Service(usize),
    Methods,
    Rest,
    After,
    Awaited,
    WarmedBy,
    /// The number of one of its texts.
    RequiredBy(usize),
    /// The number of one of its texts.
    ReferredBy(usize),
}

/// Something in an entry that cannot be, by itself or beside others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The number of the entry, of those that were added.
    pub entry: usize,
    /// Its key.
    pub key: TypeKey,
    /// The problem, one phrase.
    pub message: String,
}

/// All types of resource that a server knows. By default, those that are built in.
#[derive(Clone, Debug)]
pub struct Types(Arc<Known>);

#[derive(Debug)]
struct Known {
    /// In the order in which they are sent, which is that of their kinds.
    all: Vec<ResourceType>,
    /// The number of a type and the major, 2 or 3, by the full name of a message.
    by_message: HashMap<String, (usize, u8)>,
    /// By the last part of the name of the message that has the field.
    referring: HashMap<String, Vec<ReferringField>>,
}

/// A field that names a resource.
#[derive(Clone, Debug)]
pub(crate) struct ReferringField {
    /// The messages that have it.
    pub(crate) message: Glob,
    pub(crate) field: String,
    pub(crate) kind: Kind,
    /// True if the message cannot work without it.
    pub(crate) is_required: bool,
}

impl Default for Types {
    fn default() -> Types {
        static BUILT_IN: LazyLock<Types> =
            LazyLock::new(|| Types::with(&[]).expect("built-in types agree with one another"));
        BUILT_IN.clone()
    }
}

impl Types {
    /// The built-in types and these.
    ///
    /// # Errors
    /// All that is wrong with these, in their order.
    pub fn with(added: &[TypeEntry]) -> Result<Types, Vec<Contradiction>> {
        let mut joining =
            RegistryBuilder { all: builtin::list_builtin_types(), ..RegistryBuilder::default() };
        joining.origins = vec![None; joining.all.len()];
        for (number, entry) in added.iter().enumerate() {
            joining.add(number, entry);
        }
        joining.join()
    }

    /// All types, in the order in which they are sent.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ResourceType> {
        self.0.all.iter()
    }

    /// The type of the messages that a type URL names, and their major, 2 or 3.
    pub fn of(&self, type_url: &str) -> Option<(&ResourceType, u8)> {
        let (at, major) = self.position(type_url)?;
        Some((&self.0.all[at], major))
    }

    /// The same with the number of the type in [`Types::iter`].
    pub fn position(&self, type_url: &str) -> Option<(usize, u8)> {
        self.0.by_message.get(type_url.strip_prefix(TYPE_URL_PREFIX)?).copied()
    }

    /// The kind of the messages that a type URL names.
    pub fn kind(&self, type_url: &str) -> Kind {
        self.of(type_url).map_or(Kind::OTHER, |(ty, _)| ty.kind)
    }

    /// The type of a kind; `None` of [`Kind::OTHER`].
    pub fn get(&self, kind: Kind) -> Option<&ResourceType> {
        let at = self.0.all.binary_search_by_key(&kind, |it| it.kind).ok()?;
        Some(&self.0.all[at])
    }

    /// Returns true if something is so of the entry of a kind. Nothing is of [`Kind::OTHER`].
    pub fn is(&self, kind: Kind, so: impl Fn(&TypeEntry) -> bool) -> bool {
        self.get(kind).is_some_and(|it| so(&it.entry))
    }

    /// The kind that clients warm up changes of this one with.
    pub(crate) fn warmed_by(&self, kind: Kind) -> Option<Kind> {
        self.get(kind)?.warmed_by
    }

    /// Returns true if resources of a kind may refer to those of another one. No kind refers to itself, be it
    /// through others.
    pub(crate) fn may_refer(&self, from: Kind, to: Kind) -> bool {
        let directs = |kind| self.is(kind, |it| it.directs_requests);
        let is_further = directs(to) && from < to;
        directs(from) && (to == Kind::CLUSTER || is_further) || self.warmed_by(from) == Some(to)
    }

    /// The type URL that a type of either major has in the newest one, if it is described; else
    /// the same.
    pub fn newest_url(&self, type_url: &str) -> Arc<str> {
        let newest = self.of(type_url).and_then(|(ty, _)| ty.type_url(3));
        newest.unwrap_or_else(|| type_url.into())
    }

    /// The fields of a message that name resources; the full name ends with the name.
    pub(crate) fn referring<'t>(
        &'t self,
        full_name: &'t str,
    ) -> impl Iterator<Item = &'t ReferringField> {
        let last = full_name.rsplit('.').next().unwrap_or(full_name);
        let fields = self.0.referring.get(last).into_iter().flatten();
        fields.filter(move |it| it.message.matches(full_name))
    }
}

/// Entries while they are put together.
#[derive(Default)]
struct RegistryBuilder {
    /// In the order in which they are sent.
    all: Vec<TypeEntry>,
    /// Of each, the number of the one that was added; `None` of built-in ones.
    origins: Vec<Option<usize>>,
    wrong: Vec<Contradiction>,
}

impl RegistryBuilder {
    /// Puts one more in its place in the order.
    fn add(&mut self, number: usize, entry: &TypeEntry) {
        if number == MAX_ADDED {
            self.wrong(number, TypeKey::Name, format!("at most {MAX_ADDED} types may be added"));
        }
        if number >= MAX_ADDED {
            return;
        }
        self.check(number, entry);
        let mut place = self.all.len();
        if let Some(after) = &entry.after {
            match self.all.iter().position(|it| it.name == *after) {
                Some(at) => place = at + 1,
                None => {
                    let message = format!("no type before this one is called `{after}`");
                    self.wrong(number, TypeKey::After, message);
                }
            }
            // Those with the same place keep the order that they have.
            let is_beside = |it: &TypeEntry| it.after.as_deref() == Some(after);
            place += self.all[place..].iter().take_while(|it| is_beside(it)).count();
        }
        self.all.insert(place, entry.clone());
        self.origins.insert(place, Some(number));
    }

    fn wrong(&mut self, entry: usize, key: TypeKey, message: impl Into<String>) {
        self.wrong.push(Contradiction { entry, key, message: message.into() });
    }

    /// Records what is wrong with an entry by itself, or beside those before it.
    fn check(&mut self, number: usize, entry: &TypeEntry) {
        let name = &entry.name;
        if !is_word(name) {
            let message =
                "a name has lower-case letters, digits, `-` and `_`, and begins with a letter";
            self.wrong(number, TypeKey::Name, message);
        } else if *name == OTHER {
            let message = format!("`{OTHER}` is what types are counted as that nobody described");
            self.wrong(number, TypeKey::Name, message);
        } else if self.all.iter().any(|it| it.name == *name) {
            self.wrong(number, TypeKey::Name, format!("another type is called `{name}`"));
        }
        if entry.messages[1].is_none() {
            self.wrong(number, TypeKey::Message(1), "a type needs a `message`");
        }
        for (major, message) in entry.messages.iter().enumerate() {
            let Some(message) = message else { continue };
            let key = TypeKey::Message(major);
            let other = self.all.iter().find(|it| it.messages.contains(&Some(message.clone())));
            let other = other.map(|it| it.name.clone());
            if !is_full_name(message) {
                self.wrong(number, key, format!("`{message}` is not the full name of a message"));
            } else if let Some(other) = other {
                self.wrong(number, key, format!("`{message}` is the message of `{other}`"));
            } else if major == 0 && entry.messages[1].as_ref() == Some(message) {
                self.wrong(number, key, "both majors have the same message");
            }
        }
        for (major, service) in entry.services.iter().enumerate() {
            let Some(service) = service else { continue };
            let key = TypeKey::Service(major);
            let is_same = |it: &&TypeEntry| {
                it.methods == entry.methods && it.services.contains(&Some(service.clone()))
            };
            let other = self.all.iter().find(is_same).map(|it| it.name.clone());
            if !is_full_name(service) || !service.contains('.') {
                self.wrong(number, key, format!("`{service}` is not the full name of a service"));
            } else if service.ends_with(".AggregatedDiscoveryService") {
                self.wrong(number, key, "the aggregated service has all types already");
            } else if let Some(other) = other {
                self.wrong(number, key, format!("`{service}` has these methods for `{other}`"));
            }
            if entry.messages[major].is_none() && major == 0 {
                self.wrong(number, key, "a service of v2 needs a `v2_message`");
            }
        }
        let has_service = entry.services.iter().any(Option::is_some);
        match &entry.methods {
            Some(_) if !has_service => {
                self.wrong(
                    number,
                    TypeKey::Methods,
                    "there is no `service` that could have methods",
                );
            }
            Some(methods) if !is_identifier(methods) => {
                let message = format!("no method can be called `Stream{methods}`");
                self.wrong(number, TypeKey::Methods, message);
            }
            None if has_service => {
                let major = usize::from(entry.services[0].is_none());
                let message = "a service needs `methods`, which `Stream` and `Delta` stand before";
                self.wrong(number, TypeKey::Service(major), message);
            }
            _ => {}
        }
        if let Some(rest) = &entry.rest {
            let other = self.all.iter().find(|it| it.rest.as_ref() == Some(rest));
            let other = other.map(|it| it.name.clone());
            if !is_word(rest) {
                let message = "the end of a path has lower-case letters, digits, `-` and `_`";
                self.wrong(number, TypeKey::Rest, message);
            } else if let Some(other) = other {
                self.wrong(number, TypeKey::Rest, format!("`{rest}` is the path of `{other}`"));
            }
        }
        if entry.is_awaited && entry.is_whole {
            let message = "clients that get all resources at once do not wait for one: a type is not \
                           both `whole` and `awaited`";
            self.wrong(number, TypeKey::Awaited, message);
        }
    }

    /// Builds the registry of all of them together.
    fn join(mut self) -> Result<Types, Vec<Contradiction>> {
        let kinds = self.kinds();
        let mut referring: HashMap<String, Vec<ReferringField>> = HashMap::new();
        let mut owners: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for at in 0..self.all.len() {
            let entry = self.all[at].clone();
            // Whatever is wrong with a built-in one is found by the first test.
            let number = self.origins[at].unwrap_or_default();
            let warmed_by = entry.warmed_by.as_ref().and_then(|name| {
                let warmed = self.all.iter().position(|it| it.name == *name);
                let message = match warmed {
                    Some(other) if other > at => return Some(kinds[other]),
                    Some(_) => format!("`{name}` must be sent after it: see `after`"),
                    None => format!("no type is called `{name}`"),
                };
                self.wrong(number, TypeKey::WarmedBy, message);
                None
            });
            let required = entry.required_by.iter().enumerate();
            let required = required.map(|(at, it)| (TypeKey::RequiredBy(at), it, true));
            let others = entry.referred_by.iter().enumerate();
            let others = others.map(|(at, it)| (TypeKey::ReferredBy(at), it, false));
            for (key, text, is_required) in required.chain(others) {
                match parse_field_path(text) {
                    Ok(FieldPath { last, message, field }) => {
                        let kind = kinds[at];
                        let field = ReferringField { message, field, kind, is_required };
                        referring.entry(last).or_default().push(field);
                    }
                    Err(error) => self.wrong(number, key, error.to_string()),
                }
                if let Some(other) = owners.insert(text.clone(), at) {
                    let message =
                        format!("`{text}` names a resource of `{}` already", self.all[other].name);
                    self.wrong(number, key, message);
                }
            }
            all.push(ResourceType { kind: kinds[at], entry, warmed_by });
        }
        if !self.wrong.is_empty() {
            self.wrong.sort_by_key(|it| it.entry);
            return Err(self.wrong);
        }
        let mut by_message = HashMap::new();
        for (at, ty) in all.iter().enumerate() {
            for (message, major) in ty.entry.messages.iter().zip([2, 3]) {
                by_message.extend(message.iter().map(|it| (it.clone(), (at, major))));
            }
        }
        Ok(Types(Arc::new(Known { all, by_message, referring })))
    }

    /// Built-in types have their constant kinds, and others those in between.
    fn kinds(&self) -> Vec<Kind> {
        let (mut built_in, mut last) = (0, Kind(0));
        let next = |origin: &Option<usize>| {
            last = match origin {
                Some(_) => Kind(last.0 + 1),
                None => Kind(built_in * ROOM),
            };
            built_in += u32::from(origin.is_none());
            last
        };
        self.origins.iter().map(next).collect()
    }
}

/// A field as it is written, such as `envoy.*.Route.cluster`.
struct FieldPath {
    /// The last part of the name of its message.
    last: String,
    message: Glob,
    field: String,
}

/// An error of a text that does not name a field.
#[derive(Debug, thiserror::Error)]
enum FieldPathError {
    #[error("`{0}` is not a field: write it as MESSAGE.FIELD")]
    NoField(String),
    #[error("`{0}` has to end with the names of a message and of its field")]
    NoMessage(String),
    #[error("{0}")]
    Glob(String),
}

fn parse_field_path(text: &str) -> Result<FieldPath, FieldPathError> {
    let parts = text.rsplit_once('.').filter(|(_, field)| is_identifier(field));
    let (message, field) = parts.ok_or_else(|| FieldPathError::NoField(text.to_owned()))?;
    let last = message.rsplit('.').next().unwrap_or(message);
    if !is_identifier(last) {
        return Err(FieldPathError::NoMessage(text.to_owned()));
    }
    let glob = Glob::new(message).map_err(FieldPathError::Glob)?;
    Ok(FieldPath { last: last.to_owned(), message: glob, field: field.to_owned() })
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

fn is_full_name(text: &str) -> bool {
    text.split('.').all(is_identifier)
}

/// Returns true if a text may be part of a path, of a file name and of what is counted.
fn is_word(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_lowercase())
        && text.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-' | '_'))
}

#[cfg(test)]
mod tests;
