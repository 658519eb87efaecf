//! What no page of a rule shows about options: a new edition, whose other
//! changes would stand there as well, and descriptors, which have no places.

use std::sync::Arc;

use abide_lint::{Config, Location, Options, Preset, RuleScope};
use abide_schema::{FileDecl, Part, SourceFile, Tree};
use jiff::civil::date;

const PATH: &str = "acme/user/v1/user.proto";

fn tree(text: &str) -> Tree {
    let wanted = ["descriptor", "cpp_features", "java_features", "go_features"];
    let known = wanted.map(|name| {
        let path = format!("google/protobuf/{name}.proto");
        let text = abide_schema::find_well_known(&path).expect("it is built in");
        (path, text.to_owned(), true)
    });
    let own = (PATH.to_owned(), text.to_owned(), false);
    let parse = |(path, text, imported): (String, String, bool)| {
        let path: Arc<str> = path.into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    let mut files = known.to_vec();
    files.push(own);
    files.sort();
    let tree = Tree::link(files.into_iter().map(parse).collect());
    let problems: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    tree
}

/// What one rule says about a pair, with the surfaces it names.
fn said(rule: &str, old: &str, new: &str) -> Vec<String> {
    let (old, new) = (tree(old), tree(new));
    let options = Options {
        scope: RuleScope::Changes,
        baseline: Some(&old),
        changes: true,
        ..Options::on(date(2026, 1, 15))
    };
    let report = abide_lint::check(&new, &Config::of_preset(Preset::Standard).policy, options);
    let found = report.findings.iter().filter(|finding| finding.rule == rule);
    let words = found.map(|it| {
        let effects = it.effects();
        let effects = effects.iter().map(|(surface, direction)| format!("{surface} {direction}"));
        let effects: Vec<String> = effects.collect();
        format!("{}: {} ({})", it.severity.word(), it.message, effects.join(", "))
    });
    words.collect()
}

const BODY: &str = "package acme.user.v1;
message User {
  string name = 1;
  string email = 2;
  Role role = 3;
}
enum Role {
  ROLE_UNSPECIFIED = 0;
}
";

fn with(head: &str) -> String {
    format!("{head}\n{BODY}")
}

#[test]
fn a_new_edition_changes_what_languages_generate() {
    let (old, new) = (with("edition = \"2023\";"), with("edition = \"2024\";"));
    assert_eq!(
        said("language-feature-changed", &old, &new),
        [
            "error: feature `(pb.cpp).enum_name_uses_string_view` of enum `Role` changed from \
             `false` to `true` (source-cpp backward, source-cpp forward)",
            "error: feature `(pb.go).api_level` of message `User` changed from `API_OPEN` to \
             `API_OPAQUE` (source-go backward, source-go forward)",
            "error: feature `(pb.java).nest_in_file_class` of 2 elements changed from \
             `YES` to `NO` (source-java backward, source-java forward)",
        ]
    );
    assert_eq!(
        said("field-string-type-changed", &old, &new),
        ["error: C++ type of 2 fields changed from `STRING` to `VIEW` (source-cpp backward)"]
    );
    assert_eq!(
        said("packaging-option-changed", &old, &new),
        ["error: the derived `java_outer_classname` changed from `UserOuterClass` to `UserProto` \
             (source-java backward)"]
    );
}

#[test]
fn an_edition_that_keeps_what_was_generated_changes_nothing() {
    let old = with("syntax = \"proto3\";")
        .replace("package", "option java_multiple_files = true;\npackage");
    let head = "edition = \"2024\";
import option \"google/protobuf/cpp_features.proto\";
import option \"google/protobuf/go_features.proto\";
option features.(pb.go).api_level = API_OPEN;
option features.(pb.cpp).string_type = STRING;
option features.(pb.cpp).enum_name_uses_string_view = false;
option java_outer_classname = \"UserOuterClass\";";
    let rules =
        ["language-feature-changed", "field-string-type-changed", "packaging-option-changed"];
    for rule in rules {
        let mut said = said(rule, &old, &with(head));
        said.retain(|it| !it.ends_with(" ()"));
        assert_eq!(said, [""; 0], "{rule} breaks somebody");
    }
}

#[test]
fn a_closed_enum_of_another_language_is_told_at_its_file() {
    let file = |option: &str| {
        with(&format!(
            "edition = \"2023\";\nimport \"google/protobuf/java_features.proto\";\n{option}"
        ))
    };
    let (old, new) = (file(""), file("option features.(pb.java).legacy_closed_enum = true;"));
    assert_eq!(
        said("language-feature-changed", &old, &new),
        ["error: feature `(pb.java).legacy_closed_enum` of field `User.role` changed from \
          `false` to `true` (source-java backward, source-java forward)"]
    );
}

#[test]
fn a_type_that_is_called_like_its_file_renames_the_outer_class() {
    let old = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage Account {}\n";
    let new = format!("{old}message User {{}}\n");
    assert_eq!(
        said("packaging-option-changed", old, &new),
        ["error: the derived `java_outer_classname` changed from `User` to `UserOuterClass` \
             (source-java backward)"]
    );
}

/// The same tree, read from its descriptors.
fn from_descriptors(tree: &Tree) -> Tree {
    let files: Vec<_> = tree.files().map(|file| file.id).collect();
    let bytes: Arc<[u8]> = abide_schema::encode_set(tree, &files, true, true).into();
    let mut files = FileDecl::from_descriptor_set(&bytes).expect("it was just written");
    for file in &mut files {
        file.imported = &*file.path != PATH;
    }
    Tree::link(files.into_iter().map(Arc::new).collect())
}

#[test]
fn options_of_descriptors_are_told_at_their_elements() {
    let file = |option: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\n\
             message User {{\n  string name = 1{option};\n}}\n"
        )
    };
    let old = from_descriptors(&tree(&file(" [debug_redact = true, deprecated = true]")));
    let new = from_descriptors(&tree(&file(" [deprecated = true]")));
    let options = Options { baseline: Some(&old), changes: true, ..Options::on(date(2026, 1, 15)) };
    let report = abide_lint::check(&new, &Config::of_preset(Preset::Standard).policy, options);
    let finding = report.findings.iter().find(|it| it.rule == "sensitive-mark-removed");
    let finding = finding.expect("the mark is gone");
    let field = new
        .files()
        .flat_map(|it| it.all_fields())
        .find(|it| it.full_name() == "acme.user.v1.User.name");
    let field = field.expect("the tree has it");
    assert_eq!(finding.location, Location::tree(field.place(Part::Whole)));
}

