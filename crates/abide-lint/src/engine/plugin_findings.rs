//! What plugins found, as findings.

use abide_schema::{Element, Enum, File, Message, Part, Tree};

use crate::finding::{Bump, Finding, Location};
use crate::policy::CheckPlugin;
use crate::rule::{Sink, declare_plugin_rule};

/// What a plugin reports.
#[derive(Clone, Debug)]
pub struct PluginAnnotation {
    /// The rule, as the plugin calls it.
    pub rule: String,
    /// What it says.
    pub message: String,
    /// Where in the tree: a file and a path in its descriptor.
    pub location: Option<DescriptorPlace>,
    /// Where in the old tree.
    pub against: Option<DescriptorPlace>,
}

/// A place in a file, as descriptors write it.
#[derive(Clone, Debug)]
pub struct DescriptorPlace {
    /// The path of the file that imports use.
    pub file: String,
    /// The path in its descriptor, as in `SourceCodeInfo`.
    pub path: Vec<i32>,
}

/// A place that a plugin names and no tree has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{rule}` is reported at {path:?} in `{file}`, which the tree does not have")]
pub struct NoSuchPlace {
    /// The rule.
    pub rule: String,
    /// The file.
    pub file: String,
    /// The path in its descriptor.
    pub path: Vec<i32>,
}

/// What a place in a descriptor is about.
struct Found<'t> {
    file: File<'t>,
    element: Option<Element<'t>>,
    part: Part,
}

/// Makes a finding of what a plugin reports.
pub fn build_plugin_finding(
    plugin: &CheckPlugin,
    annotation: &PluginAnnotation,
    tree: &Tree,
    old: Option<&Tree>,
) -> Result<Finding, NoSuchPlace> {
    let id = format!("{}/{}", plugin.name, annotation.rule);
    let mut sink = Sink::of(declare_plugin_rule(&id, plugin.severity));
    let message = &annotation.message;
    let missing = |it: &DescriptorPlace| NoSuchPlace {
        rule: annotation.rule.clone(),
        file: it.file.clone(),
        path: it.path.clone(),
    };
    let find = |tree: &'_ Tree, it: &DescriptorPlace| {
        let found = find_place(tree, it).ok_or_else(|| missing(it))?;
        Ok((found.place(), found.full_name(), found.file.package().name().to_owned()))
    };
    let new = annotation.location.as_ref().map(|it| find(tree, it)).transpose()?;
    let old_place = annotation.against.as_ref().zip(old);
    let old_place = old_place.map(|(it, old)| find(old, it)).transpose()?;
    let finding = match (new, old_place) {
        (Some((place, element, package)), None) => {
            sink.report(Location::tree(place), &package, element, message)
        }
        (new, Some((old, element, package))) => {
            let at = new.as_ref().map_or(Location::old(old), |it| Location::tree(it.0));
            let element = new.map_or(element, |it| it.1);
            sink.change_at(at, Some(old), &package, element, message)
        }
        (None, None) => sink.report(Location::config(plugin.span), "", "", message),
    };
    if let Some(facts) = &mut finding.change {
        // What it says is policy: the version that a change needs is not its matter.
        facts.bump = Bump::None;
    }
    // A plugin may say several things about one element.
    finding.fact(message);
    Ok(sink.into_findings().remove(0))
}

impl Found<'_> {
    fn place(&self) -> abide_schema::Place {
        match self.element {
            Some(element) => element.place(self.part),
            None => self.file.package_place(),
        }
    }

    fn full_name(&self) -> String {
        self.element.map_or_else(|| self.file.full_name(), Element::full_name)
    }
}

/// Finds what a path in a descriptor leads to. A path into options ends at what has them.
fn find_place<'t>(tree: &'t Tree, place: &DescriptorPlace) -> Option<Found<'t>> {
    let file = tree.files().find(|it| it.path() == place.file)?;
    let mut rest = place.path.as_slice();
    let mut element: Option<Element<'t>> = None;
    while let [field, index, after @ ..] = rest {
        let index = usize::try_from(*index).ok()?;
        let inner = match element {
            None => find_in_file(file, *field, index),
            Some(Element::Message(it)) => find_in_message(it, *field, index),
            Some(Element::Enum(it)) => find_in_enum(it, *field, index),
            Some(Element::Service(it)) if *field == 2 => {
                Some(it.methods().nth(index).map(Element::Method))
            }
            Some(_) => None,
        };
        match inner {
            Some(found) => element = Some(found?),
            // What is no element, such as an option or an import, is not looked at further.
            None => break,
        }
        rest = after;
    }
    let part = match (element, rest) {
        (Some(_), [1]) | (Some(_), []) => Part::Name,
        (Some(Element::Field(_) | Element::EnumValue(_)), [2 | 3]) => Part::Number,
        _ => Part::Whole,
    };
    Some(Found { file, element, part })
}

/// The element at an index of a field of a descriptor. `None` if the field holds no elements, and
/// `Some(None)` if it holds none with this index.
type Member<'t> = Option<Option<Element<'t>>>;

fn find_in_file<'t>(file: File<'t>, field: i32, index: usize) -> Member<'t> {
    match field {
        4 => Some(file.messages().nth(index).map(Element::Message)),
        5 => Some(file.enums().nth(index).map(Element::Enum)),
        6 => Some(file.services().nth(index).map(Element::Service)),
        7 => Some(file.extensions().nth(index).map(Element::Field)),
        _ => None,
    }
}

fn find_in_message<'t>(message: Message<'t>, field: i32, index: usize) -> Member<'t> {
    match field {
        2 => Some(message.fields().nth(index).map(Element::Field)),
        3 => Some(message.messages().nth(index).map(Element::Message)),
        4 => Some(message.enums().nth(index).map(Element::Enum)),
        6 => Some(message.extensions().nth(index).map(Element::Field)),
        8 => Some(message.oneofs().nth(index).map(Element::Oneof)),
        _ => None,
    }
}

fn find_in_enum<'t>(of: Enum<'t>, field: i32, index: usize) -> Member<'t> {
    (field == 2).then(|| of.values().nth(index).map(Element::EnumValue))
}
