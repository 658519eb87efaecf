//! Message types with annotations of all kinds, for both libraries.

use std::fmt::Write as _;

use super::draw::Numbers;

/// One message type with the rule that it is about.
pub(super) struct Subject {
    pub(super) library: &'static str,
    pub(super) name: String,
    pub(super) rule: String,
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
pub(super) fn render_schema(
    library: &'static str,
    numbers: &mut Numbers,
    subjects: &mut Vec<Subject>,
) -> String {
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
    // One rule in every position that a value can have.
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
            let rules = generate_range(numbers, ty);
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

    // Nested messages, oneofs, and messages that are not validated.
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
        for (label, ty, expression) in EXPRESSIONS {
            whole(
                &format!("cel {expression}"),
                &format!(
                    "{label} {ty} v = 1 [(buf.validate.field).cel_expression = {expression:?}];"
                ),
            );
        }
        for expression in ["this.a > this.b", "has(this.b) ? this.b > 2 : this.c == ''"] {
            let option = format!("option (buf.validate.message).cel_expression = {expression:?};");
            whole(
                &format!("message cel {expression}"),
                &format!("{option} int32 a = 1; optional int32 b = 2; string c = 3;"),
            );
        }
    } else {
        whole("disabled", &format!("option (validate.disabled) = true; int32 v = 1 [{leaf}];"));
        whole("ignored", &format!("option (validate.ignored) = true; int32 v = 1 [{leaf}];"));
    }
    out
}

/// Expressions about fields of each shape.
const EXPRESSIONS: &[(&str, &str, &str)] = &[
    ("", "int32", "this % 2 == 0"),
    ("optional", "int64", "this in [1, 3, 5]"),
    ("", "uint32", "this - 1u < 4u || this == 0u"),
    ("", "double", "this.isNan() || this.isInf(1) || this > 1.5"),
    ("", "string", "this.size() < 4"),
    ("", "string", "this.isEmail() || this.isHostname() || this.isIp()"),
    ("", "string", "this.matches('^[a-c]+$') ? '' : 'only a to c'"),
    ("", "string", "this.contains('b') && !this.startsWith('b')"),
    ("", "bytes", "this.size() != 2"),
    ("repeated", "int32", "this.all(x, x > 0) && this.unique()"),
    ("repeated", "string", "this.exists_one(x, x == 'a')"),
    ("", "map<string, int32>", "this.all(k, this[k] > 0)"),
    ("", "google.protobuf.Duration", "this > duration('1s')"),
    ("", "google.protobuf.Timestamp", "this < timestamp('2020-01-01T00:00:00Z')"),
    ("", "google.protobuf.Int32Value", "this > 2"),
    ("", "E", "this != 1"),
];

/// Bounds of any kind, including those that exclude what is between them.
fn generate_range(numbers: &mut Numbers, ty: &str) -> String {
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
