//! The schema and the reader of `abide.toml` agree about which files are right.

use abide_lint::Config;
use serde_json::{Map, Value};
use toml_edit::{Document, Item};

use super::*;

const GOOD: [&str; 43] = [
    "",
    "[[dependency]]\nname = \"a\"\ngit = \"https://git.acme.com/a.git\"\nrev = \"main\"",
    "[[rule]]\nid = \"acme-a\"\non = \"message\"\nwhen = \"false\"\nmessage = \"a\"\n[rules]\nacme-a = \"off\"",
    "preset = \"envoy\"",
    "preset = \"buf-wire\"\nroots = [\"proto\"]",
    "roots = \"proto\"",
    "roots = [\"a\", \"b\"]\nimport-paths = [\"third_party\"]",
    "features = [\"features.txt\"]",
    "against = \"git:main...\"",
    "bump-against = \"git:newest(v*)\"",
    "version-in = \"lock\"",
    "version-in = \"option\"",
    "[rules]\nfield-removed = \"off\"",
    "[rules]\nlayout = \"note\"\nimport-unused = \"error\"",
    "[rules]\n\"buf:FIELD_NO_DELETE\" = \"warning\"",
    "[rules]\nprotolint = \"warning\"\n\"api-linter\" = \"note\"",
    "[[override]]\npackages = [\"acme.**\"]\nrules = { import-unused = \"error\" }",
    "[[override]]\nstability = \"alpha\"\nsurfaces = [\"wire\", \"json\"]\nrules.compatibility = \"off\"",
    "[[override]]\nfiles = [\"a\"]\nlint = { service-suffix = \"API\" }",
    "[[override]]\ndirections = [\"forward\"]\n[override.rules]\nfield-added = \"error\"",
    "[[waiver]]\nrule = \"field-removed\"\nelement = \"acme.**\"\nreason = \"unused\"",
    "[[waiver]]\nfingerprint = \"9f86d081884c7d65\"\nreason = \"agreed\"",
    "[[waiver]]\nrule = \"field-removed\"\nfingerprint = \"9f86d081884c7d65\"\nreason = \"a\"\nuntil = 2027-06-30",
    "[[waiver]]\nrule = \"field-removed\"\nelement = \"a.B\"\nreason = \"a\"\nuntil = \"2027-06-30\"",
    "waiver = [{ rule = \"field-removed\", element = \"a.B\", reason = \"a\" }]",
    "[[security-fix]]\nelement = \"acme.user.v1.User\"\nreason = \"it leaks\"",
    "[packages]\npattern = \"vN.**\"\nstabilities = [\"alpha\", \"stable\"]",
    "[packages]\nfolder-prefix = [\"proto\"]\npath-prefix = \"com.acme\"\nunversioned = [\"acme.legacy\"]",
    "[packages]\nplain-from = 2\nmax-majors = 2",
    "[packages]\nversions = [\"vN\", \"vNalpha\"]",
    "[dependencies]\nallow = [\"acme.a -> acme.b\"]\ndeny = [\"acme.** -> acme.c.**\"]\nmax-depth = 4",
    "[calendar]\nclient-releases = [\"03-31\", \"06-30\"]\napi-releases = \"06-30\"",
    "[calendar]\nmajor-window-days = 21\nprevious-major-months = 12\nalpha-max-months = 6",
    "[calendar.version-dates]\n\"1.4\" = 2025-01-01\n\"1.4.2\" = \"2025-02-01\"",
    "[calendar.stable-since]\n\"acme.user.v1\" = 2025-01-01",
    "[deprecation]\nremoval = \"reserved\"\nwindow-months = 12\nfile = \"docs/DEPRECATED.md\"",
    "[deprecation]\nfreeze = true\ndropped = [\"acme.user.v1.User.mail\"]",
    "[deprecation]\nfreeze = { from = 2026-12-01, until = 2027-01-10 }",
    "[breaking]\nstabilities = [\"stable\"]\nsurfaces = [\"wire\"]\ndirections = [\"backward\"]\nlightest = \"source\"",
    "[lint]\nzero-value-suffix = \"_UNSPECIFIED\"\nbuf-comments = false",
    "[upgrade]\nclosure = \"type\"\nlayout = \"source\"\nimports = \"kept\"\nservices = false\nmajors = { 2 = \"v3\" }",
    "[upgrade.links]\nlabel = \"a\"\nmembers = { a = \"b\" }\n[options]\n\"acme.max\" = \"ignore\"",
    "[api.edge]\nsource = \"git:main\"\n[[instances]]\nfiles = [\"*.yaml\"]\ntype = \"a.B\"\napi = \"edge\"",
];

