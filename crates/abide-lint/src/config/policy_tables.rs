//! The tables of `abide.toml` that each set one part of the policy.

use std::collections::BTreeMap;

use abide_schema::{Edition, PackageVersion, Stability};
use abide_syntax::Span;
use abide_upgrade::{CandidateLayout, ImportOrder, LinkPolicy, UpgradeClosure, UpgradeReason};
use jiff::civil::Date;
use toml_edit::{Item, TableLike};

use super::toml_reader::{TomlReader, entries, span};
use crate::calendar::{AnnualDates, PhaseFreeze, dated, day_of_year};
use crate::finding::Impact;
use crate::policy::{Compatibility, Edge, LintPolicy, OptionOrder, Policy, Removal};
use crate::rules::RULES;
use crate::wording::suggest;

impl TomlReader<'_> {
    pub(super) fn packages(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "pattern",
            "stabilities",
            "versions",
            "folder-prefix",
            "path-prefix",
            "unversioned",
            "plain-from",
            "max-majors",
        ];
        let packages = &mut policy.packages;
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "pattern" => {
                    let Some(text) = self.string(item) else { continue };
                    if text.split('.').any(|component| component == "vN") {
                        packages.pattern = self.glob(&text, span(item));
                    } else {
                        let message = "the pattern has no component `vN` for the version";
                        self.error(span(item), message, None);
                    }
                }
                "stabilities" => {
                    let words = [
                        ("alpha", Stability::Alpha),
                        ("beta", Stability::Beta),
                        ("stable", Stability::Stable),
                    ];
                    let strings = self.strings(item);
                    packages.stabilities = strings
                        .into_iter()
                        .filter_map(|(text, span)| self.word(&text, span, &words))
                        .collect();
                }
                "versions" => {
                    let words: Vec<_> = PackageVersion::FORMS.iter().map(|it| (*it, *it)).collect();
                    let strings = self.strings(item);
                    packages.versions = strings
                        .into_iter()
                        .filter_map(|(text, span)| self.word(&text, span, &words))
                        .collect();
                }
                "folder-prefix" => packages.folder_prefixes = self.texts(item),
                "path-prefix" => packages.path_prefixes = self.path_prefixes(item),
                "unversioned" => packages.unversioned = self.package_globs(item),
                "plain-from" => packages.plain_from = self.count(item),
                "max-majors" => packages.max_majors = self.count(item),
                _ => self.unknown_key(&entry, "`[packages]`", KEYS),
            }
        }
    }

    /// Prefixes of package names that folders leave out.
    fn path_prefixes(&mut self, item: &Item) -> Vec<String> {
        let mut prefixes = Vec::new();
        for (text, span) in self.strings(item) {
            let dotted = text.replace('/', ".");
            let right = dotted.trim_matches('.');
            if text != right || text.is_empty() {
                let help = (!right.is_empty()).then(|| format!("write it as `{right}`"));
                self.error(span, format!("`{text}` does not begin the name of a package"), help);
            }
            prefixes.push(text);
        }
        prefixes
    }

    pub(super) fn dependencies(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &["allow", "deny", "max-depth"];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "allow" => policy.dependencies.allow = self.edges(entry.item),
                "deny" => policy.dependencies.deny = self.edges(entry.item),
                "max-depth" => policy.dependencies.max_depth = self.count(entry.item),
                _ => self.unknown_key(&entry, "`[dependencies]`", KEYS),
            }
        }
    }

    fn edges(&mut self, item: &Item) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (text, span) in self.strings(item) {
            let is_one = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
            let names: Vec<&str> = text.split("->").map(str::trim).filter(is_one).collect();
            let arrows = text.matches("->").count();
            let ([from, to], 1) = (&names[..], arrows) else {
                let help = Some("write it as `FROM -> TO`".to_owned());
                self.error(span, format!("`{text}` is not an edge"), help);
                continue;
            };
            let from = self.glob(from, span);
            let to = self.glob(to, span);
            if let (Some(from), Some(to)) = (from, to) {
                edges.push(Edge { from, to, span });
            }
        }
        edges
    }

    pub(super) fn calendar(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "client-releases",
            "api-releases",
            "major-window-days",
            "previous-major-months",
            "stable-since",
            "alpha-max-months",
            "alpha-max-releases",
            "alpha-since",
            "version-dates",
        ];
        let calendar = &mut policy.calendar;
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "client-releases" => calendar.client_releases = self.clock(item),
                "api-releases" => calendar.api_releases = self.clock(item),
                "major-window-days" => calendar.major_window_days = self.count(item),
                "previous-major-months" => calendar.previous_major_months = self.count(item),
                "stable-since" => calendar.stable_since = self.dates(item),
                "alpha-max-months" => calendar.alpha_max_months = self.count(item),
                "alpha-max-releases" => calendar.alpha_max_releases = self.count(item),
                "alpha-since" => calendar.alpha_since = self.dates(item),
                "version-dates" => {
                    calendar.version_dates = self.dates(item);
                    self.versions(item);
                }
                _ => self.unknown_key(&entry, "`[calendar]`", KEYS),
            }
        }
    }

    /// A table of dates by name.
    fn dates(&mut self, item: &Item) -> BTreeMap<String, Date> {
        let mut dates = BTreeMap::new();
        if let Some(table) = self.table(item) {
            for entry in entries(table) {
                if let Some(date) = self.date(entry.item) {
                    dates.insert(entry.key.to_owned(), date);
                }
            }
        }
        dates
    }

    /// Reports the keys of a table that are not versions.
    fn versions(&mut self, item: &Item) {
        let Some(table) = item.as_table_like() else { return };
        for entry in entries(table).into_iter().filter(|it| dated(it.key).is_none()) {
            let message = format!("`{}` is not a version", entry.key);
            let help = "write a version in quotes, such as `\"1.4\"` or `\"1.4.2\"`".to_owned();
            self.error(entry.key_span, message, Some(help));
        }
    }

    /// Days of the year, such as `06-30`.
    fn clock(&mut self, item: &Item) -> AnnualDates {
        let mut days = Vec::new();
        for (text, span) in self.strings(item) {
            match day_of_year(&text) {
                Some(day) => days.push(day),
                None => {
                    let help = "write month and day, such as `06-30`".to_owned();
                    self.error(span, format!("`{text}` is not a day of every year"), Some(help));
                }
            }
        }
        AnnualDates::new(days).expect("each is a day of every year")
    }

    pub(super) fn deprecation(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "removal",
            "window-months",
            "unused-days",
            "without-equivalent",
            "dropped",
            "file",
            "freeze",
        ];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "removal" => {
                    policy.deprecation.removal =
                        self.word_of(entry.item, &Removal::ALL).unwrap_or_default();
                }
                "window-months" => policy.deprecation.window_months = self.count(entry.item),
                "unused-days" => policy.deprecation.unused_days = self.count(entry.item),
                "without-equivalent" => {
                    policy.deprecation.without_equivalent = self.element_globs(entry.item);
                }
                "dropped" => policy.deprecation.dropped = self.element_globs(entry.item),
                "file" => policy.deprecation.file = self.markdown_file(entry.item),
                "freeze" => policy.deprecation.freezes = self.freezes(entry.item),
                _ => self.unknown_key(&entry, "`[deprecation]`", KEYS),
            }
        }
    }

    /// A Markdown file below the folder of `abide.toml`.
    fn markdown_file(&mut self, item: &Item) -> Option<String> {
        let path = self.string(item)?;
        let is_below = !path.starts_with('/') && !path.split('/').any(|it| it == "..");
        if path.ends_with(".md") && is_below {
            return Some(path);
        }
        let message = format!("`{path}` is not a Markdown file below the folder of `abide.toml`");
        self.error(span(item), message, Some("write one such as `DEPRECATED.md`".to_owned()));
        None
    }

    /// `true`, one table with the first and the last day, or a list of tables.
    fn freezes(&mut self, item: &Item) -> Vec<PhaseFreeze> {
        if let Some(always) = item.as_bool() {
            return if always { vec![PhaseFreeze::default()] } else { Vec::new() };
        }
        if item.as_table_like().is_none() && !item.is_array() && !item.is_array_of_tables() {
            let wanted = "`true`, a table with `from` and `until`, or an array of such tables";
            return self.wrong_type(item, wanted).unwrap_or_default();
        }
        let tables = match item.as_table_like() {
            Some(table) => vec![(table, span(item))],
            None => self.tables(item),
        };
        tables.into_iter().map(|(table, at)| self.freeze(table, at)).collect()
    }

    fn freeze(&mut self, table: &dyn TableLike, at: Span) -> PhaseFreeze {
        let mut freeze = PhaseFreeze::default();
        for entry in entries(table) {
            match entry.key {
                "from" => freeze.from = self.date(entry.item),
                "until" => freeze.until = self.date(entry.item),
                _ => self.unknown_key(&entry, "`[deprecation] freeze`", &["from", "until"]),
            }
        }
        if let (Some(from), Some(until)) = (freeze.from, freeze.until)
            && from > until
        {
            self.error(
                at,
                format!("this freeze ends on {until}, before it begins on {from}"),
                None,
            );
        }
        freeze
    }

    pub(super) fn breaking(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "stabilities",
            "strict-annotations",
            "aliases",
            "surfaces",
            "directions",
            "compatibility",
            "lightest",
        ];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "aliases" => {
                    let texts = self.strings(entry.item);
                    for (text, span) in &texts {
                        self.alias(text, *span);
                    }
                    policy.breaking.aliases = texts.into_iter().map(|(text, _)| text).collect();
                }
                "stabilities" => policy.breaking.stabilities = self.stabilities(entry.item),
                "strict-annotations" => {
                    self.set(&mut policy.breaking.strict_annotations, entry.item);
                }
                "surfaces" => policy.breaking.surfaces = self.surfaces(entry.item),
                "directions" => policy.breaking.directions = self.directions(entry.item),
                "compatibility" if table.contains_key("directions") => {
                    let help = "remove `directions`, or name them instead of a mode".to_owned();
                    let message = "`compatibility` says which directions count";
                    self.error(span(entry.item), message, Some(help));
                }
                "compatibility" => {
                    let mode = self.word_of(entry.item, Compatibility::ALL);
                    mode.into_iter().for_each(|it| policy.breaking.ask_for(it));
                }
                "lightest" => {
                    let lightest = self.word_of(entry.item, Impact::ALL);
                    policy.breaking.lightest = lightest.unwrap_or(Impact::Options);
                }
                _ => self.unknown_key(&entry, "`[breaking]`", KEYS),
            }
        }
    }

    /// The patterns of `[usage] files`.
    pub(super) fn usage(&mut self, item: &Item) -> Vec<String> {
        let mut files = Vec::new();
        let Some(table) = self.table(item) else { return files };
        for entry in entries(table) {
            match entry.key {
                "files" => files = self.texts(entry.item),
                _ => self.unknown_key(&entry, "`[usage]`", &["files"]),
            }
        }
        files
    }

    pub(super) fn lint(&mut self, item: &Item, lint: &mut LintPolicy) {
        const KEYS: &[&str] = &[
            "zero-value-suffix",
            "service-suffix",
            "allow-same-request-response",
            "allow-empty-requests",
            "allow-empty-responses",
            "buf-comments",
            "protolint-comments",
            "api-linter-comments",
            "syntax",
        ];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "zero-value-suffix" => {
                    lint.zero_value_suffix = self.string(item).unwrap_or_default()
                }
                "service-suffix" => lint.service_suffix = self.string(item).unwrap_or_default(),
                "allow-same-request-response" => {
                    self.set(&mut lint.allow_same_request_response, item);
                }
                "allow-empty-requests" => self.set(&mut lint.allow_empty_requests, item),
                "allow-empty-responses" => self.set(&mut lint.allow_empty_responses, item),
                "buf-comments" => self.set(&mut lint.buf_comments, item),
                "protolint-comments" => self.set(&mut lint.protolint_comments, item),
                "api-linter-comments" => self.set(&mut lint.api_linter_comments, item),
                "syntax" => {
                    let words: Vec<_> = Edition::iter_known().map(|it| (it.word(), it)).collect();
                    lint.syntax = self.word_of(item, &words).unwrap_or(lint.syntax);
                }
                _ => self.unknown_key(&entry, "`[lint]`", KEYS),
            }
        }
    }

    /// Reports an alias that no change can have: with it, every change would be
    /// a note.
    fn alias(&mut self, text: &str, at: Span) {
        let of_changes = RULES.iter().filter(|rule| rule.needs_baseline());
        let known: Vec<&str> = of_changes.flat_map(|rule| rule.all_aliases()).collect();
        if known.contains(&text) {
            return;
        }
        // Often only the name of the tool is missing.
        let named = known.iter().find(|it| it.split(':').nth(1) == Some(text)).copied();
        let help = named.map(|it| format!("did you mean `{it}`?"));
        let help = help.or_else(|| suggest(text, known.iter().copied())).unwrap_or_else(|| {
            "use the name of a rule of another tool, such as `buf:FIELD_SAME_TYPE`".to_owned()
        });
        self.error(at, format!("no change has the alias `{text}`"), Some(help));
    }

    /// Options of the preset that are not set here keep their setting.
    pub(super) fn options(&mut self, item: &Item, policy: &mut Policy) {
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            if entry.item.is_table_like() {
                let message = format!("`{}` is not the name of an option", entry.key);
                let help = "write the full name in quotes, as in `\"acme.max_rows\" = \"lower\"`";
                self.error(entry.key_span, message, Some(help.to_owned()));
                continue;
            }
            let words = self.strings(entry.item);
            let orders =
                words.into_iter().filter_map(|(word, at)| self.word(&word, at, OptionOrder::ALL));
            let orders = orders.collect();
            policy.options.insert(entry.key.to_owned(), orders);
            self.option_keys.push((entry.key.to_owned(), entry.key_span));
        }
    }

    pub(super) fn upgrade(&mut self, item: &Item, policy: &mut Policy) {
        const KEYS: &[&str] = &[
            "additions",
            "always",
            "build-files",
            "build-labels",
            "by-hand",
            "closure",
            "drop-detached-comments",
            "dropped-options",
            "http-major",
            "imports",
            "layout",
            "links",
            "lossy",
            "majors",
            "packages",
            "reasons",
            "services",
            "stable-moves",
            "unstable",
        ];
        let Some(table) = self.table(item) else { return };
        let upgrade = &mut policy.upgrade;
        for entry in entries(table) {
            match entry.key {
                "additions" => upgrade.additions = self.element_globs(entry.item),
                "always" => upgrade.always = self.package_globs(entry.item),
                "by-hand" => upgrade.by_hand = self.globs(entry.item),
                "lossy" => upgrade.lossy = self.element_globs(entry.item),
                "build-files" => self.set(&mut upgrade.build_files, entry.item),
                "build-labels" => upgrade.build_labels = self.names(entry.item),
                "closure" => {
                    if let Some(closure) = self.word_of(entry.item, UpgradeClosure::ALL) {
                        upgrade.closure = closure;
                    }
                }
                "drop-detached-comments" => {
                    self.set(&mut upgrade.drop_detached_comments, entry.item);
                }
                "dropped-options" => upgrade.dropped_options = self.texts(entry.item),
                "http-major" => upgrade.http_major = self.count(entry.item),
                "imports" => {
                    let words = [("kept", ImportOrder::Kept), ("computed", ImportOrder::Computed)];
                    if let Some(order) = self.word_of(entry.item, &words) {
                        upgrade.imports = order;
                    }
                }
                "layout" => {
                    if let Some(layout) = self.word_of(entry.item, CandidateLayout::ALL) {
                        upgrade.layout = layout;
                    }
                }
                "links" => self.links(entry.item, &mut upgrade.links),
                "majors" => upgrade.majors = self.majors(entry.item),
                "packages" => upgrade.packages = self.names(entry.item),
                "reasons" => {
                    let words = self.strings(entry.item);
                    let reasons = words
                        .into_iter()
                        .filter_map(|(word, at)| self.word(&word, at, UpgradeReason::ALL));
                    upgrade.reasons = reasons.collect();
                }
                "services" => self.set(&mut upgrade.services, entry.item),
                "stable-moves" => self.set(&mut upgrade.stable_moves, entry.item),
                "unstable" => self.set(&mut upgrade.unstable, entry.item),
                _ => self.unknown_key(&entry, "`[upgrade]`", KEYS),
            }
        }
    }

    fn links(&mut self, item: &Item, links: &mut LinkPolicy) {
        const KEYS: &[&str] = &["label", "members", "roots", "stale-members"];
        let Some(table) = self.table(item) else { return };
        for entry in entries(table) {
            match entry.key {
                "label" => links.label = self.string(entry.item),
                "members" => links.members = self.names(entry.item),
                "roots" => links.roots = self.texts(entry.item),
                "stale-members" => self.set(&mut links.stale_members, entry.item),
                _ => self.unknown_key(&entry, "`[upgrade.links]`", KEYS),
            }
        }
    }

    /// A table of names by name.
    fn names(&mut self, item: &Item) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        let Some(table) = self.table(item) else { return names };
        for entry in entries(table) {
            if let Some(name) = self.string(entry.item) {
                names.insert(entry.key.to_owned(), name);
            }
        }
        names
    }

    /// A table of the version that follows each major.
    fn majors(&mut self, item: &Item) -> BTreeMap<u32, String> {
        let mut majors = BTreeMap::new();
        let Some(table) = self.table(item) else { return majors };
        for entry in entries(table) {
            let Ok(major) = entry.key.parse() else {
                let message = format!("`{}` is not a major version", entry.key);
                self.error(entry.key_span, message, Some("write a number, such as `2`".to_owned()));
                continue;
            };
            if let Some(version) = self.string(entry.item) {
                majors.insert(major, version);
            }
        }
        majors
    }

    /// Sets a switch.
    pub(super) fn set(&mut self, flag: &mut bool, item: &Item) {
        match item.as_bool() {
            Some(value) => *flag = value,
            None => self.wrong_type(item, "`true` or `false`").unwrap_or_default(),
        }
    }
}
