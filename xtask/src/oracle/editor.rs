//! Drives `abide lsp` with the library that Visual Studio Code talks to servers with.

use std::path::Path;
use std::process::Command;

use crate::corpora;
use crate::task::Result;
use crate::tools::{output, stdout};

const DRIVER: &str = include_str!("editor.js");

/// The library, from npm.
const LIBRARY: &str = "vscode-languageserver-protocol@3.17.5";

const TREE: [(&str, &str); 2] = [
    (
        "acme/type/v1/money.proto",
        "syntax = \"proto3\";\npackage acme.type.v1;\nmessage Money { int64 units = 1; }\n",
    ),
    (
        "acme/shop/v1/shop.proto",
        "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/type/v1/money.proto\";\nmessage Order {\n  string id = 1;\n  acme.type.v1.Money price = 2;\n}\n",
    ),
];

/// Opens, edits and asks; true if all checks hold.
pub(super) fn run(abide: &Path) -> Result<bool> {
    let folder = corpora::fresh("editor")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]);
    stdout(npm.arg(&folder).arg(LIBRARY))?;
    let tree = folder.join("tree");
    for (path, text) in TREE {
        corpora::write(&tree.join(path), text.as_bytes())?;
    }
    let driver = folder.join("editor.js");
    std::fs::write(&driver, DRIVER)?;
    let said = output(Command::new("node").arg(&driver).arg(abide).arg(&tree))?;
    let text = String::from_utf8_lossy(&said.stdout);
    println!("editor: {}", if said.status.success() { "no differences" } else { &text });
    Ok(said.status.success())
}
