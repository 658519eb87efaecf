//! The instances of a run, with what it needs to judge them.

use std::collections::BTreeSet;

use abide_instance::runtime::DiskReading;
use abide_instance::{Document, Instance};
use abide_schema::Tree;
use jiff::civil::Date;

use super::accepted::Accepted;
use super::runtime_overrides::{Overrides, bootstrap_of};

/// A file with instances, and its text.
#[derive(Clone, Copy, Debug)]
pub struct InstanceFile<'a> {
    /// What was read from it.
    pub instance: &'a Instance,
    /// Its bytes.
    pub text: &'a [u8],
    /// What is on disk for the layers of runtime that its bootstrap declares there, in their order.
    pub disk: &'a [DiskReading],
    /// True if there is to be a report on it. Others only say what its names mean.
    pub is_judged: bool,
}

impl<'a> InstanceFile<'a> {
    /// A file without layers on disk.
    pub fn new(instance: &'a Instance, text: &'a [u8]) -> InstanceFile<'a> {
        InstanceFile { instance, text, disk: &[], is_judged: true }
    }
}

/// A release of the API, by a name that its users know.
#[derive(Clone, Copy, Debug)]
pub struct ApiRelease<'a> {
    /// The name.
    pub name: &'a str,
    /// What it declares.
    pub tree: &'a Tree,
}

/// The inputs of a run over instances besides the tree, the policy and the files.
#[derive(Clone, Copy, Debug)]
pub struct InstanceOptions<'a> {
    /// The day of the check: it decides about the phases of deprecations.
    pub as_of: Date,
    /// The layers of runtime above those that the instances hold.
    pub overrides: Option<&'a Overrides>,
    /// Other releases of the API, the newest first: they say what an unknown name was.
    pub releases: &'a [ApiRelease<'a>],
    /// The accepted findings.
    pub accepted: Option<&'a Accepted>,
    /// The guards of runtime that the program with the API knows; `None` if they are not known.
    pub guards: Option<&'a BTreeSet<String>>,
}

impl InstanceOptions<'_> {
    /// The inputs of a run on a day with nothing else.
    pub fn on(as_of: Date) -> Self {
        InstanceOptions { as_of, overrides: None, releases: &[], accepted: None, guards: None }
    }
}

/// The files of a run, with the runtime of each.
#[derive(Debug)]
pub struct InstanceSet<'a> {
    /// The files, in the order of their numbers.
    pub files: &'a [InstanceFile<'a>],
    /// The runtime of each file.
    pub(crate) overrides: Vec<Overrides>,
    /// The keys of RTDS resources in each file. They decide about nothing in the run: whose layers
    /// they are is not known.
    pub(crate) resources: Vec<Overrides>,
}

impl<'a> InstanceSet<'a> {
    /// Finds the layers of runtime that the files hold. Those of a bootstrap are for its own file,
    /// and if no other file holds one, for all of them.
    pub(crate) fn of(
        tree: &Tree,
        files: &'a [InstanceFile<'a>],
        options: InstanceOptions<'_>,
    ) -> InstanceSet<'a> {
        let above = options.overrides.cloned().unwrap_or_default();
        let own: Vec<Option<Overrides>> = (0..)
            .zip(files)
            .map(|(number, file)| {
                let bootstraps = file.instance.documents.iter();
                let mut bootstraps = bootstraps.filter_map(|it| bootstrap_of(tree, it));
                let bootstrap = bootstraps.next()?;
                Some(Overrides::of_bootstrap(tree, bootstrap, number, file.disk))
            })
            .collect();
        let mut bootstraps = own.iter().flatten();
        let only = match (bootstraps.next(), bootstraps.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        };
        let overrides = own.iter().map(|own| {
            let own = own.as_ref().or(only.as_ref());
            own.map_or_else(|| above.clone(), |own| own.with(&above))
        });
        let overrides = overrides.collect();
        let resources = (0..).zip(files);
        let resources =
            resources.map(|(number, file)| Overrides::of_resources(tree, file.instance, number));
        InstanceSet { files, overrides, resources: resources.collect() }
    }

    /// Every document, with the number of its file.
    pub fn documents(&self) -> impl Iterator<Item = (u32, &'a Document)> {
        let files = (0..).zip(self.files);
        files.flat_map(|(number, file)| {
            file.instance.documents.iter().map(move |document| (number, document))
        })
    }
}
