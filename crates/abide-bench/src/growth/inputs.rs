//! Inputs of any size, each with much of one thing.

use std::fmt::Write;

use abide_harness::repository::Commit;

/// Files by their paths.
pub(super) type Files = Vec<(String, String)>;

/// What `write!` into a string never fails with.
const WRITES: &str = "a string takes any text";

/// Joins the texts of `count` things, which are numbered from 1.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (1..=count).map(text).collect()
}

/// A tree of one file.
fn one(body: &str) -> Files {
    vec![proto("acme.v1", "one", "", body)]
}

/// A file of a package, at the path that the package asks for.
fn proto(package: &str, name: &str, head: &str, body: &str) -> (String, String) {
    let folder = package.replace('.', "/");
    let text = format!("syntax = \"proto3\";\npackage {package};\n{head}{body}");
    (format!("{folder}/{name}.proto"), text)
}

/// A proto2 tree of one file.
fn proto2(body: &str) -> Files {
    vec![(
        "acme/v1/one.proto".to_owned(),
        format!("syntax = \"proto2\";\npackage acme.v1;\n{body}"),
    )]
}

/// A number for the field or the value `at`: the numbers that protobuf keeps for itself are skipped.
fn number(at: usize) -> usize {
    if at < 19_000 { at } else { at + 1_000 }
}

fn message_fields(count: usize, of: impl Fn(usize) -> String) -> String {
    format!("message M {{\n{}}}\n", each(count, of))
}

pub(super) fn fields(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  string f{at} = {};\n", number(at))))
}

pub(super) fn map_fields(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  map<string, int32> f{at} = {};\n", number(at))))
}

pub(super) fn optional_fields(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  optional int32 f{at} = {};\n", number(at))))
}

pub(super) fn groups(count: usize) -> Files {
    let group =
        |at| format!("  optional group G{at} = {} {{ optional int32 a = 1; }}\n", number(at));
    proto2(&message_fields(count, group))
}

pub(super) fn oneof_members(count: usize) -> Files {
    let members = each(count, |at| format!("    int32 f{at} = {};\n", number(at)));
    one(&format!("message M {{\n  oneof kind {{\n{members}  }}\n}}\n"))
}

pub(super) fn oneofs(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  oneof o{at} {{ int32 f{at} = {}; }}\n", number(at))))
}

pub(super) fn values(count: usize) -> Files {
    let values = each(count, |at| format!("  E_V{at} = {at};\n"));
    one(&format!("enum E {{\n  E_UNSPECIFIED = 0;\n{values}}}\n"))
}

pub(super) fn enum_aliases(count: usize) -> Files {
    let values = each(count, |at| format!("  E_V{at} = {};\n", at / 2));
    one(&format!("enum E {{\n  option allow_alias = true;\n  E_UNSPECIFIED = 0;\n{values}}}\n"))
}

/// Values that have one number without an alias.
pub(super) fn values_of_one_number(count: usize) -> Files {
    let values = each(count, |at| format!("  E_V{at} = 1;\n"));
    one(&format!("enum E {{\n  E_UNSPECIFIED = 0;\n{values}}}\n"))
}

/// Fields that have one number.
pub(super) fn fields_of_one_number(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  string f{at} = 1;\n")))
}

/// Fields that have reserved numbers.
pub(super) fn fields_of_reserved_numbers(count: usize) -> Files {
    let field = |at| format!("  reserved {0};\n  string f{at} = {0};\n", number(at));
    one(&message_fields(count, field))
}

/// Fields that have numbers which protobuf keeps for itself.
pub(super) fn fields_of_invalid_numbers(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  string f{at} = {};\n", 19_000 + at % 1_000)))
}

/// Fields with values of one enum as their defaults.
pub(super) fn enum_defaults(count: usize) -> Files {
    let values = each(count, |at| format!("  E_V{at} = {at};\n"));
    let field = |at| format!("  optional E f{at} = {} [default = E_V{at}];\n", number(at));
    proto2(&format!("enum E {{\n{values}}}\n{}", message_fields(count, field)))
}

pub(super) fn methods(count: usize) -> Files {
    let methods = each(count, |at| format!("  rpc Do{at}(M) returns (M);\n"));
    one(&format!("message M {{}}\nservice S {{\n{methods}}}\n"))
}

