//! Drives `abide lsp` with the library that Visual Studio Code talks to servers with.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{output, stdout, workspace};

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

/// The packer of extensions, from npm.
const PACKER: &str = "@vscode/vsce@4.1.0";

/// What Neovim is asked.
const NEOVIM: &str = include_str!("editor/neovim.lua");

/// Opens, edits and asks, and packs the extension; true if all checks hold.
pub(crate) fn run(abide: &Path) -> Result<bool> {
    let folder = corpora::make_fresh_folder("editor")?;
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
    let packed = check_extension(&folder)?;
    Ok(check_neovim(abide, &folder, &tree)? && packed && said.status.success())
}

/// Packs the extension of Visual Studio Code as a release would; true if it holds the client.
fn check_extension(folder: &Path) -> Result<bool> {
    let extension = folder.join("vscode");
    let from = workspace()?.join("crates/abide-cli/editors/vscode");
    for file in ["extension.js", "package.json", "README.md"] {
        corpora::write(&extension.join(file), &std::fs::read(from.join(file))?)?;
    }
    let npm = |program: &str, args: &[&str]| {
        stdout(Command::new(program).args(args).current_dir(&extension))
    };
    npm("npm", &["install", "--no-audit", "--no-fund"])?;
    let said = npm("npx", &["--yes", PACKER, "package", "--skip-license", "--out", "abide.vsix"])?;
    let agreed = extension.join("abide.vsix").is_file() && said.contains("vscode-languageclient/");
    println!("editor: the extension is {}", if agreed { "packed" } else { &said });
    Ok(agreed)
}

/// Opens a file in Neovim with our settings; true if it shows what is wrong, and a hover.
fn check_neovim(abide: &Path, folder: &Path, tree: &Path) -> Result<bool> {
    let Ok(version) = stdout(Command::new("nvim").arg("--version")) else {
        println!("SKIPPED: editor: no Neovim (`apt-get install neovim`)");
        return Ok(true);
    };
    let settings = workspace()?.join("crates/abide-cli/editors/neovim/abide.lua");
    let plugin = folder.join("config/nvim/plugin/abide.lua");
    corpora::write(&plugin, &std::fs::read(settings)?)?;
    std::fs::write(folder.join("neovim.lua"), NEOVIM)?;
    // By this file, Neovim finds the folder of the tree.
    std::fs::write(tree.join("abide.toml"), "")?;
    let file = tree.join("acme/shop/v1/shop.proto");
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, text.replace("string id", "Missing id"))?;
    let first = [abide.parent().ok_or("`abide` lies in a folder")?.to_owned()];
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(first.into_iter().chain(std::env::split_paths(&path)))?;
    let mut nvim = Command::new("nvim");
    nvim.args(["--headless", "-n"]).arg(&file).arg("-S").arg(folder.join("neovim.lua"));
    // It ends whatever the script does.
    nvim.args(["-c", "qall!"]);
    nvim.current_dir(tree).env("PATH", path);
    for (name, part) in [("CONFIG", "config"), ("DATA", "data"), ("STATE", "state")] {
        nvim.env(format!("XDG_{name}_HOME"), folder.join(part));
    }
    let said = output(&mut nvim)?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let agreed = said.contains("5:3 name-not-found") && said.contains("acme.type.v1.Money");
    let verdict = if agreed { "no differences" } else { &said };
    println!("editor: {}: {verdict}", version.lines().next().unwrap_or_default());
    Ok(agreed)
}
