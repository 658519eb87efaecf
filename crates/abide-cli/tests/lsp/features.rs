//! What an editor asks about names, and the edits that it is offered.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, capabilities, uri};
use crate::law::commit;
use crate::run::put;

const MONEY: &str = "\
syntax = \"proto3\";
package acme.type.v1;
// An amount. 😀 字
message Money {
  string currency = 1;
  int64 units = 2 [deprecated = true];
}
";
const SHOP: &str = "\
syntax = \"proto3\";
package acme.shop.v1;
import \"acme/type/v1/money.proto\";
/* 😀 */ message Order { acme.type.v1.Money price = 1; reserved 5 to 7; }
message Cart {
  repeated Order orders = 1;
  map<string, Order> by_id = 2;
}
";

fn world() -> (TempDir, Client) {
    let folder = TempDir::new().unwrap();
    put(
        folder.path(),
        &[
            ("abide.toml", "against = \"git:HEAD\"\n"),
            ("acme/type/v1/money.proto", MONEY),
            ("acme/type/v1/unit.proto", "syntax = \"proto3\";\npackage acme.type.v1;\n"),
            ("acme/shop/v1/shop.proto", SHOP),
        ],
    );
    commit(folder.path());
    let mut client = Client::start(folder.path(), &[]);
    client.open("acme/shop/v1/shop.proto", SHOP);
    (folder, client)
}

const SHOP_PATH: &str = "acme/shop/v1/shop.proto";
const MONEY_PATH: &str = "acme/type/v1/money.proto";

fn lines(found: &Value) -> Vec<String> {
    let list = found.as_array().expect("it is a list");
    let row = |it: &Value| {
        let uri = it["uri"].as_str().unwrap();
        let start = &it["range"]["start"];
        let name = uri.rsplit('/').next().unwrap();
        format!("{name}:{}:{}", start["line"], start["character"])
    };
    list.iter().map(row).collect()
}

