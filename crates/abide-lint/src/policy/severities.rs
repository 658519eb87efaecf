//! Severities by rule and by group, in layers: those of a preset, and those of
//! `abide.toml` over them.

use std::collections::{BTreeMap, BTreeSet};

use abide_change::{Direction, Surface};
use abide_schema::{Glob, GlobIndex, PackageVersion, Stability};
use abide_syntax::Span;

use super::preset::Preset;
use crate::finding::{ChangeFacts, Group, RuleDefaults, Severity};

/// Severities by rule and by group; `None` is off.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Levels {
    pub(crate) rules: BTreeMap<&'static str, Option<Severity>>,
    pub(crate) groups: BTreeMap<Group, Option<Severity>>,
    /// By a rule of another tool: what is set for the findings that it reports too.
    pub(crate) aliases: BTreeMap<&'static str, Option<Severity>>,
    /// The same for whole categories of such rules, by rule; each with its category.
    pub(crate) categories: BTreeMap<&'static str, (Option<Severity>, &'static str)>,
}

impl Levels {
    /// The level it sets for a rule, and the key that sets it. The more a key says, the more it
    /// counts: a rule of another tool, a rule, a category of the other tool, a group.
    fn of(
        &self,
        rule: RuleDefaults,
        alias: Option<&str>,
    ) -> Option<(Option<Severity>, &'static str)> {
        let by_alias = alias.and_then(|it| self.aliases.get_key_value(it));
        let by_category = alias.and_then(|it| self.categories.get(it));
        let by_rule = || self.rules.get(rule.id).map(|&level| (level, rule.id));
        let by_group = || self.groups.get(&rule.group).map(|&level| (level, rule.group.name()));
        by_alias
            .map(|(&key, &level)| (level, key))
            .or_else(by_rule)
            .or_else(|| by_category.copied())
            .or_else(by_group)
    }

    /// The highest level it sets for any finding of a rule, and the key that sets it.
    fn highest(&self, rule: RuleDefaults) -> Option<(Option<Severity>, &'static str)> {
        let named = rule.all_aliases().filter(|it| self.of_alias(it).is_some());
        let levels = named.filter_map(|alias| self.of(rule, Some(alias)));
        let highest = levels.reduce(|best, next| if next.0 > best.0 { next } else { best });
        highest.or_else(|| self.of(rule, None))
    }

    /// The level it sets for a rule of another tool.
    fn of_alias(&self, alias: &str) -> Option<Option<Severity>> {
        let by_category = || self.categories.get(alias).map(|&(level, _)| level);
        self.aliases.get(alias).copied().or_else(by_category)
    }

    /// The rules of other tools that it sets a level for.
    fn named(&self) -> impl Iterator<Item = &'static str> {
        self.aliases.keys().chain(self.categories.keys()).copied()
    }

    /// The keys that set a level.
    pub(super) fn keys(&self) -> BTreeSet<&'static str> {
        let groups = self.groups.keys().map(|it| it.name());
        let categories = self.categories.values().map(|it| it.1);
        let names = self.rules.keys().copied().chain(self.aliases.keys().copied());
        names.chain(groups).chain(categories).collect()
    }

    /// The rules of other tools by which a key may decide about a rule: `None` for the rule itself.
    pub(super) fn contexts_of(&self, key: &str, rule: RuleDefaults) -> Vec<Option<&'static str>> {
        let is_own = key == rule.id && self.rules.contains_key(rule.id)
            || key == rule.group.name() && self.groups.contains_key(&rule.group);
        let is_of = |alias: &&'static str| {
            *alias == key || self.categories.get(alias).is_some_and(|it| it.1 == key)
        };
        let aliases = rule.all_aliases().filter(is_of).map(Some);
        aliases.chain(is_own.then_some(None)).collect()
    }

    /// Returns true if a key decides about a rule, of all keys here.
    pub(super) fn is_decided_by(&self, key: &str, rule: RuleDefaults, alias: Option<&str>) -> bool {
        self.of(rule, alias).is_some_and(|it| it.1 == key)
    }

    /// Returns true if any key decides about a rule.
    pub(super) fn decides(&self, rule: RuleDefaults, alias: Option<&str>) -> bool {
        self.of(rule, alias).is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.groups.is_empty() && self.named().next().is_none()
    }
}

