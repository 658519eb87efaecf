//! The check plugin of buf.

use std::path::Path;

use serde_json::{Value, json};

use crate::run::{Ran, abide, abide_with};
use crate::{checked, data, recorded};

fn plugin(args: &[&str], input: &[u8]) -> Ran {
    abide_with(&data(), &[&["plugin", "buf"], args].concat(), input)
}

/// Calls a procedure with a request in JSON, and returns the response.
fn call(procedure: &str, message: &str, fields: Value) -> Value {
    let mut value = fields;
    value["@type"] = format!("type.googleapis.com/buf.plugin.check.v1.{message}").into();
    let ran =
        plugin(&[procedure, "--format", "json"], json!({"value": value}).to_string().as_bytes());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// The files of a tree as buf sends them, in JSON.
fn files(tree: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set.json");
    let ran = abide(&data(), &["build", tree, "-o", out.to_str().unwrap()]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let set: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    let files = set["file"].as_array().unwrap().iter();
    files.map(|file| json!({"file_descriptor_proto": file})).collect()
}

/// The annotations of a response: `PATH:LINE:COLUMN rule`, with the places of source paths in these
/// files. What is only in the old tree counts as there.
fn places(response: &Value, new: &[Value], old: &[Value]) -> Vec<String> {
    assert_eq!(response["error"], Value::Null, "{response}");
    let annotations = response["value"]["annotations"].as_array().unwrap().iter();
    let mut places: Vec<String> = annotations
        .map(|it| {
            let (location, files) = match it["file_location"].is_null() {
                true => (&it["against_file_location"], old),
                false => (&it["file_location"], new),
            };
            let rule = it["rule_id"].as_str().unwrap().strip_prefix("ABIDE_").unwrap();
            let rule = rule.to_lowercase().replace('_', "-");
            format!("{} {rule}", place(location, files))
        })
        .collect();
    places.sort();
    places
}

/// The first location with the path, as buf finds it.
fn place(location: &Value, files: &[Value]) -> String {
    let name = &location["file_name"];
    let file = files.iter().map(|it| &it["file_descriptor_proto"]).find(|it| it["name"] == *name);
    let locations = file.unwrap()["sourceCodeInfo"]["location"].as_array().unwrap();
    let none = json!([]);
    let path = |it: &Value| it.get("path").unwrap_or(&none).clone();
    let wanted = location.get("source_path").unwrap_or(&none);
    let found = locations.iter().find(|it| path(it) == *wanted).unwrap();
    let number = |at: usize| found["span"][at].as_u64().unwrap() + 1;
    format!("{}:{}:{}", name.as_str().unwrap(), number(0), number(1))
}

fn rule_ids(kind: &str) -> Vec<Value> {
    let listed = call("list-rules", "ListRulesRequest", json!({}));
    let rules = listed["value"]["rules"].as_array().unwrap().iter();
    let wanted = rules.filter(|it| it["type"] == kind && it["default"] == true);
    wanted.map(|it| it["id"].clone()).collect()
}

#[test]
fn findings_are_where_abide_check_has_them() {
    let (new, old) = (files("new"), files("old"));
    let lint = call(
        "check",
        "CheckRequest",
        json!({"file_descriptors": new, "rule_ids": rule_ids("RULE_TYPE_LINT")}),
    );
    assert_eq!(places(&lint, &new, &[]), checked(&["lint", "new"]));
    let request = json!({
        "file_descriptors": new,
        "against_file_descriptors": old,
        "rule_ids": rule_ids("RULE_TYPE_BREAKING"),
    });
    let breaking = call("check", "CheckRequest", request);
    assert_eq!(places(&breaking, &new, &old), checked(&["breaking", "new", "--against", "old"]));
}

/// The same for what buf sends, with what the responses are: `SNAPSHOTS=overwrite` records them.
#[test]
fn recorded_requests_are_answered() {
    for (kind, command) in
        [("lint", &["lint", "new"][..]), ("breaking", &["breaking", "new", "--against", "old"][..])]
    {
        let request = recorded(&format!("{kind}.request.binpb"));
        let binary = plugin(&["check", "--format", "binary"], &request);
        assert_eq!(plugin(&["check"], &request).stdout, binary.stdout, "binary is the default");
        // The same message in the other notation.
        let golden = data().join(format!("{kind}.response.json"));
        let written = decoded(&binary.stdout);
        if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
            std::fs::write(&golden, format!("{written:#}\n")).unwrap();
        }
        let wanted: Value = serde_json::from_slice(&std::fs::read(&golden).unwrap()).unwrap();
        assert_eq!(written, wanted, "{kind}");
        let wanted = checked(command);
        let places = places(&json!({"value": written}), &files("new"), &files("old"));
        assert!(wanted.iter().all(|it| places.contains(it)), "{places:#?} {wanted:#?}");
    }
}

/// A binary response as its JSON, read by a library that knows nothing of Abide. Its types are those
/// of the protocol, as declared beside the plugin.
fn decoded(response: &[u8]) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plugin/protocol");
    let out = tempfile::tempdir().unwrap();
    let set = out.path().join("protocol.binpb");
    let ran = abide(&folder, &["build", ".", "-o", set.to_str().unwrap()]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let pool = prost_reflect::DescriptorPool::decode(&*std::fs::read(set).unwrap()).unwrap();
    let ty = pool.get_message_by_name("pluginrpc.v1.Response").unwrap();
    let message = prost_reflect::DynamicMessage::decode(ty, response).unwrap();
    let options = prost_reflect::SerializeOptions::new().use_proto_field_name(true);
    let mut json = message.serialize_with_options(serde_json::value::Serializer, &options).unwrap();
    json["value"].take()
}

#[test]
fn a_call_is_answered_as_the_protocol_says() {
    assert_eq!(plugin(&["--protocol"], b"").text(), "1\n");
    let spec: Value =
        serde_json::from_slice(&plugin(&["--spec", "--format", "json"], b"").stdout).unwrap();
    let procedures = spec["procedures"].as_array().unwrap();
    for name in ["Check", "ListRules", "ListCategories"] {
        let path = format!("/buf.plugin.check.v1.CheckService/{name}");
        let found = procedures.iter().find(|it| it["path"] == *path).unwrap();
        let arg = found["args"][0].as_str().unwrap();
        if name != "Check" {
            // Where a plugin names no argument, the path is one.
            assert_eq!(plugin(&[arg], b"").stdout, plugin(&[&path], b"").stdout);
        }
    }
    let info = plugin(&["info", "--format", "json"], b"").text();
    assert!(info.contains("Apache-2.0"), "{info}");

    for (args, why) in [
        (&[][..], "a call names one procedure"),
        (&["nonsense"], "there is no procedure `nonsense`"),
        (&["check", "--format", "xml"], "unknown format `xml`"),
        (&["check", "--nonsense"], "unknown option `--nonsense`"),
    ] {
        let ran = plugin(args, b"");
        assert_eq!((ran.status, &*ran.stdout), (2, &b""[..]), "{args:?}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    // What is wrong with a request is in the response.
    for (input, why) in [
        (&b"nonsense"[..], "not a pluginrpc.v1.Request in JSON"),
        (br#"{"value":{"@type":"a/buf.plugin.check.v1.ListRulesRequest"}}"#, "takes a buf.plugin"),
    ] {
        let ran = plugin(&["check", "--format", "json"], input);
        assert!(ran.status == 0 && ran.text().contains("CODE_INVALID_ARGUMENT"), "{}", ran.text());
        assert!(ran.text().contains(why), "{}", ran.text());
    }
    let mut bytes = recorded("lint.request.binpb");
    for length in 0..bytes.len().min(300) {
        bytes[length] ^= 0x55;
        assert_eq!(plugin(&["check"], &bytes[..length * 10 % bytes.len()]).status, 0);
    }
}

#[test]
fn lists_come_in_pages() {
    let whole = call("list-rules", "ListRulesRequest", json!({}));
    let whole = whole["value"]["rules"].as_array().unwrap().clone();
    assert!(whole.len() > 100 && whole.len() <= 250, "{}", whole.len());
    let (mut rules, mut token) = (Vec::new(), String::new());
    loop {
        let request = json!({"page_size": 100, "page_token": token});
        let page = call("list-rules", "ListRulesRequest", request);
        let page = &page["value"];
        rules.extend(page["rules"].as_array().unwrap().iter().cloned());
        token = page["next_page_token"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(rules, whole);
    let unknown = call("list-rules", "ListRulesRequest", json!({"page_token": "NOPE"}));
    assert_eq!(unknown["error"]["message"], "unknown page token `NOPE`");
}

fn option(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"string_value": value}})
}

#[test]
fn options_choose_what_the_files_are_judged_by() {
    let new = files("new");
    let check = |options: Value, rules: &[&str]| {
        let request = json!({"file_descriptors": new, "options": options, "rule_ids": rules});
        call("check", "CheckRequest", request)
    };
    let rules = |response: &Value| {
        let annotations = response["value"]["annotations"].as_array().unwrap().iter();
        annotations.map(|it| it["rule_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    const UNSTABLE: &str = "ABIDE_STABLE_DEPENDS_ON_UNSTABLE";
    assert_eq!(rules(&check(json!([]), &[UNSTABLE])), [UNSTABLE]);
    // A rule that is off by itself is an error where it is named.
    assert!(rules(&check(json!([]), &["ABIDE_COMMENT_MISSING"])).len() > 3);
    assert!(!rules(&check(json!([]), &[])).contains(&"ABIDE_COMMENT_MISSING".to_owned()));

    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("abide.toml");
    let path = config.to_str().unwrap();
    std::fs::write(&config, "[rules]\nstable-depends-on-unstable = \"warning\"\n").unwrap();
    assert!(rules(&check(json!([option("config", path)]), &[UNSTABLE])).is_empty());
    std::fs::write(&config, "[rules]\nstable-depends-on-unstabel = \"off\"\n").unwrap();

    for (options, why) in [
        (option("preset", "nope"), "unknown preset `nope`"),
        (option("presets", "google"), "unknown option `presets`"),
        (option("config", "nowhere.toml"), "cannot read `nowhere.toml`"),
        (option("config", path), "did you mean `stable-depends-on-unstable`?"),
        (option("as_of", "soon"), "`as_of=soon` is not a day"),
        (json!({"key": "preset", "value": {"bool_value": true}}), "`preset` needs a text"),
    ] {
        let response = check(json!([options]), &[UNSTABLE]);
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
    }
    let unknown = check(json!([]), &["NOPE"]);
    assert_eq!(unknown["error"]["message"], "unknown rule `NOPE`");
}
