//! Carries a tree to a later edition, and proves that nothing changes by it.

use std::collections::BTreeMap;

use abide_change::Effects;
use abide_hash::TreeHashes;
use abide_schema::{
    Edition, Element, FEATURES, FeatureRow, Field, File, FileId, Place, Presence, Scalar, Tree,
    Type, find_well_known,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::changed_texts::link_with_texts;
use super::pipeline::check;
use crate::finding::{EditionObstacle, EditionObstacleReason, write_in_edition};
use crate::inputs::{Options, RuleScope};
use crate::policy::Policy;

/// What to carry, and where.
#[derive(Clone, Copy)]
pub struct EditionRequest<'a> {
    /// The edition.
    pub edition: Edition,
    /// Whether a file may be edited.
    pub may_edit: &'a dyn Fn(File<'_>) -> bool,
}

impl EditionRequest<'_> {
    /// Returns true if a file is in an earlier edition than the one that is asked for.
    fn is_ahead_of(self, file: File<'_>) -> bool {
        let edition = file.decl().edition;
        file.is_judged() && file.parses() && edition.is_known() && edition < self.edition
    }
}

/// A tree in a later edition.
#[derive(Debug, Default)]
pub struct EditionResult {
    /// The new texts of the files that change.
    pub texts: BTreeMap<FileId, Vec<u8>>,
    /// Why other files stay as they are, in the order of files.
    pub obstacles: Vec<EditionObstacle>,
    /// How many files stay as they are because they are copies of those that protoc brings along.
    pub protobuf_copies: usize,
}

/// Carries the files of a tree that are in an earlier edition, or in proto2 or proto3, to an edition.
///
/// Every file of the result has the features, in effect, that it had, and the same semantic hashes;
/// it compiles as it did, and no change of it breaks anybody. A file of which that cannot be had
/// stays as it is, and so do copies of protobuf's own files.
pub fn carry_to_edition(
    tree: &Tree,
    policy: &Policy,
    options: Options<'_>,
    request: EditionRequest<'_>,
) -> EditionResult {
    let mut result = EditionResult::default();
    let earlier = tree.files().filter(|it| request.is_ahead_of(*it) && (request.may_edit)(*it));
    let (copies, files): (Vec<File<'_>>, Vec<File<'_>>) =
        earlier.partition(|it| find_well_known(it.path()).is_some());
    result.protobuf_copies = copies.len();
    if let Some(obstacle) = find_old_descriptor(tree, request.edition).filter(|_| !files.is_empty())
    {
        result.obstacles.push(obstacle);
        return result;
    }
    for file in files {
        match write_in_edition(file, request.edition) {
            Ok(text) => {
                result.texts.insert(file.id, text);
            }
            Err(obstacles) => result.obstacles.extend(obstacles),
        }
    }
    let mut hashes = None;
    while !result.texts.is_empty() {
        let new = link_with_texts(tree, &result.texts);
        let hashes = hashes.get_or_insert_with(|| TreeHashes::of(tree));
        let faults = find_faults((tree, hashes), &new, policy, options);
        if faults.is_empty() {
            break;
        }
        for obstacle in find_causes(tree, &result.texts, faults) {
            result.texts.remove(&obstacle.place.file);
            result.obstacles.push(obstacle);
        }
    }
    result.obstacles.sort_by_key(|it| it.place);
    result
}

/// The tree's own copy of `descriptor.proto`, if it is older than the edition: no file of the edition
/// would compile beside it.
fn find_old_descriptor(tree: &Tree, edition: Edition) -> Option<EditionObstacle> {
    const PATH: &str = "google/protobuf/descriptor.proto";
    let file = tree.files().find(|it| it.path() == PATH)?;
    let features = file.messages().find(|it| it.is_named("FeatureSet"));
    let knows = |name| features.is_some_and(|it| it.field_named(name).is_some());
    let mut needed = FEATURES.iter().filter(|it| find_first_edition(it) <= edition);
    needed.any(|it| !knows(it.name)).then(|| EditionObstacle {
        place: file.package_place(),
        reason: EditionObstacleReason::OldDescriptor(edition),
    })
}

