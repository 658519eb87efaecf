//! The configuration of api-linter: a list of paths with the rules that are on or off there.

use std::collections::BTreeMap;

use abide_lint::{Config, ConfigError, Preset};
use serde_json::json;

use super::policy::ForeignPolicy;
use super::yaml::{YamlNode, YamlValue, read};

/// All rules of api-linter, which are on by default.
const ALL: &str = "api-linter";

const KEYS: &[&str] =
    &["included_paths", "excluded_paths", "enabled_rules", "disabled_rules", "import_paths"];

/// The policy of a configuration in YAML or JSON; `None` if the text is none.
pub(super) fn parse_policy(text: &str) -> Result<Option<ForeignPolicy>, ConfigError> {
    let Some(YamlNode { value: YamlValue::List(items), .. }) = read(text)? else { return Ok(None) };
    let maps: Vec<&[(YamlNode, YamlNode)]> = items.iter().filter_map(entries).collect();
    if maps.is_empty() || !maps.iter().all(|map| map.iter().any(|(key, _)| is_known_key(key))) {
        return Ok(None);
    }
    let mut policy = ForeignPolicy {
        preset: Preset::Google,
        of: "the configuration of api-linter",
        tables: format!("\n[rules]\n{} = \"error\"\n", json!(ALL)),
        notes: Vec::new(),
    };
    for map in maps {
        policy.add(map);
    }
    Ok(Some(policy))
}

fn entries(node: &YamlNode) -> Option<&[(YamlNode, YamlNode)]> {
    match &node.value {
        YamlValue::Map(entries) => Some(entries),
        _ => None,
    }
}

fn is_known_key(key: &YamlNode) -> bool {
    key.text().is_some_and(|it| KEYS.contains(&it))
}

/// The items of a list in a map; none if it has no such list.
fn get_list<'n>(map: &'n [(YamlNode, YamlNode)], name: &str) -> Vec<&'n YamlNode> {
    match map.iter().find(|(key, _)| key.is(name)).map(|(_, value)| &value.value) {
        Some(YamlValue::List(items)) => items.iter().collect(),
        _ => Vec::new(),
    }
}

impl ForeignPolicy {
    fn add(&mut self, map: &[(YamlNode, YamlNode)]) {
        let mut files = Vec::new();
        let included = get_list(map, "included_paths");
        let is_for_part = !included.is_empty();
        for node in included {
            match node.text().and_then(parse_glob) {
                Some(path) => files.push(path),
                None => self.drop(node, "name folders and files in `files` of an `[[override]]`"),
            }
        }
        for name in ["excluded_paths", "import_paths"] {
            for node in get_list(map, name) {
                self.drop(node, "list folders that are not checked in `import-paths`");
            }
        }
        let mut levels: BTreeMap<String, &str> = BTreeMap::new();
        // What is on and off is off.
        for (name, level) in [("enabled_rules", "error"), ("disabled_rules", "off")] {
            for node in get_list(map, name) {
                match node.text().and_then(find_alias) {
                    Some(alias) => drop(levels.insert(alias, level)),
                    None => self.drop(node, "abide has no such rule"),
                }
            }
        }
        // What no path can be said for must not hold everywhere.
        if levels.is_empty() || is_for_part && files.is_empty() {
            return;
        }
        // Without a path, or with that of the whole tree, it holds everywhere.
        let part = match files.iter().any(|it| it == ".") || files.is_empty() {
            true => String::new(),
            false => format!("files = {}\n", json!(files)),
        };
        let levels = levels.iter().map(|(alias, level)| format!("{} = \"{level}\"", json!(alias)));
        let rules = levels.collect::<Vec<_>>().join(", ");
        self.tables.push_str(&format!("\n[[override]]\n{part}rules = {{ {rules} }}\n"));
    }

    fn drop(&mut self, node: &YamlNode, why: &str) {
        let name = node.text().unwrap_or("this value");
        self.notes.push(format!("line {}: `{name}` was dropped: {why}", node.line));
    }
}

/// The folder or file that a glob means; `None` if it means something else.
fn parse_glob(glob: &str) -> Option<String> {
    let path = glob.trim_start_matches("./");
    let path = path.strip_suffix("*.proto").unwrap_or(path);
    let path = path.strip_suffix("**/").or(path.strip_suffix("**")).unwrap_or(path);
    let path = path.trim_end_matches('/');
    let is_plain = !path.contains(['*', '?', '[', '{']);
    // One `*` does not reach into folders.
    let is_deep = glob.contains("**") || glob.ends_with(".proto") && !glob.contains('*');
    let path = if path.is_empty() { "." } else { path };
    (is_plain && is_deep).then(|| path.to_owned())
}

/// Returns the name in `[rules]` of a rule such as `core::0192::has-comments`, or of all rules of
/// an AIP; `None` if Abide has no such rule.
fn find_alias(rule: &str) -> Option<String> {
    let alias = match rule {
        "all" | "core" => ALL.to_owned(),
        rule => format!("{ALL}:{rule}"),
    };
    let text = format!("[rules]\n{} = \"off\"\n", json!(alias));
    Config::parse(&text, None).is_ok().then_some(alias)
}
