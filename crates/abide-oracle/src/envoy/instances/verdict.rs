//! What both programs say of a bootstrap, and whether it is the same.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use abide_harness::Result;
use abide_harness::programs::output;
use serde_json::Value;

/// What a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// What the notation or the types refuse.
    Structure,
    /// A deprecated field or value.
    Deprecation,
    /// A validation annotation.
    Constraint,
    /// Layers of runtime.
    Runtime,
    /// What only the program knows.
    Own,
}

/// What a program says of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Why it refuses the file.
    refused: Option<(Reason, String)>,
    /// The elements that it warns about.
    warned: Vec<String>,
}

impl Verdict {
    pub(super) fn rejects(&self) -> bool {
        self.refused.is_some()
    }

    /// Whether it refuses the file for what no schema says.
    pub(super) fn is_outside(&self) -> bool {
        matches!(self.refused, Some((Reason::Own, _)))
    }

    fn word(&self) -> &'static str {
        match (&self.refused, self.warned.as_slice()) {
            (Some(_), _) => "reject",
            (None, []) => "accept",
            (None, [..]) => "warn",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        if let Some((reason, text)) = &self.refused {
            // The reason stands at the end, behind the whole bootstrap.
            let end = text.char_indices().rev().nth(500).map_or(0, |(at, _)| at);
            write!(f, " ({reason:?}: {})", &text[end..])?;
        }
        if !self.warned.is_empty() {
            write!(f, " (warns about {})", self.warned.join(", "))?;
        }
        Ok(())
    }
}

/// How two verdicts relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Comparison {
    /// They are the same.
    Same,
    /// They are the same, and the element that they name is another one.
    OtherElement,
    /// They differ, for a reason that is known.
    Explained,
    /// The program refuses what no schema speaks about.
    Outside,
    /// They differ.
    Different,
}

impl Comparison {
    pub(super) fn is_listed(self) -> bool {
        matches!(self, Comparison::OtherElement | Comparison::Explained | Comparison::Different)
    }

    /// Whether it says something about agreement.
    pub(super) fn counts(self) -> bool {
        !matches!(self, Comparison::Outside | Comparison::Explained)
    }

    pub(super) fn agrees(self) -> bool {
        self == Comparison::Same
    }
}

/// What Envoy says.
pub(super) fn parse_envoy_verdict(output: &Output) -> Verdict {
    let said = String::from_utf8_lossy(&output.stderr);
    let mut verdict = Verdict::default();
    for line in said.lines() {
        let name = |before: &str| {
            let rest = &line[line.find(before)? + before.len()..];
            rest.split('\'').next().map(str::to_owned)
        };
        if line.contains("[warning]") {
            let deprecated = ["deprecated option '", "deprecated value "];
            let named = deprecated.iter().find_map(|it| name(it));
            let named = named.map(|it| it.split_whitespace().next().unwrap_or_default().to_owned());
            verdict.warned.extend(named.filter(|it| !it.is_empty()));
            if line.contains("work-in-progress") {
                verdict.warned.extend(name("field '").or_else(|| name("message '")));
            }
        }
    }
    verdict.warned.sort();
    verdict.warned.dedup();
    if output.status.success() {
        return verdict;
    }
    let text = said.split("error initializing configuration").nth(1).unwrap_or(&said);
    let reason = [
        ("constraint validation failed", Reason::Constraint),
        ("deprecated option", Reason::Deprecation),
        ("deprecated value", Reason::Deprecation),
        ("has unknown fields", Reason::Structure),
        ("invalid JSON", Reason::Structure),
        ("INVALID_ARGUMENT", Reason::Structure),
        ("could not find @type", Reason::Structure),
        ("Unable to parse", Reason::Structure),
        ("YAML", Reason::Structure),
        ("Duplicate layer name", Reason::Runtime),
        ("Too many admin layers", Reason::Runtime),
        ("Invalid runtime entry", Reason::Runtime),
    ];
    let reason = reason.iter().find(|(words, _)| text.contains(words)).map(|(_, it)| *it);
    verdict.refused = Some((reason.unwrap_or(Reason::Own), text.trim().to_owned()));
    verdict
}

