//! Reports for other tools: each has the content of the JSON report in the format that the tool
//! reads, even with hostile names and texts.

use std::path::Path;

use roxmltree::{Document, Node};
use serde_json::Value;
use tempfile::TempDir;

use crate::run::{abide, put, repository};

const CHANGES: &[&str] = &[
    "breaking",
    "testdata/cli/changes/new",
    "--against",
    "testdata/cli/changes/old",
    "--changes",
    "-I",
    "testdata/imports",
];
const SHAPES: &[&str] = &["check", "testdata/cli/shapes", "-I", "testdata/cli/imports"];

fn report(folder: &Path, args: &[&str], format: &str) -> String {
    let ran = abide(folder, &[args, &["--as-of", "2026-01-15", "--format", format]].concat());
    assert_ne!(ran.status, 2, "{}", ran.stderr);
    String::from_utf8(ran.stdout).unwrap()
}

/// The findings and the summary of the JSON report.
fn facts(folder: &Path, args: &[&str]) -> (Vec<Value>, Value) {
    let text = report(folder, args, "json");
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = lines.pop().unwrap();
    (lines, summary)
}

/// Bytes of a URI reference, decoded.
fn decoded(uri: &str) -> String {
    assert!(uri.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b)), "{uri}");
    let mut parts = uri.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).unwrap()
}

/// What SARIF 2.1.0 requires, and what the JSON report says, also of what is waived.
fn sarif(folder: &Path, args: &[&str]) {
    let (findings, summary) = facts(folder, &[args, &["--waived"]].concat());
    let log: Value = serde_json::from_str(&report(folder, args, "sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "abide");
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        let page = abide(folder, &["explain", rule["id"].as_str().unwrap()]).text();
        assert_eq!(
            (&rule["help"]["markdown"], &rule["help"]["text"]),
            (&page.clone().into(), &page.into())
        );
        assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(["error", "warning", "note"].contains(&level));
    }
    assert_eq!(runs[0]["columnKind"], "unicodeCodePoints");
    assert_eq!(runs[0]["properties"]["errors"], summary["errors"]);
    let results = runs[0]["results"].as_array().unwrap();
    assert_eq!(results.len(), findings.len());
    let same_place = |place: &Value, at: &Value| {
        let physical = &place["physicalLocation"];
        let path = decoded(physical["artifactLocation"]["uri"].as_str().unwrap());
        let name = at["path"].as_str().unwrap().trim_start_matches("../");
        assert!(path.ends_with(name), "{path}");
        let region = &physical["region"];
        for (ours, line, column) in
            [("start", "startLine", "startColumn"), ("end", "endLine", "endColumn")]
        {
            assert_eq!(region[line], at[ours]["line"]);
            assert_eq!(region[column], at[ours]["column"]);
        }
    };
    for (result, finding) in results.iter().zip(&findings) {
        assert_eq!(result["ruleId"], finding["rule"]);
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], finding["rule"]);
        assert_eq!(result["level"], finding["severity"]);
        assert_eq!(result["suppressions"].is_array(), finding["kind"] == "waived");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert_eq!(result["partialFingerprints"]["abide/v1"], finding["fingerprint"]);
        assert_eq!(result["locations"].as_array().unwrap().len(), 1);
        same_place(&result["locations"][0], finding);
        let none = Vec::new();
        let labels = finding["labels"].as_array().unwrap_or(&none);
        let related = result["relatedLocations"].as_array().unwrap_or(&none);
        assert_eq!(related.len(), labels.len());
        for (place, label) in related.iter().zip(labels) {
            assert!(place["message"]["text"].is_string());
            same_place(place, label);
        }
        for key in ["package", "old", "surfaces", "bump", "witness", "aliases"] {
            assert_eq!(result["properties"][key], finding[key], "{key}");
        }
    }
}

