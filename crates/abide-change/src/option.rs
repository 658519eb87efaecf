//! Options on both sides of a change: standard ones by name, custom ones by full
//! name, and language features with inheritance.
//!
//! The two sides belong to different trees, so values are never compared by id.
//! Fields and enum values of options are compared by name, and a renamed custom
//! option with its pair.

use std::collections::BTreeMap;

use abide_schema::value::{self, Codec, Entry, Value, default_of};
use abide_schema::{
    Cardinality, Edition, Element, Field, File, Part, Place, Presence, RawOptions, Tree,
};
use abide_syntax::Span;

use crate::change::Change;
use crate::diff::Diff;

/// Something with options: a file or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOwner<'t> {
    /// A file.
    File(File<'t>),
    /// An element of a file.
    Element(Element<'t>),
}

impl<'t> OptionOwner<'t> {
    /// The file itself, or the file that declares the element.
    pub fn file(self) -> File<'t> {
        match self {
            OptionOwner::File(file) => file,
            OptionOwner::Element(element) => element.file(),
        }
    }

    /// The path of a file, the full name of an element.
    pub fn full_name(self) -> String {
        match self {
            OptionOwner::File(file) => file.full_name(),
            OptionOwner::Element(element) => element.full_name(),
        }
    }

    /// Its noun and name, for a sentence.
    pub fn phrase(self) -> String {
        match self {
            OptionOwner::File(file) => format!("file `{}`", file.path()),
            OptionOwner::Element(element) => {
                let name = element.relative_name();
                format!("{} `{name}`", element.noun())
            }
        }
    }

    /// Its interpreted options.
    pub fn options(self) -> Option<&'t value::Message> {
        match self {
            OptionOwner::File(file) => file.options(),
            OptionOwner::Element(element) => element.options(),
        }
    }

    fn tree(self) -> &'t Tree {
        self.file().tree
    }

    fn raw_options(self) -> RawOptions {
        match self {
            OptionOwner::File(it) => it.decl().options,
            OptionOwner::Element(Element::Message(it)) => it.decl().options,
            OptionOwner::Element(Element::Field(it)) => it.decl().options,
            OptionOwner::Element(Element::Oneof(it)) => it.decl().options,
            OptionOwner::Element(Element::Enum(it)) => it.decl().options,
            OptionOwner::Element(Element::EnumValue(it)) => it.decl().options,
            OptionOwner::Element(Element::Service(it)) => it.decl().options,
            OptionOwner::Element(Element::Method(it)) => it.decl().options,
        }
    }

    /// The value of an option; the last one of a repeated option. A name such as
    /// `(pb.file.cpp).namespace` is a field in the value of an option that protoc brings along.
    pub fn standard(self, name: &str) -> Option<&'t Entry> {
        match name.strip_prefix('(').and_then(|it| it.split_once(").")) {
            Some((custom, part)) => self.part(custom, part),
            None => self.options()?.get(self.tree(), name),
        }
    }

    /// The value of the custom option with this full name.
    pub fn custom(self, full_name: &str) -> Option<&'t Entry> {
        self.options()?.find_extension(self.tree(), full_name)
    }

    /// Every value of a repeated custom option.
    pub fn collect_custom(self, full_name: &'static str) -> Vec<&'t Entry> {
        let options = self.options().into_iter();
        options.flat_map(|it| it.find_extensions(self.tree(), full_name)).collect()
    }

    /// A field in the value of a custom option.
    pub fn part(self, custom: &str, name: &str) -> Option<&'t Entry> {
        self.custom(custom)?.value.as_message()?.get(self.tree(), name)
    }

    /// The value it sets for a feature of a language, such as `api_level` of
    /// `pb.go`. Inherited values do not count.
    pub fn feature(self, language: &str, name: &str) -> Option<&'t Entry> {
        let features = self.standard("features")?.value.as_message()?;
        let language = features.find_extension(self.tree(), language)?.value.as_message()?;
        language.get(self.tree(), name)
    }

    /// The value of a feature in effect here: its own, or else that of an enclosing
    /// element or the file. Members of a oneof inherit from the oneof.
    pub fn inherited_feature(self, language: &str, name: &str) -> Option<&'t str> {
        let mut next = Some(self);
        while let Some(holder) = next {
            if let Some(entry) = holder.feature(language, name) {
                return word(self.tree(), entry);
            }
            next = match holder {
                OptionOwner::File(_) => None,
                OptionOwner::Element(element) => Some(match (element, element.parent()) {
                    (Element::Field(field), Some(parent)) => {
                        let oneof = field.oneof().filter(|it| !it.is_synthetic());
                        OptionOwner::Element(oneof.map_or(parent, Element::Oneof))
                    }
                    (_, Some(parent)) => OptionOwner::Element(parent),
                    (_, None) => OptionOwner::File(element.file()),
                }),
            };
        }
        None
    }

    /// The place of an option: the whole statement, the name and value in brackets, or the field in
    /// an aggregate. Without an option, the whole element or the start of the file.
    pub fn place(self, option: Option<&Entry>) -> Place {
        let file = self.file();
        let Some(entry) = option.filter(|it| !(it.key.is_empty() && it.span.is_empty())) else {
            return match self {
                OptionOwner::File(file) => Place { file: file.id, span: Span::default() },
                OptionOwner::Element(element) => element.place(Part::Whole),
            };
        };
        let statement = || {
            let RawOptions::Syntax(slice) = self.raw_options() else { return None };
            let ids = &file.decl().option_ids[slice.range()];
            let options = &file.decl().ast()?.options;
            let named = |name: Span| name.start <= entry.key.start && entry.key.end <= name.end;
            ids.iter().map(|&id| options[id as usize]).find(|it| named(it.name)).map(|it| it.span)
        };
        Place { file: file.id, span: statement().unwrap_or(entry.key.to(entry.span)) }
    }
}

