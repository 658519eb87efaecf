//! Values of generated messages, in every notation, as an independent
//! implementation reads and writes them.

#![allow(clippy::disallowed_methods, reason = "the test reads its fixtures")]
#![allow(clippy::unwrap_used, reason = "helpers are tests too")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use abide_schema::value::{Codec, Entry, Message, UndeclaredPolicy, Value};
use abide_schema::{
    Cardinality, Edition, Field, FieldId, File, FileDecl, MessageId, Openness, Presence, Scalar,
    SourceFile, Tree, Type, encode_set, find_well_known, well_known_paths,
};
use prost_reflect::prost::Message as _;
use prost_reflect::text_format::FormatOptions;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};

fn parse(path: &str, text: &[u8]) -> Arc<FileDecl> {
    Arc::new(FileDecl::parse(SourceFile {
        path: path.into(),
        display: path.into(),
        root: 0,
        imported: false,
        text: text.into(),
    }))
}

/// The files that protoc accepts and the well-known ones, without those that
/// the other implementation does not know: editions, and what is built on them.
fn tree() -> Tree {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/protoc");
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let file = parse(&name, &std::fs::read(&path).unwrap());
            files.insert(name, file);
        }
    }
    for path in well_known_paths() {
        files.insert(path.to_owned(), parse(path, find_well_known(path).unwrap().as_bytes()));
    }
    loop {
        let known: Vec<String> = files.keys().cloned().collect();
        let before = files.len();
        files.retain(|_, file| {
            matches!(file.edition, Edition::Proto2 | Edition::Proto3)
                && file.imports.iter().all(|import| known.iter().any(|path| **path == *import.path))
        });
        if files.len() == before {
            break;
        }
    }
    Tree::link(files.into_values().collect())
}

/// A small generator of the same numbers in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

struct Generator<'t> {
    tree: &'t Tree,
    numbers: Numbers,
    types: Vec<MessageId>,
    /// Types that implementations agree on how to write in an Any.
    in_any: Vec<MessageId>,
    /// A type that holds no other messages.
    plain: MessageId,
    extensions: BTreeMap<MessageId, Vec<FieldId>>,
}

/// Message sets are known to few implementations.
fn is_message_set(message: abide_schema::Message<'_>) -> bool {
    let set = message.options().and_then(|it| it.get_bool(message.tree, "message_set_wire_format"));
    set == Some(true)
}

