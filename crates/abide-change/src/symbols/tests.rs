//! What the model claims for each shape, and what a change loses. That the
//! claims are true is for the oracle to say.

use std::sync::Arc;

use abide_schema::{Element, EnumId, File, FileDecl, MessageId, OneofId, SourceFile, Tree};

use super::{
    Correspondence, GeneratedNames, Language, Loss, find_loss, find_loss_of_file, list_symbols,
    list_symbols_of_file,
};

fn tree(files: &[(&str, &str)]) -> Tree {
    let files = files.iter().map(|(path, text)| {
        let (path, text): (Arc<str>, _) = ((*path).into(), text.as_bytes().into());
        let display = path.clone();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    });
    let tree = Tree::link(files.collect());
    let errors: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    tree
}

#[test]
fn each_language_has_a_surface_of_its_own() {
    for (at, language) in Language::ALL.into_iter().enumerate() {
        assert_eq!(language as usize, at, "{language:?}");
        assert!(language.surface().name().starts_with("source-"), "{language:?}");
    }
    assert!(Language::ALL.map(Language::surface).is_sorted_by(|a, b| a < b));
}

fn file<'t>(tree: &'t Tree, path: &str) -> File<'t> {
    tree.files().find(|file| file.path() == path).expect(path)
}

fn element<'t>(tree: &'t Tree, name: &str) -> Element<'t> {
    let mut all = tree.files().flat_map(File::elements);
    all.find(|element| element.full_name() == name).expect(name)
}

/// Elements are paired by their full names, as far as `renamed` does not say
/// that they have become others.
struct ByName<'t> {
    old: &'t Tree,
    new: &'t Tree,
    renamed: &'t [(&'t str, &'t str)],
    names: [GeneratedNames; 2],
}

impl ByName<'_> {
    fn same(&self, old: &str, new: &str) -> bool {
        let becomes = self.renamed.iter().find(|(from, _)| *from == old).map_or(old, |it| it.1);
        becomes == new
    }
}

impl Correspondence for ByName<'_> {
    fn names(&self) -> [&GeneratedNames; 2] {
        self.names.each_ref()
    }
    fn same_file(&self, old: File<'_>, new: File<'_>) -> bool {
        self.same(old.path(), new.path())
    }
    fn same_message(&self, old: MessageId, new: MessageId) -> bool {
        self.same(&self.old.message(old).full_name(), &self.new.message(new).full_name())
    }
    fn same_enum(&self, old: EnumId, new: EnumId) -> bool {
        let (old, new) = (self.old.enumeration(old), self.new.enumeration(new));
        self.same(&old.full_name(), &new.full_name())
    }
    fn same_oneof(&self, old: OneofId, new: OneofId) -> bool {
        let (old, new) = (Element::Oneof(self.old.oneof(old)), Element::Oneof(self.new.oneof(new)));
        self.same(&old.full_name(), &new.full_name())
    }
}

fn described(loss: Option<Loss>) -> String {
    match loss {
        None => "nothing".to_owned(),
        Some(Loss::Moved { old, from, to }) => format!("{}: from {from} to {to}", old.name),
        Some(Loss::Regrouped { old, from, to }) => format!("{}: of {from} to {to}", old.name),
        Some(Loss::Removed { old }) => format!("no {}", old.name),
        Some(Loss::Changed { old, new }) => {
            let renamed = if old.name == new.name { "" } else { &new.name };
            format!("{}: {} -> {renamed}{}", old.name, old.signature, new.signature)
        }
    }
}

const SHAPES: &str = r#"
syntax = "proto3";
package acme.user.v1;
option go_package = "example.com/user/v1;userv1";
message User {
  int32 id = 1;
  optional string nick = 2;
  repeated Kind kinds = 3;
  map<string, User> friends = 4;
  oneof contact {
    bytes key = 5;
  }
  User boss = 6;
  message Inner {}
}
enum Kind { KIND_UNSET = 0; }
service Users { rpc Get(User) returns (stream User.Inner); }
"#;

