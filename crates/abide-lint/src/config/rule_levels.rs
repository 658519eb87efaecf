//! `[rules]` and `[[override]]`: severities by rule and by group.

use std::cmp::Reverse;

use abide_change::Direction;
use abide_schema::Stability;
use abide_syntax::Span;
use toml_edit::{Item, TableLike};

use super::toml_reader::{TableEntry, TomlReader, entries};
use crate::finding::{Group, Severity};
use crate::other_linters::LintGroup;
use crate::policy::{Levels, Override};
use crate::rules::RULES;
use crate::wording::suggest;

impl TomlReader<'_> {
    pub(super) fn levels(&mut self, item: &Item) -> Levels {
        const WORDS: &[(&str, Option<Severity>)] = &[
            ("error", Some(Severity::Error)),
            ("warning", Some(Severity::Warning)),
            ("note", Some(Severity::Note)),
            ("off", None),
        ];
        let mut levels = Levels::default();
        let mut categories = Vec::new();
        let Some(table) = self.table(item) else { return levels };
        for entry in entries(table) {
            let level = self.word_of(entry.item, WORDS);
            let groups = || Group::ALL.iter().map(|group| group.name());
            if let Some(group) = Group::find(entry.key) {
                levels.groups.extend(level.map(|level| (group, level)));
            } else if let Some(group) = LintGroup::named(entry.key) {
                categories.extend(level.map(|level| (group, level)));
            } else if entry.key.contains(':') {
                self.alias_level(&entry, level, &mut levels);
            } else if let Some(rule) = self.rule(entry.key, entry.key_span, groups()) {
                levels.rules.extend(level.map(|level| (rule.id, level)));
            }
        }
        // Of two groups that hold a rule, the smaller one counts.
        categories.sort_by_key(|(group, _)| Reverse(group.rules.len()));
        for (LintGroup { name, rules }, level) in categories {
            levels.categories.extend(rules.into_iter().map(|it| (it, (level, name))));
        }
        levels
    }

    /// The level of what a rule of another tool reports.
    fn alias_level(
        &mut self,
        entry: &TableEntry<'_>,
        level: Option<Option<Severity>>,
        levels: &mut Levels,
    ) {
        let known = || RULES.iter().flat_map(|rule| rule.all_aliases());
        let Some(alias) = known().find(|it| *it == entry.key) else {
            let help = suggest(entry.key, known().chain(LintGroup::names()))
                .unwrap_or_else(|| "`abide rules` lists every rule".to_owned());
            let message = format!("no rule reports what `{}` does", entry.key);
            self.error(entry.key_span, message, Some(help));
            return;
        };
        levels.aliases.extend(level.map(|level| (alias, level)));
    }

    /// Stabilities of packages; `None` stands for packages without a version.
    pub(super) fn stabilities(&mut self, item: &Item) -> Vec<Option<Stability>> {
        let words = [
            ("alpha", Some(Stability::Alpha)),
            ("beta", Some(Stability::Beta)),
            ("stable", Some(Stability::Stable)),
            ("unversioned", None),
        ];
        let strings = self.strings(item);
        strings.into_iter().filter_map(|(text, span)| self.word(&text, span, &words)).collect()
    }

    pub(super) fn directions(&mut self, item: &Item) -> Vec<Direction> {
        let words: Vec<_> = Direction::ALL.iter().map(|it| (it.name(), *it)).collect();
        let strings = self.strings(item);
        strings.into_iter().filter_map(|(text, span)| self.word(&text, span, &words)).collect()
    }

    pub(super) fn part(&mut self, table: &dyn TableLike, at: Span) -> Override {
        const KEYS: &[&str] =
            &["packages", "files", "stability", "surfaces", "directions", "rules", "lint"];
        let before = self.errors.len();
        let mut part = Override::default();
        for entry in entries(table) {
            match entry.key {
                "packages" => part.packages = self.package_globs(entry.item),
                "files" => part.files = self.tree_paths(entry.item),
                "stability" => part.stabilities = self.stabilities(entry.item),
                "surfaces" => part.surfaces = self.surfaces(entry.item),
                "directions" => part.directions = self.directions(entry.item),
                "rules" => part.levels = self.levels(entry.item),
                // Read last, over what `[lint]` says.
                "lint" => {}
                _ => self.unknown_key(&entry, "`[[override]]`", KEYS),
            }
        }
        let is_for_files = part.packages.is_empty()
            && part.stabilities.is_empty()
            && part.surfaces.is_empty()
            && part.directions.is_empty();
        let lint = table.get("lint");
        if lint.is_some() && (part.files.is_empty() || !is_for_files) {
            let help = "name them in `files`, and nothing else beside it".to_owned();
            self.error(at, "`lint` of an override is for files and folders", Some(help));
        }
        if part.levels.is_empty() && lint.is_none() && self.errors.len() == before {
            let help = "set severities in its `rules`, or delete it".to_owned();
            self.error(at, "the override sets nothing", Some(help));
        }
        part
    }
}
