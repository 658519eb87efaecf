//! Names that only one file of a tree may declare.

use std::collections::BTreeSet;

use crate::decl::FileDecl;

/// The names that a file reserves, besides its package.
pub(crate) struct UniqueNames {
    /// Its full names at the top level, and the numbers of its extensions.
    pub(crate) names: BTreeSet<String>,
    /// True if it declares options.
    pub(crate) extends_options: bool,
}

impl UniqueNames {
    pub(crate) fn from_decl(decl: &FileDecl) -> UniqueNames {
        let package = decl.package_name();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut extends_options = false;
        let mut claim = |name: &str| {
            names.insert(match package {
                "" => name.to_owned(),
                package => format!("{package}.{name}"),
            });
        };
        for message in &decl.messages[decl.top_messages.range()] {
            claim(decl.str(message.name));
        }
        for item in &decl.enums[decl.top_enums.range()] {
            claim(decl.str(item.name));
            for value in &decl.values[item.values.range()] {
                claim(decl.str(value.name));
            }
        }
        for extension in &decl.fields[decl.top_extensions.range()] {
            claim(decl.str(extension.name));
        }
        for service in &decl.services {
            claim(decl.str(service.name));
        }
        for field in &decl.fields {
            if let Some(extendee) = field.extendee() {
                let extendee = last_component(decl.str(extendee));
                names.insert(format!("{extendee} {}", field.number));
                extends_options |= extendee.ends_with("Options");
            }
        }
        UniqueNames { names, extends_options }
    }
}

/// The last part of a name.
pub(crate) fn last_component(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
