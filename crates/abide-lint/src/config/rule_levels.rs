//! `[rules]` and `[[override]]`: severities by rule and by group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use abide_change::Direction;
use abide_schema::Stability;
use abide_syntax::Span;
use toml_edit::{Item, TableLike};

use super::floors::{LevelEntry, LevelTarget};
use super::toml_reader::{TableEntry, TomlReader, entries};
use crate::finding::{Group, Severity};
use crate::other_linters::LintGroup;
use crate::policy::{Levels, Override};
use crate::rules::RULES;
use crate::wording::suggest;

impl TomlReader<'_> {
    /// The severities of a table; its keys with their places are kept for floors.
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
        self.level_entries.clear();
        for entry in entries(table).into_iter().filter(|it| it.key != "floor") {
            let (level, is_floor) = self.level(entry.item, WORDS);
            let note = |target| {
                let span = entry.key_span;
                level.map(|level| LevelEntry { target, level, span, is_floor })
            };
            let groups = || Group::ALL.iter().map(|group| group.name());
            if let Some(group) = Group::find(entry.key) {
                levels.groups.extend(level.map(|level| (group, level)));
                self.level_entries.extend(note(LevelTarget::Group(group)));
            } else if let Some(group) = LintGroup::named(entry.key) {
                let target = LevelTarget::Category(group.name, group.rules.clone());
                self.level_entries.extend(note(target));
                categories.extend(level.map(|level| (group, level)));
            } else if entry.key.contains(':') {
                if let Some(alias) = self.alias_level(&entry, level, &mut levels) {
                    self.level_entries.extend(note(LevelTarget::Alias(alias)));
                }
            } else if let Some(rule) = self.rule(entry.key, entry.key_span, groups()) {
                levels.rules.extend(level.map(|level| (rule.id, level)));
                self.level_entries.extend(note(LevelTarget::Rule(rule.id)));
            }
        }
        // Of two groups that hold a rule, the smaller one counts.
        categories.sort_by_key(|(group, _)| Reverse(group.rules.len()));
        for (LintGroup { name, rules }, level) in categories {
            levels.categories.extend(rules.into_iter().map(|it| (it, (level, name))));
        }
        levels
    }

    /// The places of the keys of the table of rules that was read last.
    pub(super) fn list_places(&self) -> BTreeMap<&'static str, Span> {
        self.level_entries.iter().map(|it| (it.target.key(), it.span)).collect()
    }

    /// The level of what a rule of another tool reports.
    fn alias_level(
        &mut self,
        entry: &TableEntry<'_>,
        level: Option<Option<Severity>>,
        levels: &mut Levels,
    ) -> Option<&'static str> {
        let known = || RULES.iter().flat_map(|rule| rule.all_aliases());
        let Some(alias) = known().find(|it| *it == entry.key) else {
            let help = suggest(entry.key, known().chain(LintGroup::names()))
                .unwrap_or_else(|| "`abide rules` lists every rule".to_owned());
            let message = format!("no rule reports what `{}` does", entry.key);
            self.error(entry.key_span, message, Some(help));
            return None;
        };
        levels.aliases.extend(level.map(|level| (alias, level)));
        Some(alias)
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

    pub(super) fn part(&mut self, table: &dyn TableLike, at: Span, origin: &str) -> Override {
        const KEYS: &[&str] =
            &["packages", "files", "stability", "surfaces", "directions", "rules", "lint", "floor"];
        let before = self.errors.len();
        let mut part = Override { span: at, ..Override::default() };
        let mut is_floor = false;
        self.level_entries.clear();
        for entry in entries(table) {
            match entry.key {
                "packages" => part.packages = self.package_globs(entry.item),
                "files" => part.files = self.tree_paths(entry.item),
                "stability" => part.stabilities = self.stabilities(entry.item),
                "surfaces" => part.surfaces = self.surfaces(entry.item),
                "directions" => part.directions = self.directions(entry.item),
                "rules" => part.levels = self.levels(entry.item),
                "floor" => self.set(&mut is_floor, entry.item),
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
        part.places = self.list_places();
        self.keep_floors(&part, is_floor, origin);
        part
    }
}