impl<'t> Generator<'t> {
    fn new(tree: &'t Tree, seed: u64) -> Generator<'t> {
        let messages = || tree.files().flat_map(File::all_messages);
        let plain = messages().find(|it| it.full_name() == "google.protobuf.Duration").unwrap().id;
        let types = messages().filter(|it| !it.is_map_entry() && !is_message_set(*it));
        let mut extensions: BTreeMap<MessageId, Vec<FieldId>> = BTreeMap::new();
        for field in tree.files().flat_map(File::all_fields) {
            if let Some(extendee) = field.extendee() {
                extensions.entry(extendee.id).or_default().push(field.id);
            }
        }
        let types: Vec<MessageId> = types.map(|it| it.id).collect();
        let disputed = ["google.protobuf.Any", "google.protobuf.Empty"];
        let agreed = |id: &MessageId| !disputed.contains(&&*tree.message(*id).full_name());
        Generator {
            tree,
            numbers: Numbers(seed),
            in_any: types.iter().copied().filter(agreed).collect(),
            types,
            plain,
            extensions,
        }
    }

    fn message(&mut self, ty: MessageId, depth: u32) -> Message {
        let tree = self.tree;
        let view = tree.message(ty);
        let mut message = Message::new(ty);
        if self.well_known(&mut message, depth) {
            return message;
        }
        let mut oneofs = Vec::new();
        let own: Vec<Field<'_>> = view.fields().collect();
        let extensions = self.extensions.get(&ty).into_iter().flatten().map(|id| tree.field(*id));
        let fields: Vec<Field<'_>> = own.into_iter().chain(extensions).collect();
        for field in fields {
            let required = field.presence() == Presence::LegacyRequired;
            let is_message = matches!(field.ty(), Type::Message(_));
            let wanted = self.numbers.below(100) < if depth > 2 { 15 } else { 45 };
            if !required && (!wanted || is_message && depth > 3) {
                continue;
            }
            if let Some(oneof) = field.oneof() {
                if oneofs.contains(&oneof.id) {
                    continue;
                }
                oneofs.push(oneof.id);
            }
            if field.message_type().is_some_and(is_message_set) {
                continue;
            }
            let count = match field.cardinality() {
                Cardinality::Singular => 1,
                Cardinality::Repeated | Cardinality::Map => self.numbers.below(4),
            };
            let mut keys = Vec::new();
            for _ in 0..count {
                let Some(value) = self.value(field, depth) else { continue };
                if let (Cardinality::Map, Value::Message(pair)) = (field.cardinality(), &value) {
                    let key = pair.entries[0].value.clone();
                    if keys.contains(&key) {
                        continue;
                    }
                    keys.push(key);
                }
                message.entries.push(Entry::new(field.id, value));
            }
        }
        message
    }

    fn value(&mut self, field: Field<'t>, depth: u32) -> Option<Value> {
        let scalar = match field.ty() {
            Type::Message(ty) if field.is_map() => {
                let mut pair = Message::new(ty);
                for part in self.tree.message(ty).fields() {
                    pair.entries.push(Entry::new(part.id, self.value(part, depth + 1)?));
                }
                return Some(Value::Message(Box::new(pair)));
            }
            Type::Message(ty) => {
                return Some(Value::Message(Box::new(self.message(ty, depth + 1))));
            }
            Type::Enum(id) => {
                let item = self.tree.enumeration(id);
                if item.name() != "NullValue"
                    && item.features().openness == Openness::Open
                    && field.file().decl().edition != Edition::Proto2
                    && self.numbers.below(5) == 0
                {
                    return Some(Value::Enum(self.numbers.next() as i32));
                }
                let known: Vec<i32> = item.values().map(|value| value.number()).collect();
                return Some(Value::Enum(self.numbers.pick(&known)));
            }
            Type::Scalar(scalar) => scalar,
            Type::Unresolved => return None,
        };
        // The other implementation takes a negative zero for no value here.
        let zero = match field.presence() {
            Presence::Implicit => 0.0,
            _ if field.parent().is_some_and(|parent| parent.is_map_entry()) => 0.0,
            _ => -0.0,
        };
        let bits = self.numbers.next();
        let shift = self.numbers.below(64);
        Some(match scalar {
            Scalar::Bool => Value::Bool(bits.is_multiple_of(2)),
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
                Value::I32((bits as i64 >> shift) as i32)
            }
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(bits as i64 >> shift),
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32((bits >> shift) as u32),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(bits >> shift),
            Scalar::Float => Value::F32(match bits % 8 {
                0 => self.numbers.pick(&[
                    0.0,
                    zero as f32,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    f32::NAN,
                ]),
                1 => self.numbers.pick(&[3.4e38, f32::MIN_POSITIVE, 1e-45, 16_777_216.0, 0.1]),
                _ => Some(f32::from_bits(bits as u32)).filter(|it| it.is_finite())?,
            }),
            Scalar::Double => Value::F64(match bits % 8 {
                0 => self.numbers.pick(&[0.0, zero, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
                1 => self.numbers.pick(&[f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e22, 0.1]),
                _ => Some(f64::from_bits(bits)).filter(|it| it.is_finite())?,
            }),
            Scalar::String => Value::String(self.text().into()),
            Scalar::Bytes => {
                let length = self.numbers.below(7);
                Value::Bytes((0..length).map(|_| self.numbers.next() as u8).collect())
            }
        })
    }

    fn text(&mut self) -> String {
        let characters = [
            'a', 'Z', '0', ' ', '"', '\'', '\\', '\n', '\t', '\u{1}', '\u{7f}', 'é', '😀', '#',
            '/', '\u{feff}',
        ];
        (0..self.numbers.below(6)).map(|_| self.numbers.pick(&characters)).collect()
    }

    /// Fills types whose values must keep to a range.
    fn well_known(&mut self, message: &mut Message, depth: u32) -> bool {
        let tree = self.tree;
        let view = tree.message(message.ty);
        if view.package().name() != "google.protobuf" {
            return false;
        }
        let mut set = |number, value| {
            let field = view.field_numbered(number).unwrap();
            message.entries.push(Entry::new(field.id, value));
        };
        let numbers = &mut self.numbers;
        match view.name() {
            "Timestamp" => {
                let seconds = (numbers.next() % 315_537_897_600) as i64 - 62_135_596_800;
                set(1, Value::I64(seconds));
                set(2, Value::I32(numbers.pick(&[0, 1, 999_999_999, 500_000_000, 1_000])));
            }
            "Duration" => {
                let sign = numbers.pick(&[-1, 1]);
                set(1, Value::I64(sign * (numbers.next() % 315_576_000_000) as i64));
                let nanos = numbers.pick(&[0, 1, 999_999_999, 500_000_000, 1_000]);
                set(2, Value::I32(sign as i32 * nanos));
            }
            "DoubleValue" => set(1, Value::F64(numbers.pick(&[0.0, -1.5, 1e300]))),
            "FloatValue" => set(1, Value::F32(numbers.pick(&[0.0, -1.5, 1e30]))),
            "FieldMask" => {
                for _ in 0..numbers.below(3) {
                    set(1, Value::String(numbers.pick(&["a", "foo_bar", "a.b_c.d"]).into()));
                }
            }
            "Any" => {
                let types = match depth > 3 {
                    true => vec![self.plain],
                    false => self.in_any.clone(),
                };
                let ty = self.numbers.pick(&types);
                let content = self.message(ty, depth + 1);
                // A value in a field of implicit presence is not kept.
                let content =
                    Codec::new(tree).decode(ty, &Codec::new(tree).encode(&content)).unwrap();
                let url = format!("type.googleapis.com/{}", tree.message(ty).full_name());
                set(1, Value::String(url.into()));
                set(2, Value::Bytes(Codec::new(tree).encode(&sorted(tree, &content)).into()));
            }
            "Value" => {
                let number = match depth > 3 {
                    true => 1 + numbers.below(4) as i32,
                    false => 1 + numbers.below(6) as i32,
                };
                let field = view.field_numbered(number).unwrap();
                let value = match self.value(field, depth) {
                    Some(Value::F64(value)) if !value.is_finite() => Value::F64(0.5),
                    None => Value::F64(1e300),
                    Some(value) => value,
                };
                let field = match value {
                    Value::F64(_) => view.field_numbered(2).unwrap(),
                    _ => field,
                };
                message.entries.push(Entry::new(field.id, value));
            }
            _ => return false,
        }
        true
    }
}

/// The same value with the entries of maps by their bytes: their order means
/// nothing.
fn sorted(tree: &Tree, message: &Message) -> Message {
    let mut sorted = message.normalize(tree);
    if tree.message(message.ty).full_name() == "google.protobuf.Any"
        && let Some(url) = sorted.get_str(tree, "type_url")
        && let Some((_, name)) = url.rsplit_once('/')
        && let Some(ty) =
            tree.files().flat_map(File::all_messages).find(|it| it.full_name() == name)
        && let [_, Entry { value: Value::Bytes(bytes), .. }] = sorted.entries.as_mut_slice()
    {
        let content = Codec::new(tree).decode(ty.id, bytes).unwrap();
        *bytes = canonical(tree, &content).into();
    }
    for entry in &mut sorted.entries {
        if let Value::Message(inner) = &mut entry.value {
            **inner = self::sorted(tree, inner);
        }
    }
    sorted.entries.sort_by_cached_key(|entry| {
        let field = tree.field(entry.field);
        let key = match &entry.value {
            Value::Message(inner) if field.is_map() => Codec::new(tree).encode(inner),
            _ => Vec::new(),
        };
        (field.number(), key)
    });
    sorted
}

fn canonical(tree: &Tree, message: &Message) -> Vec<u8> {
    Codec::new(tree).encode(&sorted(tree, message))
}

/// The same with numbers as `float`s: `1` is `1.0`, and of two decimals that
/// are as short one is as good. All digits count where one implementation
/// reads what the other wrote.
fn as_floats(json: serde_json::Value) -> serde_json::Value {
    match json {
        serde_json::Value::Number(number) => number.as_f64().map(|it| it as f32).into(),
        serde_json::Value::Array(elements) => elements.into_iter().map(as_floats).collect(),
        serde_json::Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, as_floats(value))).collect()
        }
        other => other,
    }
}

