//! The symbols that users of generated code lose between two trees.

use std::fmt;

use abide_schema::{Element, EnumId, File, MessageId, OneofId, Type};

use super::elements::list_public_imports;
use super::emitted::{collect_emitted, list_symbols_of_file, list_symbols_with};
use super::emitter::{GeneratedSymbol, Unit};
use super::generator::{FileFlags, Generator};
use super::language::Language;
use super::names::GeneratedNames;
use crate::surface::Surface;

/// Answers whether elements of an old and a new tree are the same.
pub(crate) trait Correspondence {
    /// The names in generated code of the old tree and the new one.
    fn names(&self) -> [&GeneratedNames; 2];
    /// Returns true if this file of the old tree became that file of the new one.
    fn same_file(&self, old: File<'_>, new: File<'_>) -> bool;
    /// Returns true if this message of the old tree became that of the new one.
    fn same_message(&self, old: MessageId, new: MessageId) -> bool;
    /// Returns true if this enum of the old tree became that of the new one.
    fn same_enum(&self, old: EnumId, new: EnumId) -> bool;
    /// Returns true if this oneof of the old tree became that of the new one.
    fn same_oneof(&self, old: OneofId, new: OneofId) -> bool;
}

/// A symbol that users had and that was removed or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The name no longer exists.
    Removed {
        /// The symbol that users wrote.
        old: GeneratedSymbol,
    },
    /// The name still exists, but has another signature.
    Changed {
        /// The symbol that users wrote.
        old: GeneratedSymbol,
        /// The new symbol.
        new: GeneratedSymbol,
    },
    /// The name is the same, but it is a case of another oneof.
    Regrouped {
        /// The symbol that users write.
        old: GeneratedSymbol,
        /// The name of the old oneof.
        from: String,
        /// The name of the new one.
        to: String,
    },
    /// The symbol is the same, but must be included or imported from elsewhere.
    Moved {
        /// The symbol that users write.
        old: GeneratedSymbol,
        /// The old header or import path.
        from: String,
        /// The new header or import path.
        to: String,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Removed { old } => write!(f, "`{}` was removed", old.name),
            Loss::Changed { old, new } => {
                let (was, is) = (&old.signature, &new.signature);
                write!(f, "`{}` changed from `{was}` to `{is}`", old.name)
            }
            Loss::Regrouped { old, from, to } => {
                write!(f, "`{}` moved from oneof `{from}` to oneof `{to}`", old.name)
            }
            Loss::Moved { old, from, to } => {
                write!(f, "`{}` moved from `{from}` to `{to}`", old.name)
            }
        }
    }
}

/// A symbol of generated code that was removed or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostSymbol {
    /// The language.
    pub surface: Surface,
    /// The symbol as a user writes it, and how it changed.
    pub symbol: String,
}

/// The first symbol of the old element that its new counterpart does not have, or
/// has with another signature.
///
/// Enclosing elements that are paired count as the same: the rename of a message is
/// a loss of the message, not of its fields. An element that moved to another file
/// or message is compared by its full names.
pub(crate) fn find_loss(
    language: Language,
    old: Element<'_>,
    new: Element<'_>,
    pairs: &dyn Correspondence,
) -> Option<Loss> {
    let generator = language.generator();
    let (old_unit, new_unit) = (generator.unit(old), generator.unit(new));
    let same_file = pairs.same_file(old.file(), new.file());
    // What an option of the file removes is one loss of the file, not one for each
    // element.
    let flags = FileFlags::of(generator, old.file());
    let new_flags = if same_file { flags } else { FileFlags::of(generator, new.file()) };
    let provided = || provides(generator, (&old_unit, old.file()), (&new_unit, new.file()));
    let enclosed = match (old.parent(), new.parent()) {
        (Some(Element::Message(old)), Some(Element::Message(new))) => {
            pairs.same_message(old.id, new.id)
        }
        (Some(Element::Enum(old)), Some(Element::Enum(new))) => pairs.same_enum(old.id, new.id),
        (Some(Element::Service(_)), Some(Element::Service(_))) => true,
        (None, None) => {
            let by_default = |unit: &Unit, file| unit.nested == generator.file_unit(file).nested;
            let same_place = old_unit.nested == new_unit.nested
                || by_default(&old_unit, old.file()) && by_default(&new_unit, new.file());
            same_file && same_place || provided()
        }
        _ => false,
    };
    let unnamed = generator.is_unnamed(old.file());
    let enclosed = enclosed || unnamed && old.parent().is_none() && new.parent().is_none();
    let [old_names, new_names] = pairs.names();
    let old_symbols = collect_emitted(generator, old_names, old, &old_unit, flags);
    let new_symbols = collect_emitted(generator, new_names, new, &new_unit, new_flags);
    let is_reached =
        enclosed || unnamed || same_file || old_unit.import == new_unit.import || provided();
    find_first_loss(&old_symbols, &new_symbols, enclosed, pairs).or_else(|| {
        let old = old_symbols.into_iter().next().filter(|_| !is_reached)?;
        Some(Loss::Moved { old, from: old_unit.import, to: new_unit.import })
    })
}

/// Like [`find_loss`], for a pair of files.
pub(crate) fn find_loss_of_file(
    language: Language,
    old: File<'_>,
    new: File<'_>,
    pairs: &dyn Correspondence,
) -> Option<Loss> {
    if language.generator().is_unnamed(old) {
        return None;
    }
    let (old, new) = (list_symbols_of_file(language, old), list_symbols_of_file(language, new));
    find_first_loss(&old, &new, false, pairs)
}

