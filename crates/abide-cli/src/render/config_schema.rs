//! The settings of `abide.toml`: as a page, and as a JSON schema for editors.

use abide_lint::{
    Setting, SettingValue, level_names, list_settings, own_rule_form, severity_words,
};
use serde_json::{Map, Value, json};

/// Where the schema is published.
const ID: &str = "https://json.schemastore.org/abide.json";

/// The page of all settings, in Markdown.
pub(super) fn render_page() -> String {
    let mut out = String::from(
        "# abide.toml\n\nThe nearest `abide.toml` upward has the policy of a tree; `abide init` writes one. \
         `abide explain abide.toml --format json` prints a JSON schema.\n\n",
    );
    write_settings(&mut out, "", &list_settings());
    out
}

fn write_settings(out: &mut String, before: &str, settings: &[Setting]) {
    for Setting { key, about, value } in settings {
        let name = format!("{before}{key}");
        out.push_str(&format!("- `{name}`: {about} ({})\n", describe_value(value)));
        match value {
            SettingValue::Table(inner)
            | SettingValue::Tables(inner, ..)
            | SettingValue::FlagOrTables(inner) => write_settings(out, &format!("{name}."), inner),
            SettingValue::Named(inner, _) => {
                if let SettingValue::Table(inner) = &**inner {
                    write_settings(out, &format!("{name}.NAME."), inner);
                }
            }
            _ => {}
        }
    }
}

/// What a key holds, in words.
fn describe_value(value: &SettingValue) -> String {
    let list = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
        quoted.join(", ")
    };
    match value {
        SettingValue::Text | SettingValue::Pattern(_) => "a string".to_owned(),
        SettingValue::Texts(_) => "a string or several".to_owned(),
        SettingValue::Plain => "a string, a number or a boolean, or several".to_owned(),
        SettingValue::Count => "a number of at least 1".to_owned(),
        SettingValue::Flag => "`true` or `false`".to_owned(),
        SettingValue::Date => "a date".to_owned(),
        // The rules have a list of their own.
        SettingValue::Rule(_) => "a rule".to_owned(),
        SettingValue::Word(words) => format!("one of {}", list(words)),
        SettingValue::Words(words) => format!("any of {}", list(words)),
        SettingValue::Table(_) => "a table".to_owned(),
        SettingValue::Tables(..) => "an array of tables".to_owned(),
        SettingValue::Named(inner, _) => {
            format!("a table of names, each with {}", describe_value(inner))
        }
        SettingValue::Levels => format!("a table of names, each with {}", list(severity_words())),
        SettingValue::FlagOrTables(_) => "`true`, a table, or several".to_owned(),
    }
}

/// The JSON schema (draft 7, which the editors of TOML read).
pub(super) fn render_schema() -> String {
    let settings = list_settings();
    let mut schema = build_table(&settings);
    // The values of a section can be floors for what builds on them.
    for section in settings.iter().filter(|it| matches!(it.value, SettingValue::Table(_))) {
        schema["properties"][section.key]["properties"]["floor"] = json!({ "type": "boolean" });
    }
    let head = [
        ("$schema", "http://json-schema.org/draft-07/schema#"),
        ("$id", ID),
        ("title", "abide.toml"),
        ("description", "The policy of a protobuf tree for Abide"),
    ];
    for (key, value) in head {
        schema[key] = value.into();
    }
    let names =
        level_names().into_iter().map(|it| (it.to_owned(), json!({"$ref": "#/definitions/level"})));
    let floor = ("floor".to_owned(), json!({ "type": "boolean" }));
    let levels: Map<String, Value> = names.chain([floor]).collect();
    schema["definitions"] = json!({
        "level": { "anyOf": [
            { "enum": severity_words() },
            {
                "type": "object",
                "properties": {
                    "level": { "enum": severity_words() },
                    "floor": { "type": "boolean" },
                },
                "required": ["level"],
                "additionalProperties": false,
            },
        ] },
        "levels": {
            "type": "object",
            "properties": levels,
            "patternProperties": { own_rule_form(): { "$ref": "#/definitions/level" } },
            "additionalProperties": false,
        },
    });
    format!("{schema:#}\n")
}

fn build_table(settings: &[Setting]) -> Value {
    let properties: Map<String, Value> = settings
        .iter()
        .map(|Setting { key, about, value }| {
            let mut value = build_value(value);
            value["description"] = (*about).into();
            ((*key).to_owned(), value)
        })
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn build_value(value: &SettingValue) -> Value {
    match value {
        SettingValue::Text => json!({ "type": "string" }),
        SettingValue::Pattern(form) => json!({ "type": "string", "pattern": form }),
        SettingValue::Texts(None) => one_or_several(json!({ "type": "string" })),
        SettingValue::Texts(Some(form)) => {
            one_or_several(json!({ "type": "string", "pattern": form }))
        }
        SettingValue::Plain => one_or_several(json!({ "type": ["string", "number", "boolean"] })),
        SettingValue::Count => json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
        SettingValue::Flag => json!({ "type": "boolean" }),
        // A TOML date reaches a schema as a string.
        SettingValue::Date => {
            json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" })
        }
        SettingValue::Word(words) => json!({ "enum": words }),
        SettingValue::Rule(rules) => json!({
            "anyOf": [{ "enum": rules }, { "type": "string", "pattern": own_rule_form() }],
        }),
        SettingValue::Words(words) => one_or_several(json!({ "enum": words })),
        SettingValue::Table(settings) => build_table(settings),
        SettingValue::Tables(settings, all, either) => {
            json!({ "type": "array", "items": build_item(settings, all, either) })
        }
        SettingValue::Named(value, form) => {
            let value = build_value(value);
            match form {
                None => json!({ "type": "object", "additionalProperties": value }),
                Some(form) => json!({
                    "type": "object",
                    "patternProperties": { *form: value },
                    "additionalProperties": false,
                }),
            }
        }
        SettingValue::Levels => json!({ "$ref": "#/definitions/levels" }),
        SettingValue::FlagOrTables(settings) => {
            let table = build_table(settings);
            json!({ "anyOf": [
                { "type": "boolean" },
                table,
                { "type": "array", "items": table },
            ] })
        }
    }
}

/// A table of an array, with the keys that it needs.
fn build_item(settings: &[Setting], all: &[&str], either: &[&str]) -> Value {
    let mut item = build_table(settings);
    if !all.is_empty() {
        item["required"] = all.into();
    }
    if !either.is_empty() {
        let ways: Vec<Value> = either.iter().map(|key| json!({ "required": [key] })).collect();
        item["oneOf"] = ways.into();
    }
    // A pattern of elements alone would waive everything.
    let has = |key: &str| settings.iter().any(|it| it.key == key);
    if has("rule") && has("element") {
        item["dependencies"] = json!({ "element": ["rule"] });
    }
    item
}

fn one_or_several(one: Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

#[cfg(test)]
mod tests;
