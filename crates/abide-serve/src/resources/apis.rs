//! What the clients of each release understand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_instance::{Instance, Notation, ReadOptions, VersionConverter, VersionMapping};
use abide_schema::value::Message;
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_xds::wire::{Node, VersionedTypeUrl};
use abide_xds::{
    ClientCapabilities, ClientProfile, Minor, Release, Releases, Snapshot, SupportedFields,
    TYPE_URL_PREFIX, Types, View,
};
use clap::Args;
use semver::{Version, VersionReq};

use super::types_file::TypesFile;
use crate::error::Error;

/// The APIs of what is served and of clients.
#[derive(Args, Clone, Debug)]
pub(crate) struct ApiArgs {
    /// The API that declares them: a folder, `git:REV`, an archive, a descriptor set, or a program
    /// that carries its API, such as Envoy (repeatable: the first is the newest, and each other one is
    /// what clients of an older release understand, who are known by the extensions that they list)
    #[arg(long, value_name = "SOURCE", required = true)]
    api: Vec<String>,
    /// A folder to find imports of the API in
    #[arg(short = 'I', long, value_name = "DIR")]
    import_path: Vec<String>,
    /// What older clients understand: a table in TOML, YAML or JSON
    ///
    /// A row has the key `api` (a SOURCE). A client gets what the API of its own release has, which
    /// it is known by from the extensions that it lists; one that lists none, by the keys
    /// `user_agent` and `version` (such as `<1.38`). What it does not know is not sent to it, and
    /// `/clients` shows what it misses.
    #[arg(long, value_name = "FILE")]
    clients: Option<PathBuf>,
    /// Steps that give older clients an older form of what they do not know: files, folders, or
    /// `envoy` for those from v3 to v2 of Envoy's API (repeatable)
    #[arg(long, value_name = "PATH")]
    steps: Vec<String>,
    /// A file that describes more types of resource, in TOML: a table `[[types]]` for each
    ///
    /// `name` and `message` are needed; `service`, `methods` and `rest` say how clients ask for it.
    /// Without them, it is served on aggregated streams alone. The page "Serving" of the book lists
    /// all keys.
    #[arg(long, value_name = "FILE")]
    types: Option<PathBuf>,
}

/// The API that declares what is served, and those of the releases that clients are of.
pub(crate) struct Apis {
    pub(crate) newest: &'static Tree,
    releases: Releases<'static>,
    /// The sources of the releases but the newest, in their order.
    sources: Vec<String>,
    /// How what is served becomes what older clients understand.
    translator: VersionConverter<'static>,
    table: Vec<ClientRule>,
}

/// What the operator says about some clients.
#[derive(Clone, Debug)]
struct ClientRule {
    user_agent: String,
    version: VersionReq,
    /// The number of their release.
    release: usize,
}

impl Apis {
    /// Reads the API that declares what is served, those of older clients, and the steps between
    /// them. Returns also what the operator should know about them.
    ///
    /// # Errors
    /// A file or a source that cannot be read, or is wrong.
    pub(crate) fn read(args: &ApiArgs) -> Result<(Apis, Vec<String>), Error> {
        let source = args.api.first().map_or(".", String::as_str);
        let mut notes = Vec::new();
        let described = args.types.as_deref().map(TypesFile::read).transpose()?;
        let types = described.as_ref().map(TypesFile::types).transpose()?.unwrap_or_default();
        let newest = read_release(source, &args.import_path, &mut notes)?;
        if let Some(described) = &described {
            described.check(newest.tree)?;
        }
        let (mut older, mut sources, mut table) = (Vec::new(), Vec::new(), Vec::new());
        let rows = args.clients.as_deref().map(read_rows).transpose()?;
        let more = args.api.iter().skip(1).filter(|it| *it != source).map(|api| ClientRow {
            user_agent: String::new(),
            version: VersionReq::STAR,
            api: api.clone(),
        });
        for ClientRow { user_agent, version, api } in rows.into_iter().flatten().chain(more) {
            let number = match sources.iter().position(|it| *it == api) {
                Some(number) => number,
                None => {
                    older.push(read_release(&api, &args.import_path, &mut notes)?);
                    sources.push(api);
                    sources.len() - 1
                }
            };
            table.push(ClientRule { user_agent, version, release: number + 1 });
        }
        let tree = newest.tree;
        let steps = abide_source::read_steps(&args.steps, &mut notes)
            .map_err(|error| Error::Api(error.to_string()))?;
        let translator = VersionConverter::new(tree, VersionMapping::default(), &steps);
        let translator =
            translator.map_err(|fault| Error::Api(format!("a step: {}", fault.message)))?;
        let features = translator.iter_features().map(str::to_owned).collect();
        let releases = Releases::new(newest, older, features).with_types(types);
        Ok((Apis { newest: tree, releases, sources, translator, table }, notes))
    }

