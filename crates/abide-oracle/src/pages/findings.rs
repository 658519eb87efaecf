//! Tests the page of `abide check --format html` in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::output;
use serde_json::{Value, json};

use crate::pages::browser;

const DRIVER: &str = include_str!("findings.js");

/// The number of files with findings on the large page; a headless browser takes minutes for twice
/// as many.
const FILES: usize = 1000;

const HOSTILE: &str =
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>{{files}}";

/// Opens the pages; true if all checks hold.
pub(crate) fn run(abide: &Path) -> Result<bool> {
    let hostile = format!("evil/{}.proto", HOSTILE.replace('/', "_"));
    let small = [
        (
            "acme/user/v1/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { Missing a = 1; }\n",
        ),
        (
            "acme/shop/v1/shop.proto",
            "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/user/v1/user.proto\";\nmessage Shop { string a = 1; }\n",
        ),
        (
            "elsewhere/lab.proto",
            "syntax = \"proto3\";\npackage acme.lab.v1alpha;\nmessage Lab { Gone a = 1; Lost b = 2; }\n",
        ),
        (hostile.as_str(), &format!("syntax = \"proto3\";\npackage evil; // {HOSTILE}\n")),
    ];
    let small = small.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let large = (0..FILES).map(|at| {
        let text = format!(
            "syntax = \"proto3\";\npackage acme.part{at}.v1;\nmessage Part {{ Gone a = 1; }}\n"
        );
        (format!("parts/{at}.proto"), text)
    });
    let agreed = use_findings(abide, "findings-small", &small)?;
    Ok(use_findings(abide, "findings-large", &large.collect::<Vec<_>>())? && agreed)
}

fn use_findings(abide: &Path, name: &str, files: &[(String, String)]) -> Result<bool> {
    let folder = corpora::make_fresh_folder(name)?;
    for (path, text) in files {
        corpora::write(&folder.join("tree").join(path), text.as_bytes())?;
    }
    let report = |format: &str| -> Result<PathBuf> {
        let path = folder.join("findings").with_extension(format);
        let mut command = Command::new(abide);
        command.args(["check", "tree", "--format", format, "--output"]).arg(&path);
        let said = output(command.current_dir(&folder))?;
        match said.status.code() {
            Some(0 | 1) => Ok(path),
            _ => Err(String::from_utf8_lossy(&said.stderr).into_owned().into()),
        }
    };
    let page = report("html")?;
    let mut findings: Vec<Value> = Vec::new();
    for line in std::fs::read_to_string(report("json")?)?.lines() {
        findings.push(serde_json::from_str(line)?);
    }
    // The last line is the summary.
    findings.pop();
    let part = |finding: &Value| {
        json!({
            "rule": finding["rule"],
            "severity": finding["severity"],
            "path": finding["path"],
            "line": finding["start"]["line"],
            "message": finding["message"],
        })
    };
    let findings: Vec<Value> = findings.iter().map(part).collect();
    let expected = json!({ "findings": findings, "hostile": HOSTILE, "title": "API findings" });
    browser::use_page(name, &page, DRIVER, &expected)
}
