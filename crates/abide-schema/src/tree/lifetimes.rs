//! The editions and elements that an option is for, by what its declaration says.

use crate::dynamic::Message;
use crate::protobuf::Edition;

use super::linked_tree::Tree;
use super::view::{EnumValue, Field};

impl<'t> Field<'t> {
    /// Returns true if an option or a feature can be set in an edition, by its `feature_support`.
    pub fn exists_in(self, edition: Edition) -> bool {
        is_supported(self.tree, self.options(), edition)
    }

    /// The numbers of `targets`: the kinds of elements that an option can be set on. Empty if they
    /// are all.
    pub fn targets(self) -> Vec<i64> {
        let options = self.options();
        let entries = options.into_iter().flat_map(|it| it.get_all(self.tree, "targets"));
        entries.filter_map(|it| it.value.as_i64()).collect()
    }
}

impl EnumValue<'_> {
    /// Returns true if an option can have the value in an edition, by its `feature_support`.
    pub fn exists_in(self, edition: Edition) -> bool {
        is_supported(self.tree, self.options(), edition)
    }
}

fn is_supported(tree: &Tree, options: Option<&Message>, edition: Edition) -> bool {
    let Some(support) = find_support(tree, options) else { return true };
    let number = i64::from(edition.number());
    let is_over = |name| support.get_i64(tree, name).is_some_and(|it| it <= number);
    let is_there = support.get_i64(tree, "edition_introduced").is_none_or(|it| it <= number);
    is_there && !is_over("edition_removed")
}

pub(crate) fn find_support<'a>(tree: &Tree, options: Option<&'a Message>) -> Option<&'a Message> {
    options?.get_message(tree, "feature_support")
}
