//! Files with comments and options at any place, and the law of a layout: what a file says stays.
//!
//! The soundness program runs the same on many more of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree, encode_file};
use abide_syntax::{Lexer, Span, TokenKind, find_comments, skip_byte_order_mark};
use fastrand::Rng;

/// A layout of a text; `None` if the text has syntax errors.
pub(crate) type Layout = fn(&[u8]) -> Option<Vec<u8>>;

/// The options that the files below use.
pub(crate) const OPTIONS: &str = r#"syntax = "proto2";
package acme.opts;
import "google/protobuf/descriptor.proto";
message One { optional int32 a = 1; optional int32 b = 2; repeated int32 list = 3; optional One in = 4; repeated One many = 5; extensions 100 to 200; }
extend One { optional One inner = 100; repeated string words = 101; }
extend google.protobuf.FileOptions { optional One one = 50001; repeated string list = 50002; repeated One all = 50003; optional string word = 50004; }
extend google.protobuf.MessageOptions { optional One message = 50001; repeated int32 numbers = 50002; }
extend google.protobuf.FieldOptions { optional One field = 50001; repeated string names = 50002; }
extend google.protobuf.OneofOptions { optional bool oneof = 50001; }
extend google.protobuf.EnumOptions { optional bool enum = 50001; }
extend google.protobuf.EnumValueOptions { optional One value = 50001; }
extend google.protobuf.ServiceOptions { optional One service = 50001; }
extend google.protobuf.MethodOptions { repeated One method = 50001; }
"#;

/// Files of every shape. Options stand behind the mark.
const SHAPES: [&str; 5] = [
    r#"syntax = "proto3";
package acme.opts.use;
import "z.proto";
import public "acme/opts.proto";
import "a.proto";
@
message A {
  option no_standard_descriptor_accessor = true;
  option (message) = { a: 1 in: { b: 2 }, [acme.opts.inner] { a: 1 }; list: [ 1, 2 ] };
  string a = 1;
  repeated .acme.opts.One b = 2 [ deprecated = true ];
  map<string, A> c = 3 [ (names) = "a" "b", (field).b = -1, (acme.opts.names) = "c" ];
  oneof d { option (oneof) = true; int32 e = 4; A f = 5 [ json_name = "g" ]; }
  reserved 10, 12 to 14, 100 to max;
  reserved "x", "y" "z";
  message B { enum C { D = 0; } C c = 1; }
  message E {}
}
enum F { option allow_alias = true; G = 0; H = 0x1 [ (value) = { a: 1 } ]; I = 1; reserved -3 to -1; }
service J {
  option (service).in.a = 1;
  rpc K ( A ) returns ( stream A );
  rpc L ( stream A ) returns ( .acme.opts.use.A ) { option (method) = { a: 1 }; option (method) = { b: 2 }; }
  rpc M ( A ) returns ( A ) {}
}
"#,
    r#"syntax = "proto2";
package acme.opts.use;
@
import "acme/opts.proto";
message A {
  optional group B = 1 { optional int32 a = 1 [ default = -5 ]; }
  repeated group C = 2 [ deprecated = true ] {};
  extensions 100 to 199, 300 [ verification = UNVERIFIED ];
  extensions 500 to max;
  extend A { optional string d = 100; repeated group L = 101 { optional int32 a = 1; } };
  oneof e { string f = 3; group G = 4 { } };
  optional string h = 5 [ default = "x" 'y' ];
  optional double i = 6 [ default = -inf, (field) = { many: [ { a: 1 }, { b: 2 } ] many < list: [] > } ];
};
extend A { optional A j = 150; };
extend A {optional F k = 151 [ default = G ];}
enum F { G = 1; H = -2; };
;
"#,
    r#"edition = "2023";
package acme.opts.use;
option features.field_presence = IMPLICIT;
option features.enum_type = OPEN;
@
import "acme/opts.proto";
message A {
  reserved a, b;
  reserved 5;
  int32 c = 1 [ features.field_presence = EXPLICIT, default = 3 ];
  A d = 2 [ features = { message_encoding: DELIMITED } ];
  enum E { option features = { enum_type: CLOSED }; F = 1; reserved G, H; }
  message I { message J { message K { } ; } ; };
}
"#,
    r#"package acme.opts.use; import "acme/opts.proto"; @ message A { message B { optional A a = 1; ; optional B b = 2; } enum C { D = 0; E = 1; } ; optional C c = 1; } ; service F { rpc G ( A ) returns ( A ) { option deprecated = true; } ; } ;"#,
    r#"import "acme/opts.proto";
package acme.opts.use;
@
message A {
}

message B {

  optional int32 a = 1;

  optional int32 b = 2;

}
enum C {

  D = 0;

}
"#,
];