    /// The types of resource that are served.
    pub(crate) fn types(&self) -> &Types {
        self.releases.types()
    }

    /// Decides what a client is served, by its first request.
    ///
    /// # Errors
    /// More than a client may say.
    pub(crate) fn resolve_profile(
        &self,
        node: &Node,
        type_url: &str,
        listed: Vec<VersionedTypeUrl>,
    ) -> Result<ClientProfile, Error> {
        let version = node.version();
        let fits = |row: &&ClientRule| {
            !row.user_agent.is_empty()
                && row.user_agent.eq_ignore_ascii_case(&node.user_agent_name)
                && version.as_ref().is_some_and(|version| row.version.matches(version))
        };
        let operators_word = self.table.iter().find(fits).map(|row| row.release);
        Ok(self.releases.resolve_profile(&ClientCapabilities {
            operator_release: operators_word,
            ..node.capabilities(type_url, listed)
        })?)
    }

    /// Decides what a client is served after a further request, if that is something else.
    ///
    /// # Errors
    /// More than a client may say.
    pub(crate) fn update_profile(
        &self,
        terms: &ClientProfile,
        type_url: &str,
        listed: Vec<VersionedTypeUrl>,
    ) -> Result<Option<ClientProfile>, Error> {
        if listed.is_empty() {
            return Ok(terms.asking(self.types(), type_url));
        }
        let listed: Vec<_> = listed.into_iter().map(Into::into).collect();
        let learned = self.releases.add_versions(terms, &listed)?;
        let learned = learned.asking(self.types(), type_url).unwrap_or(learned);
        Ok((learned != *terms).then_some(learned))
    }

    /// The source of a release, by its number; `None` of the newest.
    pub(crate) fn name_of(&self, release: usize) -> Option<&str> {
        self.sources.get(release.checked_sub(1)?).map(String::as_str)
    }

    /// Each older release with what its clients are served that say nothing else about themselves.
    pub(crate) fn older_releases(&self) -> Vec<(&str, ClientProfile)> {
        let profile = |release: usize| {
            let said = ClientCapabilities {
                operator_release: Some(release),
                ..ClientCapabilities::default()
            };
            self.releases.resolve_profile(&said).ok()
        };
        let all = self.sources.iter().enumerate();
        all.filter_map(|(at, source)| Some((&**source, profile(at + 1)?))).collect()
    }

    /// Whether the API declares the type that a type URL names.
    pub(crate) fn declares(&self, type_url: &str) -> bool {
        let name = type_url.strip_prefix(TYPE_URL_PREFIX);
        name.is_some_and(|name| self.newest.message_named(name).is_some())
    }

    /// A snapshot as clients with these terms can hold it.
    pub(crate) fn view(
        &self,
        terms: &ClientProfile,
        snapshot: &Arc<Snapshot>,
        before: &View,
    ) -> View {
        if terms.is_whole(&self.releases) {
            return View::whole(Arc::clone(snapshot));
        }
        let Apis { releases, translator, .. } = self;
        View::of(snapshot, SupportedFields { releases, terms, translator }, before)
    }
}

