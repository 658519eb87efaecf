//! What is served to whom.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_xds::{Snapshot, View};

use crate::apis::{Apis, Group};
use crate::folder::Audience;
use crate::wire::Node;

/// What is served at one moment.
#[derive(Debug, Default)]
pub(crate) struct Served {
    everyone: Arc<Snapshot>,
    /// What the clients of a cluster get beside it or instead.
    clusters: BTreeMap<String, Snapshot>,
    /// What a client gets beside it or instead.
    nodes: BTreeMap<String, Snapshot>,
    /// What was asked for so far.
    views: Mutex<BTreeMap<Share, Arc<View>>>,
    /// What was served before, as far as anybody asked for it.
    before: BTreeMap<Share, Arc<View>>,
}

/// Those who get the same: the folders that are theirs, if any, and what they understand.
type Share = (Option<String>, Option<String>, Group);

impl Served {
    /// Adds what an audience gets.
    pub(crate) fn add(&mut self, audience: &Audience, snapshot: Snapshot) {
        match audience {
            Audience::Everyone => self.everyone = Arc::new(snapshot),
            Audience::Cluster(name) => drop(self.clusters.insert(name.clone(), snapshot)),
            Audience::Node(id) => drop(self.nodes.insert(id.clone(), snapshot)),
        }
    }

    /// The same with another snapshot for each audience.
    pub(crate) fn map(&self, change: impl Fn(&Snapshot) -> Snapshot) -> Served {
        let each = |it: &BTreeMap<String, Snapshot>| {
            it.iter().map(|(name, it)| (name.clone(), change(it))).collect()
        };
        Served {
            everyone: Arc::new(change(&self.everyone)),
            clusters: each(&self.clusters),
            nodes: each(&self.nodes),
            ..Served::default()
        }
    }

    /// What each audience gets in all.
    pub(crate) fn audiences(&self) -> Vec<(Audience, Arc<Snapshot>)> {
        let mut all = vec![(Audience::Everyone, Arc::clone(&self.everyone))];
        let over = |it: &Snapshot| Arc::new(self.everyone.under(it));
        all.extend(
            self.clusters.iter().map(|(name, it)| (Audience::Cluster(name.clone()), over(it))),
        );
        all.extend(self.nodes.iter().map(|(id, it)| (Audience::Node(id.clone()), over(it))));
        all
    }

    /// Takes the place of what was served until now: clients keep of that what they cannot
    /// hold of this.
    #[must_use]
    pub(crate) fn after(mut self, before: &Served) -> Served {
        // What nobody asked for since is as it was.
        let mut views = before.before.clone();
        views.extend(before.views().clone());
        self.before = views;
        self
    }

    fn views(&self) -> MutexGuard<'_, BTreeMap<Share, Arc<View>>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a client gets. Those who get the same share it.
    pub(crate) fn view(&self, apis: &Apis, node: &Node, group: Group) -> Arc<View> {
        let cluster = self.clusters.get_key_value(&node.cluster);
        let own = self.nodes.get_key_value(&node.id);
        let share = (cluster.map(|it| it.0.clone()), own.map(|it| it.0.clone()), group);
        let mut views = self.views();
        if let Some(view) = views.get(&share) {
            return Arc::clone(view);
        }
        let layers = [cluster, own].into_iter().flatten().map(|(_, layer)| layer);
        let below = Arc::clone(&self.everyone);
        let snapshot = layers.fold(below, |below, layer| Arc::new(below.under(layer)));
        let nothing = Arc::default();
        let before = self.before.get(&share).unwrap_or(&nothing);
        let view = Arc::new(apis.view(group, &snapshot, before));
        views.insert(share, Arc::clone(&view));
        view
    }
}
