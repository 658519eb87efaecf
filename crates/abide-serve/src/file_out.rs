//! What everyone gets, as files, for clients that read files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::value::Codec;
use abide_xds::{Collection, Types};
use prost::Message;

use crate::apis::Apis;
use crate::fleet::Fleet;
use crate::rest::json;
use crate::served::Served;
use crate::source::Audience;
use crate::wire::{Any, DiscoveryResponse};

/// Writes what everyone gets whenever that changes.
pub(crate) async fn keep(folder: PathBuf, fleet: Arc<Fleet>) {
    let mut served = fleet.watch();
    loop {
        let now = served.borrow_and_update().clone();
        // Two processes must not write the same files.
        if let Some(now) = now.filter(|_| !fleet.gates.are_handed_over()) {
            let written = tokio::task::block_in_place(|| write(&folder, &fleet.apis, &now));
            if let Err(error) = written {
                tracing::error!("{error}");
            }
        }
        if served.changed().await.is_err() {
            return;
        }
    }
}

/// Writes a discovery response for each type: `cds.json`, `cds.yaml`, `cds.pb` and, if the
/// API declares the response itself, `cds.pb_text`. Each is written beside its place and moved
/// there, in the order in which types are sent.
///
/// # Errors
/// A file that cannot be written: one phrase.
fn write(folder: &Path, apis: &Apis, served: &Served) -> Result<(), String> {
    let everyone = served.audiences().into_iter().find(|it| it.0 == Audience::Everyone);
    let Some((_, snapshot)) = everyone else { return Ok(()) };
    let (tree, known) = (apis.newest, apis.types());
    let failed = |error: std::io::Error| format!("cannot write to `{}`: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut types: Vec<_> = snapshot.types().collect();
    types.sort_by_key(|(url, _)| known.kind(url));
    for (url, content) in types {
        let name = stem(known, url);
        let put = |ending: &str, bytes: &[u8]| {
            let place = folder.join(format!("{name}.{ending}"));
            let beside = folder.join(format!(".{name}.{ending}"));
            std::fs::write(&beside, bytes).map_err(failed)?;
            std::fs::rename(&beside, &place).map_err(failed)
        };
        let text = json(tree, url, content)?;
        put("json", text.as_bytes())?;
        put("yaml", text.as_bytes())?; // JSON is YAML.
        let bytes = response(url, content).encode_to_vec();
        put("pb", &bytes)?;
        let declared = tree.message_named("envoy.service.discovery.v3.DiscoveryResponse");
        if let Some(message) = declared.and_then(|it| Codec::new(tree).decode(it.id, &bytes).ok()) {
            put("pb_text", Codec::new(tree).to_text(&message).as_bytes())?;
        }
    }
    Ok(())
}

/// The name of the file of a type.
fn stem(types: &Types, url: &str) -> String {
    match types.of(url) {
        Some((ty, _)) => ty.entry.name.clone(),
        None => url.rsplit('/').next().unwrap_or(url).to_owned(),
    }
}

fn response(url: &str, content: &Collection) -> DiscoveryResponse {
    let any = |value: &bytes::Bytes| Any { type_url: url.to_owned(), value: value.clone() };
    DiscoveryResponse {
        version_info: content.version().to_string(),
        resources: content.iter().map(|it| any(&it.body)).collect(),
        type_url: url.to_owned(),
        nonce: String::new(),
    }
}