/// The value of an option for a sentence: the name of an enum value, a string
/// without quotes, or a message in text format on one line.
pub fn format_entry(tree: &Tree, entry: &Entry) -> String {
    match &entry.value {
        Value::Bool(_) => word(tree, entry).unwrap_or_default().to_owned(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::String(value) => value.to_string(),
        Value::Bytes(value) => value.escape_ascii().to_string(),
        Value::Enum(number) => word(tree, entry).map_or_else(|| number.to_string(), str::to_owned),
        Value::Message(message) => {
            let text = Codec::new(tree).to_text(message);
            let words: Vec<&str> = text.split_whitespace().collect();
            format!("{{ {} }}", words.join(" "))
        }
    }
}

/// The name of an enum value, or `true` or `false`.
pub fn word<'t>(tree: &'t Tree, entry: &Entry) -> Option<&'t str> {
    match entry.value {
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        Value::Enum(number) => {
            let values = tree.field(entry.field).enum_type()?;
            values.values().find(|it| it.number() == number).map(|it| it.name())
        }
        _ => None,
    }
}

/// One option of a file or element on both sides.
#[derive(Clone, Copy, Debug)]
pub struct OptionSetting<'t> {
    /// The file or element on both sides.
    pub holders: (OptionOwner<'t>, OptionOwner<'t>),
    /// The old value.
    pub old: Option<&'t Entry>,
    /// The new value.
    pub new: Option<&'t Entry>,
}

impl<'t> OptionSetting<'t> {
    /// An option that is looked up in the same way on both sides.
    pub fn of(
        (old, new): (OptionOwner<'t>, OptionOwner<'t>),
        find: impl Fn(OptionOwner<'t>) -> Option<&'t Entry>,
    ) -> OptionSetting<'t> {
        OptionSetting { holders: (old, new), old: find(old), new: find(new) }
    }

    /// A standard option.
    pub fn standard(holders: (OptionOwner<'t>, OptionOwner<'t>), name: &str) -> OptionSetting<'t> {
        OptionSetting::of(holders, |it| it.standard(name))
    }

    /// Its values on both sides: the default if it is not set, and empty if it has
    /// no default.
    pub fn values(&self) -> (String, String) {
        let default = self.default().unwrap_or_default();
        let value = |holder: OptionOwner<'t>, entry: Option<&Entry>| {
            entry.map_or_else(|| default.clone(), |it| format_entry(holder.tree(), it))
        };
        (value(self.holders.0, self.old), value(self.holders.1, self.new))
    }

    fn default(&self) -> Option<String> {
        let old = self.old.map(|it| self.holders.0.tree().field(it.field));
        let new = self.new.map(|it| self.holders.1.tree().field(it.field));
        let field: Field<'t> = new.or(old)?;
        Some(format_entry(field.tree, &Entry::new(field.id, default_of(field)?)))
    }
}

