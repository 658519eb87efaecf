//! Public repositories that hold what modules of buf's registry and import paths name.

use abide_schema::find_known_source;

/// A repository, and the folder of it that import paths count from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRepository {
    /// Its URL.
    pub url: String,
    /// The folder; "" is its top.
    pub subdir: String,
    /// The revision, if not the newest.
    pub rev: Option<String>,
    /// The beginning of import paths that its folders leave out.
    pub import_prefix: String,
}

impl KnownRepository {
    /// Returns true if it has the files that another one has, at the same import paths.
    pub fn stands_for(&self, other: &KnownRepository) -> bool {
        self.url == other.url || FORKS.contains(&(&*self.url, &*other.url))
    }
}

/// Repositories that publish the import paths of another one, and that one.
const FORKS: &[(&str, &str)] =
    &[("https://github.com/cosmos/gogoproto", "https://github.com/gogo/protobuf")];

/// By module: the repository that it is published from, and the folder there.
const MODULES: &[(&str, &str, &str)] = &[
    ("bufbuild/protovalidate", "https://github.com/bufbuild/protovalidate", "proto/protovalidate"),
    ("cncf/xds", "https://github.com/cncf/xds", ""),
    ("cosmos/cosmos-proto", "https://github.com/cosmos/cosmos-proto", "proto"),
    ("cosmos/cosmos-sdk", "https://github.com/cosmos/cosmos-sdk", "proto"),
    ("cosmos/gogo-proto", "https://github.com/cosmos/gogoproto", ""),
    ("cosmos/ibc", "https://github.com/cosmos/ibc-go", "proto"),
    ("cosmos/ics23", "https://github.com/cosmos/ics23", "proto"),
    ("envoyproxy/envoy", "https://github.com/envoyproxy/envoy", "api"),
    ("envoyproxy/protoc-gen-validate", "https://github.com/bufbuild/protoc-gen-validate", ""),
    ("gnostic/gnostic", "https://github.com/google/gnostic", ""),
    ("gogo/protobuf", "https://github.com/gogo/protobuf", ""),
    ("google/cel-spec", "https://github.com/google/cel-spec", "proto"),
    ("googleapis/googleapis", "https://github.com/googleapis/googleapis", ""),
    ("grpc-ecosystem/grpc-gateway", "https://github.com/grpc-ecosystem/grpc-gateway", ""),
    ("grpc-ecosystem/protoc-gen-swagger", "https://github.com/grpc-ecosystem/grpc-gateway", ""),
    ("grpc/grpc", "https://github.com/grpc/grpc-proto", ""),
    ("k8s/api", "https://github.com/kubernetes/api", ""),
    ("opencensus/opencensus", "https://github.com/census-instrumentation/opencensus-proto", "src"),
    ("opentelemetry/opentelemetry", "https://github.com/open-telemetry/opentelemetry-proto", ""),
    ("prometheus/client-model", "https://github.com/prometheus/client_model", ""),
    ("protocolbuffers/wellknowntypes", "https://github.com/protocolbuffers/protobuf", "src"),
    ("srikrsna/protoc-gen-gotag", "https://github.com/srikrsna/protoc-gen-gotag", ""),
    ("temporalio/api", "https://github.com/temporalio/api", ""),
    ("viamrobotics/api", "https://github.com/viamrobotics/api", "proto"),
    ("viamrobotics/goutils", "https://github.com/viamrobotics/goutils", "proto"),
];

/// Hosts whose import paths begin with the name of a repository, with the number of its parts and
/// where it is.
const HOSTS: &[(&str, usize, &str)] = &[
    ("github.com", 3, "https://github.com"),
    ("gitlab.com", 3, "https://gitlab.com"),
    ("bitbucket.org", 3, "https://bitbucket.org"),
    ("k8s.io", 2, "https://github.com/kubernetes"),
    ("sigs.k8s.io", 2, "https://github.com/kubernetes-sigs"),
];

/// Finds the repository of a module of buf's registry, such as `buf.build/googleapis/googleapis`.
pub fn find_module_repository(module: &str) -> Option<KnownRepository> {
    let name = module.strip_prefix("buf.build/")?;
    let (_, url, subdir) = MODULES.iter().find(|it| it.0 == name)?;
    // The module has the options of the first major version, which the newest has no longer.
    let rev = (name == "grpc-ecosystem/protoc-gen-swagger").then(|| "v1.16.0".to_owned());
    let (url, subdir) = ((*url).to_owned(), (*subdir).to_owned());
    Some(KnownRepository { url, subdir, rev, import_prefix: String::new() })
}

/// Finds the repository that publishes a file with this import path.
pub fn find_repository_of_import(path: &str) -> Option<KnownRepository> {
    if let Some(known) = find_known_source(path) {
        return Some(KnownRepository {
            url: known.repository.to_owned(),
            subdir: known.folder.to_owned(),
            rev: known.rev.map(str::to_owned),
            import_prefix: known.import_prefix.to_owned(),
        });
    }
    let parts: Vec<&str> = path.split('/').collect();
    let (_, count, place) = HOSTS.iter().find(|it| parts.first() == Some(&it.0))?;
    let name = parts.get(1..*count).filter(|_| parts.len() > *count)?;
    let is_plain = |part: &&str| !part.is_empty() && !part.starts_with(['.', '-']);
    name.iter().all(is_plain).then(|| KnownRepository {
        url: format!("{place}/{}", name.join("/")),
        subdir: String::new(),
        rev: None,
        import_prefix: parts[..*count].join("/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_stands_for_what_it_forked_and_not_the_other_way() {
        let fork = find_module_repository("buf.build/cosmos/gogo-proto").expect("it is known");
        let known = find_repository_of_import("gogoproto/gogo.proto").expect("it is known");
        assert!(fork.stands_for(&known) && fork.stands_for(&fork));
        assert!(!known.stands_for(&fork));
    }

    #[test]
    fn import_paths_with_a_host_name_their_repository() {
        let found = find_repository_of_import("k8s.io/api/core/v1/generated.proto");
        let found = found.expect("it is known");
        assert_eq!(found.url, "https://github.com/kubernetes/api");
        assert_eq!(found.import_prefix, "k8s.io/api");
        let found = find_repository_of_import("github.com/gogo/protobuf/gogoproto/gogo.proto");
        assert_eq!(found.expect("it is known").url, "https://github.com/gogo/protobuf");
        assert_eq!(find_repository_of_import("github.com/a.proto"), None);
        assert_eq!(find_repository_of_import("acme/a.proto"), None);
    }
}
