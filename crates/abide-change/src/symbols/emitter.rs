//! Symbols as the models of generators emit them: text with marks.

use abide_schema::{Field, OneofId, Tree, Type};

use super::names::GeneratedNames;

/// Something that a user of generated code can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedSymbol {
    /// Its name, qualified as a user writes it:
    /// `acme::user::v1::User::set_id`, `userv1.User.GetId`.
    pub name: String,
    /// The signature that its callers are compiled against, in a normal form: `void(int32_t)`.
    pub signature: String,
    /// The name with marks for the enclosing elements.
    pub(super) form: String,
    /// The signature with a mark for each type.
    pub(super) shape: String,
    /// The messages and enums behind the marks.
    pub(super) types: Vec<Type>,
    /// The oneof that it is a case of, and its name.
    pub(super) oneof: Option<(OneofId, String)>,
}

impl GeneratedSymbol {
    /// The name of the oneof that it is a case of.
    pub fn oneof(&self) -> Option<&str> {
        self.oneof.as_ref().map(|(_, name)| &**name)
    }
}

/// The unit that holds the top-level elements of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The prefix of names: a namespace, package, class or module.
    pub(super) prefix: String,
    /// The path that users import, if it is not the prefix.
    pub(super) import: String,
    /// True if it is the class of a Java file, not a package.
    pub(super) nested: bool,
}

/// In a form: the unit's prefix.
pub(super) const U: char = '\u{1}';
/// In a form: the path of the enclosing message in its unit.
pub(super) const P: char = '\u{2}';
/// In a form of an enum value: the text before it, separator included.
pub(super) const G: char = '\u{3}';
/// In a form of an enum value or a method: its enum or service.
pub(super) const E: char = '\u{5}';
/// In a shape: a message or an enum.
pub(super) const T: char = '\u{4}';

/// Collects the symbols of one element.
pub(super) struct Emitter<'t> {
    pub(super) tree: &'t Tree,
    /// The names that depend on those of siblings.
    pub(super) names: &'t GeneratedNames,
    pub(super) prefix: String,
    pub(super) parent: String,
    pub(super) values: String,
    pub(super) owner: String,
    pub(super) symbols: Vec<GeneratedSymbol>,
}

impl<'t> Emitter<'t> {
    pub(super) fn new(
        tree: &'t Tree,
        names: &'t GeneratedNames,
        unit: &Unit,
        parent: String,
    ) -> Emitter<'t> {
        Emitter {
            tree,
            names,
            prefix: unit.prefix.clone(),
            parent,
            values: String::new(),
            owner: String::new(),
            symbols: Vec::new(),
        }
    }

    /// Adds a symbol whose signature has no message and no enum.
    pub(super) fn add(&mut self, form: String, shape: impl Into<String>) {
        self.typed(form, shape.into(), &[]);
    }

    /// Adds a symbol whose signature has a mark for each type; the types come with
    /// their names.
    pub(super) fn typed(&mut self, form: String, shape: String, types: &[(Type, String)]) {
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
        self.symbols.push(GeneratedSymbol { name, signature, form, shape, types, oneof: None });
    }

    /// Adds a symbol that is a case of the oneof of a field: what is made of the oneof holds it,
    /// and that of another oneof does not.
    pub(super) fn case(&mut self, field: Field<'_>, form: String, shape: &str) {
        let before = self.symbols.len();
        self.add(form, shape);
        let oneof = field.real_oneof().map(|it| (it.id, it.name().to_owned()));
        self.symbols[before..].iter_mut().for_each(|it| it.oneof.clone_from(&oneof));
    }
}

/// A type in a signature: text with marks, and the types behind the marks.
#[derive(Clone)]
pub(super) struct MarkedType {
    pub(super) text: String,
    pub(super) types: Vec<(Type, String)>,
}

impl MarkedType {
    pub(super) fn plain(text: impl Into<String>) -> MarkedType {
        MarkedType { text: text.into(), types: Vec::new() }
    }

    pub(super) fn of(ty: Type, name: String) -> MarkedType {
        MarkedType { text: T.to_string(), types: vec![(ty, name)] }
    }
}

impl<'t> Emitter<'t> {
    /// Adds a symbol whose signature is a pattern with `{0}`, `{1}` for the shapes.
    pub(super) fn shaped(&mut self, form: String, pattern: &str, shapes: &[&MarkedType]) {
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
