//! Writes what everyone gets to files, for clients that read files.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use abide_schema::value::Codec;
use abide_xds::wire::{Any, DiscoveryResponse};
use abide_xds::{Collection, Kind, Types};
use prost::Message;
use tokio::time::sleep;

use super::rest::render_json;
use crate::clients::ServerState;
use crate::error::Error;
use crate::resources::{Apis, Audience, ServedResources};

/// Refuses a folder that resources are read from: what is written there would be read again.
///
/// # Errors
/// A folder that is one.
pub(crate) fn check_output_folder(folder: &Path, resources: &Path) -> Result<(), Error> {
    // Where no such path is, they are read from git or etcd.
    let Ok(resources) = resources.canonicalize() else { return Ok(()) };
    let begun = folder.ancestors().find_map(|it| match it.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => it.canonicalize().ok(),
    });
    match begun.is_some_and(|it| it.starts_with(resources)) {
        true => Err(Error::Argument(format!(
            "resources are read from where `--file-out {}` is: write to another folder",
            folder.display()
        ))),
        false => Ok(()),
    }
}

/// The time after which files are written again that could not be.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Writes what everyone gets whenever that changes.
pub(crate) async fn write_on_change(folder: PathBuf, fleet: Arc<ServerState>) {
    // A file of a type of which nothing is left says so, also if another process wrote it.
    let known = fleet.apis.types();
    let urls = known.iter().filter_map(|it| it.type_url(3).or_else(|| it.type_url(2)));
    let is_there = |url: &Arc<str>| folder.join(format!("{}.pb", file_stem(known, url))).exists();
    let mut written: BTreeSet<Arc<str>> = urls.filter(is_there).collect();
    let mut served = fleet.subscribe();
    let mut has_failed = false;
    loop {
        let now = served.borrow_and_update().clone();
        // Two processes must not write the same files.
        if let Some(now) = now.filter(|_| !fleet.gates.is_handed_over()) {
            let done = tokio::task::block_in_place(|| {
                write_responses(&folder, &fleet.apis, &now, &mut written)
            });
            if let Err(error) = &done {
                tracing::error!("{error}");
            }
            has_failed = done.is_err();
            fleet.set_file_output(done.err().map(|error| error.to_string()));
        }
        // A disk that was full may have room again.
        let again = sleep(RETRY_INTERVAL);
        tokio::select! {
            changed = served.changed() => if changed.is_err() { return },
            () = again, if has_failed => {}
        }
    }
}

/// Writes a discovery response for each type: `cds.json`, `cds.yaml`, `cds.pb` and, if the
/// API declares the response itself, `cds.pb_text`. Each is written beside its place and moved
/// there, in the order in which types are sent. What was written before and is gone is empty.
///
/// # Errors
/// A file that cannot be written.
fn write_responses(
    folder: &Path,
    apis: &Apis,
    served: &ServedResources,
    written: &mut BTreeSet<Arc<str>>,
) -> Result<(), Error> {
    let everyone = served.audiences().into_iter().find(|it| it.0 == Audience::Everyone);
    let Some((_, snapshot)) = everyone else { return Ok(()) };
    let (tree, known) = (apis.newest, apis.types());
    let failed = |error| Error::Write { folder: folder.to_owned(), error };
    std::fs::create_dir_all(folder).map_err(failed)?;
    written.extend(snapshot.types().map(|(url, _)| Arc::clone(url)));
    let mut types: Vec<&Arc<str>> = written.iter().collect();
    types.sort_by_key(|url| known.kind(url));
    for url in types {
        let content = snapshot.collection(url).unwrap_or(Collection::nothing());
        let name = file_stem(known, url);
        let put = |ending: &str, bytes: &[u8]| {
            let place = folder.join(format!("{name}.{ending}"));
            let beside = folder.join(format!(".{name}.{ending}"));
            write_file(&beside, bytes, known.kind(url) == Kind::SECRET).map_err(failed)?;
            std::fs::rename(&beside, &place).map_err(failed)
        };
        let text = render_json(tree, url, content)?;
        put("json", text.as_bytes())?;
        put("yaml", text.as_bytes())?; // JSON is YAML.
        let bytes = build_response(url, content).encode_to_vec();
        put("pb", &bytes)?;
        let declared = tree.message_named("envoy.service.discovery.v3.DiscoveryResponse");
        if let Some(message) = declared.and_then(|it| Codec::new(tree).decode(it.id, &bytes).ok()) {
            put("pb_text", Codec::new(tree).to_text(&message).as_bytes())?;
        }
    }
    Ok(())
}

/// Writes a file anew. One with secrets is for its owner alone.
fn write_file(path: &Path, bytes: &[u8], is_secret: bool) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_secret {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)?.write_all(bytes)
}

/// The name of the file of a type.
fn file_stem(types: &Types, url: &str) -> String {
    match types.of(url) {
        Some((ty, _)) => ty.entry.name.clone(),
        None => url.rsplit('/').next().unwrap_or(url).to_owned(),
    }
}

fn build_response(url: &str, content: &Collection) -> DiscoveryResponse {
    let any = |value: &bytes::Bytes| Any { type_url: url.to_owned(), value: value.clone() };
    DiscoveryResponse {
        version_info: content.version().to_string(),
        resources: content.iter().map(|it| any(&it.body)).collect(),
        type_url: url.to_owned(),
        nonce: String::new(),
    }
}
