//! Schemas as they mean, apart from how they are written. One schema has many
//! texts, and all of them must have one hash.

use std::collections::{BTreeMap, BTreeSet};

use super::{Files, Numbers};

#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) packages: Vec<Package>,
}

#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// True if it means what proto2 means, not proto3.
    pub(crate) legacy: bool,
    pub(crate) go_package: String,
    pub(crate) elements: Vec<Element>,
}

#[derive(Clone, Debug)]
pub(crate) enum Element {
    Message(Message),
    Enum(Enum),
    Service(Service),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) messages: Vec<Message>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) reserved: BTreeSet<u32>,
    pub(crate) reserved_names: BTreeSet<String>,
    /// In legacy packages only.
    pub(crate) extensible: BTreeSet<u32>,
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) number: u32,
    pub(crate) cardinality: Cardinality,
    pub(crate) ty: Type,
    pub(crate) json_name: Option<String>,
    pub(crate) oneof: Option<String>,
    pub(crate) options: Options,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cardinality {
    Implicit,
    Explicit,
    Required,
    Repeated,
    Map,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Scalar(&'static str),
    Message(String),
    Enum(String),
    /// A group of the message beside it with the name of the field in capitals.
    Group(String),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Enum {
    pub(crate) name: String,
    pub(crate) values: Vec<(String, i32, Options)>,
    pub(crate) reserved: BTreeSet<u32>,
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) methods: Vec<Method>,
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) streams: bool,
    pub(crate) options: Options,
}

/// The options of an element: `deprecated`, and our custom options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) deprecated: bool,
    pub(crate) rules: Option<Rules>,
    pub(crate) tags: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) text: String,
    pub(crate) count: i64,
    pub(crate) list: Vec<u32>,
    pub(crate) inner: Option<(f32, bool)>,
    pub(crate) map: BTreeMap<String, i32>,
}