const BAD: [&str; 43] = [
    "[[dependency]]\nname = \"a\"",
    "[[rule]]\nid = \"acme-a\"\non = \"message\"\nmessage = \"a\"",
    "presets = \"envoy\"",
    "preset = \"envoi\"",
    "preset = 3",
    "roots = 3",
    "roots = [3]",
    "import-path = [\"a\"]",
    "against = [1]",
    "version-in = \"file\"",
    "version-in = true",
    "rules = \"off\"",
    "[rules]\nfield-removd = \"off\"",
    "[rules]\nfield-removed = \"of\"",
    "[rules]\nfield-removed = true",
    "[rules]\n\"buf:NO_SUCH\" = \"warning\"",
    "[override]\npackages = \"a\"",
    "[[override]]\npackage = [\"a\"]\nrules.layout = \"off\"",
    "[[override]]\nstability = \"gamma\"\nrules.layout = \"off\"",
    "[[override]]\nsurfaces = [\"air\"]\nrules.layout = \"off\"",
    "[[waiver]]\nrule = \"field-removed\"\nelement = \"a.B\"",
    "[[waiver]]\nelement = \"a.B\"\nreason = \"a\"",
    "[[waiver]]\nrule = \"field-removed\"\nreason = \"a\"",
    "[[waiver]]\nrule = \"field-removed\"\nelement = \"a\"\nfingerprint = \"9f86d081884c7d65\"\nreason = \"a\"",
    "[[waiver]]\nfingerprint = \"9f86\"\nreason = \"a\"",
    "[[waiver]]\nrule = \"waiver-unused\"\nelement = \"a\"\nreason = \"a\"",
    "[[waiver]]\nrule = \"field-removed\"\nelement = \"a\"\nreason = \" \"",
    "[[waiver]]\nrule = \"field-removed\"\nelement = \"a\"\nreason = \"a\"\nuntil = \"soon\"",
    "[[security-fix]]\nreason = \"a\"",
    "[packages]\npattern = \"acme.*\"",
    "[packages]\nmax-majors = 0",
    "[packages]\nmax-majors = \"2\"",
    "[packages]\npath-prefix = \"com.acme.\"",
    "[dependencies]\ndeny = [\"acme.a\"]",
    "[calendar]\nclient-releases = [\"June\"]",
    "[calendar.version-dates]\nlatest = 2025-01-01",
    "[calendar]\nstable-since = 2025-01-01",
    "[deprecation]\nremoval = \"sometimes\"",
    "[deprecation]\nfile = \"DEPRECATED.txt\"",
    "[breaking]\nlightest = \"feather\"",
    "[lint]\nbuf-comments = \"no\"",
    "[upgrade]\nclosure = \"galaxy\"",
    "[upgrade]\nmajors = { two = \"v3\" }",
];

fn json_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_of_value(value),
        Item::Table(table) => table.iter().map(|(key, it)| (key.to_owned(), json_of(it))).collect(),
        Item::ArrayOfTables(tables) => {
            let object = |table: &toml_edit::Table| -> Value {
                table.iter().map(|(key, it)| (key.to_owned(), json_of(it))).collect()
            };
            tables.iter().map(object).collect()
        }
    }
}

fn json_of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(date) => date.value().to_string().into(),
        toml_edit::Value::Array(array) => array.iter().map(json_of_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(key, it)| (key.to_owned(), json_of_value(it))).collect()
        }
    }
}

/// Returns true if a text has one of the forms that settings have.
fn has_form(form: &str, text: &str) -> bool {
    let digits = |text: &str, parts: &[usize]| {
        let all: Vec<&str> = text.split('-').collect();
        let is_part = |(part, length): (&&str, &usize)| {
            part.len() == *length && part.bytes().all(|it| it.is_ascii_digit())
        };
        all.len() == parts.len() && all.iter().zip(parts).all(is_part)
    };
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    match form {
        "^[0-9a-f]{16}$" => {
            text.len() == 16 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        }
        "^[0-9]{2}-[0-9]{2}$" => digits(text, &[2, 2]),
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" => digits(text, &[4, 2, 2]),
        "[^\\s]" => !text.trim().is_empty(),
        "(^|\\.)vN(\\.|$)" => text.split('.').any(|it| it == "vN"),
        "^[^./]+(\\.[^./]+)*$" => !text.contains('/') && text.split('.').all(|it| !it.is_empty()),
        "^\\s*[^\\s>]+\\s*->\\s*[^\\s>]+\\s*$" => {
            text.split("->").map(str::trim).filter(|it| !it.is_empty()).count() == 2
        }
        "\\.md$" => text.ends_with(".md"),
        "^[a-z-]+:" => text.split_once(':').is_some_and(|(tool, _)| !tool.is_empty()),
        "^[0-9]+$" => is_number(text),
        "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$" => {
            (2..=3).contains(&text.split('.').count()) && text.split('.').all(is_number)
        }
        it if it.starts_with("^(?!") => {
            let first = text.split(['-', '/']).next().unwrap_or_default();
            first.len() < text.len()
                && abide_lint::RULES.iter().all(|it| !it.id.starts_with(&format!("{first}-")))
        }
        other => panic!("the test does not know the form `{other}`"),
    }
}

