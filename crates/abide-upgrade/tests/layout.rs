//! The canonical layout of a file: what is printed of a sample, and that it
//! comes to rest for every proto of the repository.
//!
//! Whether descriptors and comments stay is asked of the real protoc, by
//! `cargo xtask oracle --only layout`.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

#[path = "../../abide-format/tests/placements/mod.rs"]
mod placements;
#[path = "../../abide-schema/tests/protos/mod.rs"]
mod protos;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};
use abide_upgrade::{
    UpgradeOptions, UpgradePolicy, UpgradeSettings, format_canonically, release, upgrade,
};
use placements::{OPTIONS, placed, violation};
use protos::protos;

/// What parts a sample from its layout.
const LINE: &str = "// ===\n";

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

fn laid_out(text: &str) -> Option<String> {
    let made = format_canonically(text.as_bytes())?;
    Some(String::from_utf8(made).expect("what was UTF-8 is it still"))
}

#[test]
fn the_sample_is_laid_out_as_recorded() {
    let path = testdata().join("layout/sample.proto");
    let text = std::fs::read_to_string(&path).expect("the sample is readable");
    let (sample, expected) = text.split_once(LINE).unwrap_or((&text, ""));
    let made = laid_out(sample).expect("the sample is well-formed");
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        std::fs::write(path, format!("{sample}{LINE}{made}")).expect("it can be written");
    } else {
        assert_eq!(made, expected, "`SNAPSHOTS=overwrite` records it");
    }
}

#[test]
fn what_is_laid_out_is_laid_out_already() {
    for folder in ["imports", "layout", "upgrade"] {
        let files = protos(&testdata().join(folder));
        assert!(!files.is_empty(), "{folder} is empty");
        for (path, text) in files {
            // Several files follow each other in some, which is no proto.
            for text in text.split("// === ") {
                let Some(made) = laid_out(text) else { continue };
                assert_eq!(laid_out(&made).as_ref(), Some(&made), "{folder}/{path}");
            }
        }
    }
}

#[test]
fn what_is_not_understood_has_no_layout() {
    assert_eq!(laid_out("message {"), None);
    assert_eq!(format_canonically(b"// \xff\n"), None);
}

/// Whatever is missing from the sample, its rest comes to rest too.
#[test]
fn what_is_left_of_the_sample_is_laid_out() {
    let text = std::fs::read_to_string(testdata().join("layout/sample.proto"));
    let text = text.expect("the sample is readable");
    let (sample, _) = text.split_once(LINE).expect("its layout follows");
    let mut count = 0;
    for length in [1, 2, 9] {
        for start in (0..sample.len() - length).step_by(length) {
            let rest = format!("{}{}", &sample[..start], &sample[start + length..]);
            let Some(made) = laid_out(&rest) else { continue };
            assert_eq!(laid_out(&made).as_ref(), Some(&made), "{rest}");
            count += 1;
        }
    }
    assert!(count > 1000, "{count} texts are no proof");
}

#[test]
fn what_a_file_says_stays_wherever_comments_and_options_stand() {
    for seed in 0..1_000 {
        let text = placed(&mut fastrand::Rng::with_seed(seed));
        if let Some(why) = violation(&text, format_canonically) {
            panic!("seed {seed}: {why}\nIt was:\n{}", String::from_utf8_lossy(&text));
        }
    }
}

fn file(path: &str, text: &[u8]) -> Arc<FileDecl> {
    let (path, text): (Arc<str>, _) = (path.into(), text.into());
    let display = Arc::clone(&path);
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
}

fn errors(tree: &Tree) -> Vec<String> {
    let errors = tree.problems().iter().filter(|it| it.kind.is_error());
    errors.map(|it| format!("{}: {}", tree.file(it.place.file).path(), it.message)).collect()
}

#[test]
fn what_is_upgraded_and_released_links_wherever_comments_and_options_stand() {
    let policy = UpgradePolicy::default();
    let settings = UpgradeSettings { policy: &policy, folder_prefixes: &[], path_prefixes: &[] };
    let package = "acme.opts.use.v1";
    let mut made = 0;
    for seed in 0..500 {
        let text = placed(&mut fastrand::Rng::with_seed(seed));
        let text = String::from_utf8_lossy(&text).replace("acme.opts.use", package);
        let empty = b"syntax = \"proto3\";\n";
        let mut files = vec![
            file("acme/opts/use/v1/use.proto", text.as_bytes()),
            file("acme/opts.proto", OPTIONS.as_bytes()),
            file("a.proto", empty),
            file("z.proto", empty),
        ];
        let before = Tree::link(files.clone());
        // A comment inside of a name has kept it from getting its version.
        let is_named = before.files().any(|it| it.package().name() == package);
        if !is_named || !errors(&before).is_empty() {
            continue;
        }
        let packages = [package.to_owned()];
        let options = UpgradeOptions { packages: &packages, closure: None };
        let candidates = upgrade(&before, settings, &options);
        let candidates = candidates.unwrap_or_else(|it| panic!("seed {seed}: {it}")).files;
        files.extend(candidates.iter().map(|it| file(&it.path, &it.text)));
        let upgraded = Tree::link(files);
        let shown = |errors: &[String]| {
            let made = String::from_utf8_lossy(&candidates[0].text);
            format!("seed {seed}: {errors:?}\n{text}\nbecame\n{made}")
        };
        let found = errors(&upgraded);
        assert!(found.is_empty(), "{}", shown(&found));
        let released = release(&upgraded, settings);
        let released = released.unwrap_or_else(|it| panic!("seed {seed}: {it}"));
        let found = errors(&released.apply_to(&upgraded));
        assert!(found.is_empty(), "{}", shown(&found));
        made += 1;
    }
    assert!(made > 300, "{made} are no proof");
}
