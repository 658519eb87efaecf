//! Features with values, as options write them.

use abide_schema::File;

/// The message that declares a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FeatureOwner {
    /// `google.protobuf.FeatureSet`.
    Core,
    /// `pb.CppFeatures`.
    Cpp,
    /// `pb.GoFeatures`.
    Go,
    /// `pb.JavaFeatures`.
    Java,
}

impl FeatureOwner {
    /// The extension of `FeatureSet`.
    pub(super) const fn extension(self) -> Option<&'static str> {
        match self {
            FeatureOwner::Core => None,
            FeatureOwner::Cpp => Some("pb.cpp"),
            FeatureOwner::Go => Some("pb.go"),
            FeatureOwner::Java => Some("pb.java"),
        }
    }

    /// The file that declares the extension.
    pub(super) const fn import(self) -> Option<&'static str> {
        match self {
            FeatureOwner::Core => None,
            FeatureOwner::Cpp => Some("google/protobuf/cpp_features.proto"),
            FeatureOwner::Go => Some("google/protobuf/go_features.proto"),
            FeatureOwner::Java => Some("google/protobuf/java_features.proto"),
        }
    }
}

/// A feature with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FeatureOverride {
    pub(super) owner: FeatureOwner,
    pub(super) name: &'static str,
    pub(super) value: &'static str,
}

impl FeatureOverride {
    pub(super) const fn new(
        owner: FeatureOwner,
        name: &'static str,
        value: &'static str,
    ) -> FeatureOverride {
        FeatureOverride { owner, name, value }
    }

    pub(super) const fn core(name: &'static str, value: &'static str) -> FeatureOverride {
        FeatureOverride::new(FeatureOwner::Core, name, value)
    }

    /// The option by itself: `features.(pb.cpp).string_type = STRING`.
    pub(super) fn format_option(self, file: File<'_>) -> String {
        let (name, value) = (self.name, self.value);
        match self.owner.extension() {
            None => format!("features.{name} = {value}"),
            Some(extension) => {
                let dot = if hides_pb(file) { "." } else { "" };
                format!("features.({dot}{extension}).{name} = {value}")
            }
        }
    }

    /// The field in an aggregate: `string_type: STRING`.
    pub(super) fn format_field(self) -> String {
        format!("{}: {}", self.name, self.value)
    }
}

/// Features as the fields of one aggregate: `field_presence: IMPLICIT, [pb.cpp]: { … }`.
pub(super) fn format_aggregate(overrides: &[FeatureOverride]) -> String {
    let mut fields = Vec::new();
    for owned in overrides.chunk_by(|a, b| a.owner == b.owner) {
        let own: Vec<String> = owned.iter().map(|it| it.format_field()).collect();
        match owned[0].owner.extension() {
            None => fields.extend(own),
            Some(extension) => fields.push(format!("[{extension}]: {{ {} }}", own.join(", "))),
        }
    }
    fields.join(", ")
}

/// Returns true if `pb` names a nearer package than that of the features, seen from a file.
fn hides_pb(file: File<'_>) -> bool {
    let name = file.package().name();
    let ends = name.match_indices('.').map(|it| it.0).chain([name.len()]);
    let mut outer = ends.map(|end| &name[..end]);
    outer.any(|outer| {
        let near = format!("{outer}.pb");
        file.tree.packages().any(|it| {
            it.name()
                .strip_prefix(&near)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    })
}