fn gitlab(folder: &Path, args: &[&str]) {
    let (findings, summary) = facts(folder, args);
    let mut issues: Vec<Value> = serde_json::from_str(&report(folder, args, "gitlab")).unwrap();
    // What the change touches stands behind the findings, and the count of exceptions at the end.
    let mut touched = issues.split_off(findings.len());
    let exceptions = touched.pop_if(|it| it["check_name"] == "exceptions");
    let has_some = [&summary["waived"], &summary["accepted"]].iter().any(|it| **it != 0);
    assert_eq!(exceptions.is_some(), has_some && !args.contains(&"--quiet"));
    assert!(touched.iter().all(|it| it["check_name"] == "touched packages"), "{touched:?}");
    let mut seen = std::collections::BTreeSet::new();
    for (issue, finding) in issues.iter().zip(&findings) {
        assert!(!issue["description"].as_str().unwrap().is_empty());
        assert_eq!(issue["check_name"], finding["rule"]);
        let fingerprint = issue["fingerprint"].as_str().unwrap();
        assert!(fingerprint.starts_with(finding["fingerprint"].as_str().unwrap()));
        assert!(seen.insert(fingerprint), "GitLab would show one of two");
        let severity = match finding["severity"].as_str().unwrap() {
            "error" => "major",
            "warning" => "minor",
            _ => "info",
        };
        assert_eq!(issue["severity"], severity);
        let path = issue["location"]["path"].as_str().unwrap();
        assert!(path.ends_with(finding["path"].as_str().unwrap().trim_start_matches("../")));
        let line = finding["start"]["line"].as_u64().unwrap_or(1);
        assert_eq!(issue["location"]["lines"]["begin"], line);
    }
}

fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> Vec<Node<'a, 'a>> {
    node.children().filter(|it| it.has_tag_name(name)).collect()
}

fn junit(folder: &Path, args: &[&str]) {
    let (findings, summary) = facts(folder, args);
    let text = report(folder, args, "junit");
    let document = Document::parse(&text).unwrap();
    let root = document.root_element();
    let number = |node: Node, name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
    let (mut told, mut failed) = (0, 0);
    let suites = children(root, "testsuite");
    for suite in &suites {
        let cases = children(*suite, "testcase");
        assert_eq!(number(*suite, "tests"), cases.len());
        let failures: Vec<Node> =
            cases.iter().flat_map(|case| children(*case, "failure")).collect();
        assert_eq!(number(*suite, "failures"), failures.len());
        assert!(failures.iter().all(|it| it.attribute("message").is_some()));
        failed += failures.len();
        told += failures.len();
        told += cases.iter().flat_map(|case| children(*case, "system-out")).count();
        for case in cases {
            assert!(case.attribute("name").is_some() && case.attribute("classname").is_some());
        }
    }
    assert_eq!(root.attribute("failures"), Some(&*failed.to_string()));
    assert_eq!(summary["errors"], failed);
    assert_eq!(told, findings.len());
    assert!(suites.len() as u64 >= summary["files"].as_u64().unwrap(), "files that pass, too");
}

/// No text of the tree becomes an element or an attribute, and nothing is left out.
fn html(folder: &Path, args: &[&str]) {
    let (findings, _) = facts(folder, args);
    let page = report(folder, args, "html");
    for (mark, count) in [("<script", 1), ("</script", 1), ("<style", 1), ("</style", 1)] {
        assert_eq!(page.matches(mark).count(), count, "{mark}");
    }
    let start = page.find("<main>").unwrap();
    let end = page.rfind("</main>").unwrap() + "</main>".len();
    let main = &page[start..end];
    assert!(![&page[..start], &page[end..]].concat().contains("//"), "no network");
    let document = Document::parse(main).unwrap();
    let ours =
        "main div details summary h2 h3 bdi span a article p code pre i mark em dl dt dd button";
    let attributes = [
        "class",
        "data-copy",
        "data-rank",
        "data-rule",
        "data-severity",
        "hidden",
        "href",
        "id",
        "open",
        "title",
        "type",
    ];
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        assert!(ours.split(' ').any(|it| it == name), "{name}");
        assert!(node.attributes().all(|it| attributes.contains(&it.name())));
        let link = node.attribute("href").unwrap_or("#");
        assert!(link.starts_with('#') || link.starts_with("https://"), "{link}");
    }
    let articles: Vec<Node> =
        document.descendants().filter(|it| it.has_tag_name("article")).collect();
    assert_eq!(articles.len(), findings.len());
    for (severity, count) in ["error", "warning", "note"].map(|severity| {
        (severity, articles.iter().filter(|it| it.attribute("data-severity") == Some(severity)))
    }) {
        let wanted = findings.iter().filter(|it| it["severity"] == severity);
        assert_eq!(count.count(), wanted.count());
    }
}

fn every_format(folder: &Path, args: &[&str]) {
    sarif(folder, args);
    gitlab(folder, args);
    junit(folder, args);
    html(folder, args);
}

#[test]
fn reports_for_other_tools_tell_what_json_tells() {
    for args in [SHAPES, CHANGES, &["lint", "testdata/trees/acme"]] {
        let (findings, _) = facts(&repository(), args);
        assert!(findings.len() > 2);
        every_format(&repository(), args);
        every_format(&repository(), &[args, &["--quiet"]].concat());
    }
}

