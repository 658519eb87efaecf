//! Trees with files in an edition that is not known, to compare them with another tree.
//!
//! A feature that such a file sets is known. What it leaves to its edition is not: it is taken from
//! the same element of the other tree, so that it did not change.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ids::FileId;
use crate::link::features::{FileFeatures, resolve_from};
use crate::protobuf::Edition;
use crate::tree::{DefaultVisibility, Features, Field, File, LinkedFile, Tree};

impl Tree {
    /// This tree as it can be compared with `other`, if either has files in an edition that is not
    /// known: features that one of them does not know are those that the other has. `None` if every
    /// edition is known.
    #[must_use]
    pub fn with_common_features(&self, other: &Tree) -> Option<Tree> {
        if !has_unknown_editions(self) && !has_unknown_editions(other) {
            return None;
        }
        let theirs = KnownFeatures::collect(other);
        let merged = self.files().map(|file| {
            let is_known = file.decl().edition.is_known();
            let counterpart = theirs.editions.get(file.path()).copied();
            let has_unknown_counterpart = counterpart.is_some_and(|it| !it.is_known());
            if is_known && !has_unknown_counterpart {
                return Arc::clone(&self.files[file.id.0 as usize]);
            }
            Arc::new(theirs.merge_into(self, file, counterpart))
        });
        Some(self.with_files(merged.collect()))
    }
}

fn has_unknown_editions(tree: &Tree) -> bool {
    tree.files.iter().any(|it| !it.decl.edition.is_known())
}

/// The features of an element if its edition leaves them at one end, and at the other: what is equal
/// in both does not depend on the edition.
type Bounds = [Features; 2];

/// What is known of the features of everything in a tree, by name.
struct KnownFeatures<'t> {
    editions: FxHashMap<&'t str, Edition>,
    elements: FxHashMap<String, Bounds>,
}

impl<'t> KnownFeatures<'t> {
    fn collect(tree: &'t Tree) -> KnownFeatures<'t> {
        let mut known =
            KnownFeatures { editions: FxHashMap::default(), elements: FxHashMap::default() };
        for file in tree.files() {
            known.editions.insert(file.path(), file.decl().edition);
            let [low, high] = find_bounds(tree, file);
            known.elements.insert(file.path().to_owned(), [low.file, high.file]);
            for it in file.all_messages() {
                let at = it.id.index as usize;
                known.elements.insert(it.full_name(), [low.messages[at], high.messages[at]]);
            }
            for it in file.all_enums() {
                let at = it.id.index as usize;
                known.elements.insert(it.full_name(), [low.enums[at], high.enums[at]]);
            }
            for it in file.all_fields() {
                let at = it.id.index as usize;
                known.elements.insert(name_field(it), [low.fields[at], high.fields[at]]);
            }
        }
        known
    }

    /// A file with what is known on either side; in the edition of the other side, if only that is
    /// known, so that the defaults of languages are the same as well.
    fn merge_into(&self, tree: &Tree, file: File<'_>, counterpart: Option<Edition>) -> LinkedFile {
        let [low, high] = find_bounds(tree, file);
        let merge = |name: &str, own: Bounds| merge_features(own, self.elements.get(name).copied());
        let mut merged = tree.linked(file.id).copy();
        merged.is_reduced = true;
        merged.features = merge(file.path(), [low.file, high.file]);
        for it in file.all_messages() {
            let at = it.id.index as usize;
            let own = [low.messages[at], high.messages[at]];
            merged.messages[at].features = merge(&it.full_name(), own);
        }
        for it in file.all_enums() {
            let at = it.id.index as usize;
            merged.enums[at].features = merge(&it.full_name(), [low.enums[at], high.enums[at]]);
        }
        for it in file.all_fields() {
            let at = it.id.index as usize;
            merged.fields[at].features = merge(&name_field(it), [low.fields[at], high.fields[at]]);
        }
        if let Some(edition) = counterpart.filter(|_| !file.decl().edition.is_known()) {
            Arc::make_mut(&mut merged.decl).edition = edition;
        }
        merged
    }
}

/// Names a field by what identifies it on the wire.
fn name_field(field: Field<'_>) -> String {
    let around = if field.is_extension() { field.extendee() } else { field.parent() };
    let around = around.map(|it| it.full_name()).unwrap_or_default();
    format!("{around}#{}", field.number())
}

fn find_bounds(tree: &Tree, file: File<'_>) -> [FileFeatures; 2] {
    let linked = tree.linked(FileId(file.id.0));
    if file.decl().edition.is_known() {
        let known = FileFeatures::of(linked);
        return [known.clone(), known];
    }
    // They differ in every feature.
    let low = Features::from_edition(Edition::Proto2);
    [resolve_from(&linked.decl, low), resolve_from(&linked.decl, low.opposite())]
}

/// The features of an element: those that it knows, else those that the other side knows, else any
/// that both sides are given.
fn merge_features(own: Bounds, theirs: Option<Bounds>) -> Features {
    let neither = Features::from_edition(Edition::NEWEST);
    macro_rules! merge {
        ($($feature:ident)*) => {
            Features {
                $($feature: match (own, theirs) {
                    ([low, high], _) if low.$feature == high.$feature => low.$feature,
                    (_, Some([low, high])) if low.$feature == high.$feature => low.$feature,
                    _ => neither.$feature,
                },)*
                // `export` and `local` decide before it, and only one side may have them: what
                // follows from the default of an edition that is not known stays unknown.
                default_visibility: match own {
                    [low, high] if low.default_visibility == high.default_visibility => {
                        low.default_visibility
                    }
                    _ => DefaultVisibility::Unknown,
                },
            }
        };
    }
    merge! {
        presence openness packed utf8_validated delimited json_allowed naming_style
        limits_enforced
    }
}
