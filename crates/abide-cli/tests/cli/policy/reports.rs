//! Lists, calculators and owners: what people ask of a policy besides findings.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put, repository};
use crate::stories::{edit, ok, read};

const USER: &str = "proto/acme/user/v1/user.proto";
const LIST: &str = "DEPRECATED.md";

/// A tree under the policy of Envoy, on whose calendar the document stands.
fn world(more: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!(
        "preset = \"envoy\"\nroots = [\"proto\"]\nimport-paths = [{api:?}]\n\
         [packages]\npattern = \"acme.*.vN\"\n\
         [calendar]\nversion-dates = {{ \"1.4\" = 2026-01-15 }}\n{more}"
    );
    let policy = "(abide.annotations.v1.field_policy)";
    let user = format!(
        "syntax = \"proto3\";\npackage acme.user.v1;\n\
         import \"abide/annotations/v1/lifecycle.proto\";\n\
         message User {{\n\
         \x20 string name = 1 [deprecated = true, {policy}.deprecated_at = \"1.4\", \
         {policy}.replaced_by = \"mail\"];\n\
         \x20 string mail = 2;\n\
         \x20 // A | b. Use `mail`\n  // *instead* of <it>.\n\
         \x20 string nick = 3 [deprecated = true, {policy}.deprecated_at = \"2026-09-01\"];\n\
         \x20 string motto = 4 [deprecated = true];\n\
         }}\n"
    );
    let old = "syntax = \"proto3\";\npackage acme.old.v1;\noption deprecated = true;\n\
               service Old {\n  option deprecated = true;\n}\n";
    put(folder.path(), &[("abide.toml", &config), (USER, &user)]);
    put(folder.path(), &[("proto/acme/old/v1/old.proto", old)]);
    folder
}

/// The lines of a JSON report of one kind.
fn of_kind(ran: &Ran, kind: &str) -> Vec<Value> {
    ran.json().into_iter().filter(|line| line["kind"] == kind).collect()
}

#[test]
fn deprecated_elements_are_listed_in_a_file() {
    let tree = world("[deprecation]\ndropped = [\"acme.user.v1.User.motto\"]\n");
    let folder = tree.path();
    let check = || abide(folder, &["deprecations", "--check"]);
    let missing = check();
    assert_eq!(missing.status, 1);
    assert_eq!(missing.text(), "`DEPRECATED.md` is missing: run `abide deprecations --write`\n");
    let wrote = ok(folder, &["deprecations", "--write"]).text();
    assert!(wrote.starts_with("wrote DEPRECATED.md\nnext: commit it; "), "{wrote}");
    assert_eq!((check().status, check().text()), (0, String::new()));
    let list = read(folder, LIST);
    for row in [
        "| field `User.motto` | unknown | nothing replaces it | unknown | unknown | unknown | unknown |",
        "| field `User.name` | 1.4 (2026-01-15) | use `User.mail` | 2026-03-31 | 2026-06-30 | 2026-09-30 | 2027-06-30 |",
        "| field `User.nick` | 2026-09-01 | Use `mail` \\*instead\\* of &lt;it>. | 2026-09-30 | 2026-12-31 | 2027-03-31 | 2028-06-30 |",
        "| file `acme/old/v1/old.proto` | unknown |",
        "| service `Old` | unknown |",
        "Nothing says since when some of them are deprecated: set `deprecated_at`.",
    ] {
        assert!(list.contains(row), "no {row} in {list}");
    }
    // The same whatever the day is; and a list that was made again is the same list.
    ok(folder, &["deprecations", "--check", "--as-of", "2031-01-01"]);
    let again = ok(folder, &["deprecations", "--write", "--as-of", "2031-01-01"]);
    assert_eq!(again.text(), "DEPRECATED.md is up to date\n");
    assert_eq!(read(folder, LIST), list);
    // What is deprecated later makes it stale, and what is written then is the patch.
    edit(folder, USER, "mail = 2;", "mail = 2 [deprecated = true];");
    assert_eq!(check().status, 1);
    let patch = ok(folder, &["deprecations", "--diff"]).text();
    let added = "+| field `User.mail` | unknown | no replacement is named |";
    assert!(patch.contains("+++ b/DEPRECATED.md") && patch.contains(added), "{patch}");
    assert_eq!(ok(folder, &["deprecations", "--write", "-q"]).text(), "");
    assert_eq!(check().status, 0);
}