#[test]
fn names_and_texts_that_mean_something_elsewhere() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.deep.v1; // ]]> </pre></main></script>{{files}}\n\
        import \"</script><img src=x onerror=alert(1)>.proto\";\n\
        import \"[a](https://example.com)&amp;\\\"'.proto\"; /* \u{1} \u{7f} \u{fffe} \u{202e} é */\n\
        import \"{{style}}{{script}}{0}.proto\";\n\
        message M { string s = 1; string s = 1; }\n";
    for name in [
        "plain.proto",
        "a<b/script><img src=x>.proto",
        "quo\"te'd&amp;.proto",
        "with space#and?100%.proto",
        "new\nline\ttab\r.proto",
        "escape\u{1b}[31m\u{7}.proto",
        "noncharacter\u{fffe}.proto",
        "étage/日本.proto",
        "{{files}}.proto",
        "a:b.proto",
    ] {
        put(folder.path(), &[(name, text)]);
    }
    // Of its folder nothing else is judged.
    put(folder.path(), &[("bytes/bytes.proto", "")]);
    std::fs::write(folder.path().join("bytes/bytes.proto"), b"message \xff\xfe</script> {\n")
        .unwrap();
    put(folder.path(), &[(".git/HEAD", "")]);
    let (findings, _) = facts(folder.path(), &["check"]);
    assert!(findings.len() > 40);
    every_format(folder.path(), &["check"]);

    let page = report(folder.path(), &["check"], "html");
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;.proto"));
    assert!(page.contains("<h2><bdi>étage/日本.proto</bdi></h2>"));
    let log = report(folder.path(), &["check"], "sarif");
    assert!(log.contains(r"`\\[a\\](https://example.com)"), "no link");
    assert!(log.contains("{{{{style}}}}{{{{script}}}}{{0}}.proto"), "no placeholder");
    let paths: Vec<Value> =
        serde_json::from_str(&report(folder.path(), &["check"], "gitlab")).unwrap();
    let has = |path: &str| paths.iter().any(|it| it["location"]["path"] == path);
    assert!(has("new\nline\ttab\r.proto") && has("a<b/script><img src=x>.proto"));
}

#[test]
fn a_line_without_end_is_shown_around_the_finding() {
    let folder = TempDir::new().unwrap();
    let far = format!(
        "syntax = \"proto3\"; /*{}*/ nonsense; //{}\n",
        "é".repeat(500_000),
        "é".repeat(500_000)
    );
    put(folder.path(), &[("a.proto", &far)]);
    let page = report(folder.path(), &["check"], "html");
    assert!(page.contains("<mark>nonsense</mark>") && page.contains('…'));
    assert!(page.len() < 30_000, "{}", page.len());
    html(folder.path(), &["check"]);
}

#[test]
fn a_tree_without_findings() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {}\n";
    put(folder.path(), &[("acme/user/v1/user.proto", text)]);
    every_format(folder.path(), &["check"]);
    assert_eq!(report(folder.path(), &["check"], "gitlab"), "[]\n");
    assert!(report(folder.path(), &["check"], "html").contains("Nothing to report."));
    let junit = report(folder.path(), &["check"], "junit");
    assert!(
        junit.contains("tests=\"1\" failures=\"0\"") && junit.contains("acme/user/v1/user.proto")
    );
}