/// What is claimed first for each element: what its users write.
#[test]
fn every_shape_has_its_symbols() {
    let tree = tree(&[("acme/user.proto", SHAPES)]);
    let cases = [
        (Language::Cpp, "User", "acme::user::v1::User class"),
        (Language::Cpp, "User.Inner", "acme::user::v1::User::Inner class"),
        (Language::Cpp, "User.id", "acme::user::v1::User::id int32_t() const"),
        (Language::Cpp, "User.nick", "acme::user::v1::User::nick const std::string&() const"),
        (
            Language::Cpp,
            "User.kinds",
            "acme::user::v1::User::kinds acme::user::v1::Kind(int) const",
        ),
        (
            Language::Cpp,
            "User.friends",
            "acme::user::v1::User::friends \
             const google::protobuf::Map<std::string, acme::user::v1::User>&() const",
        ),
        (Language::Cpp, "User.contact", "acme::user::v1::User::contact_case ContactCase() const"),
        (
            Language::Cpp,
            "User.boss",
            "acme::user::v1::User::boss const acme::user::v1::User&() const",
        ),
        (Language::Cpp, "Kind", "acme::user::v1::Kind enum"),
        (Language::Cpp, "KIND_UNSET", "acme::user::v1::KIND_UNSET acme::user::v1::Kind"),
        (Language::Go, "User", "userv1.User struct"),
        (Language::Go, "User.Inner", "userv1.User_Inner struct"),
        (Language::Go, "User.id", "userv1.User.GetId func() int32"),
        (Language::Go, "User.nick", "userv1.User.GetNick func() string"),
        (Language::Go, "User.kinds", "userv1.User.GetKinds func() []userv1.Kind"),
        (Language::Go, "User.friends", "userv1.User.GetFriends func() map[string]*userv1.User"),
        (Language::Go, "User.contact", "userv1.User.Contact oneof"),
        (Language::Go, "User.boss", "userv1.User.GetBoss func() *userv1.User"),
        (Language::Go, "Kind", "userv1.Kind int32"),
        (Language::Go, "KIND_UNSET", "userv1.Kind_KIND_UNSET userv1.Kind"),
        (
            Language::Go,
            "Users.Get",
            "userv1.UsersClient.Get func(context.Context, *userv1.User, ...grpc.CallOption) \
             (grpc.ServerStreamingClient[userv1.User_Inner], error)",
        ),
        (Language::Java, "User", "acme.user.v1.UserOuterClass.User class"),
        (Language::Java, "User.id", "acme.user.v1.UserOuterClass.User.getId int()"),
        (Language::Java, "User.nick", "acme.user.v1.UserOuterClass.User.getNick String()"),
        (
            Language::Java,
            "User.kinds",
            "acme.user.v1.UserOuterClass.User.getKindsList \
             java.util.List<acme.user.v1.UserOuterClass.Kind>()",
        ),
        (
            Language::Java,
            "KIND_UNSET",
            "acme.user.v1.UserOuterClass.Kind.KIND_UNSET \
             constant acme.user.v1.UserOuterClass.Kind",
        ),
        (Language::Python, "User.Inner", "acme.user_pb2.User.Inner message"),
        (Language::Python, "User.id", "acme.user_pb2.User.id int"),
        (Language::Python, "User.kinds", "acme.user_pb2.User.kinds list[int]"),
        (
            Language::Python,
            "User.friends",
            "acme.user_pb2.User.friends dict[str, acme.user_pb2.User]",
        ),
        (
            Language::Python,
            "User.contact",
            "acme.user_pb2.User.WhichOneof('contact') Optional[str]",
        ),
        (Language::Python, "KIND_UNSET", "acme.user_pb2.Kind.KIND_UNSET int"),
        (
            Language::Python,
            "Users.Get",
            "acme.user_pb2_grpc.UsersStub.Get \
             unary_stream(acme.user_pb2.User, acme.user_pb2.User.Inner)",
        ),
    ];
    for (language, name, expected) in cases {
        let symbols = list_symbols(language, element(&tree, &format!("acme.user.v1.{name}")));
        let first = symbols.first().map(|it| format!("{} {}", it.name, it.signature));
        assert_eq!(first.as_deref(), Some(expected), "{language:?} {name}");
    }
}

