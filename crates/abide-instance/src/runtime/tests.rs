//! Layers written as people write them, and what readers of keys get.

use super::*;
use crate::{Instance, Notation, ReadOptions};

fn layers(yaml: &str) -> DeclaredLayers {
    let (tree, bootstrap) = get_known_bootstrap();
    let options = ReadOptions { notation: Notation::Yaml, ty: Some(bootstrap), dialect: None };
    let instance = Instance::read(&tree, yaml.as_bytes(), options);
    assert_eq!(instance.errors, []);
    let message = instance.documents.first().and_then(|it| it.message());
    DeclaredLayers::from_bootstrap(&tree, message.expect("a bootstrap"))
}

/// The runtime of layers in flow style.
fn runtime(list: &str) -> Runtime {
    let layers = layers(&format!("layered_runtime: {{layers: [{list}]}}"));
    assert_eq!(layers.problems(), []);
    Runtime::new(layers, Vec::new())
}

/// The snapshot of one static layer.
fn fixed(values: &str) -> Arc<RuntimeSnapshot> {
    runtime(&format!("{{name: base, static_layer: {values}}}")).snapshot()
}

fn files(files: &[(&str, &str)]) -> DiskReading {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    DiskReading::Files(files.collect())
}

/// A resource of RTDS in YAML.
fn resource(yaml: &str) -> Result<RtdsResource, Vec<LayerProblem>> {
    let proto = "syntax = \"proto3\"; package t; import \"google/protobuf/struct.proto\"; \
                 message Runtime { string name = 1; google.protobuf.Struct layer = 2; }";
    let tree = bootstrap::link_proto("runtime.proto", proto);
    let ty = tree.message_named("t.Runtime").map(|it| it.id);
    let options = ReadOptions { notation: Notation::Yaml, ty, dialect: None };
    let instance = Instance::read(&tree, yaml.as_bytes(), options);
    let message = instance.documents.first().and_then(|it| it.message());
    RtdsResource::from_message(&tree, message.expect("a resource"))
}

/// The four layers of the example in Envoy's description of the layered runtime.
const FOUR: &str = "
node: {cluster: my-cluster}
layered_runtime:
  layers:
  - name: static_layer_0
    static_layer:
      health_check: {min_interval: 5}
  - name: disk_layer_0
    disk_layer: {symlink_root: /srv/runtime/current, subdirectory: envoy}
  - name: disk_layer_1
    disk_layer:
      symlink_root: /srv/runtime/current
      subdirectory: envoy_override
      append_service_cluster: true
  - name: admin_layer_0
    admin_layer: {}
";

fn four() -> Runtime {
    let readings = vec![
        files(&[("health_check/min_interval", " 7 \n"), ("only/disk", "1")]),
        files(&[("health_check/min_interval", "9")]),
    ];
    Runtime::new(layers(FOUR), readings)
}

#[test]
fn a_later_layer_overrides_an_earlier_one() {
    let mut runtime = four();
    let key = "health_check.min_interval";
    assert_eq!(runtime.snapshot().get_integer(key), Some(9));
    runtime.modify([(key, "42")]).expect("there is an admin layer");
    let snapshot = runtime.snapshot();
    let values: Vec<_> = snapshot.iter_by_layer(key).map(|it| it.map(|it| &*it.text)).collect();
    assert_eq!(values, [Some("5"), Some(" 7"), Some("9"), Some("42")]);
    assert_eq!(snapshot.get_integer(key), Some(42));
    assert_eq!(snapshot.get_integer("only.disk"), Some(1));
    let (layer, _) = snapshot.find_deciding_layer(key).expect("it is set");
    assert_eq!(&*layer.name, "admin_layer_0");
}