#[test]
fn the_deprecation_list_dates_the_phase_of_each_element() {
    let tree = world("");
    let phase = |day: &str| {
        let ran = ok(tree.path(), &["deprecations", "--format", "json", "--as-of", day]);
        let lines = of_kind(&ran, "deprecation");
        let name = lines.iter().find(|it| it["element"] == "acme.user.v1.User.name").cloned();
        name.expect("it is listed")["phase"].as_str().unwrap_or_default().to_owned()
    };
    for (day, word) in [
        ("2026-01-15", "deprecated"),
        ("2026-03-31", "warned"),
        ("2026-06-30", "disallowed"),
        ("2026-09-30", "removed"),
    ] {
        assert_eq!(phase(day), word, "{day}");
    }
    let human = ok(tree.path(), &["deprecations", "--as-of", "2026-04-01"]).text();
    let part = "  field `User.name`: warned about\n    deprecated since 1.4 (2026-01-15); use \
                User.mail\n    disallowed by default from 2026-06-30, removed from clients from \
                2026-09-30, served at least until 2027-06-30\n";
    assert!(human.contains(part), "{human}");
    // Without a calendar, since when and what replaces it is still said.
    let plain = ok(tree.path(), &["deprecations", "--preset", "standard", "--format", "markdown"]);
    assert!(plain.text().contains("| element | since | replacement |\n"), "{}", plain.text());
}

#[test]
fn text_that_people_wrote_in_the_deprecation_list_is_kept() {
    let tree = world("[deprecation]\nfile = \"docs/GONE.md\"\n");
    let folder = tree.path();
    put(folder, &[("docs/GONE.md", "# Ours\r\n\r\nNotes.\r\n")]);
    for action in ["--write", "--check", "--diff"] {
        let ran = abide(folder, &["deprecations", action]);
        assert_eq!(ran.status, 2, "{action}: {}", ran.text());
        assert!(ran.stderr.contains("was not written by abide"), "{}", ran.stderr);
    }
    assert_eq!(read(folder, "docs/GONE.md"), "# Ours\r\n\r\nNotes.\r\n");
    // The advice: two lines where the list belongs.
    let marks = "<!-- abide deprecations: begin -->\r\n<!-- abide deprecations: end -->\r\n";
    fs::write(folder.join("docs/GONE.md"), format!("# Ours\r\n\r\n{marks}\r\nNotes.\r\n")).unwrap();
    let wrote = ok(folder, &["deprecations", "--write"]).text();
    assert!(wrote.starts_with("wrote docs/GONE.md\n"), "{wrote}");
    let text = read(folder, "docs/GONE.md");
    assert!(text.starts_with("# Ours\r\n") && text.ends_with("-->\r\n\r\nNotes.\r\n"), "{text}");
    assert!(text.contains("| field `User.name` |"), "{text}");
    assert!(!text.replace("\r\n", "").contains('\n'), "one kind of line ends");
    ok(folder, &["deprecations", "--check"]);
    // And the other advice.
    put(folder, &[("docs/GONE.md", "Notes.\n")]);
    ok(folder, &["deprecations", "--write", "--overwrite"]);
    assert!(!read(folder, "docs/GONE.md").contains("Notes."));
    let part = abide(folder, &["deprecations", "--write", "proto/acme/user"]);
    assert!(part.status == 2 && part.stderr.contains("leave SOURCE out"), "{}", part.stderr);
    edit(folder, "abide.toml", "docs/GONE.md", "../GONE.md");
    let outside = abide(folder, &["deprecations"]);
    assert!(outside.status == 2 && outside.stderr.contains("Markdown file"), "{}", outside.stderr);
}

#[test]
fn the_deprecation_list_is_checked_in_its_own_revision() {
    let tree = world("");
    let folder = tree.path();
    git(folder, &["init", "--quiet"]);
    ok(folder, &["deprecations", "--write"]);
    commit(folder);
    fs::remove_file(folder.join(LIST)).unwrap();
    ok(folder, &["deprecations", "git:HEAD", "--check"]);
    assert_eq!(abide(folder, &["deprecations", "--check"]).status, 1);
    let written = abide(folder, &["deprecations", "git:HEAD", "--write"]);
    assert!(
        written.status == 2 && written.stderr.contains("needs a tree on disk"),
        "{}",
        written.stderr
    );
    // Of a descriptor set there is only the list.
    ok(folder, &["build", "-o", "api.binpb"]);
    assert!(ok(folder, &["deprecations", "api.binpb"]).text().contains("  field `User.name`"));
    for command in [&["deprecations", "api.binpb", "--check"][..], &["owners", "api.binpb"]] {
        let ran = abide(folder, command);
        assert!(ran.status == 2 && ran.stderr.contains("descriptor set"), "{}", ran.stderr);
    }
    // A tree with errors is not listed, and one without deprecations needs no file.
    edit(folder, USER, "string mail", "Gone mail");
    let broken = abide(folder, &["deprecations", "--write"]);
    assert!(broken.status == 1 && !folder.join(LIST).exists(), "{}", broken.stderr);
    let clean = TempDir::new().unwrap();
    put(clean.path(), &[("a.proto", "syntax = \"proto3\";\npackage a.v1;\nmessage A {}\n")]);
    assert_eq!(ok(clean.path(), &["deprecations"]).text(), "nothing is deprecated\n");
    ok(clean.path(), &["deprecations", "--write"]);
    ok(clean.path(), &["deprecations", "--check"]);
    assert!(!clean.path().join(LIST).exists());
}

