//! The runtime layers of a bootstrap, from the command line and from disk.

use std::path::Path;
use std::process::Command;

use abide_instance::runtime::{DeclaredLayers, DiskReading, Runtime, get_known_bootstrap};
use abide_instance::{Instance, Notation, ReadOptions};
use abide_source::runtime_disk::read_layers;
use serde_json::{Value, json};

use crate::run::{Ran, abide, abide_with, put};

/// The four layers of the example in Envoy's description of the layered runtime, on a disk below
/// the current folder.
const FOUR: &str = "
node: {cluster: my-cluster}
layered_runtime:
  layers:
  - name: static_layer_0
    static_layer:
      health_check: {min_interval: 5}
  - name: disk_layer_0
    disk_layer: {symlink_root: ./current, subdirectory: envoy}
  - name: disk_layer_1
    disk_layer: {symlink_root: ./current, subdirectory: envoy_override, append_service_cluster: true}
  - name: admin_layer_0
    admin_layer: {}
";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), files);
    folder
}

fn link(folder: &Path, target: &str, name: &str) {
    std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
}

fn show(folder: &Path, args: &[&str]) -> Ran {
    abide(folder, &[&["runtime", "show", "envoy.yaml"], args].concat())
}

/// The final value of a key.
fn value(ran: &Ran, key: &str) -> Value {
    let lines = ran.json();
    let line = lines.iter().find(|line| line["key"] == key);
    line.map_or(Value::Null, |line| line["final"].clone())
}

/// A folder with the four layers: 5, 7 and 9 for one key.
fn four() -> tempfile::TempDir {
    let folder = folder(&[
        ("envoy.yaml", FOUR),
        ("v1/envoy/health_check/min_interval", " 7 \n"),
        ("v1/envoy_override/my-cluster/health_check/min_interval", "9\n"),
    ]);
    link(folder.path(), "v1", "current");
    folder
}

#[test]
fn the_four_example_layers_resolve_as_described() {
    let folder = four();
    let ran = show(folder.path(), &[]);
    let expected = "health_check.min_interval = 9  (disk_layer_1)
  overrides 7  (disk_layer_0)
  overrides 5  (static_layer_0)

1 key in 4 layers: static_layer_0, disk_layer_0, disk_layer_1, admin_layer_0
";
    assert_eq!((ran.status, &*ran.text(), &*ran.stderr), (0, expected, ""));
}

