//! Severities by rule and by group, in layers: those of a preset, and those of
//! `abide.toml` over them.

use std::collections::{BTreeMap, BTreeSet};

use abide_change::{Direction, Surface};
use abide_schema::{Glob, GlobIndex, PackageVersion, Stability};

use crate::finding::{ChangeFacts, Severity};
use crate::group::{Group, RuleDefaults};
use crate::preset::Preset;

/// Severities by rule and by group; `None` is off.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Levels {
    pub(crate) rules: BTreeMap<&'static str, Option<Severity>>,
    pub(crate) groups: BTreeMap<Group, Option<Severity>>,
}

impl Levels {
    /// The level it sets for a rule, and the key that sets it.
    fn of(&self, rule: RuleDefaults) -> Option<(Option<Severity>, &'static str)> {
        let by_rule = self.rules.get(rule.id).map(|&level| (level, rule.id));
        by_rule.or_else(|| self.groups.get(&rule.group).map(|&level| (level, rule.group.name())))
    }
}

/// The severities of a preset or of `abide.toml`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    /// The preset it comes from; `None` for `abide.toml`.
    pub(crate) preset: Option<Preset>,
    pub(crate) levels: Levels,
    pub(crate) overrides: Vec<Override>,
}

impl Layer {
    /// A setting with the place that it comes from.
    fn source(&self, what: String) -> String {
        match self.preset {
            Some(preset) => format!("{what} of preset `{}`", preset.name()),
            None => format!("{what} in `abide.toml`"),
        }
    }
}

/// What the settings say about a rule: severities, each with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSettings {
    /// In the whole tree; without a reason it is the default of the rule.
    pub whole: (Option<Severity>, Option<String>),
    /// In parts of the tree, the setting that wins first.
    pub parts: Vec<(Option<Severity>, String)>,
}

/// Severities for a part of the tree. An empty list means everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Override {
    pub(crate) packages: Vec<Glob>,
    /// `None` means packages without a version.
    pub(crate) stabilities: Vec<Option<Stability>>,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) directions: Vec<Direction>,
    pub(crate) levels: Levels,
}

impl Override {
    /// Whether it applies. Findings about one tree have no surface and no
    /// direction, so an override for some of these does not apply to them.
    fn concerns(
        &self,
        package: &str,
        stability: Option<Stability>,
        effect: Option<(Surface, Direction)>,
    ) -> bool {
        let surface = |(surface, _)| self.surfaces.contains(&surface);
        let direction = |(_, direction)| self.directions.contains(&direction);
        (self.surfaces.is_empty() || effect.is_some_and(surface))
            && (self.directions.is_empty() || effect.is_some_and(direction))
            && (self.packages.is_empty() || self.packages.iter().any(|glob| glob.matches(package)))
            && (self.stabilities.is_empty() || self.stabilities.contains(&stability))
    }

    fn describe(&self) -> String {
        let globs: Vec<String> =
            self.packages.iter().map(|glob| format!("`{}`", glob.text())).collect();
        let words: Vec<String> = self.stabilities.iter().map(|&it| stability_word(it)).collect();
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

/// The word for a stability in configuration.
fn stability_word(stability: Option<Stability>) -> String {
    stability.map_or_else(|| "unversioned".to_owned(), |it| it.to_string())
}

/// What a layer says about a rule.
struct LayerSetting {
    level: Option<Severity>,
    reason: String,
    /// Whether it names the rule itself, not only its group.
    names_rule: bool,
    /// Whether it is only for some packages or stabilities.
    names_package: bool,
    /// Whether it is only for some directions.
    names_direction: bool,
}

/// Severities in layers; later ones win.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(Vec<IndexedLayer>);

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
        let candidates = self.by_package.candidates(package);
        candidates.into_iter().rev().filter_map(|it| self.layer.overrides.get(it))
    }
}

impl Layers {
    /// Puts a layer over the others.
    pub(crate) fn push(&mut self, layer: Layer) {
        self.0.push(IndexedLayer::of(layer));
    }

    /// The layer of a preset alone, which says of each setting where it is from.
    pub(crate) fn set_preset(&mut self, preset: Preset) {
        for it in &mut self.0 {
            it.layer.preset = Some(preset);
        }
    }

