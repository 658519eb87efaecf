//! Random edits of a schema.

use fastrand::Rng;

use super::{
    EXTENSIONS, EnumDef, ExtensionDef, FieldDef, Home, SCALARS, Schema, Shape, Syntax, Ty, pick,
};

impl Schema {
    /// The schema after one random edit.
    pub(crate) fn edited(&self, rng: &mut Rng) -> Schema {
        let mut new = self.clone();
        match rng.u8(..12) {
            0..=4 => new.edit_field(rng),
            5 => new.permute_fields(rng),
            6 | 7 => new.edit_enum(rng),
            8 => new.move_type(rng),
            9 => new.edit_extension(rng),
            10 => new.edit_method(rng),
            _ => new.edit_file(rng),
        }
        new
    }

    fn edit_field(&mut self, rng: &mut Rng) {
        let at = self.any_message(rng);
        let count = self.messages[at].fields.len();
        if count == 0 {
            return self.add_field(rng, at);
        }
        let field = rng.usize(..count);
        let has_oneof = !self.messages[at].oneofs.is_empty();
        match rng.u8(..18) {
            0 | 1 => self.messages[at].fields[field].ty = self.ty(rng),
            2 => self.messages[at].fields[field].ty = Ty::Scalar(pick(rng, SCALARS)),
            3 => {
                let field = &mut self.messages[at].fields[field];
                field.name = format!("g{}", field.number);
            }
            4 => {
                let number = self.free_number(rng, at);
                self.messages[at].fields[field].number = number;
            }
            5 | 6 => {
                let ty = self.messages[at].fields[field].ty;
                self.messages[at].fields[field].shape = self.shape(rng, ty);
            }
            7 => {
                self.messages[at].fields.remove(field);
            }
            8 => {
                let gone = self.messages[at].fields.remove(field);
                self.messages[at].reserved_numbers.push(gone.number);
                self.messages[at].reserved_names.push(gone.name);
            }
            9 => self.add_field(rng, at),
            10 if has_oneof => self.add_member(rng, at, 0),
            11 if has_oneof => self.move_member(rng, at, field),
            12 => {
                let field = &mut self.messages[at].fields[field];
                field.options.retain(|(name, _)| *name != "json_name");
                field.options.push(("json_name", format!("\"j{}\"", rng.u8(..3))));
            }
            13 => self.toggle(rng, at, field, "packed"),
            14 => self.toggle(rng, at, field, "encoding"),
            15 => self.toggle(rng, at, field, "deprecated"),
            16 => self.default(rng, at, field),
            // Its name goes to another number, and its number to another name.
            _ => {
                let number = self.free_number(rng, at);
                let old = self.messages[at].fields[field].number;
                self.messages[at].fields[field].number = number;
                self.add_field(rng, at);
                if let Some(added) = self.messages[at].fields.last_mut() {
                    added.name = format!("h{old}");
                    added.number = old;
                }
            }
        }
    }

    /// Swaps or rotates names, numbers or whole places of the fields of a message.
    /// Moves a field into a oneof, out of it, or to another one, which may be new.
    fn move_member(&mut self, rng: &mut Rng, at: usize, field: usize) {
        let message = &mut self.messages[at];
        if message.oneofs.len() == 1 && rng.bool() {
            message.oneofs.push("other".to_owned());
        }
        let to = Shape::Member(rng.usize(..message.oneofs.len()));
        let shape = &mut message.fields[field].shape;
        *shape = if *shape == to { Shape::Plain } else { to };
    }

