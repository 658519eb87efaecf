//! What is served to whom.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use abide_xds::wire::Node;
use abide_xds::{Holds, ResourceVersion, Snapshot, View};

use super::apis::Apis;
use super::groups::Group;
use super::source::{Audience, ResourceFile};

/// What is served at one moment.
#[derive(Debug, Default)]
pub(crate) struct ServedResources {
    /// The name that its source has for it, if any.
    revision: Option<Arc<str>>,
    /// The files that it was read from.
    files: Arc<[ResourceFile]>,
    /// What a process before this one served before it.
    ancestor: Option<Arc<ServedResources>>,
    /// The time since when it is served.
    published: Option<Instant>,
    everyone: Arc<Snapshot>,
    /// What the clients of a cluster get beside it or instead.
    clusters: BTreeMap<String, Snapshot>,
    /// What a client gets beside it or instead.
    nodes: BTreeMap<String, Snapshot>,
    /// The audiences whose newest resources must not be served, with what they go on with: all that was
    /// served to them last. `None`: nothing ever was.
    stopped: BTreeMap<Audience, Option<Arc<ServedResources>>>,
    views: Mutex<Views>,
}

#[derive(Debug, Default)]
struct Views {
    /// What was asked for so far.
    now: BTreeMap<ViewKey, Arc<View>>,
    /// What was served before, as far as anybody asked for it.
    before: BTreeMap<ViewKey, Arc<View>>,
}

/// Those who get the same: the folders that are theirs, if any, and the number of their group.
type ViewKey = (Option<String>, Option<String>, u64);

impl Holds for ServedResources {
    fn holds(&self, resource: &ResourceVersion) -> bool {
        let own = self.clusters.values().chain(self.nodes.values());
        std::iter::once(&*self.everyone).chain(own).any(|it| it.holds(resource))
    }
}

impl ServedResources {
    /// The same with the files that it was read from, and the name that its source has for them.
    #[must_use]
    pub(crate) fn read_from(
        mut self,
        files: &[ResourceFile],
        revision: Option<&str>,
    ) -> ServedResources {
        self.revision = revision.map(Arc::from);
        self.files = files.into();
        self
    }

    /// The same, served from this moment on.
    #[must_use]
    pub(crate) fn published_at(mut self, now: Instant) -> ServedResources {
        self.published = Some(now);
        self
    }

    /// Returns the time since when it is served, if it is.
    pub(crate) fn published(&self) -> Option<Instant> {
        self.published
    }

    /// The same after what a process before this one served: clients keep of that what they cannot hold
    /// of this.
    #[must_use]
    pub(crate) fn descended_from(
        mut self,
        ancestor: Option<Arc<ServedResources>>,
    ) -> ServedResources {
        self.ancestor = ancestor;
        self
    }

    /// The files that it was read from.
    pub(crate) fn files(&self) -> &Arc<[ResourceFile]> {
        &self.files
    }

    /// The name that its source has for it, if any.
    pub(crate) fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// Adds that the newest resources of an audience must not be served to it.
    pub(crate) fn stop(&mut self, audience: Audience) {
        match &audience {
            Audience::Everyone => {}
            Audience::Cluster(name) => drop(self.clusters.remove(name)),
            Audience::Node(id) => drop(self.nodes.remove(id)),
        }
        self.stopped.insert(audience, None);
    }

    /// The same after what was served before: audiences that are stopped go on with what of it was good
    /// for them.
    #[must_use]
    pub(crate) fn going_on_with(
        mut self,
        before: Option<&Arc<ServedResources>>,
    ) -> ServedResources {
        let Some(before) = before else { return self };
        for (audience, kept) in self.stopped.iter_mut().filter(|it| it.1.is_none()) {
            *kept = match before.stopped.get(audience) {
                Some(older) => older.clone(),
                None => Some(Arc::clone(before)),
            };
        }
        self
    }

    /// What audiences that are stopped go on with, oldest first.
    pub(crate) fn kept_for_stopped(&self) -> Vec<Arc<ServedResources>> {
        let kept = self.stopped.values().flatten();
        kept.flat_map(|it| it.kept_for_stopped().into_iter().chain([Arc::clone(it)])).collect()
    }

    /// Adds what an audience gets.
    pub(crate) fn add(&mut self, audience: &Audience, snapshot: Snapshot) {
        match audience {
            Audience::Everyone => self.everyone = Arc::new(snapshot),
            Audience::Cluster(name) => drop(self.clusters.insert(name.clone(), snapshot)),
            Audience::Node(id) => drop(self.nodes.insert(id.clone(), snapshot)),
        }
    }