/// The first line of a simulation by the policy of Envoy.
fn simulated(args: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    let fixed = ["calendar", "simulate", "--preset", "envoy", "--format", "json"];
    let ran = ok(folder.path(), &[&fixed, args].concat());
    let line = ran.json().into_iter().next().expect("a simulation has a first line");
    assert_eq!(line["kind"], "simulation");
    line
}

#[test]
fn a_homogeneous_fleet_needs_one_or_two_majors() {
    for from in ["2026-01-01", "2026-06-30", "2027-11-22", "2028-02-29"] {
        let line = simulated(&["--from", from]);
        assert_eq!((&line["least_majors"], &line["most_majors"]), (&1.into(), &2.into()), "{from}");
    }
}

#[test]
fn a_year_of_notice_needs_four_quarterly_majors_or_two_yearly_ones() {
    for from in ["2026-01-01", "2026-06-30", "2027-11-22", "2028-02-29"] {
        let most = |args: &[&str]| {
            simulated(&[&["--from", from, "--notice", "12"], args].concat())["most_majors"].clone()
        };
        assert_eq!(most(&["--major-every", "3"]), 4, "{from}");
        assert_eq!(most(&["--major-every", "12"]), 2, "{from}");
        assert_eq!(most(&[]), 2, "{from}");
    }
    let folder = TempDir::new().unwrap();
    let args = ["calendar", "simulate", "--preset", "envoy", "--from", "2026-01-01"];
    let quarterly = ["--notice", "12", "--major-every", "3"];
    let text = ok(folder.path(), &[&args[..], &quarterly].concat()).text();
    let derivation = "a fleet with 12 months of notice needs 4 majors at once\n  \
         1. a new major appears every 3 months  (--major-every)\n  \
         2. clients are released on 03-31, 06-30, 09-30 and 12-31, and speak the newest major of \
         that day  ([calendar] client-releases)\n  \
         3. a client may stay 12 months after its release: on 2026-01-01 the fleet holds 4 \
         releases: 2025-03-31, 2025-06-30, 2025-09-30, 2025-12-31  (--notice)\n  \
         4. they speak 4 different majors\n  \
         but the fleet needs 4 majors at once, and the policy allows 3  ([packages] max-majors)\n";
    assert!(text.starts_with(derivation), "{text}");
    let book = read(&repository(), "crates/abide-cli/book/calendar.md");
    assert!(book.contains(derivation), "calendar.md shows another derivation");
    // Nothing is guessed: without any schedule there is no answer, and the error says what to do.
    let none = abide(folder.path(), &["calendar", "simulate"]);
    assert!(none.status == 2 && none.stderr.contains("--major-every MONTHS"), "{}", none.stderr);
    ok(folder.path(), &["calendar", "simulate", "--major-every", "6"]);
    ok(folder.path(), &["calendar", "--preset", "envoy", "-q", "simulate"]);
    let before = abide(folder.path(), &["calendar", ".", "simulate"]);
    assert!(before.status == 2 && before.stderr.contains("after"), "{}", before.stderr);
}

/// The bounds in months, least and most, of a simulation by the policy of Envoy.
fn bound(name: &str) -> (u64, u64, u64) {
    let folder = TempDir::new().unwrap();
    let args = ["calendar", "simulate", "--preset", "envoy", "--format", "json", "--from"];
    let ran = ok(folder.path(), &[&args[..], &["2026-11-22"]].concat());
    let found = of_kind(&ran, "bound").into_iter().find(|it| it["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no bound {name}: {}", ran.text()));
    assert!(!found["derivation"]["keys"].as_array().expect("keys").is_empty(), "{found}");
    let months = |key: &str| {
        let days = found[key].as_u64().expect("a number of days");
        (days * 1200 + 18_262) / 36_524
    };
    (months("least_days"), months("average_days"), months("most_days"))
}