/// The path of every finding in the formats that services match with a repository.
fn full_paths(folder: &Path, args: &[&str]) -> Vec<String> {
    let gitlab: Value = serde_json::from_str(&report(folder, args, "gitlab")).unwrap();
    let issues = gitlab.as_array().unwrap().iter();
    let mut paths: Vec<String> =
        issues.map(|it| it["location"]["path"].as_str().unwrap().to_owned()).collect();
    let sarif: Value = serde_json::from_str(&report(folder, args, "sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap().iter();
    let place = |it: &Value| {
        let physical = &it["locations"][0]["physicalLocation"];
        decoded(physical["artifactLocation"]["uri"].as_str().unwrap())
    };
    assert_eq!(results.map(place).collect::<Vec<_>>(), paths);
    let github = report(folder, args, "github");
    let file = |line: &str| {
        line.split("file=").nth(1).unwrap().split([',', ':']).next().unwrap().to_owned()
    };
    assert_eq!(github.lines().map(file).collect::<Vec<_>>(), paths);
    paths.sort();
    paths.dedup();
    paths
}

#[test]
fn paths_count_from_the_top_of_the_repository() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    let bad = "syntax = \"proto3\";\npackage a.v1;\nmessage M { Gone g = 1; }\n";
    let unused = "[[waiver]]\nrule = \"package-cycle\"\nelement = \"b.v1\"\nreason = \"r\"\n";
    put(
        top,
        &[
            ("api/proto/a/v1/a.proto", bad),
            ("api/beside/b/v1/b.proto", &bad.replace("a.v1", "b.v1")),
        ],
    );
    let git = |args: &[&str]| {
        let git = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(args)
            .current_dir(top)
            .status();
        assert!(git.unwrap().success());
    };
    let commit = || {
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "a"]);
    };
    git(&["init", "--quiet"]);
    commit();
    let proto = ["api/proto/a/v1/a.proto"];
    for (from, source) in [
        ("", "api/proto"),
        ("", "git:HEAD:api/proto"),
        ("api", "git:HEAD:api/proto"),
        ("api/proto", "git:HEAD"),
        ("api/proto", "."),
        ("api/beside", "../proto"),
        ("api/proto/a", "v1/a.proto"),
        ("api", "proto/a/v1/a.proto"),
    ] {
        assert_eq!(full_paths(&top.join(from), &["check", source]), proto, "{from}: {source}");
    }
    put(top, &[("api/abide.toml", &format!("roots = [\"proto\"]\n{unused}"))]);
    commit();
    let configured = ["api/abide.toml", "api/proto/a/v1/a.proto"];
    for (from, source) in
        [("", "api"), ("api/proto", ".."), ("api", "git:HEAD"), ("api/proto", "git:HEAD")]
    {
        assert_eq!(full_paths(&top.join(from), &["check", source]), configured, "{from}: {source}");
    }
    for (from, source) in [("api", "beside"), ("api/beside", "."), ("api", "git:HEAD:api/beside")] {
        let beside = ["api/abide.toml", "api/beside/b/v1/b.proto"];
        assert_eq!(full_paths(&top.join(from), &["check", source]), beside, "{from}: {source}");
    }
}

/// The drawing of the packages, and the same packages as JSON; both must tell the same.
fn drawn(folder: &Path, args: &[&str]) -> String {
    let args = [&["graph"], args].concat();
    let [svg, json] = ["svg", "json"].map(|format| {
        let ran = abide(folder, &[&args[..], &["--format", format]].concat());
        // Names that no file can have are drawn as well.
        let is_valid = !ran.stderr.contains("is not a valid name");
        assert_eq!((ran.status, ran.stderr.is_empty()), (i32::from(!is_valid), is_valid));
        String::from_utf8(ran.stdout).unwrap()
    });
    let json: Value = serde_json::from_str(&json).unwrap();
    let document = Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
    assert!(root.attribute("viewBox").is_some());
    let known = ["svg", "style", "defs", "marker", "path", "rect", "g", "text", "tspan", "title"];
    for node in root.descendants().filter(Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{node:?}");
        let active = |name: &str| name.starts_with("on") || name.ends_with("href");
        assert!(!node.attributes().any(|it| active(it.name())), "{node:?}");
    }
    let group = |class: &str| {
        let all = root.children().filter(Node::is_element);
        let mut all = all.filter(|it| it.attribute("class") == Some(class));
        all.next().unwrap().children().filter(Node::is_element).collect::<Vec<_>>()
    };
    let title = |node: &Node<'_, '_>| {
        let title = node.children().find(|it| it.has_tag_name("title")).unwrap();
        title.text().unwrap().to_owned()
    };
    let classes = |node: &Node<'_, '_>| {
        let class = node.attribute("class").unwrap_or_default();
        class.split(' ').map(str::to_owned).collect::<Vec<_>>()
    };

    let packages = json["packages"].as_array().unwrap();
    let boxes = group("boxes");
    assert_eq!(boxes.len(), packages.len());
    for (drawn, package) in boxes.iter().zip(packages) {
        assert_eq!(classes(drawn)[0], package["stability"].as_str().unwrap_or("unversioned"));
        let shown: String = drawn
            .descendants()
            .filter(|it| it.is_text() && it.parent().unwrap().has_tag_name("tspan"))
            .filter_map(|it| it.text())
            .collect();
        assert_eq!(title(drawn).lines().next(), Some(&*shown), "a box shows all of its name");
        let name = package["name"].as_str().unwrap();
        let marked = |c: char| matches!(c, '\0'..='\x1f' | '\u{202e}' | '\u{ffff}');
        assert_eq!(shown, name.replace(marked, "\u{fffd}"));
    }
    let edges = json["edges"].as_array().unwrap();
    let paths = group("edges");
    assert_eq!(paths.len(), edges.len());
    for (drawn, edge) in paths.iter().zip(edges) {
        let title = title(drawn);
        for level in ["import", "type", "option"] {
            let line = title.lines().find_map(|it| it.strip_prefix(&format!("{level}: ")));
            assert_eq!(line.is_some(), edge.get(level).is_some(), "{title}");
            let Some(start) = edge.get(level).and_then(|it| it.get("start")) else { continue };
            let path = edge[level]["path"].as_str().unwrap();
            let place = format!("{path}:{}:{} ", start["line"], start["column"]);
            assert!(line.unwrap().starts_with(&place), "{title}");
        }
        assert_eq!(classes(drawn).contains(&"closes".into()), title.contains("closes a cycle"));
        let idle = edge.get("type").is_none() && edge.get("option").is_none();
        assert_eq!(classes(drawn).contains(&"idle".into()), idle);
    }
    svg
}

