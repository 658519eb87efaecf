//! Which versions clients get.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};
use abide_xds::{
    ClientCapabilities, ClientProfile, Minor, Release, Releases, Types, VersionedTypeUrl,
};

const CDS: [&str; 2] = [
    "type.googleapis.com/envoy.api.v2.Cluster",
    "type.googleapis.com/envoy.config.cluster.v3.Cluster",
];
const LDS: [&str; 2] = [
    "type.googleapis.com/envoy.api.v2.Listener",
    "type.googleapis.com/envoy.config.listener.v3.Listener",
];
const SERVED: &[&str] = &[
    "envoy.api.v2.Cluster",
    "envoy.api.v2.Listener",
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.listener.v3.Listener",
];

/// A tree that declares these messages.
fn tree(messages: &[&str]) -> Tree {
    let files = messages.iter().map(|name| {
        let (package, message) = name.rsplit_once('.').expect("a package");
        let text = format!(
            "syntax = \"proto3\";\npackage {package};\nmessage {message} {{ string name = 1; }}\n"
        );
        let path: Arc<str> = format!("{name}.proto").into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    });
    Tree::link(files.collect())
}

fn release<'t>(tree: &'t Tree, versions: &[(&str, u64, u64)]) -> Release<'t> {
    let minor =
        |&(name, major, minor): &(&str, u64, u64)| (name.to_owned(), Minor { major, minor });
    Release::new(tree, versions.iter().map(minor).collect::<BTreeMap<_, _>>())
}

fn releases<'t>(newest: Release<'t>, older: Vec<Release<'t>>) -> Releases<'t> {
    Releases::new(newest, older, BTreeSet::new())
}

fn listed(type_url: &str, supported: Option<(u64, u64)>) -> VersionedTypeUrl {
    let most_recently_supported = supported.map(|(major, minor)| Minor { major, minor });
    VersionedTypeUrl { type_url: type_url.to_owned(), most_recently_supported }
}

fn terms(releases: &Releases<'_>, asked: &str, versions: Vec<VersionedTypeUrl>) -> ClientProfile {
    let claims = ClientCapabilities {
        type_url: asked.to_owned(),
        versions,
        ..ClientCapabilities::default()
    };
    releases.resolve_profile(&claims).expect("not too much")
}

