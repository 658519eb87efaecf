//! What is served, as older clients can hold it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use abide_instance::{
    Instance, MigrationFile, Notation, ReadOptions, VersionConverter, VersionMapping,
};
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_xds::{
    Action, ClientCapabilities, Event, Kind, Loss, Names, Options, Release, Releases, Request,
    Session, Snapshot, SupportedFields, Types, View, build_snapshot, find,
};

const API: &str = r#"
syntax = "proto3";
package envoy.config.cluster.v3;
import "google/protobuf/any.proto";
message Cluster {
  enum DiscoveryType { STATIC = 0; EDS = 3; NEWER = 9; }
  string name = 1;
  DiscoveryType type = 2;
  string note = 3; // newer
  repeated Filter filters = 6;
  oneof policy {
    string plain = 4;
    string fancy = 5; // newer
  }
}
message Filter {
  google.protobuf.Any config = 1;
  bool is_optional = 2;
}
"#;

const EXTENSIONS: &str = r#"
syntax = "proto3";
package envoy.extensions.cors.v3;
message Cors { string origin = 1; }
"#;

const OLDER_EXTENSIONS: &str = r#"
syntax = "proto3";
package envoy.extensions.cors.v2;
message Cors { string origin = 1; }
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
    tree(&[
        ("cluster.proto", API),
        ("route.proto", ROUTES),
        ("cors.proto", EXTENSIONS),
        ("cors_v2.proto", OLDER_EXTENSIONS),
    ])
}

/// The same API before it had what is newer.
fn older() -> Tree {
    let old: Vec<&str> = API.lines().filter(|line| !line.contains("newer")).collect();
    let old = old.join("\n").replace(" NEWER = 9;", "");
    tree(&[
        ("cluster.proto", &old),
        ("route.proto", ROUTES),
        ("cors.proto", EXTENSIONS),
        ("cors_v2.proto", OLDER_EXTENSIONS),
    ])
}

fn snapshot(tree: &Tree, text: &str) -> Snapshot {
    let options = ReadOptions { notation: Notation::Yaml, ty: None, dialect: None };
    let instance = Instance::read(tree, text.as_bytes(), options);
    let gathered = build_snapshot([(0, &find(&Types::default(), tree, &instance))]);
    assert_eq!(gathered.misfits, []);
    gathered.snapshot
}

/// What clients of the older release are served.
fn view(text: &str, before: &View) -> View {
    view_for(
        &ClientCapabilities { operator_release: Some(1), ..ClientCapabilities::default() },
        "",
        text,
        before,
    )
}

/// What a client is served that says this about itself, with these steps.
fn view_for(claims: &ClientCapabilities, steps: &str, text: &str, before: &View) -> View {
    let (newest, older) = (newest(), older());
    let steps = MigrationFile::read(steps.as_bytes(), Notation::Yaml).expect("steps");
    let translator = VersionConverter::new(&newest, VersionMapping::default(), &steps);
    let translator = translator.expect("they fit");
    let features = translator.iter_features().map(str::to_owned).collect();
    let release = |tree| Release::new(tree, BTreeMap::new());
    let releases = Releases::new(release(&newest), vec![release(&older)], features);
    let terms = releases.resolve_profile(claims).expect("not too much");
    let understanding =
        SupportedFields { releases: &releases, terms: &terms, translator: &translator };
    View::of(&snapshot(&newest, text), understanding, before)
}

fn strings(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|&it| it.to_owned()).collect()
}

fn loss<'v>(view: &'v View, url: &str, name: &str) -> Option<&'v Loss> {
    view.losses.get(&(url.into(), name.into()))
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

