//! Finds which fields the options of a source file set, as paths of locations.

use abide_syntax::OptionId;
use rustc_hash::FxHashMap;

use crate::decl::RawOptions;
use crate::dynamic::{Entry, Message};
use crate::view::{Cardinality, Field, File};

/// The field that an option sets, below the options message of its element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OptionPath {
    /// The numbers of the fields from the outermost to the innermost.
    pub(crate) numbers: Vec<u32>,
    /// Whether the innermost field is repeated, so that each option adds to it.
    pub(crate) repeated: bool,
    /// Which of the fields has source-only retention, so that no descriptor has
    /// it.
    pub(crate) source_only: Option<usize>,
}

/// The paths of the options of a file that could be interpreted.
pub(crate) fn option_paths(file: File<'_>) -> FxHashMap<OptionId, OptionPath> {
    let mut paths = Paths { file, found: FxHashMap::default() };
    paths.add(file.decl().options, file.options());
    for element in file.elements() {
        paths.add(element.raw_options(), element.options());
    }
    for (decl, options) in file.decl().ranges.iter().zip(&file.tree.linked(file.id).ranges) {
        paths.add(decl.options, options.as_deref());
    }
    paths.found
}

struct Paths<'t> {
    file: File<'t>,
    found: FxHashMap<OptionId, OptionPath>,
}

impl<'t> Paths<'t> {
    fn add(&mut self, raw: RawOptions, options: Option<&'t Message>) {
        let decl = self.file.decl();
        let (RawOptions::Syntax(slice), Some(options), Some(ast)) = (raw, options, decl.ast())
        else {
            return;
        };
        // An entry is identified by the place of its key, the last part of a name.
        let mut deepest = 0;
        let mut by_key: FxHashMap<u32, OptionId> = FxHashMap::default();
        for &id in &decl.option_ids[slice.range()] {
            let parts = ast.parts(&ast.options[id as usize]);
            deepest = deepest.max(parts.len());
            by_key.extend(parts.last().map(|part| (part.span.start, id)));
        }
        self.walk(options, deepest, &by_key, &mut Vec::new());
    }

    /// Recurses only as deep as names have parts.
    fn walk(
        &mut self,
        message: &'t Message,
        depth: usize,
        by_key: &FxHashMap<u32, OptionId>,
        above: &mut Vec<&'t Entry>,
    ) {
        for entry in &message.entries {
            above.push(entry);
            if let Some(&id) = by_key.get(&entry.key.start) {
                let path = self.path(above);
                self.found.entry(id).or_insert(path);
            }
            if let Some(inner) = entry.value.as_message()
                && depth > 1
            {
                self.walk(inner, depth - 1, by_key, above);
            }
            above.pop();
        }
    }

    fn path(&self, entries: &[&Entry]) -> OptionPath {
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
