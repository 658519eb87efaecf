//! Finds which fields the options of a source file set, as paths of locations.

use crate::decl::RawOptions;
use crate::dynamic::{Entry, Message};
use crate::tree::{Cardinality, Field, File};
use abide_syntax::OptionId;

/// The field that an option sets, below the options message of its element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OptionPath {
    /// The numbers of the fields from the outermost to the innermost.
    pub(crate) numbers: Vec<u32>,
    /// True if the innermost field is repeated, so that each option adds to it.
    pub(crate) repeated: bool,
    /// The field with source-only retention, if any, so that no descriptor has
    /// it.
    pub(crate) source_only: Option<usize>,
}

/// The paths of the options of a file, by their ids; `None` for those that could not be interpreted.
pub(crate) fn collect_option_paths(file: File<'_>) -> Vec<Option<OptionPath>> {
    let count = file.decl().ast().map_or(0, |ast| ast.options.len());
    let mut paths = OptionPathBuilder { file, found: vec![None; count], keys: Vec::new() };
    paths.add(file.decl().options, file.options());
    for element in file.elements() {
        paths.add(element.raw_options(), element.options());
    }
    for (decl, options) in file.decl().ranges.iter().zip(&file.tree.linked(file.id).ranges) {
        paths.add(decl.options, options.as_deref());
    }
    paths.found
}

struct OptionPathBuilder<'t> {
    file: File<'t>,
    found: Vec<Option<OptionPath>>,
    /// The places of the last parts of the names of an element's options, in the order of the
    /// text, with the options. An entry is identified by the place of its key.
    keys: Vec<(u32, OptionId)>,
}

impl<'t> OptionPathBuilder<'t> {
    fn add(&mut self, raw: RawOptions, options: Option<&'t Message>) {
        let decl = self.file.decl();
        let (RawOptions::Syntax(slice), Some(options), Some(ast)) = (raw, options, decl.ast())
        else {
            return;
        };
        let mut deepest = 0;
        self.keys.clear();
        for &id in &decl.option_ids[slice.range()] {
            let parts = ast.name_parts(&ast.options[id as usize]);
            deepest = deepest.max(parts.len());
            self.keys.extend(parts.last().map(|part| (part.span.start, id)));
        }
        self.walk(options, deepest, &mut Vec::new());
    }

    /// Recurses only as deep as names have parts.
    fn walk(&mut self, message: &'t Message, depth: usize, above: &mut Vec<&'t Entry>) {
        for entry in &message.entries {
            above.push(entry);
            if let Ok(at) = self.keys.binary_search_by_key(&entry.key.start, |it| it.0) {
                let id = self.keys[at].1 as usize;
                if self.found[id].is_none() {
                    self.found[id] = Some(self.to_option_path(above));
                }
            }
            if let Some(inner) = entry.value.as_message()
                && depth > 1
            {
                self.walk(inner, depth - 1, above);
            }
            above.pop();
        }
    }

    fn to_option_path(&self, entries: &[&Entry]) -> OptionPath {
        let fields = || entries.iter().map(|entry| self.file.tree.field(entry.field));
        // Nothing inside a group is left out.
        let open = fields().position(|field| field.features().delimited).unwrap_or(entries.len());
        OptionPath {
            numbers: fields().map(|field| field.number() as u32).collect(),
            repeated: fields()
                .next_back()
                .is_some_and(|it| it.cardinality() != Cardinality::Singular),
            source_only: fields().take(open + 1).position(Field::is_source_only),
        }
    }
}
