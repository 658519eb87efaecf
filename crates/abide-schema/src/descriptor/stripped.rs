//! Trees as descriptor sets show them: without the options that stay in the source.
//!
//! protoc leaves options with `retention = RETENTION_SOURCE` out of the sets that it writes, so a
//! tree that was read from one does not know them.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::dynamic::Message;
use crate::tree::{Features, Field, File, LinkedFile, OptionsLink, Tree};

impl Tree {
    /// Returns true if the writer of the descriptors that this tree was read from seems to have
    /// left out the options that stay in the source: its judged files come from descriptors, and
    /// none of them has such an option. Some writers, such as buf, keep them.
    pub fn is_stripped(&self) -> bool {
        let mut described = self.files().filter(|it| it.is_described()).peekable();
        let names = SourceOnly::default();
        described.peek().is_some()
            && !described.any(|it| names.is_used_in(self, self.linked(it.id)))
    }

    /// This tree as a descriptor set shows it, to compare it with `other`: without the options that
    /// stay in the source, here or there. Everything has the ids and the places that it has here.
    /// `None` if nothing is left out.
    #[must_use]
    pub fn without_source_options(&self, other: &Tree) -> Option<Tree> {
        let names = SourceOnly::of(other);
        let stripped: Vec<Option<LinkedFile>> = (self.files.iter())
            .map(|file| names.is_used_in(self, file).then(|| names.without(self, file)))
            .collect();
        if stripped.iter().all(Option::is_none) {
            return None;
        }
        let files = self.files.iter().zip(stripped);
        let files =
            files.map(|(file, stripped)| stripped.map_or_else(|| Arc::clone(file), Arc::new));
        Some(self.with_files(files.collect()))
    }
}

impl File<'_> {
    /// Returns true if it has fewer options here than its text: those that stay in the source were
    /// left out, to compare it with a descriptor set.
    pub fn is_reduced(self) -> bool {
        self.tree.linked(self.id).is_reduced
    }

    /// Returns true if it is judged and was read from a descriptor.
    fn is_described(self) -> bool {
        self.is_judged() && self.decl().ast().is_none()
    }
}

/// The full names of options that stay in the source in another tree.
#[derive(Default)]
struct SourceOnly(FxHashSet<String>);

impl SourceOnly {
    fn of(tree: &Tree) -> SourceOnly {
        let fields = tree.files().flat_map(File::all_fields);
        SourceOnly(fields.filter(|it| it.is_source_only()).map(Field::full_name).collect())
    }

    /// Returns true if a field stays in the source, in its own tree or in the other one.
    fn has(&self, field: Field<'_>) -> bool {
        field.is_source_only() || !self.0.is_empty() && self.0.contains(&field.full_name())
    }

    /// Returns true if any option of a file does.
    fn is_used_in(&self, tree: &Tree, file: &LinkedFile) -> bool {
        let mut all = all_options(file).flatten();
        all.any(|it| !it.is_without(tree, &|field| self.has(field)))
    }

    /// A file without these options. What features came from them is not known.
    fn without(&self, tree: &Tree, file: &LinkedFile) -> LinkedFile {
        let strip = |options: &OptionsLink| -> OptionsLink {
            let options = options.as_deref()?;
            let without = options.without(tree, &|field| self.has(field));
            Some(Box::new(without.into_owned()))
        };
        let unknown = Features::without_source(file.decl.edition);
        let features = |features: Features| Features {
            naming_style: unknown.naming_style,
            limits_enforced: unknown.limits_enforced,
            default_visibility: unknown.default_visibility,
            ..features
        };
        let mut stripped = file.copy();
        stripped.is_reduced = true;
        stripped.features = features(file.features);
        stripped.options = strip(&file.options);
        for options in [
            &mut stripped.oneofs,
            &mut stripped.values,
            &mut stripped.services,
            &mut stripped.ranges,
        ] {
            options.iter_mut().for_each(|it| *it = strip(it));
        }
        for message in &mut stripped.messages {
            (message.features, message.options) =
                (features(message.features), strip(&message.options));
        }
        for field in &mut stripped.fields {
            (field.features, field.options) = (features(field.features), strip(&field.options));
        }
        for item in &mut stripped.enums {
            (item.features, item.options) = (features(item.features), strip(&item.options));
        }
        for method in &mut stripped.methods {
            method.options = strip(&method.options);
        }
        stripped
    }
}

/// The options of everything in a file that has any.
fn all_options(file: &LinkedFile) -> impl Iterator<Item = Option<&Message>> {
    [file.options.as_deref()]
        .into_iter()
        .chain(file.messages.iter().map(|it| it.options.as_deref()))
        .chain(file.fields.iter().map(|it| it.options.as_deref()))
        .chain(file.enums.iter().map(|it| it.options.as_deref()))
        .chain(file.methods.iter().map(|it| it.options.as_deref()))
        .chain(file.oneofs.iter().map(|it| it.as_deref()))
        .chain(file.values.iter().map(|it| it.as_deref()))
        .chain(file.services.iter().map(|it| it.as_deref()))
        .chain(file.ranges.iter().map(|it| it.as_deref()))
}
