//! JSON names of fields.

/// The JSON name that protoc derives: underscores go, and the letter after
/// each is raised. Source: `ToJsonName` of protobuf's descriptor.cc.
pub fn default_json_name(name: &str) -> String {
    let mut json = String::with_capacity(name.len());
    json.extend(json_letters(name));
    json
}

pub(crate) fn json_letters(name: &str) -> impl Iterator<Item = char> {
    let mut raise = false;
    name.chars().filter_map(move |character| {
        if character == '_' {
            raise = true;
            return None;
        }
        let raised = std::mem::take(&mut raise);
        Some(if raised { character.to_ascii_uppercase() } else { character })
    })
}