    /// How much a finding matters in a package, and why; `Policy::severity` says it
    /// in full. `is_bound` says whether the package must not break.
    pub(crate) fn severity(
        &self,
        rule: RuleDefaults,
        package: &str,
        change: Option<&ChangeFacts>,
        is_bound: bool,
    ) -> (Option<Severity>, Option<String>) {
        let Some(change) = change else {
            let set = self.setting(rule, package, None);
            return match set {
                Some(setting) => (setting.level, Some(setting.reason)),
                None => (rule.severity, None),
            };
        };
        let broken = change.effects.iter().map(Some);
        let each = broken.chain(change.effects.is_empty().then_some(None)).map(|effect| {
            let default = match effect {
                _ if rule.severity.is_none() => (None, None),
                Some((_, Direction::Backward)) if !is_bound => {
                    let reason = match PackageVersion::of_package(package) {
                        Some(version) => format!("{} may change", version.stability.with_article()),
                        None => "a package without a version may change".to_owned(),
                    };
                    (rule.severity.min(Some(Severity::Note)), Some(reason))
                }
                Some((_, Direction::Backward)) => (rule.severity, None),
                Some((_, Direction::Forward)) | None if !is_bound => (Some(Severity::Note), None),
                Some((_, Direction::Forward)) | None => (Some(change.at_least), None),
            };
            let Some(setting) = self.setting(rule, package, effect) else { return default };
            let decides = match effect {
                Some((_, Direction::Backward)) => setting.names_package || is_bound,
                Some((_, Direction::Forward)) => {
                    let more = change.at_least > Severity::Note;
                    let is_all = !change.effects.breaks_backward();
                    let may_decide = more || is_all && (is_bound || setting.names_package);
                    setting.names_direction || setting.names_rule && may_decide
                }
                None => setting.names_rule,
            };
            if setting.level.is_none() || decides {
                (setting.level, Some(setting.reason))
            } else {
                default
            }
        });
        // The first of equals counts.
        each.reduce(|best, next| if next.0 > best.0 { next } else { best })
            .unwrap_or((rule.severity, None))
    }

    /// The last setting that applies to a rule in a package, or to one effect of
    /// a change there.
    fn setting(
        &self,
        rule: RuleDefaults,
        package: &str,
        effect: Option<(Surface, Direction)>,
    ) -> Option<LayerSetting> {
        let stability = PackageVersion::of_package(package).map(|version| version.stability);
        for indexed in self.0.iter().rev() {
            let layer = &indexed.layer;
            for it in indexed.overrides(package) {
                if it.concerns(package, stability, effect)
                    && let Some((level, key)) = it.levels.of(rule)
                {
                    return Some(LayerSetting {
                        level,
                        reason: layer.source(it.describe()),
                        names_rule: key == rule.id,
                        names_package: !it.packages.is_empty() || !it.stabilities.is_empty(),
                        names_direction: !it.directions.is_empty(),
                    });
                }
            }
            if let Some((level, key)) = layer.levels.of(rule) {
                return Some(LayerSetting {
                    level,
                    reason: layer.source(format!("`[rules] {key}`")),
                    names_rule: key == rule.id,
                    names_package: false,
                    names_direction: false,
                });
            }
        }
        None
    }

    /// The last settings of a rule: first that of the whole tree if any setting says more than the
    /// rule itself, and behind it those of its parts.
    pub(crate) fn settings(&self, rule: RuleDefaults) -> RuleSettings {
        let mut parts = Vec::new();
        for IndexedLayer { layer, .. } in self.0.iter().rev() {
            for it in layer.overrides.iter().rev() {
                if let Some((level, _)) = it.levels.of(rule) {
                    parts.push((level, layer.source(it.describe())));
                }
            }
            if let Some((level, key)) = layer.levels.of(rule) {
                let reason = layer.source(format!("`[rules] {key}`"));
                return RuleSettings { whole: (level, Some(reason)), parts };
            }
        }
        RuleSettings { whole: (rule.severity, None), parts }
    }

    /// Whether any finding of the rule can matter.
    pub(crate) fn runs(&self, rule: RuleDefaults) -> bool {
        let mut on = rule.severity.is_some();
        for IndexedLayer { layer, levels, .. } in &self.0 {
            if let Some((level, _)) = layer.levels.of(rule) {
                on = level.is_some();
            }
            on |= levels.iter().any(|it| matches!(it.of(rule), Some((Some(_), _))));
        }
        on
    }
}
