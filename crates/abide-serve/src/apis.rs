//! What the clients of each release understand.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use abide_instance::{Instance, Notation, ReadOptions, Translator, VersionMapping};
use abide_schema::value::Message;
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_xds::{Snapshot, Understanding, View};
use semver::VersionReq;

use crate::wire::Node;

/// The API that declares what is served, and those that older clients understand.
pub(crate) struct Apis {
    pub(crate) newest: Tree,
    /// Those of older releases.
    older: Vec<Tree>,
    table: Vec<Row>,
}

/// What the operator says about some clients.
#[derive(Clone, Debug)]
struct Row {
    user_agent: String,
    version: VersionReq,
    /// The number of their API among the older ones.
    api: usize,
}

/// What some clients understand; the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    /// The number of their API among the older ones.
    api: Option<usize>,
    /// Whether they ask for the second major of the types of the protocol.
    is_second_major: bool,
}

impl Apis {
    /// All clients understand the API that declares what is served.
    pub(crate) fn new(newest: Tree) -> Apis {
        Apis { newest, older: Vec::new(), table: Vec::new() }
    }

    /// Reads a table of clients: in TOML, YAML or JSON, by how its name ends. Returns
    /// what the operator should know about the APIs that it names.
    ///
    /// # Errors
    /// What is wrong with the table or with a source that it names: one phrase.
    pub(crate) fn read_clients(
        &mut self,
        path: &Path,
        import_paths: &[String],
    ) -> Result<Vec<String>, String> {
        let name = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|it| format!("cannot read `{name}`: {it}"))?;
        let rows = rows(&path.to_string_lossy(), &text).map_err(|it| format!("`{name}`: {it}"))?;
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut notes = Vec::new();
        for [user_agent, version, source] in rows {
            let version = if version.is_empty() { "*" } else { &version };
            let version = VersionReq::parse(version).map_err(|error| {
                format!("`{name}`: `{version}` is no requirement of a version: {error}")
            })?;
            let api = match known.get(&source) {
                Some(&api) => api,
                None => {
                    let api = abide_cli::Api::read(&source, import_paths)?;
                    notes.extend(api.notes);
                    self.older.push(api.tree);
                    known.insert(source, self.older.len() - 1);
                    self.older.len() - 1
                }
            };
            self.table.push(Row { user_agent, version, api });
        }
        Ok(notes)
    }

    /// What a client understands: by what it asks for first, and by the first row of
    /// the table that fits.
    pub(crate) fn group_of(&self, node: &Node, type_url: &str) -> Group {
        let version = node.version();
        let fits = |row: &&Row| {
            row.user_agent.eq_ignore_ascii_case(&node.user_agent_name)
                && version.as_ref().is_some_and(|version| row.version.matches(version))
        };
        let is_older = |it: &abide_xds::Service| it.type_url(2).is_some_and(|url| url == type_url);
        Group {
            api: self.table.iter().find(fits).map(|row| row.api),
            is_second_major: abide_xds::Service::ALL.iter().any(is_older),
        }
    }

    /// A snapshot as a group of clients can hold it.
    pub(crate) fn view(&self, group: Group, snapshot: &Arc<Snapshot>, before: &View) -> View {
        if group == (Group { api: None, is_second_major: false }) {
            return View::whole(Arc::clone(snapshot));
        }
        let translator = Translator::new(&self.newest, VersionMapping::default(), &[]);
        let translator = translator.expect("without declared steps, none can be wrong");
        let understanding = Understanding {
            newest: &self.newest,
            theirs: group.api.and_then(|api| self.older.get(api)),
            down: group.is_second_major.then_some(&translator),
        };
        View::of(snapshot, understanding, before)
    }
}

const TABLE: &str = r#"
syntax = "proto3";
package abide.serve.v1;
message ClientTable { repeated Client clients = 1; }
message Client { string user_agent = 1; string version = 2; string api = 3; }
"#;

/// The rows of a table: user agent, version and API.
fn rows(name: &str, text: &str) -> Result<Vec<[String; 3]>, String> {
    let text = match name.ends_with(".toml") {
        true => {
            let table: toml_edit::DocumentMut = text.parse().map_err(|it| format!("{it}"))?;
            json_of(table.as_item())?.to_string()
        }
        false => text.to_owned(),
    };
    let path: Arc<str> = "abide/serve/v1/clients.proto".into();
    let text_of_table = TABLE.as_bytes().into();
    let display = Arc::clone(&path);
    let file = SourceFile { path, display, root: 0, imported: false, text: text_of_table };
    let tree = Tree::link(vec![Arc::new(FileDecl::parse(file))]);
    let ty = tree.message_named("abide.serve.v1.ClientTable").expect("it is declared above").id;
    let options = ReadOptions { notation: Notation::Yaml, ty: Some(ty), dialect: None };
    let read = Instance::read(&tree, text.as_bytes(), options);
    let readings = || read.documents.iter().filter_map(|it| it.reading.as_ref());
    let errors = read.errors.iter().chain(readings().flat_map(|it| &it.errors));
    if let Some(error) = errors.map(|it| &it.message).next() {
        return Err(error.clone());
    }
    if let Some(unknown) = readings().flat_map(|it| &it.undeclared).next() {
        return Err(format!("there is no key `{}`", unknown.name));
    }
    let text = |row: &Message, field| row.str(&tree, field).unwrap_or_default().to_owned();
    let rows = readings().flat_map(|it| it.message.get_all(&tree, "clients"));
    let rows = rows.filter_map(|it| it.value.as_message());
    Ok(rows.map(|row| ["user_agent", "version", "api"].map(|field| text(row, field))).collect())
}

/// A value of TOML in JSON, as far as a table of clients has them.
fn json_of(item: &toml_edit::Item) -> Result<serde_json::Value, String> {
    if let Some(table) = item.as_table_like() {
        let members = table.iter().map(|(key, it)| Ok((key.to_owned(), json_of(it)?)));
        return members.collect::<Result<serde_json::Map<_, _>, String>>().map(Into::into);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|it| json_of(&toml_edit::Item::Table(it.clone()))).collect();
    }
    if let Some(array) = item.as_array() {
        return array.iter().map(|it| json_of(&toml_edit::Item::Value(it.clone()))).collect();
    }
    item.as_str().map(Into::into).ok_or_else(|| "expected strings only".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_clients_is_read_in_three_notations() {
        let expected = vec![["envoy", "<1.38", "old.binpb"].map(str::to_owned)];
        let toml =
            "[[clients]]\nuser_agent = \"envoy\"\nversion = \"<1.38\"\napi = \"old.binpb\"\n";
        let yaml = "clients:\n- {user_agent: envoy, version: <1.38, api: old.binpb}\n";
        let json = r#"{"clients":[{"user_agent":"envoy","version":"<1.38","api":"old.binpb"}]}"#;
        assert_eq!(rows("c.toml", toml).as_ref(), Ok(&expected));
        assert_eq!(rows("c.yaml", yaml).as_ref(), Ok(&expected));
        assert_eq!(rows("c.json", json).as_ref(), Ok(&expected));
        assert_eq!(
            rows("c.yaml", "clients:\n- {agent: envoy}\n"),
            Err("there is no key `agent`".to_owned())
        );
        assert!(rows("c.toml", "clients = 1").is_err());
    }
}
