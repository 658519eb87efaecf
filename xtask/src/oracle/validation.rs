//! Values judged by Abide and by the libraries whose annotations they are:
//! protoc-gen-validate and protovalidate, as Python packages.
//!
//! The definitions of the annotations come out of those packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use abide_schema::value::{Codec, Entry, Message, Value};
use abide_schema::{Cardinality, Field, FileDecl, MessageId, Scalar, Tree, Type};

use crate::Result;
use crate::corpora;
use crate::tools::{Protoc, stdout};

/// Where the Python packages are known to read annotations in another way than
/// what they document, by library and rule.
const EXPLAINED: &[Explained] = &[
    Explained(
        "pgv",
        "repeated bytes",
        "",
        "its Python package has no rules for items that are bytes",
    ),
    Explained(
        "pgv",
        "map bytes",
        "",
        "its Python package has no rules for map values that are bytes",
    ),
    Explained(
        "pgv",
        "string uri",
        "",
        "its Python package asks for scheme, host and path, not for the RFC",
    ),
    Explained(
        "pgv",
        "string uuid",
        "",
        "its Python package takes UUIDs without hyphens and in braces",
    ),
    Explained("pgv", "string ipv6", "%", "Python reads addresses with zones"),
    Explained("pgv", "string address", "%", "Python reads addresses with zones"),
    Explained("pgv", "pattern", "\\n", "`$` of Python matches before a final line end"),
    Explained("pgv", "well_known_regex", "\\n", "`$` of Python matches before a final line end"),
];

/// The library, a part of the rule, a part of the value, and why.
struct Explained(&'static str, &'static str, &'static str, &'static str);

impl Explained {
    fn explains(&self, (library, rule): (&str, &str), line: &str) -> bool {
        library == self.0 && rule.contains(self.1) && line.contains(self.2)
    }
}

/// Writes the definitions of both annotations; prints the folder of the one of
/// protoc-gen-validate, the set that holds that of protovalidate is written.
const DEFINITIONS: &str = "\
import os, sys
from importlib import metadata
from google.protobuf import descriptor_pb2
from protovalidate._gen.buf.validate import validate_pb
files = descriptor_pb2.FileDescriptorSet()
files.file.append(descriptor_pb2.FileDescriptorProto.FromString(validate_pb._DESC.proto.to_binary()))
open(sys.argv[1], 'wb').write(files.SerializeToString())
found = [file.locate() for file in metadata.files('protoc-gen-validate') if str(file).endswith('validate.proto')]
print(os.path.dirname(os.path.realpath(found[0])))
print(metadata.version('protovalidate'), metadata.version('protoc-gen-validate'))
";

/// One message type with the rule that it is about.
struct Subject {
    library: &'static str,
    name: String,
    rule: String,
}