#[test]
fn all_symbols_of_one_field() {
    let tree = tree(&[("acme/user.proto", SHAPES)]);
    let names = |language, name| -> Vec<String> {
        let element = element(&tree, &format!("acme.user.v1.{name}"));
        list_symbols(language, element).into_iter().map(|it| it.name).collect()
    };
    let own = |names: Vec<String>, scope: &str| -> Vec<String> {
        names.iter().map(|it| it.replace(scope, "")).collect()
    };
    assert_eq!(
        own(names(Language::Cpp, "User.nick"), "acme::user::v1::User::"),
        [
            "nick",
            "set_nick",
            "mutable_nick",
            "set_allocated_nick",
            "release_nick",
            "has_nick",
            "clear_nick",
            "kNickFieldNumber",
        ]
    );
    assert_eq!(
        own(names(Language::Go, "User.key"), "userv1."),
        ["User.GetKey", "User_Key", "User_Key.Key"]
    );
    assert_eq!(
        own(names(Language::Java, "User.nick"), "acme.user.v1.UserOuterClass.User."),
        [
            "getNick",
            "Builder.setNick",
            "getNickBytes",
            "Builder.setNickBytes",
            "hasNick",
            "Builder.clearNick",
            "NICK_FIELD_NUMBER",
        ]
    );
    assert_eq!(
        own(names(Language::Python, "User.nick"), "acme.user_pb2."),
        [
            "User.nick",
            "User(nick=)",
            "User.HasField('nick')",
            "User.ClearField('nick')",
            "User.NICK_FIELD_NUMBER",
        ]
    );
}

#[test]
fn synthesised_elements_have_no_symbols() {
    let tree = tree(&[("acme/user.proto", SHAPES)]);
    for language in Language::ALL {
        for name in ["User.FriendsEntry", "User.FriendsEntry.key", "User._nick"] {
            let element = element(&tree, &format!("acme.user.v1.{name}"));
            assert_eq!(list_symbols(language, element), [], "{language:?} {name}");
        }
    }
}

