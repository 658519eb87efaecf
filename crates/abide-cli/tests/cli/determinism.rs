//! The same tree gives the same bytes, from any folder, with any number of threads, and every time.

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// The files of a tree in the repository, by their path there.
fn files(tree: &str) -> Vec<(String, Vec<u8>)> {
    let top = repository().join(tree);
    let mut files = Vec::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
                files.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn neither_runs_nor_threads_nor_order_nor_names_of_folders_matter() {
    let mut files = files("testdata/cli/shapes");
    assert!(files.len() > 6);
    let imports = repository().join("testdata/cli/imports");
    for format in ["human", "json", "github"] {
        let mut seen: Option<Vec<u8>> = None;
        for (round, jobs) in ["1", "2", "8", "8"].into_iter().enumerate() {
            let folder = TempDir::new().unwrap();
            let name = ["tree-a", "zz", "tree with spaces", "é"][round];
            let top = folder.path().join(name);
            files.rotate_left(round);
            if round % 2 == 1 {
                files.reverse();
            }
            for (path, bytes) in &files {
                put(&top, &[(path, "")]);
                std::fs::write(top.join(path), bytes).unwrap();
            }
            put(&top, &[("in/side/readme.txt", "")]);
            put(&top, &[("../imports/lib/v1/lib.proto", "")]);
            let lib = "lib/v1/lib.proto";
            std::fs::copy(imports.join(lib), top.join("../imports").join(lib)).unwrap();
            put(&top, &[("../.git/HEAD", "")]);
            let inside = top.join("in/side");
            let places = [
                (folder.path(), name, "imports"),
                (&*top, ".", "../imports"),
                (&*inside, "../..", "../../../imports"),
            ];
            for (place, source, imports) in places {
                let args = [
                    "check",
                    source,
                    "-I",
                    imports,
                    "--jobs",
                    jobs,
                    "--format",
                    format,
                    "--as-of",
                    "2026-01-15",
                    "--quiet",
                ];
                let ran = abide(place, &args);
                assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
                // Annotations count from the top of the repository, whatever it holds the tree as.
                let text = if format == "github" {
                    ran.text().replace(&format!("{name}/"), "").into_bytes()
                } else {
                    ran.stdout
                };
                let wanted = seen.get_or_insert_with(|| text.clone());
                assert!(*wanted == text, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}

#[test]
fn the_same_set_is_built_every_time() {
    let mut seen: Option<Vec<u8>> = None;
    for jobs in ["1", "2", "8", "8"] {
        let args = ["build", "testdata/trees/acme", "-o", "-", "--jobs", jobs];
        let ran = abide(&repository(), &args);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.len() > 1000);
        assert!(*seen.get_or_insert_with(|| ran.stdout.clone()) == ran.stdout);
    }
}
