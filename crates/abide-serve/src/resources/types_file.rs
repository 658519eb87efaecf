//! Types of resource that the operator describes in a file, beside the built-in ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use abide_schema::{Glob, Message, Tree};
use abide_syntax::LineIndex;
use abide_xds::{TypeEntry, TypeKey, Types};
use toml_edit::{Document, Item, TableLike};

use crate::error::Error;

/// The keys of a type.
const KEYS: [&str; 15] = [
    "name",
    "message",
    "v2_message",
    "service",
    "v2_service",
    "methods",
    "rest",
    "name_field",
    "after",
    "whole",
    "awaited",
    "directs_requests",
    "warmed_by",
    "required_by",
    "referred_by",
];

/// How many bytes a file may have.
const MAX_FILE: u64 = 1 << 20;

/// A file with types.
#[derive(Debug)]
pub(crate) struct TypesFile {
    name: String,
    text: String,
    entries: Vec<Described>,
}

/// A type as a file describes it.
#[derive(Debug)]
struct Described {
    entry: TypeEntry,
    /// Where it begins.
    place: usize,
    /// Where the values of its keys begin, of a list each of them.
    values: BTreeMap<&'static str, Vec<usize>>,
}

/// Something wrong in a text: where, and what, one phrase.
type Fault = (usize, String);

impl TypesFile {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or what is wrong in it: one line each, with its place.
    pub(crate) fn read(path: &Path) -> Result<TypesFile, Error> {
        let name = path.display().to_string();
        let mut text = String::new();
        let read = File::open(path).and_then(|it| it.take(MAX_FILE + 1).read_to_string(&mut text));
        read.map_err(|error| Error::cannot_read(path, error))?;
        if text.len() as u64 > MAX_FILE {
            return Err(Error::cannot_read(path, format!("at most {MAX_FILE} bytes are read")));
        }
        TypesFile::parse(name, text)
    }

    fn parse(name: String, text: String) -> Result<TypesFile, Error> {
        let mut file = TypesFile { name, text, entries: Vec::new() };
        match parse_types(&file.text) {
            Ok(entries) => {
                file.entries = entries;
                Ok(file)
            }
            Err(faults) => Err(file.report(faults)),
        }
    }

    /// The built-in types and those of the file.
    ///
    /// # Errors
    /// What contradicts itself or another type: one line each, with its place.
    pub(crate) fn types(&self) -> Result<Types, Error> {
        let entries: Vec<TypeEntry> = self.entries.iter().map(|it| it.entry.clone()).collect();
        Types::with(&entries).map_err(|wrong| {
            let fault = |it: abide_xds::Contradiction| {
                let (key, number) = name_of(it.key);
                (self.entries[it.entry].place_of(key, number), it.message)
            };
            self.report(wrong.into_iter().map(fault).collect())
        })
    }

    /// Makes sure that the API declares the messages and fields that the file names.
    ///
    /// # Errors
    /// What it does not declare: one line each, with its place.
    pub(crate) fn check(&self, tree: &Tree) -> Result<(), Error> {
        let faults: Vec<Fault> =
            self.entries.iter().flat_map(|it| it.find_undeclared(tree)).collect();
        if faults.is_empty() { Ok(()) } else { Err(self.report(faults)) }
    }

    fn report(&self, mut faults: Vec<Fault>) -> Error {
        faults.sort_by_key(|it| it.0);
        let index = LineIndex::new(self.text.as_bytes());
        let line = |(place, message): Fault| {
            let at = index.position(self.text.as_bytes(), u32::try_from(place).unwrap_or(u32::MAX));
            format!("{}:{}:{}: {message}", self.name, at.line, at.column)
        };
        let lines: Vec<String> = faults.into_iter().map(line).collect();
        Error::TypesFile(lines.join("\n"))
    }
}