#[test]
fn names_lead_to_declarations_and_uses() {
    let (folder, mut client) = world();
    let at = client.place(SHOP_PATH, SHOP, "Money price");
    let found = client.request("textDocument/definition", at.clone());
    assert_eq!(found["uri"], uri(&folder.path().join(MONEY_PATH)));
    assert_eq!(found["range"]["start"], json!({ "line": 3, "character": 8 }));
    let import = client.place(SHOP_PATH, SHOP, "acme/type");
    let found = client.request("textDocument/definition", import);
    assert_eq!(found["uri"], uri(&folder.path().join(MONEY_PATH)));
    let price = client.place(SHOP_PATH, SHOP, "price");
    let found = client.request("textDocument/typeDefinition", price);
    assert_eq!(found["range"]["start"], json!({ "line": 3, "character": 8 }));

    let mut order = client.place(SHOP_PATH, SHOP, "Order {");
    order["context"] = json!({ "includeDeclaration": true });
    let found = client.request("textDocument/references", order.clone());
    // The columns are those of UTF-16: the emoji counts two.
    assert_eq!(lines(&found), ["shop.proto:3:17", "shop.proto:5:11", "shop.proto:6:14"]);
    order["context"] = json!({ "includeDeclaration": false });
    assert_eq!(
        client.request("textDocument/references", order.clone()).as_array().unwrap().len(),
        2
    );
    let found = client.request("textDocument/documentHighlight", order);
    assert_eq!(found.as_array().unwrap().len(), 3);
    let mut money = at;
    money["context"] = json!({ "includeDeclaration": true });
    let found = client.request("textDocument/references", money);
    assert_eq!(lines(&found), ["shop.proto:3:38", "money.proto:3:8"]);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_hover_says_what_is_known() {
    let (_folder, mut client) = world();
    let text = SHOP.replace("price = 1;", "price = 1; int32 tip = 2;");
    client.replace(SHOP_PATH, 2, &text);
    let mut hover = |mark: &str| {
        let at = client.place(SHOP_PATH, &text, mark);
        let found = client.request("textDocument/hover", at);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let money = hover("Money price");
    for part in ["message Money", "acme.type.v1.Money", "An amount. 😀 字", "stable"] {
        assert!(money.contains(part), "{part}: {money}");
    }
    let price = hover("price");
    assert!(price.contains("acme.type.v1.Money price = 1;"), "{price}");
    assert!(price.contains("explicit presence") && !price.contains("new:"), "{price}");
    let tip = hover("tip");
    assert!(tip.contains("new: not in the old tree") && tip.contains("implicit presence"), "{tip}");
    assert_eq!(hover("reserved 5"), "");
    client.open(MONEY_PATH, MONEY);
    let at = client.place(MONEY_PATH, MONEY, "units");
    let found = client.request("textDocument/hover", at);
    assert!(found["contents"]["value"].as_str().unwrap().contains("**Deprecated**"), "{found}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_hover_says_since_when_a_package_exists() {
    let folder = TempDir::new().unwrap();
    let lock = "abide-lock 1\npackage acme.type.v1\nintroduced acme.type.v1 2026-01-15\n";
    put(folder.path(), &[("abide.toml", ""), ("abide.lock", lock), (MONEY_PATH, MONEY)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(MONEY_PATH, MONEY);
    let at = client.place(MONEY_PATH, MONEY, "Money {");
    let found = client.request("textDocument/hover", at);
    let text = found["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.contains("stable · introduced 2026-01-15"), "{text}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_rename_follows_all_uses_and_the_policy() {
    let (_folder, mut client) = world();
    // In a stable package that is in the old tree: refused, with the reason.
    let mut order = client.place(SHOP_PATH, SHOP, "Order {");
    order["newName"] = json!("Purchase");
    let id = client.begin("textDocument/rename", order);
    let error = client.answer(id).unwrap_err();
    let why = error["message"].as_str().unwrap();
    assert!(why.contains("Order") && why.contains("message-"), "{why}");
    // It says what breaks, and who uses it.
    let mut money = client.place(SHOP_PATH, SHOP, "Money price");
    money["newName"] = json!("Amount");
    let id = client.begin("textDocument/rename", money);
    let error = client.answer(id).unwrap_err();
    let why = error["message"].as_str().unwrap();
    assert!(why.contains("it breaks ") && why.contains("`acme.shop.v1` uses it"), "{why}");
    // What the old tree does not have breaks nobody.
    let text = SHOP.replace("message Cart", "message Extra { Extra next = 1; }\nmessage Cart");
    client.replace(SHOP_PATH, 2, &text);
    let mut extra = client.place(SHOP_PATH, &text, "Extra {");
    let range = client.request("textDocument/prepareRename", extra.clone());
    assert_eq!(range["placeholder"], "Extra");
    extra["newName"] = json!("More");
    let edit = client.request("textDocument/rename", extra.clone());
    let edits = edit["documentChanges"][0]["edits"].as_array().unwrap();
    let texts: Vec<&Value> = edits.iter().map(|it| &it["newText"]).collect();
    assert_eq!(texts, ["More", "More"]);
    extra["newName"] = json!("not a name");
    let id = client.begin("textDocument/rename", extra);
    assert!(client.answer(id).is_err());
    assert_eq!(client.stop(), Some(0));
}

const NESTED_PATH: &str = "acme/user/v1alpha/user.proto";
const NESTED: &str = "\
syntax = \"proto2\";
package acme.user.v1alpha;
message Request {
  message Inner {}
  optional Inner inner = 1;
  optional Level level = 2 [default = LEVEL_HIGH];
}
message Response {
  optional Request.Inner x = 1;
  optional .acme.user.v1alpha.Request.Inner y = 2;
}
enum Level {
  LEVEL_UNSPECIFIED = 0;
  LEVEL_HIGH = 1;
}
";

#[test]
fn a_name_before_a_dot_and_a_default_are_names_of_their_own() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("abide.toml", ""), (NESTED_PATH, NESTED)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(NESTED_PATH, NESTED);
    let ask = |client: &mut Client, method: &str, mark: &str| {
        let mut at = client.place(NESTED_PATH, NESTED, mark);
        at["context"] = json!({ "includeDeclaration": true });
        client.request(&format!("textDocument/{method}"), at)
    };
    let begin = |it: &Value| (it["line"].as_u64().unwrap(), it["character"].as_u64().unwrap());
    for (mark, declared, uses) in [
        ("Request.Inner x", (2, 8), vec!["2:8", "8:11", "9:30"]),
        ("Inner x", (3, 10), vec!["3:10", "4:11", "8:19", "9:38"]),
        ("LEVEL_HIGH]", (13, 2), vec!["5:38", "13:2"]),
        ("v1alpha.Request", (1, 18), vec!["1:18", "9:22"]),
        ("acme.user.v1alpha.R", (1, 8), vec!["1:8", "9:12"]),
    ] {
        let found = ask(&mut client, "definition", mark);
        assert_eq!(begin(&found["range"]["start"]), declared, "{mark}");
        let found = ask(&mut client, "references", mark);
        let uses: Vec<String> = uses.iter().map(|it| format!("user.proto:{it}")).collect();
        assert_eq!(lines(&found), uses, "{mark}");
        let found = ask(&mut client, "documentHighlight", mark);
        assert_eq!(found.as_array().unwrap().len(), uses.len(), "{mark}");
    }
    let hover = |client: &mut Client, mark: &str| {
        let found = ask(client, "hover", mark);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(hover(&mut client, "LEVEL_HIGH]").contains("LEVEL_HIGH = 1;"));
    assert!(hover(&mut client, "v1alpha.Request").contains("package acme.user.v1alpha;"));
    assert!(hover(&mut client, "acme.user.v1alpha.R").contains("begins the names of 1 package"));
    for (mark, old, new) in [
        ("Request {", "Request", "Query"),
        ("Request.Inner x", "Request", "Query"),
        ("LEVEL_HIGH = 1", "LEVEL_HIGH", "LEVEL_TOP"),
        ("LEVEL_HIGH]", "LEVEL_HIGH", "LEVEL_TOP"),
    ] {
        let mut at = client.place(NESTED_PATH, NESTED, mark);
        let range = client.request("textDocument/prepareRename", at.clone());
        assert_eq!(range["placeholder"], old);
        at["newName"] = json!(new);
        let edit = client.request("textDocument/rename", at);
        let renamed = applied(NESTED, &edit["documentChanges"][0]["edits"]);
        assert_eq!(renamed, NESTED.replace(old, new), "{mark}");
    }
    let mut at = client.place(NESTED_PATH, NESTED, "acme.user.v1alpha.R");
    at["newName"] = json!("corp");
    let id = client.begin("textDocument/rename", at);
    let why = client.answer(id).unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("is a package"), "{why}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_reference_that_another_type_would_catch_is_written_in_full() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.user.v1alpha;\nmessage A {}\nmessage B {\n  message C {}\n  A a = 1;\n  C c = 2;\n}\n";
    put(folder.path(), &[("abide.toml", ""), (NESTED_PATH, text)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(NESTED_PATH, text);
    let mut at = client.place(NESTED_PATH, text, "C {}");
    at["newName"] = json!("A");
    let edit = client.request("textDocument/rename", at);
    let renamed = applied(text, &edit["documentChanges"][0]["edits"]);
    let wanted = text.replace("  A a", "  .acme.user.v1alpha.A a").replace("C c", "A c");
    assert_eq!(renamed, wanted.replace("message C", "message A"));
    // What is declared already cannot be declared again.
    let mut at = client.place(NESTED_PATH, text, "A {}");
    at["newName"] = json!("B");
    let id = client.begin("textDocument/rename", at);
    let why = client.answer(id).unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("Not renamed: "), "{why}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_rename_waits_for_a_file_that_does_not_parse() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.user.v1alpha;\nmessage A {}\nmessage B {}\n";
    let other = "syntax = \"proto3\";\npackage acme.user.v1alpha;\nmessage C { A a = ; } // Both\n";
    put(
        folder.path(),
        &[("abide.toml", ""), (NESTED_PATH, text), ("acme/user/v1alpha/c.proto", other)],
    );
    let mut client = Client::start(folder.path(), &[]);
    client.open(NESTED_PATH, text);
    let mut rename = |mark: &str| {
        let mut at = client.place(NESTED_PATH, text, mark);
        at["newName"] = json!("Fresh");
        let id = client.begin("textDocument/rename", at);
        client.answer(id)
    };
    let why = rename("A {}").unwrap_err();
    let why = why["message"].as_str().unwrap();
    assert!(why.contains("`acme/user/v1alpha/c.proto` has syntax errors"), "{why}");
    assert!(rename("B {}").is_ok());
}

fn labels(found: &Value) -> Vec<String> {
    let items = found["items"].as_array().expect("it is a list");
    items.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn completions_fit_their_place() {
    let (_folder, mut client) = world();
    let mut version = 1;
    let mut complete = |line: &str, before: &str| {
        version += 1;
        let text = SHOP.replace(before, &format!("{line}{before}"));
        client.replace(SHOP_PATH, version, &text);
        let at = text.find(line).unwrap() + line.trim_end_matches('\n').len();
        let position = crate::client::position(&text, at);
        let params =
            json!({ "textDocument": { "uri": client.uri(SHOP_PATH) }, "position": position });
        client.request("textDocument/completion", params)
    };
    let cart = "  repeated Order orders";
    let has = |found: &Value, label: &str| {
        assert!(labels(found).iter().any(|it| it == label), "{label}: {:?}", labels(found));
    };
    has(&complete("  Or\n", cart), "Order");
    has(&complete("  acme.type.v1.M\n", cart), "acme.type.v1.Money");
    has(&complete("  str\n", cart), "string");
    has(&complete("  ma\n", cart), "map …");
    has(&complete("import \"acme\n", "/* 😀"), "acme/type/v1/unit.proto");
    has(&complete("import \"google/protobuf/ti\n", "/* 😀"), "google/protobuf/timestamp.proto");
    // Behind what is used and what is reserved.
    has(&complete(" string note = ", "reserved 5"), "8");
    has(&complete("  string note = \n", cart), "3");
    has(&complete("  string note = 9 [dep\n", cart), "deprecated");
    has(&complete("  string note = 9 [deprecated = \n", cart), "true");
    has(&complete("option java_pack\n", "/* 😀"), "java_package");
    has(&complete("edition = \"20\n", "/* 😀"), "2026");
    has(&complete("syntax = \"\n", "/* 😀"), "proto3");
    has(&complete("option optimize_for = \n", "/* 😀"), "CODE_SIZE");
    // A type of a file that is not imported brings its import.
    let found = complete("  google.protobuf.Timest\n", cart);
    let item = found["items"].as_array().unwrap().iter();
    let item = item.clone().find(|it| it["label"] == "google.protobuf.Timestamp").unwrap();
    let import = item["additionalTextEdits"][0]["newText"].as_str().unwrap();
    assert_eq!(import, "import \"google/protobuf/timestamp.proto\";\n");
    // Nothing in comments.
    assert_eq!(
        complete("  // Or\n", cart)["items"].as_array().map(Vec::len).unwrap_or_default(),
        0
    );
    assert_eq!(client.stop(), Some(0));
}

const SHELF_PATH: &str = "acme/shop/v1/shelf.proto";

/// A file in some edition, beside nothing else.
fn shelf(edition: &str) -> String {
    format!(
        "edition = \"{edition}\";\npackage acme.shop.v1;\noption features.utf8_validation = NONE;\n\
         message Shelf {{\n  string label = 1;\n  repeated int32 sizes = 2 \
         [features.repeated_field_encoding = EXPANDED];\n}}\n"
    )
}

#[test]
fn completions_know_the_edition() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("abide.toml", ""), (SHELF_PATH, &shelf("2023"))]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(SHELF_PATH, &shelf("2023"));
    let mut version = 1;
    let mut complete = |edition: &str, line: &str, before: &str| {
        version += 1;
        let text = shelf(edition).replace(before, &format!("{line}\n{before}"));
        client.replace(SHELF_PATH, version, &text);
        let position = crate::client::position(&text, text.find(line).unwrap() + line.len());
        let params =
            json!({ "textDocument": { "uri": client.uri(SHELF_PATH) }, "position": position });
        labels(&client.request("textDocument/completion", params))
    };
    let (label, message) = ("  string label", "message Shelf");
    let names =
        |names: &[&str]| -> Vec<String> { names.iter().map(|it| (*it).to_owned()).collect() };
    let field = "  string note = 9 [features.";
    assert_eq!(
        complete("2023", field, label),
        names(&[
            "features.field_presence",
            "features.utf8_validation",
            "features.message_encoding",
            "features.repeated_field_encoding",
        ])
    );
    let value = "  string note = 9 [features.field_presence = ";
    assert_eq!(complete("2023", value, label), names(&["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"]));
    let style = "option features.enforce_naming_style = ";
    assert_eq!(
        complete("2024", style, message),
        names(&["STYLE2024", "STYLE2026", "STYLE_LEGACY"])
    );
    assert!(complete("2026", style, message).contains(&"STYLE2026".to_owned()));
    assert_eq!(complete("2023", "option features.enforce_n", message), names(&[]));
    let strict = "option features.default_symbol_visibility = STR";
    assert_eq!(complete("2026", strict, message), names(&["STRICT"]));
    // What an edition no longer has, and words of another one.
    assert_eq!(
        complete("2023", "option java_multiple_f", message),
        names(&["java_multiple_files"])
    );
    assert_eq!(complete("2024", "option java_multiple_f", message), names(&[]));
    let has = |found: Vec<String>, word: &str| found.iter().any(|it| it == word);
    assert!(!has(complete("2023", "exp", message), "export"));
    assert!(has(complete("2024", "exp", message), "export"));
    assert!(!has(complete("2024", "  req", label), "required"));
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_hover_says_what_decides_about_a_feature() {
    let folder = TempDir::new().unwrap();
    let text = shelf("2026");
    put(folder.path(), &[("abide.toml", ""), (SHELF_PATH, &text)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(SHELF_PATH, &text);
    let mut hover = |mark: &str| {
        let at = client.place(SHELF_PATH, &text, mark);
        let found = client.request("textDocument/hover", at);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let label = hover("label");
    let features = "`features.field_presence = EXPLICIT` (default of edition 2026) · \
                    `features.utf8_validation = NONE` (set for the file)";
    assert!(label.contains(features), "{label}");
    let sizes = hover("sizes");
    assert!(sizes.contains("`features.repeated_field_encoding = EXPANDED` (set here)"), "{sizes}");
    let shelf = hover("Shelf");
    let visibility = "local to its file, by `features.default_symbol_visibility = STRICT` \
                      (default of edition 2026)";
    assert!(shelf.contains(visibility), "{shelf}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_hover_does_not_guess_what_an_unknown_edition_means() {
    let folder = TempDir::new().unwrap();
    let text = shelf("2027");
    put(folder.path(), &[("abide.toml", ""), (SHELF_PATH, &text)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(SHELF_PATH, &text);
    let mut hover = |mark: &str| {
        let at = client.place(SHELF_PATH, &text, mark);
        let found = client.request("textDocument/hover", at);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let label = hover("label");
    let features = "`features.field_presence` is unknown (default of an unknown edition) · \
                    `features.utf8_validation = NONE` (set for the file)";
    assert!(label.contains(features) && !label.contains("explicit"), "{label}");
    let shelf = hover("Shelf");
    assert!(!shelf.contains("local") && !shelf.contains("exported"), "{shelf}");
    assert_eq!(client.stop(), Some(0));
}

/// Makes the edits of a text, the last first.
fn applied(text: &str, edits: &Value) -> String {
    let offset = |it: &Value| {
        let line = it["line"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = it["character"].as_u64().unwrap() as usize;
        let mut at = start;
        for letter in text[start..].chars() {
            if units == 0 {
                break;
            }
            units -= letter.len_utf16();
            at += letter.len_utf8();
        }
        at
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let (start, end) = (offset(&it["range"]["start"]), offset(&it["range"]["end"]));
            (start, end, it["newText"].as_str().unwrap().to_owned())
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    text
}

/// Takes the action whose title begins so, for the first finding of a rule.
fn act(client: &mut Client, text: &str, version: i64, rule: &str, title: &str) -> String {
    let is_it = |at: Option<i64>, found: &[Value]| {
        at == Some(version) && found.iter().any(|it| it["code"] == rule)
    };
    let found = client.wait_for(SHOP_PATH, is_it);
    let diagnostic = found.iter().find(|it| it["code"] == rule).unwrap();
    let params = json!({
        "textDocument": { "uri": client.uri(SHOP_PATH) },
        "range": diagnostic["range"],
        "context": { "diagnostics": [diagnostic] },
    });
    let actions = client.request("textDocument/codeAction", params);
    let list = actions.as_array().unwrap();
    let action = list.iter().find(|it| {
        it["title"].as_str().unwrap().starts_with(title) && it["diagnostics"][0]["code"] == rule
    });
    let action = action.unwrap_or_else(|| panic!("{title}: {actions:#}"));
    applied(text, &action["edit"]["documentChanges"][0]["edits"])
}

#[test]
fn quick_fixes_mend_what_is_shown() {
    let (_folder, mut client) = world();
    // A removed field: its number and name are reserved.
    let text = SHOP.replace("  map<string, Order> by_id = 2;\n", "");
    client.replace(SHOP_PATH, 2, &text);
    let fixed = act(&mut client, &text, 2, "field-removed", "Reserve");
    assert!(fixed.contains("  reserved 2;\n  reserved \"by_id\";\n"), "{fixed}");
    // Where only a major version may remove it, that is not enough: it can come back.
    let back = act(&mut client, &text, 2, "field-removed", "Put `by_id` back");
    assert_eq!(back.matches("  map<string, Order> by_id = 2;\n").count(), 1, "{back}");
    let waived = act(&mut client, &text, 2, "field-removed", "Waive");
    assert!(waived.contains("// abide:allow(field-removed, fingerprint = "), "{waived}");
    client.replace(SHOP_PATH, 3, &waived);
    let found = client.diagnostics(SHOP_PATH, 3);
    assert!(!found.iter().any(|it| it.ends_with("field-removed")), "{found:?}");
    // An import that is missing, and one that is not needed.
    let text = SHOP.replace("import \"acme/type/v1/money.proto\";\n", "");
    client.replace(SHOP_PATH, 4, &text);
    let fixed = act(&mut client, &text, 4, "name-not-found", "Add `import");
    assert!(fixed.contains("import \"acme/type/v1/money.proto\";"), "{fixed}");
    client.replace(SHOP_PATH, 5, &fixed);
    let clean = client.diagnostics(SHOP_PATH, 5);
    assert!(!clean.iter().any(|it| it.ends_with("name-not-found")), "{clean:?}");
    // A name with a letter too few.
    let misspelt = SHOP.replace("repeated Order", "repeated Oder");
    client.replace(SHOP_PATH, 51, &misspelt);
    assert_eq!(act(&mut client, &misspelt, 51, "name-not-found", "Write `Order`"), SHOP);
    let misspelt = SHOP.replace("acme/type/v1", "acme/Type/v1");
    client.replace(SHOP_PATH, 52, &misspelt);
    assert_eq!(act(&mut client, &misspelt, 52, "import-not-found", "Import `acme/type"), SHOP);
    // A well-known type that nobody imports.
    let text = SHOP.replace("map<string, Order> by_id", "google.protobuf.Duration by_id");
    client.replace(SHOP_PATH, 56, &text);
    let fixed = act(&mut client, &text, 56, "name-not-found", "Add `import");
    assert!(fixed.contains("import \"google/protobuf/duration.proto\";"), "{fixed}");
    let text =
        SHOP.replace("import \"acme", "import \"google/protobuf/any.proto\";\nimport \"acme");
    client.replace(SHOP_PATH, 57, &text);
    assert_eq!(act(&mut client, &text, 57, "import-unused", "Remove"), SHOP);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_candidate_is_made_where_the_package_is_named() {
    let (folder, mut client) = world();
    let at = client.place(SHOP_PATH, SHOP, "acme.shop");
    let range = json!({ "start": at["position"], "end": at["position"] });
    let params = json!({
        "textDocument": at["textDocument"], "range": range, "context": { "diagnostics": [] },
    });
    let actions = client.request("textDocument/codeAction", params);
    let action = actions.as_array().unwrap().iter().find(|it| it.get("command").is_some());
    let command = &action.unwrap_or_else(|| panic!("{actions:#}"))["command"];
    let done = json!({ "command": command["command"], "arguments": command["arguments"] });
    client.request("workspace/executeCommand", done);
    let applied = client.told.iter().find(|it| it["method"] == "workspace/applyEdit").unwrap();
    let changes = applied["params"]["edit"]["documentChanges"].as_array().unwrap();
    let created = uri(&folder.path().join("acme/shop/v2alpha/shop.proto"));
    assert!(
        changes.iter().any(|it| it["kind"] == "create" && it["uri"] == created),
        "{changes:#?}"
    );
    let text = changes.last().unwrap()["edits"][0]["newText"].as_str().unwrap();
    assert!(text.contains("package acme.shop.v2alpha;"), "{text}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn the_shape_of_a_file_is_known() {
    let (folder, mut client) = world();
    let about = json!({ "textDocument": { "uri": client.uri(SHOP_PATH) } });
    let symbols = client.request("textDocument/documentSymbol", about.clone());
    let names: Vec<&str> =
        symbols.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["acme.shop.v1", "Order", "Cart"]);
    assert_eq!(symbols[2]["children"][1]["name"], "by_id");
    assert_eq!(symbols[2]["children"][1]["detail"], "map<string, Order> = 2");
    let links = client.request("textDocument/documentLink", about.clone());
    assert_eq!(links[0]["target"], uri(&folder.path().join(MONEY_PATH)));
    let folds = client.request("textDocument/foldingRange", about);
    assert_eq!(folds[0]["startLine"], 4);
    let found = client.request("workspace/symbol", json!({ "query": "mon" }));
    assert_eq!(found[0]["name"], "Money");
    assert_eq!(found[0]["containerName"], "acme.type.v1");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn formatting_keeps_line_ends_and_refuses_broken_text() {
    let (_folder, mut client) = world();
    let text = "syntax = \"proto3\";\r\npackage acme.shop.v1;\r\n\r\nmessage  A{ string  a=1; }\r\n// 😀\r\n";
    client.replace(SHOP_PATH, 2, text);
    let params = json!({
        "textDocument": { "uri": client.uri(SHOP_PATH) },
        "options": { "tabSize": 2, "insertSpaces": true },
    });
    let edits = client.request("textDocument/formatting", params.clone());
    let formatted = applied(text, &edits);
    let wanted = abide_format::format(text.as_bytes()).unwrap();
    assert_eq!(formatted.as_bytes(), wanted);
    client.replace(SHOP_PATH, 3, "message {");
    let id = client.begin("textDocument/formatting", params);
    assert!(client.answer(id).is_err());
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_client_that_asks_for_diagnostics_gets_them() {
    let (folder, client) = world();
    client.stop();
    let mut client = Client::silent(folder.path(), &[]);
    let mut able = capabilities();
    able["textDocument"]["diagnostic"] = json!({});
    able["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
    able["general"]["positionEncodings"] = json!(["utf-32", "utf-8"]);
    let answer = client.initialize(able);
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
    let text = SHOP.replace("Money price", "Monkey price");
    client.open(SHOP_PATH, &text);
    let about = json!({ "textDocument": { "uri": client.uri(SHOP_PATH) } });
    let found = client.request("textDocument/diagnostic", about);
    let first = &found["items"][0];
    assert_eq!(found["kind"], "full");
    let found = found["items"].as_array().unwrap();
    let item = found.iter().find(|it| it["code"] == "name-not-found").unwrap_or(first);
    assert_eq!(item["range"]["start"], json!({ "line": 3, "character": 27 }));
    assert!(client.shown.is_empty());
    assert_eq!(client.stop(), Some(0));
}
