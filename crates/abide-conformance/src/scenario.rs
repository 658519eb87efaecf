//! The table of scenarios, and how it is written.
//!
//! ```text
//! # NAME | STATEMENTS AND REPORTS | WAYS | what it is about
//! serve cds: c@1>eds/e  eds: e     what is served from now on
//! > eds e                          a request; then `ack`, `nack`, `again`, `stale`, `fresh`
//! < eds e                          the response that has to come
//! ```
//!
//! - A resource is `NAME=ALIAS@CONTENT>TYPE/NAME`; all but the name may be left out.
//! - Words after the verb of a request are names; without any, those of the last one are repeated;
//!   `none` is no name. `ack` and `nack` answer the last response of the type, `again` has its nonce
//!   too, `stale` that of the first one, and `fresh` none.
//! - `>>` is an incremental request: words with `+`, `-` and `=` subscribe, unsubscribe and say what
//!   is held (`=NAME@CONTENT`, which the client was sent before).
//! - `< TYPE NAMES -REMOVED` is a response; whatever comes has to be written down.
//! - `ends` is the end of the stream, `wait SECONDS` lets time pass, `client NAME` lets another
//!   client speak, and `reconnect` begins all streams of a client anew.

use std::fmt;
use std::time::Duration;

use crate::error::{LineProblem, TableError};
use crate::resources::{Served, ServedResource, Type};

/// The scenarios of this build.
const TABLE: &str = concat!(
    include_str!("scenarios/whole.txt"),
    include_str!("scenarios/delta.txt"),
    include_str!("scenarios/order.txt"),
    include_str!("scenarios/traps.txt"),
);

/// The way in which the types of a client are spread over streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All on one stream.
    Ads,
    /// A stream for each.
    Separate,
    /// Polls over HTTP.
    Rest,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Ads => "ads",
            Way::Separate => "separate",
            Way::Rest => "rest",
        })
    }
}

/// A conversation that has to go as it is written.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name, which no other has.
    pub name: String,
    /// The statements about the xDS protocol that it proves, and reports of what others got wrong.
    pub proves: Vec<String>,
    /// The ways in which it is played.
    pub ways: Vec<Way>,
    /// What it is about: one phrase.
    pub summary: String,
    pub(crate) steps: Vec<Step>,
}

/// A line of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// As it is written.
    pub(crate) line: String,
    pub(crate) verb: Verb,
}

/// The meaning of a line.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    Serve(Served),
    Ask { ty: Type, about: About, names: Wanted },
    Expect { ty: Type, names: Vec<String>, removed: Vec<String> },
    Ends,
    Wait(Duration),
    Client(String),
    Reconnect,
}

/// The response that a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Nothing: it has no nonce.
    Fresh,
    /// It accepts the last response of the type.
    Ack,
    /// It refuses that.
    Nack,
    /// It has the nonce of that, and was answered before.
    Again,
    /// It has the nonce of the first response of the type.
    Stale,
}

/// The resources that a request wants.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// The same as the last one.
    Same,
    Whole(Vec<String>),
    Delta {
        subscribe: Vec<String>,
        unsubscribe: Vec<String>,
        held: Vec<ServedResource>,
    },
}

impl Scenario {
    /// All of this build.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn all() -> Result<Vec<Scenario>, TableError> {
        Scenario::read(TABLE)
    }

    /// The scenarios of a table.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn read(table: &str) -> Result<Vec<Scenario>, TableError> {
        let mut all: Vec<Scenario> = Vec::new();
        for (number, line) in table.lines().enumerate() {
            let line = line.trim();
            let failed = |problem| TableError { line: number + 1, problem };
            if let Some(head) = line.strip_prefix("# ") {
                let scenario = Scenario::head(head).map_err(failed)?;
                if all.iter().any(|it| it.name == scenario.name) {
                    return Err(failed(LineProblem::Twice(scenario.name)));
                }
                all.push(scenario);
            } else if !line.is_empty() && !line.starts_with("//") {
                let Some(scenario) = all.last_mut() else {
                    return Err(failed(LineProblem::BeforeScenario(line.to_owned())));
                };
                let verb = Verb::read(line).map_err(failed)?;
                scenario.steps.push(Step { line: line.to_owned(), verb });
            }
        }
        Ok(all)
    }

    fn head(text: &str) -> Result<Scenario, LineProblem> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [name, proves, ways, summary] = *cells else {
            return Err(LineProblem::Head("# NAME | STATEMENTS | WAYS | SUMMARY"));
        };
        let ways = ways.split_whitespace().map(|word| match word {
            "ads" => Ok(Way::Ads),
            "separate" => Ok(Way::Separate),
            "rest" => Ok(Way::Rest),
            _ => Err(LineProblem::Way(word.to_owned())),
        });
        Ok(Scenario {
            name: name.to_owned(),
            proves: proves.split_whitespace().map(str::to_owned).collect(),
            ways: ways.collect::<Result<_, LineProblem>>()?,
            summary: summary.to_owned(),
            steps: Vec::new(),
        })
    }
}