/// A server that begins anew has nothing that it could give them instead: what they hold stays.
#[test]
fn what_they_cannot_be_given_is_not_taken_from_them() {
    let routes = format!("---\n\"@type\": {RDS}\nname: r\naction: {{cluster: b}}\n");
    let text = cluster("name: a") + &cluster("name: b\ntype: NEWER") + &routes;
    let alone = view(&text, &View::default());
    let held = |names: &[&str]| {
        let held = names.iter().map(|it| ((*it).to_owned(), "old".to_owned())).collect();
        Names::Delta { subscribe: vec!["*".to_owned()], unsubscribe: Vec::new(), held }
    };
    let mut session = Session::new(Options::default());
    let mut actions = session.step(Duration::ZERO, Event::Snapshot(Arc::clone(&alone.snapshot)));
    for (url, names) in [(CDS, &["b", "gone"][..]), (RDS, &["r", "gone"])] {
        let names = held(names);
        let request = Request { type_url: url.to_owned(), names, ..Request::default() };
        actions.extend(session.step(Duration::ZERO, Event::Request(request)));
    }
    let removed = actions.iter().filter_map(Action::response).flat_map(|it| &*it.removed);
    let removed: Vec<&str> = removed.map(|it| &**it).collect();
    assert_eq!(removed, ["gone", "gone"]);
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
    assert!(second.snapshot.dangling(&Types::default(), &Default::default()).is_empty());
    // Mended, everything goes on.
    let third = view(&(cluster("name: a") + &cluster("name: b") + &routes("b")), &second);
    assert!(third.losses.is_empty());
    assert_ne!(body(&third, RDS, "r"), body(&first, RDS, "r"));
}

const STEPS: &str = "
steps:
- message: envoy.config.cluster.v3.Cluster
  direction: DIRECTION_DOWN
  moves: [{from: plain, to: fancy}]
";

#[test]
fn what_has_an_older_form_gets_it_before_anything_is_dropped() {
    let text = cluster("name: a\nfancy: x\nnote: hello");
    let older = ClientCapabilities { operator_release: Some(1), ..ClientCapabilities::default() };
    let view = view_for(&older, STEPS, &text, &View::default());
    assert_eq!(body(&view, CDS, "a").as_deref(), Some(&b"\n\x01a\"\x01x"[..]), "plain: x");
    let loss = loss(&view, CDS, "a").expect("it is told");
    let downgraded: Vec<_> =
        loss.downgraded.iter().map(|it| (&*it.field, &*it.replaced_by)).collect();
    assert_eq!(downgraded, [("fancy", "plain")]);
    assert_eq!(loss.dropped, ["envoy.config.cluster.v3.Cluster.note"]);
    // Who knows the newer form gets it.
    let newest = view_for(&ClientCapabilities::default(), STEPS, &text, &View::default());
    assert!(newest.losses.is_empty());
}

#[test]
fn a_loss_of_a_step_is_told() {
    let lossy = format!("{STEPS}  lossy: it is no longer fancy\n");
    let older = ClientCapabilities { operator_release: Some(1), ..ClientCapabilities::default() };
    let view = view_for(&older, &lossy, &cluster("name: a\nfancy: x"), &View::default());
    let loss = loss(&view, CDS, "a").expect("it is told");
    assert_eq!(loss.dropped, ["envoy.config.cluster.v3.Cluster.fancy"]);
}

#[test]
fn a_feature_gates_a_step() {
    let gated = format!("{STEPS}  feature: com.example.fancy\n");
    let text = cluster("name: a\nfancy: x");
    let plain = &b"\n\x01a\"\x01x"[..];
    let without = view_for(&ClientCapabilities::default(), &gated, &text, &View::default());
    assert_eq!(body(&without, CDS, "a").as_deref(), Some(plain), "of the newest release as well");
    let features = strings(&["com.example.fancy", "com.example.other"]);
    let with = ClientCapabilities { features, ..ClientCapabilities::default() };
    let with = view_for(&with, &gated, &text, &View::default());
    assert!(with.losses.is_empty());
    assert_ne!(body(&with, CDS, "a").as_deref(), Some(plain));
}

/// A cluster with a filter that needs an extension.
fn filtered(rest: &str) -> String {
    let any = "{\"@type\": type.googleapis.com/envoy.extensions.cors.v3.Cors, origin: o}";
    cluster(&format!("name: a\nfilters: [{{config: {any}{rest}}}]"))
}

