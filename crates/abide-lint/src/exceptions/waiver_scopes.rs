//! Finds the waivers in comments that cover a finding.

use std::collections::BTreeMap;

use abide_schema::{FileId, PackageId, Place, Tree};
use abide_syntax::Span;
use rustc_hash::FxHashMap;

use super::nested_spans::NestedSpans;
use super::waiver::{Waiver, WaiverReach};
use crate::checks::Covers;
use crate::finding::Finding;
use crate::rules::find_rule;

/// The waivers in comments, by the id or the alias of the rules that they name. They are numbered
/// as they are given.
#[derive(Default)]
pub(super) struct WaiverScopes(FxHashMap<String, OfRules>);

/// The waivers of the same rules.
#[derive(Default)]
struct OfRules {
    in_files: FxHashMap<FileId, InFile>,
    /// Those of whole files, by package.
    in_packages: FxHashMap<PackageId, Vec<usize>>,
}

/// The waivers of a file for the same rules.
struct InFile {
    whole: Vec<usize>,
    parts: NestedSpans<usize>,
    beginnings: Vec<(Span, usize)>,
}

impl WaiverScopes {
    pub(super) fn of(tree: &Tree, waivers: &[Waiver]) -> WaiverScopes {
        let mut scopes = WaiverScopes::default();
        let mut by_file: BTreeMap<(&str, FileId), Vec<usize>> = BTreeMap::new();
        for (number, waiver) in waivers.iter().enumerate() {
            let key = (waiver.allows.name(), waiver.place.file);
            by_file.entry(key).or_default().push(number);
        }
        for ((rules, file), numbers) in by_file {
            let of_rules = scopes.0.entry(rules.to_owned()).or_default();
            let (mut whole, mut parts, mut beginnings) = (Vec::new(), Vec::new(), Vec::new());
            for number in numbers {
                match waivers[number].reach {
                    WaiverReach::Whole(Covers::Span(span)) => {
                        parts.push((tree.file(file).decl().widen_to_comments(span), number));
                    }
                    WaiverReach::Whole(Covers::File) => whole.push(number),
                    WaiverReach::Beginnings(span) => beginnings.push((span, number)),
                }
            }
            let package = tree.file(file).package().id;
            of_rules.in_packages.entry(package).or_default().extend(&whole);
            let parts = NestedSpans::of(parts);
            of_rules.in_files.insert(file, InFile { whole, parts, beginnings });
        }
        scopes
    }

    /// The numbers of the waivers that cover a finding at a place, some of them twice.
    pub(super) fn find_covering(&self, tree: &Tree, finding: &Finding, place: Place) -> Vec<usize> {
        let mut covering = Vec::new();
        if self.0.is_empty() {
            return covering;
        }
        let file = tree.file(place.file);
        let package = file.package();
        // A finding that buf does not have may be one that its rule nearly has.
        let of_rule = find_rule(finding.rule).map_or(&[][..], |rule| rule.aliases);
        let aliases = if finding.aliases.is_empty() { of_rule } else { &finding.aliases };
        for rules in [finding.rule].iter().chain(aliases) {
            let Some(of_rules) = self.0.get(*rules) else { continue };
            if let Some(in_file) = of_rules.in_files.get(&place.file) {
                covering.extend(&in_file.whole);
                covering
                    .extend(in_file.parts.find_around(file.decl().widen_to_comments(place.span)));
                let start = place.span.start;
                let begins = |(span, _): &&(Span, usize)| (span.start..span.end).contains(&start);
                covering.extend(in_file.beginnings.iter().filter(begins).map(|(_, it)| it));
            }
            // A finding about a package is placed in only one of its files.
            if finding.element == package.name() {
                covering.extend(of_rules.in_packages.get(&package.id).into_iter().flatten());
            }
        }
        covering
    }
}