/// A file of some shape, with options, white space and comments somewhere.
pub(crate) fn placed(rng: &mut Rng) -> Vec<u8> {
    let shape = SHAPES[rng.usize(..SHAPES.len())];
    let (before, after) = shape.split_once('@').expect("each shape has the mark");
    let text = [before, &options(rng), after].concat();
    let gaps = gaps(text.as_bytes());
    let comments = rng.usize(..5);
    let chosen: Vec<usize> = (0..comments).map(|_| rng.usize(..gaps.len())).collect();
    let spreads = rng.u8(..3) == 0;
    let mut out = String::new();
    let mut start = 0;
    for (at, gap) in gaps.iter().enumerate() {
        out.push_str(&text[start..gap.start as usize]);
        start = gap.end as usize;
        let own = gap.str(text.as_bytes());
        let is_needed = !own.is_empty() || at == 0;
        let white = match rng.u8(..8) {
            0 if spreads => pick(rng, &["\n", "\n\n", "\n\n\n", "  ", "\t", "\n \n"]),
            1 if spreads && is_needed => " ",
            _ => own,
        };
        out.push_str(white);
        for _ in chosen.iter().filter(|it| **it == at) {
            for _ in 0..rng.usize(1..4) {
                comment(rng, &mut out);
            }
        }
    }
    out.push_str(&text[start..]);
    match rng.u8(..12) {
        0 | 1 => out = out.replace('\n', "\r\n"),
        2 => out.truncate(out.trim_end().len()),
        3 => out.insert(0, '\u{feff}'),
        _ => {}
    }
    out.into_bytes()
}

fn pick<'a>(rng: &mut Rng, among: &[&'a str]) -> &'a str {
    among[rng.usize(..among.len())]
}

/// Options of the file in all spellings. Whole ones come before parts of them, as protoc wants it.
fn options(rng: &mut Rng) -> String {
    let mut statements = Vec::new();
    if rng.bool() {
        statements.push((0, format!("option {} = {{ a: 1 list: 7 }};", spelled(rng, "one"))));
    } else {
        statements.push((0, format!("option {}.a = 1;", spelled(rng, "one"))));
    }
    statements.push((1, format!("option {}.b = 2;", spelled(rng, "one"))));
    statements.push((0, format!("option {} = \"w\";", spelled(rng, "word"))));
    statements.push((0, "option java_package = \"j\";".to_owned()));
    statements.push((0, "option cc_enable_arenas = true;".to_owned()));
    for at in 0..rng.usize(..4) {
        statements.push((1, format!("option {}.list = {at};", spelled(rng, "one"))));
        statements.push((0, format!("option {} = \"{at}\";", spelled(rng, "list"))));
        statements.push((0, format!("option {} = {{ a: {at} }};", spelled(rng, "all"))));
        let (one, words) = (spelled(rng, "one"), spelled(rng, "words"));
        statements.push((1, format!("option {one}.{words} = \"{at}\";")));
    }
    statements.retain(|_| rng.u8(..3) > 0);
    rng.shuffle(&mut statements);
    statements.sort_by_key(|it| it.0);
    let gap = |rng: &mut Rng| pick(rng, &["\n", "\n", "\n\n", " "]);
    statements.into_iter().map(|(_, it)| it + gap(rng)).collect()
}

/// A name of an extension, from any scope around it.
fn spelled(rng: &mut Rng, name: &str) -> String {
    let scope = pick(rng, &["", "opts.", "acme.opts.", ".acme.opts.", "acme . opts /* x */ ."]);
    format!("({scope}{name})")
}

