//! The changes of each kind of element, those that no rule has to look at left out.

use abide_schema::{
    Element, Enum, EnumValue, Field, File, Message, Method, Oneof, Package, Service,
};
use rayon::prelude::*;

use super::Diff;
use crate::change::Change;
use crate::element::may_move;

/// `x_changes`: the elements of a kind that may differ.
macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident, $of:ident, $view:ident, $new_of:ident, $old_of:ident, $settled:ident, $all:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> Vec<Change<$view<'t>>> {
            self.$of(false)
        }

        /// The same, or those that no rule has to look at.
        pub fn $of(&self, settled: bool) -> Vec<Change<$view<'t>>> {
            let all: fn(File<'t>) -> Vec<$view<'t>> = $all;
            let judged = |it: &File<'t>| it.is_judged();
            let new: Vec<File<'t>> = self.new_files().filter(judged).collect();
            let new = new.into_par_iter().flat_map_iter(all).map(|new| match self.$old_of(new) {
                Some(old) => Change::Both { old, new },
                None => Change::Added(new),
            });
            let gone: Vec<File<'t>> = self.old_files().filter(judged).collect();
            let gone = gone.into_par_iter().flat_map_iter(all);
            let gone = gone.filter_map(|old| match self.$new_of(old) {
                None => Some(Change::Removed(old)),
                // It left the judged files.
                Some(new) if !new.file().is_judged() => Some(Change::Both { old, new }),
                Some(_) => None,
            });
            let is_settled = |change: &Change<$view<'t>>| match *change {
                Change::Both { old, new } => self.$settled(old, new),
                Change::Added(_) | Change::Removed(_) => self.has_moved_with_parent(*change),
            };
            let is_incomplete = self.is_incomplete();
            let is_known = |change: &Change<$view<'t>>| match *change {
                Change::Both { .. } => true,
                // Members are where their message, enum or service is.
                Change::Added(it) | Change::Removed(it) => {
                    !is_incomplete || !may_move(Element::$view(it))
                }
            };
            let all = new.chain(gone).filter(is_known);
            all.filter(|it| is_settled(it) == settled).collect()
        }
    )*};
}

impl<'t> Diff<'t> {
    changes! {
        /// The messages of files that are not the same. Map entries are left out.
        /// Of every kind of element those pairs are left out of which every
        /// fact is the same, and members that came or went with what holds them.
        message_changes, messages_that_are, Message, new_message, old_message, is_settled_message,
            |file| file.all_messages().filter(|it| !it.is_map_entry()).collect();
        /// The fields and extensions of files that are not the same, those of
        /// map entries left out.
        field_changes, fields_that_are, Field, new_field, old_field, is_settled_field,
            |file| {
                let in_map = |it: &Field<'_>| it.parent().is_some_and(Message::is_map_entry);
                file.all_fields().filter(|it| !in_map(it)).collect()
            };
        /// The oneofs that are written in files that are not the same.
        oneof_changes, oneofs_that_are, Oneof, new_oneof, old_oneof, is_settled_oneof,
            |file| {
                let all = file.all_messages().flat_map(Message::oneofs);
                all.filter(|it| !it.is_synthetic()).collect()
            };
        /// The enums of files that are not the same.
        enum_changes, enums_that_are, Enum, new_enum, old_enum, is_settled_enum, |file| file.all_enums().collect();
        /// The enum values of files that are not the same.
        value_changes, values_that_are, EnumValue, new_value, old_value, is_settled_value,
            |file| file.all_enums().flat_map(Enum::values).collect();
        /// The services of files that are not the same.
        service_changes, services_that_are, Service, new_service, old_service, is_settled_service, |file| file.services().collect();
        /// The methods of files that are not the same.
        method_changes, methods_that_are, Method, new_method, old_method, is_settled_method,
            |file| file.services().flat_map(Service::methods).collect();
    }

    /// The files that are not the same.
    pub fn file_changes(&self) -> Vec<Change<File<'t>>> {
        let new =
            self.new_files().filter(|it| it.is_judged()).map(|new| match self.old_file(new) {
                Some(old) => Change::Both { old, new },
                None => Change::Added(new),
            });
        let gone = self.old_files().filter(|it| it.is_judged());
        let gone = gone.filter(|&old| self.new_file(old).is_none()).map(Change::Removed);
        new.chain(gone).filter(|it| self.is_presence_certain(it)).collect()
    }

    /// The packages with a judged file.
    pub fn package_changes(&self) -> Vec<Change<Package<'t>>> {
        let new = self.new.packages().filter(|it| it.is_judged()).map(|new| {
            match self.old_package(new) {
                Some(old) => Change::Both { old, new },
                None => Change::Added(new),
            }
        });
        let gone = self.old.packages().filter(|it| it.is_judged());
        let gone = gone.filter(|&old| self.new_package(old).is_none()).map(Change::Removed);
        new.chain(gone).filter(|it| self.is_presence_certain(it)).collect()
    }

    /// The elements of files that are the same but for comments and white space.
    pub fn commented_elements(&self) -> Vec<Change<Element<'t>>> {
        let mut pairs = Vec::new();
        for new in self.new.files().filter(|it| it.is_judged()) {
            let Some(old) = self.same_old_file(new) else { continue };
            if old.decl().source_text() == new.decl().source_text() {
                continue;
            }
            // What has the same tokens declares the same, in the same order.
            let both = old.elements().zip(new.elements());
            pairs.extend(both.map(|(old, new)| Change::Both { old, new }));
        }
        pairs
    }

    /// Returns true if it is known that a file or a package came or went.
    fn is_presence_certain<T>(&self, change: &Change<T>) -> bool {
        matches!(change, Change::Both { .. }) || !self.is_incomplete()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abide_schema::{FileDecl, SourceFile, Tree};

    use crate::diff::Diff;
    use crate::diff::same_text::has_equal_tokens;

    fn tree(text: &str) -> Tree {
        let (path, text) = ("a.proto".into(), text.as_bytes().into());
        let file = SourceFile { path, display: "a.proto".into(), root: 0, imported: false, text };
        Tree::link(vec![Arc::new(FileDecl::parse(file))])
    }

    #[test]
    fn comments_and_white_space_are_no_change() {
        let text = "// 2023\nmessage M { int32 a = 1; string b = 2; }\n";
        for (other, equal) in [
            ("// 2025\nmessage M { int32 a = 1; string b = 2; }\n", true),
            ("message M {\n  int32 a = 1; /* one */\n  string b = 2;\n}", true),
            ("// 2023\nmessage M { int32 a = 1; string b = 3; }\n", false),
            ("// 2023\nmessage M { int32 a = 1; // string b = 2; }\n}", false),
            ("// 2023\nmessage M { int32 a = 1; string b = 2; };\n", false),
            ("// 2023\nmessage M { int32 a= 1; string b = 2; }\n", true),
            ("", false),
        ] {
            assert_eq!(has_equal_tokens(text.as_bytes(), other.as_bytes()), equal, "{other}");
            let (old, new) = (tree(text), tree(other));
            assert_eq!(Diff::of(&old, &new).file_changes().is_empty(), equal, "{other}");
        }
    }
}
