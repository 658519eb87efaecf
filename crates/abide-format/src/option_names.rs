//! The names of options, as they are sorted.

use std::collections::BTreeMap;

use abide_syntax::{Ast, DeclKind, NamePart, join_dotted_name};

/// The names of extensions in the options of a file.
///
/// Everybody may spell an extension in several ways, from `x` to `.acme.v1.x`, and only who links
/// the file knows which of them mean the same. Names that may do so are sorted as one, so that
/// the values of an option, and of the parts of an option, keep their order.
pub(crate) struct OptionNames {
    /// The first of the names that may mean the same as a name.
    first: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl OptionNames {
    /// Those of the statements at the top of a file.
    pub(crate) fn of(text: &[u8], ast: &Ast) -> OptionNames {
        let options = ast.children_of(None).filter_map(|id| match ast.decls[id as usize].kind {
            DeclKind::Option(id) => Some(&ast.options[id as usize]),
            _ => None,
        });
        let parts = options.flat_map(|it| ast.name_parts(it)).filter(|it| it.extension);
        let mut names: Vec<(Vec<Vec<u8>>, Vec<u8>)> = parts
            .map(|part| {
                let name = spell_part(text, part);
                let components = name.split(|&byte| byte == b'.').rev().map(<[u8]>::to_vec);
                (components.filter(|it| !it.is_empty()).collect(), name)
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut first = BTreeMap::new();
        let mut rest = &names[..];
        // The names that end with a name follow it.
        while let [(shortest, _), ..] = rest {
            let (alike, others) = rest
                .split_at(rest.iter().take_while(|(name, _)| name.starts_with(shortest)).count());
            let least = alike.iter().map(|(_, name)| name).min();
            first.extend(alike.iter().filter_map(|(_, name)| Some((name.clone(), least?.clone()))));
            rest = others;
        }
        OptionNames { first }
    }

    /// Returns the sort key of the option with a name.
    pub(crate) fn sort_key(&self, text: &[u8], parts: &[NamePart]) -> Vec<u8> {
        let mut key = Vec::new();
        for part in parts {
            let name = spell_part(text, part);
            match self.first.get(&name).filter(|_| part.extension) {
                Some(first) => key.extend_from_slice(&[b".(", &first[..], b")"].concat()),
                None => key.extend_from_slice(&[b".", &name[..]].concat()),
            }
        }
        key
    }
}

/// The name of a part without white space and comments.
fn spell_part(text: &[u8], part: &NamePart) -> Vec<u8> {
    let written = part.name.of(text);
    join_dotted_name(text, part.name).map_or_else(|| written.to_vec(), String::into_bytes)
}
