//! Camel case, as generators write it.

/// `foo_bar` in camel case: letters after underscores and digits become upper case,
/// the first letter too on request, and underscores are removed. Source:
/// `UnderscoresToCamelCase` of the C++ and Java generators.
pub fn to_camel_case(name: &str, raise_first: bool) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut raise = raise_first;
    for (index, character) in name.chars().enumerate() {
        match character {
            'a'..='z' => {
                camel.push(if raise { character.to_ascii_uppercase() } else { character });
                raise = false;
            }
            'A'..='Z' => {
                let lower = index == 0 && !raise;
                camel.push(if lower { character.to_ascii_lowercase() } else { character });
                raise = false;
            }
            '0'..='9' => {
                camel.push(character);
                raise = true;
            }
            _ => raise = true,
        }
    }
    camel
}