/// The API of a release.
fn read_release(
    source: &str,
    import_paths: &[String],
    notes: &mut Vec<String>,
) -> Result<Release<'static>, Error> {
    let api = abide_source::Api::read(source, import_paths)
        .map_err(|error| Error::Api(error.to_string()))?;
    notes.extend(api.notes);
    let minor = |it: Version| Minor { major: it.major, minor: it.minor };
    let versions = api.versions.into_iter().map(|(package, it)| (package, minor(it)));
    // It lives as long as the process, and what is made of it refers to it. Sources of APIs are read
    // once, when the process starts, so that no other tree ever takes its place.
    Ok(Release::new(Box::leak(Box::new(api.tree)), versions.collect()))
}

const TABLE: &str = r#"
syntax = "proto3";
package abide.serve.v1;
message ClientTable { repeated Client clients = 1; }
message Client { string user_agent = 1; string version = 2; string api = 3; }
"#;

/// A row of a table.
struct ClientRow {
    user_agent: String,
    version: VersionReq,
    api: String,
}

/// Reads a table of clients: in TOML, YAML or JSON, by how its name ends.
fn read_rows(path: &Path) -> Result<Vec<ClientRow>, Error> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| Error::cannot_read(path, error))?;
    let rows = parse_table(&path.to_string_lossy(), &text)
        .map_err(|error| Error::Api(format!("`{name}`: {error}")))?;
    let rows = rows.into_iter().map(|[user_agent, version, api]| {
        let version = if version.is_empty() { "*" } else { &version };
        let version = VersionReq::parse(version).map_err(|error| {
            let message = format!("`{version}` is not a requirement of a version: {error}");
            Error::Api(format!("`{name}`: {message}"))
        })?;
        Ok(ClientRow { user_agent, version, api })
    });
    rows.collect()
}

/// An error in a table of clients.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum TableError {
    #[error("{0}")]
    Syntax(String),
    #[error("there is no key `{0}`")]
    UnknownKey(String),
    #[error("expected strings only")]
    NotString,
}

/// Reads the cells of a table: user agent, version and API.
fn parse_table(name: &str, text: &str) -> Result<Vec<[String; 3]>, TableError> {
    let text = match name.ends_with(".toml") {
        true => {
            let table: Result<toml_edit::DocumentMut, _> = text.parse();
            let table = table.map_err(|error| TableError::Syntax(error.to_string()))?;
            convert_to_json(table.as_item())?.to_string()
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
        return Err(TableError::Syntax(error.clone()));
    }
    if let Some(unknown) = readings().flat_map(|it| &it.undeclared).next() {
        return Err(TableError::UnknownKey(unknown.name.to_string()));
    }
    let text = |row: &Message, field| row.get_str(&tree, field).unwrap_or_default().to_owned();
    let rows = readings().flat_map(|it| it.message.get_all(&tree, "clients"));
    let rows = rows.filter_map(|it| it.value.as_message());
    Ok(rows.map(|row| ["user_agent", "version", "api"].map(|field| text(row, field))).collect())
}

/// Converts a value of TOML to JSON, as far as a table of clients has them.
fn convert_to_json(item: &toml_edit::Item) -> Result<serde_json::Value, TableError> {
    if let Some(table) = item.as_table_like() {
        let members = table.iter().map(|(key, it)| Ok((key.to_owned(), convert_to_json(it)?)));
        return members.collect::<Result<serde_json::Map<_, _>, TableError>>().map(Into::into);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables
            .iter()
            .map(|it| convert_to_json(&toml_edit::Item::Table(it.clone())))
            .collect();
    }
    if let Some(array) = item.as_array() {
        return array
            .iter()
            .map(|it| convert_to_json(&toml_edit::Item::Value(it.clone())))
            .collect();
    }
    item.as_str().map(Into::into).ok_or(TableError::NotString)
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
        assert_eq!(parse_table("c.toml", toml).as_ref(), Ok(&expected));
        assert_eq!(parse_table("c.yaml", yaml).as_ref(), Ok(&expected));
        assert_eq!(parse_table("c.json", json).as_ref(), Ok(&expected));
        assert_eq!(
            parse_table("c.yaml", "clients:\n- {agent: envoy}\n"),
            Err(TableError::UnknownKey("agent".to_owned()))
        );
        assert!(parse_table("c.toml", "clients = 1").is_err());
    }
}