/// What a setting can be for: a finding, by its package, its file and the rules of other tools
/// that report it too.
#[derive(Clone, Copy, Debug)]
pub struct FindingScope<'f> {
    /// Its package.
    pub package: &'f str,
    /// The file as reports name it; `None` if the finding is not about a proto file.
    pub path: Option<&'f str>,
    /// The rules of other tools that report it too.
    pub aliases: &'f [&'static str],
}

/// A finding about a change, as `[breaking]` sees it.
#[derive(Clone, Debug)]
pub struct JudgedChange<'f> {
    /// What it breaks.
    pub(crate) facts: &'f ChangeFacts,
    /// Whether it is among the changes that are more than notes.
    pub(crate) choice: Choice,
    /// True if its package must not break.
    pub(crate) is_bound: bool,
    /// The directions whose breaks are more than notes.
    pub(crate) counting: Vec<Direction>,
}

/// What `[breaking]` says about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Its rule and what it breaks decide.
    ByEffects,
    /// It is an error, since this rule of another tool refuses it, whomever it breaks.
    Named(&'static str),
    /// It is a note.
    LeftOut,
}

impl JudgedChange<'_> {
    /// Returns true if it is a note, unless a setting names its rule.
    pub(crate) fn is_left_out(&self) -> bool {
        self.choice == Choice::LeftOut
    }

    /// The severity of one effect, or of a change without any, if no setting decides; with the
    /// reason. A rule that is off by default stays off.
    fn default_level(
        &self,
        rule: RuleDefaults,
        package: &str,
        effect: Option<(Surface, Direction)>,
    ) -> (Option<Severity>, Option<String>) {
        let note = rule.severity.min(Some(Severity::Note));
        match (self.choice, effect) {
            (Choice::Named(alias), _) => {
                (Some(Severity::Error), Some(format!("`[breaking] aliases` has `{alias}`")))
            }
            (Choice::LeftOut, _) => {
                (note, Some("`[breaking]` does not select this change".to_owned()))
            }
            (Choice::ByEffects, _) if rule.severity.is_none() => (None, None),
            (Choice::ByEffects, Some((_, direction))) if self.counting.contains(&direction) => {
                if self.is_bound {
                    return (rule.severity, None);
                }
                let reason = match PackageVersion::from_package(package) {
                    Some(version) => format!("{} may change", version.stability.with_article()),
                    None => "a package without a version may change".to_owned(),
                };
                (note, Some(reason))
            }
            (Choice::ByEffects, _) if !self.is_bound => (note, None),
            (Choice::ByEffects, _) => (Some(self.facts.at_least), None),
        }
    }

    /// Returns true if a setting decides about one effect, or about a change without any.
    fn is_decided_by(&self, setting: &LayerSetting, effect: Option<(Surface, Direction)>) -> bool {
        if setting.level.is_none() || setting.is_explicit {
            return true;
        }
        match (self.choice, effect) {
            (Choice::Named(_), _) => true,
            (Choice::LeftOut, _) => false,
            (Choice::ByEffects, Some((_, direction))) if self.counting.contains(&direction) => {
                setting.names_package || self.is_bound
            }
            (Choice::ByEffects, Some(_)) => {
                let more = self.facts.at_least > Severity::Note;
                let mut directions = self.facts.effects.directions();
                let is_all = directions.all(|it| !self.counting.contains(&it));
                let may_decide = more || is_all && (self.is_bound || setting.names_package);
                setting.names_direction || setting.names_rule && may_decide
            }
            (Choice::ByEffects, None) => setting.names_rule,
        }
    }
}

/// The severities of a preset or of `abide.toml`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    /// The preset it comes from; `None` for `abide.toml`.
    pub(crate) preset: Option<Preset>,
    /// The name of its file; empty for `abide.toml` itself.
    pub(crate) file: String,
    pub(crate) levels: Levels,
    /// Where each key stands that sets a level.
    pub(crate) places: BTreeMap<&'static str, Span>,
    pub(crate) overrides: Vec<Override>,
}

