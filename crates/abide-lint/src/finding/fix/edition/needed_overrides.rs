//! The features that have to be overridden so that nothing changes.

use std::collections::BTreeMap;

use abide_change::OptionOwner;
use abide_schema::{
    DefaultVisibility, Edition, Element, Enum, Features, Field, File, Presence, Scalar, Type,
};

use super::edition_move::EditionMove;
use super::feature_override::{FeatureOverride, FeatureOwner};

/// The features that a file and its elements override.
pub(super) struct FileOverrides<'t> {
    /// Those of the file.
    pub(super) of_file: Vec<FeatureOverride>,
    /// Those of fields, by their index.
    pub(super) of_fields: BTreeMap<u32, Vec<FeatureOverride>>,
    /// Those of other elements.
    pub(super) of_elements: Vec<(Element<'t>, FeatureOverride)>,
}

/// The value that an element wants of a feature.
struct WantedValue {
    field: Option<u32>,
    value: &'static str,
    /// True if the element may set the feature. Else the value has no effect on it.
    is_settable: bool,
}

impl<'t> FileOverrides<'t> {
    pub(super) fn find(moved: EditionMove<'t>) -> FileOverrides<'t> {
        let mut found = FileOverrides {
            of_file: Vec::new(),
            of_fields: BTreeMap::new(),
            of_elements: Vec::new(),
        };
        if moved.leaves_syntax() {
            found.find_core(moved);
            found.find_legacy_enums(moved);
            if is_set(moved.source.file, "java_string_check_utf8") {
                let name = "utf8_validation";
                found.of_file.push(FeatureOverride::new(FeatureOwner::Java, name, "VERIFY"));
            }
        }
        found.find_source_features(moved);
        if moved.enters(Edition::Edition2024) {
            found.find_language_features(moved);
        }
        found.of_file.sort();
        found
    }

    /// Every file that declares a feature in use.
    pub(super) fn owners(&self) -> Vec<FeatureOwner> {
        let of_fields = self.of_fields.values().flatten();
        let of_elements = self.of_elements.iter().map(|it| &it.1);
        let all = self.of_file.iter().chain(of_fields).chain(of_elements);
        let mut owners: Vec<_> = all.map(|it| it.owner).collect();
        owners.sort();
        owners.dedup();
        owners
    }

    /// Features that syntax decided before there were editions.
    fn find_core(&mut self, moved: EditionMove<'t>) {
        let file = moved.source.file;
        let defaults = Features::from_edition(moved.to);
        let fields: Vec<Field<'t>> = file.all_fields().filter(|it| !is_of_map_entry(*it)).collect();
        let mut choose = |name, may_set: &dyn Fn(Field<'t>) -> bool| {
            let wanted = fields.iter().map(|&field| {
                let value = field.features().value_name(name);
                WantedValue { field: Some(field.id.index), value, is_settable: may_set(field) }
            });
            self.choose(name, defaults.value_name(name), wanted.collect());
        };
        choose("field_presence", &may_set_presence);
        choose("repeated_field_encoding", &Field::is_packable);
        choose("utf8_validation", &may_set_utf8);
        choose("message_encoding", &may_set_encoding);
        let features = file.features();
        let has_enums = file.all_enums().len() > 0;
        if has_enums && features.openness != defaults.openness {
            self.of_file.push(FeatureOverride::core("enum_type", features.value_name("enum_type")));
        }
        let has_types = has_enums || file.all_messages().len() > 0;
        if has_types && features.json_allowed != defaults.json_allowed {
            self.of_file.push(FeatureOverride::core("json_format", "LEGACY_BEST_EFFORT"));
        }
    }

    /// Chooses where to override a feature, so that the fewest places do. An element that may not
    /// set it counts as one, although it has no effect there.
    fn choose(&mut self, name: &'static str, default: &'static str, wanted: Vec<WantedValue>) {
        let candidates = wanted.iter().map(|it| it.value).filter(|it| *it != REQUIRED);
        let cost = |value: &str| {
            let apart = wanted.iter().filter(|it| it.value != value);
            (usize::from(value != default) + apart.clone().count(), apart.count())
        };
        let of_file = candidates.chain([default]).min_by_key(|it| (cost(it), *it));
        let of_file = of_file.unwrap_or(default);
        if of_file != default {
            self.of_file.push(FeatureOverride::core(name, of_file));
        }
        for it in wanted.iter().filter(|it| it.value != of_file && it.is_settable) {
            let Some(field) = it.field else { continue };
            let overrides = self.of_fields.entry(field).or_default();
            overrides.push(FeatureOverride::core(name, it.value));
        }
    }

    /// Proto2 has enums that only C++, Java and Go treat in their own way.
    fn find_legacy_enums(&mut self, moved: EditionMove<'t>) {
        if moved.from != Edition::Proto2 {
            return;
        }
        let file = moved.source.file;
        let fields = file.all_fields().filter(|it| !is_of_map_entry(*it));
        let of_enums: Vec<Field<'t>> = fields.filter(|it| find_enum(*it).is_some()).collect();
        for owner in [FeatureOwner::Cpp, FeatureOwner::Java] {
            let closed = FeatureOverride::new(owner, "legacy_closed_enum", "true");
            match of_enums[..] {
                [] => {}
                [field] => self.of_fields.entry(field.id.index).or_default().push(closed),
                _ => self.of_file.push(closed),
            }
        }
        if file.all_enums().len() > 0 {
            let name = "legacy_unmarshal_json_enum";
            self.of_file.push(FeatureOverride::new(FeatureOwner::Go, name, "true"));
        }
    }

    /// Features that only the compiler looks at: names, visibility and sizes.
    fn find_source_features(&mut self, moved: EditionMove<'t>) {
        let file = moved.source.file;
        let defaults = Features::from_edition(moved.to);
        let style = file.strictest_naming_style();
        if !sets_core(file, "enforce_naming_style") && style < defaults.naming_style {
            let naming_style = style.max(file.features().naming_style);
            let name = "enforce_naming_style";
            let style = Features { naming_style, ..file.features() }.value_name(name);
            self.of_file.push(FeatureOverride::core(name, style));
        }
        if !sets_core(file, "default_symbol_visibility")
            && file.features().default_visibility != defaults.default_visibility
            && file.features().default_visibility != DefaultVisibility::Unknown
            && hides_types(file, defaults.default_visibility)
        {
            let name = "default_symbol_visibility";
            self.of_file.push(FeatureOverride::core(name, file.features().value_name(name)));
        }
        if moved.enters(Edition::Edition2026) {
            let unlimited =
                FeatureOverride::core("enforce_proto_limits", "LEGACY_NO_EXPLICIT_LIMITS");
            self.of_elements.extend(file.elements_over_limits().map(|it| (it, unlimited)));
        }
    }

    /// Features of generated code that edition 2024 has other defaults for.
    fn find_language_features(&mut self, moved: EditionMove<'t>) {
        let file = moved.source.file;
        let has_enums = file.all_enums().len() > 0;
        let has_messages = file.all_messages().len() > 0;
        let has_strings = file.all_fields().any(|it| is_string(it.ty()));
        let kept = [
            (has_strings, FeatureOwner::Cpp, "string_type", "STRING"),
            (has_enums, FeatureOwner::Cpp, "enum_name_uses_string_view", "false"),
            // Enums of the opaque API have no `EnumDescriptor`, and no `UnmarshalJSON` of proto2.
            (has_messages || has_enums, FeatureOwner::Go, "api_level", "API_OPEN"),
        ];
        for (is_needed, owner, name, value) in kept {
            let extension = owner.extension().unwrap_or_default();
            if is_needed && OptionOwner::File(file).feature(extension, name).is_none() {
                self.of_file.push(FeatureOverride::new(owner, name, value));
            }
        }
        if is_set(file, "java_multiple_files") {
            return;
        }
        let nested = FeatureOverride::new(FeatureOwner::Java, "nest_in_file_class", "YES");
        let messages = file.messages().map(Element::Message);
        let mut classes: Vec<_> = messages.chain(file.enums().map(Element::Enum)).collect();
        if is_set(file, "java_generic_services") {
            classes.extend(file.services().map(Element::Service));
        }
        let is_class_set = |it: &Element<'t>| {
            OptionOwner::Element(*it).feature("pb.java", "nest_in_file_class").is_some()
        };
        classes.retain(|it| !is_class_set(it));
        self.of_elements.extend(classes.into_iter().map(|it| (it, nested)));
    }
}