/// Compares verdicts; true when none differs without a reason.
pub(crate) fn run(protoc: &Protoc, show: usize) -> Result<bool> {
    let folder = corpora::stage()?.join("validation");
    fs::create_dir_all(&folder)?;
    let definitions = folder.join("buf.binpb");
    let said = stdout(Command::new("python3").arg("-c").arg(DEFINITIONS).arg(&definitions))
        .map_err(|error| format!("`pip install protovalidate protoc-gen-validate`: {error}"))?;
    let (pgv, versions) = said.trim().split_once('\n').ok_or("no definitions were found")?;

    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut subjects = Vec::new();
    for library in ["pgv", "buf"] {
        fs::write(
            folder.join(format!("{library}.proto")),
            schema(library, &mut numbers, &mut subjects),
        )?;
    }
    let set = compiled(&folder, Path::new(pgv), &definitions, protoc)?;
    let decls = FileDecl::from_descriptor_set(&fs::read(&set)?.into())?;
    let tree = Tree::link(decls.into_iter().map(Arc::new).collect());

    let mut cases = Vec::new();
    let mut lines = String::new();
    for subject in &subjects {
        let ty = find(&tree, &subject.name).ok_or_else(|| format!("no `{}`", subject.name))?;
        let mut seen = BTreeSet::new();
        for value in values(&tree, ty, &mut numbers) {
            let bytes = Codec::new(&tree).encode(&value);
            if !seen.insert(bytes.clone()) {
                continue;
            }
            write!(lines, "{} {} ", subject.library, subject.name)?;
            bytes.iter().try_for_each(|byte| write!(lines, "{byte:02x}"))?;
            lines.push('\n');
            cases.push((subject, Codec::new(&tree).decode(ty, &bytes)?));
        }
    }
    let path = folder.join("cases.txt");
    fs::write(&path, lines)?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/oracle/validation.py");
    let theirs = stdout(Command::new("python3").arg(script).arg(&set).arg(&path))?;
    let theirs: Vec<&str> = theirs.lines().collect();
    if theirs.len() != cases.len() {
        return Err(format!("{} verdicts on {} cases", theirs.len(), cases.len()).into());
    }

    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut errors: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut different: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for ((subject, value), theirs) in cases.iter().zip(theirs) {
        let judgement = abide_change::evaluate(&tree, value);
        let ours = match (judgement.rejects(), judgement.accepts()) {
            (true, _) => "no",
            (_, true) => "yes",
            _ => "unknown",
        };
        let outcome = match (ours, theirs) {
            (_, theirs) if theirs.starts_with("error") => "they have no verdict",
            ("unknown", _) => "we say nothing",
            (ours, theirs) if ours == theirs => {
                if ours == "yes" {
                    "accepted"
                } else {
                    "rejected"
                }
            }
            _ => "different",
        };
        *counts.entry(outcome).or_default() += 1;
        let line = format!(
            "{}: `{}` ours {ours}, theirs {theirs}",
            subject.name,
            Codec::new(&tree).to_text(value).trim().replace('\n', " ")
        );
        if outcome == "they have no verdict" {
            errors.entry(theirs).or_default().push(&subject.rule);
        }
        if outcome == "different" {
            different.entry((subject.library, &subject.rule)).or_default().push(line);
        }
    }
    println!("validation: {versions}; {} cases of {} types", cases.len(), subjects.len());
    for (outcome, count) in &counts {
        println!("  {outcome}: {count}");
    }
    let mut agreed = counts.get("accepted").is_some_and(|it| *it > 0)
        && counts.get("rejected").is_some_and(|it| *it > 0);
    for (error, rules) in &errors {
        println!("    {} of {}: {error}", rules.len(), rules[0]);
    }
    let mut used = vec![0; EXPLAINED.len()];
    for (rule, lines) in &mut different {
        lines.retain(|line| {
            let known = EXPLAINED.iter().position(|it| it.explains(*rule, line));
            known.map(|at| used[at] += 1).is_none()
        });
        if !lines.is_empty() {
            agreed = false;
            println!("  {} `{}`: {} differences", rule.0, rule.1, lines.len());
            lines.iter().take(show).for_each(|line| println!("    {line}"));
        }
    }
    for (Explained(library, rule, _, why), count) in EXPLAINED.iter().zip(used) {
        println!("  {library} `{rule}`: {count} explained: {why}");
        agreed &= count > 0;
    }
    Ok(agreed)
}

fn compiled(folder: &Path, pgv: &Path, buf: &Path, protoc: &Protoc) -> Result<PathBuf> {
    let set = folder.join("schema.binpb");
    let mut command = protoc.command(&[folder, pgv]);
    command.arg(format!("--descriptor_set_in={}", buf.display()));
    command.args(["--include_imports", "-o"]).arg(&set).args(["pgv.proto", "buf.proto"]);
    stdout(&mut command)?;
    Ok(set)
}

fn find(tree: &Tree, name: &str) -> Option<MessageId> {
    let mut all = tree.files().flat_map(abide_schema::File::all_messages);
    all.find(|message| message.full_name() == name).map(|message| message.id)
}

/// A small generator of the same numbers in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

const NUMBERS: &[(&str, &str)] = &[
    ("int32", "Int32Value"),
    ("int64", "Int64Value"),
    ("uint32", "UInt32Value"),
    ("uint64", "UInt64Value"),
    ("sint32", ""),
    ("sint64", ""),
    ("fixed32", ""),
    ("fixed64", ""),
    ("sfixed32", ""),
    ("sfixed64", ""),
    ("float", "FloatValue"),
    ("double", "DoubleValue"),
];

