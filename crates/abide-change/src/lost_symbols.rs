//! The symbols of generated code that a change loses, and whom that breaks.

use abide_schema::{Element, EnumId, File, MessageId, OneofId, Package};

use crate::change::Change;
use crate::comparison::Comparison;
use crate::effects::Effects;
use crate::symbols::{
    Correspondence, GeneratedNames, GeneratedSymbol, Language, Loss, LostSymbol, find_loss,
    find_loss_by_use, find_loss_of_file, list_symbols_of_file, list_symbols_with, stays_imported,
};

impl Correspondence for Comparison<'_> {
    fn names(&self) -> [&GeneratedNames; 2] {
        self.generated_names.each_ref()
    }

    fn same_file(&self, old: File<'_>, new: File<'_>) -> bool {
        debug_assert!(std::ptr::eq(old.tree, self.old) && std::ptr::eq(new.tree, self.new));
        self.new_file(self.old.file(old.id)).is_some_and(|it| it.id == new.id)
    }

    fn same_message(&self, old: MessageId, new: MessageId) -> bool {
        self.new_message(self.old.message(old)).is_some_and(|it| it.id == new)
    }

    fn same_enum(&self, old: EnumId, new: EnumId) -> bool {
        self.new_enum(self.old.enumeration(old)).is_some_and(|it| it.id == new)
    }

    fn same_oneof(&self, old: OneofId, new: OneofId) -> bool {
        self.new_oneof(self.old.oneof(old)).is_some_and(|it| it.id == new)
    }
}

/// Returns what code written against the old stubs of an element loses: at most one symbol
/// for each language, the one that most callers use.
pub fn find_lost_symbols<'t>(
    comparison: &Comparison<'t>,
    change: Change<Element<'t>>,
) -> (Effects, Vec<LostSymbol>) {
    collect_losses(|language| match change {
        Change::Added(_) => None,
        Change::Removed(old) => {
            let [names, _] = comparison.names();
            describe_removed(list_symbols_with(names, language, old).into_iter().next())
        }
        Change::Both { old, new } => {
            find_loss(language, old, new, comparison).map(|loss| loss.to_string())
        }
    })
}

/// Returns what code loses that uses an element, because of the other name of its type:
/// `user` and `ty` are the old and the new side of both.
pub fn find_lost_by_use<'t>(
    comparison: &Comparison<'t>,
    user: (Element<'t>, Element<'t>),
    ty: (Element<'t>, Element<'t>),
) -> (Effects, Vec<LostSymbol>) {
    collect_losses(|language| {
        find_loss_by_use(language, user, ty, comparison.names()).map(|loss| loss.to_string())
    })
}

/// The same for a whole file: what code imports or includes.
pub fn find_lost_in_file<'t>(
    comparison: &Comparison<'t>,
    change: Change<File<'t>>,
) -> (Effects, Vec<LostSymbol>) {
    collect_losses(|language| match change {
        Change::Added(_) => None,
        Change::Removed(old) => {
            let left = comparison.new_package(old.package()).into_iter().flat_map(Package::files);
            let stays = stays_imported(language, old, left);
            describe_removed(
                list_symbols_of_file(language, old).into_iter().next().filter(|_| !stays),
            )
        }
        Change::Both { old, new } => {
            find_loss_of_file(language, old, new, comparison).map(|loss| loss.to_string())
        }
    })
}

fn collect_losses(of: impl Fn(Language) -> Option<String>) -> (Effects, Vec<LostSymbol>) {
    let mut effects = Effects::NONE;
    let mut lost = Vec::new();
    for language in Language::ALL {
        if let Some(symbol) = of(language) {
            let surface = language.surface();
            effects |= Effects::backward(&[surface]);
            lost.push(LostSymbol { surface, symbol });
        }
    }
    (effects, lost)
}

fn describe_removed(symbol: Option<GeneratedSymbol>) -> Option<String> {
    symbol.map(|old| Loss::Removed { old }.to_string())
}
