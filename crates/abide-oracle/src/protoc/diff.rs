//! Compares two serialised FileDescriptorProtos.

use std::collections::BTreeMap;
use std::fmt::Write;

use abide_harness::Result;

use crate::protoc::wire::{Kind, Schema, Value, read_fields, read_messages, read_packed};

const FILE: &str = "google.protobuf.FileDescriptorProto";
const LOCATION: &str = "google.protobuf.SourceCodeInfo.Location";

/// The differences of one file, as lines for a developer; none if the bytes are
/// equal.
pub(crate) fn compare_descriptors(
    schema: &Schema,
    ours: &[u8],
    protoc: &[u8],
) -> Result<Vec<String>> {
    let mut diff = Diff { schema, found: Vec::new() };
    diff.message("", FILE, ours, protoc)?;
    Ok(diff.found)
}

struct Diff<'a> {
    schema: &'a Schema,
    found: Vec<String>,
}

/// A location's path, and how many locations with that path came before it.
type LocationKey = (Vec<u64>, usize);

/// The most characters of a value in a difference.
const SHOWN: usize = 160;

impl Diff<'_> {
    fn message(&mut self, path: &str, name: &str, ours: &[u8], protoc: &[u8]) -> Result<()> {
        if ours == protoc {
            return Ok(());
        }
        let before = self.found.len();
        let (our_fields, their_fields) = (read_fields(ours)?, read_fields(protoc)?);
        let mut sides: BTreeMap<u32, [Vec<Value>; 2]> = BTreeMap::new();
        for (side, list) in [&our_fields, &their_fields].into_iter().enumerate() {
            for (number, value) in list {
                sides.entry(*number).or_default()[side].push(*value);
            }
        }
        for (number, [ours, protoc]) in sides {
            if ours == protoc {
                continue;
            }
            let field = self.schema.field(name, number);
            let label = field.map_or(format!("<{number}>"), |field| field.name.clone());
            let path = if path.is_empty() { label } else { format!("{path}.{label}") };
            let kind = field.map_or(&Kind::Scalar, |field| &field.kind);
            match kind {
                Kind::Message(inner) if inner == LOCATION => {
                    self.locations(&path, kind, &ours, &protoc)?;
                }
                _ => {
                    let repeated =
                        field.is_some_and(|field| field.repeated) && !matches!(kind, Kind::Packed);
                    for index in 0..ours.len().max(protoc.len()) {
                        let path = if repeated { format!("{path}[{index}]") } else { path.clone() };
                        self.value(&path, kind, ours.get(index), protoc.get(index))?;
                    }
                }
            }
        }
        if self.found.len() == before {
            let order = |list: &[(u32, Value)]| -> String {
                let names = list.iter().map(|(number, _)| {
                    let field = self.schema.field(name, *number);
                    field.map_or(number.to_string(), |field| field.name.clone())
                });
                names.collect::<Vec<_>>().join(" ")
            };
            let (ours, protoc) = (order(&our_fields), order(&their_fields));
            let what = if ours == protoc {
                "equal values, encoded differently".to_owned()
            } else {
                format!("fields in another order: ours `{ours}`, protoc `{protoc}`")
            };
            self.found.push(format!("{path}: {what}"));
        }
        Ok(())
    }

    fn value(
        &mut self,
        path: &str,
        kind: &Kind,
        ours: Option<&Value>,
        protoc: Option<&Value>,
    ) -> Result<()> {
        if let (Kind::Message(name), Some(Value::Bytes(ours)), Some(Value::Bytes(protoc)))
        | (Kind::Message(name), Some(Value::Group(ours)), Some(Value::Group(protoc))) =
            (kind, ours, protoc)
        {
            return self.message(path, name, ours, protoc);
        }
        if ours != protoc {
            let show = |value: Option<&Value>| {
                value.map_or("nothing".to_owned(), |value| self.shown(kind, *value))
            };
            let line = format!("{path}: ours {}, protoc {}", show(ours), show(protoc));
            self.found.push(line);
        }
        Ok(())
    }

    /// Pairs source locations by path, and those with the same path by order.
    fn locations(
        &mut self,
        label: &str,
        kind: &Kind,
        ours: &[Value],
        protoc: &[Value],
    ) -> Result<()> {
        let before = self.found.len();
        let (ours, protoc) = (key_locations(ours)?, key_locations(protoc)?);
        let mut keys: Vec<_> = protoc.iter().chain(&ours).map(|(key, _)| key).collect();
        keys.sort();
        keys.dedup();
        let index = |side: &[(LocationKey, Value<'_>)]| -> BTreeMap<LocationKey, usize> {
            side.iter().enumerate().map(|(index, (key, _))| (key.clone(), index)).collect()
        };
        let (our_index, their_index) = (index(&ours), index(&protoc));
        for key in keys {
            let (path, occurrence) = key;
            let mut name = format!("{label} {path:?} {}", self.located(path));
            if *occurrence > 0 {
                write!(name, " (occurrence {occurrence})")?;
            }
            let our_value = our_index.get(key).map(|index| &ours[*index].1);
            let their_value = their_index.get(key).map(|index| &protoc[*index].1);
            self.value(&name, kind, our_value, their_value)?;
        }
        if self.found.len() == before {
            let first = ours.iter().zip(&protoc).find(|(ours, protoc)| ours.0 != protoc.0);
            if let Some(((ours, _), (protoc, _))) = first {
                let (ours, protoc) = (&ours.0, &protoc.0);
                self.found
                    .push(format!("{label}: another order: ours {ours:?}, protoc {protoc:?}"));
            }
        }
        Ok(())
    }

    /// A location's path in words: `message_type[3].field[2].name`.
    fn located(&self, path: &[u64]) -> String {
        let mut out = String::new();
        let mut name = Some(FILE);
        let mut steps = path.iter();
        while let Some(step) = steps.next() {
            let number = u32::try_from(*step).ok();
            let field = name.zip(number).and_then(|(name, number)| self.schema.field(name, number));
            let dot = if out.is_empty() { "" } else { "." };
            let Some(field) = field else {
                out.push_str(&format!("{dot}<{step}>"));
                name = None;
                continue;
            };
            out.push_str(&format!("{dot}{}", field.name));
            if field.repeated
                && let Some(index) = steps.next()
            {
                out.push_str(&format!("[{index}]"));
            }
            name = match &field.kind {
                Kind::Message(inner) => Some(inner),
                Kind::Scalar | Kind::Packed => None,
            };
        }
        out
    }

    fn shown(&self, kind: &Kind, value: Value) -> String {
        let mut out = String::new();
        self.show(&mut out, kind, value);
        match out.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &out[..end]),
            None => out,
        }
    }

    fn show(&self, out: &mut String, kind: &Kind, value: Value) {
        let text = match (value, kind) {
            _ if out.len() > SHOWN => return,
            (Value::Varint(value), _) => value.to_string(),
            (Value::Fixed32(value), _) => format!("{value:#x}"),
            (Value::Fixed64(value), _) => format!("{value:#x}"),
            (Value::Bytes(bytes) | Value::Group(bytes), Kind::Message(name)) => {
                out.push('{');
                for (number, value) in read_fields(bytes).unwrap_or_default() {
                    let field = self.schema.field(name, number);
                    let label = field.map_or(number.to_string(), |field| field.name.clone());
                    out.push_str(&format!(" {label}: "));
                    let kind = field.map_or(&Kind::Scalar, |field| &field.kind);
                    self.show(out, kind, value);
                }
                " }".to_owned()
            }
            (Value::Bytes(bytes), Kind::Packed) => match read_packed(bytes) {
                Ok(values) => format!("{values:?}"),
                Err(error) => error.to_string(),
            },
            (Value::Bytes(bytes) | Value::Group(bytes), _) => match std::str::from_utf8(bytes) {
                Ok(text) => format!("{text:?}"),
                Err(_) => format!("{bytes:02x?}"),
            },
        };
        out.push_str(&text);
    }
}