impl Verb {
    fn read(line: &str) -> Result<Verb, LineProblem> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = rest.split_whitespace().peekable();
        let mut ty = || Type::named(words.next().unwrap_or_default());
        Ok(match verb {
            "serve" => Verb::Serve(Served::read(rest)?),
            "wait" => {
                let seconds = rest.parse().map_err(|_| LineProblem::Time(rest.to_owned()))?;
                Verb::Wait(Duration::from_secs(seconds))
            }
            "client" => Verb::Client(rest.to_owned()),
            "reconnect" => Verb::Reconnect,
            "ends" => Verb::Ends,
            ">" => {
                let ty = ty()?;
                let about = words.peek().and_then(|it| About::named(it));
                if about.is_some() {
                    words.next();
                }
                let names: Vec<String> = words.map(str::to_owned).collect();
                let names = match &*names {
                    [] => Wanted::Same,
                    [none] if none == "none" => Wanted::Whole(Vec::new()),
                    _ => Wanted::Whole(names),
                };
                Verb::Ask { ty, about: about.unwrap_or(About::Fresh), names }
            }
            ">>" => {
                let ty = ty()?;
                let mut about = About::Fresh;
                let (mut subscribe, mut unsubscribe, mut held) = (vec![], vec![], vec![]);
                for word in words {
                    if let Some(name) = word.strip_prefix('+') {
                        subscribe.push(name.to_owned());
                    } else if let Some(name) = word.strip_prefix('-') {
                        unsubscribe.push(name.to_owned());
                    } else if let Some(resource) = word.strip_prefix('=') {
                        held.push(ServedResource::read(ty, resource)?);
                    } else {
                        let named = About::named(word);
                        about = named.ok_or_else(|| LineProblem::Word(word.to_owned()))?;
                    }
                }
                Verb::Ask { ty, about, names: Wanted::Delta { subscribe, unsubscribe, held } }
            }
            "<" => {
                let ty = ty()?;
                let (mut names, mut removed) = (Vec::new(), Vec::new());
                for word in words {
                    match word.strip_prefix('-') {
                        Some(name) => removed.push(name.to_owned()),
                        None => names.push(word.to_owned()),
                    }
                }
                Verb::Expect { ty, names, removed }
            }
            _ => return Err(LineProblem::Step(verb.to_owned())),
        })
    }
}

impl About {
    fn named(word: &str) -> Option<About> {
        Some(match word {
            "fresh" => About::Fresh,
            "ack" => About::Ack,
            "nack" => About::Nack,
            "again" => About::Again,
            "stale" => About::Stale,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_line() {
        let read = |table: &str| Scenario::read(table).map(|it| it.len());
        assert_eq!(read("# a | 002-001 | ads rest | words\n> cds\n\n// a comment\n< cds a"), Ok(1));
        for (table, error) in [
            ("> cds", "line 1: `> cds` stands before a scenario"),
            ("# a | b", "line 1: a scenario begins `# NAME | STATEMENTS | WAYS | SUMMARY`"),
            ("# a | b | ads | c\nsing", "line 2: `sing` is no step"),
            ("# a | b | tcp | c", "line 1: `tcp` is none of ads, separate, rest"),
            ("# a | b | ads | c\n# a | b | ads | c", "line 2: there is another scenario `a`"),
            ("# a | b | ads | c\nwait long", "line 2: `long` is no time in seconds"),
            ("# a | b | ads | c\n>> cds maybe", "line 2: what is `maybe`?"),
        ] {
            assert_eq!(read(table).map_err(|it| it.to_string()), Err(error.to_owned()));
        }
    }

    /// The table is as large as was promised, and each row of it says what it proves.
    #[test]
    fn the_table_covers_all_ways() {
        let all = Scenario::all().expect("the table is right");
        assert!(all.len() >= 80, "{} scenarios", all.len());
        for scenario in &all {
            let Scenario { name, proves, ways, summary, steps } = scenario;
            assert!(!proves.is_empty() && !summary.is_empty(), "{name}");
            let statement = |it: &String| it.strip_prefix("002-").map(|it| it.parse::<u8>());
            let is_known = |it| matches!(it, Ok(1..=96));
            assert!(proves.iter().filter_map(statement).all(is_known), "{name}: {proves:?}");
            assert!(!ways.is_empty() && !steps.is_empty(), "{name}");
            let has_response =
                steps.iter().any(|it| matches!(it.verb, Verb::Expect { .. } | Verb::Ends));
            assert!(has_response, "{name} shows nothing");
        }
    }
}
