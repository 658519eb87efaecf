//! A history like that of a repository with many APIs: commits of one file or of forty, merges,
//! renames, packages that come and go, edits of files that nearly all import, and files that are no
//! protos.

use std::collections::{BTreeMap, BTreeSet};

use abide_harness::repository::Commit;

/// The folders whose files nearly all import, in googleapis. They are there from the start.
const HUBS: [&str; 5] =
    ["google/api", "google/iam/v1", "google/longrunning", "google/rpc", "google/type"];

/// One of so many other folders is there from the start.
const FIRST: usize = 4;

type Files = Vec<(String, Option<Vec<u8>>)>;

/// The tree of a history while it is made.
struct Lived<'t> {
    random: fastrand::Rng,
    /// Every file that ever comes, with its first text, by folder.
    folders: BTreeMap<&'t str, Vec<(&'t str, &'t [u8])>>,
    /// The folders that the files of each folder import from.
    needs: BTreeMap<&'t str, BTreeSet<&'t str>>,
    /// The files that are there: the messages that were added to each, with their numbers of fields
    /// and of edits of their comments. A file is under the path that it came with.
    live: BTreeMap<&'t str, BTreeMap<&'t str, File>>,
    absent: Vec<&'t str>,
    number: usize,
}

#[derive(Default)]
struct File {
    is_renamed: bool,
    added: Vec<(usize, usize, usize)>,
}

/// As many commits, after one that adds the first files of a tree.
pub(super) fn commits(tree: &[(String, Vec<u8>)], count: usize) -> Vec<Commit> {
    let mut lived = Lived::of(tree);
    let mut first = Files::new();
    let mut folders = std::mem::take(&mut lived.absent);
    lived.random.shuffle(&mut folders);
    let later = folders.split_off(folders.len() / FIRST);
    HUBS.into_iter().chain(folders).for_each(|it| lived.add(it, &mut first));
    lived.absent = later;
    let mut commits = vec![Commit { subject: "first".to_owned(), files: first, side: Vec::new() }];
    while commits.len() <= count {
        let side: Vec<Commit> = match lived.random.usize(..8) {
            0 => (0..lived.random.usize(1..5)).map(|_| lived.commit()).collect(),
            _ => Vec::new(),
        };
        commits.push(match side.is_empty() {
            true => lived.commit(),
            false => {
                // The line of first parents has what all of them did.
                let files = side.iter().flat_map(|it| it.files.iter().cloned());
                let files: BTreeMap<String, Option<Vec<u8>>> = files.collect();
                Commit { subject: "merge".to_owned(), files: files.into_iter().collect(), side }
            }
        });
    }
    commits
}

impl<'t> Lived<'t> {
    fn of(tree: &'t [(String, Vec<u8>)]) -> Lived<'t> {
        let folder = |path: &'t str| path.rsplit_once('/').map_or("", |it| it.0);
        let texts: BTreeMap<&str, &[u8]> =
            tree.iter().map(|(path, text)| (path.as_str(), text.as_slice())).collect();
        let (mut folders, mut needs) = <(BTreeMap<_, Vec<_>>, BTreeMap<_, BTreeSet<_>>)>::default();
        for (&path, &text) in &texts {
            folders.entry(folder(path)).or_default().push((path, text));
            let lines = text.split(|it| *it == b'\n').filter(|it| it.starts_with(b"import "));
            let imports = lines.filter_map(|it| std::str::from_utf8(it).ok()?.split('"').nth(1));
            let known = imports.filter_map(|it| texts.get_key_value(it));
            let needed = known.map(|(path, _)| folder(path)).filter(|it| *it != folder(path));
            needs.entry(folder(path)).or_default().extend(needed);
        }
        let absent = folders.keys().copied().filter(|it| !HUBS.contains(it)).collect();
        let (random, live) = (fastrand::Rng::with_seed(1), BTreeMap::new());
        Lived { random, folders, needs, live, absent, number: 0 }
    }

    /// Adds a folder with those that it imports from.
    fn add(&mut self, folder: &'t str, to: &mut Files) {
        let mut open = vec![folder];
        while let Some(folder) = open.pop() {
            let Some(files) = self.folders.get(folder) else { continue };
            if self.live.contains_key(folder) {
                continue;
            }
            let files = files.iter().map(|(path, _)| (*path, File::default())).collect();
            self.live.insert(folder, files);
            self.absent.retain(|it| *it != folder);
            open.extend(self.needs.get(folder).into_iter().flatten());
            let paths: Vec<&str> = self.live[folder].keys().copied().collect();
            paths.into_iter().for_each(|path| to.push(self.file(folder, path)));
            to.push(self.build(folder));
        }
    }

    /// A file that is no proto.
    fn build(&mut self, folder: &str) -> (String, Option<Vec<u8>>) {
        self.number += 1;
        (format!("{folder}/BUILD.bazel"), Some(format!("# {}\n", self.number).into_bytes()))
    }

    fn file(&self, folder: &str, path: &str) -> (String, Option<Vec<u8>>) {
        let file = &self.live[folder][path];
        let first = self.folders[folder].iter().find(|it| it.0 == path).map(|it| it.1);
        let mut text = first.unwrap_or_default().to_vec();
        for (name, fields, edits) in &file.added {
            text.extend(
                format!("\n// Edited {edits} times.\nmessage AddedLater{name} {{\n").bytes(),
            );
            for field in 1..=*fields {
                text.extend(format!("  string field_{field} = {field};\n").bytes());
            }
            text.extend(b"}\n");
        }
        (name(path, file), Some(text))
    }

    /// Any folder that is there and that no other one needs, but for those of hubs.
    fn lone(&mut self) -> Option<&'t str> {
        let needed: BTreeSet<&str> = self
            .live
            .keys()
            .flat_map(|it| self.needs.get(it).into_iter().flatten())
            .copied()
            .collect();
        let is_lone = |it: &&&str| !needed.contains(**it) && !HUBS.contains(*it);
        let lone: Vec<&'t str> = self.live.keys().filter(is_lone).copied().collect();
        self.random.choice(lone)
    }

