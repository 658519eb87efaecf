//! What is served, as older clients can hold it.

use std::sync::Arc;

use abide_instance::{Instance, Notation, ReadOptions};
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_xds::{Kind, Snapshot, Understanding, View, find, gather};

const API: &str = r#"
syntax = "proto3";
package envoy.config.cluster.v3;
message Cluster {
  enum DiscoveryType { STATIC = 0; EDS = 3; NEWER = 9; }
  string name = 1;
  DiscoveryType type = 2;
  string note = 3; // newer
  oneof policy {
    string plain = 4;
    string fancy = 5; // newer
  }
}
"#;

const ROUTES: &str = r#"
syntax = "proto3";
package envoy.config.route.v3;
message RouteConfiguration { string name = 1; RouteAction action = 2; }
message RouteAction { string cluster = 1; }
"#;

const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const RDS: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";

fn tree(files: &[(&str, &str)]) -> Tree {
    let files = files.iter().map(|(path, text)| {
        let file = SourceFile {
            path: (*path).into(),
            display: (*path).into(),
            root: 0,
            imported: false,
            text: text.as_bytes().into(),
        };
        Arc::new(FileDecl::parse(file))
    });
    Tree::link(files.collect())
}

fn newest() -> Tree {
    tree(&[("cluster.proto", API), ("route.proto", ROUTES)])
}

/// The same API before it had what is newer.
fn older() -> Tree {
    let old: Vec<&str> = API.lines().filter(|line| !line.contains("newer")).collect();
    let old = old.join("\n").replace(" NEWER = 9;", "");
    tree(&[("cluster.proto", &old), ("route.proto", ROUTES)])
}

fn snapshot(tree: &Tree, text: &str) -> Snapshot {
    let options = ReadOptions { notation: Notation::Yaml, ty: None, dialect: None };
    let instance = Instance::read(tree, text.as_bytes(), options);
    let gathered = gather([(0, &find(tree, &instance))]);
    assert_eq!(gathered.misfits, []);
    gathered.snapshot
}

fn view(text: &str, before: &View) -> View {
    let (newest, older) = (newest(), older());
    let understanding = Understanding { newest: &newest, theirs: Some(&older), down: None };
    View::of(&snapshot(&newest, text), understanding, before)
}

fn cluster(rest: &str) -> String {
    format!("---\n\"@type\": {CDS}\n{rest}\n")
}

fn body(view: &View, url: &str, name: &str) -> Option<Vec<u8>> {
    Some(view.snapshot.collection(url)?.get(name)?.body.to_vec())
}

#[test]
fn a_field_that_they_do_not_know_is_dropped() {
    let view = view(&cluster("name: a\nnote: hello"), &View::default());
    assert_eq!(body(&view, CDS, "a").as_deref(), Some(&b"\n\x01a"[..]));
    let loss = &view.losses[&(CDS.into(), "a".into())];
    assert_eq!(loss.dropped, ["envoy.config.cluster.v3.Cluster.note"]);
    assert_eq!(loss.held_back, None);
}

#[test]
fn what_cannot_be_dropped_keeps_the_resource_back() {
    for newer in ["type: NEWER", "fancy: x"] {
        let first = view(&cluster("name: a\nplain: x"), &View::default());
        let second = view(&cluster(&format!("name: a\n{newer}")), &first);
        assert_eq!(body(&second, CDS, "a"), body(&first, CDS, "a"), "{newer}: as it was");
        let loss = &second.losses[&(CDS.into(), "a".into())];
        assert!(loss.held_back.as_ref().is_some_and(|it| it.contains("do not know")), "{newer}");
        // Who never had it has nothing of it.
        let alone = view(&cluster(&format!("name: a\n{newer}")), &View::default());
        assert_eq!(body(&alone, CDS, "a"), None);
    }
}

#[test]
fn routes_to_a_cluster_that_they_do_not_have_are_held_back_as_well() {
    let routes = |to: &str| format!("---\n\"@type\": {RDS}\nname: r\naction: {{cluster: {to}}}\n");
    let first = view(&(cluster("name: a") + &routes("a")), &View::default());
    let text = cluster("name: a") + &cluster("name: b\ntype: NEWER") + &routes("b");
    let second = view(&text, &first);
    assert_eq!(body(&second, RDS, "r"), body(&first, RDS, "r"), "to `a`, as it was");
    let loss = &second.losses[&(RDS.into(), "r".into())];
    assert_eq!(loss.held_back.as_deref(), Some("it refers to `b`, which is held back"));
    assert!(second.snapshot.dangling(&Default::default()).is_empty());
    // Mended, everything goes on.
    let third = view(&(cluster("name: a") + &cluster("name: b") + &routes("b")), &second);
    assert!(third.losses.is_empty());
    assert_ne!(body(&third, RDS, "r"), body(&first, RDS, "r"));
}

#[test]
fn what_they_got_is_found_in_what_is_served() {
    let text = |rest: &str| cluster(&format!("name: a\n{rest}"));
    let of = |view: &View| view.snapshot.collection(CDS).unwrap().get("a").unwrap().version.clone();
    let first = view(&text("note: x"), &View::default());
    let served = snapshot(&newest(), &text("note: x"));
    let own = served.collection(CDS).unwrap().get("a").unwrap().version.clone();
    assert_ne!(of(&first), own, "they got less, so it is another version");
    let original = first.original(CDS, "a", &of(&first)).expect("it is served");
    assert_eq!((&*original.type_url, &*original.name, &original.version), (CDS, "a", &own));
    assert_eq!(first.original(CDS, "a", &own), None, "they never got that");
    assert_eq!(first.original(CDS, "b", &own), None);
    assert_eq!(first.original(RDS, "a", &own), None);
    let whole = View::whole(Arc::new(served));
    assert_eq!(whole.original(CDS, "a", &own), Some(original));
    // What is held back is not what is served.
    let second = view(&text("type: NEWER"), &first);
    assert_eq!(second.original(CDS, "a", &of(&second)), None);
}

#[test]
fn the_version_is_that_of_the_meaning() {
    let newest = newest();
    let of = |text: &str| {
        let snapshot = snapshot(&newest, text);
        snapshot.collection(CDS).expect("there are some").version().clone()
    };
    let plain = of(&cluster("name: a\nnote: x"));
    assert_eq!(plain, of(&cluster("# a comment\nnote: \"x\"\nname: a\ntype: STATIC")));
    assert_ne!(plain, of(&cluster("name: a\nnote: y")));
    assert_eq!(Kind::of(CDS), Kind::Cluster);
}
