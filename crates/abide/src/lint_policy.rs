//! `[lint]`: what rules about names and comments ask for.

/// What rules about one tree ask for where teams differ.
#[derive(Clone, Debug)]
pub struct LintPolicy {
    /// What the names of zero values end with.
    pub zero_value_suffix: String,
    /// What the names of services end with.
    pub service_suffix: String,
    /// Whether one message may be the request and the response of a method.
    pub allow_same_request_response: bool,
    /// Whether any method may take `google.protobuf.Empty`.
    pub allow_empty_requests: bool,
    /// Whether any method may return `google.protobuf.Empty`.
    pub allow_empty_responses: bool,
    /// Whether comments such as `// buf:lint:ignore ENUM_PASCAL_CASE` count.
    pub buf_comments: bool,
}

impl Default for LintPolicy {
    fn default() -> Self {
        LintPolicy {
            zero_value_suffix: "_UNSPECIFIED".to_owned(),
            service_suffix: "Service".to_owned(),
            allow_same_request_response: false,
            allow_empty_requests: false,
            allow_empty_responses: false,
            buf_comments: true,
        }
    }
}
