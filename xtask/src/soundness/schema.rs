//! Random schemas, and random edits of them.
//!
//! A schema is one file, kept as data, so an edit changes the data. Not every edit
//! gives a file that compiles; callers skip those that do not.

use std::fmt::Write;

use fastrand::Rng;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Proto2,
    Proto3,
    Edition2023,
}

/// One file.
#[derive(Clone)]
pub(crate) struct Schema {
    syntax: Syntax,
    messages: Vec<MessageDef>,
    enums: Vec<EnumDef>,
}

#[derive(Clone)]
struct MessageDef {
    name: String,
    fields: Vec<FieldDef>,
    oneofs: Vec<String>,
    reserved_numbers: Vec<u32>,
    reserved_names: Vec<String>,
}

#[derive(Clone)]
struct FieldDef {
    name: String,
    number: u32,
    ty: Ty,
    shape: Shape,
    options: Vec<(&'static str, String)>,
}

/// The cardinality and presence of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The default of the syntax, without a label.
    Plain,
    /// With the label `optional`, or the feature for the opposite.
    Other,
    Required,
    Repeated,
    /// A member of the oneof with this index.
    Member(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ty {
    Scalar(&'static str),
    Message(usize),
    Enum(usize),
    Map(&'static str, &'static str),
}

#[derive(Clone)]
struct EnumDef {
    name: String,
    values: Vec<(String, i32)>,
    reserved: Vec<i32>,
    closed: bool,
}

const SCALARS: &[&str] = &[
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32",
    "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes",
];

const KEYS: &[&str] = &["int32", "int64", "uint32", "sint64", "bool", "string"];

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(..list.len())]
}

impl Schema {
    /// A small schema of a random syntax.
    pub(crate) fn random(rng: &mut Rng) -> Schema {
        let syntax = pick(rng, &[Syntax::Proto2, Syntax::Proto3, Syntax::Edition2023]);
        let mut schema = Schema { syntax, messages: Vec::new(), enums: Vec::new() };
        for index in 0..rng.usize(1..=2) {
            let mut values = vec![(format!("E{index}_ZERO"), 0)];
            for value in 1..rng.i32(2..=4) {
                values.push((format!("E{index}_V{value}"), value * rng.i32(1..=2)));
            }
            values.dedup_by_key(|value| value.1);
            let closed = rng.bool();
            let name = format!("E{index}");
            schema.enums.push(EnumDef { name, values, reserved: Vec::new(), closed });
        }
        for index in 0..rng.usize(2..=3) {
            schema.messages.push(MessageDef {
                name: format!("M{index}"),
                fields: Vec::new(),
                oneofs: if rng.bool() { vec!["choice".to_owned()] } else { Vec::new() },
                reserved_numbers: Vec::new(),
                reserved_names: Vec::new(),
            });
        }
        for index in 0..schema.messages.len() {
            for _ in 0..rng.usize(2..=5) {
                schema.add_field(rng, index);
            }
            if !schema.messages[index].oneofs.is_empty() {
                schema.add_member(rng, index, 0);
            }
        }
        schema
    }

    fn ty(&self, rng: &mut Rng) -> Ty {
        match rng.u8(..10) {
            0 | 1 => Ty::Message(rng.usize(..self.messages.len())),
            2 | 3 => Ty::Enum(rng.usize(..self.enums.len())),
            4 => Ty::Map(pick(rng, KEYS), pick(rng, SCALARS)),
            _ => Ty::Scalar(pick(rng, SCALARS)),
        }
    }

    fn shape(&self, rng: &mut Rng, ty: Ty) -> Shape {
        match (ty, rng.u8(..8)) {
            (Ty::Map(..), _) => Shape::Plain,
            (_, 0 | 1) => Shape::Repeated,
            (_, 2) if self.syntax != Syntax::Proto3 => Shape::Required,
            (_, 3 | 4) => Shape::Other,
            _ => Shape::Plain,
        }
    }

    fn add_field(&mut self, rng: &mut Rng, message: usize) {
        let ty = self.ty(rng);
        let shape = self.shape(rng, ty);
        let number = self.free_number(rng, message);
        let name = format!("f{number}");
        self.messages[message].fields.push(FieldDef { name, number, ty, shape, options: vec![] });
    }

    fn add_member(&mut self, rng: &mut Rng, message: usize, oneof: usize) {
        let ty = Ty::Scalar(pick(rng, SCALARS));
        let number = self.free_number(rng, message);
        let name = format!("f{number}");
        let shape = Shape::Member(oneof);
        self.messages[message].fields.push(FieldDef { name, number, ty, shape, options: vec![] });
    }

