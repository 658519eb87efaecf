//! Conversations between clients and a session, written down.
//!
//! ```text
//! serve cds: c@1>eds/e  eds: e     what is served from now on
//! > eds e                          a request; then `ack`, `nack`, `again`, `stale`, `fresh`
//! < eds e                          the response that it causes
//! ```
//!
//! - A resource is `NAME=ALIAS@CONTENT%SECONDS>TYPE/NAME`; all but the name may be left out.
//!   The seconds are those of the first round of its health checks.
//! - `NAME!` is a resource that there is, and that the client cannot be given; `held` behind the
//!   verb of a first request says that the client has something from elsewhere.
//! - Words after the verb of a request are names; without any, those of the last one
//!   are repeated; `none` is no name. `ack` and `nack` answer the last response of the
//!   type, `again` has its nonce too, `stale` that of the first one, and `fresh` none.
//! - `>>` is an incremental request: words with `+`, `-` and `=` subscribe, unsubscribe
//!   and say what is held (`=NAME@CONTENT`).
//! - `< TYPE NAMES -REMOVED ?UNRESOLVED` is a response; whatever is sent has to be written down.
//! - `wait SECONDS` lets time pass, `ends WORDS` is the end of the stream.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_xds::{
    Action, Event, Kind, Names, Options, Phase, Reference, Request, Resource, Response, Session,
    Snapshot, StreamError, Types,
};

const TYPES: &[(&str, Kind)] = &[
    ("cds", Kind::CLUSTER),
    ("eds", Kind::ENDPOINTS),
    ("lds", Kind::LISTENER),
    ("rds", Kind::ROUTES),
    ("vhds", Kind::VIRTUAL_HOST),
    ("sds", Kind::SECRET),
    ("rtds", Kind::RUNTIME),
];

fn kind(word: &str) -> Kind {
    TYPES.iter().find(|(name, _)| *name == word).unwrap_or_else(|| panic!("no type `{word}`")).1
}

pub(crate) fn url(word: &str) -> String {
    let types = Types::default();
    let url = types.get(kind(word)).and_then(|it| it.type_url(3));
    url.expect("every kind has a third major").to_string()
}

fn word(url: &str) -> &'static str {
    let found = TYPES.iter().find(|(_, kind)| *kind == Types::default().kind(url));
    found.unwrap_or_else(|| panic!("no word for `{url}`")).0
}

/// A resource as scripts write it.
pub(crate) fn resource(text: &str) -> Resource {
    let mut parts = text.split('>');
    let head = parts.next().unwrap_or_default();
    let (head, seconds) = head.split_once('%').map_or((head, None), |(it, s)| (it, Some(s)));
    let (names, content) = head.split_once('@').unwrap_or((head, ""));
    let mut names = names.split('=');
    let name = names.next().unwrap_or_default();
    let aliases: Vec<&str> = names.collect();
    let references = parts.map(|it| {
        let (kind_word, name) = it.split_once('/').expect("a reference is TYPE/NAME");
        Reference::required(kind(kind_word), name)
    });
    // References are part of what a resource means.
    let meaning = text.replacen(&format!("@{content}"), "", 1) + content;
    let mut resource = Resource::new(name, meaning.into_bytes());
    resource.health_round = seconds.map(|it| Duration::from_secs(it.parse().expect("seconds")));
    resource.known_as(&aliases).referring_to(references)
}

pub(crate) fn snapshot(text: &str) -> Snapshot {
    let mut at = String::new();
    let (mut resources, mut withheld) = (Vec::new(), Vec::new());
    for part in text.split_whitespace() {
        match part.strip_suffix(':') {
            Some(ty) => at = url(ty),
            None if part.ends_with('!') => withheld.push((at.clone(), part.trim_end_matches('!'))),
            None => resources.push((at.clone(), resource(part))),
        }
    }
    let resources = resources.iter().map(|(url, resource)| (url.as_str(), resource.clone()));
    let mut snapshot = Snapshot::of(resources);
    for (url, name) in withheld {
        snapshot.withhold(&url.into(), &name.into());
    }
    snapshot
}

/// A session on a stream of all types, whose client follows a script.
pub(crate) fn play(script: &str) {
    Play::new(Options::default()).run(script);
}

/// A session on a stream of one type.
pub(crate) fn play_alone(ty: &str, script: &str) {
    Play::new(Options { only: Some(url(ty).into()), ..Options::default() }).run(script);
}

pub(crate) struct Play {
    pub(crate) session: Session,
    now: Duration,
    served: String,
    nonces: BTreeMap<String, Vec<Arc<str>>>,
    versions: BTreeMap<String, Arc<str>>,
    names: BTreeMap<String, Vec<String>>,
    unread: Vec<Action>,
}

impl Play {
    pub(crate) fn new(options: Options) -> Play {
        Play {
            session: Session::new(options),
            now: Duration::ZERO,
            served: String::new(),
            nonces: BTreeMap::new(),
            versions: BTreeMap::new(),
            names: BTreeMap::new(),
            unread: Vec::new(),
        }
    }