#[test]
fn the_simulation_leaves_users_three_to_six_months_to_migrate() {
    let (least, _, most) = bound("disallowed-with-equivalent");
    assert_eq!((least, most), (3, 6));
}

#[test]
fn the_simulation_warns_for_two_cycles_without_an_equivalent() {
    assert_eq!(bound("disallowed-without-equivalent").0, 6);
}

#[test]
fn the_simulation_keeps_elements_without_replacement_for_a_year() {
    assert_eq!(bound("disallowed-dropped").0, 12);
}

#[test]
fn the_simulation_supports_the_previous_major_for_a_year() {
    assert_eq!(bound("previous-major-supported"), (12, 12, 12));
}

#[test]
fn the_simulation_keeps_deprecated_elements_one_to_two_years() {
    assert_eq!(bound("deprecated-element-served"), (12, 18, 24));
}

#[test]
fn the_simulation_ends_a_major_and_its_elements_after_two_years() {
    assert_eq!(bound("major-lives"), (24, 24, 24));
    let tree = world("");
    let name = "acme.user.v1.User.name";
    let args = ["calendar", "simulate", "--from", "2026-01-01", "--element", name];
    let text = ok(tree.path(), &args).text();
    let life = "life of acme.user.v1.User.name\n  \
        2026-01-15  it is deprecated  (deprecated_at)\n  \
        2026-03-31  clients warn  ([calendar] client-releases)\n  \
        2026-06-30  clients refuse it by default  ([calendar] client-releases)\n  \
        2026-06-30  the next major does not have it  ([calendar] api-releases)\n  \
        2026-09-30  new clients do not have it  ([calendar] client-releases)\n  \
        2027-06-30  the last day on which a server must accept it  \
        ([calendar] previous-major-months)\n";
    assert!(text.contains(life), "{text}");
    let rows = "  acme.user.v1.User.name  ddwwwxxx..........\n  \
        v(N-1)                  ======\n  \
        vN                      #####=============\n";
    assert!(text.contains(rows), "{text}");
    assert!(text.ends_with("w warned, x disallowed, . served\n"), "{text}");
    // The same as a page, without a script.
    let page = ok(tree.path(), &[&args[..], &["--format", "html"]].concat()).text();
    assert!(page.starts_with("<!doctype html>") && !page.contains("<script"), "{page}");
    assert!(page.contains("prefers-color-scheme: dark"), "light and dark");
    assert!(page.contains("Life of <bdi>acme.user.v1.User.name</bdi>"), "{page}");
    let package = ["calendar", "simulate", "--package", "acme.usr.v1"];
    let typo = abide(tree.path(), &package);
    assert!(typo.status == 2 && typo.stderr.contains("`acme.user.v1`"), "{}", typo.stderr);
}

#[test]
fn the_calendar_command_prints_the_dates_of_the_policy() {
    let tree = world("");
    let text = ok(tree.path(), &["calendar", "--as-of", "2026-06-01"]).text();
    let begin = "calendar as of 2026-06-01:\n  next client release: 2026-06-30\n  next API \
                 release: 2026-06-30\n  window for new majors: open until 2026-06-30\n";
    assert!(text.starts_with(begin), "{text}");
    let lines = ok(tree.path(), &["calendar", "--as-of", "2026-06-01", "--format", "json"]).json();
    assert_eq!((lines.len(), &lines[0]["major_may_rise"]), (1, &true.into()));
    let none = ok(tree.path(), &["calendar", "--preset", "standard"]).text();
    assert!(none.contains("client-releases"), "a calendar with dates of versions alone: {none}");
}

/// The world in a repository, with owners.
fn owned(owners: &str) -> TempDir {
    let tree = world("");
    git(tree.path(), &["init", "--quiet"]);
    put(tree.path(), &[(".github/CODEOWNERS", owners)]);
    commit(tree.path());
    tree
}