/// The custom options, as every schema imports them.
const OPTIONS_PATH: &str = "opt/v1/opt.proto";
const OPTIONS: &str = r#"syntax = "proto3";
package opt.v1;
import "google/protobuf/descriptor.proto";
message Rules {
  string text = 1;
  int64 count = 2;
  repeated uint32 list = 3;
  Inner inner = 4;
  map<string, int32> map = 5;
  string note = 6 [retention = RETENTION_SOURCE];
  message Inner { float ratio = 1; bool flag = 2; }
}
extend google.protobuf.FileOptions { string file_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.MessageOptions { string message_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.FieldOptions { string field_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.OneofOptions { string oneof_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.EnumOptions { string enum_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.EnumValueOptions { string value_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.ServiceOptions { string service_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.MethodOptions { string method_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.ExtensionRangeOptions { string range_source = 50003 [retention = RETENTION_SOURCE]; }
extend google.protobuf.MessageOptions { Rules message = 50001; repeated string message_tags = 50002; }
extend google.protobuf.FieldOptions { Rules field = 50001; repeated string field_tags = 50002; }
extend google.protobuf.EnumOptions { Rules enum = 50001; repeated string enum_tags = 50002; }
extend google.protobuf.EnumValueOptions { Rules value = 50001; repeated string value_tags = 50002; }
extend google.protobuf.ServiceOptions { Rules service = 50001; repeated string service_tags = 50002; }
extend google.protobuf.MethodOptions { Rules method = 50001; repeated string method_tags = 50002; }
"#;

const SCALARS: [&str; 6] = ["string", "int32", "bytes", "bool", "double", "fixed64"];

/// Makes a schema of some packages that refer to each other.
pub(crate) fn generated(seed: u64) -> Schema {
    let mut maker = Maker { numbers: Numbers(seed), count: 0, types: Vec::new() };
    let packages = (0..2 + maker.numbers.below(4)).map(|at| maker.package(at)).collect();
    Schema { packages }
}

struct Maker {
    numbers: Numbers,
    count: usize,
    /// What may be referred to, each with whether it is an enum, and a closed
    /// one.
    types: Vec<(String, Option<bool>)>,
}

impl Maker {
    fn name(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}{}", self.count)
    }

    fn package(&mut self, at: usize) -> Package {
        let legacy = self.numbers.one_in(3);
        let name = format!("acme.p{at}.v1");
        let mut elements = Vec::new();
        for _ in 0..2 + self.numbers.below(6) {
            let element = match self.numbers.below(6) {
                0 => Element::Enum(self.enumeration(&name, legacy)),
                1 if self.types.iter().any(|(_, is_enum)| is_enum.is_none()) => {
                    Element::Service(self.service())
                }
                _ => Element::Message(self.message(&name, legacy, 2)),
            };
            elements.push(element);
        }
        Package { name, legacy, go_package: format!("acme/p{at}"), elements }
    }

    fn options(&mut self) -> Options {
        let mut options = Options { deprecated: self.numbers.one_in(8), ..Options::default() };
        if self.numbers.one_in(5) {
            let numbers = &mut self.numbers;
            let map = (0..numbers.below(3)).map(|at| (format!("k{at}"), at as i32)).collect();
            options.rules = Some(Rules {
                text: ["", "a", "say\\\"so\\\""][numbers.below(3)].to_owned(),
                count: numbers.below(3) as i64 - 1,
                list: (0..numbers.below(4)).map(|at| at as u32 % 2).collect(),
                inner: numbers.one_in(2).then(|| (numbers.below(3) as f32 / 2.0, false)),
                map,
            });
        }
        if self.numbers.one_in(8) {
            options.tags = vec!["b".to_owned(), "a".to_owned()];
        }
        options
    }

    fn message(&mut self, scope: &str, legacy: bool, depth: usize) -> Message {
        let name = self.name("M");
        let full = format!("{scope}.{name}");
        let mut message = Message { name, options: self.options(), ..Message::default() };
        // A message may refer to itself.
        self.types.push((full.clone(), None));
        if depth > 0 && self.numbers.one_in(3) {
            message.messages.push(self.message(&full, legacy, depth - 1));
        }
        if self.numbers.one_in(4) {
            message.enums.push(self.enumeration(&full, legacy));
        }
        for at in 0..1 + self.numbers.below(6) as u32 {
            let field = self.field(&mut message, &full, legacy, at * 2 + 1);
            message.fields.push(field);
        }
        let numbers = &mut self.numbers;
        message.reserved = (0..numbers.below(4) as u32).map(|at| 100 + at * (1 + at % 2)).collect();
        message.reserved_names = (0..numbers.below(3)).map(|at| format!("old{at}")).collect();
        if legacy && numbers.one_in(3) {
            message.extensible = (200..203 + numbers.below(4) as u32).collect();
        }
        message
    }

    fn field(&mut self, message: &mut Message, full: &str, legacy: bool, number: u32) -> Field {
        let name = format!("field_x{number}");
        let usable: Vec<&(String, Option<bool>)> =
            // A field without `optional` in proto3 cannot hold a closed enum.
            self.types.iter().filter(|(_, closed)| legacy || *closed != Some(true)).collect();
        let mut ty = match self.numbers.below(4) {
            0 if !usable.is_empty() => match usable[self.numbers.below(usable.len())] {
                (name, None) => Type::Message(name.clone()),
                (name, Some(_)) => Type::Enum(name.clone()),
            },
            _ => Type::Scalar(SCALARS[self.numbers.below(SCALARS.len())]),
        };
        let is_message = matches!(ty, Type::Message(_));
        let mut cardinality = match self.numbers.below(8) {
            0 | 1 => Cardinality::Repeated,
            2 => Cardinality::Map,
            3 if legacy => Cardinality::Required,
            4 | 5 => Cardinality::Explicit,
            _ if legacy || is_message => Cardinality::Explicit,
            _ => Cardinality::Implicit,
        };
        let mut oneof = None;
        let singular = !matches!(cardinality, Cardinality::Repeated | Cardinality::Map);
        if singular && self.numbers.one_in(4) {
            cardinality = Cardinality::Explicit;
            oneof = Some(format!("choice{}", self.numbers.below(2)));
        } else if legacy && cardinality != Cardinality::Map && self.numbers.one_in(6) {
            let group = Message {
                name: format!("Group{}", self.name("g")),
                fields: vec![Field {
                    name: "inside".to_owned(),
                    number: 1,
                    cardinality: Cardinality::Explicit,
                    ty: Type::Scalar("int32"),
                    json_name: None,
                    oneof: None,
                    options: Options::default(),
                }],
                ..Message::default()
            };
            ty = Type::Group(format!("{full}.{}", group.name));
            let name = group.name.to_lowercase();
            message.messages.push(group);
            let options = self.options();
            return Field { name, number, cardinality, ty, json_name: None, oneof: None, options };
        }
        let json_name = self.numbers.one_in(8).then(|| format!("json{number}"));
        Field { name, number, cardinality, ty, json_name, oneof, options: self.options() }
    }

    fn enumeration(&mut self, scope: &str, legacy: bool) -> Enum {
        let name = self.name("E");
        let upper = name.to_uppercase();
        let mut values = vec![(format!("{upper}_ZERO"), 0, self.options())];
        for at in 1..1 + self.numbers.below(4) as i32 {
            values.push((format!("{upper}_V{at}"), at % 3, self.options()));
        }
        self.types.push((format!("{scope}.{name}"), Some(legacy)));
        let reserved = (0..self.numbers.below(3) as u32).map(|at| 50 + at).collect();
        Enum { name, values, reserved, options: self.options() }
    }

    fn service(&mut self) -> Service {
        let messages: Vec<String> = self
            .types
            .iter()
            .filter(|(_, is_enum)| is_enum.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        let methods = (0..1 + self.numbers.below(3))
            .map(|at| Method {
                name: format!("Do{at}"),
                input: messages[self.numbers.below(messages.len())].clone(),
                output: messages[self.numbers.below(messages.len())].clone(),
                streams: self.numbers.one_in(3),
                options: self.options(),
            })
            .collect();
        Service { name: self.name("S"), methods, options: self.options() }
    }
}

/// Writes a schema as files; with another seed in another way.
pub(crate) fn written(schema: &Schema, seed: u64) -> Files {
    let mut files = Files::from([(OPTIONS_PATH.to_owned(), OPTIONS.to_owned())]);
    let mut writer = Writer { numbers: Numbers(seed), dialect: Dialect::Proto3, package: "" };
    for (at, package) in schema.packages.iter().enumerate() {
        writer.package = &package.name;
        // Later elements refer to earlier ones alone, so that files do not
        // import each other in circles.
        // What stands in which file depends on nothing but the seed.
        let mut places = Numbers(seed + 31 * at as u64);
        let step = package.elements.len().div_ceil(1 + places.below(3));
        let parts: Vec<&[Element]> = package.elements.chunks(step).collect();
        let before: Vec<String> = files.keys().cloned().collect();
        for (part, elements) in parts.iter().enumerate() {
            let mut imports = before.clone();
            imports.extend((0..part).map(|part| path(at, part)));
            let text = writer.file(package, elements, imports, part == 0 || places.one_in(2));
            files.insert(path(at, part), text);
        }
    }
    files
}

fn path(package: usize, part: usize) -> String {
    format!("acme/p{package}/v1/f{part}.proto")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Proto2,
    Proto3,
    /// What proto2 means, in edition 2023.
    Legacy2023,
    /// What proto3 means.
    Edition2023,
    Edition2024,
}

struct Writer<'s> {
    numbers: Numbers,
    dialect: Dialect,
    package: &'s str,
}

impl Writer<'_> {
    fn file(
        &mut self,
        package: &Package,
        elements: &[Element],
        mut imports: Vec<String>,
        names_go: bool,
    ) -> String {
        use Dialect::{Edition2023, Edition2024, Legacy2023, Proto2, Proto3};
        self.dialect = match package.legacy {
            true => [Proto2, Legacy2023][self.numbers.below(2)],
            false => [Proto3, Edition2023, Edition2024][self.numbers.below(3)],
        };
        let mut head = vec![match self.dialect {
            Proto2 => "syntax = \"proto2\" ;".to_owned(),
            Proto3 => "syntax = 'proto3' ;".to_owned(),
            Legacy2023 | Edition2023 => "edition = \"2023\" ;".to_owned(),
            Edition2024 => "edition = \"2024\" ;".to_owned(),
        }];
        head.push(format!("package {} ;", package.name));
        imports
            .extend(["cpp", "java", "go"].map(|it| format!("google/protobuf/{it}_features.proto")));
        self.numbers.shuffle(&mut imports);
        head.extend(imports.iter().map(|path| format!("import \"{path}\" ;")));
        // Options of files are a set over the package.
        let mut options = vec![
            "option java_multiple_files = true ;".to_owned(),
            format!("option java_outer_classname = \"F{}\" ;", package.go_package.len()),
        ];
        if self.dialect == Edition2024 {
            options.remove(0);
        }
        if names_go {
            options.push(format!("option go_package = \"{}\" ;", package.go_package));
        }
        if self.numbers.one_in(3) {
            options.push("option optimize_for = SPEED ;".to_owned());
            options.push("option deprecated = false ;".to_owned());
        }
        let features: &[&str] = match self.dialect {
            Proto2 | Proto3 => &[],
            Legacy2023 => &[
                "enum_type = CLOSED",
                "repeated_field_encoding = EXPANDED",
                "utf8_validation = NONE",
                "json_format = LEGACY_BEST_EFFORT",
                "( pb.cpp ) .legacy_closed_enum = true",
                "( pb.java ) .legacy_closed_enum = true",
                "( pb.go ) .legacy_unmarshal_json_enum = true",
            ],
            Edition2023 => &["field_presence = IMPLICIT", "( pb.go ) .api_level = API_OPEN"],
            Edition2024 => &[
                "field_presence = IMPLICIT",
                "( pb.cpp ) .string_type = STRING",
                "( pb.cpp ) .enum_name_uses_string_view = false",
                "( pb.go ) .api_level = API_OPEN",
            ],
        };
        options.extend(features.iter().map(|it| format!("option features . {it} ;")));
        // What stays in the source means nothing; every type says itself whether it is exported.
        if self.numbers.one_in(3) {
            options.push("option ( opt.v1.file_source ) = \"a\" ;".to_owned());
        }
        if self.dialect == Edition2024 && self.numbers.one_in(2) {
            let features =
                ["enforce_naming_style = STYLE_LEGACY", "default_symbol_visibility = EXPORT_ALL"];
            options.extend(features.map(|it| format!("option features . {it} ;")));
        }
        self.numbers.shuffle(&mut options);
        head.extend(options);
        let mut body: Vec<String> = elements.iter().map(|it| self.element(it)).collect();
        self.numbers.shuffle(&mut body);
        head.extend(body);
        self.laid_out(&head.join(" "))
    }

    /// The text with other space and comments between its tokens.
    fn laid_out(&mut self, text: &str) -> String {
        let mut out = String::new();
        for token in text.split(' ') {
            out.push_str(token);
            out.push_str(match self.numbers.below(12) {
                0 => "\n\n",
                1 => " // message M { }\n",
                2 => "\t/* ; */ ",
                3 => "\r\n",
                _ => " ",
            });
        }
        out
    }

    fn element(&mut self, element: &Element) -> String {
        match element {
            Element::Message(it) => self.message(it, "message", self.package),
            Element::Enum(it) => self.enumeration(it, false),
            Element::Service(it) => self.service(it),
        }
    }

    fn export(&self, nested: bool) -> &'static str {
        if nested && self.dialect == Dialect::Edition2024 { "export " } else { "" }
    }

    fn message(&mut self, message: &Message, head: &str, scope: &str) -> String {
        let full = format!("{scope}.{}", message.name);
        let mut body = self.statements("message", &message.options);
        let groups: Vec<&str> = message
            .fields
            .iter()
            .filter_map(|field| match &field.ty {
                Type::Group(name) => name.rsplit('.').next(),
                _ => None,
            })
            .collect();
        let mut declarations = Vec::new();
        for nested in &message.messages {
            let is_group = groups.contains(&nested.name.as_str());
            if !(is_group && self.dialect == Dialect::Proto2) {
                let head = format!("{}message", self.export(true));
                declarations.push(self.message(nested, &head, &full));
            }
        }
        for nested in &message.enums {
            declarations.push(self.enumeration(nested, true));
        }
        let mut oneofs: BTreeMap<&str, Vec<&Field>> = BTreeMap::new();
        for field in &message.fields {
            match &field.oneof {
                Some(oneof) => oneofs.entry(oneof).or_default().push(field),
                None => declarations.push(self.field(field, message, &full)),
            }
        }
        for (name, fields) in oneofs {
            let mut members: Vec<String> =
                fields.into_iter().map(|field| self.field(field, message, &full)).collect();
            self.numbers.shuffle(&mut members);
            if self.numbers.one_in(3) {
                members.push("option ( opt.v1.oneof_source ) = \"a\" ;".to_owned());
            }
            declarations.push(format!("oneof {name} {{ {} }}", members.join(" ")));
        }
        declarations.extend(self.ranges("reserved", &message.reserved));
        for mut range in self.ranges("extensions", &message.extensible) {
            if self.numbers.one_in(2) {
                let options = ["verification = DECLARATION", "( opt.v1.range_source ) = \"a\""];
                let options = options[self.numbers.below(2)];
                range = format!("{}[ {options} ] ;", range.trim_end_matches(';'));
            }
            declarations.push(range);
        }
        declarations.extend(self.names(&message.reserved_names));
        self.numbers.shuffle(&mut declarations);
        body.extend(declarations);
        format!("{head} {} {{ {} }}", message.name, body.join(" "))
    }

    fn names(&mut self, names: &BTreeSet<String>) -> Vec<String> {
        let quote = match self.dialect {
            Dialect::Proto2 | Dialect::Proto3 => "\"",
            _ => "",
        };
        let mut all: Vec<String> = names.iter().map(|it| format!("{quote}{it}{quote}")).collect();
        self.numbers.shuffle(&mut all);
        self.lists("reserved", &all)
    }

    /// Statements that name each of some numbers, alone or in a range.
    fn ranges(&mut self, word: &str, numbers: &BTreeSet<u32>) -> Vec<String> {
        let mut parts: Vec<(u32, u32)> = Vec::new();
        for &number in numbers {
            match parts.last_mut() {
                Some(last) if last.1 + 1 == number && !self.numbers.one_in(3) => last.1 = number,
                _ => parts.push((number, number)),
            }
        }
        self.numbers.shuffle(&mut parts);
        let parts: Vec<String> = parts
            .into_iter()
            .map(|(first, last)| match first == last {
                true => self.number(first.into()),
                false => format!("{} to {}", self.number(first.into()), self.number(last.into())),
            })
            .collect();
        self.lists(word, &parts)
    }

    fn lists(&mut self, word: &str, parts: &[String]) -> Vec<String> {
        if parts.is_empty() {
            return Vec::new();
        }
        let size = 1 + self.numbers.below(parts.len());
        parts.chunks(size).map(|it| format!("{word} {} ;", it.join(" , "))).collect()
    }

    fn number(&mut self, number: i64) -> String {
        let sign = if number < 0 { "-" } else { "" };
        let size = number.unsigned_abs();
        match self.numbers.below(4) {
            0 => format!("{sign}0x{size:x}"),
            1 if size > 0 => format!("{sign}0{size:o}"),
            _ => format!("{sign}{size}"),
        }
    }

    /// A name that finds the type: in full, or from the package on where that
    /// is this one.
    fn type_name(&mut self, full: &str) -> String {
        let rest = full.strip_prefix(self.package).and_then(|rest| rest.strip_prefix('.'));
        match rest {
            Some(rest) if self.numbers.one_in(2) => rest.to_owned(),
            _ if self.numbers.one_in(2) => full.to_owned(),
            _ => format!(".{full}"),
        }
    }

    fn field(&mut self, field: &Field, message: &Message, full: &str) -> String {
        let ty = match &field.ty {
            Type::Scalar(word) => (*word).to_owned(),
            Type::Message(name) | Type::Enum(name) | Type::Group(name) => self.type_name(name),
        };
        let is_edition = !matches!(self.dialect, Dialect::Proto2 | Dialect::Proto3);
        let is_message = matches!(field.ty, Type::Message(_) | Type::Group(_));
        let mut bracket = Vec::new();
        let alone = field.oneof.is_none();
        let label = match (field.cardinality, self.dialect) {
            (Cardinality::Map, _) => "",
            (Cardinality::Repeated, _) => "repeated ",
            (Cardinality::Required, Dialect::Proto2) => "required ",
            (Cardinality::Required, _) => {
                bracket.push("features . field_presence = LEGACY_REQUIRED".to_owned());
                ""
            }
            (Cardinality::Explicit, Dialect::Proto2) if alone => "optional ",
            (Cardinality::Explicit, Dialect::Proto3) if alone && !is_message => "optional ",
            (Cardinality::Explicit, Dialect::Edition2023 | Dialect::Edition2024)
                if alone && !is_message =>
            {
                bracket.push("features . field_presence = EXPLICIT".to_owned());
                ""
            }
            // That a message can be absent needs no word, and may have it.
            (Cardinality::Explicit, Dialect::Proto3) if alone && self.numbers.one_in(2) => {
                "optional "
            }
            _ => "",
        };
        match (&field.json_name, self.numbers.below(4)) {
            (Some(name), _) => bracket.push(format!("json_name = \"{name}\"")),
            (None, 0) => bracket
                .push(format!("json_name = \"{}\"", abide_schema::default_json_name(&field.name))),
            _ => {}
        }
        if matches!(field.ty, Type::Scalar("int32" | "bool"))
            && field.cardinality == Cardinality::Repeated
            && !is_edition
            && self.numbers.one_in(3)
        {
            let packed = self.dialect == Dialect::Proto3;
            bracket.push(format!("packed = {packed}"));
        }
        if matches!(field.ty, Type::Group(_)) && is_edition {
            bracket.push("features . message_encoding = DELIMITED".to_owned());
        }
        bracket.extend(self.options("field", &field.options));
        let bracket = match bracket.is_empty() {
            true => String::new(),
            false => format!("[ {} ] ", bracket.join(" , ")),
        };
        let number = self.number(field.number.into());
        if let (Type::Group(name), Dialect::Proto2) = (&field.ty, self.dialect) {
            let simple = name.rsplit('.').next().unwrap_or_default();
            let group = message.messages.iter().find(|it| it.name == simple);
            let group = group.expect("a group has its message");
            let text = self.message(group, "group", full);
            let (head, body) = text.split_once('{').expect("it has a body");
            return format!("{label}{head}= {number} {bracket}{{{body}");
        }
        let ty = match field.cardinality {
            Cardinality::Map => format!("map < string , {ty} >"),
            _ => ty,
        };
        format!("{label}{ty} {} = {number} {bracket};", field.name)
    }

    fn enumeration(&mut self, item: &Enum, nested: bool) -> String {
        let mut body = self.statements("enum", &item.options);
        let mut numbers = BTreeSet::new();
        if !item.values.iter().all(|(_, number, _)| numbers.insert(*number)) {
            body.push("option allow_alias = true ;".to_owned());
        }
        body.extend(self.ranges("reserved", &item.reserved));
        for (name, number, options) in &item.values {
            let number = self.number((*number).into());
            let bracket = self.options("value", options);
            let bracket = match bracket.is_empty() {
                true => String::new(),
                false => format!("[ {} ] ", bracket.join(" , ")),
            };
            body.push(format!("{name} = {number} {bracket};"));
        }
        format!("{}enum {} {{ {} }}", self.export(nested), item.name, body.join(" "))
    }

    fn service(&mut self, service: &Service) -> String {
        let mut methods = Vec::new();
        for method in &service.methods {
            let (input, output) = (self.type_name(&method.input), self.type_name(&method.output));
            let stream = if method.streams { "stream " } else { "" };
            let options = self.statements("method", &method.options);
            let body = match options.is_empty() && self.numbers.one_in(2) {
                true => ";".to_owned(),
                false => format!("{{ {} }}", options.join(" ")),
            };
            methods.push(format!(
                "rpc {} ( {input} ) returns ( {stream}{output} ) {body}",
                method.name
            ));
        }
        self.numbers.shuffle(&mut methods);
        let mut body = self.statements("service", &service.options);
        body.extend(methods);
        format!("service {} {{ {} }}", service.name, body.join(" "))
    }

    /// Options as statements.
    fn statements(&mut self, kind: &str, options: &Options) -> Vec<String> {
        let options = self.options(kind, options);
        options.into_iter().map(|it| format!("option {it} ;")).collect()
    }

    /// Options as they stand in brackets.
    fn options(&mut self, kind: &str, options: &Options) -> Vec<String> {
        let mut out = Vec::new();
        match options.deprecated {
            true => out.push("deprecated = true".to_owned()),
            false if self.numbers.one_in(6) => out.push("deprecated = false".to_owned()),
            false => {}
        }
        let name = format!("( {}opt.v1.{kind} )", if self.numbers.one_in(2) { "." } else { "" });
        if let Some(rules) = &options.rules {
            let fields = self.rules(rules);
            if self.numbers.one_in(2) && !fields.is_empty() {
                // One statement for each field; a list of them in one piece.
                out.extend(fields.iter().map(|(path, value)| format!("{name} . {path} = {value}")));
            } else {
                let colon = |value: &str| if value.starts_with('{') { "" } else { ": " };
                let mut fields: Vec<String> = fields
                    .iter()
                    .map(|(path, value)| format!("{path} {}{value}", colon(value)))
                    .collect();
                self.mix(&mut fields);
                out.push(format!(
                    "{name} = {{ {} }}",
                    fields.join([" ", " , "][self.numbers.below(2)])
                ));
            }
        }
        if self.numbers.one_in(6) {
            out.push(format!("( opt.v1.{kind}_source ) = \"a\""));
        }
        self.mix(&mut out);
        for tag in &options.tags {
            out.push(format!("( opt.v1.{kind}_tags ) = \"{tag}\""));
        }
        out
    }

    /// Changes the order, but that of the elements of a list.
    fn mix(&mut self, items: &mut [String]) {
        let in_list = |it: &String| it.contains("list");
        let listed: Vec<String> = items.iter().filter(|it| in_list(it)).cloned().collect();
        self.numbers.shuffle(items);
        items.iter_mut().filter(|it| in_list(it)).zip(listed).for_each(|(at, it)| *at = it);
    }

    /// The fields of a value, each with its notation.
    fn rules(&mut self, rules: &Rules) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        if !rules.text.is_empty() || self.numbers.one_in(3) {
            // In one piece or in two.
            let (head, tail) = rules.text.split_at(rules.text.len().min(1));
            let text = match self.numbers.one_in(2) {
                true => format!("\"{}\"", rules.text),
                false => format!("\"{head}\" \"{tail}\""),
            };
            fields.push(("text".to_owned(), text));
        }
        if rules.count != 0 || self.numbers.one_in(3) {
            fields.push(("count".to_owned(), self.number(rules.count)));
        }
        if self.numbers.one_in(4) {
            fields.push(("note".to_owned(), "\"source\"".to_owned()));
        }
        if let Some((ratio, flag)) = rules.inner {
            let ratio = match self.numbers.below(2) {
                0 => format!("ratio: {ratio:.1}"),
                _ => format!("ratio: {ratio:e}"),
            };
            let flag = match (flag, self.numbers.below(2)) {
                (false, 0) => String::new(),
                (value, _) => format!(" flag: {value}"),
            };
            fields.push(("inner".to_owned(), format!("{{ {ratio}{flag} }}")));
        }
        for value in &rules.list {
            fields.push(("list".to_owned(), self.number((*value).into())));
        }
        for (key, value) in &rules.map {
            fields.push(("map".to_owned(), format!("{{ key: \"{key}\" value: {value} }}")));
        }
        fields
    }
}