/// The name of a key in the file, and the number of its value there.
fn name_of(key: TypeKey) -> (&'static str, usize) {
    match key {
        TypeKey::Name => ("name", 0),
        TypeKey::Message(0) => ("v2_message", 0),
        TypeKey::Message(_) => ("message", 0),
        TypeKey::Service(0) => ("v2_service", 0),
        TypeKey::Service(_) => ("service", 0),
        TypeKey::Methods => ("methods", 0),
        TypeKey::Rest => ("rest", 0),
        TypeKey::After => ("after", 0),
        TypeKey::Awaited => ("awaited", 0),
        TypeKey::WarmedBy => ("warmed_by", 0),
        TypeKey::RequiredBy(number) => ("required_by", number),
        TypeKey::ReferredBy(number) => ("referred_by", number),
    }
}

impl Described {
    /// Where the value of a key begins; where there is none, the type.
    fn place_of(&self, key: &str, number: usize) -> usize {
        self.values.get(key).and_then(|it| it.get(number)).copied().unwrap_or(self.place)
    }

    /// Finds the messages and fields that an API does not declare.
    fn find_undeclared(&self, tree: &Tree) -> Vec<Fault> {
        let mut faults = Vec::new();
        let keys = [("message", &self.entry.messages[1]), ("v2_message", &self.entry.messages[0])];
        for (key, name) in keys {
            let Some(name) = name else { continue };
            let place = self.place_of(key, 0);
            let Some(message) = tree.message_named(name) else {
                let all = tree.files().flat_map(|file| file.all_messages());
                let all: Vec<String> = all.map(|it| it.full_name()).collect();
                let near = suggestion(name, all.iter().map(String::as_str));
                faults
                    .push((place, format!("the API does not declare the message `{name}`{near}")));
                continue;
            };
            if let Some(field) = &self.entry.name_field
                && let Some(fault) = find_text_field_fault(message, field)
            {
                faults.push((self.place_of("name_field", 0), fault));
            }
        }
        let lists =
            [("required_by", &self.entry.required_by), ("referred_by", &self.entry.referred_by)];
        for (key, texts) in lists {
            for (number, text) in texts.iter().enumerate() {
                if let Some(fault) = find_reference_fault(tree, text) {
                    faults.push((self.place_of(key, number), fault));
                }
            }
        }
        faults
    }
}

/// Finds what is wrong with a field that is written as `MESSAGE.FIELD`, with a glob, if an API does
/// not declare it.
fn find_reference_fault(tree: &Tree, text: &str) -> Option<String> {
    let (pattern, field) = text.rsplit_once('.').unwrap_or(("", text));
    let glob = match Glob::new(pattern) {
        Ok(glob) => glob,
        Err(error) => return Some(error),
    };
    let all = || tree.files().flat_map(|file| file.all_messages());
    let mut found = all().filter(|it| glob.matches(&it.full_name())).peekable();
    if found.peek().is_none() {
        let all: Vec<String> = all().map(|it| it.full_name()).collect();
        let near = suggestion(pattern, all.iter().map(String::as_str));
        return Some(format!("the API declares no message `{pattern}`{near}"));
    }
    // With a glob, one that has the field is enough.
    let mut faults = found.map(|it| find_text_field_fault(it, field));
    let first = faults.next()??;
    faults.all(|fault| fault.is_some()).then_some(first)
}

/// Finds what is wrong with a field that has to be one of a message and has to be a string.
fn find_text_field_fault(message: Message<'_>, field: &str) -> Option<String> {
    let Some(found) = message.fields().find(|it| it.name() == field) else {
        let near = suggestion(field, message.fields().map(|it| it.name()));
        return Some(format!("`{}` has no field `{field}`{near}", message.full_name()));
    };
    match found.ty() {
        abide_schema::Type::Scalar(abide_schema::Scalar::String) => None,
        _ => Some(format!("`{}.{field}` is not a string", message.full_name())),
    }
}

