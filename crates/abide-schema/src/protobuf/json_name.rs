//! JSON names of fields.

/// The JSON name that protoc derives: underscores go, and the letter after
/// each is raised. Source: `ToJsonName` of protobuf's descriptor.cc.
pub fn default_json_name(name: &str) -> String {
    let mut words = name.split('_');
    let mut json = String::with_capacity(name.len());
    json.push_str(words.next().unwrap_or_default());
    for word in words {
        let start = json.len();
        json.push_str(word);
        if let Some(first) = json.get_mut(start..start + 1) {
            first.make_ascii_uppercase();
        }
    }
    json
}

pub(crate) fn to_json_letters(name: &str) -> impl Iterator<Item = char> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_name() {
        for name in ["", "_", "a", "foo_bar", "_foo__bar_", "foo_Bar9_1x", "é_é_e", "__"] {
            assert_eq!(
                default_json_name(name),
                to_json_letters(name).collect::<String>(),
                "{name}"
            );
        }
        assert_eq!(default_json_name("foo_bar"), "fooBar");
        assert_eq!(default_json_name("_foo__bar_"), "FooBar");
    }
}
