//! Remembers what polling clients were answered, and finds out what they refuse.
//!
//! A poll has neither a stream nor a nonce, so what it refuses follows from what its node was
//! answered before. It refuses that if it says so (`error_detail`), or if it comes again and again
//! with the version that it had before: that is all that Envoy says when it polls.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_xds::{Collection, Refusal};

/// The number of nodes and types that are remembered.
const MAX_ENTRIES: usize = 10_000;

/// The number of resources that are remembered of all of them together.
const MAX_RESOURCES: usize = 1_000_000;

/// The number of times that an answer is taken for lost before its repetition counts as a refusal.
const MAX_LOST: u32 = 1;

/// The reason that stands for a poll that comes again without one.
const NO_REASON: &str = "it polls on with the version before";

/// The node of a poll and the type that it asks for.
pub(crate) type PollKey = (String, String);

/// The last answers to polls.
#[derive(Debug, Default)]
pub(crate) struct PollHistory(Mutex<RecentAnswers>);

#[derive(Debug, Default)]
struct RecentAnswers {
    last: BTreeMap<PollKey, PollAnswer>,
    /// Those that were answered, the longest ago first.
    order: VecDeque<PollKey>,
    /// The number of resources in all of them.
    resources: usize,
}

/// The last answers to one node for one type.
#[derive(Debug, Default)]
struct PollAnswer {
    /// The resources that it has, as far as that is known.
    accepted: Option<Arc<Collection>>,
    /// The resources that it was answered since, and how often.
    sent: Option<(Arc<Collection>, u32)>,
}

impl PollAnswer {
    fn resources(&self) -> usize {
        let sent = self.sent.iter().map(|it| &it.0);
        sent.chain(&self.accepted).map(|it| it.len()).sum()
    }
}

impl PollHistory {
    fn answers(&self) -> MutexGuard<'_, RecentAnswers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a poll: the version that its client says it has, and its reason to refuse what it
    /// was answered, if it gives one. Returns what it refuses.
    pub(crate) fn record_request(
        &self,
        asker: &PollKey,
        held: &str,
        reason: Option<&str>,
    ) -> Option<Refusal> {
        let mut answers = self.answers();
        let RecentAnswers { last, resources, .. } = &mut *answers;
        let answer = last.get_mut(asker)?;
        let (sent, times) = answer.sent.clone()?;
        if **sent.version() == *held {
            *resources -= answer.resources();
            *answer = PollAnswer { accepted: Some(sent), sent: None };
            *resources += answer.resources();
            return None;
        }
        let accepted = answer.accepted.as_ref().filter(|it| **it.version() == *held);
        // A client that begins anew has nothing, and refuses nothing.
        let is_repeated = accepted.is_some() && times > MAX_LOST;
        let message = reason.or(is_repeated.then_some(NO_REASON))?.to_owned();
        let is_old = |name: &str, version: &str| {
            let old = accepted.and_then(|it| it.get(name));
            old.is_some_and(|it| *it.version == *version)
        };
        let new = sent.iter().filter(|it| !is_old(&it.name, &it.version));
        let new = new.map(|it| (Arc::clone(&it.name), Arc::clone(&it.version))).collect();
        Some(Refusal { version: Arc::clone(sent.version()), message, resources: new })
    }

    /// Records that the client of a poll has already what it would be answered.
    pub(crate) fn record_held(&self, asker: &PollKey, content: &Arc<Collection>) {
        self.update(asker, |answer| {
            *answer = PollAnswer { accepted: Some(Arc::clone(content)), sent: None };
        });
    }

    /// Records what a poll is answered.
    pub(crate) fn record_answer(&self, asker: &PollKey, content: &Arc<Collection>) {
        self.update(asker, |answer| {
            let is_same = |it: &&(Arc<Collection>, u32)| it.0.version() == content.version();
            let times = answer.sent.as_ref().filter(is_same).map_or(0, |it| it.1);
            answer.sent = Some((Arc::clone(content), times.saturating_add(1)));
        });
    }

    /// Updates the last answers to a node, and forgets the oldest of other nodes if there are too
    /// many.
    fn update(&self, asker: &PollKey, update: impl FnOnce(&mut PollAnswer)) {
        let mut answers = self.answers();
        let mut answer = match answers.last.remove(asker) {
            Some(answer) => {
                answers.resources -= answer.resources();
                answer
            }
            None => {
                answers.order.push_back(asker.clone());
                PollAnswer::default()
            }
        };
        update(&mut answer);
        answers.resources += answer.resources();
        answers.last.insert(asker.clone(), answer);
        while answers.order.len() > MAX_ENTRIES || answers.resources > MAX_RESOURCES {
            let Some(oldest) = answers.order.pop_front() else { break };
            let gone = answers.last.remove(&oldest);
            answers.resources -= gone.map_or(0, |it| it.resources());
        }
    }
}