const STRINGS: &[&str] = &[
    "len: 3",
    "min_len: 2",
    "max_len: 3",
    "min_len: 2, max_len: 4",
    "len_bytes: 4",
    "min_bytes: 3",
    "max_bytes: 3",
    "const: \"abc\"",
    "in: [\"a\", \"abc\", \"\"]",
    "not_in: [\"a\", \"abc\"]",
    "prefix: \"ab\"",
    "suffix: \"bc\"",
    "contains: \"b\"",
    "not_contains: \"b\"",
    "pattern: \"^[a-c]+$\"",
    "pattern: \"b\"",
    "pattern: \"^a?b*c$\"",
    "pattern: \"^[^a-z]{2,4}$\"",
    "pattern: \"(?i)^ABC\"",
    "pattern: \"^.$\"",
    "min_len: 1, prefix: \"a\", suffix: \"c\"",
    "max_len: 5, pattern: \"^[a-z0-9]*$\", not_in: [\"abc\"]",
    "email: true",
    "hostname: true",
    "ip: true",
    "ipv4: true",
    "ipv6: true",
    "uri: true",
    "uri_ref: true",
    "address: true",
    "uuid: true",
];

const BUF_STRINGS: &[&str] = &[
    "well_known_regex: KNOWN_REGEX_HTTP_HEADER_NAME",
    "well_known_regex: KNOWN_REGEX_HTTP_HEADER_VALUE",
    "well_known_regex: KNOWN_REGEX_HTTP_HEADER_NAME, strict: false",
    "well_known_regex: KNOWN_REGEX_HTTP_HEADER_VALUE, strict: false",
    "tuuid: true",
    "ip_with_prefixlen: true",
    "ipv4_with_prefixlen: true",
    "ipv6_with_prefixlen: true",
    "ip_prefix: true",
    "ipv4_prefix: true",
    "ipv6_prefix: true",
    "host_and_port: true",
    "ulid: true",
    "protobuf_fqn: true",
    "protobuf_dot_fqn: true",
    "min_len: 0",
    "max_len: 0",
    "len: 0",
    "email: false",
];

const PGV_STRINGS: &[&str] = &[
    "well_known_regex: HTTP_HEADER_NAME",
    "well_known_regex: HTTP_HEADER_VALUE",
    "well_known_regex: HTTP_HEADER_NAME, strict: false",
    "well_known_regex: HTTP_HEADER_VALUE, strict: false",
];

const BYTES: &[&str] = &[
    "len: 4",
    "min_len: 2",
    "max_len: 3",
    "const: \"abc\"",
    "in: [\"a\", \"abc\"]",
    "not_in: [\"a\", \"abc\"]",
    "prefix: \"ab\"",
    "suffix: \"\\xff\"",
    "contains: \"b\"",
    "ip: true",
    "ipv4: true",
    "ipv6: true",
];

const ENUMS: &[&str] = &[
    "const: 1",
    "defined_only: true",
    "in: [1, 2]",
    "not_in: [1]",
    "defined_only: true, not_in: [2]",
];

