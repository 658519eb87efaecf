//! Public repositories that have files which many trees import.

/// The repository that publishes files with some paths.
struct KnownSource {
    /// The start of their paths.
    prefix: &'static str,
    repository: &'static str,
    /// The folder of the repository that imports start from.
    folder: &'static str,
}

const fn known(
    prefix: &'static str,
    repository: &'static str,
    folder: &'static str,
) -> KnownSource {
    KnownSource { prefix, repository, folder }
}

/// The first prefix that fits decides.
const KNOWN_SOURCES: &[KnownSource] = &[
    known("buf/validate/", "https://github.com/bufbuild/protovalidate", "proto/protovalidate"),
    known("cel/expr/", "https://github.com/google/cel-spec", "proto"),
    known("envoy/", "https://github.com/envoyproxy/envoy", "api"),
    known("gogoproto/", "https://github.com/gogo/protobuf", ""),
    known("google/protobuf/", "https://github.com/protocolbuffers/protobuf", "src"),
    known("google/", "https://github.com/googleapis/googleapis", ""),
    known("grafeas/", "https://github.com/googleapis/googleapis", ""),
    known("io/prometheus/client/", "https://github.com/prometheus/client_model", ""),
    known("opencensus/", "https://github.com/census-instrumentation/opencensus-proto", "src"),
    known("opentelemetry/", "https://github.com/open-telemetry/opentelemetry-proto", ""),
    known("protoc-gen-openapiv2/", "https://github.com/grpc-ecosystem/grpc-gateway", ""),
    known("udpa/", "https://github.com/cncf/xds", ""),
    known("validate/", "https://github.com/bufbuild/protoc-gen-validate", ""),
    known("xds/", "https://github.com/cncf/xds", ""),
];

/// The source that publishes a file at this path.
fn find_source(path: &str) -> Option<&'static KnownSource> {
    KNOWN_SOURCES.iter().find(|it| path.starts_with(it.prefix))
}

/// The repository that publishes a file at this path, if it is one that many trees import from.
pub fn find_known_repository(path: &str) -> Option<&'static str> {
    find_source(path).map(|it| it.repository)
}

/// Describes how to get a file that is imported by this path.
pub(super) fn describe_how_to_get(path: &str) -> String {
    match find_source(path) {
        None => "pass its folder with `-I DIR`, or add the folder to `import-paths` in abide.toml"
            .to_owned(),
        Some(KnownSource { repository, folder, .. }) => {
            let place = if folder.is_empty() {
                "its folder".to_owned()
            } else {
                format!("its folder `{folder}`")
            };
            format!(
                "it is in {repository}: clone that, and pass {place} with `-I DIR` or add it to \
                 `import-paths` in abide.toml"
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
        assert!(help.contains("/protovalidate: clone") && help.contains("`proto/protovalidate`"));
        assert!(describe_how_to_get("google/api/http.proto").contains("/googleapis: "));
        assert!(describe_how_to_get("google/protobuf/unittest.proto").contains("/protobuf: "));
        assert!(describe_how_to_get("validates/a.proto").starts_with("pass its folder"));
    }
}
