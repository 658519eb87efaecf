//! Advice is right when it is obeyed: the finding is gone, and nothing else came.
//!
//! Every finding of every page whose help says what to do is mended in each way that the help names,
//! and the case is judged again. `ADVICE` says for each help how a reader obeys it: by edits of the
//! example, or, where that takes a decision or another command, why no test can.

mod edits;

use std::collections::{BTreeMap, BTreeSet};

use abide_lint::{Applied, Finding, Fix};

use super::*;
use edits::*;

/// How advice is obeyed.
enum Way {
    /// By edits; each does all that one alternative of the help says.
    Edits(&'static [Act]),
    /// By a person, for this reason.
    Person(&'static str),
}

use Way::{Edits, Person};

/// By the text of the help, in which `*` stands for any text: how it is obeyed.
const ADVICE: &[(&str, Way)] = &[
    ("keep the domain in one of the virtual hosts", Person("whose domain it is, is a decision")),
    ("rename one of them, or remove it", Person("which one is meant is a decision")),
    (
        "give each listener an address or a port of its own",
        Person("which port is free is not in the file"),
    ),
    (
        "write an IP address; a cluster of the type `STRICT_DNS` looks names up",
        Person("which address it has is not in the file"),
    ),
    ("set `eds_cluster_config.eds_config`", Person("where the endpoints come from is a decision")),
    (
        "give at least one of them a weight, and all of them together at most 4294967295",
        Person("the shares are a decision"),
    ),
    (
        "move it to the end of the list",
        Person("the next line is moved with it, which the edits of a line cannot do"),
    ),
    ("end the list with *", Person("which filter that is, is a decision")),
    (
        "set both, or turn the rule off if `--service-node` and `--service-cluster` say them",
        Person("who the node is, is a decision"),
    ),
    (
        "declare it in `static_resources`, with endpoints of its own",
        Person("where the server is, is not in the file"),
    ),
    (
        "give the chains a `filter_chain_match` that tells them apart",
        Person("what tells them apart is a decision"),
    ),
    (
        "delete it, or say in the override which packages it is for",
        Person("which of both is meant is a decision"),
    ),
    (
        "name the rules themselves, or set `directions` in `[breaking]`",
        Person("which of both is meant is a decision"),
    ),
    ("swap them, or leave the limit out", Person("which of both is meant is a decision")),
    (
        "add `typed_config` with the `@type` of the extension; it may hold nothing else",
        Person("which extension is meant is a decision"),
    ),
    ("remove it, or write by hand what takes its place", Edits(&[remove_line])),
    (
        "add `deprecated = true`, or remove the annotation",
        Edits(&[deprecate_with_comment, drop_option]),
    ),
    (
        "`*` allows `*`",
        Edits(&[|s, holes| s.at_span(holes[1].split(' ').next().unwrap_or_default())]),
    ),
    (
        "add `name` to it before clients send the request",
        Edits(&[|s, _| s.in_message("GetUserRequest", "  string name = 9;\n")]),
    ),
    (
        "add `option (google.api.http)`, with the path that REST clients call",
        Edits(&[|s, _| {
            s.in_line(";", " {\n    option (google.api.http) = { post: \"/v1/users:block\" body: \"*\" };\n  }")
        }]),
    ),
    (
        "choose another value of `*`: `*`",
        Edits(&[|s, holes| s.at_span(holes[1].split('`').next().unwrap_or_default())]),
    ),
    (
        "add a field or remove it",
        Edits(&[|s, _| s.at_line("{}", "{ string mail = 1; }"), remove_line]),
    ),
    (
        "add it now, even if there is only one page yet",
        Edits(&[|s, _| s.after_line(&format!("  {} = 9;", s.typed_field()))]),
    ),
    (
        "add the annotation, as other messages of the package do",
        Edits(&[|s, _| {
            s.at_line("{}", "{ option (abide.annotations.v1.message_policy).previous_type = \"acme.user.v1.Team\"; }")
        }]),
    ),
    (
        "annotate it with `disallowed_by_default`",
        Edits(&[|s, _| {
            s.at_span("deprecated = true, (abide.annotations.v1.field_policy).disallowed_by_default = true")
        }]),
    ),
    (
        "annotate it with the version that deprecates it, such as `*`",
        Edits(&[|s, holes| {
            let version = format!(
                "deprecated = true, (abide.annotations.v1.field_policy).deprecated_at = \"{}\"",
                holes[0]
            );
            s.at_span(&version).importing("abide/annotations/v1/lifecycle.proto")
        }]),
    ),
    (
        "begin it with `*`, which changes nothing",
        Edits(&[|s, holes| s.at_top(&format!("{}\n", holes[0]))]),
    ),
    (
        "begin the comment above it with `Deprecated: ` and what to use instead",
        Edits(&[|s, _| s.comment_above("Deprecated: use `mail_address`.")]),
    ),
    (
        "begin with 1, as in `*`, or leave the number out, as in `*`",
        Edits(&[|s, holes| s.version(holes[0]), |s, holes| s.version(holes[1])]),
    ),
    (
        "begin with a value such as `…_UNSPECIFIED`, or document this one as the default",
        Edits(&[
            |s, _| s.renumbered_enum("COLOR_UNSPECIFIED"),
            |s, _| s.before_line("  // The default.\n"),
        ]),
    ),
    ("begin with a value that is 0", Edits(&[|s, _| s.before_line("  COLOR_UNSPECIFIED = 0;\n")])),
    ("change its type to `*`", Edits(&[change_type])),
    ("change its type to `*` before anybody relies on it", Edits(&[change_type])),
    ("change the name back; `[json_name = \"*\"]` keeps only the JSON name", Edits(&[old_line])),
    (
        "change the number back to *; if it has to change, add `*` to message `*` and waive this",
        Edits(&[
            |s, holes| s.at_span(holes[0]),
            |s, holes| s.in_container(&format!("  {}\n", holes[1])).waived(),
        ]),
    ),
    (
        "declare it as before, with number *; if it has to change, add `*` to message `*` and waive this",
        Edits(&[
            |s, holes| {
                s.at_line("repeated string size = 3;", &format!("int32 size = {};", holes[0]))
            },
            |s, holes| s.in_container(&format!("  {}\n", holes[1])).waived(),
        ]),
    ),
    ("declare `*` as a field again, with number *", Person("what it was is only in the old tree")),
    (
        "declare `*` as an extension again, with number *",
        Person("what it was is only in the old tree"),
    ),
    (
        "keep `*` and give `*` a number that was never used; if both mean the same, add `*` after `*` as an alias, with `option allow_alias = true;`",
        Edits(&[
            |s, holes| {
                let (kept, new) = (holes[0], holes[1]);
                let number = kept.rsplit(' ').next().unwrap_or_default();
                s.at_line(&format!("{new} = {number};"), &format!("{kept};\n  {new} = 9;"))
            },
            |s, holes| {
                s.after_its_old_name(holes[3], holes[2])
                    .text("enum Color {\n", "enum Color {\n  option allow_alias = true;\n")
            },
        ]),
    ),
    (
        "ask first if a value is there: `\"NAME\" in this.options`, `has(this.NAME)`",
        Person("what the rule means where there is none is a decision"),
    ),
    ("keep `* = 0`", Person("which of two numbers a name keeps is a decision")),
    ("keep `* = 1`", Person("which of two numbers a name keeps is a decision")),
    (
        "name an element of another package: the policy denies `*`",
        Person("what to use instead is a decision"),
    ),
    ("name an element of a stable package", Person("what to use instead is a decision")),
    ("name what is used where the field is used", Person("what to use instead is a decision")),
    (
        "patterns are not read here: `*` stands for all that it contains",
        Person("which options are meant is a decision"),
    ),
    (
        "set the severity of that rule in `[rules]`, and delete this key",
        Person("which severity is meant is a decision"),
    ),
    (
        "write the full name of an element of this tree, or the name of a sibling",
        Person("what to use instead is a decision"),
    ),
    ("change the version to `*` until the release", Edits(&[|s, holes| s.version(holes[0])])),
    ("choose a number and a name that were never used", Edits(&[fresh_member])),
    (
        "choose a number and a name that were never used, and reserve these again",
        Edits(&[|s, _| fresh_member(s, &[]).reserved_as_before()]),
    ),
    ("choose another name", Edits(&[|s, _| s.at_string("unheard_of")])),
    (
        "copy the types that you need from `*` into `*` and use the copies",
        Edits(&[|s, _| {
            s.at_span("Item")
                .appending("message Item {\n  string name = 1;\n}\n")
                .without_import("acme/shop/v2/cart.proto")
        }]),
    ),
    (
        "declare a message of its own, or put what both share into a common package",
        Person("what both packages share is a decision"),
    ),
    (
        "declare a message, and a field of that type; the new field needs a new number",
        Edits(&[|s, _| {
            s.text("  optional group Address = 1 {\n", "  message Address {\n")
                .text("  }\n}", "  }\n  optional Address address = 2;\n}")
        }]),
    ),
    (
        "declare a package with a version, such as `*`",
        Edits(&[|s, holes| {
            s.after_line_of("syntax", holes[0]).moved_to("acme/user/v1/user.proto")
        }]),
    ),
    (
        "declare the same status in all files of the package",
        Edits(&[|s, _| s.text("_FROZEN", "_ACTIVE")]),
    ),
    ("declare it as `*`", Edits(&[|s, holes| s.at_line("bytes page_token", holes[0])])),
    ("declare `*` before `*`", Edits(&[|s, holes| s.swapped(holes[1], holes[0])])),
    ("delete `*` once its users have moved to `*`", Edits(&[delete_package])),
    ("delete `*` once none of your clients needs it", Edits(&[delete_package])),
    ("delete it", Edits(&[delete_waiver])),
    ("delete it once none of your clients needs it", Edits(&[delete_file])),
    (
        "delete it, or bring the active version back; or, if people maintain this package, set `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]",
        Edits(&[delete_file, by_hand_in_file, by_hand_in_config]),
    ),
    ("delete one of the two lines", Edits(&[remove_line])),
    (
        "delete that file; or, if people maintain this package, set `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]",
        Edits(&[delete_taken]),
    ),
    ("delete the line, or run `abide check --accept`", Edits(&[remove_line])),
    (
        "depend on packages near the bottom directly, not through others",
        Person("which dependency goes is a decision"),
    ),
    (
        "deprecate the * too, and add one with another type",
        Edits(&[|s, _| {
            s.at_line("repeated Person members = 1;", "// Use `people`.\n  repeated Person members = 1 [deprecated = true];\n  repeated User people = 2;")
        }]),
    ),
    ("did you mean `*`?", Edits(&[|s, holes| s.at_word(holes[0])])),
    (
        "end a new package with a version, such as `*`; list one that has users in `unversioned` of `[packages]`, because a new name breaks them",
        Edits(&[
            |s, holes| s.renamed(holes[0]),
            |s, _| s.listed("packages", "unversioned", &s.finding.package),
        ]),
    ),
    (
        "fix what it waives, or give it a later date and a reason",
        Edits(&[|s, _| s.text_all("2025-12-31", "2027-12-31")]),
    ),
    ("freeze `*`, or remove it once it is no longer served", Edits(&[freeze, delete_file])),
    ("give `*` a number that was never used, and put `*` back", Edits(&[put_both])),
    ("give `*` its old number back", Edits(&[old_numbers])),
    ("give each field its old number back", Edits(&[old_numbers])),
    ("give each method a request and a response of its own", Edits(&[own_types])),
    (
        "give each package a folder of its own",
        Edits(&[|s, _| {
            let folder = s.finding.package.replace('.', "/");
            s.moved_to(&format!("{folder}/moved.proto")).all_in_folders_of_packages()
        }]),
    ),
    (
        "give it another name before anybody relies on this one",
        Edits(&[|s, _| s.renamed("unheard_of")]),
    ),
    (
        "give the addition another number and name, or delete it if the active version now has the same element",
        Edits(&[|s, _| s.at_line("nickname = 3", "alias = 7"), remove_line]),
    ),
    ("import the file where its types are used", Edits(&[remove_line])),
    (
        "name * in its comment, as in `Deprecated: use NAME`; or in its `*_policy`, set `replaced_by` to that, or `lossy` to the reason why values get lost; or list it in `lossy` of [upgrade]",
        Edits(&[
            |s, _| s.text("Use `email` or `phone`.", "Deprecated: use `email`."),
            |s, _| s.with_option("(abide.annotations.v1.field_policy).replaced_by = \"email\""),
            |s, _| s.with_option("(abide.annotations.v1.field_policy).lossy = \"nobody reads it\""),
            |s, _| s.listed("upgrade", "lossy", &s.finding.element),
        ]),
    ),
    (
        "keep `*` and add `*` after it as an alias, with `option allow_alias = true;`",
        Edits(&[|s, holes| {
            s.after_its_old_name(holes[0], holes[1])
                .text("enum Color {\n", "enum Color {\n  option allow_alias = true;\n")
        }]),
    ),
    (
        "keep it an alpha until then, or record the day it appeared in `introduced`",
        Edits(&[
            |s, _| s.version("v2alpha"),
            |s, _| s.with_file_policy("introduced = \"2025-06-15\""),
        ]),
    ),
    (
        "keep one name for each number",
        Edits(&[|s, _| {
            s.text("  option allow_alias = true;\n", "").text("  COLOR_GREY = 1;\n", "")
        }]),
    ),
    ("keep the annotation on only one of them", Edits(&[remove_line])),
    (
        "keep the old default, or change it in the next major version",
        Edits(&[|s, _| s.text("Defaults to 5.", "Defaults to 3.")]),
    ),
    ("keep the old route in `additional_bindings`", Edits(&[old_binding])),
    (
        "list `*` in `folder-prefix` of `[packages]`, or in `roots` of `abide.toml` if imports leave it out",
        Edits(&[
            |s, holes| s.listed("packages", "folder-prefix", holes[0]),
            |s, holes| s.counted_from(holes[0]),
        ]),
    ),
    (
        "list `*` in `path-prefix` of `[packages]`, or move the file to `*`",
        Edits(&[
            |s, holes| s.listed("packages", "path-prefix", holes[0]),
            |s, holes| s.moved_into(holes[1]),
        ]),
    ),
    (
        "make both paths use the same version, `*`",
        Edits(&[|s, _| {
            s.text_of("acme/cart/v2/cart.proto", "acme.price.v1", "acme.price.v2").text_of(
                "acme/cart/v2/cart.proto",
                "acme/price/v1",
                "acme/price/v2",
            )
        }]),
    ),
    ("make it optional, and check in code that it is set", Edits(&[optional])),
    ("make it optional: existing data does not have the field", Edits(&[optional])),
    (
        "make it repeated, or declare the repeated field before it, with number 1",
        Edits(&[|s, _| s.at_line("  User user", "  repeated User user")]),
    ),
    (
        "mark additions with `next_major_only`; or, if people maintain this package, set `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]; `abide upgrade --write --overwrite` deletes it",
        Person("what an upgrade makes of a candidate is tested with upgrades"),
    ),
    ("move it above `*`", Edits(&[|s, holes| s.moved_above(holes[0])])),
    (
        "move the file to *; if others import it, leave one in * that only imports it with `import public`",
        Edits(&[
            |s, holes| s.moved_into(&edits::folder(holes[0])),
            |s, holes| s.moved_into(&edits::folder(holes[0])).forwarded(),
        ]),
    ),
    (
        "move the files in * and in * to *",
        Edits(&[|s, holes| {
            let (one, two, to) =
                (edits::folder(holes[0]), edits::folder(holes[1]), edits::folder(holes[2]));
            s.all_moved(&one, &to).all_moved(&two, &to)
        }]),
    ),
    (
        "move the files in * to *",
        Edits(&[|s, holes| s.all_moved(&edits::folder(holes[0]), &edits::folder(holes[1]))]),
    ),
    (
        "move the types that they share into a package that depends on none of them",
        Person("which types they share is a decision"),
    ),
    (
        "move what the files share into a separate file",
        Person("what the files share is a decision"),
    ),
    ("name `*` as the previous type", Edits(&[|s, holes| s.at_string(holes[0])])),
    (
        "name a type of a * package, or declare the * in a package that is *",
        Edits(&[|s, _| s.text("acme.order.v1alpha.Orders", "acme.order.v1.Orders")]),
    ),
    ("name an element that is not deprecated", Edits(&[|s, _| s.at_string("nickname")])),
    (
        "name it `*` or `*`",
        Edits(&[|s, holes| s.named_type(holes[0]), |s, holes| s.named_type(holes[1])]),
    ),
    (
        "name it with the key `@type`, with a comment `# proto-message: NAME` before it, or, for `abide config`, with `--type`",
        Edits(&[
            |s, _| s.at_top("\"@type\": acme.user.v1.User\n"),
            |s, _| s.at_top("# proto-message: acme.user.v1.User\n"),
        ]),
    ),
    ("name the element to use instead", Edits(&[|s, _| s.at_string("nickname")])),
    (
        "name the message of the previous version",
        Edits(&[|s, _| s.at_string("acme.user.v1.Group")]),
    ),
    (
        "name the message that it was made from, or remove the annotation",
        Edits(&[|s, _| s.at_string("acme.user.v1.User")]),
    ),
    (
        "pass its folder with `-I DIR`, or add the folder to `import-paths` in abide.toml",
        Person("where the file lies is not known"),
    ),
    (
        "promote it to beta or stable, or delete it",
        Edits(&[|s, _| s.version("v1beta1"), |s, _| s.version("v1"), delete_file]),
    ),
    (
        "set `features.default_symbol_visibility = EXPORT_ALL` for the file: `STRICT` exports \
         nothing nested",
        Edits(&[|s, _| {
            s.after_line_of("package", "option features.default_symbol_visibility = EXPORT_ALL;")
        }]),
    ),
    (
        "put `export` before the declaration",
        Edits(&[|s, _| s.text("local message", "export message")]),
    ),
    (
        "put it back and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version",
        Edits(&[put_back]),
    ),
    (
        "put it back and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version; if it has to go now, add `*` to * `*` and waive this",
        Edits(&[put_back, reserve_and_waive]),
    ),
    (
        "put it back with `option allow_alias = true;` and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version; if it has to go now, add `*` to * `*` and waive this",
        Edits(&[
            |s, _| {
                put_back(s, &[])
                    .text("enum Color {\n", "enum Color {\n  option allow_alias = true;\n")
            },
            reserve_and_waive,
        ]),
    ),
    (
        "rename the other `*`, put it back and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version",
        Edits(&[|s, _| {
            put_back(s, &[]).text(
                "extend Group {\n  optional string nick",
                "extend Group {\n  optional string nick_of_group",
            )
        }]),
    ),
    ("remove it when every reader knows `*`, which is set as well", Edits(&[remove_line])),
    (
        "put it back around its fields; `abide upgrade` leaves it out of the next major version",
        Edits(&[|s, _| s.text("  string card = 1;", "  oneof method { string card = 1; }")]),
    ),
    (
        "give `*` its number * back, and put `*` back; `abide upgrade` leaves it out of the next major version; if it has to go now, add `*` to * `*` and waive this",
        Edits(&[|s, holes| old_numbers(s, &[]).with_declaration(holes[2]), reserve_and_waive]),
    ),
    (
        "give `*` its old number back, and put `*` back",
        Edits(&[|s, _| old_numbers(s, &[]).with_old_line()]),
    ),
    ("give each field its old name back", Edits(&[old_names])),
    (
        "take it out of `*`, put it back; `abide upgrade` leaves it out of the next major version",
        Edits(&[put_back]),
    ),
    (
        "take it out of `*`, put it back and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version",
        Edits(&[put_back]),
    ),
    (
        "take it out of `*`, put it back and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version; if it has to go now, add `*` to * `*` and waive this",
        Edits(&[put_back, reserve_and_waive]),
    ),
    (
        "take it out of `*`, put it back and deprecate it, with a comment on what to use instead; `abide upgrade` leaves it out of the next major version; if it has to go now, take * out of `extensions` and add `*` to * `*` and waive this",
        Edits(&[put_back, reserve_and_waive]),
    ),
    (
        "take the numbers out of `extensions` and reserve them again, because old data may still have them",
        Edits(&[|s, _| s.text("extensions 100 to 199", "reserved 100;\n  extensions 101 to 199")]),
    ),
    (
        "put the noun last, such as `error_reason` for `reason_for_error`",
        Edits(&[|s, _| {
            s.renamed(if s.word() == "UserWithRole" { "RoleUser" } else { "error_reason" })
        }]),
    ),
    (
        "put the range back; if no extension uses the numbers, reserve them and waive this",
        Edits(&[
            |s, _| s.text("150 to 180", "100 to 199"),
            |s, _| s.in_container("  reserved 100 to 149, 181 to 199;\n").waived(),
        ]),
    ),
    (
        "refer to the resource by its name, or remove the annotation",
        Edits(&[|s, _| s.at_line("int64 group", "string group"), drop_option]),
    ),
    ("release `*` first, or delete one of the two", Edits(&[|s, _| s.version("v2"), delete_file])),
    ("remove `*` when every reader knows `*`", Edits(&[remove_line])),
    ("remove `*`, or what contradicts it", Edits(&[drop_option])),
    (
        "remove `body`: servers and proxies may drop it",
        Edits(&[|s, _| s.text("      body: \"*\"\n", "")]),
    ),
    (
        "remove `deprecated` from one of the two zero values",
        Edits(&[|s, _| s.text("SHAPE_NONE = 0 [deprecated = true]", "SHAPE_NONE = 0")]),
    ),
    ("remove `disallowed_by_default` until then", Edits(&[drop_option])),
    (
        "remove the mark; what is to go can be deprecated",
        Person("whether the promise is withdrawn is a decision"),
    ),
    ("remove `optional`: a resource without a name cannot be found", Edits(&[remove])),
    ("remove `promote_to_oneof`, or change what prevents the promotion", Edits(&[drop_option])),
    ("remove it", Edits(&[remove])),
    (
        "remove it, and reserve its number and name",
        Edits(&[|s, _| {
            s.without_statement().in_message("User", "  reserved 1;\n  reserved \"nick\";\n")
        }]),
    ),
    ("remove it: no element can have this name", Edits(&[remove_line])),
    ("remove one of the imports", Edits(&[remove_line])),
    (
        "remove the dependency, or add `*` to `allow` in `[dependencies]`",
        Edits(&[|s, holes| s.listed("dependencies", "allow", holes[0])]),
    ),
    ("remove the feature from this field", Edits(&[drop_option])),
    ("choose another name, or remove the migration", Edits(&[drop_option])),
    ("remove the key, unless a resource from elsewhere uses the element", Edits(&[remove_line])),
    (
        "remove the mark, or move the element to an alpha package until it is ready",
        Edits(&[remove_line, |s, _| s.version("v1alpha")]),
    ),
    (
        "rename it to `*.proto`, and update what imports it",
        Edits(&[|s, holes| s.moved_to(&format!("acme/user/v1/{}.proto", holes[0]))]),
    ),
    (
        "rename it to `*` before anybody relies on the name",
        Edits(&[|s, holes| s.renamed(holes[0])]),
    ),
    (
        "rename it to `*`, so that it can have its own versions",
        Edits(&[|s, holes| s.renamed(holes[0])]),
    ),
    (
        "rename it, or set `features.enforce_naming_style = STYLE_LEGACY`",
        Edits(&[
            |s, _| s.renamed("UserRecord"),
            |s, _| s.at_line("{}", "{ option features.enforce_naming_style = STYLE_LEGACY; }"),
        ]),
    ),
    ("rename one of them", Edits(&[|s, _| s.at_span("Somebody")])),
    ("replace `*` with `*`", Edits(&[|s, holes| s.at_span(holes[1])])),
    (
        "replace `*` by a version of the form `vN` or `vNalpha` or `vNalphaM`",
        Edits(&[|s, _| s.version("v1"), |s, _| s.version("v1alpha"), |s, _| s.version("v1alpha2")]),
    ),
    (
        "reserve the name of what was removed as well",
        Edits(&[|s, _| s.after_line("  reserved \"mail\";")]),
    ),
    (
        "reserve the number of what was removed as well",
        Edits(&[|s, _| s.after_line("  reserved 1;")]),
    ),
    ("reserve them again, because old data may still have them", Edits(&[old_reserved])),
    ("run `abide bump --write *", Person("what is recorded is tested with bumps")),
    ("run `abide bump --write`", Person("what is recorded is tested with bumps")),
    (
        "run `abide upgrade --write --overwrite` to replace it; or, if people maintain this package, set `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]",
        Edits(&[by_hand_in_config]),
    ),
    (
        "say in a sentence what it is for",
        Edits(&[|s, _| s.before_line("  // Where letters go.\n")]),
    ),
    (
        "say in a sentence what the file is for, or who may use it",
        Edits(&[|s, _| s.at_top("// Who has an account.\n\n")]),
    ),
    ("say in its comment what to use instead", Edits(&[|s, _| s.comment_above("Use `nickname`.")])),
    ("send the endpoints by EDS, or keep the cluster in the bootstrap", Edits(&[remove_line])),
    (
        "set `(google.api.field_behavior)` to `*`, `*` or `*`",
        Edits(&[
            |s, holes| s.in_line(";", &format!(" [(google.api.field_behavior) = {}];", holes[0])),
            |s, holes| s.in_line(";", &format!(" [(google.api.field_behavior) = {}];", holes[1])),
            |s, holes| s.in_line(";", &format!(" [(google.api.field_behavior) = {}];", holes[2])),
        ]),
    ),
    ("set `drain_type: MODIFY_ONLY`", Edits(&[|s, _| s.after_line("drain_type: MODIFY_ONLY")])),
    (
        "set `deprecated_at` to the day on which this is merged, or to the next version",
        Person("the day of the merge is not known before"),
    ),
    (
        "set `package_version_status` of `*` to frozen",
        Edits(&[|s, _| s.at_line("_ACTIVE", "_FROZEN")]),
    ),
    (
        "set `singular`, which generated names are made of",
        Edits(&[|s, _| {
            s.text("    plural: \"users\"\n", "    plural: \"users\"\n    singular: \"user\"\n")
        }]),
    ),
    (
        "set `*`: readers refuse a `*` without it",
        Edits(&[|s, holes| s.after_line(&format!("{}: Ann", holes[0]))]),
    ),
    (
        "set it to active, frozen or next major version candidate",
        Edits(&[
            |s, _| s.with_file_policy("package_version_status = PACKAGE_VERSION_STATUS_ACTIVE"),
            |s, _| s.with_file_policy("package_version_status = PACKAGE_VERSION_STATUS_FROZEN"),
        ]),
    ),
    (
        "set it to the same value in all files of the package",
        Edits(&[|s, _| {
            let (own, other) = ("\"com.acme.user\"", "\"com.acme.users\"");
            if s.word().contains(other) { s.at_line(other, own) } else { s.at_line(own, other) }
        }]),
    ),
    (
        "sort the names by their bytes",
        Edits(&[|s, _| s.text("com.acme.lb.zones\ncom.acme.Auth", "com.acme.Auth").sorted()]),
    ),
    ("start the enum with `*`", Edits(&[|s, holes| s.renamed(holes[0])])),
    (
        "start with a value `0` that means unspecified",
        Edits(&[|s, _| s.before_line("  COLOR_UNSPECIFIED = 0;\n")]),
    ),
    ("the next free number is `*`", Edits(&[|s, holes| s.at_span(holes[0])])),
    (
        "to check both, each on its own, set `roots = [*]` in `abide.toml`; to leave `*` out, list it in a file `.ignore`",
        Person("roots belong to the command line, and are tested there"),
    ),
    (
        "undo the change of the imported file, or use it from the next major version on",
        Person("the file is another one, which is not checked"),
    ),
    (
        "undo the change here, and make it in the active major version",
        Edits(&[|s, _| s.text("  string nickname = 2;\n", "")]),
    ),
    ("use GET", Edits(&[|s, _| s.text("post:", "get:")])),
    (
        "use `min_len`, which counts characters; for 1 both mean the same",
        Edits(&[|s, _| s.text("min_bytes", "min_len")]),
    ),
    ("use `*`", Edits(&[use_instead])),
    ("use `*`, or take the older one with `--allow-previous-major`", Edits(&[use_instead])),
    (
        "use `*`; if that breaks `*`, do it in its next major version",
        Edits(&[|s, holes| {
            let name = holes[0];
            s.at_span(name).text("acme/price/v1", "acme/price/v2")
        }]),
    ),
    (
        "use a method with one request and one response, such as a list with pages",
        Edits(&[|s, _| s.at_line("stream ", "")]),
    ),
    (
        "use a version that is alpha or stable",
        Edits(&[|s, _| s.version("v1alpha1"), |s, _| s.version("v1")]),
    ),
    (
        "use a * version of it, or copy what you need into a * package",
        Person("which types to copy is a decision"),
    ),
    ("use v* in `*_package`", Edits(&[|s, holes| s.at_line("v1", &format!("v{}", holes[0]))])),
    ("write `*` to keep the old JSON name", Edits(&[json_name])),
    ("write `*` to keep the old text", Edits(&[old_line])),
    ("remove the option `(pb.enumvalue.json).string`: a new value can have it", Edits(&[old_line])),
    (
        "write `abide:allow(RULE): REASON` or `abide:allow(RULE, until = \"2027-06-30\"): REASON`; `from`, `to` and `fingerprint` are written like `until`",
        Edits(&[|s, _| s.at_line("missing)", "missing): moves to v1")]),
    ),
    (
        "write `true` or `false` without quotes",
        Edits(&[|s, _| s.at_line("0.5", "true"), |s, _| s.at_line("0.5", "false")]),
    ),
    ("write `true` without quotes", Edits(&[|s, _| s.at_span("true")])),
    ("write `*`", Edits(&[|s, holes| s.at_span(holes[0])])),
    (
        "write a version, such as `*` or `*`, or a day, such as `*`",
        Edits(&[
            |s, holes| s.at_string(holes[0]),
            |s, holes| s.at_string(holes[1]),
            |s, holes| s.at_string(holes[2]),
        ]),
    ),
    ("write it as `User`", Edits(&[|s, _| s.text("example.com/user\"", "example.com/User\"")])),
    (
        "write it as `users/{user}`",
        Edits(&[|s, _| s.text("\"users/{userId}\"", "\"users/{user}\"")]),
    ),
    (
        "write it as `v3`, `v3alpha`, `v3alpha1`, `v3beta1` or `v3p1beta1`",
        Edits(&[
            |s, _| s.version("v3"),
            |s, _| s.version("v3alpha"),
            |s, _| s.version("v3alpha1"),
            |s, _| s.version("v3beta1"),
            |s, _| s.version("v3p1beta1"),
        ]),
    ),
    ("write it as `*`", Edits(&[|s, holes| s.version(holes[0])])),
    ("write it as one text", Edits(&[|s, _| s.at_span("5s")])),
    ("write it in `[` and `]`", Edits(&[|s, _| s.at_span(&format!("[{}]", s.word()))])),
    (
        "write lower-case words with dots, the owner first: `com.acme.feature`",
        Edits(&[|s, _| s.at_span("com.acme.mesh")]),
    ),
    (
        "run `abide edition --to * --write`, which changes nothing else",
        Edits(&[|s, holes| s.text("edition = \"2023\"", &format!("edition = \"{}\"", holes[0]))]),
    ),
    (
        "write new files in the common language; changing a released file may break it",
        Edits(&[|s, _| s.text("\"proto2\"", "\"proto3\"")]),
    ),
    ("YAML takes the word `*` for a *; quote it: `*`", Edits(&[|s, holes| s.at_span(holes[2])])),
];

/// The texts that stand for the `*` of a pattern, if it fits.
fn fits<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut parts = pattern.split('*');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut holes = Vec::new();
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        let end = if at + 1 == parts.len() && part.is_empty() {
            rest.len()
        } else if at + 1 == parts.len() {
            rest.strip_suffix(part)?.len()
        } else {
            rest.find(part)?
        };
        holes.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(holes)
}

/// The way of a help: of the patterns that fit, the one with the most words of its own.
fn way_of(help: &str) -> Option<(usize, Vec<&str>)> {
    let fitting = ADVICE.iter().enumerate().filter_map(|(at, (pattern, _))| {
        Some((pattern.len() - pattern.matches('*').count(), at, fits(pattern, help)?))
    });
    fitting.max_by_key(|(length, ..)| *length).map(|(_, at, holes)| (at, holes))
}

/// How many findings of at least some severity each rule has.
fn counts(judged: &Judged, least: Severity) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for finding in judged.report.findings.iter().filter(|it| it.severity >= least) {
        *counts.entry(finding.rule).or_default() += 1;
    }
    counts
}