impl Layer {
    /// A setting with the place that it comes from.
    fn source(&self, what: String) -> String {
        match self.preset {
            Some(preset) => format!("{what} of preset `{}`", preset.name()),
            None if self.file.is_empty() => format!("{what} in `abide.toml`"),
            None => format!("{what} in `{}`", self.file),
        }
    }
}

/// A severity that settings give to a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSetting {
    /// The severity; `None` is off.
    pub level: Option<Severity>,
    /// What sets it; `None`: it is the default of the rule.
    pub reason: Option<String>,
    /// Where a file of the configuration sets it, among all of its texts.
    pub place: Option<Span>,
}

/// What the settings say about a rule: severities, each with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSettings {
    /// In the whole tree; without a reason it is the default of the rule.
    pub whole: RuleSetting,
    /// In parts of the tree, the setting that wins first.
    pub parts: Vec<RuleSetting>,
}

/// Severities for a part of the tree. An empty list means everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Override {
    pub(crate) packages: Vec<Glob>,
    /// Files and folders, relative to the folder of `abide.toml`.
    pub(crate) files: Vec<String>,
    /// `None` means packages without a version.
    pub(crate) stabilities: Vec<Option<Stability>>,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) directions: Vec<Direction>,
    pub(crate) levels: Levels,
    /// Where its table stands, and each key that sets a level.
    pub(crate) span: Span,
    pub(crate) places: BTreeMap<&'static str, Span>,
}

impl Override {
    /// Returns true if it applies. Findings about one tree have no surface and no
    /// direction, so an override for some of these does not apply to them.
    fn concerns(
        &self,
        subject: FindingScope<'_>,
        stability: Option<Stability>,
        effect: Option<(Surface, Direction)>,
    ) -> bool {
        let package = subject.package;
        let holds = |path: &str| self.files.iter().any(|it| is_at(path, it));
        let surface = |(surface, _)| self.surfaces.contains(&surface);
        let direction = |(_, direction)| self.directions.contains(&direction);
        (self.surfaces.is_empty() || effect.is_some_and(surface))
            && (self.directions.is_empty() || effect.is_some_and(direction))
            && (self.packages.is_empty() || self.packages.iter().any(|glob| glob.matches(package)))
            && (self.stabilities.is_empty() || self.stabilities.contains(&stability))
            && (self.files.is_empty() || subject.path.is_some_and(holds))
    }

    /// Returns true if it applies to every finding.
    pub(super) fn is_unconditional(&self) -> bool {
        self.packages.is_empty()
            && self.files.is_empty()
            && self.stabilities.is_empty()
            && self.surfaces.is_empty()
            && self.directions.is_empty()
    }

    fn describe(&self) -> String {
        let globs: Vec<String> =
            self.packages.iter().map(|glob| format!("`{}`", glob.text())).collect();
        let files: Vec<String> = self.files.iter().map(|it| format!("`{it}`")).collect();
        let words: Vec<String> = self.stabilities.iter().map(|&it| stability_word(it)).collect();
        if !files.is_empty() {
            return format!("the `[[override]]` for {}", files.join(", "));
        }
        match (globs.is_empty(), words.is_empty()) {
            (true, true) => "an `[[override]]`".to_owned(),
            (false, true) => format!("the `[[override]]` for {}", globs.join(", ")),
            (true, false) => format!("the `[[override]]` for {} packages", words.join(" and ")),
            (false, false) => {
                format!("the `[[override]]` for {} in {}", words.join(" and "), globs.join(", "))
            }
        }
    }
}

/// Returns true if a file is at a path, or in the folder there.
pub(crate) fn is_at(file: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let rest = if matches!(path, "" | ".") { Some("") } else { file.strip_prefix(path) };
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The word for a stability in configuration.
fn stability_word(stability: Option<Stability>) -> String {
    stability.map_or_else(|| "unversioned".to_owned(), |it| it.to_string())
}

/// What a layer says about a rule.
struct LayerSetting {
    level: Option<Severity>,
    reason: String,
    /// True if it names the rule itself, not only its group.
    names_rule: bool,
    /// True if it names a rule of another tool.
    names_alias: bool,
    /// True if `abide.toml` itself names the rule, under whatever name: that is meant of every
    /// finding of it.
    is_explicit: bool,
    /// True if it is only for some packages or stabilities.
    names_package: bool,
    /// True if it is only for some directions.
    names_direction: bool,
}

/// Severities in layers; later ones win.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    layers: Vec<IndexedLayer>,
    /// The rules of other tools that any setting names.
    named: BTreeSet<&'static str>,
}

