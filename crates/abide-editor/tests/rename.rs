//! A rename changes names and nothing else, wherever that is possible.
//!
//! Trees are made from a model, whose references are written in any way that finds them. What a
//! rename has to make is the model with the new name, in which each reference is written in full.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use abide_editor::{CheckInputs, Project};
use abide_lint::{Config, Preset};
use abide_schema::{FileDecl, FileId, FileKey, SourceFile, Tree, encode_set};
use fastrand::Rng;
use jiff::civil::date;

/// An element of the model, by its place in the list of all.
type Id = usize;

#[derive(Clone, Debug)]
struct Item {
    name: String,
    /// The message or enum that it is in; of a top-level element none.
    parent: Option<Id>,
    file: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Message,
    Enum,
    Value(i32),
    /// A field of a message: its type, and where it is an enum its default.
    Field {
        number: i32,
        ty: Type,
        default: Option<Id>,
        option: Option<Setting>,
    },
    /// The extension of `FieldOptions` whose type is a message.
    Extension {
        number: i32,
        ty: Id,
    },
    Service,
    Method {
        input: Id,
        output: Id,
    },
}

#[derive(Clone, Debug)]
enum Type {
    Int,
    Message(Id),
    Enum(Id),
    Map(Id),
}

/// What a field sets: an extension, fields of its type that lead to a last one, and how.
#[derive(Clone, Debug)]
struct Setting {
    extension: Id,
    path: Vec<Id>,
    value: Option<Id>,
    in_braces: bool,
}

#[derive(Clone, Debug)]
struct Model {
    items: Vec<Item>,
}

const PACKAGES: [&str; 2] = ["p.a", "p.a.b"];
const PATHS: [&str; 2] = ["p/a/one.proto", "p/a/b/two.proto"];
const TYPES: [&str; 5] = ["A", "B", "p", "a", "T"];
const MEMBERS: [&str; 6] = ["a", "b", "t", "value", "p", "n"];
const VALUES: [&str; 4] = ["X", "Y", "Z", "A"];

impl Model {
    fn random(random: &mut Rng) -> Model {
        let mut model = Model { items: Vec::new() };
        for file in 0..2 {
            let mut types: Vec<Id> = Vec::new();
            for _ in 0..3 {
                let parent = random.choice(&types).copied().filter(|_| random.bool());
                let parent = parent.filter(|it| matches!(model.items[*it].kind, Kind::Message));
                let kind = if random.u8(..4) == 0 { Kind::Enum } else { Kind::Message };
                let id = model.add(random, &TYPES, parent, file, kind.clone());
                if matches!(kind, Kind::Enum) {
                    for number in 0..2 {
                        model.add(random, &VALUES, Some(id), file, Kind::Value(number));
                    }
                }
                types.push(id);
            }
        }
        let of = |model: &Model, is_it: fn(&Kind) -> bool, last: usize| -> Vec<Id> {
            let ids = 0..model.items.len();
            ids.filter(|it| is_it(&model.items[*it].kind) && model.items[*it].file <= last)
                .collect()
        };
        // The second file imports the first one.
        for id in 0..model.items.len() {
            let file = model.items[id].file;
            let messages = of(&model, |it| matches!(it, Kind::Message), file);
            let enums = of(&model, |it| matches!(it, Kind::Enum), file);
            if !matches!(model.items[id].kind, Kind::Message) {
                continue;
            }
            for number in 1..random.i32(2..5) {
                let ty = match random.u8(..5) {
                    0 => Type::Int,
                    1 if !enums.is_empty() => Type::Enum(*random.choice(&enums).unwrap()),
                    2 => Type::Map(*random.choice(&messages).unwrap()),
                    _ => Type::Message(*random.choice(&messages).unwrap()),
                };
                let default = match ty {
                    Type::Enum(id) => random.choice(&model.members(id)).copied(),
                    _ => None,
                };
                let kind = Kind::Field { number, ty, default, option: None };
                model.add(random, &MEMBERS, Some(id), file, kind);
            }
        }
        let messages = of(&model, |it| matches!(it, Kind::Message), 0);
        for number in 0..2 {
            let Some(ty) = random.choice(&messages).copied() else { break };
            let parent = random.choice(&messages).copied().filter(|_| random.bool());
            let kind = Kind::Extension { number: 50_000 + number, ty };
            model.add(random, &MEMBERS, parent, 0, kind);
        }
        for id in 0..model.items.len() {
            if matches!(model.items[id].kind, Kind::Field { .. }) && random.bool() {
                let option = model.option(random);
                if let Kind::Field { option: of_field, .. } = &mut model.items[id].kind {
                    *of_field = option;
                }
            }
        }
        let all = of(&model, |it| matches!(it, Kind::Message), 1);
        if let (Some(input), Some(output)) = (random.choice(&all), random.choice(&all)) {
            let service = model.add(random, &TYPES, None, 1, Kind::Service);
            let kind = Kind::Method { input: *input, output: *output };
            model.add(random, &TYPES, Some(service), 1, kind);
        }
        model
    }

