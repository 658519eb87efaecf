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
    /// `enforce_naming_style`.
    pub naming_style: NamingStyle,
    /// `default_symbol_visibility`.
    pub default_visibility: DefaultVisibility,
    /// `enforce_proto_limits` is `PROTO_LIMITS2026`.
    pub limits_enforced: bool,
}

/// The style of names that protoc enforces. Each asks for more than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamingStyle {
    /// `STYLE_LEGACY`: none.
    Legacy,
    /// `STYLE2024`: the case of names.
    Style2024,
    /// `STYLE2026`: no collisions with accessors of generated code, either.
    Style2026,
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
    /// The defaults of an edition. What an edition means that is not known, nobody can tell: these
    /// are those of the newest one, which linking needs, and nothing may be judged by them.
    pub fn from_edition(edition: Edition) -> Features {
        let mut features = Features {
            presence: Presence::Explicit,
            openness: Openness::Closed,
            packed: false,
            utf8_validated: false,
            delimited: false,
            json_allowed: false,
            naming_style: NamingStyle::Legacy,
            default_visibility: DefaultVisibility::ExportAll,
            limits_enforced: false,
        };
        for row in FEATURES {
            let default = row.defaults.iter().rev().find(|(since, _)| *since <= edition);
            if let Some((_, name)) = default
                && let Some(value) = row.values.iter().position(|it| it == name)
            {
                features.set(FeatureSetting { feature: row.number, value: value as i32 });
            }
        }
        if !edition.is_known() {
            features.naming_style = NamingStyle::Legacy;
            features.default_visibility = DefaultVisibility::Unknown;
            features.limits_enforced = false;
        }
        features
    }
}

impl Features {
    /// The name of the value of a feature; empty if it is not known, or the feature is none.
    pub fn value_name(self, feature: &str) -> &'static str {
        match feature {
            "field_presence" => match self.presence {
                Presence::Explicit => "EXPLICIT",
                Presence::Implicit => "IMPLICIT",
                Presence::LegacyRequired => "LEGACY_REQUIRED",
            },
            "enum_type" => match self.openness {
                Openness::Open => "OPEN",
                Openness::Closed => "CLOSED",
            },
            "repeated_field_encoding" if self.packed => "PACKED",
            "repeated_field_encoding" => "EXPANDED",
            "utf8_validation" if self.utf8_validated => "VERIFY",
            "utf8_validation" => "NONE",
            "message_encoding" if self.delimited => "DELIMITED",
            "message_encoding" => "LENGTH_PREFIXED",
            "json_format" if self.json_allowed => "ALLOW",
            "json_format" => "LEGACY_BEST_EFFORT",
            "enforce_naming_style" => match self.naming_style {
                NamingStyle::Legacy => "STYLE_LEGACY",
                NamingStyle::Style2024 => "STYLE2024",
                NamingStyle::Style2026 => "STYLE2026",
            },
            "default_symbol_visibility" => match self.default_visibility {
                DefaultVisibility::ExportAll => "EXPORT_ALL",
                DefaultVisibility::ExportTopLevel => "EXPORT_TOP_LEVEL",
                DefaultVisibility::LocalAll => "LOCAL_ALL",
                DefaultVisibility::Strict => "STRICT",
                DefaultVisibility::Unknown => "",
            },
            "enforce_proto_limits" if self.limits_enforced => "PROTO_LIMITS2026",
            "enforce_proto_limits" => "LEGACY_NO_EXPLICIT_LIMITS",
            _ => "",
        }
    }

    /// Features that differ from these in every feature.
    pub(crate) const fn opposite(self) -> Features {
        Features {
            presence: match self.presence {
                Presence::Explicit | Presence::LegacyRequired => Presence::Implicit,
                Presence::Implicit => Presence::Explicit,
            },
            openness: match self.openness {
                Openness::Open => Openness::Closed,
                Openness::Closed => Openness::Open,
            },
            packed: !self.packed,
            utf8_validated: !self.utf8_validated,
            delimited: !self.delimited,
            json_allowed: !self.json_allowed,
            naming_style: match self.naming_style {
                NamingStyle::Legacy => NamingStyle::Style2026,
                NamingStyle::Style2024 | NamingStyle::Style2026 => NamingStyle::Legacy,
            },
            default_visibility: match self.default_visibility {
                DefaultVisibility::ExportAll => DefaultVisibility::LocalAll,
                _ => DefaultVisibility::ExportAll,
            },
            limits_enforced: !self.limits_enforced,
        }
    }

    /// The defaults of an edition where what stays in the source is not known.
    pub(crate) fn without_source(edition: Edition) -> Features {
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

/// A feature of `google.protobuf.FeatureSet`.
pub struct FeatureRow {
    /// Its name.
    pub name: &'static str,
    /// Its number in `FeatureSet`.
    pub number: i32,
    /// The names of its values, by number; empty where no value has a number, and for the value
    /// that means "unknown".
    pub values: &'static [&'static str],
    /// Its defaults: the first edition that has it, and the name of the value. They are
    /// `edition_defaults` in descriptor.proto, which also has the editions that know the feature
    /// (`feature_support`); a test compares them.
    pub defaults: &'static [(Edition, &'static str)],
}