    pub(crate) fn run(&mut self, script: &str) {
        for line in
            script.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'))
        {
            let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
            match verb {
                "<" => self.expect(rest, line),
                "ends" => self.expect_end(rest, line),
                _ => {
                    self.expect_silence(line);
                    let event = match verb {
                        "serve" => {
                            self.served = rest.to_owned();
                            Event::Snapshot(Arc::new(snapshot(rest)))
                        }
                        "wait" => {
                            self.now += Duration::from_secs(rest.parse().expect("seconds"));
                            Event::Tick
                        }
                        ">" => Event::Request(self.whole(rest)),
                        ">>" => Event::Request(self.delta(rest)),
                        _ => panic!("no such line: {line}"),
                    };
                    self.unread = self.session.step(self.now, event);
                    // A script is what is on the wire.
                    self.unread.retain(|it| !matches!(it, Action::Refused { .. }));
                    for action in &self.unread {
                        if let Action::Send(response) = action {
                            let ty = word(&response.type_url).to_owned();
                            self.nonces
                                .entry(ty.clone())
                                .or_default()
                                .push(Arc::clone(&response.nonce));
                            self.versions.insert(ty, Arc::clone(&response.version));
                        }
                    }
                }
            }
        }
        self.expect_silence("the end");
    }

    fn nonce(&self, ty: &str, verb: &str) -> String {
        let nonces = self.nonces.get(ty).map_or(&[][..], |it| it);
        let nonce = match verb {
            "ack" | "nack" | "again" => nonces.last(),
            "stale" => nonces.first(),
            _ => return String::new(),
        };
        nonce.unwrap_or_else(|| panic!("there was no response to {verb}")).to_string()
    }

    fn whole(&mut self, rest: &str) -> Request {
        let mut words = rest.split_whitespace().peekable();
        let ty = words.next().expect("a type").to_owned();
        let verb = words
            .next_if(|it| ["ack", "nack", "again", "stale", "fresh"].contains(it))
            .unwrap_or("fresh");
        let held = words.next_if_eq(&"held").is_some();
        let names: Vec<String> = words.map(str::to_owned).collect();
        let names = match &*names {
            [] => self.names.get(&ty).cloned().unwrap_or_default(),
            [none] if none == "none" => Vec::new(),
            _ => names,
        };
        self.names.insert(ty.clone(), names.clone());
        Request {
            type_url: url(&ty),
            nonce: self.nonce(&ty, verb),
            version: if held { "1" } else { "" }.to_owned(),
            error: (verb == "nack").then(|| "no".to_owned()),
            names: Names::Sotw(names),
        }
    }

    fn delta(&mut self, rest: &str) -> Request {
        let mut words = rest.split_whitespace();
        let ty = words.next().expect("a type");
        let (mut subscribe, mut unsubscribe, mut held) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut verb = "fresh";
        for word in words {
            match word.split_at(1) {
                ("+", name) => subscribe.push(name.to_owned()),
                ("-", name) => unsubscribe.push(name.to_owned()),
                ("=", it) => {
                    let it = resource(it);
                    held.insert(it.name.to_string(), it.version.to_string());
                }
                _ => verb = word,
            }
        }
        Request {
            type_url: url(ty),
            nonce: self.nonce(ty, verb),
            version: String::new(),
            error: (verb == "nack").then(|| "no".to_owned()),
            names: Names::Delta { subscribe, unsubscribe, held },
        }
    }

    fn expect(&mut self, rest: &str, line: &str) {
        assert!(!self.unread.is_empty(), "nothing was sent, not even: {line}");
        let Action::Send(response) = self.unread.remove(0) else { panic!("the end, not: {line}") };
        assert_eq!(written(&response), rest, "at: {line}");
    }

    fn expect_end(&mut self, rest: &str, line: &str) {
        assert!(!self.unread.is_empty(), "nothing was sent: {line}");
        let Action::End(ending) = self.unread.remove(0) else { panic!("a response, not: {line}") };
        let (StreamError::Invalid(message) | StreamError::TooMuch(message)) = ending;
        assert!(message.contains(rest), "`{message}` does not say: {rest}");
    }

    fn expect_silence(&self, line: &str) {
        let unread: Vec<String> = self
            .unread
            .iter()
            .map(|it| match it {
                Action::Send(response) => format!("< {}", written(response)),
                Action::Refused { type_url, .. } => format!("refused {type_url}"),
                Action::End(ending) => format!("{ending:?}"),
            })
            .collect();
        assert!(unread.is_empty(), "before `{line}` there was more: {unread:?}");
    }

    /// How far the client has come: `PHASE: TYPE/NAME (REASON) …; checks CLUSTER TIME …`.
    pub(crate) fn progress(&self) -> String {
        let word = |kind: Kind| TYPES.iter().find(|it| it.1 == kind).expect("a word for it").0;
        let types = Types::default();
        let plural =
            |kind| types.get(kind).and_then(|it| it.entry.rest.as_deref()).expect("a path");
        let it = self.session.initialisation(self.now);
        let mut text = match it.phase {
            Phase::WaitsFor(kind) => plural(kind),
            Phase::Initialised => "initialised",
            Phase::Answered => "answered",
        }
        .to_owned();
        let waits = it.waits_for.iter().map(|it| match &it.name {
            Some(name) => format!(" {}/{name} ({})", word(it.kind), it.reason),
            None => format!(" {} ({})", word(it.kind), it.reason),
        });
        let waits: String = waits.collect();
        let checks = it.health_checks.iter();
        let checks: String = checks.map(|it| format!(" {} {:?}", it.cluster, it.at_most)).collect();
        for (sign, part) in [(":", waits), ("; checks", checks)] {
            if !part.is_empty() {
                text += sign;
                text += &part;
            }
        }
        text
    }

    /// The version that was sent last of a type.
    pub(crate) fn version(&self, ty: &str) -> Arc<str> {
        Arc::clone(&self.versions[ty])
    }
}

fn written(response: &Response) -> String {
    let mut words = vec![word(&response.type_url).to_owned()];
    words.extend(response.resources.iter().map(|it| it.name.to_string()));
    words.extend(response.removed.iter().map(|name| format!("-{name}")));
    words.extend(response.unresolved.iter().map(|name| format!("?{name}")));
    words.join(" ")
}
