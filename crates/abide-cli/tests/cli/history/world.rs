//! A small tree of proto files with random edits, after which it does not always link.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Where the tree and its imports are.
pub(crate) const CONFIG: &str = "roots = [\"proto\"]\nimport-paths = [\"third_party\"]\n";

const PACKAGES: [&str; 5] =
    ["acme.shop.v1", "acme.shop.v2alpha", "acme.base.v1", "acme.mail.v1", "acme.log"];
const SCALARS: [&str; 5] = ["string", "int32", "bool", "bytes", "double"];

/// Numbers that look random, the same for a seed.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // xorshift64* of Marsaglia and Vigna.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % end.max(1)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(&all[self.below(all.len())]) }
    }
}

#[derive(Clone)]
struct Field {
    name: String,
    number: usize,
    repeated: bool,
    /// A scalar, or the full name of a type.
    ty: String,
    marked: bool,
}

#[derive(Clone)]
struct Message {
    name: String,
    fields: Vec<Field>,
    reserved: Vec<usize>,
}

#[derive(Clone)]
struct Enum {
    name: String,
    values: Vec<(String, usize)>,
}

#[derive(Clone)]
struct File {
    package: String,
    messages: Vec<Message>,
    enums: Vec<Enum>,
    /// The full names of request and response.
    method: Option<(String, String)>,
    public: Option<String>,
    comment: usize,
    broken: bool,
    /// Whether imports are left out.
    lonely: bool,
    proto2: bool,
}

