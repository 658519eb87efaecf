//! Features: what an element means, whatever the edition spelled it like.

use crate::edition::Edition;
use crate::tree::Presence;

/// Whether an enum accepts numbers that it does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Openness {
    /// It keeps them as values.
    Open,
    /// It keeps them as unknown fields.
    Closed,
}

/// The resolved features of an element, as in `google.protobuf.FeatureSet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// `field_presence`.
    pub presence: Presence,
    /// `enum_type`.
    pub openness: Openness,
    /// `repeated_field_encoding` is `PACKED`.
    pub packed: bool,
    /// `utf8_validation` is `VERIFY`.
    pub utf8_validated: bool,
    /// `message_encoding` is `DELIMITED`.
    pub delimited: bool,
    /// `json_format` is `ALLOW`, not `LEGACY_BEST_EFFORT`.
    pub json_allowed: bool,
    /// `enforce_naming_style` is `STYLE2024`.
    pub naming_enforced: bool,
    /// `default_symbol_visibility`.
    pub default_visibility: DefaultVisibility,
}

/// Which symbols without `export` or `local` other files may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultVisibility {
    /// `EXPORT_ALL`: every symbol.
    ExportAll,
    /// `EXPORT_TOP_LEVEL`: those of the top level.
    ExportTopLevel,
    /// `LOCAL_ALL`: none.
    LocalAll,
    /// `STRICT`: none, and nested ones may not be exported.
    Strict,
}

impl Features {
    /// The defaults of an edition, from `edition_defaults` in
    /// descriptor.proto.
    pub const fn of(edition: Edition) -> Features {
        let edition_2023 = Features {
            presence: Presence::Explicit,
            openness: Openness::Open,
            packed: true,
            utf8_validated: true,
            delimited: false,
            json_allowed: true,
            naming_enforced: false,
            default_visibility: DefaultVisibility::ExportAll,
        };
        match edition {
            Edition::Proto2 => Features {
                openness: Openness::Closed,
                packed: false,
                utf8_validated: false,
                json_allowed: false,
                ..edition_2023
            },
            Edition::Proto3 => Features { presence: Presence::Implicit, ..edition_2023 },
            Edition::Edition2023 => edition_2023,
            Edition::Edition2024 => Features {
                naming_enforced: true,
                default_visibility: DefaultVisibility::ExportTopLevel,
                ..edition_2023
            },
        }
    }
}

impl Default for Features {
    fn default() -> Features {
        Features::of(Edition::Proto2)
    }
}
