//! The fleet of a test: its resources, and the bootstraps of its Envoys.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::envoys::Envoy;
use abide_harness::programs::target;

use super::processes::Processes;
use super::traffic::get;
use super::{reserve_port, wait_until};

/// How an Envoy gets its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    WholeAds,
    DeltaAds,
    Rest,
    Files,
}

impl Way {
    /// The ways in which an Envoy asks a server.
    pub(super) const ASKING: [Way; 3] = [Way::WholeAds, Way::DeltaAds, Way::Rest];

    pub(super) fn name(self) -> &'static str {
        match self {
            Way::WholeAds => "ADS, state of the world",
            Way::DeltaAds => "ADS, incremental",
            Way::Rest => "REST",
            Way::Files => "files",
        }
    }

    /// Its node cluster: everyone else gets no reference to other sources.
    fn node_cluster(self) -> &'static str {
        match self {
            Way::WholeAds | Way::DeltaAds => "ads",
            Way::Rest | Way::Files => "plain",
        }
    }
}

/// A client: the id of its node, and the ports of its listener and admin pages.
pub(super) struct Client {
    pub(super) id: String,
    pub(super) listener: u16,
    pub(super) admin: u16,
}

/// A folder with resources, and where they are served.
pub(super) struct Fleet {
    pub(super) folder: PathBuf,
    api: PathBuf,
    pub(super) grpc: u16,
    pub(super) http: u16,
    pub(super) admin: u16,
    count: Cell<u32>,
}

const ROUTER: &str = "http_filters: [{name: router, typed_config: {\"@type\": \
                      type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]";

