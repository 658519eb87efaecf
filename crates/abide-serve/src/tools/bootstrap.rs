//! `abide-serve bootstrap`: the file that an Envoy starts with, to get all else over xDS.

use std::fs;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use tracing::error;

use crate::error::Error;
use abide_transport::UNIX;

/// The cluster that the proxy finds the management server in.
const SERVER: &str = "abide-serve";

/// The cluster of the proxy's own admin port.
const ADMIN: &str = "admin";

/// Write the file that an Envoy starts with
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve bootstrap /config/envoy.json --xds-address abide --xds-port 18000
  abide-serve bootstrap /config/envoy.json --xds-address abide --xds-port 18000 \\
    --envoy-cafile /ca/ca.crt --envoy-cert-file /certs/tls.crt --envoy-key-file /certs/tls.key

The proxy gets clusters and listeners over one aggregated stream. Name it when you start it:
  envoy -c /config/envoy.json --service-cluster edge --service-node $POD_NAME")]
pub(crate) struct BootstrapArgs {
    /// The file to write
    file: PathBuf,

    /// The host of the management server, or `unix:PATH` for its socket on the same machine
    #[arg(long, value_name = "HOST", value_parser = parse_host)]
    xds_address: String,

    /// The port of the management server, unless it is at a socket
    #[arg(long, value_name = "PORT")]
    xds_port: Option<u16>,

    /// Who signs the certificate of the management server; the connection is then encrypted
    #[arg(long, value_name = "FILE", requires_all = ["envoy_cert_file", "envoy_key_file"])]
    envoy_cafile: Option<PathBuf>,

    /// The certificate of the proxy
    #[arg(long, value_name = "FILE", requires = "envoy_cafile")]
    envoy_cert_file: Option<PathBuf>,

    /// The key of that certificate
    #[arg(long, value_name = "FILE", requires = "envoy_cafile")]
    envoy_key_file: Option<PathBuf>,

    /// The admin port of the proxy, which only its own host can reach
    #[arg(long, value_name = "PORT", default_value_t = 9001)]
    admin_port: u16,

    /// The host of the admin port, or the path of a socket that takes its place
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    admin_address: String,

    /// Which addresses the proxy looks up of the management server
    #[arg(long, value_name = "FAMILY", default_value = "auto", value_parser = ["auto", "v4", "v6", "all"])]
    dns_lookup_family: String,

    /// How many bytes of memory the proxy may have; from 95 % on it gives back what it can, from 98 % on
    /// it takes no requests
    #[arg(long, value_name = "BYTES")]
    overload_max_heap: Option<u64>,

    /// How many connections clients may have to the proxy
    #[arg(long, value_name = "N", alias = "overload-dowstream-max-conn")]
    overload_downstream_max_conn: Option<u64>,

    /// The namespace, for manifests that name it: it changes nothing
    #[arg(long, value_name = "NAME", hide = true)]
    namespace: Option<String>,

    /// The port for /ready and /stats, which probes and Prometheus can reach
    #[arg(long, value_name = "PORT", default_value_t = 8002)]
    stats_port: u16,

    /// Ask for what changed instead of the state of the world
    #[arg(long)]
    delta: bool,

    /// The major of resources, for manifests that name it: there is `v3`
    #[arg(long, value_name = "MAJOR", default_value = "v3", value_parser = ["v3"], hide = true)]
    xds_resource_version: String,

    /// A folder for two files that name the certificates, so that the proxy notices when they are replaced
    #[arg(long, value_name = "DIR", requires = "envoy_cafile")]
    resources_dir: Option<PathBuf>,
}

/// Takes the name or the IP address of a host. A proxy would look up anything else by DNS for ever.
fn parse_host(text: &str) -> Result<String, Error> {
    let is_label = |it: &str| {
        let is_inner = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        (1..64).contains(&it.len()) && it.chars().all(is_inner)
    };
    let is_name = text.len() < 254 && text.trim_end_matches('.').split('.').all(is_label);
    let is_socket =
        text.strip_prefix(UNIX).is_some_and(|it| it.starts_with('/') || it.starts_with('@'));
    match is_socket || is_name || text.parse::<IpAddr>().is_ok() {
        true => Ok(text.to_owned()),
        false => Err(Error::Argument(
            "expected the name or the IP address of a host, such as `abide.example`, or the path of a \
             socket, such as `unix:/run/abide/xds.sock`"
                .to_owned(),
        )),
    }
}