/// Returns true if a value is what a schema says, as far as ours says anything.
fn is_valid(value: &Value, schema: &Value, root: &Value) -> bool {
    let each = |key: &str| schema[key].as_array().into_iter().flatten();
    let holds = |it: &&Value| is_valid(value, it, root);
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect("it is defined");
        return is_valid(value, target, root);
    }
    let has_type = match schema["type"].as_str() {
        None => true,
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some(other) => panic!("the test does not know the type `{other}`"),
    };
    let form = schema["pattern"].as_str();
    has_type
        && (schema["enum"].is_null() || each("enum").any(|it| it == value))
        && form.is_none_or(|form| value.as_str().is_some_and(|it| has_form(form, it)))
        && schema["minimum"].as_i64().is_none_or(|least| value.as_i64() >= Some(least))
        && (schema["anyOf"].is_null() || each("anyOf").any(|it| holds(&it)))
        && (schema["oneOf"].is_null() || each("oneOf").filter(holds).count() == 1)
        && each("required").all(|key| !value[key.as_str().unwrap_or_default()].is_null())
        && value.as_array().is_none_or(|list| {
            schema["items"].is_null() || list.iter().all(|it| is_valid(it, &schema["items"], root))
        })
        && value.as_object().is_none_or(|object| has_valid_keys(object, schema, root))
}

fn has_valid_keys(object: &Map<String, Value>, schema: &Value, root: &Value) -> bool {
    let needs = schema["dependencies"].as_object().into_iter().flatten();
    let mut needed =
        needs.filter(|(key, _)| object.contains_key(*key)).flat_map(|(_, it)| it.as_array());
    let mut keys = object.iter();
    needed.all(|all| all.iter().all(|it| object.contains_key(it.as_str().unwrap_or_default())))
        && keys.all(|(key, value)| {
            let forms = schema["patternProperties"].as_object().into_iter().flatten();
            let of_form = { forms }.find(|(form, _)| has_form(form, key)).map(|(_, it)| it);
            match (schema["properties"].get(key).or(of_form), &schema["additionalProperties"]) {
                (Some(inner), _) => is_valid(value, inner, root),
                (None, Value::Bool(may)) => *may,
                (None, Value::Null) => true,
                (None, inner) => is_valid(value, inner, root),
            }
        })
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let schema: Value = serde_json::from_str(&render_schema()).expect("it is JSON");
    for (texts, is_good) in [(&GOOD, true), (&BAD, false)] {
        for text in texts {
            let read = Config::parse(text, None);
            assert_eq!(read.is_ok(), is_good, "the reader: {text}\n{:?}", read.err());
            let document = Document::parse(*text).expect("it is TOML");
            let value = json_of(&Item::Table(document.as_table().clone()));
            assert_eq!(is_valid(&value, &schema, &schema), is_good, "the schema: {text}");
        }
    }
}

/// The reader names its keys where it meets another one.
#[test]
fn the_list_has_every_key_that_is_read() {
    let settings = list_settings();
    let mut tables: Vec<(String, Vec<&str>)> = vec![("".to_owned(), Vec::new())];
    tables[0].1 = settings.iter().map(|it| it.key).collect();
    for Setting { key, value, .. } in &settings {
        match value {
            SettingValue::Table(inner) => {
                tables.push((format!("[{key}]\n"), inner.iter().map(|it| it.key).collect()));
            }
            SettingValue::Tables(inner, ..) => {
                tables.push((format!("[[{key}]]\n"), inner.iter().map(|it| it.key).collect()));
            }
            SettingValue::Named(inner, _) => {
                if let SettingValue::Table(inner) = &**inner {
                    let keys = inner.iter().map(|it| it.key).collect();
                    tables.push((format!("[{key}.name]\n"), keys));
                }
            }
            _ => {}
        }
    }
    for (head, mut keys) in tables {
        let errors = Config::parse(&format!("{head}\"0000\" = 1"), None).expect_err("no such key");
        let unknown = errors.iter().find(|it| it.message.contains("unknown key"));
        let help = unknown.and_then(|it| it.help.as_deref()).expect("it names the keys");
        let mut read: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
        read.sort_unstable();
        keys.sort_unstable();
        assert_eq!(keys, read, "{head}");
    }
}
