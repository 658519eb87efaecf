//! Who uses which element, as the files say that `[usage] files` names.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use jiff::civil::Date;

use crate::finding::ElementUser;

/// A use of an element: a line of a file of uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementUse {
    /// The full name of the element.
    pub element: String,
    /// The name of the client.
    pub client: String,
    /// The release of the client.
    pub release: Option<String>,
    /// The last day of the use; `None` if it may be today.
    pub last: Option<Date>,
    /// How often the client uses it; 0 says that it does not, although it uses what is around.
    pub count: Option<u64>,
}

/// The uses of all elements.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// By full name of the element, in the order of the files.
    uses: BTreeMap<String, Vec<ElementUse>>,
    /// The elements that clients do not use, although they use what is around.
    unused: BTreeSet<(String, String)>,
}

impl Usage {
    /// Collects the uses that files list.
    pub fn new(uses: impl IntoIterator<Item = ElementUse>) -> Usage {
        let mut usage = Usage::default();
        for each in uses {
            let name = each.element.trim_start_matches('.').to_owned();
            match each.count {
                Some(0) => drop(usage.unused.insert((name, each.client))),
                _ => usage.uses.entry(name).or_default().push(each),
            }
        }
        usage
    }

    /// The clients that use an element, or something inside it, sorted by name. A client of which
    /// only the enclosing element is listed may use all of it; one of which members are listed
    /// uses these alone.
    pub fn find_users(&self, element: &str) -> Vec<ElementUser> {
        let element = element.trim_start_matches('.');
        let mut users: BTreeMap<&str, ElementUser> = BTreeMap::new();
        if element.is_empty() {
            return Vec::new();
        }
        let own = self.uses.get(element).into_iter().flatten();
        for each in own.chain(self.iter_inside(element)) {
            add_use(&mut users, each);
        }
        for (end, _) in element.rmatch_indices('.') {
            let around = &element[..end];
            for each in self.uses.get(around).into_iter().flatten() {
                let is_other = |inner: &ElementUse| inner.client != each.client;
                if self.iter_inside(around).all(is_other) && !self.leaves_out(each, element, end) {
                    add_use(&mut users, each);
                }
            }
        }
        users.into_values().collect()
    }

    /// Returns true if a client that uses what is around does not use an element, or what is between
    /// both: `end` is where the name of what is around ends.
    fn leaves_out(&self, each: &ElementUse, element: &str, end: usize) -> bool {
        let inner = element[end + 1..].match_indices('.').map(|it| end + 1 + it.0);
        inner
            .chain([element.len()])
            .any(|end| self.unused.contains(&(element[..end].to_owned(), each.client.clone())))
    }

    /// The uses of what is declared inside an element.
    fn iter_inside<'u>(&'u self, element: &str) -> impl Iterator<Item = &'u ElementUse> {
        // No name has a character between the full stop and the slash.
        let (from, to) = (format!("{element}."), format!("{element}/"));
        let range = (Bound::Excluded(from.as_str()), Bound::Excluded(to.as_str()));
        self.uses.range::<str, _>(range).flat_map(|(_, uses)| uses)
    }
}

/// Adds a use to what is known of its client.
fn add_use<'u>(users: &mut BTreeMap<&'u str, ElementUser>, each: &'u ElementUse) {
    let Some(user) = users.get_mut(each.client.as_str()) else {
        let user = ElementUser {
            client: each.client.clone(),
            releases: each.release.iter().cloned().collect(),
            last: each.last,
            count: each.count,
        };
        users.insert(&each.client, user);
        return;
    };
    if let Some(release) = &each.release
        && let Err(at) = user.releases.binary_search(release)
    {
        user.releases.insert(at, release.clone());
    }
    // A use without a day may be today's.
    user.last = user.last.zip(each.last).map(|(one, other)| one.max(other));
    user.count = match (user.count, each.count) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    };
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{ElementUse, Usage};

    fn using(element: &str, client: &str) -> ElementUse {
        ElementUse {
            element: element.to_owned(),
            client: client.to_owned(),
            release: None,
            last: None,
            count: None,
        }
    }

    fn clients(usage: &Usage, element: &str) -> Vec<String> {
        usage.find_users(element).into_iter().map(|it| it.client).collect()
    }

    #[test]
    fn members_count_for_what_holds_them_and_whole_messages_for_their_members() {
        let usage = Usage::new([
            using("acme.v1.User", "whole"),
            using("acme.v1.User", "precise"),
            using(".acme.v1.User.name", "precise"),
            using("acme.v1.Username", "other"),
        ]);
        assert_eq!(clients(&usage, "acme.v1.User"), ["precise", "whole"]);
        assert_eq!(clients(&usage, "acme.v1.User.name"), ["precise", "whole"]);
        assert_eq!(clients(&usage, "acme.v1.User.mail"), ["whole"]);
        assert_eq!(clients(&usage, "acme.v1"), ["other", "precise", "whole"]);
        assert_eq!(clients(&usage, "acme.v1.Use"), Vec::<String>::new());
        assert_eq!(clients(&usage, ""), Vec::<String>::new());
        let none = ElementUse { count: Some(0), ..using("acme.v1.User.mail", "whole") };
        let usage = Usage::new([using("acme.v1.User", "whole"), none]);
        assert_eq!(clients(&usage, "acme.v1.User.mail"), Vec::<String>::new());
        assert_eq!(clients(&usage, "acme.v1.User.name"), ["whole"]);
        assert_eq!(clients(&usage, "acme.v1.User"), ["whole"]);
    }

    #[test]
    fn lines_about_one_client_are_joined() {
        let line = |release: &str, last, count| ElementUse {
            release: Some(release.to_owned()),
            last,
            count,
            ..using("acme.v1.User", "billing")
        };
        let days = [date(2026, 3, 1), date(2026, 2, 1)];
        let two = [line("2", Some(days[0]), Some(3)), line("1", Some(days[1]), Some(4))];
        let users = Usage::new(two.clone()).find_users("acme.v1.User");
        assert_eq!(users.len(), 1);
        assert_eq!(users[0].releases, ["1", "2"]);
        assert_eq!((users[0].last, users[0].count), (Some(days[0]), Some(7)));
        let users = Usage::new(two.into_iter().chain([line("1", None, None)]));
        assert_eq!(users.find_users("acme.v1.User")[0].last, None);
    }
}
