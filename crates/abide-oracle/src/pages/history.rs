//! Tests the page of `abide history --format html` in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::programs::stdout;
use abide_harness::repository::{Commit, build_repository};
use serde_json::json;

use crate::pages::browser;

const DRIVER: &str = include_str!("history.js");

/// The number of packages and commits on the large page.
const PACKAGES: usize = 300;
const COMMITS: usize = 1500;

const USER: &str = "acme.user.v1";
const MAIL: &str = "acme.mail.v1";
const LAB: &str = "acme.lab.v1alpha";
const SUBJECT: &str = "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)> & \"so on\" {{data}}";

/// Opens the pages; true if all checks hold.
pub(crate) fn run(abide: &Path) -> Result<bool> {
    let small = render_history_page(abide, "history-small", &build_small_history())?;
    let large = render_history_page(abide, "history-large", &build_large_history())?;
    let title = "API history";
    let of_small =
        json!({ "user": USER, "mail": MAIL, "lab": LAB, "subject": SUBJECT, "title": title });
    let of_large = json!({ "large": true, "packages": PACKAGES, "most": 12_000 });
    let agreed = browser::use_page("small history", &small, DRIVER, &of_small)?;
    Ok(browser::use_page("large history", &large, DRIVER, &of_large)? && agreed)
}

/// Makes a repository and its page.
fn render_history_page(abide: &Path, name: &str, commits: &[Commit]) -> Result<PathBuf> {
    let folder = build_repository(name, commits, 5)?;
    let page = folder.join("history.html");
    stdout(
        Command::new(abide)
            .args(["history", "--format", "html", "--output"])
            .arg(&page)
            .current_dir(&folder),
    )?;
    Ok(page)
}

fn commit(subject: &str, files: &[(&str, Option<String>)]) -> Commit {
    let files = files.iter().map(|(path, text)| {
        ((*path).to_owned(), text.as_ref().map(|text| text.clone().into_bytes()))
    });
    Commit { subject: subject.to_owned(), files: files.collect(), side: Vec::new() }
}

/// A history with a change of each kind, and texts that look like markup.
fn build_small_history() -> Vec<Commit> {
    const USERS: &str = "acme/user/v1/user.proto";
    const MAILS: &str = "acme/mail/v1/mail.proto";
    const LABS: &str = "acme/lab/v1alpha/lab.proto";
    let user = |fields: &str| {
        Some(format!("syntax = \"proto3\";\npackage {USER};\nmessage User {{\n{fields}}}\n"))
    };
    let mail = |text: &str| {
        Some(format!(
            "syntax = \"proto3\";\npackage {MAIL};\nimport \"{USERS}\";\n\
             message Mail {{\n  acme.user.v1.User to = 1;\n}}\n{text}"
        ))
    };
    let lab = |fields: &str| {
        Some(format!("syntax = \"proto3\";\npackage {LAB};\nmessage Test {{\n{fields}}}\n"))
    };
    let (id, name, email) = ("  string id = 1;\n", "  string name = 2;\n", "  string email = 3;\n");
    let hostile = "option go_package = \"x/y;</script><b onmouseover=alert(1)>\";\n";
    vec![
        commit(
            "begin",
            &[
                (USERS, user(&[id, name].concat())),
                (MAILS, mail("")),
                (LABS, lab("  int32 a = 1;\n")),
            ],
        ),
        commit("users have an address", &[(USERS, user(&[id, name, email].concat()))]),
        commit("drop the name", &[(USERS, user(&[id, email].concat()))]),
        commit("a test counts otherwise", &[(LABS, lab("  string a = 1;\n"))]),
        commit("a word about users", &[(USERS, user(&["  // Who it is.\n", id, email].concat()))]),
        commit("half of a mail", &[(MAILS, mail("message Draft {\n  Missing part = 1;\n}\n"))]),
        commit(
            "a whole mail",
            &[(MAILS, mail("message Draft {\n  Missing part = 1;\n}\nmessage Missing {}\n"))],
        ),
        commit("the lab is closed", &[(LABS, None)]),
        commit(
            SUBJECT,
            &[(
                USERS,
                Some(format!(
                    "syntax = \"proto3\";\npackage {USER};\n{hostile}message User {{\n{id}{email}}}\n"
                )),
            )],
        ),
    ]
}

/// Many packages and many commits.
fn build_large_history() -> Vec<Commit> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut fields = vec![1; PACKAGES];
    let text = |at: usize, fields: usize| {
        let mut text =
            format!("syntax = \"proto3\";\npackage acme.part{at:03}.v1;\nmessage Part {{\n");
        for field in 1..=fields {
            text += &format!("  string field_{field} = {field};\n");
        }
        Some(text + "}\n")
    };
    let path = |at: usize| format!("acme/part{at:03}/v1/part.proto");
    let paths: Vec<String> = (0..PACKAGES).map(path).collect();
    let all: Vec<(&str, Option<String>)> =
        paths.iter().enumerate().map(|(at, path)| (path.as_str(), text(at, 1))).collect();
    let mut commits = vec![commit("begin", &all)];
    for number in 1..COMMITS {
        let mut files = Vec::new();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(..PACKAGES);
            // Sometimes a field is removed.
            fields[at] = if random.u8(..9) == 0 { fields[at].max(2) - 1 } else { fields[at] + 1 };
            files.push((paths[at].as_str(), text(at, fields[at])));
        }
        commits.push(commit(&format!("change {number}"), &files));
    }
    commits
}
