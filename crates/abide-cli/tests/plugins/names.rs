//! The names by which other tools start the binary.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::abide;

fn says(command: &mut Command) -> Vec<u8> {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn each_name_starts_the_same_plugin() {
    let here = std::env::temp_dir();
    let protoc = abide(&here, &["plugin", "protoc"]).stdout;
    let buf = abide(&here, &["plugin", "buf", "--spec"]).stdout;
    assert!(!protoc.is_empty() && !buf.is_empty());
    assert_eq!(says(&mut Command::new(env!("CARGO_BIN_EXE_protoc-gen-abide"))), protoc);
    assert_eq!(says(Command::new(env!("CARGO_BIN_EXE_buf-plugin-abide")).arg("--spec")), buf);
}

/// A link is enough, as packagers make one.
#[cfg(unix)]
#[test]
fn a_link_starts_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str| {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_abide"), &path).unwrap();
        path
    };
    assert_eq!(says(Command::new(link("buf-plugin-abide")).arg("--protocol")), b"1\n");
    assert!(!says(&mut Command::new(link("protoc-gen-abide"))).is_empty());
    assert!(says(Command::new(link("abide-link")).arg("--version")).starts_with(b"abide "));
}

/// Alone in a folder, it starts the `abide` on the PATH, or says that there is none.
#[test]
fn a_lone_launcher_looks_on_the_path() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_buf-plugin-abide"));
    let alone = folder.path().join(program.file_name().unwrap());
    // A copy might still be open for writing in a process that another test starts.
    std::fs::hard_link(program, &alone).unwrap();
    let found = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
    assert_eq!(says(Command::new(&alone).arg("--protocol").env("PATH", found)), b"1\n");
    let output = Command::new(&alone).env("PATH", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: cannot start `abide`"), "{said}");
}