/// The first edition in which files can set a feature.
fn find_first_edition(feature: &FeatureRow) -> Edition {
    let editions = feature.defaults.iter().map(|it| it.0);
    editions.filter(|it| it.is_edition()).min().unwrap_or(Edition::Edition2023)
}

/// What would be other than before, at most one fault for each file.
fn find_faults(
    (tree, was): (&Tree, &TreeHashes),
    new: &Tree,
    policy: &Policy,
    options: Options<'_>,
) -> BTreeMap<FileId, EditionObstacle> {
    let mut faults = BTreeMap::new();
    let mut report = |file: File<'_>, reason| {
        let place = file.package_place();
        faults.entry(file.id).or_insert(EditionObstacle { place, reason });
    };
    // The features of languages may be files of the new tree alone.
    let judged = tree.files().filter(|it| it.is_judged());
    let by_path: BTreeMap<&str, File<'_>> = judged.map(|it| (&*it.decl().display, it)).collect();
    let find_old = |file: File<'_>| by_path.get(&*file.decl().display).copied();
    let known: FxHashSet<&str> = tree.files().map(File::path).collect();
    for new in new.files() {
        let Some(old) = find_old(new) else { continue };
        let added = new.imports().filter_map(|it| it.file).filter(|it| !known.contains(it.path()));
        for message in added.filter_map(find_error) {
            report(old, EditionObstacleReason::NewError(message));
        }
        if let Some(message) = find_new_error(old, new) {
            report(old, EditionObstacleReason::NewError(message));
        } else if let Some(reason) = find_changed_feature(old, new) {
            report(old, reason);
        }
    }
    let is = TreeHashes::of(new);
    for &file in by_path.values() {
        let path = &file.decl().display;
        if was.file(path).map(|it| it.own) != is.file(path).map(|it| it.own) {
            report(file, EditionObstacleReason::HashChanged(file.path().to_owned()));
        }
    }
    for (place, message) in find_breaks(tree, new, policy, options) {
        if let Some(old) = find_old(new.file(place.file)) {
            report(old, EditionObstacleReason::Break(message));
        }
    }
    faults
}

/// The faults, each at a file that was carried: itself, or one that it imports.
fn find_causes(
    tree: &Tree,
    texts: &BTreeMap<FileId, Vec<u8>>,
    faults: BTreeMap<FileId, EditionObstacle>,
) -> Vec<EditionObstacle> {
    let mut causes: BTreeMap<FileId, EditionObstacle> = BTreeMap::new();
    for (id, obstacle) in faults {
        if texts.contains_key(&id) {
            causes.insert(id, obstacle);
            continue;
        }
        let imported = tree.file(id).imports().filter_map(|it| it.file).map(|it| it.id);
        let mut carried: Vec<FileId> = imported.filter(|it| texts.contains_key(it)).collect();
        if carried.is_empty() {
            carried.extend(texts.keys());
        }
        for cause in carried {
            let place = tree.file(cause).package_place();
            causes.entry(cause).or_insert(EditionObstacle { place, ..obstacle.clone() });
        }
    }
    causes.into_values().collect()
}

/// An error of the compiler in a file that was not there before.
fn find_new_error(old: File<'_>, new: File<'_>) -> Option<String> {
    let known: Vec<&str> = iter_errors(old).collect();
    iter_errors(new).find(|it| !known.contains(it)).map(str::to_owned)
}

/// An error of the compiler in a file, with the name of the file.
fn find_error(file: File<'_>) -> Option<String> {
    iter_errors(file).next().map(|it| format!("{it}, in `{}`", file.path()))
}

/// The errors of the compiler in a file.
fn iter_errors<'t>(file: File<'t>) -> impl Iterator<Item = &'t str> {
    let problems = file.tree.problems().iter();
    let own = problems.filter(move |it| it.place.file == file.id && it.kind.is_error());
    own.map(|it| &*it.message)
}