/// Both sides of a change, as holders of options.
pub fn elements<'t, T: Copy>(
    change: Change<T>,
    wrap: impl Fn(T) -> Element<'t>,
) -> Option<(OptionOwner<'t>, OptionOwner<'t>)> {
    change.map(|it| OptionOwner::Element(wrap(it))).both()
}

/// Two files with the same path. Renamed files do not count: many of their options
/// change together with the path.
pub fn files<'t>(change: Change<File<'t>>) -> Option<(OptionOwner<'t>, OptionOwner<'t>)> {
    let (old, new) = change.both().filter(|(old, new)| old.path() == new.path())?;
    Some((OptionOwner::File(old), OptionOwner::File(new)))
}

/// Returns true if the file is of edition 2024 or later.
pub fn is_since_2024(file: File<'_>) -> bool {
    file.decl().edition >= Edition::Edition2024
}

/// A part of a custom option whose values differ.
#[derive(Debug)]
pub struct OptionDifference<'t> {
    /// The full name of the option, with the path inside its value.
    pub path: String,
    /// The old values: at most one, or any number for a repeated field.
    pub old: Vec<&'t Entry>,
    /// The new values.
    pub new: Vec<&'t Entry>,
    /// True if it stays in the source: no descriptor set has it, and nothing depends on it.
    pub is_source_only: bool,
}

/// The differences in the custom options of two options messages. Singular
/// messages are compared field by field, lists as a whole.
pub fn compare_custom_options<'t>(
    diff: &Diff<'t>,
    old: Option<&'t value::Message>,
    new: Option<&'t value::Message>,
) -> Vec<OptionDifference<'t>> {
    let mut found = Vec::new();
    collect_differences(diff, old, new, (None, false), &mut found);
    found
}

fn collect_differences<'t>(
    diff: &Diff<'t>,
    old: Option<&'t value::Message>,
    new: Option<&'t value::Message>,
    (inside, is_source_only): (Option<&str>, bool),
    found: &mut Vec<OptionDifference<'t>>,
) {
    let mut rows: BTreeMap<String, (Vec<&'t Entry>, Vec<&'t Entry>)> = BTreeMap::new();
    let wanted = |field: Field<'t>, entry: &Entry| {
        // To set a field without presence to zero is to leave it out, as every writer of
        // descriptors does.
        let is_left_out = field.presence() == Presence::Implicit && entry.value.is_zero();
        (inside.is_some() || field.is_extension())
            && (field.cardinality() != Cardinality::Singular || !is_left_out)
    };
    for entry in old.map_or(&[][..], |it| &it.entries) {
        let field = diff.old.field(entry.field);
        if wanted(field, entry) {
            // A renamed option is reported by its new name.
            let field = diff.new_field(field).unwrap_or(field);
            rows.entry(format_key(field)).or_default().0.push(entry);
        }
    }
    for entry in new.map_or(&[][..], |it| &it.entries) {
        let field = diff.new.field(entry.field);
        if wanted(field, entry) {
            rows.entry(format_key(field)).or_default().1.push(entry);
        }
    }
    for (name, (old, new)) in rows {
        let path = inside.map_or_else(|| name.clone(), |it| format!("{it}.{name}"));
        let olds = old.iter().map(|it| diff.old.field(it.field));
        let mut fields = olds.chain(new.iter().map(|it| diff.new.field(it.field)));
        let is_source_only = is_source_only || fields.all(Field::is_source_only);
        if let ([before], [after]) = (&old[..], &new[..])
            && diff.new.field(after.field).cardinality() == Cardinality::Singular
            && let (Some(before), Some(after)) =
                (before.value.as_message(), after.value.as_message())
        {
            collect_differences(
                diff,
                Some(before),
                Some(after),
                (Some(&path), is_source_only),
                found,
            );
        } else if !is_equal(diff, &old, &new) {
            found.push(OptionDifference { path, old, new, is_source_only });
        }
    }
}

/// The name of a field in a path.
fn format_key(field: Field<'_>) -> String {
    if field.is_extension() { field.full_name() } else { field.name().to_owned() }
}

