//! What users of generated code can write: a model of protoc's generators.
//!
//! For each element of a tree, [`symbols`] gives the symbols that the
//! generators for C++, Go, Java and Python emit for it, each with a signature:
//! what the compilers of its callers care about, in a normal form of our own.
//! A symbol that is lost or has another signature breaks source code, and
//! [`loss`] finds the first one, the one that most callers use.
//!
//! # What the model stands on
//!
//! `cargo xtask oracle --only symbols` compares the model with the output of
//! the real generators, in both directions: C++, Java and Python of protoc
//! 36.2; Go of `protoc-gen-go` 1.28; the stubs of gRPC for C++ 1.51, Go 1.0,
//! Java 1.41 and Python 1.85. What those predate is modelled from the
//! documentation alone: Go in editions, so the API levels hybrid and opaque and
//! `strip_enum_prefix`, and gRPC for C++ and Java in editions. Generic services
//! of Java are not modelled: protoc does not emit them any more.
//!
//! Left out are families that are the same for every message, enum or service,
//! and so are lost exactly when that is (`New`, `Swap`, `parseFrom`, `Reset`,
//! `SerializeToString`); mirrors of what is modelled (the getters of a Java
//! builder and of an `OrBuilder` interface, asynchronous stubs of C++); what
//! `import public` passes on below the top level; and everything that is
//! internal by name. The oracle holds the list.

mod cpp;
mod go;
mod java;
mod python;
#[cfg(test)]
mod tests;

use abide_schema::{
    Cardinality, Edition, Element, EnumId, Field, File, Message, MessageId, Openness, Tree, Type,
    TypeDecl,
};
use abide_syntax::ImportKind;

/// A language that the model knows the generated code of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named as the language")]
pub enum Language {
    Cpp,
    Go,
    Java,
    Python,
}

impl Language {
    /// All of them, by name.
    pub const ALL: [Language; 4] = [Language::Cpp, Language::Go, Language::Java, Language::Python];
}

/// Something that a user of generated code can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, qualified as a user writes it:
    /// `acme::user::v1::User::set_id`, `userv1.User.GetId`.
    pub name: String,
    /// What its callers are compiled against, in a normal form: `void(int32_t)`.
    pub signature: String,
    /// The name with marks for what encloses the element.
    form: String,
    /// The signature with a mark for each type.
    shape: String,
    /// The messages and enums behind the marks.
    types: Vec<Type>,
}

/// Which elements of an old and a new tree are the same.
pub(crate) trait Pairs {
    /// Whether this file of the old tree became that file of the new one.
    fn same_file(&self, old: File<'_>, new: File<'_>) -> bool;
    /// Whether this message of the old tree became that of the new one.
    fn same_message(&self, old: MessageId, new: MessageId) -> bool;
    /// Whether this enum of the old tree became that of the new one.
    fn same_enum(&self, old: EnumId, new: EnumId) -> bool;
}

/// A symbol that users had and that is gone, or is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// There is nothing of that name.
    Removed {
        /// What users wrote.
        old: Symbol,
    },
    /// The name is there and stands for something else.
    Changed {
        /// What users wrote.
        old: Symbol,
        /// What it is instead.
        new: Symbol,
    },
    /// It is the same, and something else must be included or imported for it.
    Moved {
        /// What users write.
        old: Symbol,
        /// The header or the import path that has it no more.
        from: String,
        /// The one that has it instead.
        to: String,
    },
}

/// The symbols that generated code has for an element itself, not for its
/// children; the ones that most callers use come first. An entry of a map and
/// the oneof behind an `optional` of proto3 have none.
pub fn symbols(language: Language, element: Element<'_>) -> Vec<Symbol> {
    let unit = unit(language, element);
    emitted(language, element, &unit, Facts::of(language, element.file()))
}

