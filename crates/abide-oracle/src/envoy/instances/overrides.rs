//! Cases about runtime: overrides of deprecated elements, and layers that are refused.

use fastrand::Rng;
use serde_json::{Value, json};

use super::Case;
use super::mutations::Mutant;

/// A layer with these values.
fn layer(name: &str, values: Value) -> Value {
    json!({"name": name, "static_layer": values})
}

/// The same change under some of the runtimes that may decide about it.
pub(super) fn generate_variants(mutant: &Mutant, rng: &mut Rng) -> Vec<Mutant> {
    let key = format!("envoy.deprecated_features:{}", mutant.element);
    let fail = "envoy.features.fail_on_any_deprecated_feature";
    let all = "envoy.features.enable_all_deprecated_features";
    let one = |key: &str, value: Value| vec![layer("a", json!({ key: value }))];
    let (head, tail) = key.rsplit_once('.').unwrap_or((&key, ""));
    let mut runtimes = vec![
        one(&key, json!(true)),
        one(&key, json!(false)),
        one(&key, json!(1)),
        one(&key, json!(0)),
        one(&key, json!(0.5)),
        one(&key, json!(2147483648_u64)),
        one(&key, json!("1")),
        one(&key, json!("true")),
        one(fail, json!(true)),
        one(all, json!(true)),
        one(all, json!(false)),
        vec![layer("a", json!({fail: true, &key: true}))],
        vec![layer("a", json!({fail: true, all: true}))],
        vec![layer("a", json!({all: true, &key: false}))],
        vec![layer("a", json!({head: {tail: true}}))],
        vec![layer("a", json!({&key: true})), layer("b", json!({&key: false}))],
        vec![layer("a", json!({&key: true})), layer("b", json!({&key: "true"}))],
        vec![layer("a", json!({&key: true})), layer("b", json!({&key: ""}))],
        vec![layer("a", json!({&key: false})), layer("b", json!({&key: true}))],
        one(&key.to_uppercase(), json!(true)),
        one("envoy.features.enable_all_deprecated_feature", json!(true)),
    ];
    rng.shuffle(&mut runtimes);
    let chosen = runtimes.into_iter().take(3);
    let variant = |layers| Mutant {
        class: "override",
        fields: mutant.fields.clone(),
        element: mutant.element.clone(),
        layers,
    };
    chosen.map(variant).collect()
}

/// Layers of runtime, and keys that are there twice: the same in every release.
pub(super) fn list_override_cases() -> Vec<Case> {
    let case = |class, text: Value| Case {
        class,
        place: "layered_runtime".to_owned(),
        element: String::new(),
        text: serde_json::to_string_pretty(&text).unwrap_or_default(),
    };
    let runtime = |layers: Value| case("runtime", json!({"layered_runtime": {"layers": layers}}));
    let admin = |name: &str| json!({"name": name, "admin_layer": {}});
    let twice = |text: &str| Case {
        class: "duplicate-key",
        place: "a key twice".to_owned(),
        element: String::new(),
        text: text.to_owned(),
    };
    vec![
        runtime(json!([])),
        runtime(json!([layer("a", json!({"x": 1}))])),
        runtime(json!([layer("a", json!({})), layer("a", json!({}))])),
        runtime(json!([admin("a"), admin("b")])),
        runtime(json!([admin("a"), layer("b", json!({"x": {"y": true}}))])),
        runtime(json!([layer("a", json!({"x": null}))])),
        runtime(json!([layer("a", json!({"x": [1]}))])),
        runtime(json!([layer("a", json!({"x": {"y": {"z": [1]}}}))])),
        runtime(json!([layer("a", json!({"x": {"numerator": 1, "denominator": "HUNDRED"}}))])),
        runtime(json!([layer("a", json!({"x": {}}))])),
        runtime(json!([{"name": "a"}])),
        runtime(json!([{"static_layer": {}}])),
        twice("{\"cluster_manager\": {}, \"cluster_manager\": {}}"),
        twice("node: {id: a, id: b}"),
        twice("node: {id: a, metadata: {a: 1, a: 2}}"),
        twice("static_resources: {clusters: [{name: c, connect_timeout: 1s, connectTimeout: 1s}]}"),
    ]
}