/// The places between all tokens, and before and behind them.
fn gaps(text: &[u8]) -> Vec<Span> {
    let mut gaps = Vec::new();
    let mut lexer = Lexer::new(text, 0);
    let mut at = 0;
    loop {
        let token = lexer.next_token();
        gaps.push(Span::new(at, token.span.start));
        at = token.span.end;
        if token.kind == TokenKind::End {
            return gaps;
        }
    }
}

/// Adds a comment of any kind, and what stands before and behind it.
fn comment(rng: &mut Rng, out: &mut String) {
    out.push_str(pick(rng, &["", " ", "\n", "\n", "\n\n", "\n \n", "\t"]));
    let words =
        pick(rng, &["here", "two words", "über 日本", "a, b; c }", "\"", "option x = 1;", ""]);
    if rng.bool() {
        let end = pick(rng, &["", "", " ", " /*", " /v1/*", "*/", " */ ", "/", "*", "  \t", "//"]);
        let start = pick(rng, &["// ", "// ", "//", "///", "//*", "//*/"]);
        out.push_str(&format!("{start}{words}{end}\n"));
    } else {
        let end =
            pick(rng, &["", " ", " // ", "\n", "\n  * ", "\n *\n", "\n\n   more\n", " *", " \n x"]);
        let start = pick(rng, &["/* ", "/* ", "/*", "/**", "/*\n * ", "/*\n"]);
        out.push_str(&format!("{start}{words}{end}*/"));
    }
    out.push_str(pick(rng, &["", " ", "\n", "\n", "\n\n", " \n\t\n"]));
}

/// What a layout makes of a text that it must not; `None` where the law holds.
pub(crate) fn violation(text: &[u8], layout: Layout) -> Option<String> {
    let Some(made) = layout(text) else { return Some("the text has no layout".to_owned()) };
    let shown = String::from_utf8_lossy(&made);
    let because = |what: &str| Some(format!("{what}:\n{shown}"));
    let Some(again) = layout(&made) else { return because("the result does not parse") };
    if again != made {
        let again = String::from_utf8_lossy(&again);
        return because(&format!("a second run changes the result to\n{again}\n"));
    }
    if words_of_comments(text) != words_of_comments(&made) {
        return because("the comments are others");
    }
    let (mut before, mut after) = (Said::of(text), Said::of(&made));
    if !before.errors.is_empty() {
        return because(&format!("the text has errors itself, {:?}", before.errors));
    }
    if before.errors != after.errors {
        return because(&format!("{:?} became {:?}", before.errors, after.errors));
    }
    if before.descriptor != after.descriptor {
        return because("the descriptor is another");
    }
    let first = [before.first.clone(), after.first.clone()];
    before.gather_top(&first);
    after.gather_top(&first);
    let mut places = before.comments.keys().chain(after.comments.keys());
    let differs = places.find(|at| before.comments.get(*at) != after.comments.get(*at))?;
    let [before, after] = [&before, &after].map(|it| it.comments.get(differs));
    because(&format!("at {differs:?}, {before:?} became {after:?}"))
}