/// Each location with its path and how many with that path came before it.
fn key_locations<'a>(locations: &[Value<'a>]) -> Result<Vec<(LocationKey, Value<'a>)>> {
    let mut occurrences: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for location in locations {
        let path = match read_messages(location.content().unwrap_or_default(), 1)?.first() {
            Some(path) => read_packed(path)?,
            None => Vec::new(),
        };
        let occurrence = occurrences.entry(path.clone()).or_default();
        out.push(((path, *occurrence), *location));
        *occurrence += 1;
    }
    Ok(out)
}

/// Counts of what was compared, taken from protoc's output.
#[derive(Default)]
pub(crate) struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    /// The names of the counts, in the order of the report.
    const NAMES: [&str; 12] = [
        "files",
        "bytes",
        "messages",
        "fields",
        "enums",
        "enum values",
        "services",
        "methods",
        "extensions",
        "options",
        "locations",
        "comments",
    ];

    /// Counts one FileDescriptorProto.
    pub(crate) fn add_file(&mut self, schema: &Schema, file: &[u8]) -> Result<()> {
        *self.0.entry("files").or_default() += 1;
        *self.0.entry("bytes").or_default() += file.len() as u64;
        self.message(schema, FILE, file)
    }

    fn message(&mut self, schema: &Schema, name: &str, bytes: &[u8]) -> Result<()> {
        for (number, value) in read_fields(bytes)? {
            let Some(field) = schema.field(name, number) else { continue };
            let inner = match &field.kind {
                Kind::Message(inner) => inner.as_str(),
                Kind::Scalar | Kind::Packed => "",
            };
            let counted = match (field.name.as_str(), inner) {
                ("extension", "google.protobuf.FieldDescriptorProto") => "extensions",
                (_, "google.protobuf.FieldDescriptorProto") => "fields",
                (_, "google.protobuf.DescriptorProto") => "messages",
                (_, "google.protobuf.EnumDescriptorProto") => "enums",
                (_, "google.protobuf.EnumValueDescriptorProto") => "enum values",
                (_, "google.protobuf.ServiceDescriptorProto") => "services",
                (_, "google.protobuf.MethodDescriptorProto") => "methods",
                (_, LOCATION) => "locations",
                _ if name == LOCATION && field.name.ends_with("comments") => "comments",
                _ if name.starts_with("google.protobuf.") && name.ends_with("Options") => "options",
                _ => "",
            };
            if !counted.is_empty() {
                *self.0.entry(counted).or_default() += 1;
            }
            if let (false, Some(content)) = (inner.is_empty(), value.content()) {
                self.message(schema, inner, content)?;
            }
        }
        Ok(())
    }

    pub(crate) fn files(&self) -> u64 {
        self.0.get("files").copied().unwrap_or_default()
    }
}

impl std::ops::AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        for (name, count) in &other.0 {
            *self.0.entry(name).or_default() += count;
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = Self::NAMES
            .map(|name| format!("{} {name}", self.0.get(name).copied().unwrap_or_default()));
        f.write_str(&counts.join(", "))
    }
}