    fn commit(&mut self) -> Commit {
        self.number += 1;
        let mut files = Files::new();
        match self.random.usize(..1000) {
            0..60 if !self.absent.is_empty() => {
                let folder = self.absent[self.random.usize(..self.absent.len())];
                self.add(folder, &mut files);
            }
            60..75 => {
                if let Some(folder) = self.lone()
                    && let Some(gone) = self.live.remove(folder)
                {
                    files.extend(gone.iter().map(|(path, file)| (name(path, file), None)));
                    files.push((format!("{folder}/BUILD.bazel"), None));
                    self.absent.push(folder);
                }
            }
            75..95 => {
                if let Some(folder) = self.lone()
                    && let Some((path, file)) =
                        self.live.get_mut(folder).and_then(|it| it.iter_mut().next())
                {
                    let path = *path;
                    files.push((name(path, file), None));
                    file.is_renamed = !file.is_renamed;
                    files.push(self.file(folder, path));
                }
            }
            95..105 => {
                let folder = HUBS[self.random.usize(..HUBS.len())];
                self.edit(folder, 1, &mut files);
            }
            105..180 => {
                let folders: Vec<&'t str> = self.live.keys().copied().collect();
                for _ in 0..3 {
                    let folder = folders[self.random.usize(..folders.len())];
                    let build = self.build(folder);
                    files.push(build);
                }
            }
            _ => {
                let mut most = match self.random.usize(..100) {
                    0..45 => 1,
                    45..75 => self.random.usize(2..5),
                    75..95 => self.random.usize(5..13),
                    _ => self.random.usize(13..41),
                };
                let folders: Vec<&'t str> =
                    self.live.keys().filter(|it| !HUBS.contains(*it)).copied().collect();
                while most > 0 && !folders.is_empty() {
                    let folder = folders[self.random.usize(..folders.len())];
                    most -= self.edit(folder, most, &mut files).min(most);
                }
            }
        }
        Commit { subject: format!("commit {}", self.number), files, side: Vec::new() }
    }

    /// Edits up to `most` files of a folder, and says how many.
    fn edit(&mut self, folder: &'t str, most: usize, to: &mut Files) -> usize {
        let all: Vec<&'t str> =
            self.live.get(folder).into_iter().flatten().map(|it| *it.0).collect();
        let chosen = self.random.choose_multiple(all, most);
        for path in &chosen {
            let Some(file) = self.live.get_mut(folder).and_then(|it| it.get_mut(path)) else {
                continue;
            };
            let known = file.added.len();
            match self.random.usize(..10) {
                0..3 if known > 0 => file.added[self.random.usize(..known)].1 += 1,
                3 if known > 0 => drop(file.added.remove(self.random.usize(..known))),
                4..7 if known > 0 => file.added[self.random.usize(..known)].2 += 1,
                _ => file.added.push((self.number, self.random.usize(1..6), 0)),
            }
            to.push(self.file(folder, path));
        }
        chosen.len().max(1)
    }
}

/// The path that a file has now.
fn name(path: &str, file: &File) -> String {
    match file.is_renamed {
        true => path.replace(".proto", "_renamed.proto"),
        false => path.to_owned(),
    }
}