/// The words of every comment, sorted.
pub(crate) fn words_of_comments(text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut lexer = Lexer::new(text, skip_byte_order_mark(text));
    let mut at = skip_byte_order_mark(text);
    loop {
        let token = lexer.next_token();
        let gap = Span::new(at, token.span.start);
        found.extend(find_comments(text, gap).map(|it| {
            let text = String::from_utf8_lossy(it.span.of(text)).into_owned();
            words(text.trim_matches(['/', '*', ' ', '\t', '\r']))
        }));
        at = token.span.end;
        if token.kind == TokenKind::End {
            found.sort_unstable();
            return found;
        }
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a file says.
#[derive(Default)]
struct Said {
    /// The errors of the linker.
    errors: Vec<String>,
    /// The fields of its descriptor. Imports are sorted, with the lists that name them by index.
    descriptor: Vec<(u64, Vec<u8>)>,
    /// The comments by element: those about it before and behind, and the others before it.
    comments: BTreeMap<Path, Vec<[Vec<String>; 3]>>,
    /// The first statement.
    first: Path,
}

/// The path of an element. An import has a name, because imports are sorted.
type Path = (Vec<u64>, String);

impl Said {
    fn of(text: &[u8]) -> Said {
        let file = |path: &str, text: &[u8]| {
            let (path, text): (Arc<str>, _) = (path.into(), text.into());
            let display = Arc::clone(&path);
            Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
        };
        let empty = b"syntax = \"proto3\";\n";
        let files = vec![
            file("use.proto", text),
            file("acme/opts.proto", OPTIONS.as_bytes()),
            file("a.proto", empty),
            file("z.proto", empty),
        ];
        let tree = Tree::link(files);
        let errors = tree.problems().iter().filter(|it| it.kind.is_error());
        let errors = errors.map(|it| it.message.clone()).collect();
        let used = tree.files().find(|it| it.path() == "use.proto").expect("it is in the tree");
        let bytes = encode_file(&tree, used.id, true);
        let mut said = Said { errors, ..Said::default() };
        let fields = fields(&bytes);
        let imports: Vec<String> =
            of_number(&fields, 3).map(|it| String::from_utf8_lossy(it).into_owned()).collect();
        for (number, value) in &fields {
            match number {
                // Which imports are public is said beside their paths.
                10 | 11 => {
                    let (index, _) = varint(value);
                    said.descriptor.push((*number, imports[index as usize].clone().into_bytes()));
                }
                9 => said.locations(&imports, value),
                _ => said.descriptor.push((*number, value.to_vec())),
            }
        }
        said.descriptor.sort_by(|a, b| match a.0 == b.0 && [3, 10, 11].contains(&a.0) {
            true => a.1.cmp(&b.1),
            false => a.0.cmp(&b.0),
        });
        said
    }

    /// Takes the comments about nothing from these statements: those at the top of a file stay there,
    /// whichever statement is the first.
    fn gather_top(&mut self, first: &[Path; 2]) {
        let mut top = Vec::new();
        for path in first {
            let comments = self.comments.get_mut(path).into_iter().flatten();
            top.extend(comments.flat_map(|it| std::mem::take(&mut it[2])));
        }
        self.comments.retain(|_, all| all.iter().flatten().any(|it| !it.is_empty()));
        self.comments.insert(Path::default(), vec![[Vec::new(), Vec::new(), top]]);
    }

    fn locations(&mut self, imports: &[String], info: &[u8]) {
        for (_, location) in fields(info) {
            let location = fields(location);
            let mut path = Vec::new();
            let mut packed = of_number(&location, 1).next().unwrap_or_default();
            while !packed.is_empty() {
                let (component, length) = varint(packed);
                path.push(component);
                packed = &packed[length..];
            }
            let import = match path[..] {
                [3, index] => imports[index as usize].clone(),
                _ => String::new(),
            };
            if !import.is_empty() {
                path.truncate(1);
            }
            let texts = |number| {
                let texts = of_number(&location, number);
                texts.map(|it| words(&String::from_utf8_lossy(it))).collect::<Vec<_>>()
            };
            // The location of all options comes before that of the first.
            if self.first.0.is_empty() && path != [8] {
                self.first = (path.clone(), import.clone());
            }
            let comments = [texts(3), texts(4), texts(6)];
            if comments.iter().any(|it| !it.is_empty()) {
                self.comments.entry((path, import)).or_default().push(comments);
            }
        }
    }
}

/// The fields of a message: the bytes of each, for a number those of its varint.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (key, length) = varint(bytes);
        bytes = &bytes[length..];
        let (skipped, length) = match key & 7 {
            0 => (0, varint(bytes).1),
            1 => (0, 8),
            5 => (0, 4),
            _ => {
                let (content, skipped) = varint(bytes);
                (skipped, content as usize)
            }
        };
        found.push((key >> 3, &bytes[skipped..skipped + length]));
        bytes = &bytes[skipped + length..];
    }
    found
}

fn of_number<'b>(fields: &[(u64, &'b [u8])], number: u64) -> impl Iterator<Item = &'b [u8]> {
    fields.iter().filter(move |it| it.0 == number).map(|it| it.1)
}

/// A number, and how many bytes it takes.
fn varint(bytes: &[u8]) -> (u64, usize) {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).map_or(bytes.len(), |at| at + 1);
    let low = |byte: &u8| u64::from(byte & 0x7f);
    (bytes[..length].iter().rev().fold(0, |sum, byte| sum << 7 | low(byte)), length)
}