/// A feature in effect that differs.
fn find_changed_feature(old: File<'_>, new: File<'_>) -> Option<EditionObstacleReason> {
    let before: FxHashMap<String, Vec<EffectiveFeature>> =
        old.elements().map(|it| (it.full_name(), list_effective_features(it))).collect();
    let mut count = 0;
    for element in new.elements().filter(|it| is_written(*it)) {
        let name = element.full_name();
        let Some(was) = before.get(&name) else {
            return Some(EditionObstacleReason::FeatureChanged {
                feature: "existence",
                element: name,
            });
        };
        count += 1;
        let is = list_effective_features(element);
        let mut pairs = was.iter().zip(&is);
        if let Some((_, differs)) = pairs.find(|(was, is)| was != is) {
            let feature = differs.name;
            return Some(EditionObstacleReason::FeatureChanged { feature, element: name });
        }
    }
    let written = old.elements().filter(|it| is_written(*it)).count();
    (count != written).then(|| EditionObstacleReason::FeatureChanged {
        feature: "existence",
        element: old.path().to_owned(),
    })
}

/// Returns true if somebody wrote an element: it is neither the oneof of an `optional` field of
/// proto3 nor the entry of a map.
fn is_written(element: Element<'_>) -> bool {
    match element {
        Element::Oneof(it) => !it.is_synthetic(),
        Element::Message(it) => !it.is_map_entry(),
        Element::Field(it) => !it.parent().is_some_and(|it| it.is_map_entry()),
        Element::Enum(_) | Element::EnumValue(_) | Element::Service(_) | Element::Method(_) => true,
    }
}

/// A feature that has an effect on an element.
#[derive(Clone, Copy, PartialEq, Eq)]
struct EffectiveFeature {
    name: &'static str,
    /// The number of the value.
    value: u8,
}

fn list_effective_features(element: Element<'_>) -> Vec<EffectiveFeature> {
    let feature = |name, value| EffectiveFeature { name, value };
    match element {
        Element::Message(it) => vec![
            feature("json_format", it.features().json_allowed.into()),
            feature("visibility", element.is_exported().into()),
        ],
        Element::Enum(it) => vec![
            feature("enum_type", it.features().openness as u8),
            feature("json_format", it.features().json_allowed.into()),
            feature("visibility", element.is_exported().into()),
        ],
        Element::Field(it) => list_field_features(it),
        Element::Oneof(_) | Element::EnumValue(_) | Element::Service(_) | Element::Method(_) => {
            Vec::new()
        }
    }
}

fn list_field_features(field: Field<'_>) -> Vec<EffectiveFeature> {
    let feature = |name, value: bool| EffectiveFeature { name, value: value.into() };
    let features = field.features();
    let presence = match field.presence() {
        Presence::Explicit => 0,
        Presence::Implicit => 1,
        Presence::LegacyRequired => 2,
    };
    let is_repeated = field.decl().label == Some(abide_syntax::FieldLabel::Repeated);
    let is_message = matches!(field.ty(), Type::Message(_));
    let is_text = matches!(field.ty(), Type::Scalar(Scalar::String | Scalar::Bytes));
    let is_string = field.ty() == Type::Scalar(Scalar::String);
    let is_packed = is_repeated && !is_message && !is_text && features.packed;
    let is_delimited = is_message && !field.is_map() && features.delimited;
    vec![
        EffectiveFeature { name: "field_presence", value: presence },
        feature("repeated_field_encoding", is_packed),
        feature("utf8_validation", is_string && features.utf8_validated),
        feature("message_encoding", is_delimited),
    ]
}

/// The places and messages of changes that break somebody.
fn find_breaks(
    tree: &Tree,
    new: &Tree,
    policy: &Policy,
    options: Options<'_>,
) -> Vec<(Place, String)> {
    let options = Options {
        scope: RuleScope::Changes,
        baseline: Some(tree),
        bump_baseline: None,
        counts_bump: false,
        changes: true,
        surfaces: &[],
        accepted: None,
        versions: false,
        partial: true,
        ..options
    };
    let mut found = Vec::new();
    for finding in check(new, policy, options).findings {
        let breaks = |it: Effects| it != Effects::NONE;
        let is_break =
            finding.change.as_ref().is_some_and(|it| breaks(it.effects) || breaks(it.may_break));
        if let Some(place) = finding.location.place().filter(|_| is_break) {
            found.push((place, finding.message));
        }
    }
    found
}
