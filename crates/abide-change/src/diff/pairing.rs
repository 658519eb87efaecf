//! Pairs the elements of two trees, once and without judgement.
//!
//! Files are paired by path; packages, messages, enums and services by full
//! name; fields by number, for that is what they are on the wire, and then by
//! name; extensions by number and then by name, and then fields and extensions
//! that became each other by number; enum values by number and name, then by
//! name, then by what their names say without style, then by number; oneofs and methods by name. What is left on
//! both sides is paired by structure, so that what was renamed or moved is one
//! change. Ties are broken by full names, so the pairs depend on nothing but the
//! trees, and the same elements are paired when the sides are swapped.

use std::sync::atomic::AtomicBool;

use abide_schema::{
    Element, Enum, EnumValue, EnumValueId, Field, FieldId, File, Message, MessageId, Method, Oneof,
    Package, Service, Tree, Type,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Diff;
use super::pairs::{PairMap, pair_across, pair_by, pair_by_votes, pairs_by, twin};
use super::same_text::ComparedTexts;
use super::structure::may_be_renamed;
use crate::element::{base_name, have_equal_names, list_top_level, read_streaming};
use crate::value_words::split_value_names;

/// Pairs messages, enums and services, each by the same expression over their
/// pairs and those of both sides.
macro_rules! pair_types {
    ($diff:ident, |$pairs:ident, $old:ident, $new:ident| $pair:expr) => {
        let old: Vec<File<'t>> = $diff.old_files().collect();
        let new: Vec<File<'t>> = $diff.new_files().collect();
        pair_types!(@ $diff.messages, File::all_messages, old, new, $pairs, $old, $new, $pair);
        pair_types!(@ $diff.enums, File::all_enums, old, new, $pairs, $old, $new, $pair);
        pair_types!(@ $diff.services, File::services, old, new, $pairs, $old, $new, $pair);
    };
    (
        @ $known:expr, $all:expr, $before:ident, $after:ident,
        $pairs:ident, $old:ident, $new:ident, $pair:expr
    ) => {{
        let all = |files: &[File<'t>]| files.iter().copied().flat_map($all).collect::<Vec<_>>();
        let ($pairs, $old, $new) = (&mut $known, &all(&$before), &all(&$after));
        $pair
    }};
}

/// The judged files of a tree by path, each from the first root that has it.
fn first_copies<'t>(files: &[File<'t>]) -> FxHashMap<&'t str, File<'t>> {
    let mut first: FxHashMap<&str, File<'t>> = FxHashMap::default();
    for file in files.iter().copied().filter(|it| it.is_judged()) {
        let copy = first.entry(file.path()).or_insert(file);
        if file.decl().root < copy.decl().root {
            *copy = file;
        }
    }
    first
}

