//! Public repositories that have files which many trees import.

/// A repository that publishes files which many trees import.
#[derive(Debug)]
pub struct KnownSource {
    /// The start of their import paths.
    prefix: &'static str,
    /// The URL of the repository.
    pub repository: &'static str,
    /// The folder of the repository that import paths count from; "" is its top.
    pub folder: &'static str,
    /// The last revision that has the files, if the newest has not.
    pub rev: Option<&'static str>,
    /// The beginning of the import paths that the folders leave out.
    pub import_prefix: &'static str,
}

const fn known(
    prefix: &'static str,
    repository: &'static str,
    folder: &'static str,
) -> KnownSource {
    KnownSource { prefix, repository, folder, rev: None, import_prefix: "" }
}

/// The first prefix that fits decides.
const KNOWN_SOURCES: &[KnownSource] = &[
    known("amino/", "https://github.com/cosmos/cosmos-sdk", "proto"),
    known("buf/validate/", "https://github.com/bufbuild/protovalidate", "proto/protovalidate"),
    known("cel/expr/", "https://github.com/google/cel-spec", "proto"),
    known("cosmos_proto/", "https://github.com/cosmos/cosmos-proto", "proto"),
    known("cosmos/ics23/", "https://github.com/cosmos/ics23", "proto"),
    known("cosmos/", "https://github.com/cosmos/cosmos-sdk", "proto"),
    known("envoy/", "https://github.com/envoyproxy/envoy", "api"),
    KnownSource { import_prefix: "etcd", ..known("etcd/", "https://github.com/etcd-io/etcd", "") },
    known("gogoproto/", "https://github.com/gogo/protobuf", ""),
    known("google/protobuf/", "https://github.com/protocolbuffers/protobuf", "src"),
    known("google/", "https://github.com/googleapis/googleapis", ""),
    known("grafeas/", "https://github.com/googleapis/googleapis", ""),
    known("grpc/", "https://github.com/grpc/grpc-proto", ""),
    known("ibc/", "https://github.com/cosmos/ibc-go", "proto"),
    known("io/prometheus/client/", "https://github.com/prometheus/client_model", ""),
    known("opencensus/", "https://github.com/census-instrumentation/opencensus-proto", "src"),
    known("openapiv3/", "https://github.com/google/gnostic", ""),
    known("opentelemetry/", "https://github.com/open-telemetry/opentelemetry-proto", ""),
    known("protoc-gen-openapiv2/", "https://github.com/grpc-ecosystem/grpc-gateway", ""),
    KnownSource {
        rev: Some("v1.16.0"),
        ..known("protoc-gen-swagger/", "https://github.com/grpc-ecosystem/grpc-gateway", "")
    },
    known("scalapb/", "https://github.com/scalapb/ScalaPB", "protobuf"),
    known("tagger/", "https://github.com/srikrsna/protoc-gen-gotag", ""),
    known("temporal/api/", "https://github.com/temporalio/api", ""),
    known("udpa/", "https://github.com/cncf/xds", ""),
    known("validate/", "https://github.com/bufbuild/protoc-gen-validate", ""),
    known("xds/", "https://github.com/cncf/xds", ""),
];

/// The source that publishes a file at this path, if it is one that many trees import from.
pub fn find_known_source(path: &str) -> Option<&'static KnownSource> {
    KNOWN_SOURCES.iter().find(|it| path.starts_with(it.prefix))
}

/// The repository that publishes a file at this path, if it is one that many trees import from.
pub fn find_known_repository(path: &str) -> Option<&'static str> {
    find_known_source(path).map(|it| it.repository)
}

/// Describes how to get a file that is imported by this path.
pub(super) fn describe_how_to_get(path: &str) -> String {
    match find_known_source(path) {
        None => "pass its folder with `-I DIR`, or add the folder to `import-paths` in abide.toml"
            .to_owned(),
        Some(KnownSource { repository, folder, .. }) => {
            let place = if folder.is_empty() {
                "its folder".to_owned()
            } else {
                format!("its folder `{folder}`")
            };
            format!(
                "it is in {repository}: `abide deps vendor` brings it; or clone that, and pass \
                 {place} with `-I DIR` or add it to `import-paths` in abide.toml"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_at_a_folder_and_none_hides_a_later_one() {
        for (at, source) in KNOWN_SOURCES.iter().enumerate() {
            assert!(source.prefix.ends_with('/') && !source.folder.ends_with('/'));
            let hides = |later: &KnownSource| later.prefix.starts_with(source.prefix);
            assert!(!KNOWN_SOURCES[at + 1..].iter().any(hides), "{}", source.prefix);
        }
    }

    #[test]
    fn the_folder_of_a_known_repository_is_named() {
        let help = describe_how_to_get("buf/validate/validate.proto");
        assert!(
            help.contains("/protovalidate: `abide deps") && help.contains("`proto/protovalidate`")
        );
        assert!(describe_how_to_get("google/api/http.proto").contains("/googleapis: "));
        assert!(describe_how_to_get("google/protobuf/unittest.proto").contains("/protobuf: "));
        assert!(describe_how_to_get("validates/a.proto").starts_with("pass its folder"));
    }
}