fn is_equal<'t>(diff: &Diff<'t>, old: &[&'t Entry], new: &[&'t Entry]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|(old, new)| match (&old.value, &new.value) {
            (Value::Message(before), Value::Message(after)) => {
                let mut found = Vec::new();
                collect_differences(diff, Some(before), Some(after), (Some(""), false), &mut found);
                found.is_empty() && before.unknown == after.unknown
            }
            _ => format_entry(diff.old, old) == format_entry(diff.new, new),
        })
}

/// The wanted elements of a file that the old side has too, each with its pair.
/// Map entries are left out, since nobody writes them.
pub fn collect_pairs<'t>(
    diff: &Diff<'t>,
    new: File<'t>,
    wanted: impl Fn(Element<'t>) -> bool,
) -> Vec<(Element<'t>, Element<'t>)> {
    let old = |element| match element {
        Element::Message(it) if it.is_map_entry() => None,
        Element::Message(it) => diff.old_message(it).map(Element::Message),
        Element::Field(it) if it.parent().is_some_and(|it| it.is_map_entry()) => None,
        Element::Field(it) => diff.old_field(it).map(Element::Field),
        Element::Oneof(it) => diff.old_oneof(it).map(Element::Oneof),
        Element::Enum(it) => diff.old_enum(it).map(Element::Enum),
        Element::EnumValue(it) => diff.old_value(it).map(Element::EnumValue),
        Element::Service(it) => diff.old_service(it).map(Element::Service),
        Element::Method(it) => diff.old_method(it).map(Element::Method),
    };
    let wanted = new.elements().filter(|it| wanted(*it));
    wanted.filter_map(|new| Some((old(new)?, new))).collect()
}

/// A change of an inherited value: elements get it from themselves, from an
/// enclosing element, from the file, or from the edition.
#[derive(Debug)]
pub struct InheritedChange<'t> {
    /// At the element if it sets the value itself on a side, or else at the file.
    pub setting: OptionSetting<'t>,
    /// The old value.
    pub was: String,
    /// The new value.
    pub is: String,
    /// The elements that it changed for.
    pub elements: Vec<Element<'t>>,
}

impl InheritedChange<'_> {
    /// The elements that it changed for, in words.
    pub fn phrase(&self) -> String {
        match &self.elements[..] {
            [one] => OptionOwner::Element(*one).phrase(),
            many => {
                let noun = many[0].noun();
                let same = many.iter().all(|it| it.noun() == noun);
                format!("{} {}s", many.len(), if same { noun } else { "element" })
            }
        }
    }
}

/// Finds changes of an inherited value and reports each cause once. Elements that
/// do not set the value are reported together at the file, unless an element
/// between them and the file sets it, which is then reported. `own` finds the
/// setting; `resolve` gives the value in effect for an element.
pub fn find_inherited<'t>(
    files: (File<'t>, File<'t>),
    pairs: impl IntoIterator<Item = (Element<'t>, Element<'t>)>,
    own: impl Fn(OptionOwner<'t>) -> Option<&'t Entry>,
    resolve: impl Fn(Element<'t>) -> &'t str,
) -> Vec<InheritedChange<'t>> {
    let mut found = Vec::new();
    let mut by_file: BTreeMap<(&str, &str), Vec<Element<'t>>> = BTreeMap::new();
    for (old, new) in pairs {
        let (was, is) = (resolve(old), resolve(new));
        if was == is {
            continue;
        }
        let setting =
            OptionSetting::of((OptionOwner::Element(old), OptionOwner::Element(new)), &own);
        if setting.old.is_some() || setting.new.is_some() {
            let (was, is) = (was.to_owned(), is.to_owned());
            found.push(InheritedChange { setting, was, is, elements: vec![new] });
        } else if !is_set_between(old, &own) && !is_set_between(new, &own) {
            by_file.entry((was, is)).or_default().push(new);
        }
    }
    let holders = (OptionOwner::File(files.0), OptionOwner::File(files.1));
    found.extend(by_file.into_iter().map(|((was, is), elements)| InheritedChange {
        setting: OptionSetting::of(holders, &own),
        was: was.to_owned(),
        is: is.to_owned(),
        elements,
    }));
    found
}

/// Returns true if an enclosing element sets it.
fn is_set_between<'t>(
    element: Element<'t>,
    own: &impl Fn(OptionOwner<'t>) -> Option<&'t Entry>,
) -> bool {
    let mut next = element.parent();
    while let Some(parent) = next {
        if own(OptionOwner::Element(parent)).is_some() {
            return true;
        }
        next = parent.parent();
    }
    false
}