pub(super) fn services(count: usize) -> Files {
    one(&format!(
        "message M {{}}\n{}",
        each(count, |at| format!("service S{at} {{ rpc Do(M) returns (M); }}\n"))
    ))
}

pub(super) fn messages(count: usize) -> Files {
    one(&each(count, |at| format!("message M{at} {{ string a = 1; }}\n")))
}

pub(super) fn nested_types(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  message N{at} {{ string a = 1; }}\n")))
}

pub(super) fn enums(count: usize) -> Files {
    one(&each(count, |at| format!("enum E{at} {{ E{at}_UNSPECIFIED = 0; E{at}_ON = 1; }}\n")))
}

/// Messages that use each other in one circle.
pub(super) fn recursive_messages(count: usize) -> Files {
    one(&each(count, |at| format!("message M{at} {{ M{} next = 1; }}\n", at % count + 1)))
}

pub(super) fn reserved_ranges(count: usize) -> Files {
    let ranges = each(count, |at| format!("  reserved {} to {};\n", at * 4, at * 4 + 1));
    one(&format!("message M {{\n{ranges}  string a = 1;\n}}\n"))
}

pub(super) fn reserved_names(count: usize) -> Files {
    let names = each(count, |at| format!("  reserved \"n{at}\";\n"));
    one(&format!("message M {{\n{names}  string a = 1;\n}}\n"))
}

pub(super) fn reserved_values(count: usize) -> Files {
    let ranges = each(count, |at| format!("  reserved {} to {};\n", at * 4, at * 4 + 1));
    one(&format!("enum E {{\n{ranges}  E_UNSPECIFIED = 0;\n}}\n"))
}

pub(super) fn extension_ranges(count: usize) -> Files {
    proto2(&message_fields(count, |at| format!("  extensions {} to {};\n", at * 4, at * 4 + 1)))
}

pub(super) fn extensions(count: usize) -> Files {
    let all = each(count, |at| format!("  optional int32 e{at} = {};\n", at + 20_000));
    proto2(&format!("message M {{ extensions 20000 to max; }}\nextend M {{\n{all}}}\n"))
}

/// Extensions that the message declares.
pub(super) fn declared_extensions(count: usize) -> Files {
    let declared = each(count, |at| {
        format!(
            ",\n    declaration = {{ number: {} full_name: \".acme.v1.e{at}\" type: \"int32\" }}",
            at + 20_000
        )
    });
    let all = each(count, |at| format!("  optional int32 e{at} = {};\n", at + 20_000));
    let range = format!("extensions 20000 to max [verification = DECLARATION{declared}];");
    proto2(&format!("message M {{ {range} }}\nextend M {{\n{all}}}\n"))
}

/// Extensions in many `extend` statements.
pub(super) fn extends(count: usize) -> Files {
    let extend = |at| format!("extend M {{ optional int32 e{at} = {}; }}\n", at + 20_000);
    proto2(&format!("message M {{ extensions 20000 to max; }}\n{}", each(count, extend)))
}

/// Custom options of one message.
pub(super) fn options(count: usize) -> Files {
    let declared = each(count, |at| format!("  int32 o{at} = {};\n", at + 50_000));
    let set = each(count, |at| format!("  option (o{at}) = {at};\n"));
    let head = "import \"google/protobuf/descriptor.proto\";\n";
    let body =
        format!("extend google.protobuf.MessageOptions {{\n{declared}}}\nmessage M {{\n{set}}}\n");
    vec![proto("acme.v1", "one", head, &body)]
}

/// Custom options of the fields of one message.
pub(super) fn field_options(count: usize) -> Files {
    let head = "import \"google/protobuf/descriptor.proto\";\n";
    let declared = "extend google.protobuf.FieldOptions { string o = 50000; }\n";
    let fields = each(count, |at| format!("  string f{at} = {} [(o) = \"x{at}\"];\n", number(at)));
    vec![proto("acme.v1", "one", head, &format!("{declared}message M {{\n{fields}}}\n"))]
}

/// Entries of one aggregate value.
pub(super) fn option_entries(count: usize) -> Files {
    let head = "import \"google/protobuf/descriptor.proto\";\n";
    let declared = "message O { repeated O inner = 1; int32 n = 2; }\n\
                    extend google.protobuf.MessageOptions { O o = 50000; }\n";
    let entries = each(count, |at| format!("    inner {{ n: {at} }}\n"));
    let set = format!("message M {{\n  option (o) = {{\n{entries}  }};\n}}\n");
    vec![proto("acme.v1", "one", head, &format!("{declared}{set}"))]
}

