//! The page of `abide history --format html`, used in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::repository::{Commit, repository};
use crate::tools::{output, stdout};
use crate::{Result, corpora};

const DRIVER: &str = include_str!("history.js");

/// Sizes of windows: a desk, and a hand.
const WINDOWS: [(u32, u32); 2] = [(1280, 860), (390, 844)];

/// How many packages and commits the large page has.
const PACKAGES: usize = 300;
const COMMITS: usize = 1500;

const USER: &str = "acme.user.v1";
const MAIL: &str = "acme.mail.v1";
const LAB: &str = "acme.lab.v1alpha";
const SUBJECT: &str = "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)> & \"so on\" {{data}}";

/// Opens the pages; true when everything is as it shall be.
pub(super) fn run(abide: &Path) -> Result<bool> {
    let browser = browser()?;
    let small = page(abide, "history-small", &small())?;
    let large = page(abide, "history-large", &large())?;
    let title = "API history";
    let of_small =
        json!({ "user": USER, "mail": MAIL, "lab": LAB, "subject": SUBJECT, "title": title });
    let of_large = json!({ "large": true, "packages": PACKAGES, "most": 12_000 });
    let mut agreed = true;
    for (name, page, expected) in [("small", &small, &of_small), ("large", &large, &of_large)] {
        for (width, height) in WINDOWS {
            let lines = drive(browser, page, expected, (width, height))?;
            let (good, bad): (Vec<&String>, Vec<&String>) =
                lines.iter().partition(|line| line.starts_with("ok "));
            for line in &bad {
                println!("  {name} page at {width}: {line}");
            }
            println!(
                "history: {name} page at {width}: {} checks hold, {} fail",
                good.len(),
                bad.len()
            );
            agreed &= bad.is_empty() && good.len() >= 8;
        }
    }
    Ok(agreed)
}

fn browser() -> Result<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| output(Command::new(name).arg("--version")).is_ok())
        .ok_or_else(|| "no browser: install the package `chromium`".into())
}

/// Makes a repository and its page.
fn page(abide: &Path, name: &str, commits: &[Commit]) -> Result<PathBuf> {
    let folder = repository(name, commits, 5)?;
    let page = folder.join("history.html");
    stdout(
        Command::new(abide)
            .args(["history", "--format", "html", "--output"])
            .arg(&page)
            .current_dir(&folder),
    )?;
    Ok(page)
}

/// Opens a page with the script that uses it, and gives what that says.
fn drive(
    browser: &str,
    page: &Path,
    expected: &serde_json::Value,
    (width, height): (u32, u32),
) -> Result<Vec<String>> {
    let text = fs::read_to_string(page)?;
    // Before the page's own script, so that nothing is missed.
    let head = format!(
        "<head><script>window.thrown = [];\n\
         addEventListener('error', (event) => thrown.push(event.message));\n\
         addEventListener('unhandledrejection', (event) => thrown.push(String(event.reason)));\n\
         addEventListener('securitypolicyviolation', (event) => thrown.push(event.violatedDirective));\n\
         window.expected = {};</script>",
        expected.to_string().replace('<', "\\u003c")
    );
    let driven = text.replacen("<head>", &head, 1).replacen(
        "</body>",
        &format!("<script>\n{DRIVER}</script>\n</body>"),
        1,
    );
    let path = page.with_file_name(format!("driven-{width}.html"));
    fs::write(&path, driven)?;
    let profile = corpora::fresh("browser")?;
    let dumped = stdout(
        Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--disable-dev-shm-usage", "--virtual-time-budget=20000", "--dump-dom"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}", path.display())),
    )?;
    let checks =
        dumped.split_once("<pre id=\"checks\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (checks, _) = checks.ok_or("the page does not come to its end in the browser")?;
    Ok(checks.lines().map(str::to_owned).collect())
}

fn commit(subject: &str, files: &[(&str, Option<String>)]) -> Commit {
    let files = files.iter().map(|(path, text)| {
        ((*path).to_owned(), text.as_ref().map(|text| text.clone().into_bytes()))
    });
    Commit { subject: subject.to_owned(), files: files.collect() }
}

/// A history with a change of each kind, and texts that would like to be markup.
fn small() -> Vec<Commit> {
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
        commit("half of a mail", &[(MAILS, mail("message Draft {\n"))]),
        commit("a whole mail", &[(MAILS, mail("message Draft {}\n"))]),
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
fn large() -> Vec<Commit> {
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
            // Now and then a field goes away.
            fields[at] = if random.u8(..9) == 0 { fields[at].max(2) - 1 } else { fields[at] + 1 };
            files.push((paths[at].as_str(), text(at, fields[at])));
        }
        commits.push(commit(&format!("change {number}"), &files));
    }
    commits
}