/// Every list of majors against every set of majors that is served.
#[test]
fn the_newest_common_major_is_chosen() {
    let mut cases = 0;
    for served in 1..4_usize {
        let has = |set: usize, at: usize| set & (1 << at) != 0;
        let names: Vec<&str> = [SERVED[0], SERVED[2]]
            .into_iter()
            .enumerate()
            .filter(|it| has(served, it.0))
            .map(|it| it.1)
            .collect();
        let tree = tree(&names);
        let releases = releases(release(&tree, &[]), Vec::new());
        for known in 1..4_usize {
            for asked in CDS {
                let versions = CDS.iter().enumerate().filter(|it| has(known, it.0));
                let versions = versions.map(|(_, url)| listed(url, None)).collect();
                let answer = terms(&releases, asked, versions).type_url(&Types::default(), asked);
                match (0..2).rev().find(|&at| has(served, at) && has(known, at)) {
                    Some(at) => assert_eq!(answer.as_deref(), Ok(CDS[at]), "{served} {known}"),
                    None => assert!(answer.is_err(), "{served} {known}: nothing in common"),
                }
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 18);
}

/// Without a list, each type is served in the major that it is asked for: one stream may have both.
#[test]
fn one_stream_serves_types_of_different_majors() {
    let tree = tree(SERVED);
    let releases = releases(release(&tree, &[]), Vec::new());
    let older = terms(&releases, CDS[0], Vec::new());
    assert_eq!(older.type_url(&Types::default(), CDS[0]).as_deref(), Ok(CDS[0]));
    assert!(!older.is_whole(&releases));
    assert_eq!(older.asking(&Types::default(), LDS[0]), None, "it is as before");
    let both = older.asking(&Types::default(), LDS[1]).expect("another major");
    assert_eq!(both.type_url(&Types::default(), LDS[1]).as_deref(), Ok(LDS[1]));
    assert_eq!(both.type_url(&Types::default(), CDS[0]).as_deref(), Ok(CDS[0]));
    let newest = terms(&releases, CDS[1], Vec::new());
    assert!(newest.is_whole(&releases));
    // A list decides for its types alone.
    let listed = terms(&releases, CDS[0], vec![listed(CDS[0], None), listed(CDS[1], None)]);
    assert_eq!(listed.type_url(&Types::default(), CDS[0]).as_deref(), Ok(CDS[1]));
    assert_eq!(listed.type_url(&Types::default(), LDS[0]).as_deref(), Ok(LDS[0]));
}

/// The minor that a client supports chooses the release whose fields it gets, type by type.
#[test]
fn the_minor_of_a_client_limits_the_fields_it_gets() {
    let (tree, package) = (tree(SERVED), "envoy.config.cluster.v3");
    let of = |minor| release(&tree, &[(package, 3, minor)]);
    // The order of the older ones says nothing; 3.2 is missing.
    let releases = releases(of(4), vec![of(1), of(3)]);
    for (supported, expected) in
        [((3, 9), 0), ((3, 4), 0), ((3, 3), 2), ((3, 2), 1), ((3, 1), 1), ((3, 0), 1), ((4, 0), 0)]
    {
        let terms = terms(&releases, CDS[1], vec![listed(CDS[1], Some(supported))]);
        assert_eq!(terms.release_of(&Types::default(), CDS[1]), expected, "{supported:?}");
        assert_eq!(
            terms.release_of(&Types::default(), LDS[1]),
            0,
            "it said nothing about listeners"
        );
    }
    // No minor: everything of the major.
    assert_eq!(
        terms(&releases, CDS[1], vec![listed(CDS[1], None)]).release_of(&Types::default(), CDS[1]),
        0
    );
}

/// The release that has the extensions of the client, whatever its program is called.
#[test]
fn the_extensions_of_a_client_choose_its_release() {
    let old = ["envoy.extensions.a.v3.A", "envoy.config.cluster.v3.Cluster"];
    let (old, new) = (tree(&old), tree(&[&old[..], &["envoy.extensions.b.v3.B"]].concat()));
    let newest = tree(&["envoy.extensions.a.v3.A", "envoy.extensions.b.v3.B", "x.v1.More"]);
    let releases = releases(release(&newest, &[]), vec![release(&new, &[]), release(&old, &[])]);
    let of = |extensions: &[&str]| {
        let extensions = extensions.iter().map(|&it| it.to_owned()).collect();
        let claims = ClientCapabilities {
            extensions,
            operator_release: Some(1),
            ..ClientCapabilities::default()
        };
        releases
            .resolve_profile(&claims)
            .expect("not too much")
            .release_of(&Types::default(), CDS[1])
    };
    assert_eq!(of(&["envoy.extensions.a.v3.A", "com.example.Own"]), 2);
    assert_eq!(of(&["envoy.extensions.a.v3.A", "envoy.extensions.b.v3.B"]), 0, "the smallest");
    assert_eq!(of(&["type.googleapis.com/envoy.config.cluster.v3.Cluster"]), 2);
    assert_eq!(of(&[]), 1, "who says nothing is what the operator says");
}

#[test]
fn what_a_client_lists_has_an_end() {
    let tree = tree(SERVED);
    let releases = releases(release(&tree, &[]), Vec::new());
    let versions = (0..257).map(|it| listed(&format!("t/{it}"), None)).collect();
    let claims = ClientCapabilities { versions, ..ClientCapabilities::default() };
    assert!(releases.resolve_profile(&claims).is_err());
    // What is not served takes no room.
    let unknown =
        terms(&releases, CDS[1], (0..256).map(|it| listed(&format!("t/{it}"), None)).collect());
    assert_eq!(unknown, ClientProfile::default());
}

/// An operator's word about a release that does not exist is none.
#[test]
fn a_release_that_does_not_exist() {
    let tree = tree(SERVED);
    let releases = releases(release(&tree, &[]), Vec::new());
    let claims = ClientCapabilities { operator_release: Some(7), ..ClientCapabilities::default() };
    assert!(releases.resolve_profile(&claims).expect("not too much").is_whole(&releases));
}