pub(super) fn comments(count: usize) -> Files {
    one(&message_fields(count, |at| {
        format!("  // About {at}.\n  string f{at} = {};\n", number(at))
    }))
}

pub(super) fn missing_imports(count: usize) -> Files {
    let head = each(count, |at| format!("import \"gone/f{at}.proto\";\n"));
    vec![proto("acme.v1", "one", &head, "message M {}\n")]
}

/// Files that each miss an import of their own.
pub(super) fn files_with_missing_imports(count: usize) -> Files {
    (1..=count)
        .map(|at| {
            let head = format!("import \"gone/f{at}.proto\";\n");
            proto("acme.v1", &format!("f{at}"), &head, &format!("message M{at} {{}}\n"))
        })
        .collect()
}

pub(super) fn missing_names(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  Gone{at} f{at} = {};\n", number(at))))
}

pub(super) fn duplicate_names(count: usize) -> Files {
    one(&each(count, |at| format!("message M{} {{}}\n", at / 2)))
}

/// Files that all declare a message of the same name.
pub(super) fn one_name(count: usize) -> Files {
    let file = |at| proto("acme.v1", &format!("f{at}"), "", "message M { string a = 1; }\n");
    (1..=count).map(file).collect()
}

/// Files that each have a syntax error.
pub(super) fn syntax_errors(count: usize) -> Files {
    let file = |at| proto("acme.v1", &format!("f{at}"), "", "message M { string f; }\n");
    (1..=count).map(file).collect()
}

/// One file that imports and uses all others.
pub(super) fn imports(count: usize) -> Files {
    let mut files = files(count);
    let head = each(count, |at| format!("import \"acme/v1/f{at}.proto\";\n"));
    let body = message_fields(count, |at| format!("  M{at} f{at} = {};\n", number(at)));
    files.push(proto("acme.v1", "all", &head, &body));
    files
}

/// Files that each hand on all that come before.
pub(super) fn public_imports(count: usize) -> Files {
    let file = |at: usize| {
        let head = match at {
            1 => String::new(),
            _ => format!("import public \"acme/v1/f{}.proto\";\n", at - 1),
        };
        proto("acme.v1", &format!("f{at}"), &head, &format!("message M{at} {{ M1 m = 1; }}\n"))
    };
    (1..=count).map(file).collect()
}

/// The same, each in a package of its own.
pub(super) fn public_packages(count: usize) -> Files {
    let file = |at: usize| {
        let head = match at {
            1 => String::new(),
            _ => format!("import public \"acme/p{}/v1/a.proto\";\n", at - 1),
        };
        let body = format!("message M{at} {{ acme.p1.v1.M1 m = 1; }}\n");
        proto(&format!("acme.p{at}.v1"), "a", &head, &body)
    };
    (1..=count).map(file).collect()
}

/// Files that each hand on the one before and the one at half their number.
pub(super) fn public_graph(count: usize) -> Files {
    let file = |at: usize| {
        let mut before = vec![at / 2, at - 1];
        before.dedup();
        before.retain(|it| *it > 0);
        let import = |it| format!("import public \"acme/v1/f{it}.proto\";\n");
        let head: String = before.into_iter().map(import).collect();
        proto("acme.v1", &format!("f{at}"), &head, &format!("message M{at} {{ M1 m = 1; }}\n"))
    };
    (1..=count).map(file).collect()
}

pub(super) fn files(count: usize) -> Files {
    let file = |at| proto("acme.v1", &format!("f{at}"), "", &format!("message M{at} {{}}\n"));
    (1..=count).map(file).collect()
}

pub(super) fn waivers_in_comments(count: usize) -> Files {
    let field = |at| {
        format!("  // abide:allow(field-name-case): as before\n  string F{at} = {};\n", number(at))
    };
    with_config(one(&message_fields(count, field)), "")
}

/// Comments of buf that waive rules.
pub(super) fn ignore_comments(count: usize) -> Files {
    let field = |at| {
        format!("  // buf:lint:ignore FIELD_LOWER_SNAKE_CASE\n  string F{at} = {};\n", number(at))
    };
    with_config(one(&message_fields(count, field)), "")
}

/// Turns on the rule that the names below break.
const NAMES_COUNT: &str = "[rules]\nfield-name-case = \"warning\"\n";

