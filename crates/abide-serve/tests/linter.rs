//! What the linter must never depend on.
#![allow(clippy::disallowed_methods, reason = "asks cargo")]

use std::process::Command;

/// Who only lints compiles no server.
#[test]
fn the_linter_depends_on_no_async_runtime() {
    let tree = |package: &str| {
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--prefix", "none", "-e", "normal", "-p", package])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        String::from_utf8(tree.stdout).expect("cargo writes text")
    };
    let has = |tree: &str, name: &str| tree.lines().any(|it| it.split(' ').next() == Some(name));
    let linter = tree("abide-cli");
    for name in
        ["tokio", "tonic", "hyper", "async-std", "smol", "abide-xds", "abide-serve", "abide-remote"]
    {
        assert!(!has(&linter, name), "`abide` depends on {name}");
    }
    assert!(has(&linter, "abide-schema"), "this test reads the tree");
    let server = tree("abide-serve");
    assert!(has(&server, "tokio"), "this test would see it");
    assert!(has(&server, "abide-source"), "the server reads its APIs as the linter does");
    for name in ["abide-cli", "abide-editor", "lsp-types"] {
        assert!(!has(&server, name), "`abide-serve` depends on {name}");
    }
    for name in ["tokio", "tonic", "hyper"] {
        assert!(!has(&tree("abide-xds"), name), "sessions depend on {name}");
    }
    let sources = tree("abide-source");
    for name in ["clap", "lsp-types", "lsp-server", "tokio"] {
        assert!(!has(&sources, name), "the sources depend on {name}");
    }
}