    /// The same with another snapshot for each audience.
    pub(crate) fn map(&self, change: impl Fn(&Snapshot) -> Snapshot) -> ServedResources {
        let each = |it: &BTreeMap<String, Snapshot>| {
            it.iter().map(|(name, it)| (name.clone(), change(it))).collect()
        };
        ServedResources {
            revision: self.revision.clone(),
            files: Arc::clone(&self.files),
            ancestor: self.ancestor.clone(),
            everyone: Arc::new(change(&self.everyone)),
            clusters: each(&self.clusters),
            nodes: each(&self.nodes),
            stopped: self.map_stopped(&change),
            ..ServedResources::default()
        }
    }

    /// What audiences that are stopped go on with, changed likewise.
    fn map_stopped(
        &self,
        change: &dyn Fn(&Snapshot) -> Snapshot,
    ) -> BTreeMap<Audience, Option<Arc<ServedResources>>> {
        let changed = |it: &Arc<ServedResources>| Arc::new(it.map(change));
        let all = self.stopped.iter();
        all.map(|(audience, it)| (audience.clone(), it.as_ref().map(changed))).collect()
    }

    /// What each audience gets in all.
    pub(crate) fn audiences(&self) -> Vec<(Audience, Arc<Snapshot>)> {
        let mut all = vec![(Audience::Everyone, Arc::clone(&self.everyone))];
        let over = |it: &Snapshot| Arc::new(self.everyone.under(it));
        all.extend(
            self.clusters.iter().map(|(name, it)| (Audience::Cluster(name.clone()), over(it))),
        );
        all.extend(self.nodes.iter().map(|(id, it)| (Audience::Node(id.clone()), over(it))));
        for (audience, kept) in &self.stopped {
            let theirs = kept.iter().flat_map(|it| it.audiences());
            all.extend(theirs.filter(|it| it.0 == *audience));
        }
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }

    /// Takes the place of what was served until now: clients keep of that what they cannot
    /// hold of this.
    #[must_use]
    pub(crate) fn after(mut self, before: &ServedResources) -> ServedResources {
        self.ancestor = self.ancestor.or_else(|| before.ancestor.clone());
        // What nobody asked for since is as it was.
        let before = before.views();
        let mut views = before.before.clone();
        views.extend(before.now.iter().map(|(share, view)| (share.clone(), Arc::clone(view))));
        drop(before);
        self.views().before = views;
        self
    }

    /// Forgets what a group was served.
    pub(crate) fn forget(&self, group: u64) {
        let mut views = self.views();
        views.now.retain(|(_, _, number), _| *number != group);
        views.before.retain(|(_, _, number), _| *number != group);
    }

    fn views(&self) -> MutexGuard<'_, Views> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With whom a client shares what it gets.
    fn share(&self, node: &Node, group: &Group) -> ViewKey {
        let cluster = Audience::Cluster(node.cluster.clone());
        let own = Audience::Node(node.id.clone());
        let has_cluster =
            self.clusters.contains_key(&node.cluster) || self.stopped.contains_key(&cluster);
        let has_own = self.nodes.contains_key(&node.id) || self.stopped.contains_key(&own);
        (
            has_cluster.then(|| node.cluster.clone()),
            has_own.then(|| node.id.clone()),
            group.number(),
        )
    }

    /// What a client gets, if that is known at once: nobody makes anything right now, and somebody
    /// asked for the same.
    pub(crate) fn known(&self, node: &Node, group: &Group) -> Option<Arc<View>> {
        self.views.try_lock().ok()?.now.get(&self.share(node, group)).cloned()
    }

    /// What a client gets of what is served, whatever it understands. `None` if nothing may be served to
    /// it yet.
    fn snapshot(&self, node: &Node) -> Option<Arc<Snapshot>> {
        let cluster = Audience::Cluster(node.cluster.clone());
        let own = Audience::Node(node.id.clone());
        if let Some(kept) = self.stopped.get(&cluster).or_else(|| self.stopped.get(&own)) {
            return kept.as_ref()?.snapshot(node);
        }
        let layers = [self.clusters.get(&node.cluster), self.nodes.get(&node.id)];
        let below = Arc::clone(&self.everyone);
        Some(layers.into_iter().flatten().fold(below, |below, layer| Arc::new(below.under(layer))))
    }

    /// What a client gets. Those who get the same share it. `None` if nothing may be served to it yet.
    pub(crate) fn view(&self, apis: &Apis, node: &Node, group: &Group) -> Option<Arc<View>> {
        let share = self.share(node, group);
        let mut views = self.views();
        if let Some(view) = views.now.get(&share) {
            return Some(Arc::clone(view));
        }
        let snapshot = self.snapshot(node)?;
        let before = match (views.before.get(&share), &self.ancestor) {
            (Some(before), _) => Some(Arc::clone(before)),
            (None, Some(ancestor)) => ancestor.view(apis, node, group),
            (None, None) => None,
        };
        let view = Arc::new(apis.view(&group.terms, &snapshot, &before.unwrap_or_default()));
        views.now.insert(share, Arc::clone(&view));
        Some(view)
    }
}