fn with_config(mut files: Files, config: &str) -> Files {
    files.push(("abide.toml".to_owned(), format!("{NAMES_COUNT}{config}")));
    files
}

fn bad_names(count: usize) -> Files {
    one(&message_fields(count, |at| format!("  string F{at} = {};\n", number(at))))
}

/// A message of which every field breaks a rule.
pub(super) fn findings(count: usize) -> Files {
    with_config(bad_names(count), "")
}

/// Files that each break a rule.
pub(super) fn findings_in_files(count: usize) -> Files {
    let body = |at| format!("message M{at} {{ string F = 1; }}\n");
    let file = |at| proto("acme.v1", &format!("f{at}"), "", &body(at));
    with_config((1..=count).map(file).collect(), "")
}

pub(super) fn waivers_in_config(count: usize) -> Files {
    let waiver = |at| {
        format!(
            "[[waiver]]\nrule = \"field-name-case\"\nelement = \"acme.v1.M.F{at}\"\nreason = \"as before\"\n"
        )
    };
    with_config(bad_names(count), &each(count, waiver))
}

/// Waivers by fingerprints that nothing has.
pub(super) fn fingerprint_waivers(count: usize) -> Files {
    let waiver = |at| format!("[[waiver]]\nfingerprint = \"{at:016x}\"\nreason = \"as before\"\n");
    with_config(bad_names(count), &each(count, waiver))
}

pub(super) fn overrides(count: usize) -> Files {
    let one = |at| {
        format!(
            "[[override]]\npackages = [\"acme.p{at}.*\"]\nrules = {{ field-name-case = \"error\" }}\n"
        )
    };
    let file = |at| proto(&format!("acme.p{at}.v1"), "a", "", "message M { string F = 1; }\n");
    with_config((1..=count).map(file).collect(), &each(count, one))
}

/// The package `at` with one message that has a field of each of the packages.
fn package(at: usize, uses: &[usize]) -> (String, String) {
    let (mut head, mut body) = (String::new(), format!("message M{at} {{\n"));
    for (number, other) in (1..).zip(uses) {
        writeln!(head, "import \"acme/p{other}/v1/a.proto\";").expect(WRITES);
        writeln!(body, "  acme.p{other}.v1.M{other} f{number} = {number};").expect(WRITES);
    }
    body.push_str("}\n");
    proto(&format!("acme.p{at}.v1"), "a", &head, &body)
}

pub(super) fn tiny_packages(count: usize) -> Files {
    (1..=count).map(|at| package(at, &[])).collect()
}

pub(super) fn package_chain(count: usize) -> Files {
    // The first one has nothing before it.
    let before = |at: usize| at.checked_sub(1).filter(|it| *it > 0);
    (1..=count).map(|at| package(at, before(at).as_slice())).collect()
}

/// Packages that each depend on three earlier ones.
pub(super) fn package_graph(count: usize) -> Files {
    let mut random = fastrand::Rng::with_seed(1);
    let uses = |at: usize| -> Vec<usize> {
        let mut uses: Vec<usize> = (0..3.min(at - 1)).map(|_| random.usize(1..at)).collect();
        uses.sort_unstable();
        uses.dedup();
        uses
    };
    let uses: Vec<Vec<usize>> = (1..=count).map(uses).collect();
    (1..).zip(&uses).map(|(at, uses)| package(at, uses)).collect()
}

/// Packages in one circle: files cannot import each other in a circle, so each package has two.
pub(super) fn package_cycle(count: usize) -> Files {
    let both = |at| {
        let next = at % count + 1;
        let name = format!("acme.p{at}.v1");
        let head = format!("import \"acme/p{next}/v1/b.proto\";\n");
        let uses = format!("message A{at} {{ acme.p{next}.v1.B{next} b = 1; }}\n");
        [proto(&name, "a", &head, &uses), proto(&name, "b", "", &format!("message B{at} {{}}\n"))]
    };
    (1..=count).flat_map(both).collect()
}

/// Packages that each use both versions of one API, and so each have a finding.
pub(super) fn two_definitions(count: usize) -> Files {
    let version = |major| proto(&format!("shop.v{major}"), "a", "", "message M {}\n");
    let user = |at| {
        let head = "import \"shop/v1/a.proto\";\nimport \"shop/v2/a.proto\";\n";
        let body = "message M { shop.v1.M a = 1; shop.v2.M b = 2; }\n";
        proto(&format!("acme.p{at}.v1"), "a", head, body)
    };
    [version(1), version(2)].into_iter().chain((1..=count).map(user)).collect()
}