/// The symbol of an element whose type is another one for compilers, because the
/// message or enum behind it, which both sides have, has another name now. The pairs
/// are the element and the type.
pub(crate) fn find_loss_by_use(
    language: Language,
    (old_user, new_user): (Element<'_>, Element<'_>),
    (old, new): (Element<'_>, Element<'_>),
    [old_names, new_names]: [&GeneratedNames; 2],
) -> Option<Loss> {
    let generator = language.generator();
    let was = list_symbols_with(old_names, language, old);
    let is = list_symbols_with(new_names, language, new);
    let (was, is) = (was.into_iter().next()?, is.into_iter().next()?);
    let (old_unit, new_unit) = (generator.unit(old), generator.unit(new));
    let imports = !generator.imports_packages() || old_unit.import == new_unit.import;
    let by_flags = generator.is_unnamed(old.file()) && generator.is_unnamed(new.file());
    let same_unit = old_unit.prefix == new_unit.prefix && imports
        || by_flags
        || provides(generator, (&old_unit, old.file()), (&new_unit, new.file()));
    let same_name = remove_prefix(&was, &old_unit) == remove_prefix(&is, &new_unit);
    if !generator.is_typed() || same_unit && same_name {
        return None;
    }
    let before = list_symbols_with(old_names, language, old_user)
        .into_iter()
        .find(|it| has_type(it, old))?;
    let mut after = list_symbols_with(new_names, language, new_user).into_iter();
    let after = after.find(|it| it.form == before.form && has_type(it, new))?;
    Some(match before.signature == after.signature {
        false => Loss::Changed { old: before, new: after },
        true => Loss::Moved { old: was, from: old_unit.import, to: new_unit.import },
    })
}

/// The name of a symbol inside its unit.
fn remove_prefix<'s>(symbol: &'s GeneratedSymbol, unit: &Unit) -> &'s str {
    symbol.name.strip_prefix(unit.prefix.as_str()).unwrap_or(&symbol.name)
}

/// Returns true if the signature of a symbol has this message or enum.
fn has_type(symbol: &GeneratedSymbol, ty: Element<'_>) -> bool {
    match ty {
        Element::Message(it) => symbol.types.contains(&Type::Message(it.id)),
        Element::Enum(it) => symbol.types.contains(&Type::Enum(it.id)),
        _ => false,
    }
}

/// Returns true if other files provide what users imported from a removed one: all files of
/// a Go package are one import.
pub(crate) fn stays_imported<'t>(
    language: Language,
    gone: File<'_>,
    mut left: impl Iterator<Item = File<'t>>,
) -> bool {
    let generator = language.generator();
    let imported = generator.file_unit(gone).import;
    generator.is_unnamed(gone)
        || generator.imports_packages() && left.any(|it| generator.file_unit(it).import == imported)
}

fn find_first_loss(
    old: &[GeneratedSymbol],
    new: &[GeneratedSymbol],
    relative: bool,
    pairs: &dyn Correspondence,
) -> Option<Loss> {
    let named = |old: &GeneratedSymbol, new: &GeneratedSymbol| {
        if relative { old.form == new.form } else { old.name == new.name }
    };
    for symbol in old {
        if let Some(new) =
            new.iter().find(|new| named(symbol, new) && has_same_signature(symbol, new, pairs))
        {
            return Some(match (&symbol.oneof, &new.oneof) {
                (None, None) => continue,
                (Some((was, _)), Some((is, _))) if pairs.same_oneof(*was, *is) => continue,
                (Some((_, from)), Some((_, to))) if symbol.name == new.name => {
                    Loss::Regrouped { old: symbol.clone(), from: from.clone(), to: to.clone() }
                }
                // The name of the oneof is a part of its own.
                _ => Loss::Removed { old: symbol.clone() },
            });
        }
        // Of several overloads, the one that the old side does not have.
        let changed = new.iter().find(|new| {
            named(symbol, new)
                && !old.iter().any(|old| named(old, new) && has_same_signature(old, new, pairs))
        });
        return Some(match changed {
            Some(new) => Loss::Changed { old: symbol.clone(), new: new.clone() },
            None => Loss::Removed { old: symbol.clone() },
        });
    }
    None
}

fn has_same_signature(
    old: &GeneratedSymbol,
    new: &GeneratedSymbol,
    pairs: &dyn Correspondence,
) -> bool {
    let mut types = old.types.iter().zip(&new.types);
    old.shape == new.shape
        && old.types.len() == new.types.len()
        && types.all(|(old, new)| match (*old, *new) {
            (Type::Message(old), Type::Message(new)) => pairs.same_message(old, new),
            (Type::Enum(old), Type::Enum(new)) => pairs.same_enum(old, new),
            (old, new) => old == new,
        })
}

/// Returns true if what moved from the old unit to the new one is still reached by the
/// old names: by the same unit, or by a file in the place of the old one that
/// imports the new one publicly and passes its names on.
fn provides(
    generator: &dyn Generator,
    (old, old_file): (&Unit, File<'_>),
    (new, new_file): (&Unit, File<'_>),
) -> bool {
    old == new
        || generator.passes_on(old, new)
            && new_file.tree.public_importers().any(|file| {
                (file.path() == old_file.path() || generator.imports_packages())
                    && list_public_imports(file).contains(&new_file)
                    && generator.file_unit(file) == generator.file_unit(old_file)
            })
}
