//! Runtime keys about deprecated elements, and the uses that they decide about.

use abide_instance::walk;
use abide_schema::{Element, Tree};

use super::deprecated_use::Use;
use crate::finding::Location;
use crate::inputs::{ENABLE_ALL, FAIL_ON_ANY, FEATURE, InstanceSet, RuntimeSetting, bootstrap_of};
use crate::rule::InstanceContext;
use crate::wording::find_nearest;

/// A key of runtime at its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverridePlace<'s> {
    pub(crate) key: &'s str,
    pub(crate) setting: &'s RuntimeSetting,
    pub(crate) location: Location,
}

/// The keys of all layers and RTDS resources that are in a file, each place once.
pub(crate) fn override_places<'s>(set: &'s InstanceSet<'_>) -> Vec<OverridePlace<'s>> {
    let keys = set.overrides.iter().chain(&set.resources).flat_map(|it| it.keys());
    let places = keys.flat_map(|(key, settings)| {
        settings.iter().filter_map(move |setting| {
            let location = Location::instance(setting.file?, setting.span);
            Some(OverridePlace { key, setting, location })
        })
    });
    let mut places: Vec<OverridePlace<'_>> = places.collect();
    places.sort_by_key(|it| (it.location, it.key));
    places.dedup_by_key(|it| (it.location, it.key));
    places
}

/// Every use of a deprecated field or enum value in the run.
pub(crate) fn deprecated_uses<'t>(
    context: &InstanceContext<'t>,
    set: &'t InstanceSet<'t>,
) -> Vec<Use<'t>> {
    let mut uses = Vec::new();
    for (file, document) in set.documents() {
        let Some(message) = document.message() else { continue };
        let overrides = &set.overrides[file as usize];
        let is_bootstrap = bootstrap_of(context.tree, document).is_some();
        let dialect = document.dialect;
        let context = InstanceContext { file, overrides, is_bootstrap, dialect, ..*context };
        walk(context.tree, message, document.span, &mut |visit| {
            uses.extend(Use::of(&context, visit));
        });
    }
    uses
}

/// The key that was meant, if a key means nothing and is near one that would.
pub(crate) fn near_key(tree: &Tree, key: &str) -> Option<String> {
    const SWITCHES: [&str; 2] = [ENABLE_ALL, FAIL_ON_ANY];
    if SWITCHES.contains(&key) {
        return None;
    }
    let is_switch = key.starts_with("envoy.features.");
    if let Some(near) = find_nearest(key, SWITCHES).filter(|_| is_switch) {
        let is_near = |word: &str| strsim::levenshtein(&key.to_lowercase(), word) <= 4;
        return is_near(near).then(|| near.to_owned());
    }
    let folded = key.to_lowercase();
    let rest = folded.strip_prefix("envoy.deprecated_feature")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let (rest, has_sign) = match rest.strip_prefix([':', '.']) {
        Some(rest) => (rest, key.starts_with(FEATURE)),
        None => return None,
    };
    let name = &key[key.len() - rest.len()..];
    if has_sign && tree.element_named(name).is_some() {
        return None;
    }
    let elements = deprecated_names(tree);
    // A value of an enum is named beside its enum, not inside.
    let outer = name.rsplit_once('.').and_then(|(owner, value)| {
        let (outer, _) = owner.rsplit_once('.')?;
        Some(format!("{outer}.{value}"))
    });
    let same = |it: &&String| {
        it.eq_ignore_ascii_case(name)
            || outer.as_ref().is_some_and(|name| it.eq_ignore_ascii_case(name))
    };
    let near = || {
        let near = find_nearest(name, elements.iter().map(String::as_str))?;
        (strsim::levenshtein(near, name) <= 3).then_some(near)
    };
    let found = elements.iter().find(same).map(String::as_str).or_else(near)?;
    Some(format!("{FEATURE}{found}"))
}

/// The full names of deprecated fields and enum values.
fn deprecated_names(tree: &Tree) -> Vec<String> {
    let elements = tree.files().flat_map(|file| file.elements());
    let counts = |it: &Element<'_>| {
        matches!(it, Element::Field(_) | Element::EnumValue(_)) && it.deprecated().is_some()
    };
    elements.filter(counts).map(|it| it.full_name()).collect()
}
