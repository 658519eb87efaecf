//! Writing files.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use abide_source::write::{OpenFolder, write};
use tempfile::TempDir;

#[test]
fn a_file_is_replaced_and_keeps_its_permissions() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("new/a.proto");
    write(Some(&file), b"one").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"one");
    assert_ne!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::File::open(&file).unwrap();
    write(Some(&file), b"two").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"two");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);
    // Whoever has the file open keeps reading the old one: it was renamed over, not rewritten.
    assert_eq!(std::io::read_to_string(before).unwrap(), "one");
    assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
}

#[test]
fn a_link_keeps_pointing_at_what_is_written() {
    let folder = TempDir::new().unwrap();
    let (file, link) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&file, "one").unwrap();
    symlink("a", &link).unwrap();
    write(Some(&link), b"two").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"two");
}

#[test]
fn a_failure_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    assert!(write(Some(folder.path()), b"x").is_err());
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(write(Some(&folder.path().join("file/below")), b"x").is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    write(Some("/dev/null".as_ref()), b"x").unwrap();
}

#[test]
fn a_link_to_what_is_not_there_yet_keeps_pointing_at_it() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    symlink("second", &first).unwrap();
    symlink("below/file", &second).unwrap();
    let are_links =
        || [&first, &second].iter().all(|it| fs::symlink_metadata(it).unwrap().is_symlink());
    write(Some(&first), b"one").unwrap();
    assert!(are_links());
    fs::remove_file(folder.path().join("below/file")).unwrap();
    OpenFolder::open(folder.path()).unwrap().replace("first".as_ref(), b"two").unwrap();
    assert!(are_links());
    assert_eq!(fs::read(folder.path().join("below/file")).unwrap(), b"two");

    let round = folder.path().join("round");
    symlink("round", &round).unwrap();
    assert!(write(Some(&round), b"x").is_err());
    assert!(fs::symlink_metadata(&round).unwrap().is_symlink());
}

#[test]
fn a_file_keeps_its_owner_and_its_attributes() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a.proto");
    fs::write(&file, "one").unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    // Some file systems have none, and only root gives files away.
    let has_attributes = rustix::fs::setxattr(&file, "user.note", b"mine", flags).is_ok();
    let _ = chown(&file, Some(1234), Some(1234));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o2750)).unwrap();
    let owner = |it: &fs::Metadata| (it.uid(), it.gid(), it.mode());
    let before = fs::metadata(&file).unwrap();
    write(Some(&file), b"two").unwrap();
    let after = fs::metadata(&file).unwrap();
    assert_eq!(owner(&after), owner(&before));
    assert_ne!(after.ino(), before.ino(), "it was replaced");
    if has_attributes {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&file, "user.note", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"mine");
    }
}
