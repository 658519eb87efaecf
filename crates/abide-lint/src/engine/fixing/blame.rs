//! Which fixes the harm that they did together speaks against.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use abide_schema::{EnumValue, FileId, Tree};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::proposal::ProposedFix;
use super::trial::FixTrial;
use crate::finding::Finding;

/// Which fixes of a group the harm that they did speaks against.
pub(super) struct HarmSuspects<'h> {
    /// Those that did it for sure, with the harm: a change of their own element.
    pub(super) guilty: Vec<Option<&'h Finding>>,
    /// Those of which one may have done it, with a harm. No fix is in two of these sets.
    pub(super) suspects: Vec<(Vec<usize>, &'h Finding)>,
}

impl<'h> HarmSuspects<'h> {
    pub(super) fn of(
        tree: &Tree,
        group: &[ProposedFix<'_>],
        trial: &FixTrial<'_>,
        harm: &'h [Finding],
    ) -> HarmSuspects<'h> {
        let suspects = CandidateFixes::of(tree, group);
        let mut guilty = vec![None; group.len()];
        let mut sets = UnionFind::<usize>::new(group.len());
        // By a fix that it speaks against.
        let mut harms: BTreeMap<usize, &Finding> = BTreeMap::new();
        let mut suspected = BTreeSet::new();
        let mut seen: FxHashSet<Culprit<'_>> = FxHashSet::default();
        for harm in harm {
            // Whoever is blamed once need not be blamed again.
            let (whom, found) = suspects.find_for_harm(&trial.tree, harm);
            if !seen.insert(whom) {
                continue;
            }
            let found: Vec<usize> = found.collect();
            let Some(&first) = found.first() else { continue };
            harms.entry(first).or_insert(harm);
            for &at in &found {
                sets.union(first, at);
            }
            if found.len() == 1 && harm.change.is_some() && matches!(whom, Culprit::Own(_)) {
                guilty[first] = Some(harm);
            }
            suspected.extend(found);
        }
        let mut suspects: BTreeMap<usize, (Vec<usize>, &Finding)> = BTreeMap::new();
        for (&at, &harm) in &harms {
            suspects.entry(sets.find(at)).or_insert_with(|| (Vec::new(), harm));
        }
        for at in suspected {
            if let Some((members, _)) = suspects.get_mut(&sets.find(at)) {
                members.push(at);
            }
        }
        HarmSuspects { guilty, suspects: suspects.into_values().collect() }
    }
}

/// Which fixes can be to blame for a finding, found without a look at each of them.
struct CandidateFixes<'a> {
    /// By the element that a fix is for. A value of an enum is found as its sibling, as its full name
    /// has it, and inside of it.
    by_element: BTreeMap<Cow<'a, str>, Vec<usize>>,
    /// By the name that a fix gives to its element.
    by_new_name: FxHashMap<String, Vec<usize>>,
    by_file: FxHashMap<&'a str, Vec<usize>>,
}

/// What the fixes that are to blame for a finding have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Culprit<'a> {
    /// This element.
    Own(&'a str),
    /// An element around this one or inside of it.
    Near(&'a str),
    /// This file.
    File(&'a str),
    Nothing,
}

impl<'a> CandidateFixes<'a> {
    fn of(tree: &'a Tree, proposals: &[ProposedFix<'a>]) -> CandidateFixes<'a> {
        let mut suspects = CandidateFixes {
            by_element: BTreeMap::new(),
            by_new_name: FxHashMap::default(),
            by_file: FxHashMap::default(),
        };
        let mut members = EnumValueNames::default();
        for (at, proposal) in proposals.iter().enumerate() {
            let name = &proposal.finding.element;
            if let Some(member) = members.qualify_value_name(tree, proposal.finding) {
                suspects.by_element.entry(Cow::Owned(member.to_owned())).or_default().push(at);
            }
            suspects.by_element.entry(Cow::Borrowed(name)).or_default().push(at);
            if let Some(name) = proposal.renamed() {
                suspects.by_new_name.entry(name).or_default().push(at);
            }
            let places = proposal.fix.edits.iter().filter_map(|it| it.location.place());
            let paths: BTreeSet<&str> = places.map(|it| tree.file(it.file).path()).collect();
            for path in paths {
                suspects.by_file.entry(path).or_default().push(at);
            }
        }
        suspects
    }

    /// The fixes to suspect for a finding in the tree that they made: those of its own element, or
    /// else of elements around it or inside of it, or else of its file.
    fn find_for_harm<'s>(
        &'s self,
        next: &'s Tree,
        harm: &'s Finding,
    ) -> (Culprit<'s>, Box<dyn Iterator<Item = usize> + 's>) {
        let name = harm.element.as_str();
        let of = |name: &str| self.by_element.get(name).into_iter().flatten().copied();
        let renamed = self.by_new_name.get(name).into_iter().flatten().copied();
        let mut own = of(name).chain(renamed).peekable();
        if own.peek().is_some() {
            return (Culprit::Own(name), Box::new(own));
        }
        let inner = format!("{name}.");
        let inside = self.by_element.range::<str, _>((Bound::Included(&*inner), Bound::Unbounded));
        let inside = inside.take_while(move |(it, _)| it.starts_with(&inner));
        let inside = inside.flat_map(|(_, at)| at).copied();
        let around = name.match_indices('.').flat_map(move |(at, _)| of(&name[..at]));
        let mut near = inside.chain(around).peekable();
        if near.peek().is_some() {
            return (Culprit::Near(name), Box::new(near));
        }
        let path = harm.location.place().map(|it| next.file(it.file).path());
        match path.and_then(|path| Some((path, self.by_file.get(path)?))) {
            Some((path, found)) => (Culprit::File(path), Box::new(found.iter().copied())),
            None => (Culprit::Nothing, Box::new(std::iter::empty())),
        }
    }
}

/// What the values of enums are called as members of their enums, by their full names.
#[derive(Default)]
struct EnumValueNames {
    /// Whose values are known.
    files: FxHashSet<FileId>,
    names: FxHashMap<String, String>,
}

impl EnumValueNames {
    fn qualify_value_name(&mut self, tree: &Tree, finding: &Finding) -> Option<&str> {
        let file = finding.location.place()?.file;
        if self.files.insert(file) {
            for it in tree.file(file).all_enums() {
                let scope = it.full_name();
                let named = |it: EnumValue<'_>| (it.full_name(), format!("{scope}.{}", it.name()));
                self.names.extend(it.values().map(named));
            }
        }
        self.names.get(&finding.element).map(String::as_str)
    }
}
