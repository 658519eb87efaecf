//! A linked tree, and the views by which everybody reads it.

mod annotations;
mod element;
mod features;
mod index;
mod lifetimes;
mod linked_tree;
mod number_ranges;
mod package_version;
mod resolved_feature;
mod tables;
pub(crate) mod view;

pub(crate) use annotations::KnownAnnotations;
pub use annotations::{HttpBinding, Migration, PackageVersionStatus, Validation};
pub use element::Element;
pub use features::{
    DefaultVisibility, FEATURES, FeatureRow, Features, NamingStyle, Openness, Presence,
};
pub(crate) use lifetimes::find_support;
pub(crate) use linked_tree::{
    EnumLink, FieldLink, ImportLink, LinkedFile, MessageLink, MethodLink, OptionsLink, PackageData,
    indices,
};
pub use linked_tree::{Tree, Type};
pub use number_ranges::NumberRanges;
pub use package_version::{PackageVersion, Stability, format_api_name};
pub use resolved_feature::{FeatureSource, ResolvedFeature};
pub(crate) use tables::{ExtensionDeclaration, FullNames, MentionRow, MentionTable, NameMeaning};
pub use view::{
    Cardinality, Enum, EnumValue, Field, File, Import, Message, Method, Oneof, Package, Service,
};
