//! Features: what an element means, whatever the edition spelled it like.

use abide_syntax::{KeyForm, Span, ValueId, ValueKind};

use crate::decl::{FileDecl, RawOptions};
use crate::protobuf::{Edition, WireError, WirePayload, WireReader, WireRecord};

/// True if an enum accepts numbers that it does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Openness {
    /// It keeps them as values.
    Open,
    /// It keeps them as unknown fields.
    Closed,
}

/// True if the absence of a field can be told from its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// It can.
    Explicit,
    /// It cannot: the default is not written.
    Implicit,
    /// It must be there.
    LegacyRequired,
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

/// The symbols without `export` or `local` that other files may use.
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
    /// Nobody can tell: descriptor sets leave the feature out. The default of the edition is no
    /// more than likely.
    Unknown,
}

impl Features {
    /// The defaults of an edition, from `edition_defaults` in
    /// descriptor.proto.
    pub const fn from_edition(edition: Edition) -> Features {
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

impl Features {
    /// The defaults of an edition where what stays in the source is not known.
    pub(crate) const fn without_source(edition: Edition) -> Features {
        let features = Features::from_edition(edition);
        match features.default_visibility {
            // No feature of these editions says anything else.
            DefaultVisibility::ExportAll => features,
            _ => Features { default_visibility: DefaultVisibility::Unknown, ..features },
        }
    }
}

impl Default for Features {
    fn default() -> Features {
        Features::from_edition(Edition::Proto2)
    }
}

/// One feature that an option sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FeatureSetting {
    /// Its number in `FeatureSet`.
    feature: i32,
    /// The number of the value in the feature's enum.
    value: i32,
}

/// The features of `google.protobuf.FeatureSet` that have a meaning here, with
/// their numbers and the names of their values by number.
const FEATURES: &[(&str, i32, &[&str])] = &[
    ("field_presence", 1, &["", "EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"]),
    ("enum_type", 2, &["", "OPEN", "CLOSED"]),
    ("repeated_field_encoding", 3, &["", "PACKED", "EXPANDED"]),
    ("utf8_validation", 4, &["", "", "VERIFY", "NONE"]),
    ("message_encoding", 5, &["", "LENGTH_PREFIXED", "DELIMITED"]),
    ("json_format", 6, &["", "ALLOW", "LEGACY_BEST_EFFORT"]),
    ("enforce_naming_style", 7, &["", "STYLE2024", "STYLE_LEGACY"]),
    (
        "default_symbol_visibility",
        8,
        &["", "EXPORT_ALL", "EXPORT_TOP_LEVEL", "LOCAL_ALL", "STRICT"],
    ),
];

impl FeatureSetting {
    fn parse_setting(feature: &[u8], value: &[u8]) -> Option<FeatureSetting> {
        let (_, number, values) = FEATURES.iter().find(|row| row.0.as_bytes() == feature)?;
        let value = values.iter().position(|name| name.as_bytes() == value)?;
        Some(FeatureSetting { feature: *number, value: value as i32 })
    }
}

impl Features {
    /// A value that is unknown leaves the feature as it is: the check of
    /// options reports it.
    fn set(&mut self, setting: FeatureSetting) {
        match (setting.feature, setting.value) {
            (1, 1) => self.presence = Presence::Explicit,
            (1, 2) => self.presence = Presence::Implicit,
            (1, 3) => self.presence = Presence::LegacyRequired,
            (2, 1) => self.openness = Openness::Open,
            (2, 2) => self.openness = Openness::Closed,
            (3, value @ (1 | 2)) => self.packed = value == 1,
            (4, value @ (2 | 3)) => self.utf8_validated = value == 2,
            (5, value @ (1 | 2)) => self.delimited = value == 2,
            (6, value @ (1 | 2)) => self.json_allowed = value == 1,
            (7, value @ (1 | 2)) => self.naming_enforced = value == 1,
            (8, 1) => self.default_visibility = DefaultVisibility::ExportAll,
            (8, 2) => self.default_visibility = DefaultVisibility::ExportTopLevel,
            (8, 3) => self.default_visibility = DefaultVisibility::LocalAll,
            (8, 4) => self.default_visibility = DefaultVisibility::Strict,
            _ => {}
        }
    }

    /// These features with what the options of an element set; `number` is the
    /// field of the options message that holds features.
    pub(crate) fn with(mut self, decl: &FileDecl, options: RawOptions, number: u32) -> Features {
        if let RawOptions::Wire(span) = options {
            // What is malformed is reported where options are interpreted.
            let _ = self.set_serialised(decl.strings.text(), span, number);
            return self;
        }
        let (RawOptions::Syntax(slice), Some(ast)) = (options, decl.ast()) else { return self };
        let text: &[u8] = decl.strings.text();
        let value = |id: ValueId| match ast.values[id as usize].kind {
            ValueKind::Ident { negative: false, word } => word.of(text),
            _ => b"",
        };
        for &id in &decl.option_ids[slice.range()] {
            let option = &ast.options[id as usize];
            let [first, rest @ ..] = ast.name_parts(option) else { continue };
            if first.extension || first.name.of(text) != b"features" {
                continue;
            }
            if let [feature] = rest {
                let setting =
                    FeatureSetting::parse_setting(feature.name.of(text), value(option.value));
                setting.into_iter().for_each(|setting| self.set(setting));
            } else if rest.is_empty() {
                for field in ast.value_children(option.value) {
                    if let ValueKind::Field { key, form: KeyForm::Field } =
                        ast.values[field as usize].kind
                    {
                        let setting = FeatureSetting::parse_setting(key.of(text), value(field + 1));
                        setting.into_iter().for_each(|setting| self.set(setting));
                    }
                }
            }
        }
        self
    }
}

impl Features {
    fn set_serialised(
        &mut self,
        bytes: &[u8],
        options: Span,
        number: u32,
    ) -> Result<(), WireError> {
        let mut options = WireReader::new(bytes, options);
        while let Some(record) = options.next_record()? {
            let WirePayload::Bytes(features) = record.payload else { continue };
            if record.number != number {
                continue;
            }
            let mut features = WireReader::new(bytes, features);
            while let Some(WireRecord { number, payload, .. }) = features.next_record()? {
                if let WirePayload::Varint(value) = payload {
                    self.set(FeatureSetting { feature: number as i32, value: value as i32 });
                }
            }
        }
        Ok(())
    }
}
