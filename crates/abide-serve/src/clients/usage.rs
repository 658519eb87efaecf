//! Counts which versions of types clients ask for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_xds::Types;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::error::Error;
use crate::resources::Apis;

/// Counts of how often clients asked for each type since the server began: once for each stream,
/// or poll.
pub(crate) struct VersionUsage {
    since: Timestamp,
    asked: Mutex<BTreeMap<String, u64>>,
    /// What the processes before this one saw.
    past: Mutex<PastUsage>,
}

/// What processes before this one saw.
#[derive(Default)]
struct PastUsage {
    since: Option<Timestamp>,
    asked: BTreeMap<String, u64>,
}

/// The name under which the next process is told since when something was counted, in seconds.
const SINCE: &str = "versions.since";
/// The beginning of the names under which it is told how often a type was asked for.
const ASKED: &str = "versions.asked.";

/// A type that clients may ask for, as `/versions` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsedType {
    pub(crate) type_url: String,
    /// The number of times that clients asked for it.
    pub(crate) asked: u64,
    /// The number of open streams that use this version.
    pub(crate) clients: u64,
}

/// The content of the page `/versions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageReport {
    pub(crate) since: Timestamp,
    /// By type URL.
    pub(crate) types: Vec<UsedType>,
}

impl VersionUsage {
    pub(crate) fn new() -> VersionUsage {
        let (asked, past) = (Mutex::default(), Mutex::default());
        VersionUsage { since: Timestamp::now(), asked, past }
    }

    fn past(&self) -> MutexGuard<'_, PastUsage> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts on from what the processes before this one saw by now.
    pub(crate) fn inherit(&self, counters: &BTreeMap<String, u64>) {
        let since = counters.get(SINCE).and_then(|it| i64::try_from(*it).ok());
        let asked = counters
            .iter()
            .filter_map(|(name, count)| Some((name.strip_prefix(ASKED)?.to_owned(), *count)));
        *self.past() = PastUsage {
            since: since.and_then(|it| Timestamp::from_second(it).ok()),
            asked: asked.collect(),
        };
    }

    /// What the next process is told, by name.
    pub(crate) fn by_name(&self) -> Vec<(String, u64)> {
        let (since, asked) = self.total();
        let since = u64::try_from(since.as_second()).unwrap_or_default();
        let asked = asked.into_iter().map(|(url, count)| (format!("{ASKED}{url}"), count));
        std::iter::once((SINCE.to_owned(), since)).chain(asked).collect()
    }