const REQUIRED: &str = "LEGACY_REQUIRED";

fn may_set_presence(field: Field<'_>) -> bool {
    let is_message = matches!(field.ty(), Type::Message(_));
    field.real_oneof().is_none()
        && !is_repeated(field)
        && !field.is_extension()
        && (!is_message || field.features().presence != Presence::Implicit)
}

fn may_set_utf8(field: Field<'_>) -> bool {
    let is_string = |it: Field<'_>| it.ty() == Type::Scalar(Scalar::String);
    let entry = field.message_type().filter(|it| it.is_map_entry());
    is_string(field) || entry.is_some_and(|it| it.fields().any(is_string))
}

fn may_set_encoding(field: Field<'_>) -> bool {
    matches!(field.ty(), Type::Message(_)) && !field.is_map()
}

/// Returns true if a default hides types that the file says nothing else of, or forbids what it
/// says.
fn hides_types(file: File<'_>, default: DefaultVisibility) -> bool {
    let messages = file.all_messages().filter(|it| !it.is_map_entry()).map(Element::Message);
    let mut types = messages.chain(file.all_enums().map(Element::Enum));
    match default {
        DefaultVisibility::ExportTopLevel => types.any(|it| it.parent().is_some()),
        _ => types.next().is_some(),
    }
}

pub(super) fn is_of_map_entry(field: Field<'_>) -> bool {
    field.parent().is_some_and(|it| it.is_map_entry())
}

fn is_repeated(field: Field<'_>) -> bool {
    field.decl().label == Some(abide_syntax::FieldLabel::Repeated)
}

const fn is_string(ty: Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::String | Scalar::Bytes))
}

/// The enum of a field, or of the values of a map.
fn find_enum(field: Field<'_>) -> Option<Enum<'_>> {
    let entry = field.message_type().filter(|it| it.is_map_entry());
    entry.and_then(|it| it.fields().nth(1)).unwrap_or(field).enum_type()
}

fn sets_core(file: File<'_>, feature: &str) -> bool {
    let features =
        OptionOwner::File(file).standard("features").and_then(|it| it.value.as_message());
    features.is_some_and(|it| it.get(file.tree, feature).is_some())
}

fn is_set(file: File<'_>, option: &str) -> bool {
    OptionOwner::File(file).standard(option).is_some_and(|it| it.value.as_bool() == Some(true))
}