#[test]
fn an_extension_that_they_lack_is_left_out_if_it_is_optional() {
    let lacks = ClientCapabilities {
        extensions: strings(&["envoy.config.cluster.v3.Cluster", "com.example.Own"]),
        ..ClientCapabilities::default()
    };
    let view = view_for(&lacks, "", &filtered(", is_optional: true"), &View::default());
    assert_eq!(body(&view, CDS, "a").as_deref(), Some(&b"\n\x01a"[..]), "without the filter");
    let dropped = loss(&view, CDS, "a").map(|it| it.dropped.clone());
    assert_eq!(dropped, Some(vec!["envoy.extensions.cors.v3.Cors".to_owned()]));

    let first = view_for(&lacks, "", &cluster("name: a"), &View::default());
    let second = view_for(&lacks, "", &filtered(""), &first);
    assert_eq!(body(&second, CDS, "a"), body(&first, CDS, "a"), "as it was");
    let held_back = loss(&second, CDS, "a").and_then(|it| it.held_back.clone());
    let reason = "these clients do not have the extension of `envoy.extensions.cors.v3.Cors`";
    assert_eq!(held_back.as_deref(), Some(reason));

    let has = ClientCapabilities {
        extensions: strings(&["envoy.extensions.cors.v3.Cors"]),
        ..ClientCapabilities::default()
    };
    let view = view_for(&has, "", &filtered(""), &View::default());
    assert!(loss(&view, CDS, "a").is_none_or(|it| it.held_back.is_none()));
}

#[test]
fn an_extension_is_served_in_the_newest_major_that_they_have() {
    let older = ClientCapabilities {
        extensions: strings(&["envoy.extensions.cors.v2.Cors"]),
        ..ClientCapabilities::default()
    };
    let view = view_for(&older, "", &filtered(""), &View::default());
    let body = body(&view, CDS, "a").expect("it is served");
    let body = String::from_utf8_lossy(&body);
    assert!(body.contains("type.googleapis.com/envoy.extensions.cors.v2.Cors"), "{body}");
    let both = ClientCapabilities {
        extensions: strings(&["envoy.extensions.cors.v2.Cors", "envoy.extensions.cors.v3.Cors"]),
        ..ClientCapabilities::default()
    };
    let view = view_for(&both, "", &filtered(""), &View::default());
    assert!(view.losses.is_empty());
}

/// What is new in a release is no reason for clients of the one before to refuse everything.
#[test]
fn kgateway_14384() {
    let text = cluster("name: a\nplain: x") + &cluster("name: b\nfancy: x\nnote: hello");
    let first = view(&cluster("name: a\nplain: x"), &View::default());
    let second = view(&text, &first);
    assert_eq!(body(&second, CDS, "a"), body(&first, CDS, "a"));
    assert_eq!(body(&second, CDS, "b"), None, "what they cannot hold is not sent");
    assert!(loss(&second, CDS, "b").is_some_and(|it| it.held_back.is_some()));
}

#[test]
fn what_they_got_is_found_in_what_is_served() {
    let text = |rest: &str| cluster(&format!("name: a\n{rest}"));
    let of = |view: &View| view.snapshot.collection(CDS).unwrap().get("a").unwrap().version.clone();
    let first = view(&text("note: x"), &View::default());
    let served = snapshot(&newest(), &text("note: x"));
    let own = served.collection(CDS).unwrap().get("a").unwrap().version.clone();
    assert_ne!(of(&first), own, "they got less, so it is another version");
    let original = first.original(&Types::default(), CDS, "a", &of(&first)).expect("it is served");
    assert_eq!((&*original.type_url, &*original.name, &original.version), (CDS, "a", &own));
    assert_eq!(first.original(&Types::default(), CDS, "a", &own), None, "they never got that");
    assert_eq!(first.original(&Types::default(), CDS, "b", &own), None);
    assert_eq!(first.original(&Types::default(), RDS, "a", &own), None);
    let whole = View::whole(Arc::new(served));
    assert_eq!(whole.original(&Types::default(), CDS, "a", &own), Some(original));
    // What is held back is not what is served.
    let second = view(&text("type: NEWER"), &first);
    assert_eq!(second.original(&Types::default(), CDS, "a", &of(&second)), None);
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
    assert_eq!(Types::default().kind(CDS), Kind::CLUSTER);
}