#[test]
fn layers_keep_the_order_of_the_bootstrap() {
    let names = |runtime: &Runtime| {
        let snapshot = runtime.snapshot();
        snapshot.layers().iter().map(|it| it.name.to_string()).collect::<Vec<_>>()
    };
    let one = "{name: a, static_layer: {k: 1}}, {name: b, static_layer: {k: 2}}";
    let other = "{name: b, static_layer: {k: 2}}, {name: a, static_layer: {k: 1}}";
    assert_eq!(names(&runtime(one)), ["a", "b"]);
    assert_eq!(names(&runtime(other)), ["b", "a"]);
    assert_eq!(runtime(one).snapshot().get_integer("k"), Some(2));
    assert_eq!(runtime(other).snapshot().get_integer("k"), Some(1));
}

#[test]
fn the_service_cluster_is_appended_to_the_layer_path() {
    let paths = |cluster: &str| {
        let layers = layers(&FOUR.replace("my-cluster", cluster));
        let paths = layers.layers().iter().filter_map(|it| match &it.source {
            LayerSource::Disk(disk) => Some(disk.folder.to_string()),
            _ => None,
        });
        paths.collect::<Vec<_>>()
    };
    assert_eq!(paths("my-cluster"), ["envoy", "envoy_override/my-cluster"]);
    assert_eq!(paths("''"), ["envoy", "envoy_override/"]);
}

#[test]
fn dots_in_keys_are_nested_structs() {
    for values in ["{a: {b: {c: 1}}}", "{a.b.c: 1}", "{a: {b.c: 1}}", "{a.b: {c: 1}}"] {
        let snapshot = fixed(values);
        assert_eq!(snapshot.keys().collect::<Vec<_>>(), ["a.b.c"]);
        assert_eq!(snapshot.get_integer("a.b.c"), Some(1));
    }
}

#[test]
fn each_reader_gets_the_requested_type_or_nothing() {
    // The value; the boolean, number and whole number that it is; its text.
    for (value, boolean, number, integer, text) in [
        ("5", Some(true), Some(5.0), Some(5), "5"),
        ("0", Some(false), Some(0.0), Some(0), "0"),
        ("-5", Some(true), Some(-5.0), None, "-5"),
        ("5.9", None, Some(5.9), Some(5), "5.9"),
        ("-0.5", None, Some(-0.5), None, "-0.5"),
        ("1e0", Some(true), Some(1.0), Some(1), "1e0"),
        ("1.0", Some(true), Some(1.0), Some(1), "1.0"),
        ("' 1 '", Some(true), Some(1.0), Some(1), " 1 "),
        ("true", Some(true), None, None, "true"),
        ("yes", Some(true), None, None, "true"),
        ("TRUE", Some(true), None, None, "true"),
        ("off", Some(false), None, None, "false"),
        ("'yes'", None, None, None, "yes"),
        ("word", None, None, None, "word"),
        ("''", None, None, None, ""),
        ("2147483646", Some(true), Some(2_147_483_646.0), Some(2_147_483_646), "2.14748e+09"),
        ("2147483647", None, Some(2_147_483_647.0), Some(2_147_483_647), "2.14748e+09"),
        ("2147483648", None, Some(2_147_483_648.0), Some(2_147_483_648), "2147483648"),
        (
            "18446744073709551616",
            None,
            Some(18_446_744_073_709_551_616.0),
            Some(u64::MAX),
            "18446744073709551616",
        ),
        ("1e300", None, Some(1e300), None, "1e300"),
        ("1234567", Some(true), Some(1_234_567.0), Some(1_234_567), "1.23457e+06"),
        ("0x10", Some(true), Some(16.0), Some(16), "16"),
        ("'0x10'", Some(true), Some(16.0), Some(16), "0x10"),
    ] {
        let snapshot = fixed(&format!("{{k: {value}}}"));
        assert_eq!(snapshot.get_boolean("k"), boolean, "{value}");
        assert_eq!(snapshot.get_number("k"), number, "{value}");
        assert_eq!(snapshot.get_integer("k"), integer, "{value}");
        assert_eq!(snapshot.get_text("k"), Some(text), "{value}");
    }
}