/// A change of one element of message `m.M`: what is lost first in C++, Go,
/// Java and Python.
#[test]
fn what_a_change_of_a_member_loses() {
    let proto2 = |body: &str| format!("syntax = 'proto2'; package m; {TYPES} {body}");
    let proto3 = |body: &str| format!("syntax = 'proto3'; package m; {TYPES} {body}");
    const TYPES: &str = "option go_package = 'x.com/m'; message A {} message B {}";
    let cases: [(&str, String, String, [&str; 4]); 14] = [
        (
            "M.f",
            proto3("message M { int32 f = 1; }"),
            proto3("message M { int64 f = 1; }"),
            [
                "m::M::f: int32_t() const -> int64_t() const",
                "m.M.GetF: func() int32 -> func() int64",
                "m.F.M.getF: int() -> long()",
                "nothing",
            ],
        ),
        (
            "M.f",
            proto3("message M { int32 f = 1; }"),
            proto3("message M { optional int32 f = 1; }"),
            ["nothing", "m.M.F: int32 -> *int32", "nothing", "nothing"],
        ),
        (
            "M.f",
            proto3("message M { optional int32 f = 1; }"),
            proto3("message M { int32 f = 1; }"),
            [
                "no m::M::has_f",
                "m.M.F: *int32 -> int32",
                "no m.F.M.hasF",
                "no f_pb2.M.HasField('f')",
            ],
        ),
        (
            "M.f",
            proto3("message M { int32 f = 1; }"),
            proto3("message M { oneof o { int32 f = 1; } }"),
            ["nothing", "no m.M.F", "nothing", "nothing"],
        ),
        (
            "M.f",
            proto3("message M { oneof o { int32 f = 1; } }"),
            proto3("message M { oneof p { int32 f = 1; } }"),
            ["m::M::kF: of o to p", "m.M_F: of o to p", "no m.F.M.OCase.F", "nothing"],
        ),
        (
            "M.f",
            proto3("message M { string f = 1; }"),
            proto3("message M { bytes f = 1; }"),
            [
                "nothing",
                "m.M.GetF: func() string -> func() []byte",
                "m.F.M.getF: String() -> com.google.protobuf.ByteString()",
                "f_pb2.M.f: str -> bytes",
            ],
        ),
        (
            "M.f",
            proto3("message M { int32 f = 1; }"),
            proto3("message M { repeated int32 f = 1; }"),
            [
                "m::M::f: int32_t() const -> int32_t(int) const",
                "m.M.GetF: func() int32 -> func() []int32",
                "m.F.M.getF: int() -> int(int)",
                "f_pb2.M.f: int -> list[int]",
            ],
        ),
        (
            "M.f",
            proto3("message M { map<string, int32> f = 1; }"),
            proto3(
                "message M { repeated E f = 1; message E { string key = 1; int32 value = 2; } }",
            ),
            [
                "m::M::f: const google::protobuf::Map<std::string, int32_t>&() const -> \
                 const m::M_E&(int) const",
                "m.M.GetF: func() map[string]int32 -> func() []*m.M_E",
                "no m.F.M.getFMap",
                "f_pb2.M.f: dict[str, int] -> list[f_pb2.M.E]",
            ],
        ),
        (
            "M.f",
            proto3("message M { A f = 1; }"),
            proto3("message M { B f = 1; }"),
            [
                "m::M::f: const m::A&() const -> const m::B&() const",
                "m.M.GetF: func() *m.A -> func() *m.B",
                "m.F.M.getF: m.F.A() -> m.F.B()",
                "f_pb2.M.f: f_pb2.A -> f_pb2.B",
            ],
        ),
        (
            "M.f",
            proto2("message M { optional E f = 1; enum E { X = 0; } }"),
            proto3("message M { optional E f = 1; enum E { X = 0; } }"),
            ["nothing", "nothing", "nothing", "nothing"],
        ),
        (
            "M.f",
            proto3("message M { optional E f = 1; enum E { X = 0; } }"),
            proto2("message M { optional E f = 1; enum E { X = 0; } }"),
            ["nothing", "nothing", "no m.F.M.getFValue", "nothing"],
        ),
        (
            "M.E",
            proto3("message M { enum E { X = 0; } }"),
            proto2("message M { enum E { X = 0; } }"),
            ["nothing", "nothing", "no m.F.M.E.UNRECOGNIZED", "nothing"],
        ),
        (
            "M.o",
            proto3("message M { oneof o { int32 f = 1; } }"),
            proto3("message M { oneof o { int32 f = 1; int32 g = 2; } }"),
            ["nothing", "nothing", "nothing", "nothing"],
        ),
        (
            "M.f",
            proto2("message M { optional string f = 1; }"),
            proto2("message M { optional string f = 1 [ctype = CORD]; }"),
            ["no m::M::f", "nothing", "nothing", "nothing"],
        ),
    ];
    for (name, old, new, expected) in cases {
        let (old_tree, new_tree) = (tree(&[("f.proto", &old)]), tree(&[("f.proto", &new)]));
        let name = format!("m.{name}");
        let pairs =
            ByName { old: &old_tree, new: &new_tree, renamed: &[], names: Default::default() };
        let (old_it, new_it) = (element(&old_tree, &name), element(&new_tree, &name));
        for (language, expected) in Language::ALL.into_iter().zip(expected) {
            let lost = described(find_loss(language, old_it, new_it, &pairs));
            assert_eq!(lost, expected, "{language:?}\n{old}\n{new}");
            let same =
                ByName { old: &old_tree, new: &old_tree, renamed: &[], names: Default::default() };
            assert_eq!(find_loss(language, old_it, old_it, &same), None, "{language:?} {old}");
        }
    }
}