#[test]
fn a_cluster_without_override_folder_uses_the_primary_path() {
    let folder = four();
    let args = ["--service-cluster", "other", "--format", "json"];
    let ran = show(folder.path(), &args);
    assert_eq!((ran.status, value(&ran, "health_check.min_interval")), (0, json!(7)));
    let lines = ran.json();
    let summary = lines.last().unwrap();
    assert_eq!(summary["service_cluster"], "other");
    assert_eq!(summary["num_layers"], 3);
    assert_eq!(summary["left_out"][0]["name"], "disk_layer_1");
    assert!(
        ran.stderr.contains("there is no folder `./current/envoy_override/other`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn one_key_is_shown_alone() {
    let folder = four();
    let ran = show(folder.path(), &["--key", "health_check.min_interval", "--format", "json"]);
    let expected = json!({
        "kind": "key",
        "key": "health_check.min_interval",
        "layers": [
            {"name": "static_layer_0", "value": 5},
            {"name": "disk_layer_0", "value": 7},
            {"name": "disk_layer_1", "value": 9},
        ],
        "final": 9,
        "type": "integer",
    });
    assert_eq!(ran.json()[0], expected);
    let ran = show(folder.path(), &["--key", "health_check.min_intervall"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("did you mean `health_check.min_interval`?"), "{}", ran.stderr);
}

#[test]
fn what_is_wrong_with_layers_is_shown_with_its_place() {
    let text = "\
layered_runtime:
  layers:
  - name: a
    static_layer: {k: null, quoted: 'true'}
  - name: a
    admin_layer: {}
  - name: r
    rtds_layer: {name: mine, rtds_config: {ads: {}}}
  - name: d
    disk_layer: {symlink_root: ./current, subdir: x}
admin: {what: else}
";
    let folder = folder(&[("envoy.yaml", text)]);
    let ran = show(folder.path(), &[]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for expected in [
        "quoted = \"true\"  (a)\n",
        "error: envoy.yaml:4:20: the value of `k` is null or a list",
        "warning: envoy.yaml:4:29: the boolean of `quoted` is in quotes",
        "error: envoy.yaml:5:11: two layers are named `a`",
        "error: envoy.yaml:10:43: `subdir` is not a field of `DiskLayer`",
    ] {
        assert!(ran.text().contains(expected), "{expected}\n{}", ran.text());
    }
    assert_eq!(ran.text().matches("error: ").count(), 3, "{}", ran.text());
    let quiet = show(folder.path(), &["-q"]);
    assert!(!quiet.text().contains("warning"), "{}", quiet.text());
}

#[test]
fn what_is_wrong_on_disk_fails_its_layer_only() {
    let text = "layered_runtime: {layers: [{name: s, static_layer: {k: 1}}, \
                {name: d, disk_layer: {symlink_root: ./current, subdirectory: sub}}]}\n";
    let folder = folder(&[("envoy.yaml", text), ("v1/sub/k", "2"), ("v1/sub/inner/bad", "{x")]);
    link(folder.path(), "v1", "current");
    let ran = show(folder.path(), &["--format", "json"]);
    assert_eq!((ran.status, value(&ran, "k")), (1, json!(1)));
    let ran = show(folder.path(), &[]);
    let expected = "error: the layer `d` is left out: in `./current/sub`, `inner/bad` is not YAML";
    assert!(ran.text().contains(expected), "{}", ran.text());

    put(folder.path(), &[("v1/sub/inner/bad", "3"), ("v1/sub/inner/numerator", "4")]);
    let ran = show(folder.path(), &["--format", "json"]);
    assert_eq!((ran.status, value(&ran, "inner.numerator")), (1, json!(4)));
    assert!(ran.text().contains("the layer `d` has `inner/numerator`"), "{}", ran.text());
}

#[test]
fn folders_that_never_end_fail_their_layer() {
    let text = "layered_runtime: {layers: [{name: d, disk_layer: {symlink_root: ./v1}}]}\n";
    let folder = folder(&[("envoy.yaml", text), ("v1/k", "2")]);
    link(folder.path(), "..", "v1/up");
    let ran = show(folder.path(), &[]);
    assert_eq!(ran.status, 1);
    assert!(ran.text().contains("more than 16 folders deep"), "{}", ran.text());
}

#[test]
fn a_bootstrap_comes_in_every_notation_and_from_standard_input() {
    let folder = folder(&[
        ("a.json", r#"{"layered_runtime": {"layers": [{"name": "a", "static_layer": {"k": 1}}]}}"#),
        (
            "a.txtpb",
            "layered_runtime { layers { name: 'a' static_layer { fields { key: 'k' value { \
             number_value: 1 } } } } }",
        ),
        ("empty.yaml", "# nothing\n"),
        ("bad.yaml", "a: [\n"),
    ]);
    for name in ["a.json", "a.txtpb"] {
        let ran = abide(folder.path(), &["runtime", "show", name, "--format", "json"]);
        assert_eq!((ran.status, value(&ran, "k")), (0, json!(1)), "{name} {}", ran.stderr);
    }
    let input = b"layered_runtime: {layers: [{name: a, static_layer: {k: 1}}]}";
    let ran = abide_with(folder.path(), &["runtime", "show", "-", "--format", "json"], input);
    assert_eq!((ran.status, value(&ran, "k")), (0, json!(1)));
    for (name, expected) in [
        ("empty.yaml", "is empty"),
        ("bad.yaml", "bad.yaml:"),
        ("none.yaml", "cannot read `none.yaml`"),
    ] {
        let ran = abide(folder.path(), &["runtime", "show", name]);
        assert_eq!(ran.status, 2, "{name}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn an_api_says_what_a_bootstrap_is() {
    let proto = "syntax = \"proto3\"; package acme.v1; import \"google/protobuf/struct.proto\";
        message Boot { Layers layered_runtime = 1; }
        message Layers { repeated Layer layers = 1; }
        message Layer { string name = 1; google.protobuf.Struct static_layer = 2; }
        message Other { string name = 1; }";
    let text = "# proto-message: acme.v1.Boot\n\
                layered_runtime: {layers: [{name: a, static_layer: {k: 1}}]}\n";
    let other = "# proto-message: acme.v1.Other\nname: a\n";
    let folder =
        folder(&[("api/acme/v1/boot.proto", proto), ("envoy.yaml", text), ("other.yaml", other)]);
    let ran = show(folder.path(), &["--api", "api", "--format", "json"]);
    assert_eq!((ran.status, value(&ran, "k")), (0, json!(1)), "{}", ran.stderr);
    let ran = abide(folder.path(), &["runtime", "show", "other.yaml", "--api", "api"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`acme.v1.Other` is not a bootstrap"), "{}", ran.stderr);
}

/// What a shell does in a folder.
fn shell(folder: &Path, script: &str) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

fn layers(folder: &Path) -> DeclaredLayers {
    let (tree, bootstrap) = get_known_bootstrap();
    let options = ReadOptions { notation: Notation::Yaml, ty: Some(bootstrap), dialect: None };
    let text = std::fs::read(folder.join("envoy.yaml")).unwrap();
    let instance = Instance::read(&tree, &text, options);
    DeclaredLayers::from_bootstrap(&tree, instance.documents[0].message().unwrap())
}

/// How often a runtime was read, and the value of a key that is on disk.
fn loads(runtime: &Runtime, key: &str) -> (u64, Option<u64>) {
    (runtime.statistics().load_success, runtime.snapshot().get_integer(key))
}

#[test]
fn a_moved_link_reads_all_layers_of_its_root_once() {
    let folder = four();
    let (top, key) = (folder.path(), "health_check.min_interval");
    let layers = layers(top);
    let mut runtime = Runtime::new(layers.clone(), read_layers(&layers, top));
    assert_eq!(loads(&runtime, key), (1, Some(9)));
    for round in 2..5 {
        let value = format!("v{round}/envoy_override/my-cluster/health_check/min_interval");
        put(top, &[(&*value, &*format!("{round}0\n"))]);
        put(top, &[(&*format!("v{round}/envoy/health_check/min_interval"), "7\n")]);
        shell(top, &format!("ln -s v{round} new && mv -Tf new current"));
        runtime.update_disk(read_layers(&layers, top));
        assert_eq!(loads(&runtime, key), (round, Some(round * 10)), "two layers, one load");
    }
}

#[test]
fn a_tree_swapped_during_reading_is_never_mixed() {
    const FILES: usize = 40;
    const SWAPS: usize = 30;
    let folder = folder(&[("envoy.yaml", FOUR)]);
    let top = folder.path();
    for at in 0..FILES {
        put(top, &[(&format!("v0/envoy/a/key{at}"), "0")]);
        put(top, &[(&format!("v0/envoy_override/my-cluster/b/key{at}"), "0")]);
    }
    link(top, "v0", "current");
    let layers = layers(top);
    let mut seen = std::collections::BTreeSet::new();
    // Nothing lies in this channel: whoever sends waits for whoever receives.
    let (begin, begun) = std::sync::mpsc::sync_channel(0);
    std::thread::scope(|scope| {
        let swapping = scope.spawn(move || {
            for at in 1..=SWAPS {
                // The documented way to deploy: a whole copy, an edit, and one move of the link. The
                // old tree goes, as those who deploy would have it.
                let value = at.to_string();
                for key in 0..FILES {
                    put(top, &[(&format!("v{at}/envoy/a/key{key}"), &value)]);
                    put(top, &[(&format!("v{at}/envoy_override/my-cluster/b/key{key}"), &value)]);
                }
                link(top, &format!("v{at}"), "new");
                begun.recv().expect("it is read");
                std::fs::rename(top.join("new"), top.join("current")).unwrap();
                std::fs::remove_dir_all(top.join(format!("v{}", at - 1))).unwrap();
            }
        });
        // A reading beside each swap.
        for at in 1..=SWAPS {
            begin.send(()).expect("it is swapped");
            let readings = read_layers(&layers, top);
            for reading in &readings {
                let DiskReading::Files(files) = reading else { panic!("{reading:?}") };
                assert_eq!(files.len(), FILES);
            }
            let runtime = Runtime::new(layers.clone(), readings);
            let snapshot = runtime.snapshot();
            let values: Vec<u64> =
                snapshot.keys().filter_map(|key| snapshot.get_integer(key)).collect();
            // One is the static layer's.
            assert_eq!(values.len(), 2 * FILES + 1);
            let on_disk = snapshot.layers()[1..3].iter().flat_map(|it| it.values.values());
            let versions: std::collections::BTreeSet<u64> =
                on_disk.filter_map(|it| it.as_integer()).collect();
            assert_eq!(versions.len(), 1, "values of several trees: {versions:?}");
            assert!(versions.iter().all(|it| [at - 1, at].contains(&(*it as usize))));
            seen.extend(versions);
        }
        swapping.join().unwrap();
        // The program that people run sees the last tree.
        let ran = show(top, &["--key", "a.key0", "--format", "json"]);
        assert_eq!(value(&ran, "a.key0"), json!(SWAPS));
    });
    assert!(seen.len() >= SWAPS / 2, "{seen:?}");
}
