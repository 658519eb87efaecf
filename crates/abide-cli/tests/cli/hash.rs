//! `abide hash`: its output for each kind of source, and for names that do not exist.

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::run::{abide, put, repository};

const USER: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n  \
                    message Part { map<string, User> users = 1; }\n}\n";
const SHOP: &str = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/user/v1/user.proto\";\n\
                    message Shop { acme.user.v1.User owner = 1; }\n";

fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    let files = [("acme/user/v1/user.proto", USER), ("acme/shop/v1/shop.proto", SHOP)];
    put(folder.path(), &files);
    folder
}

#[test]
fn lines_are_sorted_by_kind_and_name() {
    let folder = tree();
    let ran = abide(folder.path(), &["hash", "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let lines = ran.json();
    let names: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["kind"].as_str().unwrap(), line["name"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("file", "acme/shop/v1/shop.proto"),
        ("file", "acme/user/v1/user.proto"),
        ("message", "acme.shop.v1.Shop"),
        ("message", "acme.user.v1.User"),
        ("message", "acme.user.v1.User.Part"),
        ("package", "acme.shop.v1"),
        ("package", "acme.user.v1"),
    ];
    assert_eq!(names, wanted);
    for line in &lines {
        assert_eq!(line.as_object().unwrap().len(), 4, "{line}");
        for hash in [&line["own"], &line["closure"]] {
            let digits = hash.as_str().unwrap().strip_prefix("abide1:sha256:").unwrap();
            assert!(digits.len() == 64 && digits.bytes().all(|it| it.is_ascii_hexdigit()));
        }
    }
}

#[test]
fn every_source_of_a_tree_has_its_hashes() {
    let folder = tree();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let wanted = abide(folder.path(), &["hash", "--format", "json"]).text();
    let set = at("set.binpb");
    assert_eq!(abide(folder.path(), &["build", "-o", &set]).status, 0);
    let tar = at("tree.tar");
    let mut archive = tar::Builder::new(std::fs::File::create(&tar).unwrap());
    archive.append_dir_all("acme", folder.path().join("acme")).unwrap();
    archive.finish().unwrap();
    for source in [&set, &tar] {
        assert_eq!(abide(folder.path(), &["hash", source, "--format", "json"]).text(), wanted);
    }
}

#[test]
fn a_package_is_shown_with_its_messages() {
    let folder = tree();
    let ran = abide(folder.path(), &["hash", "--package", "acme.user.v1"]);
    let text = ran.text();
    let titles: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    let wanted = [
        "package acme.user.v1",
        "file acme/user/v1/user.proto",
        "message acme.user.v1.User",
        "message acme.user.v1.User.Part",
    ];
    assert_eq!((ran.status, titles.as_slice()), (0, wanted.as_slice()));
}

#[test]
fn facts_are_what_is_hashed() {
    let folder = tree();
    let hashes = abide(folder.path(), &["hash", "--format", "json"]).json();
    for line in hashes {
        let ran = abide(folder.path(), &["hash", "--facts", line["name"].as_str().unwrap()]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        let text = ran.text();
        let mut blocks = text.split("\n\n").map(|block| format!("{}\n", block.trim_end()));
        for hash in ["own", "closure"] {
            let digest = Sha256::digest(blocks.next().unwrap().as_bytes());
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(line[hash].as_str(), Some(&*format!("abide1:sha256:{digits}")));
        }
    }
}

#[test]
fn a_name_that_is_not_there_is_met_with_the_nearest() {
    let folder = tree();
    for (args, wanted) in [
        (
            ["--package", "acme.users.v1"],
            "error: there is no package `acme.users.v1`; did you mean `acme.user.v1`?\n",
        ),
        (["--package", "zzz"], "error: there is no package `zzz`\n"),
        (
            ["--facts", "acme.user.v1.Usr"],
            "error: there is no package, file, message, enum, service or extension \
             `acme.user.v1.Usr`; did you mean `acme.user.v1.User`?\n",
        ),
    ] {
        let ran = abide(folder.path(), &[&["hash"][..], &args].concat());
        assert_eq!((ran.status, ran.stderr.as_str()), (2, wanted));
        assert_eq!(ran.text(), "");
    }
    let ran = abide(folder.path(), &["hash", "--facts", "a", "--format", "json"]);
    assert_eq!(ran.status, 2);
}

#[test]
fn a_tree_that_is_not_valid_has_hashes_and_says_so() {
    let folder = tree();
    put(folder.path(), &[("acme/user/v1/user.proto", &USER.replace("string name", "Gone name"))]);
    let ran = abide(folder.path(), &["hash", "--format", "json"]);
    assert_eq!((ran.status, ran.json().len()), (1, 7));
    assert!(ran.stderr.contains("`Gone` was not found"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("note: the tree is not valid, so its hashes may change once it is\n")
    );
}

#[test]
fn threads_do_not_matter() {
    let args = ["hash", "testdata/trees/acme", "--format", "json", "--jobs"];
    let runs = ["1", "2", "7"].map(|jobs| abide(&repository(), &[&args[..], &[jobs]].concat()));
    assert!(runs.iter().all(|ran| ran.status == 0 && ran.stdout == runs[0].stdout));
}