/// Files that the other implementation does not read: it requires UTF-8, no
/// message sets, and unique names where protoc does not.
const REFUSED: &[&str] =
    &["bad_utf8_string.proto", "message_set.proto", "proto3_optional.proto", "tolerated.proto"];

struct Compared {
    tree: Tree,
    pool: DescriptorPool,
}

impl Compared {
    fn new() -> Compared {
        let tree = tree();
        let mut pool = DescriptorPool::new();
        let mut refused = Vec::new();
        for file in tree.files() {
            let set = encode_set(&tree, &[file.id], true, false);
            if pool.decode_file_descriptor_set(set.as_slice()).is_err() {
                refused.push(file.path());
            }
        }
        assert_eq!(refused, REFUSED, "the other implementation does not read these files");
        Compared { tree, pool }
    }

    fn each(&self, seed: u64, rounds: usize, check: impl Fn(&Message, MessageDescriptor)) -> usize {
        let mut generator = Generator::new(&self.tree, seed);
        let known = |id: MessageId| {
            self.pool.get_message_by_name(&self.tree.message(id).full_name()).is_some()
        };
        generator.types.retain(|&ty| known(ty));
        generator.in_any.retain(|&ty| known(ty));
        let types = generator.types.clone();
        let mut compared = 0;
        for _ in 0..rounds {
            for &ty in &types {
                let value = generator.message(ty, 0);
                let name = self.tree.message(ty).full_name();
                check(&value, self.pool.get_message_by_name(&name).unwrap());
                compared += 1;
            }
        }
        compared
    }

