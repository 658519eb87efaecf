//! Values of any message as people write them for Envoy: every way to write a part that its reader
//! takes, in YAML and JSON.

use std::collections::HashMap;

use abide_schema::{Cardinality, Field, MessageId, Scalar, Tree, Type};
use fastrand::Rng;

/// A value as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// A word that YAML needs no quotes for.
    Word(String),
    /// A text in quotes.
    Text(String),
    List(Vec<Written>),
    /// Keys may occur twice.
    Map(Vec<(String, Written)>),
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "yes",
    "null",
    "1",
    "a: b",
    "x # y",
    "\"q\"",
    "two\nlines",
    "- é",
    " pad ",
    "it's",
    "type.googleapis.com/x",
];

/// Makes values of messages.
pub(crate) struct ValueWriter<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) random: &'a mut Rng,
    /// The types that an Any may hold.
    pub(crate) contents: &'a [MessageId],
    /// Names of extensions, and the types that a Struct beside such a name stands for.
    pub(crate) extensions: &'a [(String, MessageId)],
    /// Values that were made before, to be repeated.
    made: HashMap<MessageId, Written>,
}

impl<'a> ValueWriter<'a> {
    pub(crate) fn new(
        tree: &'a Tree,
        random: &'a mut Rng,
        contents: &'a [MessageId],
        extensions: &'a [(String, MessageId)],
    ) -> ValueWriter<'a> {
        ValueWriter { tree, random, contents, extensions, made: HashMap::new() }
    }

    fn happens(&mut self, percent: u8) -> bool {
        self.random.u8(..100) < percent
    }

    /// Writes a value of a message; one that nests at most so deep.
    pub(crate) fn message(&mut self, ty: MessageId, depth: u32) -> Written {
        let name = self.tree.message(ty).full_name();
        if let Some(known) = name.strip_prefix("google.protobuf.") {
            return self.well_known(known, ty, depth);
        }
        if let Some(again) = self.made.get(&ty).cloned()
            && self.happens(20)
        {
            return again;
        }
        let made = Written::Map(self.fields(ty, depth));
        self.made.insert(ty, made.clone());
        made
    }

    fn fields(&mut self, ty: MessageId, depth: u32) -> Vec<(String, Written)> {
        let view = self.tree.message(ty);
        let share = (500 / view.fields().len().max(1)).clamp(5, 50) as u8;
        let mut members = Vec::new();
        let mut oneofs = Vec::new();
        for field in view.fields() {
            if !self.happens(share) || depth == 0 && self.is_deep(field) {
                continue;
            }
            if let Some(oneof) = field.oneof() {
                if oneofs.contains(&oneof.id) {
                    continue;
                }
                oneofs.push(oneof.id);
            }
            let name = if self.happens(30) { field.json_name() } else { field.name().to_owned() };
            if self.happens(4) {
                let value = self.field(field, depth);
                members.push((name.clone(), value));
            }
            let value = self.field(field, depth);
            members.push((name, value));
        }
        if self.happens(30) {
            self.random.shuffle(&mut members);
        }
        self.configure(ty, depth, &mut members);
        members
    }

    /// Returns true if a field holds messages of the API.
    fn is_deep(&self, field: Field<'_>) -> bool {
        let held = field.message_type().map(|it| it.full_name());
        held.is_some_and(|it| !it.starts_with("google.protobuf.") || it.ends_with(".Any"))
    }

    /// Gives a Struct beside a name the content that the name stands for.
    fn configure(&mut self, ty: MessageId, depth: u32, members: &mut Vec<(String, Written)>) {
        let view = self.tree.message(ty);
        let (Some(config), Some(_)) = (view.field_named("config"), view.field_named("name")) else {
            return;
        };
        let is_struct = config.message_type().is_some_and(|it| it.name() == "Struct");
        if !is_struct || self.extensions.is_empty() || self.happens(20) {
            return;
        }
        let (name, ty) = self.extensions[self.random.usize(..self.extensions.len())].clone();
        let oneof = config.oneof().map(|it| it.fields().map(|it| it.name()).collect());
        let oneof: Vec<&str> = oneof.unwrap_or_else(|| vec!["config"]);
        members.retain(|(key, _)| key != "name" && !oneof.contains(&key.as_str()));
        members.retain(|(key, _)| key != "typedConfig");
        let content = self.message(ty, depth.saturating_sub(1));
        members.push(("name".to_owned(), Written::Text(name)));
        members.push(("config".to_owned(), content));
    }

    fn field(&mut self, field: Field<'_>, depth: u32) -> Written {
        match field.cardinality() {
            Cardinality::Singular => self.single(field, depth),
            Cardinality::Repeated => {
                if self.happens(15) && field.message_type().is_none_or(|it| it.name() != "Value") {
                    return self.single(field, depth);
                }
                let count = self.random.usize(0..3);
                Written::List((0..count).map(|_| self.single(field, depth)).collect())
            }
            Cardinality::Map => {
                let Some(pair) = field.message_type() else { return Written::Map(Vec::new()) };
                let (Some(key), Some(value)) = (pair.field_numbered(1), pair.field_numbered(2))
                else {
                    return Written::Map(Vec::new());
                };
                let keys: &[&str] = match key.ty() {
                    Type::Scalar(Scalar::String) => &["a", "b c", "yes", "1"],
                    Type::Scalar(Scalar::Bool) => &["true", "false"],
                    _ => &["1", "20"],
                };
                let first = self.random.usize(..keys.len());
                let count = self.random.usize(0..3).min(keys.len() - first);
                let keys = keys[first..first + count].iter();
                Written::Map(
                    keys.map(|key| ((*key).to_owned(), self.single(value, depth))).collect(),
                )
            }
        }
    }

    fn single(&mut self, field: Field<'_>, depth: u32) -> Written {
        match field.ty() {
            Type::Message(ty) => self.message(ty, depth.saturating_sub(1)),
            Type::Enum(ty) => {
                let values: Vec<_> = self.tree.enumeration(ty).values().collect();
                let value = values[self.random.usize(..values.len())];
                match self.random.u8(..8) {
                    0 => Written::Text(value.name().to_lowercase()),
                    1 => Written::Word(value.name().to_lowercase()),
                    2 => Written::Word(value.number().to_string()),
                    3 => Written::Text(value.name().to_owned()),
                    _ => Written::Word(value.name().to_owned()),
                }
            }
            Type::Scalar(scalar) => self.scalar(scalar),
            Type::Unresolved => Written::Map(Vec::new()),
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> Written {
        match scalar {
            Scalar::String if self.happens(10) => Written::Word("1.5".to_owned()),
            Scalar::String => {
                let text = TEXTS[self.random.usize(..TEXTS.len())];
                Written::Text(text.to_owned())
            }
            Scalar::Bytes => {
                let texts = ["", "eHg=", "eHg", "-_-_", "+/+/", "eHh4"];
                Written::Text(texts[self.random.usize(..texts.len())].to_owned())
            }
            Scalar::Bool => {
                let word = if self.random.bool() { "true" } else { "false" }.to_owned();
                if self.happens(30) { Written::Text(word) } else { Written::Word(word) }
            }
            Scalar::Double | Scalar::Float => {
                let words = ["0", "1", "1.5", "-2.25", "1e3", "NaN", "Infinity", "-Infinity"];
                let word = words[self.random.usize(..words.len())].to_owned();
                let is_number = word.parse::<f64>().is_ok_and(f64::is_finite);
                if is_number && self.happens(70) {
                    Written::Word(word)
                } else {
                    Written::Text(word)
                }
            }
            _ => self.whole_number(scalar),
        }
    }

    fn whole_number(&mut self, scalar: Scalar) -> Written {
        let number = self.random.u32(..1000);
        let is_signed =
            !matches!(scalar, Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64);
        match self.random.u8(..10) {
            0 => Written::Text(number.to_string()),
            1 => Written::Text(format!("+{number}")),
            2 => Written::Word(format!("{number}.0")),
            3 => Written::Text(format!("{number}e1")),
            4 if is_signed => Written::Word(format!("-{number}")),
            _ => Written::Word(number.to_string()),
        }
    }

    fn well_known(&mut self, name: &str, ty: MessageId, depth: u32) -> Written {
        let map = |members: Vec<(&str, Written)>| {
            Written::Map(members.into_iter().map(|(key, it)| (key.to_owned(), it)).collect())
        };
        let number = |number: u32| Written::Word(number.to_string());
        match name {
            "Any" => self.any(depth),
            "Duration" => match self.random.u8(..6) {
                0 => map(vec![("seconds", number(5))]),
                1 => map(vec![("seconds", Written::Text("7".to_owned())), ("nanos", number(500))]),
                2 => map(vec![("nanos", number(250_000_000))]),
                3 => Written::Word("0.25s".to_owned()),
                4 => Written::Text("1.50s".to_owned()),
                _ => Written::Word("10s".to_owned()),
            },
            "Timestamp" if self.happens(30) => map(vec![("seconds", number(1_000_000))]),
            "Timestamp" => Written::Text("2020-01-02T03:04:05Z".to_owned()),
            "FieldMask" => Written::Text("a,bC".to_owned()),
            "Struct" => self.structure(2),
            "Value" => self.structure_value(1),
            "ListValue" => Written::List(vec![self.structure_value(1)]),
            "Empty" => Written::Map(Vec::new()),
            _ => {
                let Some(field) = self.tree.message(ty).field_numbered(1) else {
                    return Written::Map(Vec::new());
                };
                let value = self.single(field, depth);
                if self.happens(35) { map(vec![("value", value)]) } else { value }
            }
        }
    }

    fn any(&mut self, depth: u32) -> Written {
        if self.contents.is_empty() {
            return Written::Map(Vec::new());
        }
        let ty = self.contents[self.random.usize(..self.contents.len())];
        let url = format!("type.googleapis.com/{}", self.tree.message(ty).full_name());
        let url = ("@type".to_owned(), Written::Text(url));
        let mut members = match self.message(ty, depth.saturating_sub(1)) {
            Written::Map(members) if !self.is_well_known(ty) => members,
            other => vec![("value".to_owned(), other)],
        };
        let at = if self.happens(80) { 0 } else { members.len() };
        members.insert(at, url);
        Written::Map(members)
    }

    fn is_well_known(&self, ty: MessageId) -> bool {
        self.tree.message(ty).package().name() == "google.protobuf"
    }

    fn structure(&mut self, depth: u32) -> Written {
        let count = self.random.usize(0..3);
        let members = ["a", "b.c", "codec_type"].iter().take(count);
        Written::Map(members.map(|key| ((*key).to_owned(), self.structure_value(depth))).collect())
    }

    fn structure_value(&mut self, depth: u32) -> Written {
        match self.random.u8(..7) {
            0 if depth > 0 => self.structure(depth - 1),
            1 if depth > 0 => Written::List(vec![self.structure_value(depth - 1)]),
            2 => Written::Word("true".to_owned()),
            3 => Written::Word("null".to_owned()),
            4 => Written::Word("1.5".to_owned()),
            5 => Written::Word("12".to_owned()),
            _ => Written::Text("x y".to_owned()),
        }
    }
}

/// Writes a value in JSON.
pub(crate) fn as_json(value: &Written) -> String {
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    match value {
        Written::Word(word) => match serde_json::from_str::<serde_json::Value>(word) {
            Ok(_) => word.clone(),
            Err(_) => quote(word),
        },
        Written::Text(text) => quote(text),
        Written::List(elements) => {
            let elements: Vec<String> = elements.iter().map(as_json).collect();
            format!("[{}]", elements.join(", "))
        }
        Written::Map(members) => {
            let members =
                members.iter().map(|(key, it)| format!("{}: {}", quote(key), as_json(it)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Writes a value in JSON with a line for each member.
pub(crate) fn as_long_json(value: &Written, indent: usize) -> String {
    let pad = " ".repeat(indent + 2);
    match value {
        Written::Map(members) if !members.is_empty() => {
            let members = members.iter().map(|(key, it)| {
                let key = serde_json::Value::from(key.as_str());
                format!("{pad}{key}: {}", as_long_json(it, indent + 2))
            });
            let members: Vec<String> = members.collect();
            format!("{{\n{}\n{}}}", members.join(",\n"), " ".repeat(indent))
        }
        other => as_json(other),
    }
}

/// Writes values in YAML, with comments, anchors, aliases, tags and lists of every style.
pub(crate) struct YamlWriter<'r> {
    pub(crate) random: &'r mut Rng,
    anchors: HashMap<String, String>,
    count: usize,
}

impl<'r> YamlWriter<'r> {
    pub(crate) fn new(random: &'r mut Rng) -> YamlWriter<'r> {
        YamlWriter { random, anchors: HashMap::new(), count: 0 }
    }

    pub(crate) fn write(&mut self, value: &Written) -> String {
        let (header, lines) = self.entry(value, true);
        let header = if lines.is_empty() { header.trim().to_owned() } else { String::new() };
        format!("# A value.\n{header}{}\n", lines.join("\n"))
    }

    fn happens(&mut self, percent: u8) -> bool {
        self.random.u8(..100) < percent
    }

    /// The lines of a mapping or a list in block style.
    fn block(&mut self, value: &Written) -> Vec<String> {
        let mut lines = Vec::new();
        match value {
            Written::Map(members) => {
                for (key, value) in members {
                    if self.happens(15) {
                        lines.push("# about the next".to_owned());
                    }
                    let (header, inner) = self.entry(value, false);
                    let end = if inner.is_empty() && self.happens(20) { "  # end" } else { "" };
                    lines.push(format!("{}:{header}{end}", write_key(key)));
                    let indent = match value {
                        Written::List(_) if self.random.bool() => "",
                        _ => "  ",
                    };
                    lines.extend(inner.iter().map(|line| format!("{indent}{line}")));
                }
            }
            Written::List(elements) => {
                for element in elements {
                    let (header, inner) = self.entry(element, false);
                    let is_joined = header.is_empty()
                        && inner.first().is_some_and(|it| !it.starts_with(['#', '-']));
                    if is_joined {
                        lines.push(format!("- {}", inner[0]));
                        lines.extend(inner[1..].iter().map(|line| format!("  {line}")));
                    } else {
                        lines.push(format!("-{header}"));
                        lines.extend(inner.iter().map(|line| format!("  {line}")));
                    }
                }
            }
            _ => {}
        }
        lines
    }

    /// What stands behind a key or a dash, and the lines below it.
    fn entry(&mut self, value: &Written, is_root: bool) -> (String, Vec<String>) {
        let json = as_json(value);
        if let Some(name) = self.anchors.get(&json).cloned()
            && self.happens(60)
        {
            return (format!(" *{name}"), Vec::new());
        }
        let is_long = match value {
            Written::Map(members) => !members.is_empty(),
            Written::List(elements) => !elements.is_empty(),
            _ => false,
        };
        let is_anchored = !is_root && self.happens(if is_long { 15 } else { 4 });
        let anchor = if is_anchored { self.next_anchor() } else { String::new() };
        let shown = if anchor.is_empty() { String::new() } else { format!(" &{anchor}") };
        let is_block = is_long && (is_root || self.happens(75));
        let written = match value {
            _ if is_block => (shown, self.block(value)),
            Written::Text(text) if is_block_text(text) && self.happens(50) => {
                let lines = text.split('\n').map(|line| format!("  {line}"));
                (format!("{shown} |-"), lines.collect())
            }
            _ => (format!("{shown} {}", self.plain_flow(value)), Vec::new()),
        };
        if !anchor.is_empty() {
            self.anchors.insert(json, anchor);
        }
        written
    }

    fn next_anchor(&mut self) -> String {
        self.count += 1;
        format!("a{}", self.count)
    }

    fn flow(&mut self, value: &Written) -> String {
        let json = as_json(value);
        if let Some(name) = self.anchors.get(&json).cloned()
            && self.happens(50)
        {
            return format!("*{name} ");
        }
        if !self.happens(4) {
            return self.plain_flow(value);
        }
        let anchor = self.next_anchor();
        let text = self.plain_flow(value);
        let text = format!("&{anchor} {text}");
        self.anchors.insert(json, anchor);
        text
    }

    fn plain_flow(&mut self, value: &Written) -> String {
        match value {
            Written::Word(word) => {
                let is_number = word.bytes().all(|it| it.is_ascii_digit());
                match is_number && self.happens(5) {
                    true => format!("!!int {word}"),
                    false => word.clone(),
                }
            }
            Written::Text(text) => {
                let quoted = serde_json::Value::from(text.as_str()).to_string();
                let is_plain = text.bytes().all(|it| it.is_ascii_lowercase() || it == b'.')
                    && !["", "yes", "null", "true", "false"].contains(&text.as_str());
                match self.random.u8(..10) {
                    0 => format!("!!str {quoted}"),
                    1 | 2 if is_plain => text.clone(),
                    3 if !text.contains(['\n', '\'']) => format!("'{text}'"),
                    _ => quoted,
                }
            }
            Written::List(elements) => {
                let elements: Vec<String> = elements.iter().map(|it| self.flow(it)).collect();
                format!("[{}]", elements.join(", "))
            }
            Written::Map(members) => {
                let members = members.iter().map(|(key, it)| {
                    let value = self.flow(it);
                    format!("{}: {value}", write_key(key))
                });
                let members: Vec<String> = members.collect();
                if self.random.bool() {
                    format!("{{ {} }}", members.join(", "))
                } else {
                    format!("{{{}}}", members.join(", "))
                }
            }
        }
    }
}

fn is_block_text(text: &str) -> bool {
    !text.is_empty() && !text.starts_with([' ', '\n']) && !text.ends_with('\n')
}

/// Writes a key so that it is a text.
fn write_key(key: &str) -> String {
    let is_plain = key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && key.starts_with(|it: char| it.is_ascii_alphabetic())
        && !["yes", "true", "false", "null"].contains(&key);
    if is_plain { key.to_owned() } else { serde_json::Value::from(key).to_string() }
}
