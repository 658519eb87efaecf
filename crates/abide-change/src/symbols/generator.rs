//! The model of one generator, as a trait.

use abide_schema::{Element, File, Message};

use super::elements::{is_lite, join_nested_name};
use super::emitter::{Emitter, Unit};
use crate::languages::LanguageTable;

/// The model of what one language's generators emit.
pub(super) trait Generator: Sync {
    /// Returns what is data about the language.
    fn table(&self) -> &'static LanguageTable;

    /// The unit of a file's top level, unless an element sets another one.
    fn file_unit(&self, file: File<'_>) -> Unit;

    /// The unit of an element's names.
    fn unit(&self, element: Element<'_>) -> Unit {
        self.file_unit(element.file())
    }

    /// The name of a message in its unit, with the messages that enclose it.
    fn type_path(&self, message: Message<'_>) -> String {
        join_nested_name(message.parent(), message.name())
    }

    /// Returns true if a file in the place of the old unit that imports the new one
    /// publicly passes its names on: C++ includes it, Go emits aliases, Python
    /// imports `*`; Java knows no such thing.
    fn passes_on(&self, old: &Unit, new: &Unit) -> bool;

    /// Returns true if users import packages, to which any file may belong, not files.
    fn imports_packages(&self) -> bool {
        false
    }

    /// Returns true if code that uses an element is compiled against the name of its type.
    fn is_typed(&self) -> bool {
        true
    }

    /// Returns true if flags of the command line name what users import, which may be
    /// the same before and after.
    fn is_unnamed(&self, _: File<'_>) -> bool {
        false
    }

    /// Emits the symbols of a file as a whole.
    fn emit_file(&self, emit: &mut Emitter<'_>, file: File<'_>);

    /// Emits the symbols of an element itself, not of its children.
    fn emit_element(&self, emit: &mut Emitter<'_>, element: Element<'_>, flags: FileFlags);
}

/// The choices that options of a file make for every element in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileFlags {
    /// True if services have the classes of protoc itself.
    pub(super) generic_services: bool,
    /// True if messages and enums have descriptors and reflection.
    pub(super) reflection: bool,
}

impl FileFlags {
    pub(super) fn of(generator: &dyn Generator, file: File<'_>) -> FileFlags {
        let option = |name: &str| {
            file.options().and_then(|options| options.get_bool(file.tree, name)).unwrap_or(false)
        };
        FileFlags {
            generic_services: generator.table().generic_services.is_some_and(option),
            reflection: !is_lite(file),
        }
    }
}