#[test]
fn a_ruby_package_with_dots_is_one_with_colons() {
    let file = |package: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\n\
             option ruby_package = \"{package}\";\nmessage Account {{}}\n"
        )
    };
    let (dots, colons) = (file("Acme.User.v1"), file("Acme::User::V1"));
    let same = "note: `ruby_package` is now set to `Acme::User::V1`, which still means \
                `Acme::User::V1` ()";
    assert_eq!(said("packaging-option-changed", &dots, &colons), [same]);
    let other = file("Acme::Users::V1");
    assert_eq!(said("packaging-option-changed", &dots, &other).len(), 1);
}

/// `acme.v1beta1` is `Acme.V1Beta1` in C# and `Acme::V1beta1` in Ruby: C# and Java write a letter
/// behind a digit in upper case.
#[test]
fn letters_behind_digits_are_those_of_the_generator() {
    let old = "syntax = \"proto3\";\npackage acme.v1beta1;\nmessage Account {}\n";
    let new = old.replace(
        "message",
        "option csharp_namespace = \"Acme.V1Beta1\";\n\
         option ruby_package = \"Acme::V1beta1\";\nmessage",
    );
    assert_eq!(
        said("packaging-option-changed", old, &new),
        [
            "note: `csharp_namespace` is now set to `Acme.V1Beta1`, which still means \
             `Acme.V1Beta1` ()",
            "note: `ruby_package` is now set to `Acme::V1beta1`, which still means \
             `Acme::V1beta1` ()",
        ]
    );
}