/// A schema of one library, in which each message is about one rule.
fn schema(library: &'static str, numbers: &mut Numbers, subjects: &mut Vec<Subject>) -> String {
    let buf = library == "buf";
    let import = if buf { "buf/validate/validate.proto" } else { "validate.proto" };
    let mut out = format!(
        "syntax = \"proto3\";\npackage {library};\nimport \"{import}\";\n\
         import \"google/protobuf/any.proto\";\nimport \"google/protobuf/duration.proto\";\n\
         import \"google/protobuf/timestamp.proto\";\nimport \"google/protobuf/wrappers.proto\";\n\
         enum E {{ E0 = 0; E1 = 1; E2 = 2; E5 = 5; }}\n"
    );
    let option = if buf { "buf.validate.field" } else { "validate.rules" };
    let mut add = |rule: &str, label: &str, ty: &str, rules: &str| {
        let name = format!("M{}", subjects.len());
        let field = if label == "oneof" {
            format!("oneof o {{ {ty} v = 1 [({option}) = {{{rules}}}]; string w = 2; }}")
        } else {
            format!("{label} {ty} v = 1 [({option}) = {{{rules}}}];")
        };
        writeln!(out, "message {name} {{ {field} }}").expect("a string takes all text");
        let (name, rule) =
            (format!("{library}.{name}"), format!("{label} {rule}").trim().to_owned());
        subjects.push(Subject { library, name, rule });
    };
    let ignore = |rules: &str, group: &str| {
        if buf {
            format!("{group}: {{{rules}}}, ignore: IGNORE_IF_ZERO_VALUE")
        } else {
            format!("{group}: {{{rules}, ignore_empty: true}}")
        }
    };
    // One rule in all the positions that a value can stand in.
    let mut everywhere = |rule: &str, group: &str, ty: &str, wrapper: &str, rules: &str| {
        let plain = format!("{group}: {{{rules}}}");
        add(rule, "", ty, &plain);
        add(rule, "optional", ty, &plain);
        add(rule, "oneof", ty, &plain);
        add(rule, "repeated", ty, &format!("repeated: {{items: {{{plain}}}}}"));
        add(
            &format!("map {rule}"),
            "",
            &format!("map<string, {ty}>"),
            &format!("map: {{values: {{{plain}}}}}"),
        );
        if group != "enum"
            && group != "bool"
            && group != "any"
            && group != "duration"
            && group != "timestamp"
        {
            let ignored = ignore(rules, group);
            add(&format!("{rule}, ignored"), "", ty, &ignored);
            add(&format!("{rule}, ignored"), "optional", ty, &ignored);
            if buf {
                add(
                    &format!("{rule}, ignored"),
                    "repeated",
                    ty,
                    &format!("repeated: {{items: {{{ignored}}}}}"),
                );
            }
        }
        if !wrapper.is_empty() {
            add(&format!("wrapper {rule}"), "", &format!("google.protobuf.{wrapper}"), &plain);
        }
        if buf {
            for (label, more) in [
                ("", "required: true"),
                ("optional", "required: true"),
                ("oneof", "required: true"),
                ("", "ignore: IGNORE_ALWAYS, required: true"),
                ("optional", "ignore: IGNORE_IF_ZERO_VALUE, required: true"),
            ] {
                add(&format!("{rule}, {more}"), label, ty, &format!("{plain}, {more}"));
            }
        }
    };
    for &(ty, wrapper) in NUMBERS {
        for _ in 0..10 {
            let rules = range(numbers, ty);
            everywhere(&format!("{ty} range {rules}"), ty, ty, wrapper, &rules);
        }
        for rules in
            ["const: 5", "in: [1, 5, 7]", "not_in: [1, 5]", "gt: 3, not_in: [5]", "const: 0"]
        {
            everywhere(&format!("{ty} {rules}"), ty, ty, wrapper, rules);
        }
        if buf && wrapper.starts_with(['F', 'D']) {
            everywhere(&format!("{ty} finite"), ty, ty, wrapper, "finite: true");
        }
    }
    let more = if buf { BUF_STRINGS } else { PGV_STRINGS };
    for rules in STRINGS.iter().chain(more) {
        everywhere(&format!("string {rules}"), "string", "string", "StringValue", rules);
    }
    for rules in BYTES {
        everywhere(&format!("bytes {rules}"), "bytes", "bytes", "BytesValue", rules);
    }
    if buf {
        everywhere("bytes uuid", "bytes", "bytes", "BytesValue", "uuid: true");
        everywhere("bytes pattern", "bytes", "bytes", "BytesValue", "pattern: \"^[a-c]+$\"");
    }
    for rules in ENUMS {
        everywhere(&format!("enum {rules}"), "enum", "E", "", rules);
    }
    everywhere("bool const", "bool", "bool", "BoolValue", "const: true");
    let url = "type.googleapis.com/a.B";
    everywhere("any in", "any", "google.protobuf.Any", "", &format!("in: [\"{url}\"]"));
    everywhere("any not_in", "any", "google.protobuf.Any", "", &format!("not_in: [\"{url}\"]"));
    for (group, ty) in
        [("duration", "google.protobuf.Duration"), ("timestamp", "google.protobuf.Timestamp")]
    {
        for rules in [
            "const: {seconds: 5}",
            "lt: {seconds: 5}",
            "lte: {seconds: 5}",
            "gt: {seconds: 5}",
            "gte: {seconds: 5}",
            "gt: {seconds: 5}, lt: {seconds: 9}",
            "gte: {seconds: 9}, lte: {seconds: 5}",
            "gt: {nanos: 500000000}, lte: {seconds: 5}",
            "gte: {seconds: 5}, lte: {seconds: 5}",
        ] {
            everywhere(&format!("{group} {rules}"), group, ty, "", rules);
        }
    }
    everywhere(
        "duration in",
        "duration",
        "google.protobuf.Duration",
        "",
        "in: [{seconds: 5}, {nanos: 1}]",
    );
    everywhere(
        "duration not_in",
        "duration",
        "google.protobuf.Duration",
        "",
        "not_in: [{seconds: 5}, {nanos: 1}]",
    );

    for rules in [
        "min_items: 2",
        "max_items: 2",
        "min_items: 1, max_items: 3, unique: true",
        "unique: true",
        "min_items: 2, items: {int32: {gt: 3}}",
    ] {
        for ty in ["int32", "sint64"] {
            let rules = rules.replace("int32", ty);
            add(&format!("list {rules}"), "repeated", ty, &format!("repeated: {{{rules}}}"));
            let ignored = if buf {
                format!("repeated: {{{rules}}}, ignore: IGNORE_IF_ZERO_VALUE")
            } else {
                format!("repeated: {{{rules}, ignore_empty: true}}")
            };
            add(&format!("list {rules}, ignored"), "repeated", ty, &ignored);
        }
    }
    for ty in ["string", "E", "bool"] {
        add("list unique", "repeated", ty, "repeated: {unique: true}");
    }
    for rules in [
        "min_pairs: 2",
        "max_pairs: 1",
        "keys: {string: {min_len: 2}}",
        "min_pairs: 1, keys: {string: {prefix: \"a\"}}, values: {int32: {lt: 5}}",
    ] {
        add(&format!("map {rules}"), "", "map<string, int32>", &format!("map: {{{rules}}}"));
        let ignored = if buf {
            format!("map: {{{rules}}}, ignore: IGNORE_IF_ZERO_VALUE")
        } else {
            format!("map: {{{rules}, ignore_empty: true}}")
        };
        add(&format!("map {rules}, ignored"), "", "map<string, int32>", &ignored);
    }
    add(
        "map keys",
        "",
        "map<int32, E>",
        "map: {keys: {int32: {gt: 1}}, values: {enum: {defined_only: true}}}",
    );
    if buf {
        for ty in [
            "int32",
            "string",
            "bytes",
            "bool",
            "E",
            "double",
            "google.protobuf.Duration",
            "google.protobuf.Any",
            "google.protobuf.StringValue",
        ] {
            for label in ["", "optional", "repeated", "oneof"] {
                add("required", label, ty, "required: true");
            }
        }
        add("required", "", "map<string, int32>", "required: true");
    } else {
        for (group, ty) in [("any", "Any"), ("duration", "Duration"), ("timestamp", "Timestamp")] {
            add(
                "required",
                "",
                &format!("google.protobuf.{ty}"),
                &format!("{group}: {{required: true}}"),
            );
        }
        add(
            "required",
            "",
            "google.protobuf.StringValue",
            "message: {required: true}, string: {min_len: 2}",
        );
    }

    // Messages in messages, oneofs, and messages that are not validated.
    let mut whole = |rule: &str, body: &str| {
        let name = format!("W{}", subjects.len());
        writeln!(out, "message {name} {{ {body} }}").expect("a string takes all text");
        subjects.push(Subject {
            library,
            name: format!("{library}.{name}"),
            rule: rule.to_owned(),
        });
    };
    let leaf =
        if buf { "(buf.validate.field).int32.gt = 3" } else { "(validate.rules).int32.gt = 3" };
    let inner = format!("message Inner {{ int32 v = 1 [{leaf}]; }}");
    let skip = if buf {
        "(buf.validate.field).ignore = IGNORE_ALWAYS"
    } else {
        "(validate.rules).message.skip = true"
    };
    let required = if buf {
        "(buf.validate.field).required = true"
    } else {
        "(validate.rules).message.required = true"
    };
    for label in ["", "repeated "] {
        whole("nested", &format!("{inner} {label}Inner v = 1;"));
    }
    whole("nested map", &format!("{inner} map<string, Inner> v = 1;"));
    whole("nested skipped", &format!("{inner} Inner v = 1 [{skip}];"));
    whole("nested required", &format!("{inner} Inner v = 1 [{required}];"));
    whole("nested oneof", &format!("{inner} oneof o {{ Inner v = 1 [{required}]; int32 w = 2; }}"));
    let items = if buf {
        "(buf.validate.field).repeated.items.ignore = IGNORE_ALWAYS"
    } else {
        "(validate.rules).repeated.items.message.skip = true"
    };
    whole("nested items skipped", &format!("{inner} repeated Inner v = 1 [{items}];"));
    let oneof =
        if buf { "(buf.validate.oneof).required = true" } else { "(validate.required) = true" };
    whole("oneof required", &format!("oneof o {{ option {oneof}; int32 a = 1; string b = 2; }}"));
    whole(
        "oneof members",
        &format!("oneof o {{ option {oneof}; int32 a = 1 [{leaf}]; string b = 2; }}"),
    );
    if buf {
        for more in ["", ", required: true"] {
            whole(
                "message oneof",
                &format!(
                    "option (buf.validate.message).oneof = {{fields: [\"a\", \"b\"]{more}}}; int32 a = 1 [{leaf}]; optional int32 b = 2; int32 c = 3 [{leaf}];"
                ),
            );
            whole(
                "message oneof lists",
                &format!(
                    "option (buf.validate.message).oneof = {{fields: [\"a\", \"b\"]{more}}}; repeated int32 a = 1; optional int32 b = 2;"
                ),
            );
        }
        whole(
            "ignored message",
            &format!("{inner} Inner v = 1 [(buf.validate.field).ignore = IGNORE_IF_ZERO_VALUE];"),
        );
        whole(
            "required items",
            "repeated int32 v = 1 [(buf.validate.field).repeated.items.required = true];",
        );
        whole(
            "cel",
            "int32 v = 1 [(buf.validate.field).cel = {id: \"a\", expression: \"this > 3\"}];",
        );
    } else {
        whole("disabled", &format!("option (validate.disabled) = true; int32 v = 1 [{leaf}];"));
        whole("ignored", &format!("option (validate.ignored) = true; int32 v = 1 [{leaf}];"));
    }
    out
}

