//! Schemas as text.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{EXTENSIONS, EnumDef, FieldDef, Home, MessageDef, Schema, Shape, Syntax, Ty};

impl Schema {
    /// The path and the text of each file.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let files = 0..self.packages.len();
        files.map(|file| (path(file), self.text(file))).collect()
    }

    fn text(&self, file: usize) -> String {
        let mut out = match self.syntax {
            Syntax::Proto2 => "syntax = \"proto2\";\n",
            Syntax::Proto3 => "syntax = \"proto3\";\n",
            Syntax::Edition2023 => "edition = \"2023\";\n",
        }
        .to_owned();
        let _ = writeln!(out, "package {};", self.packages[file]);
        for used in self.used_files(file) {
            let _ = writeln!(out, "import \"{}\";", path(used));
        }
        if self.syntax == Syntax::Edition2023 && self.implicit {
            out.push_str("option features.field_presence = IMPLICIT;\n");
        }
        self.types(Home::File(file), "", &mut out);
        for extension in self.extensions.iter().filter(|it| self.extends() && it.file == file) {
            let _ = writeln!(
                out,
                "extend {} {{\n  {}\n}}",
                self.type_name(Ty::Message(extension.extendee)),
                self.field(&extension.field, true)
            );
        }
        if file == 0 && !self.methods.is_empty() {
            out.push_str("service Calls {\n");
            for method in &self.methods {
                let [input, output] = [method.input, method.output].map(Ty::Message);
                let _ = writeln!(
                    out,
                    "  rpc {}({}) returns ({});",
                    method.name,
                    self.type_name(input),
                    self.type_name(output)
                );
            }
            out.push_str("}\n");
        }
        out
    }

    /// Whether the syntax knows extensions.
    fn extends(&self) -> bool {
        self.syntax != Syntax::Proto3
    }

    /// The other files whose types a file uses.
    fn used_files(&self, file: usize) -> BTreeSet<usize> {
        let here = self.messages.iter().filter(|it| self.file_of(it.home) == file);
        let mut types: Vec<Ty> = here.flat_map(|it| &it.fields).map(|it| it.ty).collect();
        for it in self.extensions.iter().filter(|it| self.extends() && it.file == file) {
            types.extend([it.field.ty, Ty::Message(it.extendee)]);
        }
        if file == 0 {
            let used = self.methods.iter().flat_map(|it| [it.input, it.output]);
            types.extend(used.map(Ty::Message));
        }
        let files = types.into_iter().filter_map(|ty| match ty {
            Ty::Message(it) | Ty::MapTo(_, it) => Some(self.file_of(self.messages[it].home)),
            Ty::Enum(it) => Some(self.file_of(self.enums[it].home)),
            Ty::Scalar(_) | Ty::Map(..) => None,
        });
        files.filter(|it| *it != file).collect()
    }

    /// What is declared in one place.
    fn types(&self, home: Home, indent: &str, out: &mut String) {
        for item in self.enums.iter().filter(|it| it.home == home) {
            self.enumeration(item, indent, out);
        }
        for (index, message) in self.messages.iter().enumerate() {
            if message.home == home {
                self.message(index, message, indent, out);
            }
        }
    }

    fn enumeration(&self, item: &EnumDef, indent: &str, out: &mut String) {
        let _ = writeln!(out, "{indent}enum {} {{", item.name);
        let mut numbers: Vec<i32> = item.values.iter().map(|value| value.1).collect();
        numbers.sort_unstable();
        if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
            let _ = writeln!(out, "{indent}  option allow_alias = true;");
        }
        if self.syntax == Syntax::Edition2023 && item.closed {
            let _ = writeln!(out, "{indent}  option features.enum_type = CLOSED;");
        }
        for number in &item.reserved {
            let _ = writeln!(out, "{indent}  reserved {number};");
        }
        for (name, number) in &item.values {
            let _ = writeln!(out, "{indent}  {name} = {number};");
        }
        let _ = writeln!(out, "{indent}}}");
    }

    fn message(&self, index: usize, message: &MessageDef, indent: &str, out: &mut String) {
        let _ = writeln!(out, "{indent}message {} {{", message.name);
        let inner = format!("{indent}  ");
        self.types(Home::Message(index), &inner, out);
        if self.extends() {
            let is_free = |number: &u32| message.fields.iter().all(|it| it.number != *number);
            let numbers: Vec<String> =
                EXTENSIONS.filter(is_free).map(|it| it.to_string()).collect();
            if !numbers.is_empty() {
                let _ = writeln!(out, "{inner}extensions {};", numbers.join(", "));
            }
        }
        for number in &message.reserved_numbers {
            let _ = writeln!(out, "{inner}reserved {number};");
        }
        for name in &message.reserved_names {
            match self.syntax {
                Syntax::Edition2023 => writeln!(out, "{inner}reserved {name};"),
                _ => writeln!(out, "{inner}reserved \"{name}\";"),
            }
            .unwrap_or_default();
        }
        for field in &message.fields {
            if !matches!(field.shape, Shape::Member(_)) {
                let _ = writeln!(out, "{inner}{}", self.field(field, false));
            }
        }
        for (index, oneof) in message.oneofs.iter().enumerate() {
            let is_member = |field: &&FieldDef| field.shape == Shape::Member(index);
            let mut members = message.fields.iter().filter(is_member).peekable();
            if members.peek().is_some() {
                let _ = writeln!(out, "{inner}oneof {oneof} {{");
                for field in members {
                    let _ = writeln!(out, "{inner}  {}", self.field(field, false));
                }
                let _ = writeln!(out, "{inner}}}");
            }
        }
        let _ = writeln!(out, "{indent}}}");
    }

    fn type_name(&self, ty: Ty) -> String {
        match ty {
            Ty::Scalar(name) => name.to_owned(),
            Ty::Message(index) => {
                let it = &self.messages[index];
                format!(".{}", self.full_name(it.home, &it.name))
            }
            Ty::Enum(index) => {
                let it = &self.enums[index];
                format!(".{}", self.full_name(it.home, &it.name))
            }
            Ty::Map(key, value) => format!("map<{key}, {value}>"),
            Ty::MapTo(key, value) => format!("map<{key}, {}>", self.type_name(Ty::Message(value))),
        }
    }

    fn field(&self, field: &FieldDef, is_extension: bool) -> String {
        let edition = self.syntax == Syntax::Edition2023;
        let is_map = matches!(field.ty, Ty::Map(..) | Ty::MapTo(..));
        let label = match (field.shape, self.syntax) {
            (Shape::Repeated, _) => "repeated ",
            (Shape::Required, Syntax::Proto2) => "required ",
            (Shape::Plain | Shape::Other, Syntax::Proto2) if !is_map => "optional ",
            (Shape::Other, Syntax::Proto3) => "optional ",
            _ => "",
        };
        let options = self.options(field, edition, is_extension);
        let options = match options.as_slice() {
            [] => String::new(),
            list => format!(" [{}]", list.join(", ")),
        };
        format!("{label}{} {} = {}{options};", self.type_name(field.ty), field.name, field.number)
    }

    fn options(&self, field: &FieldDef, edition: bool, is_extension: bool) -> Vec<String> {
        let mut options: Vec<String> = Vec::new();
        let message = matches!(field.ty, Ty::Message(_));
        if edition {
            match field.shape {
                Shape::Required => {
                    options.push("features.field_presence = LEGACY_REQUIRED".to_owned());
                }
                Shape::Other if !message && self.implicit => {
                    options.push("features.field_presence = EXPLICIT".to_owned());
                }
                Shape::Other if !message => {
                    options.push("features.field_presence = IMPLICIT".to_owned());
                }
                _ => {}
            }
        }
        let repeated = field.shape == Shape::Repeated;
        let packable = repeated
            && match field.ty {
                Ty::Scalar(name) => !matches!(name, "string" | "bytes"),
                Ty::Enum(_) => true,
                Ty::Message(_) | Ty::Map(..) | Ty::MapTo(..) => false,
            };
        for (name, value) in &field.options {
            options.extend(match (*name, edition) {
                ("packed", false) if packable => Some(format!("packed = {value}")),
                ("packed", true) if packable => {
                    Some("features.repeated_field_encoding = EXPANDED".to_owned())
                }
                ("encoding", true) if message => {
                    Some("features.message_encoding = DELIMITED".to_owned())
                }
                ("json_name", _) if !is_extension => Some(format!("json_name = {value}")),
                ("default", _) if self.syntax != Syntax::Proto3 && !repeated => {
                    Some(format!("default = {value}"))
                }
                ("deprecated", _) => Some("deprecated = true".to_owned()),
                _ => None,
            });
        }
        options
    }
}

fn path(file: usize) -> String {
    format!("sound/v1/{}.proto", ["sound", "base"].get(file).unwrap_or(&"more"))
}