#[test]
fn a_struct_with_a_numerator_is_a_fractional_percent() {
    let percent = |value: &str| {
        let text =
            format!("layered_runtime: {{layers: [{{name: a, static_layer: {{k: {value}}}}}]}}");
        let snapshot = Runtime::new(layers(&text), Vec::new()).snapshot();
        let share = snapshot.get("k").expect("it is one key").as_percent();
        share.map(|it| (it.numerator, it.denominator.number()))
    };
    assert_eq!(percent("{numerator: 3, denominator: TEN_THOUSAND}"), Some((3, 10_000)));
    assert_eq!(percent("{denominator: MILLION, numerator: 3}"), Some((3, 1_000_000)));
    assert_eq!(percent("{numerator: 3}"), Some((3, 100)));
    assert_eq!(percent("{denominator: HUNDRED}"), Some((0, 100)));
    assert_eq!(percent("{}"), Some((0, 100)));
    assert_eq!(percent("{numerator: x}"), Some((0, 100)));
    assert_eq!(percent("{numerator: 1, denominator: BOGUS}"), None);
    assert_eq!(percent("{numerator: 100, foo: bar}"), None);
    assert_eq!(percent("'{numerator: 3}'"), None);
    assert_eq!(percent("3"), None);
}

#[test]
fn a_feature_is_on_for_its_share() {
    let default = FractionalPercent::new_percent(50);
    let on = |values: &str| {
        let snapshot = fixed(values);
        (0..1_000_000).filter(|random| snapshot.is_enabled("k", default, *random)).count()
    };
    assert_eq!(on("{}"), 500_000);
    assert_eq!(on("{k: {numerator: 3, denominator: TEN_THOUSAND}}"), 300);
    assert_eq!(on("{k: {numerator: 200}}"), 1_000_000);
    assert_eq!(on("{k: 30}"), 300_000);
    assert_eq!(on("{k: 101}"), 1_000_000);
    assert_eq!(on("{k: word}"), 500_000);
    let snapshot = fixed("{k: 30}");
    assert!(
        snapshot.is_enabled_in("k", 0, 1029, 1000) && !snapshot.is_enabled_in("k", 0, 30, 1000)
    );
    assert!(
        snapshot.is_enabled_in("other", 5, 104, 100) && !fixed("{}").is_enabled_in("k", 0, 0, 0)
    );
}

#[test]
fn a_file_of_comments_is_an_empty_value() {
    let text = "{name: d, disk_layer: {symlink_root: /srv/current}}";
    let mut runtime = runtime(text);
    runtime.update_disk(vec![files(&[("a", "# later\n"), ("b", "# note\n7\n"), ("c", "true\n")])]);
    let snapshot = runtime.snapshot();
    assert_eq!(snapshot.get_text("a"), Some(""));
    assert_eq!(snapshot.get_integer("b"), Some(7));
    assert_eq!(snapshot.get_boolean("c"), Some(true));
}

#[test]
fn a_layer_with_an_error_is_skipped_and_counted() {
    let list = "{name: s, static_layer: {k: 1}}, \
                {name: d, disk_layer: {symlink_root: /srv/current, subdirectory: a}}, \
                {name: e, disk_layer: {symlink_root: /srv/current, subdirectory: b}}";
    let mut runtime = runtime(list);
    let (good, bad) = (files(&[("k", "2")]), files(&[("k", "3"), ("bad", "{x")]));
    runtime.update_disk(vec![good.clone(), good.clone()]);
    let all = runtime.statistics();
    assert_eq!((all.num_layers, all.load_error, all.override_dir_exists), (3, 0, 1));
    runtime.update_disk(vec![good.clone(), bad]);
    let broken = runtime.statistics();
    assert_eq!((broken.num_layers, broken.load_error, broken.override_dir_exists), (2, 1, 1));
    assert_eq!(runtime.snapshot().get_integer("k"), Some(2));
    let left_out: Vec<_> = runtime.iter_left_out().collect();
    let [(layer, Some(failure))] = left_out[..] else { panic!("one layer fails: {left_out:?}") };
    assert_eq!((&*layer.name, &*failure.path), ("e", "bad"));
    runtime.update_disk(vec![good, DiskReading::Missing]);
    assert_eq!(runtime.statistics().load_error, 1, "a missing folder is no error");
    assert_eq!(runtime.statistics().num_layers, 2);
}