/// The symbols that generated code has for a file as a whole: what to import,
/// and what depends on options of the file alone. For a public import they are
/// those of the imported file that this file passes on.
pub fn symbols_of_file(language: Language, file: File<'_>) -> Vec<Symbol> {
    let mut emit = Emitter::new(file.tree, &file_unit(language, file), String::new());
    match language {
        Language::Cpp => cpp::file(&mut emit, file),
        Language::Go => go::file(&mut emit, file),
        Language::Java => java::file(&mut emit, file),
        Language::Python => python::file(&mut emit, file),
    }
    emit.symbols
}

/// The first symbol of the old element that its new counterpart lacks or has
/// with another signature.
///
/// What encloses the two is taken as the same where it is paired: the fields of
/// a renamed message lose nothing by that, its own pair does. An element that
/// moved to another file or message is compared by its full names.
pub(crate) fn loss(
    language: Language,
    old: Element<'_>,
    new: Element<'_>,
    pairs: &dyn Pairs,
) -> Option<Loss> {
    let (old_unit, new_unit) = (unit(language, old), unit(language, new));
    let same_file = pairs.same_file(old.file(), new.file());
    // What an option of the file takes away is one loss of the file, not one of
    // each element.
    let facts = Facts::of(language, old.file());
    let new_facts = if same_file { facts } else { Facts::of(language, new.file()) };
    let enclosed = match (old.parent(), new.parent()) {
        (Some(Element::Message(old)), Some(Element::Message(new))) => {
            pairs.same_message(old.id, new.id)
        }
        (Some(Element::Enum(old)), Some(Element::Enum(new))) => pairs.same_enum(old.id, new.id),
        (Some(Element::Service(_)), Some(Element::Service(_))) => true,
        (None, None) => {
            let by_default = |unit: &Unit, file| unit.nested == file_unit(language, file).nested;
            let same_place = old_unit.nested == new_unit.nested
                || by_default(&old_unit, old.file()) && by_default(&new_unit, new.file());
            same_file && same_place
                || old_unit.provides(&new_unit, old.file(), new.file(), language)
        }
        _ => false,
    };
    let unnamed = is_unnamed(language, old.file());
    let enclosed = enclosed || unnamed && old.parent().is_none() && new.parent().is_none();
    let old_symbols = emitted(language, old, &old_unit, facts);
    let new_symbols = emitted(language, new, &new_unit, new_facts);
    let is_reached = enclosed
        || unnamed
        || same_file
        || old_unit.import == new_unit.import
        || old_unit.provides(&new_unit, old.file(), new.file(), language);
    first_loss(&old_symbols, &new_symbols, enclosed, pairs).or_else(|| {
        let old = old_symbols.into_iter().next().filter(|_| !is_reached)?;
        Some(Loss::Moved { old, from: old_unit.import, to: new_unit.import })
    })
}

/// As [`loss`], for a pair of files.
pub(crate) fn loss_file(
    language: Language,
    old: File<'_>,
    new: File<'_>,
    pairs: &dyn Pairs,
) -> Option<Loss> {
    if is_unnamed(language, old) {
        return None;
    }
    let (old, new) = (symbols_of_file(language, old), symbols_of_file(language, new));
    first_loss(&old, &new, false, pairs)
}

/// Whether flags of the command line name what users import, which may be the
/// same before and after.
fn is_unnamed(language: Language, file: File<'_>) -> bool {
    language == Language::Go && file.go_package().is_none()
}

/// Whether other files than one that is gone provide what users imported of it:
/// all files of a Go package are one import.
pub(crate) fn stays_imported<'t>(
    language: Language,
    gone: File<'_>,
    mut left: impl Iterator<Item = File<'t>>,
) -> bool {
    is_unnamed(language, gone)
        || language == Language::Go && left.any(|it| go::unit(it).import == go::unit(gone).import)
}

fn first_loss(old: &[Symbol], new: &[Symbol], relative: bool, pairs: &dyn Pairs) -> Option<Loss> {
    let named = |old: &Symbol, new: &Symbol| {
        if relative { old.form == new.form } else { old.name == new.name }
    };
    for symbol in old {
        if new.iter().any(|new| named(symbol, new) && same_signature(symbol, new, pairs)) {
            continue;
        }
        // Of overloads, the one that no other overload of the old side is.
        let changed = new.iter().find(|new| {
            named(symbol, new)
                && !old.iter().any(|old| named(old, new) && same_signature(old, new, pairs))
        });
        return Some(match changed {
            Some(new) => Loss::Changed { old: symbol.clone(), new: new.clone() },
            None => Loss::Removed { old: symbol.clone() },
        });
    }
    None
}

