//! What is served to whom.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_xds::Snapshot;

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
}

impl Served {
    /// Adds what an audience gets.
    pub(crate) fn add(&mut self, audience: &Audience, snapshot: Snapshot) {
        match audience {
            Audience::Everyone => self.everyone = Arc::new(snapshot),
            Audience::Cluster(name) => drop(self.clusters.insert(name.clone(), snapshot)),
            Audience::Node(id) => drop(self.nodes.insert(id.clone(), snapshot)),
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

    /// What a client gets. Clients without folders of their own share one snapshot.
    pub(crate) fn of(&self, node: &Node) -> Arc<Snapshot> {
        let layers = [self.clusters.get(&node.cluster), self.nodes.get(&node.id)];
        let layers = layers.into_iter().flatten();
        layers.fold(Arc::clone(&self.everyone), |below, layer| Arc::new(below.under(layer)))
    }
}