/// A layer whose overrides are found by the name of a package.
#[derive(Clone, Debug)]
struct IndexedLayer {
    layer: Layer,
    by_package: GlobIndex,
    /// The different severities that its overrides set: most set the same ones.
    levels: BTreeSet<Levels>,
}

impl IndexedLayer {
    fn of(layer: Layer) -> IndexedLayer {
        let mut by_package = GlobIndex::default();
        for (number, part) in layer.overrides.iter().enumerate() {
            if part.packages.is_empty() {
                by_package.insert_any(number);
            }
            for glob in &part.packages {
                by_package.insert(glob, number);
            }
        }
        let levels = layer.overrides.iter().map(|it| it.levels.clone()).collect();
        IndexedLayer { layer, by_package, levels }
    }

    /// The overrides that may concern a package, the last one first.
    fn overrides(&self, package: &str) -> impl Iterator<Item = &Override> {
        let candidates = self.by_package.find_candidates(package);
        candidates.into_iter().rev().filter_map(|it| self.layer.overrides.get(it))
    }
}

impl Layers {
    /// Puts a layer over the others.
    pub(crate) fn push(&mut self, layer: Layer) {
        let all = layer.overrides.iter().map(|it| &it.levels).chain([&layer.levels]);
        self.named.extend(all.flat_map(Levels::named));
        self.layers.push(IndexedLayer::of(layer));
    }

    /// The layer of `abide.toml` itself.
    pub(super) fn find_own_layer(&self) -> Option<&Layer> {
        let layers = self.layers.iter().rev().map(|it| &it.layer);
        layers
            .filter(|it| it.preset.is_none() && it.file.is_empty())
            .find(|it| !it.places.is_empty() || !it.overrides.is_empty())
    }

    /// The layer of a preset alone, which says of each setting where it is from.
    pub(crate) fn set_preset(&mut self, preset: Preset) {
        for it in &mut self.layers {
            it.layer.preset = Some(preset);
        }
    }

    /// Returns how much a finding matters in a package, and why; `Policy::severity` says it
    /// in full.
    pub(crate) fn severity(
        &self,
        rule: RuleDefaults,
        subject: FindingScope<'_>,
        change: Option<JudgedChange<'_>>,
    ) -> (Option<Severity>, Option<String>) {
        let highest = |best: (Option<Severity>, Option<String>), next: (_, _)| {
            // The first of equals counts.
            if next.0 > best.0 { next } else { best }
        };
        let named = || subject.aliases.iter().copied().filter(|it| self.named.contains(it));
        let Some(change) = change else {
            let level = |alias| match self.setting(rule, alias, subject, None) {
                Some(setting) => (setting.level, Some(setting.reason)),
                None => (rule.severity, None),
            };
            // The other tool fails as long as one of its rules does.
            let each = named().map(|alias| level(Some(alias)));
            return each.reduce(highest).unwrap_or_else(|| level(None));
        };
        let effects = change.facts.effects;
        let each = effects.iter().map(Some).chain(effects.is_empty().then_some(None));
        let each = each.map(|effect| {
            let by_alias = named()
                .filter_map(|alias| self.setting(rule, Some(alias), subject, effect))
                .filter(|it| it.names_alias && it.level.is_some())
                .max_by_key(|it| it.level);
            let setting = by_alias.or_else(|| self.setting(rule, None, subject, effect));
            match setting.filter(|it| change.is_decided_by(it, effect)) {
                Some(setting) => (setting.level, Some(setting.reason)),
                None => change.default_level(rule, subject.package, effect),
            }
        });
        each.reduce(highest).unwrap_or((rule.severity, None))
    }