/// Bounds of any kind, also those that exclude what is between them.
fn range(numbers: &mut Numbers, ty: &str) -> String {
    let bounds = if ty.starts_with('u') || ty.starts_with("fixed") {
        &[1, 3, 5, 9][..]
    } else {
        &[-4, 0, 3, 5, 9]
    };
    let (low, high) = (numbers.of(bounds), numbers.of(bounds));
    let lower = numbers.of(&["gt", "gte"]);
    let upper = numbers.of(&["lt", "lte"]);
    match numbers.below(6) {
        0 => format!("{lower}: {low}"),
        1 => format!("{upper}: {high}"),
        _ => format!("{lower}: {low}, {upper}: {high}"),
    }
}

/// Values of a type: the empty one, and others with values that rules tell
/// apart.
fn values(tree: &Tree, ty: MessageId, numbers: &mut Numbers) -> Vec<Message> {
    let message = tree.message(ty);
    let mut all = vec![Message::new(ty)];
    let fields: Vec<Field<'_>> = message.fields().collect();
    for _ in 0..24 {
        let mut value = Message::new(ty);
        for field in &fields {
            if fields.len() > 1 && numbers.below(3) == 0 {
                continue;
            }
            let count = match field.cardinality() {
                Cardinality::Singular => 1,
                Cardinality::Repeated | Cardinality::Map => numbers.below(4),
            };
            for _ in 0..count {
                let one = one(tree, *field, numbers);
                value.entries.extend(one.map(|one| Entry::new(field.id, one)));
            }
        }
        all.push(value);
    }
    all
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "abc",
    "abcd",
    "ab",
    "bc",
    "b",
    "ABC",
    "a c",
    "\u{e9}",
    "\u{20ac}\u{20ac}",
    "\u{1d11e}",
    "12",
    "a1b2",
    "\n",
    "a@b.c",
    "a@b",
    "A.b+c@d-e.fg",
    "@b",
    "a@",
    "a b@c",
    "a@-b",
    "<a@b.c>",
    "a..b@c.d",
    "\"a\"@b.c",
    "a@b.c ",
    "a@b_c",
    "example.com",
    "example.com.",
    "-a.b",
    "a-.b",
    "a..b",
    "1.2",
    "a.1",
    "1",
    "a_b",
    ".",
    "localhost",
    "1.2.3.4",
    "01.2.3.4",
    "256.1.1.1",
    "1.2.3",
    "::",
    "::1",
    "1::2::3",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7:8",
    "::ffff:1.2.3.4",
    "[::1]",
    "12345::",
    "http://a.b/c",
    "http://a",
    "a:b",
    "http://a b",
    "//a/b",
    "/a/b",
    "a/b",
    "?q",
    "#f",
    "http://[::1]:80/",
    "http://a:x/",
    "http://%zz",
    "%41",
    "http://a/\u{e9}",
    "1a:b",
    "a:b#c#d",
    "mailto:a@b.c",
    "http://u@h:1/p?q#f",
    "123e4567-e89b-12d3-a456-426614174000",
    "123E4567e89b12d3a456426614174000",
    "123e4567-e89b-12d3-a456-42661417400",
    "{123e4567-e89b-12d3-a456-426614174000}",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "81ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01arz3ndektsv4rrffq69g5fav",
    "01ARZ3NDEKTSV4RRFFQ69G5FAI",
    ":authority",
    "x-header",
    "x header",
    "a\tb",
    "a\u{7f}",
    "a\r",
    "a\u{0}",
    ":",
    "a:",
    "a.b.C_1",
    ".a.b",
    "a.",
    "1.a",
    ".1",
    "1.2.3.4/24",
    "1.2.3.0/24",
    "0.0.0.0/0",
    "1.2.3.4/33",
    "1.2.3.4/024",
    "::/0",
    "1::/16",
    "1::1/16",
    "::1/129",
    "1.2.3.4/",
    "/24",
    "fe80::1%a/64",
    "a:80",
    "a:65536",
    "a:080",
    "a:0",
    "1.2.3.4:5",
    "[::1]:5",
    "::1:5",
    "[::1]",
    "a",
    "a:b:1",
    "[1.2.3.4]:5",
    "[fe80::1%a]:5",
];