#[test]
fn a_folder_named_numerator_is_refused() {
    let mut runtime = runtime("{name: d, disk_layer: {symlink_root: /srv/current}}");
    runtime.update_disk(vec![files(&[("a/numerator/b", "1"), ("numerators", "2")])]);
    assert_eq!(runtime.list_unspellable_paths(), [("d".into(), "a/numerator/b".to_owned())]);
    assert_eq!(runtime.snapshot().get_integer("a.numerator.b"), Some(1));
    runtime.update_disk(vec![files(&[("numerators", "2")])]);
    assert_eq!(runtime.list_unspellable_paths(), []);
}

#[test]
fn an_rtds_layer_accepts_only_its_own_resource() {
    let list = "{name: s, static_layer: {k: 1}}, {name: r, rtds_layer: {name: mine}}, \
                {name: q, rtds_layer: {name: other}}";
    let mut runtime = runtime(list);
    assert_eq!(runtime.statistics().num_layers, 3, "an empty layer counts");
    let mine = resource("{name: mine, layer: {k: 2, l: 3}}").expect("it is right");
    runtime.rtds_changed("r", std::slice::from_ref(&mine), &[]).expect("its resource");
    assert_eq!(runtime.snapshot().get_integer("k"), Some(2));

    let held = runtime.snapshot();
    let next = resource("{name: mine, layer: {l: 4}}").expect("it is right");
    runtime.rtds_changed("r", &[next], &[]).expect("its resource");
    assert_eq!(
        runtime.snapshot().get_integer("k"),
        Some(1),
        "a resource takes the place of the last"
    );
    assert_eq!(held.get_integer("k"), Some(2), "a snapshot does not change");

    let refused =
        |update: Result<(), RuntimeRefusal>| update.expect_err("it is refused").to_string();
    let wrong = runtime.rtds_changed("q", std::slice::from_ref(&mine), &[]);
    assert_eq!(refused(wrong), "the layer asks for the resource `other`, not `mine`");
    assert!(refused(runtime.rtds_changed("r", &[], &[])).contains("0 added and 0 removed"));
    let both = runtime.rtds_changed("r", std::slice::from_ref(&mine), &["mine"]);
    assert!(refused(both).contains("1 added and 1 removed"));
    assert!(refused(runtime.rtds_changed("r", &[], &["other"])).contains("not `other`"));
    assert!(refused(runtime.rtds_changed("s", &[mine], &[])).contains("named `s`"));
    assert_eq!(runtime.snapshot().get_integer("l"), Some(4), "what is refused changes nothing");

    runtime.rtds_changed("r", &[], &["mine"]).expect("its resource");
    assert_eq!(runtime.snapshot().get_integer("l"), None);
    assert!(resource("{name: mine, layer: {k: null}}").is_err());
}