#[cfg(test)]
mod tests {
    use abide_xds::Resource;

    use super::*;

    fn asker(node: &str) -> PollKey {
        (node.to_owned(), "type".to_owned())
    }

    fn content(resources: &[(&str, &str)]) -> Arc<Collection> {
        let resource =
            |(name, body): &(&str, &str)| Arc::new(Resource::new(name, body.to_string()));
        Arc::new(Collection::of(resources.iter().map(resource)))
    }

    /// What a poll refuses: the reason, and the names.
    fn refused(it: Option<Refusal>) -> Option<(String, Vec<String>)> {
        it.map(|it| (it.message, it.resources.iter().map(|it| it.0.to_string()).collect()))
    }

    #[test]
    fn what_a_poll_refuses_is_what_was_new_to_it() {
        let polled = PollHistory::default();
        let (me, first) = (asker("me"), content(&[("a", "1"), ("b", "1")]));
        let second = content(&[("a", "2"), ("b", "1")]);
        assert_eq!(polled.record_request(&me, "", Some("no")), None, "it was answered nothing");
        polled.record_answer(&me, &first);
        assert_eq!(polled.record_request(&me, first.version(), None), None, "it accepts");
        polled.record_answer(&me, &second);
        let said = refused(polled.record_request(&me, first.version(), Some("too fast")));
        assert_eq!(said, Some(("too fast".to_owned(), vec!["a".to_owned()])));
        assert_eq!(polled.record_request(&asker("you"), first.version(), Some("no")), None);
        assert_eq!(polled.record_request(&me, second.version(), None), None, "it changed its mind");
    }

    #[test]
    fn a_poll_that_comes_again_and_again_refuses_without_a_word() {
        let polled = PollHistory::default();
        let (me, first, second) = (asker("me"), content(&[("a", "1")]), content(&[("a", "2")]));
        polled.record_held(&me, &first);
        polled.record_answer(&me, &second);
        assert_eq!(
            polled.record_request(&me, first.version(), None),
            None,
            "the answer may be lost"
        );
        polled.record_answer(&me, &second);
        let said = refused(polled.record_request(&me, first.version(), None));
        assert_eq!(said, Some((NO_REASON.to_owned(), vec!["a".to_owned()])));
        // Another change is another chance.
        polled.record_answer(&me, &content(&[("a", "3")]));
        assert_eq!(polled.record_request(&me, first.version(), None), None);
        // Who starts anew has nothing and refuses nothing.
        for _ in 0..5 {
            assert_eq!(polled.record_request(&me, "", None), None);
            polled.record_answer(&me, &second);
        }
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let polled = PollHistory::default();
        let (one, other) = (content(&[("a", "1")]), content(&[("a", "2")]));
        for number in 0..=MAX_ENTRIES {
            polled.record_answer(&asker(&number.to_string()), &one);
        }
        assert_eq!(polled.answers().last.len(), MAX_ENTRIES);
        assert_eq!(polled.record_request(&asker("0"), "", Some("no")), None, "it is forgotten");
        assert!(polled.record_request(&asker("1"), "", Some("no")).is_some());
        let names: Vec<String> = (0..MAX_RESOURCES / 4).map(|it| it.to_string()).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|it| (&**it, "1")).collect();
        let many = content(&many);
        for node in ["a", "b", "c", "d", "e"] {
            polled.record_answer(&asker(node), &many);
        }
        assert!(polled.answers().resources <= MAX_RESOURCES);
        assert_eq!(polled.record_request(&asker("a"), "", Some("no")), None, "it made room");
        assert!(polled.record_request(&asker("e"), "", Some("no")).is_some());
        // What is counted is what there is.
        polled.record_held(&asker("e"), &other);
        polled.record_answer(&asker("e"), &one);
        assert_eq!(polled.record_request(&asker("e"), one.version(), None), None);
        let answers = polled.answers();
        let sum: usize = answers.last.values().map(PollAnswer::resources).sum();
        assert_eq!(answers.resources, sum);
        assert_eq!(answers.order.len(), answers.last.len());
    }
}