fn same_signature(old: &Symbol, new: &Symbol, pairs: &dyn Pairs) -> bool {
    let same_type = |(old, new): (&Type, &Type)| match (*old, *new) {
        (Type::Message(old), Type::Message(new)) => pairs.same_message(old, new),
        (Type::Enum(old), Type::Enum(new)) => pairs.same_enum(old, new),
        (old, new) => old == new,
    };
    old.shape == new.shape
        && old.types.len() == new.types.len()
        && old.types.iter().zip(&new.types).all(same_type)
}

/// The message whose scope the names of an element stand in.
fn enclosing(element: Element<'_>) -> Option<Message<'_>> {
    match element {
        Element::Message(it) => it.parent(),
        Element::Field(it) => it.parent(),
        Element::Oneof(it) => Some(it.message()),
        Element::Enum(it) => it.parent(),
        Element::EnumValue(it) => it.parent().parent(),
        Element::Service(_) | Element::Method(_) => None,
    }
}

/// Where the elements of a file's top level live.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    /// What stands before names: a namespace, package, class or module.
    prefix: String,
    /// What users import, where the prefix does not say it.
    import: String,
    /// Whether it is the class of a file, where Java may have a package instead.
    nested: bool,
}

impl Unit {
    /// Whether what moved from the old unit to the new one is still reached by
    /// the old names: by the same unit, or by a file in the place of the old
    /// one that imports the new one publicly. C++ includes it, Go emits
    /// aliases, Python imports `*`; Java knows no such thing.
    fn provides(
        &self,
        new: &Unit,
        old_file: File<'_>,
        new_file: File<'_>,
        language: Language,
    ) -> bool {
        if self == new {
            return true;
        }
        let passes_on = match language {
            Language::Cpp => self.prefix == new.prefix,
            Language::Go | Language::Python => true,
            Language::Java => false,
        };
        passes_on
            && new_file.tree.public_importers().any(|file| {
                (file.path() == old_file.path() || language == Language::Go)
                    && public_imports(file).contains(&new_file)
                    && file_unit(language, file) == file_unit(language, old_file)
            })
    }
}

/// The files that a file passes on to those that import it, itself not among
/// them, in the order of the imports.
fn public_imports(file: File<'_>) -> Vec<File<'_>> {
    let mut found = Vec::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for import in file.imports().filter(|import| import.decl.kind == ImportKind::Public) {
            if let Some(imported) = import.file
                && !found.contains(&imported)
            {
                found.push(imported);
                open.push(imported);
            }
        }
    }
    found
}

/// The unit that an element's names stand in.
fn unit(language: Language, element: Element<'_>) -> Unit {
    match language {
        Language::Java => java::unit(element),
        _ => file_unit(language, element.file()),
    }
}

/// The unit of a file's top level, where no element says otherwise.
fn file_unit(language: Language, file: File<'_>) -> Unit {
    match language {
        Language::Cpp => cpp::unit(file),
        Language::Go => go::unit(file),
        Language::Java => java::file_unit(file),
        Language::Python => python::unit(file),
    }
}

/// What options of a file decide about every element in it.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Services have the classes of protoc itself.
    generic_services: bool,
    /// Messages and enums have descriptors and reflection.
    reflection: bool,
}

impl Facts {
    fn of(language: Language, file: File<'_>) -> Facts {
        let option = |name: &str| {
            file.options().and_then(|options| options.bool(file.tree, name)).unwrap_or(false)
        };
        Facts {
            generic_services: match language {
                Language::Cpp => option("cc_generic_services"),
                Language::Python => option("py_generic_services"),
                Language::Go | Language::Java => false,
            },
            reflection: !is_lite(file),
        }
    }
}