    fn add(
        &mut self,
        random: &mut Rng,
        names: &[&str],
        parent: Option<Id>,
        file: usize,
        kind: Kind,
    ) -> Id {
        let name = (*random.choice(names).unwrap()).to_owned();
        self.items.push(Item { name, parent, file, kind });
        self.items.len() - 1
    }

    fn members(&self, of: Id) -> Vec<Id> {
        (0..self.items.len()).filter(|it| self.items[*it].parent == Some(of)).collect()
    }

    /// An extension, and the way to a field of its type that can be set.
    fn option(&self, random: &mut Rng) -> Option<Setting> {
        let is_extension = |it: &Id| matches!(self.items[*it].kind, Kind::Extension { .. });
        let extensions: Vec<Id> = (0..self.items.len()).filter(is_extension).collect();
        let extension = *random.choice(&extensions)?;
        let Kind::Extension { ty: mut at, .. } = self.items[extension].kind else { return None };
        let mut path = Vec::new();
        for _ in 0..4 {
            let fields = self.members(at);
            let fields: Vec<Id> = fields
                .into_iter()
                .filter(|it| matches!(&self.items[*it].kind, Kind::Field { ty, .. } if !matches!(ty, Type::Map(_))))
                .collect();
            let field = *random.choice(&fields)?;
            path.push(field);
            let Kind::Field { ty, .. } = &self.items[field].kind else { return None };
            let value = match ty {
                Type::Int => None,
                Type::Enum(id) => Some(*random.choice(&self.members(*id))?),
                Type::Message(id) => {
                    at = *id;
                    continue;
                }
                Type::Map(_) => return None,
            };
            return Some(Setting { extension, path, value, in_braces: random.bool() });
        }
        None
    }

    fn full_name(&self, id: Id) -> String {
        let item = &self.items[id];
        match item.parent {
            Some(parent) => format!("{}.{}", self.full_name(parent), item.name),
            None => format!("{}.{}", PACKAGES[item.file], item.name),
        }
    }

    fn renamed(&self, id: Id, name: &str) -> Model {
        let mut model = self.clone();
        name.clone_into(&mut model.items[id].name);
        model
    }
}

/// Writes a model as text. A reference is written as `short` decides: how many components of its
/// full name are left out; in full for none.
struct Printer<'m> {
    model: &'m Model,
    short: &'m [usize],
    next: usize,
    text: String,
    /// Where each element is declared in the text of its file.
    declared: BTreeMap<Id, usize>,
}