pub(crate) fn bootstrap(args: &BootstrapArgs) -> ExitCode {
    let Some(place) = place(args) else {
        error!(context = "bootstrap", "name the port of the management server: `--xds-port PORT`");
        return ExitCode::from(2);
    };
    if args.xds_address.starts_with(UNIX) && args.envoy_cafile.is_some() {
        error!(
            context = "bootstrap",
            "a socket is spoken to without TLS: leave the certificates out"
        );
        return ExitCode::from(2);
    }
    let folder = args.resources_dir.as_deref().map(|it| (it, fs::create_dir_all(it)));
    if let Some((folder, Err(error))) = folder {
        error!(context = "bootstrap", "cannot make `{}`: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    // The bootstrap comes last: it names the others.
    let files = secret_files(args).into_iter().chain([(args.file.clone(), text(args, &place))]);
    for (path, text) in files {
        if let Err(error) = write(&path, &text) {
            error!(context = "bootstrap", "cannot write `{}`: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The secrets of the proxy, which are the names of these files, too.
const CERTIFICATE: &str = "xds-tls-certificate";
const VALIDATION: &str = "xds-validation-context";

/// Where the file of a secret is, if secrets are in files of their own.
fn secret_path(args: &BootstrapArgs, name: &str) -> Option<PathBuf> {
    args.resources_dir.as_ref().map(|it| it.join(format!("{name}.json")))
}

/// The files of secrets with their texts. A proxy reads them again when they or what they name change.
fn secret_files(args: &BootstrapArgs) -> Vec<(PathBuf, String)> {
    let (Some(authority), Some(certificate), Some(key)) =
        (&args.envoy_cafile, &args.envoy_cert_file, &args.envoy_key_file)
    else {
        return Vec::new();
    };
    let file = |name: &str, kind: &str, secret: Value| {
        let ty = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
        let response = json!({ "resources": [{ "@type": ty, "name": name, kind: secret }] });
        Some((secret_path(args, name)?, format!("{response:#}\n")))
    };
    let files = [
        file(CERTIFICATE, "tls_certificate", certificate_of(certificate, key)),
        file(VALIDATION, "validation_context", validation_of(args, authority)),
    ];
    files.into_iter().flatten().collect()
}

fn certificate_of(certificate: &Path, key: &Path) -> Value {
    json!({ "certificate_chain": { "filename": certificate }, "private_key": { "filename": key } })
}

/// How the management server is known. Not every server that the authority vouches for is this one.
fn validation_of(args: &BootstrapArgs, authority: &Path) -> Value {
    let is_ip = args.xds_address.parse::<IpAddr>().is_ok();
    let (kind, name) = (if is_ip { "IP_ADDRESS" } else { "DNS" }, &args.xds_address);
    json!({
        "trusted_ca": { "filename": authority },
        "match_typed_subject_alt_names": [{ "san_type": kind, "matcher": { "exact": name } }],
    })
}

/// The part of a TLS context that shows a certificate and checks that of the server.
fn tls_of(args: &BootstrapArgs, authority: &Path, certificate: &Path, key: &Path) -> Value {
    let source = |name: &str, path: PathBuf| {
        let source =
            json!({ "path_config_source": { "path": path }, "resource_api_version": "V3" });
        json!({ "name": name, "sds_config": source })
    };
    match (secret_path(args, CERTIFICATE), secret_path(args, VALIDATION)) {
        (Some(own), Some(validation)) => json!({
            "alpn_protocols": ["h2"],
            "tls_certificate_sds_secret_configs": [source(CERTIFICATE, own)],
            "validation_context_sds_secret_config": source(VALIDATION, validation),
        }),
        _ => json!({
            "alpn_protocols": ["h2"],
            "tls_certificates": [certificate_of(certificate, key)],
            "validation_context": validation_of(args, authority),
        }),
    }
}

/// Writes the whole file or nothing: a proxy that restarts meanwhile reads the old one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::File::create(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What is left of it helps nobody; the error that counts is the first one.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn text(args: &BootstrapArgs, place: &Value) -> String {
    let source = json!({ "ads": {}, "resource_api_version": "V3" });
    let api = if args.delta { "DELTA_GRPC" } else { "GRPC" };
    let admin = admin_place(args);
    let mut bootstrap = json!({
        "admin": { "address": admin },
        "dynamic_resources": {
            "ads_config": {
                "api_type": api,
                "transport_api_version": "V3",
                "grpc_services": [{ "envoy_grpc": { "cluster_name": SERVER } }],
                "set_node_on_first_message_only": true,
            },
            "cds_config": source,
            "lds_config": source,
        },
        "static_resources": {
            "clusters": [server(args, place), cluster(ADMIN, "STATIC", &admin)],
            "listeners": [stats(args.stats_port)],
        },
    });
    if let Some(manager) = overload_manager(args) {
        bootstrap["overload_manager"] = manager;
    }
    format!("{bootstrap:#}\n")
}

/// The address of the admin port, or its socket.
fn admin_place(args: &BootstrapArgs) -> Value {
    let path = args.admin_address.strip_prefix(UNIX).unwrap_or(&args.admin_address);
    match path.starts_with('/') {
        true => json!({ "pipe": { "path": path, "mode": 0o600 } }),
        false => address(&args.admin_address, args.admin_port),
    }
}

/// What the proxy does before it has no more memory, or too many connections.
fn overload_manager(args: &BootstrapArgs) -> Option<Value> {
    let monitor = |name: &str, ty: &str, key: &str, limit: u64| {
        let ty = format!("type.googleapis.com/envoy.extensions.resource_monitors.{ty}");
        json!({ "name": name, "typed_config": { "@type": ty, key: limit } })
    };
    let heap = "envoy.resource_monitors.fixed_heap";
    let heaps = args
        .overload_max_heap
        .map(|limit| monitor(heap, "fixed_heap.v3.FixedHeapConfig", "max_heap_size_bytes", limit));
    let connections = args.overload_downstream_max_conn.map(|limit| {
        let ty = "downstream_connections.v3.DownstreamConnectionsConfig";
        let name = "envoy.resource_monitors.global_downstream_max_connections";
        monitor(name, ty, "max_active_downstream_connections", limit)
    });
    let monitors: Vec<Value> = heaps.iter().chain(&connections).cloned().collect();
    if monitors.is_empty() {
        return None;
    }
    let action = |name: &str, share: f64| {
        let trigger = json!({ "name": heap, "threshold": { "value": share } });
        json!({ "name": format!("envoy.overload_actions.{name}"), "triggers": [trigger] })
    };
    let actions =
        heaps.map(|_| vec![action("shrink_heap", 0.95), action("stop_accepting_requests", 0.98)]);
    Some(json!({
        "refresh_interval": "0.25s",
        "resource_monitors": monitors,
        "actions": actions.unwrap_or_default(),
    }))
}

/// The address of the management server; `None` of a host without a port.
fn place(args: &BootstrapArgs) -> Option<Value> {
    match args.xds_address.strip_prefix(UNIX) {
        Some(path) => Some(json!({ "pipe": { "path": path } })),
        None => Some(address(&args.xds_address, args.xds_port?)),
    }
}

/// The cluster of the management server.
fn server(args: &BootstrapArgs, place: &Value) -> Value {
    // There is nothing to look up of a path.
    let kind = if args.xds_address.starts_with(UNIX) { "STATIC" } else { "STRICT_DNS" };
    let mut cluster = cluster(SERVER, kind, place);
    if kind == "STRICT_DNS" {
        cluster["dns_lookup_family"] = match &*args.dns_lookup_family {
            "v4" => "V4_ONLY",
            "v6" => "V6_ONLY",
            "all" => "ALL",
            _ => "AUTO",
        }
        .into();
    }
    cluster["typed_extension_protocol_options"] = json!({
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            // A server that is gone without a word is noticed, and another one is asked.
            "explicit_http_config": { "http2_protocol_options": {
                "connection_keepalive": { "interval": "30s", "timeout": "5s" },
            }},
        },
    });
    if let (Some(authority), Some(certificate), Some(key)) =
        (&args.envoy_cafile, &args.envoy_cert_file, &args.envoy_key_file)
    {
        cluster["transport_socket"] = json!({
            "name": "envoy.transport_sockets.tls",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "sni": args.xds_address,
                "common_tls_context": tls_of(args, authority, certificate, key),
            },
        });
    }
    cluster
}

fn cluster(name: &str, kind: &str, place: &Value) -> Value {
    json!({
        "name": name,
        "type": kind,
        "connect_timeout": "5s",
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{ "lb_endpoints": [{ "endpoint": { "address": place } }] }],
        },
    })
}

/// A listener that shows of the admin port what changes nothing.
fn stats(port: u16) -> Value {
    let manager = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
    let shown = |matched: Value| json!({ "match": matched, "route": { "cluster": ADMIN } });
    json!({
        "name": "stats",
        "address": address("0.0.0.0", port),
        "filter_chains": [{ "filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": manager,
                // Its connections are no client's: `shutdown` does not wait for them.
                "stat_prefix": "stats",
                "route_config": { "virtual_hosts": [{
                    "name": "stats",
                    "domains": ["*"],
                    "routes": [
                        shown(json!({ "path": "/ready" })),
                        shown(json!({ "path": "/stats" })),
                        shown(json!({ "path": "/stats/prometheus" })),
                    ],
                }]},
                "http_filters": [{
                    "name": "envoy.filters.http.router",
                    "typed_config": { "@type": router },
                }],
            },
        }]}],
    })
}

fn address(host: &str, port: u16) -> Value {
    json!({ "socket_address": { "address": host, "port_value": port } })
}