/// Whether C++ leaves descriptors and reflection out.
fn is_lite(file: File<'_>) -> bool {
    let optimized = file.options().and_then(|options| options.enum_name(file.tree, "optimize_for"));
    optimized == Some("LITE_RUNTIME")
}

fn emitted(language: Language, element: Element<'_>, unit: &Unit, facts: Facts) -> Vec<Symbol> {
    let hidden = match element {
        Element::Message(message) => message.is_map_entry(),
        Element::Oneof(oneof) => oneof.is_synthetic(),
        Element::Field(field) => {
            !field.is_extension() && field.parent().is_some_and(Message::is_map_entry)
        }
        _ => false,
    };
    if hidden {
        return Vec::new();
    }
    let parent = enclosing(element).map(|message| type_path(language, message));
    let mut emit = Emitter::new(element.file().tree, unit, parent.unwrap_or_default());
    match language {
        Language::Cpp => cpp::element(&mut emit, element, facts),
        Language::Go => go::element(&mut emit, element),
        Language::Java => java::element(&mut emit, element),
        Language::Python => python::element(&mut emit, element, facts),
    }
    emit.symbols
}

/// The name of a message in its unit, with the messages that enclose it.
fn type_path(language: Language, message: Message<'_>) -> String {
    match language {
        Language::Cpp => cpp::class(message),
        Language::Go => go::type_name(message.parent(), message.name()),
        Language::Java | Language::Python => nested(message.parent(), message.name()),
    }
}

/// `Outer.Inner`, as languages with nested classes have it.
fn nested(parent: Option<Message<'_>>, name: &str) -> String {
    let mut names = vec![name];
    let mut scope = parent;
    while let Some(message) = scope {
        names.push(message.name());
        scope = message.parent();
    }
    names.reverse();
    names.join(".")
}

/// In a form: the unit's prefix.
const U: char = '\u{1}';
/// In a form: the path of the enclosing message in its unit.
const P: char = '\u{2}';
/// In a form of an enum value: what stands before it, separator included.
const G: char = '\u{3}';
/// In a form of an enum value or a method: its enum or service.
const E: char = '\u{5}';
/// In a shape: a message or an enum.
const T: char = '\u{4}';

/// Collects the symbols of one element.
struct Emitter<'t> {
    tree: &'t Tree,
    prefix: String,
    parent: String,
    values: String,
    owner: String,
    symbols: Vec<Symbol>,
}

impl<'t> Emitter<'t> {
    fn new(tree: &'t Tree, unit: &Unit, parent: String) -> Emitter<'t> {
        Emitter {
            tree,
            prefix: unit.prefix.clone(),
            parent,
            values: String::new(),
            owner: String::new(),
            symbols: Vec::new(),
        }
    }

    /// A symbol whose signature names no message and no enum.
    fn add(&mut self, form: String, shape: impl Into<String>) {
        self.typed(form, shape.into(), &[]);
    }

    /// A symbol whose signature has a mark for each of the types, which come
    /// with their names.
    fn typed(&mut self, form: String, shape: String, types: &[(Type, String)]) {
        let mut name = String::with_capacity(form.len() + self.prefix.len() + self.parent.len());
        for character in form.chars() {
            match character {
                U => name.push_str(&self.prefix),
                P => name.push_str(&self.parent),
                G => name.push_str(&self.values),
                E => name.push_str(&self.owner),
                _ => name.push(character),
            }
        }
        // The global namespace and the default package have no name.
        let name = name.trim_start_matches("::").trim_start_matches('.').to_owned();
        let mut signature = String::with_capacity(shape.len());
        let mut names = types.iter();
        for character in shape.chars() {
            match character {
                T => signature.push_str(names.next().map_or("?", |(_, name)| name)),
                _ => signature.push(character),
            }
        }
        let types = types.iter().map(|(ty, _)| *ty).collect();
        self.symbols.push(Symbol { name, signature, form, shape, types });
    }
}

/// A type in a signature: text with marks, and the types behind the marks.
#[derive(Clone)]
struct Shape {
    text: String,
    types: Vec<(Type, String)>,
}

impl Shape {
    fn plain(text: impl Into<String>) -> Shape {
        Shape { text: text.into(), types: Vec::new() }
    }