impl<'t> Diff<'t> {
    /// Pairs the elements of two trees.
    pub fn of(old: &'t Tree, new: &'t Tree) -> Diff<'t> {
        Diff::with_texts(old, new, &ComparedTexts::default())
    }

    /// Pairs the elements of two trees, given the texts that were compared before.
    pub(crate) fn with_texts(old: &'t Tree, new: &'t Tree, texts: &ComparedTexts) -> Diff<'t> {
        let mut diff = Diff {
            old,
            new,
            same: vec![None; old.files().len()],
            same_old: vec![None; new.files().len()],
            went_whole: Vec::new(),
            came_whole: Vec::new(),
            files: PairMap::default(),
            packages: PairMap::default(),
            messages: PairMap::default(),
            fields: PairMap::default(),
            converted: PairMap::default(),
            oneofs: PairMap::default(),
            enums: PairMap::default(),
            values: PairMap::default(),
            services: PairMap::default(),
            methods: PairMap::default(),
            users: Default::default(),
            extensions: Default::default(),
            weighed_shapes: AtomicBool::new(false),
        };
        diff.pair_files(texts);
        diff.pair_packages();
        diff.pair_types_by_name();
        // What is in a file that nobody could read may be what was renamed or moved.
        if !diff.is_incomplete() {
            diff.pair_packages_by_structure();
            diff.pair_types_of_renamed_packages();
            diff.pair_types_by_structure();
        }
        diff.pair_members();
        diff.pair_extensions();
        diff.pair_converted();
        diff.pair_homes();
        diff.went_whole = old.files().map(|it| diff.has_nothing_kept(it)).collect();
        diff.came_whole = new.files().map(|it| diff.has_nothing_known(it)).collect();
        diff
    }

    /// Returns true if neither an old file nor anything in it lives on.
    fn has_nothing_kept(&self, old: File<'t>) -> bool {
        self.new_file(old).is_none()
            && !list_top_level(old).any(|it| self.new_element(it).is_some())
    }

    /// Returns true if neither a new file nor anything in it was there before.
    fn has_nothing_known(&self, new: File<'t>) -> bool {
        self.old_file(new).is_none()
            && !list_top_level(new).any(|it| self.old_element(it).is_some())
    }

    fn pair_files(&mut self, texts: &ComparedTexts) {
        let old: Vec<File<'t>> = self.old.files().collect();
        let new: Vec<File<'t>> = self.new.files().collect();
        // Two roots may hold one path: who reads with all roots takes the first copy, so a copy that comes
        // before the one that there was takes its place.
        let first = (first_copies(&old), first_copies(&new));
        let moved = first.0.iter().filter_map(|(path, old)| Some((*old, *first.1.get(path)?)));
        let moved = moved.filter(|(old, new)| old.decl().root != new.decl().root);
        self.files.add_all(moved.map(|(old, new)| (old.id, new.id)).collect());
        pair_by(&mut self.files, &old, &new, |it| it.id, |it| (it.decl().root, it.path()));
        pair_by(&mut self.files, &old, &new, |it| it.id, |it| it.path());
        let equal: Vec<(File<'t>, File<'t>)> = old
            .into_par_iter()
            .filter_map(|old| Some((old, self.new_file(old)?)))
            .filter(|&(old, new)| texts.have_equal_tokens(old, new))
            .collect();
        for (old, new) in &equal {
            self.same[old.id.0 as usize] = Some(new.id);
            self.same_old[new.id.0 as usize] = Some(old.id);
        }
        // The names in equal texts may lead to other types now.
        let turned: Vec<(File<'t>, File<'t>)> =
            equal.into_par_iter().filter(|&(old, new)| !self.has_equal_links(old, new)).collect();
        for (old, new) in turned {
            self.same[old.id.0 as usize] = None;
            self.same_old[new.id.0 as usize] = None;
        }
    }

    /// Returns true if each name in two equal texts leads to types of one name.
    fn has_equal_links(&self, old: File<'t>, new: File<'t>) -> bool {
        if old.is_linked_as(new) {
            return true;
        }
        let equal_messages = |old: Option<Message<'t>>, new: Option<Message<'t>>| match (old, new) {
            (None, None) => true,
            (Some(old), Some(new)) => match twin!(self.same, old.id) {
                Some(twin) => twin == new.id,
                None => have_equal_names(Element::Message(old), Element::Message(new)),
            },
            _ => false,
        };
        let equal_enums = |old: Enum<'t>, new: Enum<'t>| match twin!(self.same, old.id) {
            Some(twin) => twin == new.id,
            None => have_equal_names(Element::Enum(old), Element::Enum(new)),
        };
        let fields = || {
            old.all_fields().zip(new.all_fields()).all(|(old, new)| {
                let types = match (old.ty(), new.ty()) {
                    (Type::Enum(before), Type::Enum(after)) => {
                        equal_enums(self.old.enumeration(before), self.new.enumeration(after))
                    }
                    (Type::Message(before), Type::Message(after)) => equal_messages(
                        Some(self.old.message(before)),
                        Some(self.new.message(after)),
                    ),
                    (before, after) => before == after,
                };
                types && equal_messages(old.extendee(), new.extendee())
            })
        };
        let methods = || {
            let methods = old.services().flat_map(Service::methods);
            methods.zip(new.services().flat_map(Service::methods)).all(|(old, new)| {
                equal_messages(old.input(), new.input())
                    && equal_messages(old.output(), new.output())
            })
        };
        fields() && methods()
    }

    fn pair_packages(&mut self) {
        let old: Vec<Package<'t>> = self.old.packages().collect();
        let new: Vec<Package<'t>> = self.new.packages().collect();
        pair_by(&mut self.packages, &old, &new, |it| it.id, Package::name);
    }

    fn pair_types_by_name(&mut self) {
        // Two roots may hold one name: what has it in a pair of files is first.
        let files: Vec<(File<'t>, File<'t>)> =
            self.old_files().filter_map(|old| Some((old, self.new_file(old)?))).collect();
        let pairs: Vec<_> = files
            .into_par_iter()
            .with_min_len(16)
            .map(|(old, new)| {
                let name = Message::full_name;
                let messages = pairs_by(old.all_messages(), new.all_messages(), |it| it.id, name);
                let enums = pairs_by(old.all_enums(), new.all_enums(), |it| it.id, Enum::full_name);
                let name = Service::full_name;
                (messages, enums, pairs_by(old.services(), new.services(), |it| it.id, name))
            })
            .collect();
        for (messages, enums, services) in pairs {
            self.messages.add_all(messages);
            self.enums.add_all(enums);
            self.services.add_all(services);
        }
        pair_types!(self, |pairs, old, new| {
            pair_by(pairs, old, new, |it| it.id, |it| it.full_name());
        });
    }

    /// Pairs types with the same name in a package that is called otherwise now.
    fn pair_types_of_renamed_packages(&mut self) {
        pair_types!(self, |pairs, old, new| {
            pair_across(
                pairs,
                old,
                new,
                |it| it.id,
                |it| {
                    let home = *self.packages.new_of.get(&it.package().id)?;
                    Some((home, it.relative_name()))
                },
                |it| {
                    let home = it.package();
                    let is_paired = self.packages.old_of.contains_key(&home.id);
                    is_paired.then(|| (home.id, it.relative_name()))
                },
            );
        });
    }

    /// Files and packages by what they hold: one that is gone was renamed where
    /// more than half of it, or of the other, is in the other now.
    fn pair_homes(&mut self) {
        let (mut files, mut packages) = (Vec::new(), Vec::new());
        for old in self.old_files().filter(|it| it.is_judged()) {
            for new in list_top_level(old).filter_map(|it| self.new_element(it)) {
                files.push((old.id, new.file().id));
                packages.push((old.package().id, new.package().id));
            }
        }
        let sizes = |files: &mut dyn Iterator<Item = File<'t>>| -> usize {
            files.map(|it| list_top_level(it).count()).sum()
        };
        let (before, after) = (self.old, self.new);
        pair_by_votes(&mut self.files, files, |shared, old, new| {
            let old = sizes(&mut std::iter::once(before.file(old)));
            shared * 2 > old.min(sizes(&mut std::iter::once(after.file(new))))
        });
        pair_by_votes(&mut self.packages, packages, |shared, old, new| {
            if !may_be_renamed(before.package(old), after.package(new)) {
                return false;
            }
            let old = sizes(&mut before.package(old).files());
            shared * 2 > old.min(sizes(&mut after.package(new).files()))
        });
        // A file that declares nothing goes by its name.
        let bare = |it: &File<'t>| it.is_judged() && list_top_level(*it).next().is_none();
        let old: Vec<File<'t>> = self.old_files().filter(bare).collect();
        let new: Vec<File<'t>> = self.new_files().filter(bare).collect();
        pair_across(
            &mut self.files,
            &old,
            &new,
            |it| it.id,
            |it| Some((*self.packages.new_of.get(&it.package().id)?, base_name(it))),
            |it| Some((it.package().id, base_name(it))),
        );
    }

    fn pair_members(&mut self) {
        let pairs = self.messages.collect_sorted();
        let alike: Vec<bool> = pairs.par_iter().map(|&pair| self.have_equal_fields(pair)).collect();
        for ((old, new), alike) in pairs.into_iter().zip(alike) {
            let (old, new) = (self.old.message(old), self.new.message(new));
            if alike {
                for (old, new) in old.fields().zip(new.fields()) {
                    self.fields.add(old.id, new.id);
                    self.pair_entries(old, new);
                }
            } else {
                self.pair_fields(old, new);
            }
            self.pair_oneofs(old, new);
        }
        for (old, new) in self.enums.collect_sorted() {
            self.pair_values(self.old.enumeration(old), self.new.enumeration(new));
        }
        for (old, new) in self.services.collect_sorted() {
            let view = |tree, id| Service { tree, id };
            self.pair_methods(view(self.old, old), view(self.new, new));
        }
    }

    /// Returns true if two messages have fields of the same numbers and names, in the
    /// same order.
    fn have_equal_fields(&self, (old, new): (MessageId, MessageId)) -> bool {
        let key = |it: Field<'t>| (it.number(), it.name());
        self.old.message(old).fields().map(key).eq(self.new.message(new).fields().map(key))
    }

    fn pair_fields(&mut self, old: Message<'t>, new: Message<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.fields().collect(), new.fields().collect());
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| (it.number(), it.name()));
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| it.number());
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| it.name());
        for old in before {
            if let Some(new) = self.new_field(old) {
                self.pair_entries(old, new);
            }
        }
    }

    /// The entry of a map goes with its field, whatever it is called.
    fn pair_entries(&mut self, old: Field<'t>, new: Field<'t>) {
        if old.is_map()
            && new.is_map()
            && let (Some(old), Some(new)) = (old.message_type(), new.message_type())
            && self.messages.add(old.id, new.id)
        {
            self.pair_fields(old, new);
        }
    }

    fn pair_oneofs(&mut self, old: Message<'t>, new: Message<'t>) {
        let written = |message: Message<'t>| -> Vec<Oneof<'t>> {
            message.oneofs().filter(|it| !it.is_synthetic()).collect()
        };
        let (before, after) = (written(old), written(new));
        pair_by(&mut self.oneofs, &before, &after, |it| it.id, |it| it.name());
        let shared = old.fields().filter_map(|field| {
            let (old, new) = (field.oneof()?, self.new_field(field)?.oneof()?);
            (!old.is_synthetic() && !new.is_synthetic()).then_some((old.id, new.id))
        });
        let shared = shared.collect();
        pair_by_votes(&mut self.oneofs, shared, |_, _, _| true);
    }

    fn pair_values(&mut self, old: Enum<'t>, new: Enum<'t>) {
        let key = |it: EnumValue<'t>| (it.number(), it.name());
        if old.values().map(key).eq(new.values().map(key)) {
            for (old, new) in old.values().zip(new.values()) {
                self.values.add(old.id, new.id);
            }
            return;
        }
        let (before, after): (Vec<_>, Vec<_>) = (old.values().collect(), new.values().collect());
        pair_by(&mut self.values, &before, &after, |it| it.id, key);
        // A name that is still there was not renamed: its number changed.
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| it.name());
        // Nor was one whose name is only spelled in another style.
        let stems: [FxHashMap<EnumValueId, String>; 2] = [old, new].map(|it| {
            let words = split_value_names(it).into_iter().map(|it| it.concat());
            it.values().map(|it| it.id).zip(words).collect()
        });
        let stem = |of: usize, it: EnumValue<'t>| stems[of].get(&it.id).filter(|it| !it.is_empty());
        pair_across(
            &mut self.values,
            &before,
            &after,
            |it| it.id,
            |it| Some((it.number(), stem(0, it)?)),
            |it| Some((it.number(), stem(1, it)?)),
        );
        pair_across(
            &mut self.values,
            &before,
            &after,
            |it| it.id,
            |it| stem(0, it),
            |it| stem(1, it),
        );
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| it.number());
    }

    fn pair_methods(&mut self, old: Service<'t>, new: Service<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.methods().collect(), new.methods().collect());
        pair_by(&mut self.methods, &before, &after, |it| it.id, |it| it.name());
        // A method without a name is told by what it alone takes and gives.
        let twin = |id| self.messages.find_twin(&self.same, id);
        let old_key = |it: Method<'t>| {
            let (input, output) = (twin(it.input()?.id)?, twin(it.output()?.id)?);
            Some((read_streaming(it), input, output))
        };
        let new_key = |it: Method<'t>| Some((read_streaming(it), it.input()?.id, it.output()?.id));
        let mut counts: FxHashMap<_, [usize; 2]> = FxHashMap::default();
        for key in before.iter().filter_map(|it| old_key(*it)) {
            counts.entry(key).or_default()[0] += 1;
        }
        for key in after.iter().filter_map(|it| new_key(*it)) {
            counts.entry(key).or_default()[1] += 1;
        }
        let is_own = |key: &_| counts.get(key) == Some(&[1, 1]);
        pair_across(
            &mut self.methods,
            &before,
            &after,
            |it| it.id,
            |it| old_key(it).filter(is_own),
            |it| new_key(it).filter(is_own),
        );
    }

    fn pair_extensions(&mut self) {
        let extensions = |files: &mut dyn Iterator<Item = File<'t>>| -> Vec<Field<'t>> {
            let all = files.flat_map(File::all_fields);
            all.filter(|field| field.is_extension()).collect()
        };
        let before = extensions(&mut self.old_files());
        let after = extensions(&mut self.new_files());
        pair_by(
            &mut self.fields,
            &before,
            &after,
            |it| it.id,
            |it| (it.extendee().map(Message::full_name), it.number(), it.full_name()),
        );
        pair_across(
            &mut self.fields,
            &before,
            &after,
            |it| it.id,
            |it| Some((self.messages.find_twin(&self.same, it.extendee()?.id)?, it.number())),
            |it| Some((it.extendee()?.id, it.number())),
        );
        // What extends another message is another extension.
        pair_across(
            &mut self.fields,
            &before,
            &after,
            |it| it.id,
            |it| Some((self.messages.find_twin(&self.same, it.extendee()?.id)?, it.full_name())),
            |it| Some((it.extendee()?.id, it.full_name())),
        );
        // Of one that does not link nobody knows what it extends.
        let unlinked = |all: &[Field<'t>]| -> Vec<Field<'t>> {
            all.iter().copied().filter(|it| it.extendee().is_none()).collect()
        };
        for (old, new) in [(&unlinked(&before), &after), (&before, &unlinked(&after))] {
            pair_by(&mut self.fields, old, new, |it| it.id, Field::full_name);
        }
    }

    /// Pairs what is left of fields and extensions of one message: one that became the other kept
    /// its number, and the wire knows nothing else of either.
    fn pair_converted(&mut self) {
        let in_map = |it: &Field<'t>| it.parent().is_some_and(Message::is_map_entry);
        let free = |files: Vec<File<'t>>, pairs: &FxHashMap<FieldId, FieldId>| {
            let all = files.into_iter().flat_map(File::all_fields);
            let left = all.filter(|it| !pairs.contains_key(&it.id) && !in_map(it));
            left.partition::<Vec<Field<'t>>, _>(|it| it.is_extension())
        };
        let (old_extensions, old_fields) = free(self.old_files().collect(), &self.fields.new_of);
        let (new_extensions, new_fields) = free(self.new_files().collect(), &self.fields.old_of);
        for (old, new) in [(old_fields, new_extensions), (old_extensions, new_fields)] {
            pair_across(
                &mut self.converted,
                &old,
                &new,
                |it| it.id,
                |it| {
                    let holder = it.containing_message()?.id;
                    Some((self.messages.find_twin(&self.same, holder)?, it.number()))
                },
                |it| Some((it.containing_message()?.id, it.number())),
            );
        }
    }
}