#[test]
fn a_drawing_shows_every_package_and_every_edge() {
    drawn(&repository(), &["testdata/trees/acme"]);
    let changes = "testdata/cli/changes/new";
    let svg = drawn(&repository(), &[changes, "--imports", "-I", "testdata/imports"]);
    assert!(svg.contains("only imported"));

    // Packages in a circle, whose files are in none.
    let folder = TempDir::new().unwrap();
    let file = |package: &str, name: &str, import: &str, field: &str| {
        format!(
            "syntax = \"proto3\";\npackage {package};\n{import}\nmessage {name} {{ {field} }}\n"
        )
    };
    put(
        folder.path(),
        &[
            ("a/a.proto", &file("a.v1", "A", "import \"b/b.proto\";", "b.v1beta1.B b = 1;")),
            ("a/c.proto", &file("a.v1", "C", "", "")),
            ("b/b.proto", &file("b.v1beta1", "B", "import \"a/c.proto\";", "")),
        ],
    );
    let svg = drawn(folder.path(), &["."]);
    assert_eq!(svg.matches("\ncloses a cycle").count(), 1);
    assert!(svg.contains("unused import"));
}

#[test]
fn names_in_a_drawing_are_text() {
    let folder = TempDir::new().unwrap();
    let set = r#"{"file": [
        {"name": "a<b&.proto", "syntax": "proto3", "dependency": ["b.proto"],
         "package": "a.]]></tspan><script>&amp;\"\u0001\uffff\u202e\n.v1",
         "messageType": [{"name": "M", "field": [
            {"name": "x", "number": 1, "type": "TYPE_MESSAGE", "typeName": ".b.v1beta1.N"}]}]},
        {"name": "b.proto", "package": "b.v1beta1", "syntax": "proto3",
         "messageType": [{"name": "N"}]},
        {"name": "c.proto", "syntax": "proto3", "package": ".v1"}]}"#;
    put(folder.path(), &[("set.json", set)]);
    let svg = drawn(folder.path(), &["set.json"]);
    assert!(svg.contains("]]&gt;&lt;/tspan&gt;&lt;script&gt;&amp;amp;"));
}

/// GitHub refuses a comment of more characters. The worst findings are in it, and it says how many
/// are not.
#[test]
fn a_comment_fits_into_what_github_takes() {
    let folder = TempDir::new().unwrap();
    let tree = |fields: &str| {
        format!("syntax = \"proto3\";\npackage acme.v1;\nmessage Big {{\n{fields}}}\n")
    };
    let fields: String =
        (1..2000).map(|it| format!("  string field_{it} = {it}; // für\n")).collect();
    put(
        folder.path(),
        &[("old/acme/v1/a.proto", &tree(&fields)), ("new/acme/v1/a.proto", &tree(""))],
    );
    let ran = abide(folder.path(), &["check", "new", "--against", "old", "--format", "comment"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let text = ran.text();
    let length = text.chars().count();
    assert!((60_000..=65_536).contains(&length), "{length}");
    assert!(text.starts_with("<!-- abide: comment on a pull request -->\n## API changes\n"));
    let shown = text.matches("- **error** ").count();
    let last = text.lines().last().unwrap();
    assert_eq!(last, format!("{} more findings not shown: see the log of the run.", 1999 - shown));
}
