//! Clients that understand the same, and so are served alike.

use std::sync::{Arc, Mutex, PoisonError};

use abide_xds::ClientProfile;

/// How many groups there may be: each costs a view of all resources.
const MAX_GROUPS: usize = 256;

/// Clients that are served alike.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    number: u64,
    pub(crate) terms: Arc<ClientProfile>,
}

/// The groups of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    groups: Vec<Group>,
    next: u64,
}

impl Group {
    /// Its number. A group that comes back after it was forgotten has another one.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Groups {
    /// The group with these terms, and the number of a group that had to make room: the oldest one
    /// without a client. `None`: there are too many.
    pub(crate) fn with(&self, terms: ClientProfile) -> Option<(Group, Option<u64>)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = known.groups.iter().find(|it| *it.terms == terms) {
            return Some((group.clone(), None));
        }
        let mut forgotten = None;
        if known.groups.len() >= MAX_GROUPS {
            // Clients hold the terms of their group.
            let unused = known.groups.iter().position(|it| Arc::strong_count(&it.terms) == 1)?;
            forgotten = Some(known.groups.remove(unused).number);
        }
        known.next += 1;
        let group = Group { number: known.next, terms: Arc::new(terms) };
        known.groups.push(group.clone());
        Some((group, forgotten))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use abide_schema::Tree;
    use abide_xds::{ClientCapabilities, Release, Releases};

    use super::*;

    #[test]
    fn groups_without_clients_make_room() {
        let tree = Tree::link(Vec::new());
        let names: BTreeSet<String> = (0..=MAX_GROUPS).map(|it| it.to_string()).collect();
        let release = Release::new(&tree, Default::default());
        let releases = Releases::new(release, Vec::new(), names.clone());
        let terms = |name: &String| {
            let claims = ClientCapabilities {
                features: [name.clone()].into(),
                ..ClientCapabilities::default()
            };
            releases.resolve_profile(&claims).expect("not too much")
        };
        let groups = Groups::default();
        let mut held: Vec<Group> = Vec::new();
        for name in names.iter().take(MAX_GROUPS) {
            held.push(groups.with(terms(name)).expect("there is room").0);
        }
        let last = names.last().expect("there are some");
        assert!(groups.with(terms(last)).is_none(), "all of them have clients");
        let again = groups.with(terms(&names.first().expect("a name").clone()));
        assert_eq!(again.map(|(group, _)| group.number()), Some(1), "it is known");
        let gone = held.remove(7).number();
        let (group, forgotten) = groups.with(terms(last)).expect("there is room again");
        assert_eq!(forgotten, Some(gone));
        assert!(group.number() > gone);
    }
}