impl Fleet {
    /// An empty fleet. What it serves is of the API of the newest release; the older one
    /// understands its own, which nothing but its extensions shows.
    pub(super) fn new(name: &str, newest: &Envoy, older: &Envoy) -> Result<Fleet> {
        let folder = target()?.join("oracle-serving").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("resources"))?;
        let rows = format!("clients: [{{api: '{}'}}]\n", older.program.display());
        std::fs::write(folder.join("clients.yaml"), rows)?;
        Ok(Fleet {
            folder,
            api: newest.program.clone(),
            grpc: reserve_port()?,
            http: reserve_port()?,
            admin: reserve_port()?,
            count: Cell::new(0),
        })
    }

    /// Where something of this fleet is.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What the server that was started last has said; nothing if that cannot be read.
    pub(super) fn said(&self) -> String {
        std::fs::read_to_string(self.path("serve.log")).unwrap_or_default()
    }

    /// Moves a file into the resources.
    pub(super) fn put(&self, name: &str, text: &str) -> Result<()> {
        let place = self.folder.join("resources").join(name);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(self.folder.join("beside"), text)?;
        Ok(std::fs::rename(self.folder.join("beside"), place)?)
    }

    /// Adds a client with a listener of its own: all of them run on one machine.
    pub(super) fn add_client(&self, envoy: &Envoy, way: Way) -> Result<Client> {
        let number = self.count.replace(self.count.get() + 1);
        let id = format!("{}-{number}", envoy.version);
        let client = Client { id, listener: reserve_port()?, admin: reserve_port()? };
        let routes = match way {
            Way::WholeAds | Way::DeltaAds => {
                "rds: {route_config_name: routes, config_source: {ads: {}, resource_api_version: V3}}"
            }
            Way::Rest | Way::Files => {
                "route_config: {virtual_hosts: [{name: all, domains: ['*'], routes: [{match: \
                 {prefix: /}, route: {cluster: plain}}]}]}"
            }
        };
        let listener = format!(
            "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\n\
             name: ingress-{number}\n\
             address: {{socket_address: {{address: 127.0.0.1, port_value: {}}}}}\n\
             filter_chains: [{{filters: [{{name: http, typed_config: {{\"@type\": \
             type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.\
             HttpConnectionManager, stat_prefix: a, {routes}, {ROUTER}}}}}]}}]\n",
            client.listener
        );
        // Files hold what everyone gets.
        let place = match way {
            Way::Files => format!("listener-{number}.yaml"),
            _ => format!("node/{}/listener.yaml", client.id),
        };
        self.put(&place, &listener)?;
        Ok(client)
    }

    /// Leads all routes to a cluster with this name, whose only endpoint is a port.
    pub(super) fn route_to(&self, name: &str, port: u16) -> Result<()> {
        let endpoints = format!(
            "endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: \
             127.0.0.1, port_value: {port}}}}}}}}}]}}]"
        );
        let of = |ty: &str| format!("---\n\"@type\": type.googleapis.com/envoy.config.{ty}\n");
        // A field that releases before 1.38 do not know.
        let recent = "connect_timeout: 1s\nper_connection_buffer_high_watermark_timeout: 5s\n";
        let plain = format!(
            "{}name: plain\ntype: STATIC\n{recent}load_assignment: {{cluster_name: plain, \
             {endpoints}}}\n",
            of("cluster.v3.Cluster")
        );
        self.put("plain.yaml", &plain)?;
        let ads = format!(
            "{}name: {name}\ntype: EDS\n{recent}eds_cluster_config: {{service_name: {name}-eds, \
             eds_config: {{ads: {{}}, resource_api_version: V3}}}}\n\
             {}cluster_name: {name}-eds\n{endpoints}\n\
             {}name: routes\nvirtual_hosts: [{{name: all, domains: ['*'], routes: [{{match: \
             {{prefix: /}}, route: {{cluster: {name}}}}}]}}]\n",
            of("cluster.v3.Cluster"),
            of("endpoint.v3.ClusterLoadAssignment"),
            of("route.v3.RouteConfiguration"),
        );
        self.put("node-cluster/ads/routed.yaml", &ads)
    }

    /// Starts the server and waits until it is ready.
    pub(super) fn serve(
        &self,
        serve: &Path,
        processes: &mut Processes,
        flags: &[&str],
    ) -> Result<()> {
        let mut command = Command::new(serve);
        command.arg("--resources").arg(self.folder.join("resources")).arg("--api").arg(&self.api);
        command.arg("--clients").arg(self.folder.join("clients.yaml"));
        command.arg("--file-out").arg(self.folder.join("out")).args(flags);
        for (flag, port) in [("--grpc", self.grpc), ("--http", self.http), ("--admin", self.admin)]
        {
            command.arg(flag).arg(format!("127.0.0.1:{port}"));
        }
        processes.start(&mut command, &self.folder.join("serve.log"))?;
        let log = self.folder.join("serve.log");
        wait_until(&format!("the server gets ready: see {}", log.display()), || {
            get(self.admin, "/ready").ok().filter(|it| it.starts_with("LIVE"))
        })?;
        Ok(())
    }

    /// Starts an Envoy that refuses what it does not know.
    pub(super) fn start_envoy(
        &self,
        envoy: &Envoy,
        way: Way,
        client: &Client,
        processes: &mut Processes,
    ) -> Result<()> {
        let bootstrap = self.folder.join(format!("{}.yaml", client.id));
        std::fs::write(&bootstrap, self.bootstrap(way, client))?;
        let mut command = Command::new(&envoy.program);
        command.arg("-c").arg(bootstrap).args(["--concurrency", "1", "--use-dynamic-base-id"]);
        command.args(["--reject-unknown-dynamic-fields", "--log-level", "warning"]);
        processes.start(&mut command, &self.folder.join(format!("{}.log", client.id)))?;
        Ok(())
    }

    fn bootstrap(&self, way: Way, client: &Client) -> String {
        let (api, source) = match way {
            Way::WholeAds => ("GRPC", "{ads: {}, resource_api_version: V3}".to_owned()),
            Way::DeltaAds => ("DELTA_GRPC", "{ads: {}, resource_api_version: V3}".to_owned()),
            Way::Rest => (
                "REST",
                "{resource_api_version: V3, api_config_source: {api_type: REST, \
                 transport_api_version: V3, cluster_names: [xds], refresh_delay: 0.2s, \
                 request_timeout: 60s}}"
                    .to_owned(),
            ),
            Way::Files => ("", String::new()),
        };
        let file = |name: &str| {
            let path = self.folder.join("out").join(name);
            format!(
                "{{resource_api_version: V3, path_config_source: {{path: '{}'}}}}",
                path.display()
            )
        };
        let (cds, lds, ads) = match way {
            Way::WholeAds | Way::DeltaAds => {
                let ads = format!(
                    "  ads_config: {{api_type: {api}, transport_api_version: V3, grpc_services: \
                     [{{envoy_grpc: {{cluster_name: xds}}}}]}}\n"
                );
                (source.clone(), source, ads)
            }
            Way::Rest => (source.clone(), source, String::new()),
            Way::Files => (file("cds.yaml"), file("lds.pb_text"), String::new()),
        };
        let (xds, http2) = match way {
            Way::Rest | Way::Files => (self.http, ""),
            _ => (
                self.grpc,
                "    typed_extension_protocol_options: {\
                 envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {\"@type\": \
                 type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, \
                 explicit_http_config: {http2_protocol_options: {}}}}\n",
            ),
        };
        format!(
            "node: {{id: '{}', cluster: {}}}\n\
             admin: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {}}}}}}}\n\
             dynamic_resources:\n{ads}  cds_config: {cds}\n  lds_config: {lds}\n\
             static_resources:\n  clusters:\n  - name: xds\n    type: STATIC\n    \
             connect_timeout: 1s\n{http2}    load_assignment: {{cluster_name: xds, endpoints: \
             [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, \
             port_value: {xds}}}}}}}}}]}}]}}\n",
            client.id,
            way.node_cluster(),
            client.admin,
        )
    }
}