impl Printer<'_> {
    fn reference(&mut self, id: Id) -> String {
        let full = self.model.full_name(id);
        let skip = self.short.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        match skip {
            0 => format!(".{full}"),
            skip => {
                let parts: Vec<&str> = full.split('.').collect();
                parts[(skip - 1).min(parts.len() - 1)..].join(".")
            }
        }
    }

    fn declare(&mut self, id: Id) {
        self.declared.insert(id, self.text.len());
        let name = self.model.items[id].name.clone();
        self.text.push_str(&name);
    }

    fn file(&mut self, file: usize) {
        let _ = write!(self.text, "syntax = \"proto2\";\npackage {};\n", PACKAGES[file]);
        self.text.push_str("import \"google/protobuf/descriptor.proto\";\n");
        if file == 1 {
            let _ = writeln!(self.text, "import \"{}\";", PATHS[0]);
        }
        for id in 0..self.model.items.len() {
            let item = &self.model.items[id];
            if item.file == file && item.parent.is_none() {
                self.item(id);
            }
        }
    }

    fn item(&mut self, id: Id) {
        let keyword = match self.model.items[id].kind.clone() {
            Kind::Message => "message ",
            Kind::Enum => "enum ",
            Kind::Service => "service ",
            Kind::Value(number) => {
                self.declare(id);
                let _ = writeln!(self.text, " = {number};");
                return;
            }
            Kind::Method { input, output } => {
                self.text.push_str("rpc ");
                self.declare(id);
                let (input, output) = (self.reference(input), self.reference(output));
                let _ = writeln!(self.text, "({input}) returns ({output});");
                return;
            }
            Kind::Extension { number, ty } => {
                self.text.push_str("extend google.protobuf.FieldOptions { optional ");
                let ty = self.reference(ty);
                let _ = write!(self.text, "{ty} ");
                self.declare(id);
                let _ = writeln!(self.text, " = {number}; }}");
                return;
            }
            Kind::Field { number, ty, default, option } => {
                let ty = match ty {
                    Type::Int => "optional int32 ".to_owned(),
                    Type::Message(id) | Type::Enum(id) => {
                        format!("optional {} ", self.reference(id))
                    }
                    Type::Map(id) => format!("map<string, {}> ", self.reference(id)),
                };
                self.text.push_str(&ty);
                self.declare(id);
                let mut options: Vec<String> = Vec::new();
                options.extend(default.map(|it| format!("default = {}", self.name(it))));
                options.extend(option.map(|it| self.option(&it)));
                let options = match options.is_empty() {
                    true => String::new(),
                    false => format!(" [{}]", options.join(", ")),
                };
                let _ = writeln!(self.text, " = {number}{options};");
                return;
            }
        };
        self.text.push_str(keyword);
        self.declare(id);
        self.text.push_str(" {\n");
        for member in self.model.members(id) {
            self.item(member);
        }
        self.text.push_str("}\n");
    }

    fn name(&self, id: Id) -> String {
        self.model.items[id].name.clone()
    }

    fn option(&mut self, option: &Setting) -> String {
        let extension = self.reference(option.extension);
        let value = option.value.map_or("1".to_owned(), |it| self.name(it));
        let path: Vec<String> = option.path.iter().map(|it| self.name(*it)).collect();
        match (option.in_braces, path.split_last()) {
            (true, Some((last, before))) => {
                let open: String = before.iter().map(|it| format!("{it} {{ ")).collect();
                let close = " }".repeat(before.len());
                format!("({extension}) = {{ {open}{last}: {value}{close} }}")
            }
            _ => format!("({extension}).{} = {value}", path.join(".")),
        }
    }
}

type Texts = Vec<String>;

/// The texts of a model, and where each element is declared.
fn print(model: &Model, short: &[usize]) -> (Texts, BTreeMap<Id, usize>) {
    let (mut texts, mut declared, mut next) = (Vec::new(), BTreeMap::new(), 0);
    for file in 0..2 {
        let mut printer =
            Printer { model, short, next, text: String::new(), declared: BTreeMap::new() };
        printer.file(file);
        next = printer.next;
        texts.push(printer.text);
        declared.extend(printer.declared);
    }
    (texts, declared)
}