/// What is renamed loses its own symbols; what is in it, or names it, does not.
#[test]
fn a_rename_is_lost_once() {
    let old = "syntax = 'proto3'; package m; option go_package = 'x.com/m';
        message Old { int32 f = 1; Old self = 2; Sub sub = 3; message Sub {} 
          enum E { X = 0; } oneof o { int32 g = 4; } E e = 5; }
        enum OldKind { Y = 0; } service OldS { rpc R(Old) returns (Old); }";
    let new = old.replace("Old", "New");
    let (old_tree, new_tree) = (tree(&[("f.proto", old)]), tree(&[("f.proto", &new)]));
    let renamed = [
        ("m.Old", "m.New"),
        ("m.Old.Sub", "m.New.Sub"),
        ("m.Old.E", "m.New.E"),
        ("m.Old.o", "m.New.o"),
        ("m.OldKind", "m.NewKind"),
    ];
    let pairs =
        ByName { old: &old_tree, new: &new_tree, renamed: &renamed, names: Default::default() };
    let mut lost = Vec::new();
    for element in file(&old_tree, "f.proto").elements() {
        let became = self::element(&new_tree, &element.full_name().replace("Old", "New"));
        for language in Language::ALL {
            if let Some(loss) = find_loss(language, element, became, &pairs) {
                lost.push(described(Some(loss)));
            }
        }
    }
    lost.sort();
    assert_eq!(
        lost,
        [
            "no f_pb2.Old",
            "no f_pb2.OldKind",
            "no f_pb2_grpc.OldSStub",
            "no m.F.Old",
            "no m.F.OldKind",
            "no m.Old",
            "no m.OldKind",
            "no m.OldSClient",
            "no m.OldSGrpc",
            "no m::Old",
            "no m::OldKind",
            "no m::OldS",
        ]
    );
}

#[test]
fn a_message_that_moves_to_another_file() {
    const HEAD: &str = "syntax = 'proto3'; package m; option go_package = 'x.com/m';";
    let with = |text: &str| format!("{HEAD}{text}");
    let old = [("a.proto", with("message M {} message Rest {}"))];
    let many = |text: &str| with(&format!("option java_multiple_files = true; {text}"));
    let cases = [
        (
            vec![("a.proto", with("message Rest {}")), ("b.proto", with("message M {}"))],
            ["m::M: from a.pb.h to b.pb.h", "nothing", "no m.A.M", "no a_pb2.M"],
        ),
        (
            vec![
                ("a.proto", with("import public 'b.proto'; message Rest {}")),
                ("b.proto", with("message M {}")),
            ],
            ["nothing", "nothing", "no m.A.M", "nothing"],
        ),
        (
            vec![("a.proto", with("message Rest { message M {} }"))],
            ["no m::M", "no m.M", "no m.A.M", "no a_pb2.M"],
        ),
    ];
    let check = |old: &[(&str, String)], new: &[(&str, String)], expected: [&str; 4]| {
        let (old_tree, new_tree) = (tree_of(old), tree_of(new));
        let renamed = [("m.M", "m.Rest.M")];
        let nested =
            new_tree.files().flat_map(File::elements).any(|it| it.full_name() == "m.Rest.M");
        let renamed = if nested { &renamed[..] } else { &[] };
        let pairs = ByName { old: &old_tree, new: &new_tree, renamed, names: Default::default() };
        let became = if nested { "m.Rest.M" } else { "m.M" };
        let (old_it, new_it) = (element(&old_tree, "m.M"), element(&new_tree, became));
        for (language, expected) in Language::ALL.into_iter().zip(expected) {
            let lost = described(find_loss(language, old_it, new_it, &pairs));
            assert_eq!(lost, expected, "{language:?} {new:?}");
        }
    };
    for (new, expected) in cases {
        check(&old, &new, expected);
    }
    let old = [("a.proto", many("message M {} message Rest {}"))];
    let new = [("a.proto", many("message Rest {}")), ("b.proto", many("message M {}"))];
    check(&old, &new, ["m::M: from a.pb.h to b.pb.h", "nothing", "nothing", "no a_pb2.M"]);
}

fn tree_of(files: &[(&str, String)]) -> Tree {
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    tree(&files)
}

