//! What grows: each kind of input, and the command that must cope with much of it.

use abide_harness::repository::Commit;

use super::inputs::{self, Files};

/// A kind of input.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The first size to try.
    pub(crate) start: usize,
    pub(super) input: Input,
    /// The arguments of `abide`, in the folder of the input.
    pub(crate) command: &'static str,
}

/// How an input of some size is made.
pub(super) enum Input {
    /// A tree, in an archive that the command reads.
    Tree(fn(usize) -> Files),
    /// An old tree and a newer one, each in an archive.
    Sides(fn(usize) -> [Files; 2]),
    /// The files of a folder, and a command to run over them before the one that is measured.
    Prepared(fn(usize) -> Files, &'static str),
    /// A repository.
    Commits(fn(usize) -> Vec<Commit>),
}

const fn kind(name: &'static str, start: usize, input: fn(usize) -> Files) -> Kind {
    Kind { name, start, input: Input::Tree(input), command: "lint" }
}

const fn sides(name: &'static str, start: usize, input: fn(usize) -> [Files; 2]) -> Kind {
    Kind { name, start, input: Input::Sides(input), command: "breaking new.tar --against old.tar" }
}

impl Kind {
    const fn by(self, command: &'static str) -> Kind {
        Kind { command, ..self }
    }

    const fn after(self, prepare: &'static str) -> Kind {
        let Input::Tree(input) = self.input else { return self };
        Kind { input: Input::Prepared(input, prepare), ..self }
    }
}

pub(crate) const KINDS: &[Kind] = &[
    kind("fields", 8_000, inputs::fields),
    kind("map fields", 4_000, inputs::map_fields),
    kind("optional fields", 8_000, inputs::optional_fields),
    kind("groups", 4_000, inputs::groups),
    kind("oneof members", 8_000, inputs::oneof_members),
    kind("oneofs", 4_000, inputs::oneofs),
    kind("values", 8_000, inputs::values),
    kind("enum aliases", 8_000, inputs::enum_aliases),
    kind("values of one number", 4_000, inputs::values_of_one_number),
    kind("fields of one number", 4_000, inputs::fields_of_one_number),
    kind("fields of reserved numbers", 4_000, inputs::fields_of_reserved_numbers),
    kind("fields of invalid numbers", 4_000, inputs::fields_of_invalid_numbers),
    kind("enum defaults", 4_000, inputs::enum_defaults),
    kind("methods", 4_000, inputs::methods),
    kind("services", 4_000, inputs::services),
    kind("messages", 8_000, inputs::messages),
    kind("nested types", 8_000, inputs::nested_types),
    kind("enums", 8_000, inputs::enums),
    kind("recursive messages", 8_000, inputs::recursive_messages),
    kind("reserved ranges", 8_000, inputs::reserved_ranges),
    kind("reserved names", 8_000, inputs::reserved_names),
    kind("reserved values", 8_000, inputs::reserved_values),
    kind("extension ranges", 8_000, inputs::extension_ranges),
    kind("extensions", 4_000, inputs::extensions),
    kind("extend statements", 4_000, inputs::extends),
    kind("declared extensions", 2_000, inputs::declared_extensions),
    kind("options", 2_000, inputs::options),
    kind("field options", 4_000, inputs::field_options),
    kind("option entries", 4_000, inputs::option_entries),
    kind("comments", 8_000, inputs::comments),
    kind("imports", 1_000, inputs::imports),
    kind("chain of public imports", 1_000, inputs::public_imports),
    kind("public imports of packages", 1_000, inputs::public_packages),
    kind("graph of public imports", 1_000, inputs::public_graph),
    kind("missing imports", 2_000, inputs::missing_imports),
    kind("files that miss imports", 1_000, inputs::files_with_missing_imports),
    kind("missing names", 2_000, inputs::missing_names),
    kind("duplicate names", 2_000, inputs::duplicate_names),
    kind("one name", 2_000, inputs::one_name),
    kind("syntax errors", 2_000, inputs::syntax_errors),
    kind("files of a package", 2_000, inputs::files),
    kind("tiny packages", 2_000, inputs::tiny_packages),
    kind("package chain", 2_000, inputs::package_chain),
    kind("package graph", 2_000, inputs::package_graph),
    kind("package cycle", 1_000, inputs::package_cycle),
    kind("two definitions", 1_000, inputs::two_definitions),
    kind("versions", 1_000, inputs::versions),
    kind("waivers in comments", 2_000, inputs::waivers_in_comments),
    kind("ignore comments", 2_000, inputs::ignore_comments),
    kind("waivers in abide.toml", 1_000, inputs::waivers_in_config),
    kind("waivers by fingerprint", 1_000, inputs::fingerprint_waivers),
    kind("overrides", 500, inputs::overrides),
    kind("accepted findings", 2_000, inputs::findings).by("check").after("check --accept"),
    kind("findings as human", 2_000, inputs::findings).by("lint --format human"),
    kind("findings as json", 2_000, inputs::findings).by("lint --format json"),
    kind("findings as sarif", 2_000, inputs::findings).by("lint --format sarif"),
    kind("findings as junit", 2_000, inputs::findings).by("lint --format junit"),
    kind("findings as github", 2_000, inputs::findings).by("lint --format github"),
    kind("findings as gitlab", 2_000, inputs::findings).by("lint --format gitlab"),
    kind("findings as markdown", 2_000, inputs::findings).by("lint --format markdown"),
    kind("findings as html", 2_000, inputs::findings).by("lint --format html"),
    kind("files with findings", 1_000, inputs::findings_in_files),
    sides("removed messages", 1_000, inputs::removed_messages),
    sides("removed fields", 1_000, inputs::removed_fields),
    sides("required fields", 250, inputs::required_fields),
    sides("retyped fields", 1_000, inputs::retyped_fields),
    sides("added values", 1_000, inputs::added_values)
        .by("breaking new.tar --against old.tar --changes"),
    sides("changed packages", 500, inputs::changed_packages),
    sides("bumped packages", 500, inputs::changed_packages).by("bump new.tar --against old.tar"),
    sides("security fixes", 1_000, inputs::security_fixes).by("bump new.tar --against old.tar"),
    kind("recorded packages", 500, inputs::tiny_packages).by("check").after("bump --write"),
    kind("candidates", 250, inputs::rising).by("upgrade --diff"),
    kind("checked candidates", 250, inputs::rising).by("check").after("upgrade --write"),
    kind("released candidates", 250, inputs::rising).by("release --diff").after("upgrade --write"),
    kind("promoted fields", 1_000, inputs::deprecated_fields).by("upgrade --diff"),
    kind("deprecated fields", 2_000, inputs::deprecated_fields).by("deprecations"),
    kind("hashed messages", 4_000, inputs::messages).by("hash --format json"),
    kind("built messages", 4_000, inputs::messages).by("build -o set.binpb"),
    kind("drawn chain as dot", 500, inputs::package_chain).by("graph --format dot"),
    kind("drawn chain as svg", 50, inputs::package_chain).by("graph --format svg"),
    Kind {
        name: "commits",
        start: 250,
        input: Input::Commits(inputs::commits),
        command: "history --format json",
    },
    Kind {
        name: "users of a type in a history",
        start: 1_000,
        input: Input::Commits(inputs::users_of_a_changed_type),
        command: "history --format json",
    },
];
