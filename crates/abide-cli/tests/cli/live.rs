//! Texts of a hostile tree in Markdown, annotations and messages: all are shown, none is live.

use std::path::Path;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// What every text of the tree tries to become.
const LIVE: &[&str] = &[
    "`</code><img src=x onerror=alert(1)>",
    "``` @octocat `` @acme/team ` #1 acme/api#2 GH-3 !4 :tada:",
    "[link](https://evil.example) ![](//evil.example/x.png) <https://evil.example>",
    "https://evil.example www.evil.example someone@evil.example",
    "a | b \\| c \\\\| **bold** _it_ ~~gone~~ $x$ {0} {{1}}",
    "# title %0A::error::x ##[error]y",
    "&lt;b&gt; &commat;octocat 0123abcdef",
];

/// A tree that deprecates, defaults, names and waives with such texts; `side` makes each differ.
fn tree(folder: &Path, side: &str) {
    let literal = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut fields = String::new();
    let mut options = String::new();
    for (at, text) in LIVE.iter().enumerate() {
        let (number, value) = (at + 1, literal(&format!("{text} {side}")));
        fields += &format!(
            "  // {text}\n  optional string a{number} = {number} [default = \"{value}\", (note) = \"{value}\",\n    \
             deprecated = true, (abide.annotations.v1.field_policy).deprecated_at = \"{value}\"];\n  \
             // {text}\n  optional string b{number} = {} [json_name = \"{value}\", deprecated = true];\n  \
             optional string c{number} = {} [deprecated = true,\n    \
             (abide.annotations.v1.field_policy).replaced_by = \"{value}\"];\n",
            number + 100,
            number + 200
        );
        options += &format!("// abide:allow(field-removed): {text}\nmessage M{at} {{}}\n");
        // A file with such a type does not parse, and nothing else is said about it.
        let ty = if at == 0 { *text } else { "Gone" };
        let path = format!("dir{at} {}", text.replace('/', "-"));
        put(
            folder,
            &[(
                &format!("tree/{path}/x.proto"),
                &format!(
                    "syntax = \"proto2\";\npackage acme.p{at}.v1;\nimport \"{}.proto\";\n// {text}\n\
                    message Old{side} {{ optional {ty} x = 1 [default = \"{0}\"]; }}\n",
                    literal(text)
                ),
            )],
        );
    }
    let text = format!(
        "syntax = \"proto2\";\npackage acme.live.v1;\nimport \"abide/annotations/v1/lifecycle.proto\";\n\
         import \"google/protobuf/descriptor.proto\";\n\
         extend google.protobuf.FieldOptions {{ optional string note = 50001; }}\n\
         message Live {{\n{fields}}}\n{options}"
    );
    let waivers: String = LIVE
        .iter()
        .map(|text| {
            format!(
                "[[waiver]]\nrule = \"field-removed\"\nelement = 'acme.*.v1.*'\nreason = '{text}'\n"
            )
        })
        .collect();
    put(folder, &[("tree/acme/live/v1/live.proto", &text), ("tree/abide.toml", &waivers)]);
}

/// What GitHub would make of a text: everything in it that is more than words, code and our markup.
fn live(markdown: &str) -> Vec<String> {
    let arena = Arena::new();
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options.extension.alerts = true;
    options.parse.relaxed_autolinks = true;
    let mut found = Vec::new();
    let mut is_code = false;
    for node in parse_document(&arena, markdown, &options).descendants() {
        match &node.data().value {
            NodeValue::Document
            | NodeValue::Heading(_)
            | NodeValue::Paragraph
            | NodeValue::List(_)
            | NodeValue::Item(_)
            | NodeValue::Table(_)
            | NodeValue::TableRow(_)
            | NodeValue::TableCell
            | NodeValue::Strong
            | NodeValue::SoftBreak
            | NodeValue::Code(_) => {}
            NodeValue::HtmlInline(html) if html == "<code>" => is_code = true,
            NodeValue::HtmlInline(html) if html == "</code>" => is_code = false,
            NodeValue::HtmlInline(html) if html == "<!-- -->" => {}
            // Services look for these once the page is made.
            NodeValue::Text(text) => {
                let pairs: Vec<&[u8]> = text.as_bytes().windows(2).collect();
                let is_sigil =
                    |pair: &&&[u8]| b"@#!".contains(&pair[0]) && pair[1].is_ascii_alphanumeric();
                if !is_code && (pairs.iter().any(|it| is_sigil(&it)) || text.contains("GH-3")) {
                    found.push(text.to_string());
                }
            }
            other => found.push(format!("{other:?}")),
        }
    }
    found
}