/// The files of the tree, and what is vendored beside it.
#[derive(Clone)]
pub(crate) struct World {
    random: Random,
    files: BTreeMap<String, File>,
    /// The fields of the vendored message.
    vendored: usize,
    /// The fields of the message that is an option.
    marks: usize,
    named: usize,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut world = World { random, files: BTreeMap::new(), vendored: 1, marks: 1, named: 0 };
        for _ in 0..7 {
            world.add_file();
        }
        for _ in 0..30 {
            world.add_field();
        }
        world
    }

    fn name(&mut self) -> usize {
        self.named += 1;
        self.named
    }

    /// The files as they are written.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        let mut homes: BTreeMap<String, &str> = BTreeMap::new();
        for (path, file) in &self.files {
            for message in &file.messages {
                homes.insert(format!("{}.{}", file.package, message.name), path);
            }
            for item in &file.enums {
                homes.insert(format!("{}.{}", file.package, item.name), path);
            }
        }
        for (path, file) in &self.files {
            texts.insert(format!("proto/{path}"), file.text(path, &homes));
        }
        let mut vendored = "syntax = \"proto3\";\npackage vendor;\nmessage Thing {\n".to_owned();
        for number in 1..=self.vendored {
            writeln!(vendored, "  string f{number} = {number};").unwrap();
        }
        texts.insert("third_party/vendor/thing.proto".to_owned(), vendored + "}\n");
        let mut marks = "syntax = \"proto2\";\npackage acme.mark;\n\
                         import \"google/protobuf/descriptor.proto\";\n\
                         extend google.protobuf.FieldOptions {\n  optional Mark mark = 50123;\n}\n\
                         message Mark {\n"
            .to_owned();
        for number in 1..=self.marks {
            writeln!(marks, "  optional int32 m{number} = {number};").unwrap();
        }
        texts.insert("proto/acme/mark.proto".to_owned(), marks + "}\n");
        texts
    }

    /// Takes over what another line of work has and this one does not.
    pub(super) fn merge(&mut self, other: &World) {
        for (path, file) in &other.files {
            self.files.entry(path.clone()).or_insert_with(|| file.clone());
        }
        let paths: Vec<String> = self.files.keys().cloned().collect();
        if let Some(path) = self.random.pick(&paths).cloned()
            && let Some(file) = other.files.get(&path)
        {
            self.files.insert(path, file.clone());
        }
        self.vendored = self.vendored.max(other.vendored);
        self.marks = self.marks.max(other.marks);
        self.named = self.named.max(other.named) + 100;
    }

    /// One commit's work.
    pub(crate) fn edit(&mut self) {
        for _ in 0..=self.random.below(3) {
            match self.random.below(27) {
                0..4 => self.add_field(),
                4 => self.add_file(),
                5 => drop(self.pick_path().map(|path| self.files.remove(&path))),
                6 | 7 => self.move_file(),
                8 => self.move_message(),
                9 | 10 => self.on_field(|_, fields, at| drop(fields.remove(at))),
                11 => self.on_field(|name, fields, at| fields[at].name = format!("renamed{name}")),
                12 => self.on_field(|_, fields, at| fields[at].repeated ^= true),
                13 => self.on_field(|_, fields, at| fields[at].marked ^= true),
                14 => self.on_field(|name, fields, at| {
                    fields[at].ty = SCALARS[name % SCALARS.len()].to_owned();
                }),
                15 => self.on_file(|name, file| {
                    let name = format!("Message{name}");
                    file.messages.push(Message { name, fields: Vec::new(), reserved: Vec::new() });
                }),
                16 => self.on_file(|name, file| {
                    if let Some(message) = file.messages.last_mut() {
                        // Those who refer to it no longer link.
                        message.name = format!("Renamed{name}");
                    }
                }),
                17 => self.on_file(|_, file| file.broken ^= true),
                18 => self.on_file(|_, file| file.lonely ^= true),
                19 => self.on_file(|name, file| file.comment = name),
                20 => self.on_file(|name, file| {
                    if let Some(item) = file.enums.last_mut() {
                        item.values.push((format!("VALUE_{name}"), item.values.len()));
                    }
                }),
                21 => self.on_file(|_, file| file.proto2 ^= true),
                22 => self.vendored += 1,
                23 => self.marks = 3 - self.marks,
                24 => self.give_method(),
                25 => self.pass_on(),
                _ => self.on_file(|_, file| {
                    if let Some(message) = file.messages.first_mut()
                        && let Some(field) = message.fields.pop()
                    {
                        message.reserved.push(field.number);
                    }
                }),
            }
        }
        for file in self.files.values_mut() {
            // Most of the time things are in order.
            if self.random.below(3) == 0 {
                (file.broken, file.lonely) = (false, false);
            }
        }
    }

    fn pick_path(&mut self) -> Option<String> {
        let paths: Vec<String> = self.files.keys().cloned().collect();
        self.random.pick(&paths).cloned()
    }

    fn on_file(&mut self, edit: impl FnOnce(usize, &mut File)) {
        let name = self.name();
        if let Some(path) = self.pick_path()
            && let Some(file) = self.files.get_mut(&path)
        {
            edit(name, file);
        }
    }

    fn on_field(&mut self, edit: impl FnOnce(usize, &mut Vec<Field>, usize)) {
        let name = self.name();
        let Some(path) = self.pick_path() else { return };
        let at = self.random.below(1000);
        let Some(file) = self.files.get_mut(&path) else { return };
        let with_fields = file.messages.iter_mut().filter(|it| !it.fields.is_empty());
        let mut messages: Vec<&mut Message> = with_fields.collect();
        let count = messages.len();
        if count > 0 {
            let fields = &mut messages[at % count].fields;
            let at = at % fields.len();
            edit(name, fields, at);
        }
    }

    fn add_file(&mut self) {
        let name = self.name();
        let package = PACKAGES[self.random.below(PACKAGES.len())].to_owned();
        let path = format!("{}/file{name}.proto", package.replace('.', "/"));
        let file = File {
            package,
            messages: (0..2)
                .map(|at| Message {
                    name: format!("Message{name}x{at}"),
                    fields: Vec::new(),
                    reserved: Vec::new(),
                })
                .collect(),
            enums: vec![Enum {
                name: format!("Enum{name}"),
                values: vec![(format!("ENUM_{name}_ZERO"), 0), (format!("ENUM_{name}_ONE"), 1)],
            }],
            method: None,
            public: None,
            comment: 0,
            broken: false,
            lonely: false,
            proto2: self.random.below(3) == 0,
        };
        self.files.insert(path, file);
    }

    /// A type that a file may use: of itself or of files before it, so that imports do not go in
    /// circles.
    fn pick_type(&mut self, path: &str) -> String {
        let mut types = vec!["vendor.Thing".to_owned(), "google.protobuf.Duration".to_owned()];
        for (other, file) in self.files.range(..=path.to_owned()) {
            let _ = other;
            let messages = file.messages.iter().map(|it| &it.name);
            let names = messages.chain(file.enums.iter().map(|it| &it.name));
            types.extend(names.map(|name| format!("{}.{name}", file.package)));
        }
        if self.random.below(3) == 0 {
            return SCALARS[self.random.below(SCALARS.len())].to_owned();
        }
        self.random.pick(&types).cloned().unwrap_or_default()
    }

    fn add_field(&mut self) {
        let name = self.name();
        let Some(path) = self.pick_path() else { return };
        let ty = self.pick_type(&path);
        let (repeated, marked) = (self.random.below(3) == 0, self.random.below(5) == 0);
        let at = self.random.below(1000);
        let Some(file) = self.files.get_mut(&path) else { return };
        let count = file.messages.len();
        if count == 0 {
            return;
        }
        let message = &mut file.messages[at % count];
        let number =
            message.fields.iter().map(|it| it.number).chain(message.reserved.iter().copied());
        let number = number.max().unwrap_or(0) + 1;
        message.fields.push(Field { name: format!("field{name}"), number, repeated, ty, marked });
    }

    fn move_file(&mut self) {
        let name = self.name();
        let Some(path) = self.pick_path() else { return };
        let Some(mut file) = self.files.remove(&path) else { return };
        if self.random.below(2) == 0 {
            file.package = PACKAGES[self.random.below(PACKAGES.len())].to_owned();
        }
        self.files.insert(format!("{}/moved{name}.proto", file.package.replace('.', "/")), file);
    }

    fn move_message(&mut self) {
        let (Some(from), Some(to)) = (self.pick_path(), self.pick_path()) else { return };
        let message = self.files.get_mut(&from).and_then(|file| file.messages.pop());
        let target = self.files.get_mut(&to);
        if let (Some(message), Some(target)) = (message, target) {
            target.messages.push(message);
        }
    }

    fn give_method(&mut self) {
        let Some(path) = self.pick_path() else { return };
        let (request, response) = (self.pick_type(&path), self.pick_type(&path));
        let Some(file) = self.files.get_mut(&path) else { return };
        file.method = match file.method {
            Some(_) => None,
            None => Some((request, response)).filter(|(a, b)| a.contains('.') && b.contains('.')),
        };
    }

    fn pass_on(&mut self) {
        let (Some(path), Some(other)) = (self.pick_path(), self.pick_path()) else { return };
        if other < path
            && let Some(file) = self.files.get_mut(&path)
        {
            file.public = if file.public.is_some() { None } else { Some(other) };
        }
    }
}