    fn permute_fields(&mut self, rng: &mut Rng) {
        let at = self.any_message(rng);
        let fields = &mut self.messages[at].fields;
        if fields.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..fields.len()).collect();
        rng.shuffle(&mut order);
        // Of two fields, or of more.
        order.truncate(rng.usize(2..=fields.len()));
        let turned = order.iter().copied().cycle().skip(1);
        let before = fields.clone();
        let kind = rng.u8(..4);
        for (&to, from) in order.iter().zip(turned) {
            match kind {
                0 | 1 => fields[to].name.clone_from(&before[from].name),
                2 => fields[to].number = before[from].number,
                _ => fields[to] = before[from].clone(),
            }
        }
    }

    fn edit_enum(&mut self, rng: &mut Rng) {
        let at = rng.usize(..self.enums.len());
        let item = &mut self.enums[at];
        let value = rng.usize(..item.values.len());
        match rng.u8(..7) {
            0 => {
                let number = rng.i32(-2..12);
                item.values.push((format!("{}_W{}", item.name, number + 2), number));
            }
            1 if item.values.len() > 1 => {
                let (_, number) = item.values.remove(rng.usize(1..item.values.len()));
                if rng.bool() {
                    item.reserved.push(number);
                }
            }
            2 => match rng.bool() {
                true => item.values[value].0.push_str("_X"),
                false => item.values[value].1 += rng.i32(1..4),
            },
            3 => item.closed = !item.closed,
            // The names of all numbers change, that of zero included.
            4 => {
                let mut names: Vec<String> = item.values.iter().map(|it| it.0.clone()).collect();
                names.rotate_left(1);
                for (value, name) in item.values.iter_mut().zip(names) {
                    value.0 = name;
                }
            }
            // A new first value, behind which all others are spelled in another style.
            5 => {
                for (name, number) in &mut item.values {
                    *name = name.to_ascii_lowercase();
                    *number += 1;
                }
                item.values.insert(0, (format!("{}_FIRST", item.name), 0));
            }
            _ => {
                let other = rng.usize(..item.values.len());
                let name = item.values[value].0.clone();
                let name = std::mem::replace(&mut item.values[other].0, name);
                item.values[value].0 = name;
            }
        }
    }

    /// Moves a type to another file, package or message, or renames it.
    fn move_type(&mut self, rng: &mut Rng) {
        let at = self.any_message(rng);
        let other = self.any_message(rng);
        let item = rng.usize(..self.enums.len());
        let file = Home::File(rng.usize(..self.packages.len()));
        match rng.u8(..6) {
            0 => self.messages[at].name.push_str("Renamed"),
            1 => self.messages[at].home = file,
            // A message encloses only later ones.
            2 if other < at => self.messages[at].home = Home::Message(other),
            3 => self.enums[item].home = file,
            4 => self.enums[item].home = Home::Message(other),
            _ => self.enums[item].name.push_str("Renamed"),
        }
    }

    fn edit_extension(&mut self, rng: &mut Rng) {
        let count = self.extensions.len();
        if count == 0 {
            return self.add_extension(rng);
        }
        let at = rng.usize(..count);
        let (other, extendee) = (rng.usize(..count), self.any_message(rng));
        match rng.u8(..10) {
            0 => self.add_extension(rng),
            8 => self.make_field(at),
            9 => self.make_extension(),
            1 => {
                self.extensions.remove(at);
            }
            2 => self.extensions[at].field.name.push('y'),
            3 => self.extensions[at].field.number = rng.u32(EXTENSIONS),
            4 => self.extensions[at].field.ty = Ty::Scalar(pick(rng, SCALARS)),
            5 => self.extensions[at].extendee = extendee,
            6 => self.extensions[at].file = 1 - self.extensions[at].file.min(1),
            _ => {
                let name = self.extensions[at].field.name.clone();
                let name = std::mem::replace(&mut self.extensions[other].field.name, name);
                self.extensions[at].field.name = name;
            }
        }
    }

    /// Declares an extension as a field of the message that it extends.
    pub(super) fn make_field(&mut self, extension: usize) {
        let ExtensionDef { extendee, field, .. } = self.extensions.remove(extension);
        self.messages[extendee].fields.push(field);
    }

    /// Declares a field as an extension of its message, if one has the number for it.
    fn make_extension(&mut self) {
        let is_fit = |it: &FieldDef| {
            EXTENSIONS.contains(&it.number) && !matches!(it.shape, Shape::Member(_))
        };
        for (extendee, message) in self.messages.iter_mut().enumerate() {
            if let Some(at) = message.fields.iter().position(is_fit) {
                let field = message.fields.remove(at);
                return self.extensions.push(ExtensionDef { file: 0, extendee, field });
            }
        }
    }

    fn edit_method(&mut self, rng: &mut Rng) {
        let (ty, count) = (self.any_message(rng), self.methods.len());
        if count == 0 {
            return;
        }
        let method = &mut self.methods[rng.usize(..count)];
        match rng.u8(..3) {
            0 => method.input = ty,
            1 => method.output = ty,
            _ => method.name.push_str("Renamed"),
        }
    }

    fn edit_file(&mut self, rng: &mut Rng) {
        match rng.u8(..4) {
            0 => self.syntax = pick(rng, &[Syntax::Proto2, Syntax::Proto3, Syntax::Edition2023]),
            1 => self.implicit = !self.implicit,
            2 => {
                let packages = ["sound.v1", "sound.base.v1", "sound.other.v1"];
                self.packages[1] = pick(rng, &packages).to_owned();
            }
            _ => {
                let at = self.any_message(rng);
                rng.shuffle(&mut self.messages[at].fields);
            }
        }
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
            Ty::Message(_) | Ty::Map(..) | Ty::MapTo(..) => return,
        };
        field.options.retain(|(name, _)| *name != "default");
        field.options.push(("default", value));
    }
}

fn pick_name(rng: &mut Rng, item: &EnumDef) -> String {
    item.values[rng.usize(..item.values.len())].0.clone()
}