/// An option of a file is lost once, by the file.
#[test]
fn what_a_change_of_a_file_loses() {
    let with = |options: &str| {
        format!(
            "syntax = 'proto3'; package m; {options} message M {{ int32 f = 1; }} \
                 enum K {{ Z = 0; }} service S {{ rpc R(M) returns (M); }}"
        )
    };
    let go = "option go_package = 'x.com/m';";
    let cases = [
        (go, "option go_package = 'x.com/n';", "nothing", "no x.com/m", "nothing", "nothing"),
        (go, "option go_package = 'x.com/m;n';", "nothing", "no m", "nothing", "nothing"),
        ("", "option java_package = 'n';", "nothing", "nothing", "no m.A.M", "nothing"),
        ("", "option java_multiple_files = true;", "nothing", "nothing", "no m.A.M", "nothing"),
        ("", "option java_outer_classname = 'N';", "nothing", "nothing", "no m.A.M", "nothing"),
        (
            "option java_multiple_files = true;",
            "option java_multiple_files = true; option java_outer_classname = 'N';",
            "nothing",
            "nothing",
            "no m.A",
            "nothing",
        ),
        (
            "",
            "option optimize_for = LITE_RUNTIME;",
            "m::M: class : google::protobuf::Message -> class : google::protobuf::MessageLite",
            "nothing",
            "nothing",
            "nothing",
        ),
        ("option cc_generic_services = true;", "", "no m::S", "nothing", "nothing", "nothing"),
        ("option py_generic_services = true;", "", "nothing", "nothing", "nothing", "no a_pb2.S"),
        ("option cc_enable_arenas = true;", "", "nothing", "nothing", "nothing", "nothing"),
    ];
    for (old, new, cpp, go, java, python) in cases {
        let (old_text, new_text) = (with(old), with(new));
        let old_tree = tree(&[("a.proto", &old_text)]);
        let new_tree = tree(&[("a.proto", &new_text)]);
        let pairs =
            ByName { old: &old_tree, new: &new_tree, renamed: &[], names: Default::default() };
        let (old_it, new_it) = (file(&old_tree, "a.proto"), file(&new_tree, "a.proto"));
        for (language, expected) in Language::ALL.into_iter().zip([cpp, go, java, python]) {
            let lost = described(find_loss_of_file(language, old_it, new_it, &pairs));
            assert_eq!(lost, expected, "{language:?} {old} -> {new}");
            for (old_it, new_it) in old_it.elements().zip(new_it.elements()) {
                let lost = find_loss(language, old_it, new_it, &pairs);
                assert_eq!(lost, None, "{language:?} {old} -> {new}: {old_it:?}");
            }
        }
    }
}

#[test]
fn a_file_that_moves_or_passes_on_less() {
    let files = |import: &str, path: &'static str| {
        let text = format!("syntax = 'proto3'; package m; option go_package = 'x.com/m'; {import}");
        let other = "syntax = 'proto3'; package n; option go_package = 'x.com/n'; message N {}";
        tree(&[(path, &text), ("n.proto", other)])
    };
    let old = files("import public 'n.proto';", "d/a.proto");
    let moved = files("import public 'n.proto';", "d/b.proto");
    let plain = files("import 'n.proto';", "d/a.proto");
    let cases = [
        (&moved, "d/b.proto", ["no d/a.pb.h", "no m.File_d_a_proto", "no m.A", "no d.a_pb2"]),
        (&plain, "d/a.proto", ["no n.pb.h", "no m.N", "nothing", "no d.a_pb2.N"]),
    ];
    for (new, path, expected) in cases {
        let pairs =
            ByName { old: &old, new, renamed: &[("d/a.proto", path)], names: Default::default() };
        for (language, expected) in Language::ALL.into_iter().zip(expected) {
            let lost =
                find_loss_of_file(language, file(&old, "d/a.proto"), file(new, path), &pairs);
            assert_eq!(described(lost), expected, "{language:?}");
        }
    }
}

/// What elements of the same file lose by features of their own, and services
/// by the options of another file.
#[test]
fn what_java_and_cpp_decide_for_each_element() {
    let nested = |option: &str| {
        let java = "import option 'google/protobuf/java_features.proto';";
        let body = format!("message M {{ {option} int32 f = 1; }} enum K {{ Z = 0; }}");
        tree(&[("f.proto", &format!("edition = '2024'; package m; {java} {body}"))])
    };
    let feature = |value: &str| format!("option features.(pb.java).nest_in_file_class = {value};");
    let (inside, outside) = (nested(&feature("YES")), nested(&feature("NO")));
    let lost = |language, old: &Tree, new: &Tree, name: &str| {
        let pairs = ByName { old, new, renamed: &[], names: Default::default() };
        described(find_loss(language, element(old, name), element(new, name), &pairs))
    };
    assert_eq!(lost(Language::Java, &inside, &outside, "m.M"), "no m.FProto.M");
    assert_eq!(lost(Language::Java, &outside, &inside, "m.M"), "no m.M");
    assert_eq!(lost(Language::Java, &inside, &outside, "m.M.f"), "nothing");
    assert_eq!(lost(Language::Java, &outside, &nested(""), "m.M"), "nothing");

    let service = |path: &'static str, option: &str| {
        let text = "message R {} service S { rpc G(R) returns (R); }";
        tree(&[(path, &format!("syntax = 'proto3'; package m; {option} {text}"))])
    };
    let generic = service("a.proto", "option cc_generic_services = true;");
    let plain = service("b.proto", "");
    let changed = "m::S: class : google::protobuf::Service -> class";
    assert_eq!(lost(Language::Cpp, &generic, &plain, "m.S"), changed);
}