impl File {
    fn text(&self, path: &str, homes: &BTreeMap<String, &str>) -> String {
        let mut text = String::new();
        let syntax = if self.proto2 { "proto2" } else { "proto3" };
        writeln!(text, "syntax = \"{syntax}\";\npackage {};", self.package).unwrap();
        if self.comment > 0 {
            writeln!(text, "// Note {}.", self.comment).unwrap();
        }
        let mut imports: BTreeSet<&str> = BTreeSet::new();
        let fields = self.messages.iter().flat_map(|it| &it.fields);
        let methods = self.method.iter().flat_map(|(a, b)| [a, b]);
        for ty in fields.clone().map(|it| &it.ty).chain(methods) {
            imports.extend(homes.get(ty).copied().filter(|it| *it != path));
            match ty.as_str() {
                "vendor.Thing" => drop(imports.insert("vendor/thing.proto")),
                "google.protobuf.Duration" => {
                    imports.insert("google/protobuf/duration.proto");
                }
                _ => {}
            }
        }
        if fields.clone().any(|it| it.marked) {
            imports.insert("acme/mark.proto");
        }
        if let Some(public) = &self.public {
            writeln!(text, "import public \"{public}\";").unwrap();
            imports.remove(public.as_str());
        }
        for import in imports.into_iter().filter(|_| !self.lonely) {
            writeln!(text, "import \"{import}\";").unwrap();
        }
        for item in &self.enums {
            writeln!(text, "enum {} {{", item.name).unwrap();
            for (name, number) in &item.values {
                writeln!(text, "  {name} = {number};").unwrap();
            }
            text.push_str("}\n");
        }
        for message in &self.messages {
            writeln!(text, "message {} {{", message.name).unwrap();
            for number in &message.reserved {
                writeln!(text, "  reserved {number};").unwrap();
            }
            for field in &message.fields {
                let label = match (field.repeated, self.proto2) {
                    (true, _) => "repeated ",
                    (false, true) => "optional ",
                    (false, false) => "",
                };
                let mark = if field.marked { " [(acme.mark.mark).m1 = 3]" } else { "" };
                writeln!(text, "  {label}{} {} = {}{mark};", field.ty, field.name, field.number)
                    .unwrap();
            }
            text.push_str("}\n");
        }
        if let Some((request, response)) = &self.method {
            writeln!(text, "service Service{} {{", self.messages.len()).unwrap();
            writeln!(text, "  rpc Do({request}) returns ({response});\n}}").unwrap();
        }
        if self.broken {
            text.push_str("message Broken {\n  Nowhere gone = 1;\n}\n");
        }
        text
    }
}
