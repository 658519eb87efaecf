//! `[api.NAME]` and `[[instances]]`: which files hold instances, and the APIs that judge them.

use abide_instance::Dialect;
use abide_syntax::Span;
use toml_edit::{Item, TableLike};

use super::toml_reader::{TomlReader, entries, span};
use crate::wording::suggest;

/// A release of an API that instances are judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigApi {
    /// Its name.
    pub name: String,
    /// Where it is, a `SOURCE` of the command line.
    pub source: String,
    /// The folders of its imports, relative to the folder of `abide.toml`.
    pub import_paths: Vec<String>,
    /// Whose reading of YAML and JSON is meant; `None`: that of the type.
    pub reader: Option<Dialect>,
}

/// Files that hold instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigInstances {
    /// Patterns of paths, relative to the folder of `abide.toml`.
    pub files: Vec<String>,
    /// The name of the type of each document; `None`: each says it, or is recognised.
    pub ty: Option<String>,
    /// The name of the API; `None`: the only one there is, else the tree itself.
    pub api: Option<String>,
    /// The path in each document below which the instance stands.
    pub at: Option<String>,
    /// Where the table stands.
    pub span: Span,
}

impl TomlReader<'_> {
    /// `[api.NAME]`, in the order of the text.
    pub(super) fn apis(&mut self, item: &Item) -> Vec<ConfigApi> {
        let Some(table) = self.table(item) else { return Vec::new() };
        let mut apis = Vec::new();
        for entry in entries(table) {
            if let Some(table) = self.table(entry.item) {
                apis.extend(self.api(entry.key, table, entry.key_span));
            }
        }
        apis
    }

    fn api(&mut self, name: &str, table: &dyn TableLike, at: Span) -> Option<ConfigApi> {
        const KEYS: &[&str] = &["source", "import-paths", "reader"];
        let (mut source, mut import_paths, mut reader) = (None, Vec::new(), None);
        for entry in entries(table) {
            match entry.key {
                "source" => source = Some(self.string(entry.item)?),
                "import-paths" => import_paths = self.texts(entry.item),
                "reader" => {
                    let words: Vec<_> = Dialect::ALL.iter().map(|it| (it.name(), *it)).collect();
                    reader = self.word_of(entry.item, &words);
                }
                _ => self.unknown_key(&entry, "`[api.NAME]`", KEYS),
            }
        }
        let Some(source) = source else {
            self.error(at, format!("the API `{name}` needs `source`"), None);
            return None;
        };
        Some(ConfigApi { name: name.to_owned(), source, import_paths, reader })
    }

    /// `[[instances]]`. The APIs that they name are known.
    pub(super) fn instances(&mut self, item: &Item, apis: &[ConfigApi]) -> Vec<ConfigInstances> {
        const KEYS: &[&str] = &["files", "type", "api", "at"];
        let mut all = Vec::new();
        for (table, at) in self.tables(item) {
            let mut one =
                ConfigInstances { files: Vec::new(), ty: None, api: None, at: None, span: at };
            for entry in entries(table) {
                match entry.key {
                    "files" => one.files = self.texts(entry.item),
                    "type" => one.ty = self.string(entry.item),
                    "at" => one.at = self.string(entry.item),
                    "api" => {
                        one.api = self.string(entry.item);
                        if let Some(name) = &one.api
                            && !apis.iter().any(|api| api.name == *name)
                        {
                            let help = suggest(name, apis.iter().map(|it| &*it.name));
                            let help = help.or_else(|| Some(format!("add `[api.{name}]`")));
                            self.error(span(entry.item), format!("no API is named `{name}`"), help);
                        }
                    }
                    _ => self.unknown_key(&entry, "`[[instances]]`", KEYS),
                }
            }
            if one.files.is_empty() {
                self.error(at, "instances need `files`", None);
            }
            all.push(one);
        }
        all
    }
}