fn one(tree: &Tree, field: Field<'_>, numbers: &mut Numbers) -> Option<Value> {
    let small = |numbers: &mut Numbers| {
        *numbers.of(&[-5i64, -4, -3, 0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, i64::MIN, i64::MAX])
    };
    Some(match field.ty() {
        Type::Message(ty) => {
            let message = tree.message(ty);
            let mut value = Message::new(ty);
            let time = message.full_name().starts_with("google.protobuf.");
            for inner in message.fields() {
                let one = match (time, inner.name()) {
                    (true, "nanos") => Value::I32(*numbers.of(&[0, 0, 1, 500_000_000])),
                    (true, "seconds") => Value::I64(*numbers.of(&[0, 0, 1, 4, 5, 5, 6, 9, 10])),
                    (true, "type_url") => Value::String(
                        (*numbers.of(&["", "type.googleapis.com/a.B", "type.googleapis.com/a.C"]))
                            .into(),
                    ),
                    _ => one(tree, inner, numbers)?,
                };
                value.entries.push(Entry::new(inner.id, one));
            }
            Value::Message(Box::new(value))
        }
        Type::Enum(_) => Value::Enum(*numbers.of(&[0, 1, 2, 3, 5, -1])),
        Type::Unresolved => return None,
        Type::Scalar(scalar) => match scalar {
            Scalar::Bool => Value::Bool(numbers.below(2) == 1),
            Scalar::String => Value::String((*numbers.of(TEXTS)).into()),
            Scalar::Bytes => {
                let size = *numbers.of(&[0usize, 1, 4, 5, 15, 16, 17]);
                match numbers.below(3) {
                    0 => Value::Bytes(vec![0xff; size].into()),
                    _ => Value::Bytes(
                        numbers
                            .of(&["", "a", "abc", "abcd", "ab\u{ff}", "b", "cab", "zz"])
                            .as_bytes()
                            .into(),
                    ),
                }
            }
            Scalar::Double => Value::F64(float(numbers)),
            Scalar::Float => Value::F32(float(numbers) as f32),
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => Value::I32(small(numbers) as i32),
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(small(numbers)),
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(small(numbers) as u32),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(small(numbers) as u64),
        },
    })
}

fn float(numbers: &mut Numbers) -> f64 {
    *numbers.of(&[
        -5.0,
        -4.0,
        -0.5,
        0.0,
        0.5,
        1.0,
        3.0,
        3.5,
        5.0,
        5.0,
        7.0,
        9.0,
        1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ])
}
