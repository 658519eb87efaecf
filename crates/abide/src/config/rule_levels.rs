//! `[rules]` and `[[override]]`: severities by rule and by group.

use abide_change::Direction;
use abide_schema::Stability;
use abide_syntax::Span;
use toml_edit::{Item, TableLike};

use crate::finding::Severity;
use crate::group::Group;
use crate::severities::{Levels, Override};

use super::toml_reader::{TomlReader, entries};

impl TomlReader {
    pub(super) fn levels(&mut self, item: &Item) -> Levels {
        const WORDS: &[(&str, Option<Severity>)] = &[
            ("error", Some(Severity::Error)),
            ("warning", Some(Severity::Warning)),
            ("note", Some(Severity::Note)),
            ("off", None),
        ];
        let mut levels = Levels::default();
        let Some(table) = self.table(item) else { return levels };
        for entry in entries(table) {
            let level = self.word_of(entry.item, WORDS);
            let groups = || Group::ALL.iter().map(|group| group.name());
            if let Some(group) = Group::ALL.iter().find(|group| group.name() == entry.key) {
                levels.groups.extend(level.map(|level| (*group, level)));
            } else if let Some(rule) = self.rule(entry.key, entry.key_span, groups()) {
                levels.rules.extend(level.map(|level| (rule.id, level)));
            }
        }
        levels
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

    pub(super) fn part(&mut self, table: &dyn TableLike, at: Span) -> Override {
        const KEYS: &[&str] = &["packages", "stability", "surfaces", "directions", "rules"];
        let before = self.errors.len();
        let mut part = Override::default();
        for entry in entries(table) {
            match entry.key {
                "packages" => part.packages = self.package_globs(entry.item),
                "stability" => part.stabilities = self.stabilities(entry.item),
                "surfaces" => part.surfaces = self.surfaces(entry.item),
                "directions" => {
                    let words: Vec<_> = Direction::ALL.iter().map(|it| (it.name(), *it)).collect();
                    for (text, span) in self.strings(entry.item) {
                        part.directions.extend(self.word(&text, span, &words));
                    }
                }
                "rules" => part.levels = self.levels(entry.item),
                _ => self.unknown_key(&entry, "`[[override]]`", KEYS),
            }
        }
        let sets = !part.levels.groups.is_empty() || !part.levels.rules.is_empty();
        if !sets && self.errors.len() == before {
            let help = "set severities in its `rules`, or delete it".to_owned();
            self.error(at, "the override sets nothing", Some(help));
        }
        part
    }
}
