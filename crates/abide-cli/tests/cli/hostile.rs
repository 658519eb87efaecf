//! Broken and malicious input: exit status 0, 1 or 2, a clear message, no crash and no hang. The
//! checks that apply to every run are in `run`.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use crate::run::{Ran, abide, abide_with, put};

const HEAD: &str = "syntax = \"proto3\";\npackage acme.deep.v1;\n";
const DEPTH: usize = 20_000;

/// Judges one file in every format; no byte that a terminal obeys may be shown to people.
fn judge(bytes: &[u8]) -> Ran {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("a.proto"), bytes).unwrap();
    let human = abide(folder.path(), &["check"]);
    printable(&human.stdout);
    printable(human.stderr.as_bytes());
    let json = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(json.status, human.status);
    let errors = json.json().last().expect("a summary")["errors"].as_u64();
    assert_eq!(errors > Some(0), json.status == 1);
    json
}

fn printable(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("a report is UTF-8");
    let bad = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r'));
    assert_eq!(bad, None, "{text:?}");
    assert!(!text.replace("\r\n", "\n").contains('\r'), "{text:?}");
}

/// A pseudo-random sequence that is the same everywhere.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn garbage() {
    for seed in 1..6 {
        assert_eq!(judge(&noise(20_000, seed)).status, 1);
    }
    let words = [
        "message", "{", "}", "=", ";", "enum", "\"", "1", "[", "]", "(", "option", "A", ".",
        "oneof", "<", ">", "/*", "extend", "map<", "reserved", "to", "\n", "rpc", "import", ",",
        "-", "'",
    ];
    for seed in 1..6 {
        let text: String = noise(5000, seed)
            .iter()
            .map(|byte| format!("{} ", words[*byte as usize % words.len()]))
            .collect();
        assert_eq!(judge(format!("{HEAD}{text}").as_bytes()).status, 1);
    }
}

#[test]
fn truncations_of_a_valid_file() {
    let text = "edition = \"2023\";\npackage acme.user.v1;\nimport \"google/protobuf/descriptor.proto\";\n\
        option features.field_presence = IMPLICIT;\nextend google.protobuf.FieldOptions { Opt opt = 50001; }\n\
        message Opt { repeated int32 n = 1; Opt inner = 2; extensions 100 to max; }\n\
        message User {\n  string name = 1 [(opt) = { n: [1, 2] inner { n: 3 } }, default = \"\\x41\"];\n\
        oneof one { int32 a = 2; User b = 3; }\n  map<string, User> users = 4;\n  reserved 10 to 20, 30;\n  reserved gone;\n}\n\
        enum E { E_UNSPECIFIED = 0; E_ONE = 1 [deprecated = true]; }\n\
        service S { rpc Get(User) returns (stream User) { option deprecated = true; } }\n";
    let folder = TempDir::new().unwrap();
    // All at once: a file for each length.
    for length in 0..text.len() {
        std::fs::write(folder.path().join(format!("f{length}.proto")), &text[..length]).unwrap();
    }
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.status, 1);
    for length in [0, 1, 20, 300, text.len() - 20, text.len() - 1] {
        judge(&text.as_bytes()[..length]);
    }
}

#[test]
fn nesting_deeper_than_any_stack() {
    let opened = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    let option = |value: String| format!("option (x) = {value};\n");
    for body in [
        opened("message M {", "", "}"),
        "message M {".repeat(DEPTH),
        opened("message M { oneof o { group G = 1 {", "", "}}}"),
        option(opened("{a:", "1", "}")),
        option(opened("{a{", "", "}}")),
        option(opened("{a<", "", ">}")),
        option(format!("{{ a: {} }}", opened("[", "1", "]"))),
        option(opened("(", "1", ")")),
        format!("message M {{ int32 a = 1 [(x) = {}]; }}", opened("{a:[", "1", "]}")),
        format!("option {} = 1;", opened("(", "x", ")")),
        format!("message M {{ {} a = 1; }}", opened("map<string,", "M", ">")),
        "}".repeat(DEPTH),
        "(".repeat(DEPTH),
        "[".repeat(DEPTH),
        "-".repeat(DEPTH),
        opened("service S { rpc R(", "M", ") returns (M); }"),
        format!("message M {{ {} a = 1; }}", "a.".repeat(DEPTH)),
        format!("option {} = 1;", "a.".repeat(DEPTH)),
    ] {
        assert_eq!(judge(format!("{HEAD}{body}").as_bytes()).status, 1);
    }
}