/// A case without the imports that nothing uses since it was mended: they went with what was theirs.
fn tidied(case: &Case, imports: &Imports) -> Result<Judged, String> {
    let judged = Judged::of(case, imports, true)?;
    let unused: Vec<&Fix> = judged
        .report
        .findings
        .iter()
        .filter(|it| it.rule == ProblemKind::ImportUnused.id())
        .flat_map(|it| it.fixes.first())
        .collect();
    let Some(fix) = unused.first() else { return Ok(judged) };
    tidied(&fixed(case, fix, &judged), imports)
}

/// What may be left of a finding that is mended.
#[derive(Clone, Copy)]
enum Kept {
    Nothing,
    /// What a fix cannot mend, which has another message: a removal is one also if it is reserved.
    Rest,
}

/// What is wrong with a case that was mended; nothing if the finding is gone and no other came. What
/// is less severe than a warning, and than the finding, does not count: a change that breaks nobody is
/// a note.
fn complaint(
    finding: &Finding,
    before: &Judged,
    case: &Case,
    imports: &Imports,
    kept: Kept,
) -> Option<String> {
    let is_about_imports = finding.rule == ProblemKind::ImportUnused.id();
    let after = match is_about_imports {
        true => Judged::of(case, imports, true),
        false => tidied(case, imports),
    };
    let after = match after {
        Ok(after) => after,
        Err(error) => return Some(error),
    };
    let least = finding.severity.min(Severity::Warning);
    let (was, is) = (counts(before, least), counts(&after, least));
    let is_other = |rule: &str| rule != finding.rule;
    let rises =
        is.iter().filter(|(rule, count)| **count > was.get(**rule).copied().unwrap_or(0)).filter(
            |(rule, _)| finding.severity > Severity::Note || is_other(rule) && !is_change(rule),
        );
    let new: Vec<String> = rises
        .flat_map(|(rule, _)| after.report.findings.iter().filter(move |it| it.rule == *rule))
        .map(|it| format!("{}: {}", it.rule, it.message))
        .collect();
    if !new.is_empty() {
        return Some(format!("now there is {}", new.join("; ")));
    }
    let is_mended = match kept {
        Kept::Nothing => is.get(finding.rule) < was.get(finding.rule),
        Kept::Rest => {
            let is_same = |it: &&Finding| it.rule == finding.rule && it.message == finding.message;
            let count = |judged: &Judged| judged.report.findings.iter().filter(is_same).count();
            count(&after) < count(before)
        }
    };
    (!is_mended).then(|| "the finding is still there".to_owned())
}