/// What Abide says of each file in a folder.
pub(super) fn collect_abide_verdicts(
    abide: &Path,
    folder: &Path,
    api: &Path,
) -> Result<BTreeMap<PathBuf, Verdict>> {
    let mut command = Command::new(abide);
    command.args(["config", "check", "--format", "json", "--api"]).arg(api).arg(folder);
    let output = output(&mut command)?;
    let mut verdicts: BTreeMap<PathBuf, Verdict> = BTreeMap::new();
    let text = String::from_utf8(output.stdout)?;
    if text.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        if line["kind"] != "finding" {
            continue;
        }
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let verdict = verdicts.entry(text("path").into()).or_default();
        let rule = text("rule");
        if line["severity"] == "error" {
            let reason = match rule.as_str() {
                "constraint-violated" => Reason::Constraint,
                "disallowed-field-used" | "disallowed-enum-value-used" => Reason::Deprecation,
                "runtime-invalid" => Reason::Runtime,
                "reference-dangling" => Reason::Own,
                _ => Reason::Structure,
            };
            let said = (reason, format!("{}: {}", text("element"), text("message")));
            if verdict.refused.as_ref().is_none_or(|(before, _)| reason < *before) {
                verdict.refused = Some(said);
            }
        } else if ["deprecated-field-used", "deprecated-enum-value-used", "work-in-progress-used"]
            .contains(&rule.as_str())
        {
            verdict.warned.push(text("element"));
        }
    }
    for verdict in verdicts.values_mut() {
        verdict.warned.sort();
        verdict.warned.dedup();
    }
    Ok(verdicts)
}

/// How two verdicts relate, and why they differ, if that is known.
pub(super) fn compare(
    release: &str,
    (class, place): (&str, &str),
    element: &str,
    ours: &Verdict,
    theirs: &Verdict,
) -> (Comparison, String) {
    let (a, b) = (ours.word(), theirs.word());
    if a != b {
        let why = find_known_reason(release, (class, place), ours, theirs);
        return match why {
            _ if theirs.is_outside() => (Comparison::Outside, String::new()),
            Some(why) => (Comparison::Explained, why.to_owned()),
            None => (Comparison::Different, format!("{class}: ours {a}, theirs {b}")),
        };
    }
    let names = |it: &Verdict| match &it.refused {
        Some((_, text)) => has_element(text, element),
        // Of a value Envoy says the simple name.
        None => it.warned.iter().any(|it| it == element || element.ends_with(&format!(".{it}"))),
    };
    // Without a member of a oneof the oneof is what both name.
    let own = ours.refused.as_ref().and_then(|(_, text)| text.split_once(": ")).map(|(it, _)| it);
    let is_told = |(_, text): &(Reason, String)| own.is_some_and(|own| has_element(text, own));
    if let Some((Reason::Constraint | Reason::Deprecation, _)) = theirs.refused
        && !element.is_empty()
        && names(theirs) != names(ours)
        && !theirs.refused.as_ref().is_some_and(is_told)
    {
        return (Comparison::OtherElement, format!("{class}: the elements differ"));
    }
    (Comparison::Same, String::new())
}

/// Whether a text speaks of an element: by its full name, by the name of a deprecated value, or as
/// errors of protoc-gen-validate name it: `MessageValidationError.Field`, and of a oneof
/// `field: "name"`.
fn has_element(text: &str, element: &str) -> bool {
    let mut parts = element.rsplit('.');
    let (field, message) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let plain = |text: &str| text.replace('_', "").to_lowercase();
    text.contains(element)
        || text.contains(&format!("deprecated value {field} "))
        || text.contains(&format!("field: \"{field}\""))
        || plain(text).contains(&plain(&format!("{message}ValidationError.{field}:")))
        || plain(text).contains(&plain(&format!("{message}ValidationError.{field}[")))
}

/// Why the program differs, where that is known.
fn find_known_reason(
    release: &str,
    case: (&str, &str),
    ours: &Verdict,
    theirs: &Verdict,
) -> Option<&'static str> {
    let (class, place) = case;
    let is_old = ["1.36.", "1.37.", "1.38."].iter().any(|it| release.starts_with(it));
    let is_deprecation = |it: &Verdict| matches!(it.refused, Some((Reason::Deprecation, _)));
    if is_old && class == "override" && (is_deprecation(ours) || is_deprecation(theirs)) {
        return Some("`--mode validate` before 1.39 ignores runtime; a started server does not");
    }
    let reason = ours.refused.as_ref().map(|(reason, _)| *reason);
    let is_structure = reason == Some(Reason::Structure);
    if place.starts_with("envoy.extensions.load_balancing_policies.") && !is_structure {
        return Some("what is in a load balancing policy is not judged when the file is read");
    }
    let is_constraint = reason == Some(Reason::Constraint);
    if place.starts_with("envoy.extensions.bootstrap.internal_listener.") && is_constraint {
        return Some("this bootstrap extension is read without its constraints");
    }
    None
}
