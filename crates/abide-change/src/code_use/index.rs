//! The names that code can write for the elements of a tree, in one language.

use std::collections::BTreeSet;

use abide_schema::{Element, Field, File, Message, Tree, Type};
use rustc_hash::FxHashMap;

use crate::symbols::{GeneratedSymbol, Language, list_symbols, list_symbols_of_file};

/// A member of a type in generated code.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// The elements that it is generated for, by their places in the list of all.
    pub(super) elements: Vec<u32>,
    /// The type of what it gives, if that is a generated one.
    pub(super) result: Option<String>,
    /// How code writes it.
    pub(super) forms: MemberForms,
}

/// How code writes a member: some have several forms, as accessors of lists in C++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberForms {
    /// As a name alone.
    pub(super) is_plain: bool,
    /// As a call without arguments.
    pub(super) takes_nothing: bool,
    /// As a call with arguments.
    pub(super) takes_arguments: bool,
}

impl MemberForms {
    /// A name alone.
    const PLAIN: MemberForms =
        MemberForms { is_plain: true, takes_nothing: false, takes_arguments: false };

    /// The form of a symbol, by its signature.
    fn of(language: Language, element: Element<'_>, signature: &str) -> MemberForms {
        let is_method = matches!(element, Element::Method(_));
        let takes_nothing = match language {
            Language::Go => signature.starts_with("func()"),
            Language::Java => signature.ends_with("()"),
            Language::Cpp => signature.ends_with("()") || signature.ends_with("() const"),
            Language::Python => is_method,
        };
        let is_call = match language {
            Language::Go => signature.starts_with("func"),
            Language::Java | Language::Cpp => signature.contains('('),
            Language::Python => is_method,
        };
        let takes_arguments = is_call && (!takes_nothing || is_method);
        MemberForms { is_plain: !is_call, takes_nothing, takes_arguments }
    }

    fn join(&mut self, other: MemberForms) {
        self.is_plain |= other.is_plain;
        self.takes_nothing |= other.takes_nothing;
        self.takes_arguments |= other.takes_arguments;
    }
}

/// The generated names of a tree. A name begins with its unit: the Go import path, the Java
/// package, the Python module, or the C++ namespace, and all parts are joined by full stops.
pub(super) struct NameIndex<'t> {
    pub(super) language: Language,
    pub(super) elements: Vec<Element<'t>>,
    /// The elements by name, of types and of what stands beside them.
    pub(super) names: FxHashMap<String, Vec<u32>>,
    /// The members of types.
    pub(super) members: FxHashMap<String, FxHashMap<String, Member>>,
    /// The names of types that have their members by another name, as nested ones of C++.
    aliases: FxHashMap<String, String>,
    /// The types that have a member, by its name.
    pub(super) owners: FxHashMap<String, BTreeSet<String>>,
    /// The package of each Go import path; every unit of another language.
    pub(super) units: FxHashMap<String, String>,
}