fn is_change(rule: &str) -> bool {
    find_rule(rule).is_some_and(|it| it.group == Group::Compatibility)
}

#[test]
fn advice_that_is_obeyed_mends_the_finding_and_adds_none() {
    let imports = imports();
    let pages = RULES.par_iter().map(|rule| {
        let (mut used, mut complaints) = (BTreeSet::new(), String::new());
        for case in cases(rule.page) {
            let judged = Judged::of(&case, &imports, rule.group == Group::Compatibility);
            let judged = judged.expect("the pages are judged by another test");
            for finding in &judged.report.findings {
                let Some(help) = &finding.help else { continue };
                // Where the annotation comes from is beside the advice.
                let help = help.split(" (`import ").next().unwrap_or_default();
                let mut say = |what: &str, why: &str| {
                    let message = &finding.message;
                    complaints += &format!("{}: {message}\n  {what}\n  {why}\n", finding.rule);
                };
                let Some((at, holes)) = way_of(help) else {
                    say(help, "no entry of `ADVICE` says how this is obeyed");
                    continue;
                };
                used.insert(at);
                let ways = match &ADVICE[at].1 {
                    Edits(ways) => ways,
                    Person(reason) => {
                        assert!(!reason.is_empty(), "no reason why a person obeys `{help}`");
                        continue;
                    }
                };
                for (number, act) in ways.iter().enumerate() {
                    let subject = Subject::new(&case, finding, &judged);
                    let mended = act(&subject, &holes).case;
                    if let Some(why) = complaint(finding, &judged, &mended, &imports, Kept::Nothing)
                    {
                        let shown: Vec<&str> = mended
                            .files
                            .iter()
                            .filter(|it| !it.old)
                            .map(|it| it.text.as_str())
                            .collect();
                        say(
                            &format!("{help} (way {number})"),
                            &format!("{why}\n{}", shown.join("---\n")),
                        );
                    }
                }
            }
        }
        (used, complaints)
    });
    let (used, complaints): (Vec<BTreeSet<usize>>, Vec<String>) = pages.unzip();
    let mut complaints = complaints.concat();
    let used: BTreeSet<usize> = used.into_iter().flatten().collect();
    for (at, (pattern, _)) in ADVICE.iter().enumerate().filter(|(at, _)| !used.contains(at)) {
        complaints += &format!("entry {at}: nothing says `{pattern}`\n");
    }
    assert!(complaints.is_empty(), "{complaints}");
}

