//! The names that all files of a tree reserve, to recognise edits after which a slice still has
//! every file that decides what is found.

use rustc_hash::FxHashMap;

use super::{OutlinedFile, iter_prefixes};
use crate::workspace::outline::{Outline, hash_name};

/// The count of each name in a tree, by its hash: as a declaration, or as a package or what
/// is around one.
#[derive(Clone, Debug, Default)]
pub struct TreeNames(FxHashMap<u64, u32>);

impl TreeNames {
    /// The claims of these files, those of their old sides included.
    pub fn count_names(files: &[OutlinedFile<'_>]) -> TreeNames {
        let mut claimed = TreeNames::default();
        for outline in files.iter().flat_map(OutlinedFile::outlines) {
            outline.claims.iter().for_each(|it| claimed.add(*it));
            iter_prefixes(&outline.package).for_each(|it| claimed.add(hash_name(it)));
        }
        claimed
    }

    fn add(&mut self, claim: u64) {
        *self.0.entry(claim).or_default() += 1;
    }

    fn count(&self, claim: u64) -> u32 {
        self.0.get(&claim).copied().unwrap_or_default()
    }

    /// Takes over the outline of a file of a slice that is edited. Whether the slice still has every
    /// file that decides what is found in it: it may have more than one that is chosen anew, since
    /// what the file no longer says does not make it smaller. `old` is its outline in the old tree,
    /// and `has` says whether the slice has all files with a path.
    pub fn replace(
        &mut self,
        (was, now): (&Outline, &Outline),
        old: Option<&Outline>,
        has: impl Fn(&str) -> bool,
    ) -> bool {
        let is_own = |claim: &u64| old.is_some_and(|it| it.claims.contains(claim));
        let gained = now.claims.iter().filter(|it| !was.claims.contains(it));
        let is_alone = |it: &u64| self.count(*it) == u32::from(is_own(it));
        let names_nothing = |name: &str| {
            let inner = |it: &str| hash_name(&format!("{}.{it}", now.package));
            iter_prefixes(name).all(|it| self.count(hash_name(it)) + self.count(inner(it)) == 0)
        };
        let holds = was.package == now.package
            && gained.clone().all(is_alone)
            && now.imports.iter().all(|it| was.imports.contains(it) || has(it))
            && now.strings.iter().all(|it| was.strings.contains(it) || names_nothing(it));
        if holds {
            let gained: Vec<u64> = gained.copied().collect();
            for lost in was.claims.iter().filter(|it| !now.claims.contains(it)) {
                if let Some(count) = self.0.get_mut(lost) {
                    *count -= 1;
                }
            }
            gained.into_iter().for_each(|it| self.add(it));
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::TreeSlice;
    use super::*;
    use crate::decl::{FileDecl, SourceFile};

    fn outline(path: &str, text: &str) -> Outline {
        let path: Arc<str> = path.into();
        Outline::from_decl(&FileDecl::parse(SourceFile {
            display: Arc::clone(&path),
            path,
            root: 0,
            imported: false,
            text: text.as_bytes().into(),
        }))
    }

    const OTHERS: &[(&str, &str)] = &[
        ("near.proto", "package a.v1; message Near {}"),
        ("far.proto", "package far.away; message Far {}"),
        ("named.proto", "package named; message Named {}"),
        ("rival.proto", "package a; message Rival {}"),
    ];

    const TEXT: &str = "package a.v1; import \"near.proto\"; message One { Near near = 1; }";

    /// Returns true if the slice around `one.proto` is kept for another text of it, and whether it
    /// has to be.
    fn kept(text: &str) -> bool {
        let others: Vec<(&str, Outline)> =
            OTHERS.iter().map(|(path, text)| (*path, outline(path, text))).collect();
        let slice = |own: &Outline| {
            let own = [("one.proto", own)].into_iter();
            let all = own.chain(others.iter().map(|(path, it)| (*path, it)));
            let files: Vec<OutlinedFile<'_>> = all
                .map(|(path, it)| OutlinedFile {
                    root: 0,
                    path,
                    old: None,
                    new: Some(it),
                    changed: path == "one.proto",
                })
                .collect();
            (TreeSlice::around(&files, &["a.v1"].into()), TreeNames::count_names(&files))
        };
        let (was, now) = (outline("one.proto", TEXT), outline("one.proto", text));
        let (chosen, mut claimed) = slice(&was);
        let paths: Vec<&str> =
            std::iter::once("one.proto").chain(OTHERS.iter().map(|it| it.0)).collect();
        let has = |path: &str| {
            paths.iter().position(|it| *it == path).is_none_or(|at| chosen.files.contains(&at))
        };
        let is_kept = claimed.replace((&was, &now), None, has);
        let (again, _) = slice(&now);
        let is_enough = again.files.iter().all(|it| chosen.files.contains(it));
        assert!(is_enough || !is_kept, "{text}: {:?} but {:?}", chosen.files, again.files);
        is_kept
    }

    #[test]
    fn a_slice_is_kept_for_what_concerns_no_other_file() {
        for text in [
            TEXT,
            "package a.v1; message One {}",
            "package a.v1; import \"near.proto\"; import \"gone.proto\"; message Two {}",
            "package a.v1; import \"near.proto\"; message One {} option (x) = \"nobody.knows\";",
        ] {
            assert!(kept(text), "{text}");
        }
    }

    #[test]
    fn a_slice_is_chosen_anew_for_what_concerns_another_file() {
        for text in [
            "package a.v1; import \"far.proto\"; message One {}",
            "package a.v2; message One {}",
            "package a.v1; message Near {}",
            "package a.v1; message One {} option (x) = \"far.away.Far\";",
            "package a.v1; message One {} option (x) = \"named\";",
        ] {
            assert!(!kept(text), "{text}");
        }
    }

    #[test]
    fn what_was_claimed_counts_for_the_next_edit() {
        let (first, second) = (outline("1", "message A {}"), outline("2", "message B {}"));
        let file = |path, new| OutlinedFile { root: 0, path, old: None, new, changed: true };
        let mut claimed =
            TreeNames::count_names(&[file("1", Some(&first)), file("2", Some(&second))]);
        let both = outline("1", "message A {} message C {}");
        assert!(claimed.replace((&first, &both), None, |_| true));
        let rival = outline("2", "message C {}");
        assert!(!claimed.replace((&second, &rival), None, |_| true));
        assert!(claimed.replace((&both, &first), None, |_| true));
        assert!(claimed.replace((&second, &rival), None, |_| true));
    }
}