/// The end of a message about a word that is not known.
fn suggestion<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> String {
    let near = abide_lint::find_nearest(word, known);
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Reads the types that a text describes.
fn parse_types(text: &str) -> Result<Vec<Described>, Vec<Fault>> {
    let document = Document::parse(text).map_err(|error| {
        let message = error.message().trim_end().replace('\n', ", ");
        vec![(start(error.span()), message)]
    })?;
    let (mut entries, mut faults) = (Vec::new(), Vec::new());
    for (key, item) in document.as_table().iter() {
        if key != "types" {
            let place = start(document.as_table().key(key).and_then(|it| it.span()));
            let near = suggestion(key, ["types"]);
            faults.push((place, format!("there is no key `{key}`, only `[[types]]`{near}")));
            continue;
        }
        match tables(item) {
            Some(tables) => {
                for (table, place) in tables {
                    entries.push(parse_type(table, place, &mut faults));
                }
            }
            None => faults.push((start(item.span()), "expected tables, `[[types]]`".to_owned())),
        }
    }
    if faults.is_empty() { Ok(entries) } else { Err(faults) }
}

fn start(range: Option<Range<usize>>) -> usize {
    range.map_or(0, |it| it.start)
}

/// `[[types]]`, or an array of inline tables; each with its place.
fn tables(item: &Item) -> Option<Vec<(&dyn TableLike, usize)>> {
    if let Some(tables) = item.as_array_of_tables() {
        return Some(tables.iter().map(|it| (it as &dyn TableLike, start(it.span()))).collect());
    }
    let inline = item.as_array()?.iter().map(|it| it.as_inline_table());
    inline.map(|it| it.map(|it| (it as &dyn TableLike, start(it.span())))).collect()
}

/// Reads the type that a table describes.
fn parse_type(table: &dyn TableLike, place: usize, faults: &mut Vec<Fault>) -> Described {
    let mut values = BTreeMap::new();
    let mut entry = TypeEntry::default();
    for (key, item) in table.iter() {
        let Some(&known) = KEYS.iter().find(|it| **it == key) else {
            let place = start(table.key(key).and_then(|it| it.span()));
            let near = abide_lint::find_nearest(key, KEYS);
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", KEYS.join(", ")),
            };
            faults.push((place, format!("a type has no key `{key}`; {help}")));
            continue;
        };
        let mut value = Value { item, faults, places: Vec::new() };
        match known {
            "name" => entry.name = value.text().unwrap_or_default(),
            "message" => entry.messages[1] = value.text(),
            "v2_message" => entry.messages[0] = value.text(),
            "service" => entry.services[1] = value.text(),
            "v2_service" => entry.services[0] = value.text(),
            "methods" => entry.methods = value.text(),
            "rest" => entry.rest = value.text(),
            "name_field" => entry.name_field = value.text(),
            "after" => entry.after = value.text(),
            "whole" => entry.is_whole = value.flag(),
            "awaited" => entry.is_awaited = value.flag(),
            "directs_requests" => entry.directs_requests = value.flag(),
            "warmed_by" => entry.warmed_by = value.text(),
            "required_by" => entry.required_by = value.texts(),
            _ => entry.referred_by = value.texts(),
        }
        values.insert(known, value.places);
    }
    if !values.contains_key("name") {
        faults.push((place, "a type needs a `name`".to_owned()));
    }
    Described { entry, place, values }
}

/// The value of a key, while it is read.
struct Value<'v> {
    item: &'v Item,
    faults: &'v mut Vec<Fault>,
    /// Where it begins, of a list where each of it begins.
    places: Vec<usize>,
}

impl Value<'_> {
    fn wrong(&mut self, expected: &str) {
        let found = self.item.type_name();
        self.faults.push((start(self.item.span()), format!("expected {expected}, found {found}")));
    }

    fn text(&mut self) -> Option<String> {
        self.places = vec![start(self.item.span())];
        match self.item.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong("a string");
                None
            }
        }
    }

    fn flag(&mut self) -> bool {
        self.places = vec![start(self.item.span())];
        if self.item.as_bool().is_none() {
            self.wrong("true or false");
        }
        self.item.as_bool().unwrap_or_default()
    }

    fn texts(&mut self) -> Vec<String> {
        let array = self.item.as_array().into_iter().flatten();
        let texts: Vec<_> = array.map(|it| (it.as_str(), start(it.span()))).collect();
        if self.item.as_array().is_none() || texts.iter().any(|it| it.0.is_none()) {
            self.wrong("an array of strings");
        }
        self.places = texts.iter().map(|it| it.1).collect();
        texts.into_iter().filter_map(|it| it.0.map(str::to_owned)).collect()
    }
}