/// The case after the edits of a fix.
fn fixed(case: &Case, fix: &Fix, judged: &Judged) -> Case {
    let mut case = case.clone();
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|it| std::cmp::Reverse(it.location.span.start));
    for edit in edits {
        let text = text_at(&mut case, judged, edit.location.origin);
        text.replace_range(edit.location.span.range(), &edit.text);
    }
    case
}

#[test]
fn a_fix_mends_its_finding_and_adds_none() {
    let imports = imports();
    let pages = RULES.par_iter().map(|rule| {
        let mut complaints = String::new();
        for case in cases(rule.page) {
            let judged = Judged::of(&case, &imports, rule.group == Group::Compatibility);
            let judged = judged.expect("the pages are judged by another test");
            for finding in &judged.report.findings {
                for fix in finding.fixes.iter().filter(|it| it.applied == Applied::Always) {
                    let why = complaint(
                        finding,
                        &judged,
                        &fixed(&case, fix, &judged),
                        &imports,
                        Kept::Rest,
                    );
                    if let Some(why) = why {
                        complaints += &format!(
                            "{}: {}\n  {}: {why}\n",
                            finding.rule, finding.message, fix.title
                        );
                    }
                }
            }
        }
        complaints
    });
    let complaints = pages.collect::<Vec<_>>().concat();
    assert!(complaints.is_empty(), "{complaints}");
}