#[test]
fn a_package_without_an_owner_is_reported() {
    let tree = owned("# The API team.\n/proto/acme/user/ @acme/api jo@example.com # people\n");
    let folder = tree.path();
    let ran = abide(folder, &["owners", "--check"]);
    assert_eq!(ran.status, 1);
    assert_eq!(
        ran.text(),
        "acme.old.v1  no owner\n\
         acme.user.v1  @acme/api jo@example.com  (.github/CODEOWNERS:2)\n\
         error: `acme.old.v1` has no owner\n  \
         help: add `/proto/acme/old/v1/ @OWNER` to the end of .github/CODEOWNERS\n\
         2 packages, 1 with a file that nobody owns\n"
    );
    assert_eq!(abide(folder, &["owners"]).status, 0, "only --check asks for owners");
    // The advice is right.
    let mut owners = read(folder, ".github/CODEOWNERS");
    owners += "/proto/acme/old/v1/ @acme/old\n";
    put(folder, &[(".github/CODEOWNERS", &owners)]);
    ok(folder, &["owners", "--check"]);
    let old = abide(folder, &["owners", "git:HEAD", "--check"]);
    assert_eq!(old.status, 1, "a revision has the owners of its own");
    // The last line that matches decides, also if it names nobody, and a line that GitHub skips
    // does not count.
    owners += "*.proto\n/proto/acme/old/ @acme/old nobody\n!*.md @acme/docs\n";
    put(folder, &[(".github/CODEOWNERS", &owners)]);
    let ran = abide(folder, &["owners", "--check", "--format", "json"]);
    let summary = of_kind(&ran, "summary").pop().expect("it is the last line");
    assert_eq!((&summary["packages"], &summary["unowned"]), (&2.into(), &2.into()));
    for problem in ["CODEOWNERS:5:28: `nobody` is not an owner", "CODEOWNERS:6:1: GitHub skips"] {
        assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    }
    assert_eq!(abide(folder, &["owners", "-q"]).stderr, "");
    // Sections of GitLab each have their own last line.
    fs::remove_file(folder.join(".github/CODEOWNERS")).unwrap();
    let sections = "[API] @acme/api\n*.proto\n\n^[Old][2] @acme/old\nacme/old/\n";
    put(folder, &[(".gitlab/CODEOWNERS", sections)]);
    let text = ok(folder, &["owners", "--check"]).text();
    assert!(
        text.contains("acme.old.v1  @acme/api @acme/old  (.gitlab/CODEOWNERS:2,5)\n"),
        "{text}"
    );
    fs::remove_file(folder.join(".gitlab/CODEOWNERS")).unwrap();
    let none = abide(folder, &["owners", "--check"]);
    assert!(
        none.status == 1 && none.text().contains("write .github/CODEOWNERS"),
        "{}",
        none.text()
    );
}

#[test]
fn changed_packages_are_listed_with_their_owners() {
    let tree = owned("*.proto @acme/api\n/proto/acme/old/ @acme/old\n");
    let folder = tree.path();
    let since = ["--against", "git:HEAD"];
    let owners = |format: &str| ok(folder, &[&["owners", "--format", format], &since[..]].concat());
    assert_eq!(owners("human").text(), "0 packages changed\n");
    assert_eq!(owners("github").text(), "");
    edit(folder, USER, "string mail = 2;", "string mail = 2; // Checked.");
    assert_eq!(
        owners("human").text(),
        "acme.user.v1  @acme/api  (.github/CODEOWNERS:1)\n1 package changed\n"
    );
    fs::remove_file(folder.join("proto/acme/old/v1/old.proto")).unwrap();
    assert_eq!(
        owners("markdown").text(),
        "| package | owners |\n|---|---|\n| `acme.old.v1` | @acme/old |\n| `acme.user.v1` | \
         @acme/api |\n"
    );
    let notice = "::notice title=touched packages::this change touches `acme.old.v1` (@acme/old), \
                  `acme.user.v1` (@acme/api)\n";
    assert_eq!(owners("github").text(), notice);
    for command in ["check", "breaking"] {
        let ran = abide(folder, &[&[command, "--format", "github"], &since[..]].concat());
        assert!(ran.text().ends_with(notice), "{command}: {}", ran.text());
        let quiet = abide(folder, &[&[command, "-q", "--format", "github"], &since[..]].concat());
        assert!(!quiet.text().contains("::notice"), "{command}: {}", quiet.text());
        let ran = abide(folder, &[&[command, "--format", "gitlab"], &since[..]].concat());
        let report: Value = serde_json::from_str(&ran.text()).expect("it is JSON");
        let entries = report.as_array().expect("a list");
        let touched: Vec<&Value> =
            entries.iter().filter(|it| it["check_name"] == "touched packages").collect();
        assert_eq!(touched.len(), 2, "{command}: {report}");
        assert_eq!(touched[1]["description"], "this change touches `acme.user.v1` (@acme/api)");
        assert_eq!(touched[1]["location"]["path"], USER);
    }
    // Nobody has to own what is gone.
    put(folder, &[(".github/CODEOWNERS", "/proto/acme/user/ @acme/api\n")]);
    ok(folder, &[&["owners", "--check"], &since[..]].concat());
}