    /// What the other implementation holds, as a value of ours.
    fn back(&self, ty: MessageId, theirs: &DynamicMessage) -> Vec<u8> {
        let message = Codec::new(&self.tree).decode(ty, &theirs.encode_to_vec()).unwrap();
        canonical(&self.tree, &message)
    }
}

#[test]
fn the_wire_notation_is_that_of_another_implementation() {
    let compared = Compared::new();
    let count = compared.each(0x5eed, 25, |value, desc| {
        let ty = value.ty;
        let bytes = Codec::new(&compared.tree).encode(value);
        let ours = Codec::new(&compared.tree).decode(ty, &bytes).unwrap();
        assert_eq!(Codec::new(&compared.tree).encode(&ours), bytes, "{}", desc.full_name());
        assert_eq!(canonical(&compared.tree, &ours), canonical(&compared.tree, value));
        let theirs = DynamicMessage::decode(desc.clone(), bytes.as_slice()).unwrap();
        assert_eq!(theirs.unknown_fields().count(), 0, "{}", desc.full_name());
        assert_eq!(
            compared.back(ty, &theirs),
            canonical(&compared.tree, value),
            "{}: {theirs}",
            desc.full_name()
        );
    });
    assert!(count > 5000, "only {count} values were compared");
}

#[test]
fn the_json_notation_is_that_of_another_implementation() {
    let compared = Compared::new();
    let tree = &compared.tree;
    let count = compared.each(0xabcd, 25, |value, desc| {
        let name = desc.full_name().to_owned();
        let bytes = Codec::new(tree).encode(value);
        let theirs = DynamicMessage::decode(desc.clone(), bytes.as_slice()).unwrap();
        let ours =
            Codec::new(tree).to_json(value).unwrap_or_else(|error| panic!("{name}: {error}"));
        let parsed: serde_json::Value = serde_json::from_str(&ours).unwrap();
        let printed = serde_json::to_string(&theirs)
            .unwrap_or_else(|error| panic!("{name}: {error}: {ours}"));
        let printed_value: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(as_floats(parsed), as_floats(printed_value), "{name}");

        let again = Codec::new(tree)
            .read_json(value.ty, printed.as_bytes(), UndeclaredPolicy::Refuse)
            .into_result()
            .unwrap_or_else(|error| panic!("{name}: {error}: {printed}"));
        assert_eq!(canonical(tree, &again), canonical(tree, value), "{name}: {printed}");

        let mut deserializer = serde_json::Deserializer::from_str(&ours);
        let read = DynamicMessage::deserialize(desc, &mut deserializer)
            .unwrap_or_else(|error| panic!("{name}: {error}: {ours}"));
        assert_eq!(compared.back(value.ty, &read), canonical(tree, value), "{name}: {ours}");
    });
    assert!(count > 5000, "only {count} values were compared");
}

#[test]
fn the_text_notation_is_that_of_another_implementation() {
    let compared = Compared::new();
    let tree = &compared.tree;
    let count = compared.each(0x7e47, 25, |value, desc| {
        let name = desc.full_name().to_owned();
        let bytes = Codec::new(tree).encode(value);
        let theirs = DynamicMessage::decode(desc.clone(), bytes.as_slice()).unwrap();
        let ours = Codec::new(tree).to_text(value);
        let read = DynamicMessage::parse_text_format(desc, &ours)
            .unwrap_or_else(|error| panic!("{name}: {error}: {ours}"));
        assert_eq!(compared.back(value.ty, &read), canonical(tree, value), "{name}: {ours}");

        let options = FormatOptions::new().pretty(value.entries.len() % 2 == 0).expand_any(true);
        let printed = theirs.to_text_format_with_options(&options);
        let again = Codec::new(tree)
            .read_text(value.ty, printed.as_bytes(), UndeclaredPolicy::Refuse)
            .into_result()
            .unwrap_or_else(|error| panic!("{name}: {error}: {printed}"));
        assert_eq!(canonical(tree, &again), canonical(tree, value), "{name}: {printed}");
    });
    assert!(count > 5000, "only {count} values were compared");
}
