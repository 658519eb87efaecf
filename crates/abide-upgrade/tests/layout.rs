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

use abide_upgrade::canonical_layout;
use placements::{placed, violation};
use protos::protos;

/// What parts a sample from its layout.
const LINE: &str = "// ===\n";

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

fn laid_out(text: &str) -> Option<String> {
    let made = canonical_layout(text.as_bytes())?;
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
    assert_eq!(canonical_layout(b"// \xff\n"), None);
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
        if let Some(why) = violation(&text, canonical_layout) {
            panic!("seed {seed}: {why}\nIt was:\n{}", String::from_utf8_lossy(&text));
        }
    }
}
