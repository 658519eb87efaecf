//! Sparse checkouts: what is not on disk is as git has it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::history::git;
use crate::run::{Ran, abide, put};

const NOTE: &str = "the checkout is sparse: files that it leaves out are read from git";

/// A repository of two roots in which every package but `acme.base.v1` imports that.
fn repository() -> TempDir {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    git(top, &["init", "--quiet"]);
    put(top, &[("abide.toml", "roots = [\"proto\", \"more\"]\nimport-paths = [\"tp\"]\n")]);
    put(top, &[("tp/ext/money.proto", "syntax = \"proto3\";\npackage ext;\nmessage Money {}\n")]);
    for (root, name) in
        [("proto", "base"), ("proto", "user"), ("proto", "shop"), ("more", "pay"), ("more", "log")]
    {
        let import = match name {
            "base" => "import \"ext/money.proto\";\n",
            _ => "import \"acme/base/v1/base.proto\";\n",
        };
        let kind = if name == "base" { "ext.Money" } else { "acme.base.v1.Thing" };
        let text = format!(
            "syntax = \"proto3\";\npackage acme.{name}.v1;\n{import}message Thing {{\n  {kind} one \
             = 1;\n  string badName = 2;\n}}\n"
        );
        put(top, &[(&format!("{root}/acme/{name}/v1/{name}.proto"), &text)]);
    }
    git(top, &["add", "--all"]);
    git(top, &["commit", "--quiet", "-m", "commit"]);
    folder
}

fn runs(folder: &Path) -> Vec<Ran> {
    let commands: [&[&str]; 6] = [
        &["check"],
        &["lint"],
        &["check", "--against", "git:HEAD"],
        &["breaking", "--against", "git:HEAD", "--changes"],
        &["check", "--changed"],
        &["hash"],
    ];
    commands.iter().map(|it| abide(folder, &[it, &["--format", "json"][..]].concat())).collect()
}

/// Makes a repository sparse in many ways, and compares each with the full checkout.
#[test]
fn a_sparse_checkout_is_judged_as_a_full_one() {
    let folder = repository();
    let top = folder.path();
    let edit = || {
        let path = top.join("proto/acme/user/v1/user.proto");
        let text = fs::read_to_string(&path).unwrap().replace("badName = 2", "badName = 3");
        fs::write(path, text).unwrap();
    };
    let ways: [&[&str]; 3] = [
        &["set", "--cone", "proto/acme/user"],
        &["set", "--cone", "--sparse-index", "proto/acme/user", "more/acme/log"],
        &["set", "--no-cone", "--no-sparse-index", "/*", "!/more/acme/pay/", "!base/", "!/tp/"],
    ];
    for edited in [false, true] {
        git(top, &["sparse-checkout", "disable"]);
        git(top, &["reset", "--quiet", "--hard"]);
        if edited {
            edit();
        }
        let full = runs(top);
        assert_eq!(full[2].status, i32::from(edited), "{}", full[2].stderr);
        for way in ways {
            git(top, &["reset", "--quiet", "--hard"]);
            git(top, &[&["sparse-checkout"], way].concat());
            assert!(!top.join("proto/acme/base").exists() && !top.join("tp").exists());
            if edited {
                edit();
            }
            for (sparse, full) in runs(top).iter().zip(&full) {
                assert_eq!(sparse.status, full.status, "{way:?} {}", sparse.stderr);
                assert_eq!(sparse.text(), full.text(), "{way:?} {}", sparse.stderr);
            }
            let said = abide(top, &["check"]).stderr;
            assert!(said.contains(NOTE), "{way:?} {said}");
            assert!(!said.contains("is not a folder"), "{way:?} {said}");
        }
    }
    // Who removes a file that is checked out does remove it.
    fs::remove_file(top.join("proto/acme/shop/v1/shop.proto")).unwrap();
    let removed = abide(top, &["check", "--changed", "--against", "git:HEAD", "--format", "json"]);
    assert!(removed.rules().contains(&"package-removed".to_owned()), "{}", removed.text());
}

/// A partial clone does not have the blobs that its sparse checkout leaves out.
#[test]
fn a_partial_clone_says_what_it_does_not_have() {
    let folder = repository();
    let top = folder.path();
    git(top, &["config", "uploadpack.allowFilter", "true"]);
    let clones = TempDir::new().unwrap();
    let from = format!("file://{}", top.display());
    let clone = ["clone", "--quiet", "--filter=blob:none", "--sparse", &from, "part"];
    git(clones.path(), &clone);
    let part = clones.path().join("part");
    git(&part, &["sparse-checkout", "set", "proto", "tp"]);
    for args in [&["check"][..], &["check", "--against", "git:HEAD"], &["check", "--changed"]] {
        let ran = abide(&part, &[args, &["--format", "json"]].concat());
        assert_eq!(ran.status, 0, "{args:?} {}", ran.stderr);
        assert!(!ran.rules().contains(&"package-removed".to_owned()));
        let note = "note: 2 files outside of the sparse checkout are not in this partial clone and \
                    not checked: `git sparse-checkout add` fetches a folder";
        assert_eq!(ran.stderr.matches(note).count(), 1, "{args:?} {}", ran.stderr);
    }
}