/// Every feature that protobuf itself has. A new edition is rows and values here, and what
/// descriptor.proto says.
pub const FEATURES: &[FeatureRow] = &[
    FeatureRow {
        name: "field_presence",
        number: 1,
        values: &["", "EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"],
        defaults: &[
            (Edition::Proto2, "EXPLICIT"),
            (Edition::Proto3, "IMPLICIT"),
            (Edition::Edition2023, "EXPLICIT"),
        ],
    },
    FeatureRow {
        name: "enum_type",
        number: 2,
        values: &["", "OPEN", "CLOSED"],
        defaults: &[(Edition::Proto2, "CLOSED"), (Edition::Proto3, "OPEN")],
    },
    FeatureRow {
        name: "repeated_field_encoding",
        number: 3,
        values: &["", "PACKED", "EXPANDED"],
        defaults: &[(Edition::Proto2, "EXPANDED"), (Edition::Proto3, "PACKED")],
    },
    FeatureRow {
        name: "utf8_validation",
        number: 4,
        values: &["", "", "VERIFY", "NONE"],
        defaults: &[(Edition::Proto2, "NONE"), (Edition::Proto3, "VERIFY")],
    },
    FeatureRow {
        name: "message_encoding",
        number: 5,
        values: &["", "LENGTH_PREFIXED", "DELIMITED"],
        defaults: &[(Edition::Proto2, "LENGTH_PREFIXED")],
    },
    FeatureRow {
        name: "json_format",
        number: 6,
        values: &["", "ALLOW", "LEGACY_BEST_EFFORT"],
        defaults: &[(Edition::Proto2, "LEGACY_BEST_EFFORT"), (Edition::Proto3, "ALLOW")],
    },
    FeatureRow {
        name: "enforce_naming_style",
        number: 7,
        values: &["", "STYLE2024", "STYLE_LEGACY", "STYLE2026"],
        defaults: &[
            (Edition::Proto2, "STYLE_LEGACY"),
            (Edition::Edition2024, "STYLE2024"),
            (Edition::Edition2026, "STYLE2026"),
        ],
    },
    FeatureRow {
        name: "default_symbol_visibility",
        number: 8,
        values: &["", "EXPORT_ALL", "EXPORT_TOP_LEVEL", "LOCAL_ALL", "STRICT"],
        defaults: &[
            (Edition::Proto2, "EXPORT_ALL"),
            (Edition::Edition2024, "EXPORT_TOP_LEVEL"),
            (Edition::Edition2026, "STRICT"),
        ],
    },
    FeatureRow {
        name: "enforce_proto_limits",
        number: 9,
        values: &["", "LEGACY_NO_EXPLICIT_LIMITS", "PROTO_LIMITS2026"],
        defaults: &[
            (Edition::Proto2, "LEGACY_NO_EXPLICIT_LIMITS"),
            (Edition::Edition2026, "PROTO_LIMITS2026"),
        ],
    },
];