    /// The last setting that applies to a rule in a package, or to one effect of
    /// a change there.
    fn setting(
        &self,
        rule: RuleDefaults,
        alias: Option<&str>,
        subject: FindingScope<'_>,
        effect: Option<(Surface, Direction)>,
    ) -> Option<LayerSetting> {
        let package = subject.package;
        let stability = PackageVersion::from_package(package).map(|version| version.stability);
        for indexed in self.layers.iter().rev() {
            let layer = &indexed.layer;
            let setting = |level, key: &str, reason| {
                let (names_rule, names_alias) = (key == rule.id, alias == Some(key));
                LayerSetting {
                    level,
                    reason,
                    names_rule,
                    names_alias,
                    is_explicit: (names_rule || names_alias) && layer.preset.is_none(),
                    names_package: false,
                    names_direction: false,
                }
            };
            for it in indexed.overrides(package) {
                if it.concerns(subject, stability, effect)
                    && let Some((level, key)) = it.levels.of(rule, alias)
                {
                    return Some(LayerSetting {
                        names_package: !(it.packages.is_empty()
                            && it.stabilities.is_empty()
                            && it.files.is_empty()),
                        names_direction: !it.directions.is_empty(),
                        ..setting(level, key, layer.source(it.describe()))
                    });
                }
            }
            if let Some((level, key)) = layer.levels.of(rule, alias) {
                return Some(setting(level, key, layer.source(format!("`[rules] {key}`"))));
            }
        }
        None
    }

    /// The last settings of a rule: first that of the whole tree if any setting says more than the
    /// rule itself, and behind it those of its parts.
    pub(crate) fn settings(&self, rule: RuleDefaults) -> RuleSettings {
        let mut parts = Vec::new();
        for IndexedLayer { layer, .. } in self.layers.iter().rev() {
            let setting = |level, what: String, place: Option<&Span>| {
                let place = place.copied().filter(|_| layer.preset.is_none());
                RuleSetting { level, reason: Some(layer.source(what)), place }
            };
            for it in layer.overrides.iter().rev() {
                if let Some((level, key)) = it.levels.highest(rule) {
                    let place = it.places.get(key).or(Some(&it.span));
                    parts.push(setting(level, it.describe(), place));
                }
            }
            if let Some((level, key)) = layer.levels.highest(rule) {
                let whole = setting(level, format!("`[rules] {key}`"), layer.places.get(key));
                return RuleSettings { whole, parts };
            }
        }
        let whole = RuleSetting { level: rule.severity, reason: None, place: None };
        RuleSettings { whole, parts }
    }

    /// Returns true if any finding of the rule can matter.
    pub(crate) fn runs(&self, rule: RuleDefaults) -> bool {
        let mut on = rule.severity.is_some();
        for IndexedLayer { layer, levels, .. } in &self.layers {
            if let Some((level, _)) = layer.levels.of(rule, None) {
                on = level.is_some();
            }
            on |= levels.iter().any(|it| matches!(it.of(rule, None), Some((Some(_), _))));
        }
        on || rule.all_aliases().any(|alias| self.follows(alias))
    }

    /// Returns true if settings turn on what a rule of another tool reports. Abide then reports it
    /// where that tool does.
    pub(crate) fn follows(&self, alias: &str) -> bool {
        if !self.named.contains(alias) {
            return false;
        }
        let mut on = false;
        for IndexedLayer { layer, levels, .. } in &self.layers {
            on = layer.levels.of_alias(alias).map_or(on, |level| level.is_some());
            on |= levels.iter().any(|it| matches!(it.of_alias(alias), Some(Some(_))));
        }
        on
    }

    /// Returns true if a setting turns off what a rule of another tool reports there.
    pub(crate) fn leaves_out(&self, alias: &str, subject: FindingScope<'_>) -> bool {
        if !self.named.contains(alias) {
            return false;
        }
        let stability = PackageVersion::from_package(subject.package).map(|it| it.stability);
        let level = self.layers.iter().rev().find_map(|indexed| {
            let mut parts = indexed.overrides(subject.package);
            let part = parts.find_map(|it| {
                it.levels.of_alias(alias).filter(|_| it.concerns(subject, stability, None))
            });
            part.or_else(|| indexed.layer.levels.of_alias(alias))
        });
        level == Some(None)
    }
}