#[test]
fn imports_that_go_round() {
    let folder = TempDir::new().unwrap();
    let file = |imports: &[&str], name: &str| {
        let imports: String =
            imports.iter().map(|it| format!("import public \"{it}\";\n")).collect();
        format!("syntax = \"proto3\";\npackage acme.{name}.v1;\n{imports}message M {{}}\n")
    };
    put(
        folder.path(),
        &[
            ("a.proto", &file(&["b.proto"], "a")),
            ("b.proto", &file(&["c.proto"], "b")),
            ("c.proto", &file(&["a.proto"], "c")),
            ("self.proto", &file(&["self.proto"], "self")),
            ("twice.proto", &file(&["a.proto", "a.proto"], "twice")),
            ("odd.proto", &file(&["", "/", "../a.proto", "./a.proto", "a//b", "\\0"], "odd")),
        ],
    );
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.status, 1);
    let cycles: Vec<_> = ran.json().into_iter().filter(|it| it["rule"] == "import-cycle").collect();
    assert!(cycles.len() >= 2, "{}", ran.text());
    assert_eq!(abide(folder.path(), &["graph", "--format", "json"]).status, 1);
    // A long chain of public imports.
    const LINKS: usize = 300;
    let folder = TempDir::new().unwrap();
    for at in 0..LINKS {
        let next = format!("f{}.proto", at + 1);
        let text = file(&[&*next][..usize::from(at + 1 < LINKS)], &format!("p{at}"));
        put(folder.path(), &[(&format!("f{at}.proto"), &text)]);
    }
    assert!(abide(folder.path(), &["lint", "-q", "--output", "-"]).status < 2);
}