impl<'t> NameIndex<'t> {
    /// Lists the names of all judged elements.
    pub(super) fn of(tree: &'t Tree, language: Language) -> NameIndex<'t> {
        let mut index = NameIndex {
            language,
            elements: Vec::new(),
            names: FxHashMap::default(),
            members: FxHashMap::default(),
            aliases: FxHashMap::default(),
            owners: FxHashMap::default(),
            units: FxHashMap::default(),
        };
        for file in tree.files().filter(|it| it.is_judged()) {
            index.add_file(file);
        }
        index
    }

    fn add_file(&mut self, file: File<'t>) {
        let unit = FileUnit::of(self.language, file);
        if let Some(unit) = &unit {
            self.units.insert(unit.path.clone(), unit.prefix.clone());
        }
        for element in file.elements() {
            let number = self.elements.len() as u32;
            self.elements.push(element);
            let symbols = list_symbols(self.language, element);
            let is_type = matches!(element, Element::Message(_) | Element::Enum(_));
            for symbol in &symbols {
                let name = normalize(&symbol.name, unit.as_ref());
                if let Some((owner, member)) = split_call(&name) {
                    self.add_member(owner, member, (number, None, MemberForms::PLAIN));
                    continue;
                }
                let result = find_result(self.language, element, &name, unit.as_ref());
                if let Some((owner, member)) = name.rsplit_once('.')
                    && !is_type
                    && !is_own_type(element, &symbol.signature)
                {
                    let forms = MemberForms::of(self.language, element, &symbol.signature);
                    self.add_member(owner, member, (number, result, forms));
                }
                self.names.entry(name).or_default().push(number);
            }
            if is_type && let Some(name) = find_type_name(&symbols) {
                let (name, first) = (normalize(name, unit.as_ref()), &symbols[0].name);
                let first = normalize(first, unit.as_ref());
                self.members.entry(name.clone()).or_default();
                if first != name {
                    self.members.entry(first.clone()).or_default();
                    self.aliases.insert(first, name);
                }
            }
            self.units.extend(self.find_service_unit(element));
        }
    }

    /// The module of the stubs of a Python service.
    fn find_service_unit(&self, element: Element<'_>) -> Option<(String, String)> {
        let Element::Service(_) = element else { return None };
        let symbols = list_symbols(self.language, element);
        let (module, _) = symbols.first()?.name.rsplit_once('.')?;
        (self.language == Language::Python).then(|| (module.to_owned(), String::new()))
    }

    fn add_member(
        &mut self,
        owner: &str,
        member: &str,
        (number, result, forms): (u32, Option<String>, MemberForms),
    ) {
        self.owners.entry(member.to_owned()).or_default().insert(owner.to_owned());
        let members = self.members.entry(owner.to_owned()).or_default();
        let known = members.entry(member.to_owned()).or_default();
        if !known.elements.contains(&number) {
            known.elements.push(number);
        }
        known.forms.join(forms);
        known.result = known.result.take().or(result);
    }

    /// The name by which a type has its members.
    pub(super) fn find_owner<'n>(&'n self, name: &'n str) -> &'n str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Returns true if a name is that of a type with members.
    pub(super) fn is_type(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }
}

/// The unit of a Go file.
struct FileUnit {
    path: String,
    prefix: String,
}

impl FileUnit {
    /// The import path and the package of a Go file, or the unit of a file in another language.
    fn of(language: Language, file: File<'_>) -> Option<FileUnit> {
        let symbols = list_symbols_of_file(language, file);
        let with = |signature: &str| symbols.iter().find(|it| it.signature == signature);
        match language {
            Language::Go => Some(FileUnit {
                path: with("import")?.name.clone(),
                prefix: with("package")?.name.clone(),
            }),
            Language::Python => {
                Some(FileUnit { path: with("module")?.name.clone(), prefix: String::new() })
            }
            Language::Java | Language::Cpp => None,
        }
    }
}

/// A name with its unit, and with full stops between all parts.
fn normalize(name: &str, unit: Option<&FileUnit>) -> String {
    let name = name.replace("::", ".");
    let inner = unit.filter(|it| !it.prefix.is_empty()).and_then(|it| {
        Some(format!("{}.{}", it.path, name.strip_prefix(&it.prefix)?.strip_prefix('.')?))
    });
    inner.unwrap_or(name)
}

/// The type and the member of a name such as `User(name=)` or `User.HasField('name')`, which code
/// writes as a keyword or in quotes.
fn split_call(name: &str) -> Option<(&str, &str)> {
    let (owner, member) = name.split_once('(')?;
    let member = member.trim_end_matches(')');
    match member.strip_suffix('=') {
        Some(keyword) => Some((owner, keyword)),
        None => Some((owner.rsplit_once('.')?.0, member.trim_matches('\''))),
    }
}

/// Returns true if a symbol of an element is a type of its own, as the wrapper of a Go oneof or the
/// stub of a service.
fn is_own_type(element: Element<'_>, signature: &str) -> bool {
    let is_class = matches!(signature, "struct" | "class" | "interface" | "enum");
    is_class && !matches!(element, Element::Method(_))
}

/// The generated type that a member gives.
fn find_result(
    language: Language,
    element: Element<'_>,
    name: &str,
    unit: Option<&FileUnit>,
) -> Option<String> {
    let given = match element {
        Element::Field(it) => find_message(it)?,
        Element::Method(it) => it.output()?,
        Element::Service(it) => {
            let stub = format!("{}Client", it.name());
            let (scope, member) = name.rsplit_once('.')?;
            let is_maker = language == Language::Go && member == format!("New{stub}");
            return is_maker.then(|| format!("{scope}.{stub}"));
        }
        _ => return None,
    };
    let (owner, member) = name.rsplit_once('.')?;
    if language == Language::Java && owner.ends_with(".Builder") && !member.starts_with("get") {
        return Some(owner.to_owned());
    }
    let of_given = FileUnit::of(language, given.file());
    let of_message = list_symbols(language, Element::Message(given));
    let given = normalize(find_type_name(&of_message)?, of_given.as_ref().or(unit));
    let is_builder = language == Language::Java && member.ends_with("Builder");
    Some(if is_builder { format!("{given}.Builder") } else { given })
}

/// The name by which a message or an enum has its members: of C++ classes the last one, since nested
/// classes are also named in the class around them.
fn find_type_name(symbols: &[GeneratedSymbol]) -> Option<&str> {
    let first = symbols.first()?;
    let last =
        symbols.iter().rfind(|it| it.signature == first.signature && first.signature == "class");
    let is_plain = |it: &&GeneratedSymbol| it.name.contains("::");
    Some(last.filter(is_plain).map_or(&first.name, |it| &it.name))
}

/// The message that a field holds, also as values of a map.
fn find_message(field: Field<'_>) -> Option<Message<'_>> {
    let message = field.message_type()?;
    if !field.is_map() {
        return Some(message);
    }
    let value = message.fields().nth(1)?;
    match value.ty() {
        Type::Message(_) => value.message_type(),
        _ => None,
    }
}