    fn free_number(&self, rng: &mut Rng, message: usize) -> u32 {
        let message = &self.messages[message];
        loop {
            let number = rng.u32(1..40);
            let taken = message.fields.iter().any(|field| field.number == number);
            if !taken && !message.reserved_numbers.contains(&number) {
                return number;
            }
        }
    }

    /// The schema after one random edit.
    pub(crate) fn edited(&self, rng: &mut Rng) -> Schema {
        let mut new = self.clone();
        let at = rng.usize(..new.messages.len());
        let count = new.messages[at].fields.len();
        let field = (count > 0).then(|| rng.usize(..count));
        let item = rng.usize(..new.enums.len());
        match (rng.u8(..24), field) {
            (0 | 1, Some(field)) => new.messages[at].fields[field].ty = self.ty(rng),
            (2, Some(field)) => {
                let ty = Ty::Scalar(pick(rng, SCALARS));
                new.messages[at].fields[field].ty = ty;
            }
            (3, Some(field)) => {
                let field = &mut new.messages[at].fields[field];
                field.name = format!("g{}", field.number);
            }
            (4, Some(field)) => {
                let number = new.free_number(rng, at);
                new.messages[at].fields[field].number = number;
            }
            (5 | 6, Some(field)) => {
                let ty = new.messages[at].fields[field].ty;
                new.messages[at].fields[field].shape = new.shape(rng, ty);
            }
            (7, Some(field)) => {
                new.messages[at].fields.remove(field);
            }
            (8, Some(field)) => {
                let gone = new.messages[at].fields.remove(field);
                new.messages[at].reserved_numbers.push(gone.number);
                new.messages[at].reserved_names.push(gone.name);
            }
            (9 | 10, _) => new.add_field(rng, at),
            (11, _) if !new.messages[at].oneofs.is_empty() => new.add_member(rng, at, 0),
            (12, Some(field)) if !new.messages[at].oneofs.is_empty() => {
                let field = &mut new.messages[at].fields[field];
                field.shape = match field.shape {
                    Shape::Member(_) => Shape::Plain,
                    _ => Shape::Member(0),
                };
            }
            (13, Some(field)) => {
                let field = &mut new.messages[at].fields[field];
                field.options.retain(|(name, _)| *name != "json_name");
                field.options.push(("json_name", format!("\"j{}\"", rng.u8(..3))));
            }
            (14, Some(field)) => new.toggle(rng, at, field, "packed"),
            (15, Some(field)) => new.toggle(rng, at, field, "encoding"),
            (16, Some(field)) => new.default(rng, at, field),
            (17, _) => {
                let number = rng.i32(-2..12);
                let item = &mut new.enums[item];
                item.values.push((format!("{}_W{}", item.name, number + 2), number));
            }
            (18, _) => {
                let item = &mut new.enums[item];
                if item.values.len() > 1 {
                    let (_, number) = item.values.remove(rng.usize(1..item.values.len()));
                    if rng.bool() {
                        item.reserved.push(number);
                    }
                }
            }
            (19, _) => {
                let item = &mut new.enums[item];
                let value = rng.usize(..item.values.len());
                match rng.bool() {
                    true => item.values[value].0.push_str("_X"),
                    false => item.values[value].1 += rng.i32(1..4),
                }
            }
            (20, _) => {
                let item = &mut new.enums[item];
                item.closed = !item.closed;
            }
            (21, _) => new.messages[at].name.push_str("Renamed"),
            (22, _) => rng.shuffle(&mut new.messages[at].fields),
            (_, _) => {
                new.syntax = pick(rng, &[Syntax::Proto2, Syntax::Proto3, Syntax::Edition2023]);
            }
        }
        new
    }

    fn toggle(&mut self, rng: &mut Rng, at: usize, field: usize, option: &'static str) {
        let field = &mut self.messages[at].fields[field];
        let had = field.options.iter().any(|(name, _)| *name == option);
        field.options.retain(|(name, _)| *name != option);
        if !had {
            field.options.push((option, rng.bool().to_string()));
        }
    }

    fn default(&mut self, rng: &mut Rng, at: usize, field: usize) {
        let field = &mut self.messages[at].fields[field];
        let value = match field.ty {
            Ty::Scalar("bool") => "true".to_owned(),
            Ty::Scalar("string" | "bytes") => "\"d\"".to_owned(),
            Ty::Scalar(_) => rng.u8(..3).to_string(),
            Ty::Enum(item) => pick_name(rng, &self.enums[item]),
            Ty::Message(_) | Ty::Map(..) => return,
        };
        field.options.retain(|(name, _)| *name != "default");
        field.options.push(("default", value));
    }