/// Java and C++ take an open enum for closed in a message of proto2.
#[test]
fn an_open_enum_in_proto2_is_closed() {
    let kind = "syntax = 'proto3'; package k; enum Kind { UNSET = 0; }";
    let of = |syntax: &str| {
        let body = "import 'k.proto'; message M { repeated k.Kind kind = 1; }";
        let tree = tree(&[("k.proto", kind), ("f.proto", &format!("{syntax}; package m; {body}"))]);
        list_symbols(Language::Java, element(&tree, "m.M.kind"))
            .into_iter()
            .any(|it| it.name == "m.F.M.getKindValueList")
    };
    assert!(of("syntax = 'proto3'"));
    assert!(of("edition = '2023'"));
    assert!(!of("syntax = 'proto2'"));
}

/// What no generator at hand knows: Go in edition 2024.
#[test]
fn go_has_other_accessors_in_editions() {
    let with = |options: &str| {
        format!(
            "edition = '2024'; package m; import option 'google/protobuf/go_features.proto'; \
                 option go_package = 'x.com/m'; {options} \
                 message M {{ int32 f = 1; K k = 2; oneof o {{ string g = 3; }} }} \
                 enum K {{ K_ZERO = 0; K_ONE = 1; }}"
        )
    };
    let names = |options: &str, name: &str| -> Vec<String> {
        let tree = tree(&[("a.proto", &with(options))]);
        list_symbols(Language::Go, element(&tree, name)).into_iter().map(|it| it.name).collect()
    };
    let api = |level: &str| format!("option features.(pb.go).api_level = API_{level};");
    assert_eq!(names(&api("OPEN"), "m.M.f"), ["m.M.GetF", "m.M.F"]);
    let opaque = ["m.M.GetF", "m.M.SetF", "m.M.HasF", "m.M.ClearF", "m.M_builder.F"];
    assert_eq!(names("", "m.M.f"), opaque);
    assert_eq!(names(&api("OPAQUE"), "m.M.f"), opaque);
    assert_eq!(names(&api("HYBRID"), "m.M.f")[..3], ["m.M.GetF", "m.M.F", "m.M.SetF"]);
    assert_eq!(names("", "m.M.o"), ["m.M.WhichO", "m.M.HasO", "m.M.ClearO"]);
    let strip = |how: &str| {
        names(
            &format!("option features.(pb.go).strip_enum_prefix = STRIP_ENUM_PREFIX_{how};"),
            "m.K_ONE",
        )
    };
    assert_eq!(strip("KEEP"), ["m.K_K_ONE"]);
    assert_eq!(strip("GENERATE_BOTH"), ["m.K_K_ONE", "m.K_ONE"]);
    assert_eq!(strip("STRIP"), ["m.K_ONE"]);
}

#[test]
fn a_file_has_symbols_of_its_own() {
    let tree = tree(&[("acme/user.proto", SHAPES)]);
    let file = file(&tree, "acme/user.proto");
    let expected = [
        (Language::Cpp, "acme/user.pb.h #include"),
        (Language::Go, "example.com/user/v1 import"),
        (Language::Java, "acme.user.v1.UserOuterClass.User class"),
        (Language::Python, "acme.user_pb2 module"),
    ];
    for (language, expected) in expected {
        let symbols = list_symbols_of_file(language, file);
        assert_eq!(format!("{} {}", symbols[0].name, symbols[0].signature), expected);
    }
}
