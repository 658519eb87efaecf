//! Random schemas, and random edits of them.
//!
//! A schema is kept as data, so an edit changes the data. Not every edit gives files
//! that compile; callers skip those that do not.

mod edits;
mod text;

use fastrand::Rng;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Proto2,
    Proto3,
    Edition2023,
}

/// A few files that import each other, and one service.
#[derive(Clone)]
pub(crate) struct Schema {
    syntax: Syntax,
    /// The package of each file.
    packages: Vec<String>,
    messages: Vec<MessageDef>,
    enums: Vec<EnumDef>,
    extensions: Vec<ExtensionDef>,
    methods: Vec<MethodDef>,
    /// Whether fields of an edition have no presence unless they say so.
    implicit: bool,
}

/// Where a type is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// At the top of the file with this index.
    File(usize),
    /// In the message with this index.
    Message(usize),
}

#[derive(Clone)]
struct MessageDef {
    name: String,
    home: Home,
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
    /// A map with messages as values.
    MapTo(&'static str, usize),
}

#[derive(Clone)]
struct EnumDef {
    name: String,
    home: Home,
    values: Vec<(String, i32)>,
    reserved: Vec<i32>,
    closed: bool,
}

/// An extension at the top of a file.
#[derive(Clone)]
struct ExtensionDef {
    file: usize,
    extendee: usize,
    field: FieldDef,
}

#[derive(Clone)]
struct MethodDef {
    name: String,
    input: usize,
    output: usize,
}

const SCALARS: &[&str] = &[
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32",
    "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes",
];

const KEYS: &[&str] = &["int32", "int64", "uint32", "sint64", "bool", "string"];

/// The numbers of extensions: some, so that edits meet.
const EXTENSIONS: std::ops::RangeInclusive<u32> = 100..=106;

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(..list.len())]
}

impl Schema {
    /// A small schema of a random syntax.
    pub(crate) fn random(rng: &mut Rng) -> Schema {
        let mut schema = Schema {
            syntax: pick(rng, &[Syntax::Proto2, Syntax::Proto3, Syntax::Edition2023]),
            packages: vec!["sound.v1".to_owned(), "sound.v1".to_owned()],
            messages: Vec::new(),
            enums: Vec::new(),
            extensions: Vec::new(),
            methods: Vec::new(),
            implicit: rng.u8(..4) == 0,
        };
        if rng.bool() {
            schema.packages[1] = "sound.base.v1".to_owned();
        }
        for index in 0..rng.usize(2..=4) {
            // What a message encloses comes after it.
            let home = match rng.u8(..4) {
                0 if index > 0 => Home::Message(rng.usize(..index)),
                1 => Home::File(1),
                _ => Home::File(0),
            };
            schema.messages.push(MessageDef {
                name: format!("M{index}"),
                home,
                fields: Vec::new(),
                oneofs: if rng.bool() { vec!["choice".to_owned()] } else { Vec::new() },
                reserved_numbers: Vec::new(),
                reserved_names: Vec::new(),
            });
        }
        for index in 0..rng.usize(1..=2) {
            let mut values = vec![(format!("E{index}_ZERO"), 0)];
            for value in 1..rng.i32(2..=4) {
                values.push((format!("E{index}_V{value}"), value * rng.i32(1..=2)));
            }
            values.dedup_by_key(|value| value.1);
            let home = match rng.u8(..4) {
                0 => Home::Message(rng.usize(..schema.messages.len())),
                1 => Home::File(1),
                _ => Home::File(0),
            };
            let (name, closed) = (format!("E{index}"), rng.bool());
            schema.enums.push(EnumDef { name, home, values, reserved: Vec::new(), closed });
        }
        for index in 0..schema.messages.len() {
            for _ in 0..rng.usize(2..=5) {
                schema.add_field(rng, index);
            }
            if !schema.messages[index].oneofs.is_empty() {
                schema.add_member(rng, index, 0);
            }
        }
        for _ in 0..rng.usize(..3) {
            schema.add_extension(rng);
        }
        // A field with a number that an extension may have.
        if rng.bool() && !schema.extensions.is_empty() {
            schema.make_field(0);
        }
        for index in 0..rng.usize(..3) {
            let (input, output) = (schema.any_message(rng), schema.any_message(rng));
            schema.methods.push(MethodDef { name: format!("Do{index}"), input, output });
        }
        schema
    }

    fn any_message(&self, rng: &mut Rng) -> usize {
        rng.usize(..self.messages.len())
    }

    fn ty(&self, rng: &mut Rng) -> Ty {
        match rng.u8(..20) {
            0..=3 => Ty::Message(self.any_message(rng)),
            4..=7 => Ty::Enum(rng.usize(..self.enums.len())),
            8 => Ty::Map(pick(rng, KEYS), pick(rng, SCALARS)),
            9 => Ty::MapTo(pick(rng, KEYS), self.any_message(rng)),
            _ => Ty::Scalar(pick(rng, SCALARS)),
        }
    }

    fn shape(&self, rng: &mut Rng, ty: Ty) -> Shape {
        match (ty, rng.u8(..8)) {
            (Ty::Map(..) | Ty::MapTo(..), _) => Shape::Plain,
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

    fn add_extension(&mut self, rng: &mut Rng) {
        let ty = match self.ty(rng) {
            Ty::Map(_, value) => Ty::Scalar(value),
            Ty::MapTo(_, message) => Ty::Message(message),
            ty => ty,
        };
        let shape = if rng.u8(..4) == 0 { Shape::Repeated } else { Shape::Plain };
        let extendee = self.any_message(rng);
        let number = rng.u32(EXTENSIONS);
        let name = format!("x{number}");
        let file = rng.usize(..self.packages.len());
        let field = FieldDef { name, number, ty, shape, options: vec![] };
        self.extensions.push(ExtensionDef { file, extendee, field });
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

    /// Whether no two extensions of a message have one number, which the linker does
    /// not look for.
    pub(crate) fn has_clear_extensions(&self) -> bool {
        let place = |it: &ExtensionDef| (it.extendee, it.field.number);
        let mut places: Vec<(usize, u32)> = self.extensions.iter().map(place).collect();
        places.sort_unstable();
        places.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The file in which a type is declared.
    fn file_of(&self, home: Home) -> usize {
        match home {
            Home::File(file) => file,
            Home::Message(message) => self.file_of(self.messages[message].home),
        }
    }

    /// The full name of a type.
    fn full_name(&self, home: Home, name: &str) -> String {
        match home {
            Home::File(file) => format!("{}.{name}", self.packages[file]),
            Home::Message(message) => {
                let around = &self.messages[message];
                format!("{}.{name}", self.full_name(around.home, &around.name))
            }
        }
    }
}