#[test]
fn an_admin_override_takes_effect_at_once_and_an_empty_one_is_removed() {
    let mut runtime = runtime("{name: s, static_layer: {k: 1}}, {name: a, admin_layer: {}}");
    assert!(!runtime.statistics().admin_overrides_active);
    runtime.modify([("k", "2"), ("share", "{numerator: 5}"), ("t", "true")]).expect("it is YAML");
    let snapshot = runtime.snapshot();
    assert_eq!((snapshot.get_integer("k"), snapshot.get_boolean("t")), (Some(2), Some(true)));
    let share = snapshot.get("share").and_then(RuntimeValue::as_percent);
    assert_eq!(share, Some(FractionalPercent::new_percent(5)));
    assert!(runtime.statistics().admin_overrides_active);
    let refused = runtime.modify([("k", "3"), ("bad", "{x")]).expect_err("it is no YAML");
    assert!(refused.to_string().starts_with("the value of `bad` is not YAML"), "{refused}");
    assert_eq!(runtime.snapshot().get_integer("k"), Some(2), "all of it or nothing");
    runtime.modify([("k", ""), ("share", ""), ("t", ""), ("never", "")]).expect("it is there");
    assert_eq!(runtime.snapshot().get_integer("k"), Some(1));
    assert!(!runtime.statistics().admin_overrides_active);
}

#[test]
fn overrides_are_accepted_where_no_runtime_is_declared() {
    let mut undeclared = Runtime::new(layers("admin: {}"), Vec::new());
    assert!(!undeclared.layers().is_declared());
    assert_eq!(undeclared.statistics().num_layers, 0);
    undeclared.modify([("k", "1")]).expect("without any runtime, overrides are accepted");
    assert_eq!(undeclared.snapshot().get_integer("k"), Some(1));

    let mut empty = Runtime::new(layers("layered_runtime: {}"), Vec::new());
    assert_eq!(empty.statistics().num_layers, 1);
    empty.modify([("k", "1")]).expect("an empty list means an admin layer");

    let mut fixed = runtime("{name: s, static_layer: {k: 1}}");
    assert_eq!(fixed.modify([("k", "2")]), Err(RuntimeRefusal::NoAdminLayer));
}