fn parsed(texts: &[String]) -> Vec<Arc<FileDecl>> {
    let file = |(path, text): (&&str, &String)| {
        Arc::new(FileDecl::parse(SourceFile {
            path: (*path).into(),
            display: (*path).into(),
            root: 0,
            imported: false,
            text: text.as_bytes().into(),
        }))
    };
    PATHS.iter().zip(texts).map(file).collect()
}

/// The descriptors of texts, if protoc would take them.
fn descriptors(texts: &[String]) -> Option<Vec<u8>> {
    let tree = Tree::link(parsed(texts));
    let files: Vec<FileId> = tree.files().filter(|it| it.is_judged()).map(|it| it.id).collect();
    let is_right = tree.problems().iter().all(|it| !it.kind.is_error());
    is_right.then(|| encode_set(&tree, &files, false, false))
}

/// Each reference of a model as short as chance says, where it is found like this.
fn written(model: &Model, random: &mut Rng) -> Option<Vec<usize>> {
    let wanted = descriptors(&print(model, &[]).0)?;
    let mut short = Vec::new();
    loop {
        let mut printer = Printer {
            model,
            short: &short,
            next: 0,
            text: String::new(),
            declared: BTreeMap::new(),
        };
        (0..2).for_each(|it| printer.file(it));
        let count = printer.next;
        if short.len() == count {
            return Some(short);
        }
        let at = short.len();
        short.push(random.usize(1..6));
        if descriptors(&print(model, &short).0).as_ref() != Some(&wanted) {
            short[at] = 0;
        }
    }
}

fn key(file: usize) -> FileKey {
    (0, PATHS[file].into())
}

fn project(texts: &[String]) -> Project {
    let config = Config::parse("", Some(Preset::Standard)).expect("it is empty");
    Project::new(CheckInputs::new(config, date(2026, 1, 1)), parsed(texts))
}

/// The texts after a rename, or why there is none.
fn rename(texts: &[String], (file, offset): (usize, usize), name: &str) -> Result<Texts, String> {
    let mut project = project(texts);
    project.open([key(0), key(1)].into());
    let edits = project.rename(&key(file), offset as u32, name).map_err(|it| it.0)?;
    let mut texts = texts.to_vec();
    for edits in edits {
        let at = PATHS.iter().position(|it| **it == *edits.file.1).expect("it is one of them");
        let made = abide_upgrade::apply(texts[at].as_bytes(), edits.edits).expect("they are apart");
        texts[at] = String::from_utf8(made).expect("it was text");
    }
    Ok(texts)
}

#[test]
fn a_rename_makes_what_the_model_with_the_new_name_means() {
    let mut random = Rng::with_seed(28);
    let (mut trees, mut done, mut refused) = (0, 0, 0);
    while trees < 12 {
        let model = Model::random(&mut random);
        let Some(short) = written(&model, &mut random) else { continue };
        trees += 1;
        let (texts, declared) = print(&model, &short);
        for (id, offset) in declared {
            let item = &model.items[id];
            let names: &[&str] = match item.kind {
                Kind::Message | Kind::Enum | Kind::Service | Kind::Method { .. } => &TYPES,
                Kind::Value(_) => &VALUES,
                Kind::Field { .. } | Kind::Extension { .. } => &MEMBERS,
            };
            for name in ["fresh_name", random.choice(names).unwrap()] {
                if name == item.name {
                    continue;
                }
                let what = format!("{} to {name} in {}", model.full_name(id), texts.join("\n"));
                let wanted = descriptors(&print(&model.renamed(id, name), &[]).0);
                match (rename(&texts, (item.file, offset), name), wanted) {
                    (Ok(made), Some(wanted)) => {
                        assert_eq!(descriptors(&made).as_ref(), Some(&wanted), "{what}");
                        done += 1;
                    }
                    (Err(why), Some(_)) => panic!("{why}: {what}"),
                    (Ok(_), None) => panic!("the result is wrong: {what}"),
                    (Err(why), None) => {
                        assert!(why.starts_with("Not renamed: "), "{why}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(done > 200 && refused > 5, "{done} done, {refused} refused");
}
