//! What takes the place of a deprecated element, by its annotation or by its comment.

use abide_change::OptionOwner;
use abide_schema::{Element, Tree};

use crate::lifecycle::{is_frozen, replacement_sentence};

/// How comments of Envoy's API begin the name of an element that they link to; `envoy.` stands for it.
const LINKS: [&str; 4] =
    ["envoy_v3_api_field_", "envoy_v3_api_enum_value_", "envoy_v3_api_msg_", "envoy_v3_api_enum_"];

/// Chains of replacements that are longer lead nowhere.
const MAX_STEPS: usize = 4;

/// Finds the element that takes the place of a deprecated one: that which its annotation names, or
/// the first one that the sentence of its comment about a replacement names.
pub(crate) fn find_replacement<'t>(tree: &'t Tree, element: Element<'t>) -> Option<Element<'t>> {
    element.replacement().or_else(|| {
        let sentence = replacement_sentence(OptionOwner::Element(element))?;
        find_named_element(tree, element, &sentence)
    })
}

/// Returns what a user does about a deprecated element, as an instruction: what its comment says, or
/// how its major is left. An element that is named by [`find_replacement`] needs none.
pub(crate) fn find_advice(element: Element<'_>) -> Option<String> {
    replacement_sentence(OptionOwner::Element(element)).or_else(|| {
        let next = element.package().version()?.major + 1;
        is_frozen(element.package())
            .then(|| format!("`abide config upgrade` carries files to version {next}"))
    })
}

/// Finds the first other element that a sentence names: in backticks, as a link, or by the whole name
/// of an element beside it. What is deprecated itself leads to what takes its place.
fn find_named_element<'t>(
    tree: &'t Tree,
    element: Element<'t>,
    sentence: &str,
) -> Option<Element<'t>> {
    let is_end = |it: char| matches!(it, '`' | '<' | '>') || it.is_whitespace();
    let words = sentence.split(is_end).filter(|it| !it.is_empty());
    let mut named = words.filter_map(|word| {
        let start = word.as_ptr() as usize - sentence.as_ptr() as usize;
        let is_quoted = sentence[..start].ends_with(['`', '<']);
        if let Some(rest) = LINKS.iter().find_map(|it| word.strip_prefix(it)) {
            return tree.element_named(&format!("envoy.{rest}"));
        }
        let word = word.trim_end_matches(['.', ',', ';', ':']);
        // A word of plain English is no name.
        if !is_quoted && !word.contains('_') {
            return None;
        }
        find_sibling(element, word).or_else(|| tree.element_named(word))
    });
    let other = named.find(|it| it.full_name() != element.full_name())?;
    match other.deprecated() {
        None => Some(other),
        Some(_) => find_successor(element, other),
    }
}

/// Finds what takes the place of a replacement that is deprecated itself.
fn find_successor<'t>(element: Element<'t>, mut other: Element<'t>) -> Option<Element<'t>> {
    for _ in 0..MAX_STEPS {
        let named = || {
            let sentence = replacement_sentence(OptionOwner::Element(other))?;
            let names = sentence.split(|it: char| !it.is_alphanumeric() && it != '_');
            let siblings = names.filter_map(|it| find_sibling(other, it));
            { siblings }.find(|it| it.full_name() != other.full_name())
        };
        other = other.replacement().or_else(named)?;
        if other.deprecated().is_none() {
            return (other.full_name() != element.full_name()).then_some(other);
        }
    }
    None
}

fn find_sibling<'t>(element: Element<'t>, name: &str) -> Option<Element<'t>> {
    match element {
        Element::Field(field) => field.parent()?.field_named(name).map(Element::Field),
        Element::EnumValue(value) => value.parent().value_named(name).map(Element::EnumValue),
        _ => None,
    }
}
