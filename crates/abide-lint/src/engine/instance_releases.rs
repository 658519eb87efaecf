//! The findings about instances that several releases of an API judged.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::rule::Report;
use crate::wording::pluralize;

/// Joins what several releases say of the same files: what they share is reported once, and each
/// finding says for which of them it is.
pub fn join_releases(reports: Vec<(String, Report)>) -> Report {
    let names: Vec<String> = reports.iter().map(|(name, _)| name.clone()).collect();
    let mut joined = Report::default();
    let mut known = BTreeMap::new();
    for (name, report) in reports {
        joined.files = joined.files.max(report.files);
        let is_new = |it: &Finding| !joined.exempted.iter().any(|known| is_same(known, it));
        let exempted: Vec<Finding> = report.exempted.into_iter().filter(is_new).collect();
        joined.exempted.extend(exempted);
        for mut finding in report.findings {
            let key = (finding.location, finding.rule, finding.message.clone(), finding.severity);
            let at = *known.entry(key).or_insert(joined.findings.len());
            if at == joined.findings.len() {
                finding.releases.clear();
                joined.findings.push(finding);
            }
            joined.findings[at].releases.push(name.clone());
        }
    }
    for finding in &mut joined.findings {
        let scope = match finding.releases.len() == names.len() {
            true => format!("for all {}", pluralize(names.len(), "release")),
            false => format!("only for {}", finding.releases.join(" and ")),
        };
        finding.why = Some(match finding.why.take() {
            Some(why) => format!("{scope}; {why}"),
            None => scope,
        });
    }
    // What they share comes first, then what is for the same releases.
    joined.findings.sort_by_cached_key(|it| {
        let numbers = it.releases.iter().map(|name| names.iter().position(|it| it == name));
        let numbers: Vec<_> = numbers.collect();
        (it.location.origin, std::cmp::Reverse(numbers.len()), numbers, it.location, it.rule)
    });
    joined.count();
    joined
}

/// Returns true if two releases say the same of the same place.
fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.location, one.rule, &one.message) == (other.location, other.rule, &other.message)
}

#[cfg(test)]
mod tests {
    use abide_syntax::Span;

    use super::join_releases;
    use crate::finding::{Finding, Location};
    use crate::rule::Report;
    use crate::rules::RULES;

    fn report(starts: &[u32]) -> Report {
        let finding = |start: &u32| {
            let place = Location::instance(0, Span::at(*start));
            Finding::new(RULES[0].id, place, "", "acme.v1.User", format!("at {start}"))
        };
        Report { files: 1, findings: starts.iter().map(finding).collect(), ..Report::default() }
    }

    #[test]
    fn what_releases_share_is_said_once_and_first() {
        let reports = [("1.36", [1, 5].as_slice()), ("1.37", &[5, 9]), ("1.38", &[5, 1])];
        let reports = reports.map(|(name, starts)| (name.to_owned(), report(starts)));
        let joined = join_releases(reports.into());
        let found: Vec<(&str, String)> = joined
            .findings
            .iter()
            .map(|it| (it.message.as_str(), it.why.clone().unwrap_or_default()))
            .collect();
        let expected = [
            ("at 5", "for all 3 releases"),
            ("at 1", "only for 1.36 and 1.38"),
            ("at 9", "only for 1.37"),
        ];
        assert_eq!(found, expected.map(|(at, why)| (at, why.to_owned())));
        assert_eq!((joined.files, joined.errors), (1, 3));
    }
}