#[test]
fn nothing_of_a_hostile_tree_is_live_in_markdown() {
    assert!(live("a @b").len() == 1 && live("<b>x</b>").len() == 2 && live("[x](y) z").len() == 1);
    let folder = TempDir::new().unwrap();
    tree(&folder.path().join("old"), "old");
    tree(&folder.path().join("new"), "new");
    let owners = "* @acme/team someone@evil.example\n/tree/acme @octo_cat @x<img>\n";
    put(folder.path(), &[("new/CODEOWNERS", owners), ("new/.git/HEAD", "")]);
    let top = folder.path().join("new/tree");
    let api = repository().join("api").display().to_string();
    for args in [
        &["breaking", "--against", "../../old/tree"][..],
        &["check", "--against", "../../old/tree"],
        &["lint"],
        &["deprecations"],
        &["owners"],
    ] {
        let ran = abide(&top, &[args, &["--format", "markdown", "-I", &api]].concat());
        let text = ran.text();
        assert!(text.len() > 300, "{args:?}: {}{text}", ran.stderr);
        let mut live = live(&text);
        if args == ["owners"] {
            // Owners are named to be notified; an address is no link, and the rest no owner.
            live.retain(|it| !it.contains("@acme/team") && !it.contains("@octo_cat"));
        }
        assert_eq!(live, Vec::<String>::new(), "{args:?}");
        let code = "``` @octocat `` @acme/team ` #1";
        assert!(args == ["owners"] || text.contains(code) || text.contains("`@octocat`"), "{text}");
    }
}

#[test]
fn nothing_of_a_hostile_tree_is_a_command_or_a_link_elsewhere() {
    let folder = TempDir::new().unwrap();
    tree(&folder.path().join("old"), "old");
    tree(&folder.path().join("new"), "new");
    let top = folder.path().join("new/tree");
    let api = repository().join("api").display().to_string();
    let report = |format: &str| {
        let args = ["check", "--against", "../../old/tree", "-I", &api, "--format", format];
        abide(&top, &args)
    };
    let count = report("json").json().len() - 1;
    assert!(count > 50);
    // Each line is one command, with the properties that we write, and says one thing.
    let text = report("github").text();
    let (touched, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|it| it.starts_with("::notice title=touched packages::"));
    assert_eq!((touched.len(), lines.len()), (1, count));
    for line in lines.into_iter().chain(touched) {
        let (properties, data) = line[2..].split_once("::").unwrap();
        let (command, properties) = properties.split_once(' ').unwrap();
        assert!(["error", "warning", "notice"].contains(&command), "{line}");
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').unwrap();
            assert!(
                ["file", "line", "endLine", "col", "endColumn", "title"].contains(&key),
                "{line}"
            );
            assert!(!value.contains(':'), "{line}");
        }
        assert!(data.split('%').skip(1).all(|it| it.starts_with("25") || it.starts_with("0A")));
    }
    // Braces come in pairs, and brackets before a target are escaped.
    let log = report("sarif").json().remove(0);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), count);
    for result in results {
        let text = result["message"]["text"].as_str().unwrap();
        let bare = text.replace("{{", "").replace("}}", "");
        assert!(!bare.contains(['{', '}']), "{text}");
        assert!(!text.replace("\\\\", "").replace("\\]", "").contains("]("), "{text}");
    }
    assert!(results.iter().any(|it| it["message"]["text"].as_str().unwrap().contains("{{0}}")));
}

/// A backtick in a value is part of the code that shows it, in each format that marks code.
#[test]
fn a_backtick_does_not_end_a_code_span() {
    let folder = TempDir::new().unwrap();
    let text = |value: &str| {
        format!(
            "syntax = \"proto2\";\npackage acme.user.v1;\nimport \"google/protobuf/descriptor.proto\";\n\
             extend google.protobuf.FieldOptions {{ optional string note = 50001; }}\n\
             message User {{\n  optional string name = 1 [default = \"{value}\", (note) = \"{value}\"];\n}}\n"
        )
    };
    let path = |side: &str| format!("{side}/acme/user/v1/user.proto");
    put(folder.path(), &[(&path("old"), &text("a`<b>`c")), (&path("new"), &text("d``e"))]);
    let report = |format: &str| {
        abide(folder.path(), &["breaking", "new", "--against", "old", "--format", format]).text()
    };
    let markdown = report("markdown");
    let line = "default of `User.name` changed from `` \"a`<b>`c\" `` to ``` \"d``e\" ```";
    assert!(markdown.contains(line), "{markdown}");
    assert!(markdown.contains("changed from `` a`<b>`c `` to ``` d``e ```"), "{markdown}");
    let page = report("html");
    let code = "<code>&quot;a`&lt;b&gt;`c&quot;</code> to <code>&quot;d``e&quot;</code>";
    assert!(page.contains(code), "{page}");
}