#[test]
fn the_legacy_runtime_has_fixed_layers() {
    let older = "
node: {cluster: my-cluster}
runtime:
  symlink_root: /srv/runtime/current
  subdirectory: envoy
  override_subdirectory: envoy_override
  base: {health_check: {min_interval: 5}}
";
    let newer = FOUR
        .replace("static_layer_0", "base")
        .replace("disk_layer_0", "root")
        .replace("disk_layer_1", "override")
        .replace("admin_layer_0", "admin");
    let shown = |text: &str| {
        let layers = layers(text);
        let shown = layers.layers().iter().map(|layer| match &layer.source {
            LayerSource::Static(values) => {
                let values: Vec<_> = values.iter().map(|(key, it)| (key, &it.literal)).collect();
                format!("{} {values:?}", layer.name)
            }
            source => format!("{} {source:?}", layer.name),
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(shown(older), shown(&newer));
    let alone = layers("runtime: {base: {a: 1}}");
    let names: Vec<_> = alone.layers().iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["base", "admin"]);
}

#[test]
fn what_is_wrong_with_layers_has_a_place() {
    let text = "\
layered_runtime:
  layers:
  - {name: a, static_layer: {k: null, l: [1], ok: 1}}
  - {name: a, admin_layer: {}}
  - {name: b, admin_layer: {}}
  - {name: c, admin_layer: {}}
  - {name: d}
  - {static_layer: {}}
  - {name: e, disk_layer: {symlink_root: current}}
  - {name: f, disk_layer: {subdirectory: x}}
  - {name: g, static_layer: {x: {y: 1}, x.y: 2, s: 'true', p: {numerator: 1, foo: 2}}}
";
    let layers = layers(text);
    let shown = layers.problems().iter().map(|it| {
        let line = 1 + text[..it.span.start as usize].matches('\n').count();
        let refused = if it.is_refused() { "refused" } else { "taken" };
        format!("{line} {} {refused}: {it}", &text[it.span.range()])
    });
    let shown: Vec<_> = shown.collect();
    let expected = [
        "3 k refused: the value of `k` is null or a list",
        "3 l refused: the value of `l` is null or a list",
        "4 a refused: two layers are named `a`",
        "6 admin_layer refused: there is more than one admin layer",
        "7 {name: d} refused: the layer `d` is neither",
        "8 {static_layer: {}} refused: the layer has no name",
        "9 current refused: the `symlink_root` `current` has no slash",
        "10 {subdirectory: x} refused: the `symlink_root` `` has no slash",
        "11 x.y taken: the key `x.y` is there twice",
        "11 s taken: the boolean of `s` is in quotes",
        "11 p taken: the value of `p` is not a share",
    ];
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!(shown.starts_with(expected), "{shown}\n{expected}");
    }
    let related: Vec<_> = layers.problems().iter().filter_map(LayerProblem::related).collect();
    let related: Vec<_> = related.iter().map(|it| &text[it.range()]).collect();
    assert_eq!(related, ["a", "b", "y"]);
    assert_eq!(Runtime::new(layers, Vec::new()).snapshot().get_integer("ok"), Some(1));
}

#[test]
fn the_empty_key_is_never_found() {
    let snapshot = fixed("{'': 1, a: {'': 2}}");
    assert_eq!(snapshot.keys().collect::<Vec<_>>(), ["", "a."]);
    assert_eq!(snapshot.get_integer(""), None);
    assert_eq!(snapshot.get_integer("a."), Some(2));
}

#[test]
fn any_number_of_disk_layers_is_read() {
    let layer =
        |at| format!("{{name: d{at}, disk_layer: {{symlink_root: /srv/c, subdirectory: s{at}}}}}");
    let list: Vec<String> = (0..10).map(layer).collect();
    let mut runtime = runtime(&list.join(", "));
    let readings = (0..10).map(|at| files(&[("k", &at.to_string()), (&format!("own{at}"), "1")]));
    runtime.update_disk(readings.collect());
    assert_eq!(runtime.snapshot().get_integer("k"), Some(9));
    assert_eq!(runtime.statistics().num_layers, 10);
    assert_eq!(runtime.statistics().num_keys, 11);
}

#[test]
fn what_is_counted_of_a_runtime() {
    let mut runtime = runtime("{name: s, static_layer: {k: 1, l: 2}}, {name: a, admin_layer: {}}");
    runtime.modify([("k", "3"), ("m", "4")]).expect("there is an admin layer");
    let expected = RuntimeStatistics {
        load_success: 2,
        load_error: 0,
        override_dir_exists: 0,
        override_dir_not_exists: 2,
        num_keys: 3,
        num_layers: 2,
        admin_overrides_active: true,
    };
    assert_eq!(runtime.statistics(), expected);
}

#[test]
fn a_server_has_an_admin_layer_above_what_it_serves() {
    let base = resource("{name: base, layer: {a: {b: 1, c: 2}}}").expect("a resource");
    let canary = resource("{name: canary, layer: {a.c: 3}}").expect("a resource");
    let mut runtime = Runtime::from_resources([base.clone(), canary.clone()], Arc::default());
    let names = |it: &Runtime| -> Vec<String> {
        it.snapshot().layers().iter().map(|it| it.name.to_string()).collect()
    };
    assert_eq!(names(&runtime), ["base", "canary", "admin"]);
    assert_eq!(runtime.snapshot().get_integer("a.c"), Some(3));
    assert!(!runtime.statistics().admin_overrides_active);
    assert_eq!(runtime.modify([("a.c", "4"), ("d", "yes")]), Ok(()));
    assert_eq!(runtime.snapshot().get_integer("a.c"), Some(4));
    // The overrides are taken along when other resources are served.
    let mut next = Runtime::from_resources([base], runtime.overrides());
    assert_eq!(names(&next), ["base", "admin"]);
    assert_eq!(next.snapshot().get_integer("a.c"), Some(4));
    assert!(next.statistics().admin_overrides_active);
    assert_eq!(next.modify([("a.c", ""), ("d", "")]), Ok(()));
    assert_eq!(next.snapshot().get_integer("a.c"), Some(2));
    assert!(next.overrides().is_empty());
}