impl FeatureSetting {
    fn parse_setting(feature: &[u8], value: &[u8]) -> Option<FeatureSetting> {
        let row = FEATURES.iter().find(|row| row.name.as_bytes() == feature)?;
        // What is no word has no name here, and neither have the gaps between the numbers.
        let value = row.values.iter().position(|name| name.as_bytes() == value)?;
        (value > 0).then_some(FeatureSetting { feature: row.number, value: value as i32 })
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
            (7, 1) => self.naming_style = NamingStyle::Style2024,
            (7, 2) => self.naming_style = NamingStyle::Legacy,
            (7, 3) => self.naming_style = NamingStyle::Style2026,
            (8, 1) => self.default_visibility = DefaultVisibility::ExportAll,
            (8, 2) => self.default_visibility = DefaultVisibility::ExportTopLevel,
            (8, 3) => self.default_visibility = DefaultVisibility::LocalAll,
            (8, 4) => self.default_visibility = DefaultVisibility::Strict,
            (9, value @ (1 | 2)) => self.limits_enforced = value == 2,
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

#[cfg(test)]
mod tests {
    use super::{FEATURES, Features};
    use crate::decl::{FileDecl, SourceFile};
    use crate::dynamic::Message;
    use crate::protobuf::{DESCRIPTOR_PROTO, Edition, find_well_known};
    use crate::tree::Tree;

    /// descriptor.proto, linked.
    fn link_descriptor_proto() -> Tree {
        let text = find_well_known(DESCRIPTOR_PROTO).expect("it is built in");
        let path = std::sync::Arc::<str>::from(DESCRIPTOR_PROTO);
        let text = text.as_bytes().to_vec().into();
        let file = SourceFile { display: path.clone(), path, root: 0, imported: false, text };
        Tree::link(vec![std::sync::Arc::new(FileDecl::parse(file))])
    }

    #[test]
    fn the_table_says_what_descriptor_proto_says() {
        let tree = link_descriptor_proto();
        let set = tree
            .files()
            .flat_map(crate::tree::File::all_messages)
            .find(|it| it.full_name() == "google.protobuf.FeatureSet");
        let set = set.expect("it is declared");
        let known: Vec<(&str, i32)> = FEATURES.iter().map(|row| (row.name, row.number)).collect();
        let declared: Vec<(&str, i32)> = set.fields().map(|it| (it.name(), it.number())).collect();
        assert_eq!(known, declared);
        for (row, field) in FEATURES.iter().zip(set.fields()) {
            for value in field.enum_type().expect("features are enums").values() {
                let name = if value.number() == 0 { "" } else { value.name() };
                assert_eq!(row.values[value.number() as usize], name, "{}", row.name);
            }
            let options = field.options().expect("it has defaults");
            let defaults: Vec<(Edition, &str)> = options
                .get_all(&tree, "edition_defaults")
                .filter_map(|entry| entry.value.as_message())
                .map(|default| (find_edition(&tree, default), default))
                .map(|(edition, it)| (edition, it.get_str(&tree, "value").unwrap_or_default()))
                .collect();
            assert_eq!(row.defaults, defaults, "{}", row.name);
        }
    }

    /// The edition of a default; the time before editions counts as proto2.
    fn find_edition(tree: &Tree, default: &Message) -> Edition {
        let number = default.get_i64(tree, "edition").expect("it has an edition") as i32;
        Edition::from_number(number.max(Edition::Proto2.number())).expect("it is known")
    }

    #[test]
    fn every_edition_has_a_word_and_a_number_of_its_own() {
        for edition in Edition::iter_known() {
            assert_eq!(Edition::from_word(edition.word()), Some(edition));
            assert_eq!(Edition::from_number(edition.number()), Some(edition));
            assert!(edition <= Edition::NEWEST && edition < Edition::Unknown(0));
        }
        assert_eq!(Features::from_edition(Edition::Proto2), Features::default());
    }
}