/// Major versions of one package.
pub(super) fn versions(count: usize) -> Files {
    let file = |at| proto(&format!("acme.v{at}"), "a", "", "message M { string a = 1; }\n");
    (1..=count).map(file).collect()
}

/// Packages of which every one needs a next version.
pub(super) fn rising(count: usize) -> Files {
    let body = "message M { string a = 1; string b = 2 [deprecated = true]; }\n";
    (1..=count).map(|at| proto(&format!("acme.p{at}.v1"), "a", "", body)).collect()
}

/// A message of which every field needs a next version.
pub(super) fn deprecated_fields(count: usize) -> Files {
    one(&message_fields(count, |at| {
        format!("  string f{at} = {} [deprecated = true];\n", number(at))
    }))
}

pub(super) fn removed_messages(count: usize) -> [Files; 2] {
    [messages(count), one("")]
}

pub(super) fn removed_fields(count: usize) -> [Files; 2] {
    let field = |at| format!("  string f{at} = {};\n", number(at));
    [
        one(&each(count / 50, |m| format!("message M{m} {{\n{}}}\n", each(50, field)))),
        one(&each(count / 50, |m| format!("message M{m} {{}}\n"))),
    ]
}

/// Required fields of one message, which are optional later.
pub(super) fn required_fields(count: usize) -> [Files; 2] {
    ["required", "optional"].map(|label| {
        proto2(&message_fields(count, |at| format!("  {label} string f{at} = {};\n", number(at))))
    })
}

/// Fields that are added as security fixes.
pub(super) fn security_fixes(count: usize) -> [Files; 2] {
    let field = |at| format!("  // abide:security-fix: leaked\n  string f{at} = {};\n", number(at));
    [one("message M {}\n"), one(&message_fields(count, field))]
}

pub(super) fn added_values(count: usize) -> [Files; 2] {
    [one("enum E {\n  E_UNSPECIFIED = 0;\n}\n"), values(count)]
}

pub(super) fn retyped_fields(count: usize) -> [Files; 2] {
    let of = |ty: &'static str| {
        one(&each(count / 50, |m| {
            format!("message M{m} {{\n{}}}\n", each(50, |at| format!("  {ty} f{at} = {at};\n")))
        }))
    };
    [of("string"), of("int32")]
}

pub(super) fn changed_packages(count: usize) -> [Files; 2] {
    let of = |ty: &str| {
        let body = format!("message M {{ {ty} a = 1; }}\n");
        (1..=count).map(|at| proto(&format!("acme.p{at}.v1"), "a", "", &body)).collect()
    };
    [of("string"), of("bytes")]
}

/// Commits that each rename a field in one file of the same few: the number of commits grows, and
/// the tree of each one does not, so that the repository is in proportion.
pub(super) fn commits(count: usize) -> Vec<Commit> {
    const FILES: usize = 50;
    let commit = |at: usize| {
        let name = format!("f{}", at % FILES);
        let body = format!("message M{} {{ string a{at} = 1; }}\n", at % FILES);
        let (path, text) = proto("acme.v1", &name, "", &body);
        let files = vec![(path, Some(text.into_bytes()))];
        Commit { subject: format!("change {at}"), files, side: Vec::new() }
    };
    (0..count).map(commit).collect()
}

/// A commit of a type and of packages that use it, and one that changes the type.
pub(super) fn users_of_a_changed_type(count: usize) -> Vec<Commit> {
    let of = |files: Files, subject: &str| {
        let files = files.into_iter().map(|(path, text)| (path, Some(text.into_bytes())));
        Commit { subject: subject.to_owned(), files: files.collect(), side: Vec::new() }
    };
    let used = |fields: &str| proto("acme.v1", "used", "", &format!("message M {{ {fields}}}\n"));
    let import = "import \"acme/v1/used.proto\";\n";
    let user = |at: usize| {
        let body = format!("message U{at} {{ acme.v1.M m = 1; }}\n");
        proto(&format!("acme.p{at}.v1"), "user", import, &body)
    };
    let begin = std::iter::once(used("")).chain((0..count).map(user)).collect();
    vec![of(begin, "begin"), of(vec![used("string added = 1; ")], "change")]
}