    fn of(ty: Type, name: String) -> Shape {
        Shape { text: T.to_string(), types: vec![(ty, name)] }
    }
}

impl<'t> Emitter<'t> {
    /// A symbol whose signature is a pattern with `{0}`, `{1}` for the shapes.
    fn shaped(&mut self, form: String, pattern: &str, shapes: &[&Shape]) {
        let mut text = String::new();
        let mut types = Vec::new();
        let mut rest = pattern;
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            let index = rest[at + 1..].bytes().next().map_or(0, |digit| usize::from(digit - b'0'));
            if let Some(shape) = shapes.get(index) {
                text.push_str(&shape.text);
                types.extend(shape.types.iter().cloned());
            }
            rest = &rest[at + 3..];
        }
        text.push_str(rest);
        self.typed(form, text, &types);
    }
}

/// The features of a language, such as `features.(pb.cpp)`, that an element or
/// what encloses it sets; the name of an enum value, or `true` and `false`.
fn language_feature<'t>(element: Element<'t>, extension: &str, name: &str) -> Option<&'t str> {
    let tree = element.file().tree;
    let of = |options: Option<&'t abide_schema::value::Message>| {
        let features = options?.message(tree, "features")?;
        let language = features.extension(tree, extension)?.value.as_message()?;
        match language.bool(tree, name) {
            Some(set) => Some(if set { "true" } else { "false" }),
            None => language.enum_name(tree, name),
        }
    };
    let mut scope = Some(element);
    while let Some(element) = scope {
        if let Some(found) = of(element.options()) {
            return Some(found);
        }
        scope = element.parent();
    }
    of(element.file().options())
}

/// Whether the runtimes keep numbers of an enum field that its enum does not
/// declare: `legacy_closed_enum` of a language, which proto2 sets, closes it.
fn is_open(field: Field<'_>, extension: &str) -> bool {
    let open = field.enum_type().is_some_and(|it| it.features().openness == Openness::Open);
    let legacy = match language_feature(Element::Field(field), extension, "legacy_closed_enum") {
        Some(set) => set == "true",
        None => field.file().decl().edition == Edition::Proto2,
    };
    open && !legacy
}

/// The key and the value field of a map field.
fn map_entry(field: Field<'_>) -> Option<(Field<'_>, Field<'_>)> {
    if field.cardinality() != Cardinality::Map {
        return None;
    }
    let entry = field.message_type()?;
    Some((entry.field_numbered(1)?, entry.field_numbered(2)?))
}

/// Whether a field is written like a group of proto2: delimited, named like its
/// type in lower case, and declared beside it. Source: `IsGroupLike` of
/// protobuf's descriptor.cc.
fn is_group_like(field: Field<'_>) -> bool {
    let Some(ty) = field.message_type() else { return false };
    is_delimited(field)
        && field.name() == ty.name().to_ascii_lowercase()
        && ty.file() == field.file()
        && ty.parent() == field.parent()
}

/// Whether it is a group on the wire.
fn is_delimited(field: Field<'_>) -> bool {
    matches!(field.decl().ty, TypeDecl::Group(_) | TypeDecl::GroupNamed(_))
        || field.features().delimited
}

/// `foo_bar` in camel case: letters after underscores and digits are raised,
/// the first one too if asked for, and underscores go. Source:
/// `UnderscoresToCamelCase` of the C++ and Java generators.
fn camel(name: &str, raise_first: bool) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut raise = raise_first;
    for (index, character) in name.chars().enumerate() {
        match character {
            'a'..='z' => {
                camel.push(if raise { character.to_ascii_uppercase() } else { character });
                raise = false;
            }
            'A'..='Z' => {
                let lower = index == 0 && !raise;
                camel.push(if lower { character.to_ascii_lowercase() } else { character });
                raise = false;
            }
            '0'..='9' => {
                camel.push(character);
                raise = true;
            }
            _ => raise = true,
        }
    }
    camel
}
