//! Who uses the element that a finding is about.

use jiff::civil::Date;

/// A client that uses an element, as files of uses say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementUser {
    /// The name of the client.
    pub client: String,
    /// The releases of the client that use it, sorted.
    pub releases: Vec<String>,
    /// The last day on which it was used; `None` if a file does not say.
    pub last: Option<Date>,
    /// How often it is used, as far as files say.
    pub count: Option<u64>,
}
