//! Tests pages that Abide writes in a real browser.

use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{output, stdout};
use serde_json::Value;

/// Functions for every driver.
const CHECKS: &str = include_str!("browser.js");

/// Sizes of windows: a desktop and a phone.
const WINDOWS: [(u32, u32); 2] = [(1280, 860), (390, 844)];

/// What the user of a browser prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// Opens a page in windows of all sizes with a script that uses it; true if all checks hold.
pub(crate) fn use_page(name: &str, page: &Path, driver: &str, expected: &Value) -> Result<bool> {
    use_page_in(Scheme::Light, name, page, driver, expected)
}

/// The same in a scheme of colours.
pub(crate) fn use_page_in(
    scheme: Scheme,
    name: &str,
    page: &Path,
    driver: &str,
    expected: &Value,
) -> Result<bool> {
    let mut agreed = true;
    for size in WINDOWS {
        let lines = drive(scheme, page, driver, expected, size)?;
        let width = size.0;
        let (good, bad): (Vec<&String>, Vec<&String>) =
            lines.iter().partition(|line| line.starts_with("ok "));
        for line in &bad {
            println!("  {name} at {width}: {line}");
        }
        println!("page: {name} at {width}: {} checks hold, {} fail", good.len(), bad.len());
        agreed &= bad.is_empty() && good.len() >= 8;
    }
    Ok(agreed)
}

/// A browser without a window, and with nothing from another run: what a page shows in a window of a
/// size.
pub(crate) fn build_browser_command(
    scheme: Scheme,
    (width, height): (u32, u32),
) -> Result<Command> {
    let name = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| output(Command::new(name).arg("--version")).is_ok())
        .ok_or("no browser: install the package `chromium`")?;
    let profile = corpora::make_fresh_folder("browser")?;
    let mut command = Command::new(name);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--disable-dev-shm-usage"])
        .args((scheme == Scheme::Dark).then_some("--force-dark-mode"))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--user-data-dir={}", profile.display()));
    Ok(command)
}

/// The output of the script in one window.
fn drive(
    scheme: Scheme,
    page: &Path,
    driver: &str,
    expected: &Value,
    (width, height): (u32, u32),
) -> Result<Vec<String>> {
    let text = fs::read_to_string(page)?;
    // Before the page's own script, so that no error is missed.
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
        &format!("<script>\n{driver}{CHECKS}</script>\n</body>"),
        1,
    );
    let path = page.with_file_name(format!("driven-{width}.html"));
    fs::write(&path, driven)?;
    let mut browser = build_browser_command(scheme, (width, height))?;
    browser.args(["--virtual-time-budget=20000", "--dump-dom"]);
    let dumped = stdout(browser.arg(format!("file://{}", path.display())))?;
    let checks =
        dumped.split_once("<pre id=\"checks\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (checks, _) = checks.ok_or("the script did not finish in the browser")?;
    Ok(checks.lines().map(str::to_owned).collect())
}