    /// Since when it is counted, and how often each type was asked for.
    fn total(&self) -> (Timestamp, BTreeMap<String, u64>) {
        let past = self.past();
        let mut asked = past.asked.clone();
        let since = past.since.map_or(self.since, |it| it.min(self.since));
        drop(past);
        for (url, count) in self.asked().iter() {
            let sum = asked.entry(url.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        (since, asked)
    }

    fn asked(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a stream or a poll that asks for a type. What the API does not declare is not
    /// counted: clients can make up names without end.
    pub(crate) fn count(&self, apis: &Apis, type_url: &str) {
        if apis.declares(type_url) {
            *self.asked().entry(type_url.to_owned()).or_default() += 1;
        }
    }

    /// Reports what clients asked for, and how many streams have each type now: `held` lists the type
    /// URLs of all streams. Types of the protocol are in it even if nobody asked for them.
    pub(crate) fn report(&self, apis: &Apis, held: impl Iterator<Item = Arc<str>>) -> UsageReport {
        let all = apis.types().iter().flat_map(|it| [2, 3].map(|major| it.type_url(major)));
        let served = all.flatten().filter(|url| apis.declares(url));
        let mut types: BTreeMap<String, (u64, u64)> =
            served.map(|url| (url.to_string(), (0, 0))).collect();
        let (since, asked) = self.total();
        for (url, asked) in asked {
            types.entry(url).or_default().0 = asked;
        }
        for type_url in held {
            if let Some(counts) = types.get_mut(&*type_url) {
                counts.1 += 1;
            }
        }
        let used = |(type_url, (asked, clients))| UsedType { type_url, asked, clients };
        UsageReport { since, types: types.into_iter().map(used).collect() }
    }
}

impl UsageReport {
    pub(crate) fn to_json(&self) -> Value {
        let types = self
            .types
            .iter()
            .map(|it| json!({"type_url": it.type_url, "asked": it.asked, "clients": it.clients}));
        json!({"since": self.since.to_string(), "types": types.collect::<Vec<_>>()})
    }

    /// Reads what the page `/versions` of a server shows.
    ///
    /// # Errors
    /// A text that is not such a page.
    pub(crate) fn parse_json(text: &[u8]) -> Result<UsageReport, Error> {
        let value: Value =
            serde_json::from_slice(text).map_err(|error| Error::NotReport(error.to_string()))?;
        let since = value["since"].as_str().and_then(|it| it.parse().ok());
        let types = value["types"].as_array().ok_or_else(|| missing_key("types"))?;
        let types = types.iter().map(parse_used_type).collect::<Result<_, Error>>()?;
        Ok(UsageReport { since: since.ok_or_else(|| missing_key("since"))?, types })
    }

    /// Merges what several servers saw, since the last of them began.
    pub(crate) fn merge(reports: &[UsageReport]) -> Option<UsageReport> {
        let since = reports.iter().map(|it| it.since).max()?;
        let mut types: BTreeMap<&str, UsedType> = BTreeMap::new();
        for used in reports.iter().flat_map(|it| &it.types) {
            let nothing = UsedType { asked: 0, clients: 0, ..used.clone() };
            let sum = types.entry(&used.type_url).or_insert(nothing);
            sum.asked = sum.asked.saturating_add(used.asked);
            sum.clients = sum.clients.saturating_add(used.clients);
        }
        Some(UsageReport { since, types: types.into_values().collect() })
    }

    /// The types of older majors that nobody asked for, each with the newer one that is served.
    pub(crate) fn find_unused(&self) -> Vec<(&UsedType, String)> {
        let unused = self.types.iter().filter(|it| it.asked == 0 && it.clients == 0);
        // A file knows nothing of what the operator of its server described.
        let known = Types::default();
        let newer = |it: &UsedType| {
            let (ty, major) = known.of(&it.type_url)?;
            let newer = ty.type_url(3).filter(|_| major < 3)?.to_string();
            self.types.iter().any(|it| it.type_url == newer).then_some(newer)
        };
        unused.filter_map(|it| Some((it, newer(it)?))).collect()
    }
}

fn parse_used_type(value: &Value) -> Result<UsedType, Error> {
    let type_url = value["type_url"].as_str().ok_or_else(|| missing_key("type_url"))?;
    Ok(UsedType {
        type_url: type_url.to_owned(),
        asked: value["asked"].as_u64().ok_or_else(|| missing_key("asked"))?,
        clients: value["clients"].as_u64().ok_or_else(|| missing_key("clients"))?,
    })
}

fn missing_key(key: &str) -> Error {
    Error::NotReport(format!("it is no page `/versions`: `{key}` is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str = "type.googleapis.com/envoy.api.v2.Cluster";
    const V3: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

    fn report(since: &str, counts: &[(&str, u64, u64)]) -> UsageReport {
        let used = |&(url, asked, clients): &(&str, u64, u64)| UsedType {
            type_url: url.to_owned(),
            asked,
            clients,
        };
        let since = since.parse().expect("a time");
        UsageReport { since, types: counts.iter().map(used).collect() }
    }

    #[test]
    fn an_old_major_is_unused_if_no_server_saw_it() {
        let one = report("2026-01-01T00:00:00Z", &[(V2, 0, 0), (V3, 4, 1)]);
        let other = report("2026-02-01T00:00:00Z", &[(V2, 1, 0), (V3, 0, 0)]);
        assert_eq!(one.find_unused()[0].0.type_url, V2);
        let both = UsageReport::merge(&[one.clone(), other]).expect("there are some");
        assert_eq!(both, report("2026-02-01T00:00:00Z", &[(V2, 1, 0), (V3, 4, 1)]));
        assert_eq!(both.find_unused(), []);
        // The newest major stays, used or not, and so does one without a newer.
        assert_eq!(report("2026-01-01T00:00:00Z", &[(V3, 0, 0)]).find_unused(), []);
        assert_eq!(report("2026-01-01T00:00:00Z", &[(V2, 0, 0)]).find_unused(), []);
        assert_eq!(UsageReport::merge(&[]), None);
        let read = UsageReport::parse_json(one.to_json().to_string().as_bytes());
        assert_eq!(read.expect("it is a report"), one);
    }

    #[test]
    fn what_is_no_report_says_so() {
        for text in ["", "{}", "[]", r#"{"since":"x","types":[]}"#, r#"{"types":[{}]}"#] {
            assert!(UsageReport::parse_json(text.as_bytes()).is_err(), "{text}");
        }
    }
}