    /// The file as text.
    pub(crate) fn text(&self) -> String {
        let mut out = match self.syntax {
            Syntax::Proto2 => "syntax = \"proto2\";\n",
            Syntax::Proto3 => "syntax = \"proto3\";\n",
            Syntax::Edition2023 => "edition = \"2023\";\n",
        }
        .to_owned();
        out.push_str("package sound.v1;\n");
        for item in &self.enums {
            let _ = writeln!(out, "enum {} {{", item.name);
            let mut numbers: Vec<i32> = item.values.iter().map(|value| value.1).collect();
            numbers.sort_unstable();
            if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
                out.push_str("  option allow_alias = true;\n");
            }
            if self.syntax == Syntax::Edition2023 && item.closed {
                out.push_str("  option features.enum_type = CLOSED;\n");
            }
            for number in &item.reserved {
                let _ = writeln!(out, "  reserved {number};");
            }
            for (name, number) in &item.values {
                let _ = writeln!(out, "  {name} = {number};");
            }
            out.push_str("}\n");
        }
        for message in &self.messages {
            let _ = writeln!(out, "message {} {{", message.name);
            for number in &message.reserved_numbers {
                let _ = writeln!(out, "  reserved {number};");
            }
            for name in &message.reserved_names {
                match self.syntax {
                    Syntax::Edition2023 => writeln!(out, "  reserved {name};"),
                    _ => writeln!(out, "  reserved \"{name}\";"),
                }
                .unwrap_or_default();
            }
            for field in &message.fields {
                if !matches!(field.shape, Shape::Member(_)) {
                    let _ = writeln!(out, "  {}", self.field(field));
                }
            }
            for (index, oneof) in message.oneofs.iter().enumerate() {
                let mut members = message
                    .fields
                    .iter()
                    .filter(|field| field.shape == Shape::Member(index))
                    .peekable();
                if members.peek().is_some() {
                    let _ = writeln!(out, "  oneof {oneof} {{");
                    for field in members {
                        let _ = writeln!(out, "    {}", self.field(field));
                    }
                    out.push_str("  }\n");
                }
            }
            out.push_str("}\n");
        }
        out
    }

    fn field(&self, field: &FieldDef) -> String {
        let ty = match field.ty {
            Ty::Scalar(name) => name.to_owned(),
            Ty::Message(index) => self.messages[index].name.clone(),
            Ty::Enum(index) => self.enums[index].name.clone(),
            Ty::Map(key, value) => format!("map<{key}, {value}>"),
        };
        let edition = self.syntax == Syntax::Edition2023;
        let mut options: Vec<String> = Vec::new();
        let label = match (field.shape, self.syntax) {
            (Shape::Repeated, _) => "repeated ",
            (Shape::Required, Syntax::Proto2) => "required ",
            (Shape::Plain | Shape::Other, Syntax::Proto2) if !matches!(field.ty, Ty::Map(..)) => {
                "optional "
            }
            (Shape::Other, Syntax::Proto3) => "optional ",
            _ => "",
        };
        if edition {
            match field.shape {
                Shape::Required => {
                    options.push("features.field_presence = LEGACY_REQUIRED".to_owned());
                }
                Shape::Other if !matches!(field.ty, Ty::Message(_)) => {
                    options.push("features.field_presence = IMPLICIT".to_owned());
                }
                _ => {}
            }
        }
        for (name, value) in &field.options {
            let repeated = field.shape == Shape::Repeated;
            let packable = repeated
                && match field.ty {
                    Ty::Scalar(name) => !matches!(name, "string" | "bytes"),
                    Ty::Enum(_) => true,
                    Ty::Message(_) | Ty::Map(..) => false,
                };
            let message = matches!(field.ty, Ty::Message(_));
            options.extend(match (*name, edition) {
                ("packed", false) if packable => Some(format!("packed = {value}")),
                ("packed", true) if packable => {
                    Some("features.repeated_field_encoding = EXPANDED".to_owned())
                }
                ("encoding", true) if message => {
                    Some("features.message_encoding = DELIMITED".to_owned())
                }
                ("json_name", _) => Some(format!("json_name = {value}")),
                ("default", _) if self.syntax != Syntax::Proto3 && !repeated => {
                    Some(format!("default = {value}"))
                }
                _ => None,
            });
        }
        let options = match options.as_slice() {
            [] => String::new(),
            list => format!(" [{}]", list.join(", ")),
        };
        format!("{label}{ty} {} = {}{options};", field.name, field.number)
    }
}

fn pick_name(rng: &mut Rng, item: &EnumDef) -> String {
    item.values[rng.usize(..item.values.len())].0.clone()
}