#[test]
fn links_and_odd_things_in_a_folder() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    put(
        top,
        &[(
            "acme/user/v1/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v1;\nmessage U {}\n",
        )],
    );
    std::fs::create_dir(top.join("dir.proto")).unwrap();
    symlink(".", top.join("loop")).unwrap();
    symlink("..", top.join("acme/up")).unwrap();
    let ran = abide(top, &["check"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    assert!(ran.stderr.contains("the linked folder `loop` was not entered"), "{}", ran.stderr);
    assert!(abide(top, &["check", "-q"]).stderr.is_empty());
    symlink("round.proto", top.join("round.proto")).unwrap();
    symlink("nowhere", top.join("dangling.proto")).unwrap();
    let ran = abide(top, &["check", "-v"]);
    assert_eq!(ran.status, 2);
    assert!(ran.text().contains("1 file in 1 package"), "the rest is judged");
    for name in ["round.proto", "dangling.proto"] {
        assert!(ran.stderr.contains(&format!("cannot read `{name}`")), "{}", ran.stderr);
    }
    let ran = abide(top, &["build", "-o", "x.binpb"]);
    assert!(ran.status == 2 && !top.join("x.binpb").exists(), "{}", ran.stderr);
    assert_eq!(abide(top, &["check", "--accept"]).status, 2);
    assert!(!top.join("abide.accepted").exists());
    assert_eq!(abide(top, &["check", "/dev/null"]).status, 2);
}

#[test]
fn files_that_may_not_be_read() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("secret.proto");
    put(folder.path(), &[("secret.proto", HEAD), ("open.proto", HEAD)]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let ran = abide(folder.path(), &["check"]);
    // Whoever may read everything reads this, too.
    if std::fs::read(&file).is_err() {
        assert!(
            ran.status == 2 && ran.stderr.contains("`secret.proto`: permission"),
            "{}",
            ran.stderr
        );
    } else {
        assert_eq!(ran.status, 1);
    }
    assert!(ran.text().contains("open.proto"));
}

#[test]
fn names_that_a_terminal_would_obey() {
    let folder = TempDir::new().unwrap();
    for name in ["new\nline.proto", "esc\x1b[31m.proto", "bell\x07.proto", "c1\u{9b}31m.proto"] {
        std::fs::write(folder.path().join(name), "nonsense").unwrap();
    }
    let raw = std::ffi::OsStr::from_bytes(b"raw\xff\x1b.proto");
    std::fs::write(folder.path().join(raw), "nonsense").unwrap();
    for format in ["human", "github", "markdown", "junit", "html", "json", "sarif", "gitlab"] {
        let ran = abide(folder.path(), &["check", "--format", format]);
        assert_eq!(ran.status, 2, "one name is no name: {}", ran.stderr);
        printable(&ran.stdout);
        printable(ran.stderr.as_bytes());
    }
    for args in [
        &["check", "no\nsuch\x1b[31m"][..],
        &["check", "--config", "no\x1b"],
        &["check", "--against", "no\n\x1b"],
        &["check", "--against", "git:no\n\x1b"],
        &["explain", "no\x1b[31m"],
        &["build", "-o", "no\x1b/\0"][..2],
    ] {
        let ran = abide(folder.path(), args);
        assert_eq!(ran.status, 2);
        printable(ran.stderr.as_bytes());
    }
    put(folder.path(), &[("abide.toml", "\"\\u001b[31m\" = \"\u{9b}\" # \u{202e}\n")]);
    let ran = abide(folder.path(), &["check"]);
    assert_eq!(ran.status, 2);
    printable(ran.stderr.as_bytes());
}

/// Names of files that end a line, colour it, or turn it around.
const NAMES: [&str; 4] = [
    "acme/x\n--- a/build.sh\n+++ b/build.sh\n@@ -1 +1 @@\n-echo safe\n+echo pwned\n.proto",
    "acme/esc\x1b[31m\x07.proto",
    "acme/c1\u{85}\u{9b}.proto",
    "acme/turned\u{202e}.proto",
];

fn unprintable(text: &str) -> Option<char> {
    let is_mark = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().find(|c| is_mark(*c) || c.is_control() && *c != '\n')
}

#[test]
fn names_are_text_in_every_report_and_patch() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.e.v1;\nmessage M {   string a = 1; }\n";
    for (number, name) in NAMES.into_iter().enumerate() {
        let text = text.replace("acme.e", &format!("acme.e{number}"));
        put(folder.path(), &[(name, &text)]);
    }
    put(folder.path(), &[("abide.toml", ""), ("build.sh", "echo safe\n")]);
    let reports: &[&[&str]] = &[
        &["hash"],
        &["hash", "--format", "json"],
        &["format", "--check"],
        &["check", "--format", "human"],
        &["check", "--format", "json"],
        &["check", "--format", "sarif"],
        &["check", "--format", "gitlab"],
        &["check", "--format", "junit"],
        &["check", "--format", "github"],
        &["check", "--format", "html"],
        &["check", "--format", "markdown"],
        &["bump", "--format", "json"],
        &["graph", "--format", "json"],
        &["format", "--diff"],
        &["upgrade", "--diff"],
        &["release", "--diff"],
    ];
    for args in reports {
        let ran = abide(folder.path(), args);
        assert_eq!(unprintable(&ran.text()), None, "{args:?}: {}", ran.text());
        assert_eq!(unprintable(&ran.stderr), None, "{args:?}: {}", ran.stderr);
    }
    let patch = abide(folder.path(), &["format", "--diff"]).text();
    assert!(!patch.lines().any(|it| it == "+echo pwned"), "{patch}");
    assert!(patch.contains("\n--- \"a/acme/turned\\342\\200\\256.proto\"\n"), "{patch}");
    std::fs::write(folder.path().join("p"), patch).unwrap();
    let mut apply = std::process::Command::new("git");
    apply.args(["apply", "p"]).current_dir(folder.path()).env("GIT_CEILING_DIRECTORIES", "/");
    assert!(apply.status().expect("git is there").success());
    let ran = abide(folder.path(), &["format", "--check"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
    assert_eq!(std::fs::read_to_string(folder.path().join("build.sh")).unwrap(), "echo safe\n");
}

#[test]
fn a_patch_keeps_the_bytes_of_a_file_that_is_not_utf_8() {
    let folder = TempDir::new().unwrap();
    let text = b"syntax = \"proto3\";\n\n// \xff\xfe\nmessage M {   string a = 1; }\n";
    let path = folder.path().join("with space.proto");
    std::fs::write(&path, text).unwrap();
    let patch = abide(folder.path(), &["format", "--diff"]).stdout;
    assert!(patch.starts_with(b"--- a/with space.proto\t\n"), "{patch:?}");
    std::fs::write(folder.path().join("p"), patch).unwrap();
    let mut apply = std::process::Command::new("git");
    apply.args(["apply", "p"]).current_dir(folder.path()).env("GIT_CEILING_DIRECTORIES", "/");
    assert!(apply.status().expect("git is there").success());
    let written = std::fs::read(&path).unwrap();
    assert!(written.windows(2).any(|it| it == b"\xff\xfe"), "{written:?}");
    assert_eq!(abide(folder.path(), &["format", "--check"]).status, 0);
}

#[test]
fn bytes_before_between_and_behind() {
    judge(b"");
    judge(b"\xef\xbb\xbf");
    judge(b"\0");
    let text = "\u{feff}syntax = \"proto3\";\r\npackage acme.v1;\r\n// \u{1b}[2J\r\nmessage M {\r\n  Gone a = 1;\r\n}\r\n";
    let ran = judge(text.as_bytes());
    let lines = ran.json();
    let mut places = lines.iter().filter(|it| it["rule"] == "name-not-found");
    let place = places.next().expect("it is told");
    assert_eq!(place["start"], serde_json::json!({"line": 5, "column": 3}), "{}", ran.text());
    judge(format!("{HEAD}message M {{ \0 string s = 1; }}").as_bytes());
    judge(format!("{HEAD}message M {{ \r Gone \r s = 1; }}").as_bytes());
    judge(format!("{HEAD}// {}\nmessage M {{ Gone s = 1; }}", "x".repeat(1 << 20)).as_bytes());
    judge(format!("{HEAD}message M {{ Gone {} = 1; }}", "x".repeat(1 << 20)).as_bytes());
    judge(format!("{HEAD}message M {{ int32 a = {}; }}", "9".repeat(100_000)).as_bytes());
    judge(format!("{HEAD}option java_package = \"{}", "\\".repeat(100_001)).as_bytes());
    judge(&[HEAD.as_bytes(), b"message M { Gone \xff\xfe a = 1; } // \xc3"].concat());
    // Many errors, and none of them slower for the others.
    judge(format!("{HEAD}message M {{ {} }}", "Gone g = 1;\n".repeat(5000)).as_bytes());
}

/// A text may be one line: of that is shown what a finding is about, and nothing counts columns from
/// its begin for each finding.
#[test]
fn a_long_line_is_shown_in_part() {
    let folder = TempDir::new().unwrap();
    let field = |at: usize| format!("string field_{at} = {at} [deprecated = true]; ");
    let fields: String = (2..2000).map(field).collect();
    let text = format!(
        "syntax = \"proto3\"; package envoy.a.v1; message Long /* é */ {{ string e = 1; {fields}string twin = 1; }}"
    );
    put(folder.path(), &[("envoy/a/v1/a.proto", &text)]);
    let ran = abide(folder.path(), &["check", "--preset", "envoy"]);
    let shown = String::from_utf8(ran.stdout).unwrap();
    let findings = shown.matches("[deprecation-without-replacement]").count();
    assert_eq!(findings, 1998, "{shown:.2000}");
    assert!(shown.len() < 2500 * findings, "{} bytes", shown.len());
    let column = |word: &str| text[..text.find(word).unwrap()].chars().count() + 1;
    // The head names the column in the whole line, and the caret stands below the word.
    let head =
        format!("envoy/a/v1/a.proto:1:{}\n", column("deprecated = true]; string field_1501"));
    assert!(shown.contains(&head), "{head}");
    let twin = shown.split("\n\n").find(|it| it.contains("is used twice")).expect("it is reported");
    let lines: Vec<&str> = twin.lines().collect();
    let at = lines.iter().position(|it| it.contains("string twin")).expect("it is shown");
    let under = |line: &str, found: &str| line.find(found).map(|it| line[..it].chars().count());
    let (word, caret) = (under(lines[at], "1; }"), under(lines[at + 1], "^"));
    assert!(word.is_some() && word == caret, "{twin}");
    // What stands too far away is named.
    let far = format!("= envoy/a/v1/a.proto:1:{}: ", column("1; string field_2 "));
    assert!(twin.contains(&far), "{far}\n{twin}");
}

/// 200 MB take seconds without optimisation, so the file is mostly one comment: what a
/// quadratic step or a copy for each finding would still show.
#[test]
fn a_file_of_200_megabytes() {
    let folder = TempDir::new().unwrap();
    let mut text = format!("{HEAD}/*").into_bytes();
    text.resize(200 << 20, b'x');
    text.extend(b"*/\nmessage M { Gone g = 1; Gone h = 2; Gone i = 3; }\n");
    std::fs::write(folder.path().join("large.proto"), text).unwrap();
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.rules().iter().filter(|rule| *rule == "name-not-found").count() == 3);
}

#[test]
fn archives_of_an_enemy() {
    let folder = TempDir::new().unwrap();
    let tar = |name: &str, entry: &str, text: &[u8]| {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..entry.len()].copy_from_slice(entry.as_bytes());
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append(&header, text).unwrap();
        std::fs::write(folder.path().join(name), archive.into_inner().unwrap()).unwrap();
    };
    tar("climbs.tar", "../../evil.proto", b"");
    tar("root.tar", "/etc/evil.proto", b"");
    std::fs::write(folder.path().join("noise.zip"), noise(5000, 7)).unwrap();
    std::fs::write(folder.path().join("noise.tar.gz"), noise(5000, 7)).unwrap();
    std::fs::write(folder.path().join("noise.tar.zst"), noise(5000, 7)).unwrap();
    let bomb = zstd::stream::encode_all(std::io::repeat(0).take(100 << 20), 1).unwrap();
    std::fs::write(folder.path().join("bomb.tar.zst"), bomb).unwrap();
    use std::io::Read;
    for name in
        ["climbs.tar", "root.tar", "noise.zip", "noise.tar.gz", "noise.tar.zst", "bomb.tar.zst"]
    {
        for args in [&["check", name][..], &["graph", name], &["check", ".", "--against", name]] {
            let ran = abide(folder.path(), args);
            assert_eq!((ran.status, ran.text().as_str()), (2, ""), "{name}");
            printable(ran.stderr.as_bytes());
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 6, "nothing was unpacked");
}

fn set_of(folder: &Path) -> Vec<u8> {
    put(
        folder,
        &[(
            "acme/user/v1/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v1;\nmessage U { string name = 1; }\n",
        )],
    );
    let ran = abide(folder, &["build", "-o", "-"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.stdout
}

#[test]
fn descriptor_sets_cut_anywhere_or_made_of_noise() {
    let folder = TempDir::new().unwrap();
    let set = set_of(folder.path());
    for length in 0..set.len() {
        abide_with(folder.path(), &["check", "-"], &set[..length]);
    }
    for seed in 1..20 {
        abide_with(folder.path(), &["check", "-"], &noise(300, seed));
        let mut bent = set.clone();
        for (at, byte) in noise(4, seed).iter().zip(noise(4, seed + 100)) {
            let length = bent.len();
            bent[*at as usize * 7 % length] = byte;
        }
        abide_with(folder.path(), &["check", "-"], &bent);
    }
}

#[test]
fn configurations_with_every_kind_of_mistake() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("a.proto", HEAD)]);
    let run = |text: &str| {
        put(folder.path(), &[("abide.toml", text)]);
        let ran = abide(folder.path(), &["check"]);
        assert_eq!((ran.status, ran.text().as_str()), (2, ""), "{text}");
        printable(ran.stderr.as_bytes());
        ran.stderr
    };
    let told = run("preset = 3\nroots = [1, \"a\"]\nunknown = true\nversion-in = \"moon\"\n\
        [rules]\nno-such-rule = \"error\"\none-definition = \"fatal\"\n\
        [[override]]\npackages = [\"[\"]\nstability = [\"gamma\"]\n\
        [[waiver]]\nrule = \"one-definition\"\nuntil = \"soon\"\n\
        [packages]\nstabilities = [\"x\"]\n[calendar]\nalpha = 1\n");
    for line in [1, 2, 3, 4, 6, 7, 9, 10, 13, 15] {
        assert!(told.contains(&format!("abide.toml:{line}:")), "nothing at line {line}: {told}");
    }
    for text in [
        "= 1",
        "a = ",
        "[",
        "[rules",
        "a = \"",
        "\0",
        "a = 1\na = 2\n",
        "roots = [\".\"\n",
        "rules = 1",
        "waiver = 1",
        "override = [1]",
    ] {
        assert!(run(text).contains("abide.toml"), "{text}");
    }
    run(&format!("a = {}", "[".repeat(DEPTH)));
    run(&format!("a{} = 1", ".a".repeat(DEPTH)));
    for text in ["roots = [\"..\"]", "roots = [\"/etc\"]", "roots = [\"gone\"]"] {
        run(text);
    }
    std::fs::write(folder.path().join("abide.toml"), b"preset = \"\xff\"").unwrap();
    assert_eq!(abide(folder.path(), &["check"]).status, 2);
}

#[test]
fn a_damaged_file_of_accepted_findings() {
    let folder = TempDir::new().unwrap();
    put(
        folder.path(),
        &[
            ("a.proto", HEAD),
            ("abide.accepted", "# fine\none two\none-definition acme xyz\n\x1b[31m\n"),
        ],
    );
    let ran = abide(folder.path(), &["check"]);
    assert_eq!((ran.status, ran.text().as_str()), (2, ""));
    printable(ran.stderr.as_bytes());
    for line in [2, 3, 4] {
        assert!(ran.stderr.contains(&format!("abide.accepted:{line}:1")), "{}", ran.stderr);
    }
    std::fs::write(folder.path().join("abide.accepted"), noise(500, 3)).unwrap();
    assert_eq!(abide(folder.path(), &["check"]).status, 2);
}
