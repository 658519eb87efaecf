use abide_schema::{Cardinality, Element, HttpBinding, Message, Method, Part, Scalar, Type};

use crate::checks::exempts;
use crate::rule::{Check, Context, Group, Rule, Sink};

const UNANNOTATED: [&str; 2] = ["aip:127", "api-linter:core::0127::http-annotation"];
const SLASH: [&str; 2] = ["aip:127", "api-linter:core::0127::uri-leading-slash"];
const CUSTOM_VERB: [&str; 2] = ["aip:136", "api-linter:core::0136::http-method"];

const BY_CASE: &[&[&str]] = &[
    &UNANNOTATED,
    &SLASH,
    &CUSTOM_VERB,
    &[
        "aip:233",
        "api-linter:core::0233::http-method",
        "api-linter:core::0233::http-body",
        "api-linter:core::0233::http-uri-suffix",
        "api-linter:core::0233::request-requests-field",
    ],
    &[
        "aip:235",
        "api-linter:core::0235::http-method",
        "api-linter:core::0235::http-body",
        "api-linter:core::0235::http-uri-suffix",
        "api-linter:core::0235::request-names-field",
    ],
    &[
        "aip:231",
        "api-linter:core::0231::http-method",
        "api-linter:core::0231::http-body",
        "api-linter:core::0231::uri-suffix",
        "api-linter:core::0231::request-names-field",
    ],
    &[
        "aip:234",
        "api-linter:core::0234::http-method",
        "api-linter:core::0234::http-body",
        "api-linter:core::0234::http-uri-suffix",
        "api-linter:core::0234::request-requests-field",
    ],
    &["aip:133", "api-linter:core::0133::http-method", "api-linter:core::0133::http-body"],
    &[
        "aip:135",
        "api-linter:core::0135::http-method",
        "api-linter:core::0135::http-body",
        "api-linter:core::0135::request-name-field",
    ],
    &[
        "aip:131",
        "api-linter:core::0131::http-method",
        "api-linter:core::0131::http-body",
        "api-linter:core::0131::request-name-field",
    ],
    &["aip:132", "api-linter:core::0132::http-method", "api-linter:core::0132::http-body"],
    &[
        "aip:134",
        "api-linter:core::0134::http-method",
        "api-linter:core::0134::http-body",
        "api-linter:core::0134::request-mask-field",
    ],
];

pub(super) static RULE: Rule = Rule {
    id: "standard-method-malformed",
    summary: "a method whose HTTP annotation or request is not that of a standard method",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: BY_CASE,
    spares_work_in_progress: true,
    page: include_str!("standard-method-malformed.md"),
    check: Check::Element(check),
};

/// A standard method, by the beginning of its name.
struct StandardMethod {
    prefix: &'static str,
    /// The HTTP methods that it may use.
    verbs: &'static [&'static str],
    /// True if its request has a body.
    has_body: bool,
    /// The end of its path.
    path_end: &'static str,
    /// The field that its request names the resource or its parent with.
    field: Option<(&'static str, RequestFieldKind)>,
    aip: &'static str,
    verb_rule: &'static str,
    body_rule: &'static str,
    path_rule: &'static str,
    field_rule: &'static str,
}

/// The content of a field of a request.
#[derive(Clone, Copy)]
enum RequestFieldKind {
    Text,
    Mask,
    Many,
}

/// Longer beginnings come first.
const STANDARD_METHODS: &[StandardMethod] = &[
    StandardMethod {
        prefix: "BatchCreate",
        verbs: &["POST"],
        has_body: true,
        path_end: ":batchCreate",
        field: Some(("requests", RequestFieldKind::Many)),
        aip: "aip:233",
        verb_rule: "api-linter:core::0233::http-method",
        body_rule: "api-linter:core::0233::http-body",
        path_rule: "api-linter:core::0233::http-uri-suffix",
        field_rule: "api-linter:core::0233::request-requests-field",
    },
    StandardMethod {
        prefix: "BatchDelete",
        verbs: &["POST"],
        has_body: true,
        path_end: ":batchDelete",
        field: Some(("names", RequestFieldKind::Many)),
        aip: "aip:235",
        verb_rule: "api-linter:core::0235::http-method",
        body_rule: "api-linter:core::0235::http-body",
        path_rule: "api-linter:core::0235::http-uri-suffix",
        field_rule: "api-linter:core::0235::request-names-field",
    },
    StandardMethod {
        prefix: "BatchGet",
        verbs: &["GET"],
        has_body: false,
        path_end: ":batchGet",
        field: Some(("names", RequestFieldKind::Many)),
        aip: "aip:231",
        verb_rule: "api-linter:core::0231::http-method",
        body_rule: "api-linter:core::0231::http-body",
        path_rule: "api-linter:core::0231::uri-suffix",
        field_rule: "api-linter:core::0231::request-names-field",
    },
    StandardMethod {
        prefix: "BatchUpdate",
        verbs: &["POST"],
        has_body: true,
        path_end: ":batchUpdate",
        field: Some(("requests", RequestFieldKind::Many)),
        aip: "aip:234",
        verb_rule: "api-linter:core::0234::http-method",
        body_rule: "api-linter:core::0234::http-body",
        path_rule: "api-linter:core::0234::http-uri-suffix",
        field_rule: "api-linter:core::0234::request-requests-field",
    },
    StandardMethod {
        prefix: "Create",
        verbs: &["POST"],
        has_body: true,
        path_end: "",
        field: None,
        aip: "aip:133",
        verb_rule: "api-linter:core::0133::http-method",
        body_rule: "api-linter:core::0133::http-body",
        path_rule: "api-linter:core::0133::http-uri-parent",
        field_rule: "api-linter:core::0133::request-parent-field",
    },
    StandardMethod {
        prefix: "Delete",
        verbs: &["DELETE"],
        has_body: false,
        path_end: "",
        field: Some(("name", RequestFieldKind::Text)),
        aip: "aip:135",
        verb_rule: "api-linter:core::0135::http-method",
        body_rule: "api-linter:core::0135::http-body",
        path_rule: "api-linter:core::0135::http-uri-name",
        field_rule: "api-linter:core::0135::request-name-field",
    },
    StandardMethod {
        prefix: "Get",
        verbs: &["GET"],
        has_body: false,
        path_end: "",
        field: Some(("name", RequestFieldKind::Text)),
        aip: "aip:131",
        verb_rule: "api-linter:core::0131::http-method",
        body_rule: "api-linter:core::0131::http-body",
        path_rule: "api-linter:core::0131::http-uri-name",
        field_rule: "api-linter:core::0131::request-name-field",
    },
    StandardMethod {
        prefix: "List",
        verbs: &["GET"],
        has_body: false,
        path_end: "",
        field: None,
        aip: "aip:132",
        verb_rule: "api-linter:core::0132::http-method",
        body_rule: "api-linter:core::0132::http-body",
        path_rule: "api-linter:core::0132::http-uri-parent",
        field_rule: "api-linter:core::0132::request-parent-field",
    },
    StandardMethod {
        prefix: "Update",
        verbs: &["PATCH"],
        has_body: true,
        path_end: "",
        field: Some(("update_mask", RequestFieldKind::Mask)),
        aip: "aip:134",
        verb_rule: "api-linter:core::0134::http-method",
        body_rule: "api-linter:core::0134::http-body",
        path_rule: "api-linter:core::0134::http-uri-name",
        field_rule: "api-linter:core::0134::request-mask-field",
    },
];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Method(method) = element else { return };
    let bindings = method.http_bindings();
    let mut report = |place, message: String, help: String, aliases: [&'static str; 2]| {
        if !exempts(context, element, &aliases) {
            sink.report(place, method.package().name(), method.full_name(), &message)
                .why("tools and users rely on what every standard method looks like")
                .help(help)
                .fact(message)
                .aliases(&aliases);
        }
    };
    let name = method.relative_name();
    let decl = method.decl();
    if bindings.is_empty() && !(decl.client_streaming && decl.server_streaming) {
        let message = format!("method `{name}` has no HTTP annotation");
        let help =
            "add `option (google.api.http)`, with the path that REST clients call".to_owned();
        report(method.place(Part::Name), message, help, UNANNOTATED);
    }
    for binding in bindings.iter().filter(|it| !it.path.starts_with('/')) {
        let message = format!("HTTP path `{}` of `{name}` does not begin with `/`", binding.path);
        report(binding.place, message, format!("write it as `/{}`", binding.path), SLASH);
    }
    let Some(standard) = STANDARD_METHODS.iter().find(|it| it.is(method)) else {
        for binding in bindings.iter().filter(|it| !matches!(it.method, "GET" | "POST")) {
            let message = format!("custom method `{name}` uses {}", binding.method);
            let help = "use POST, or GET if it changes nothing".to_owned();
            report(binding.place, message, help, CUSTOM_VERB);
        }
        return;
    };
    for binding in &bindings {
        for (message, help, rule) in standard.find_defects(binding) {
            report(binding.place, format!("{message} of `{name}`"), help, [standard.aip, rule]);
        }
    }
    let lack = method.input().and_then(|request| standard.find_lack(request));
    if let Some((field, what)) = lack {
        let message = format!("the request of `{name}` has no {what} `{field}`");
        let help = format!("add `{field}` to it before clients send the request");
        report(method.place(Part::Input), message, help, [standard.aip, standard.field_rule]);
    }
}

impl StandardMethod {
    fn is(&self, method: Method<'_>) -> bool {
        let rest = method.name().strip_prefix(self.prefix);
        // `GetIamPolicy` is of another family; `Getaway` is a word.
        rest.is_some_and(|rest| !rest.starts_with(|it: char| !it.is_ascii_uppercase()))
            && method.name() != "GetIamPolicy"
    }

    /// Finds the defects of a binding: for each its text, the fix, and the rule about it.
    fn find_defects(&self, binding: &HttpBinding<'_>) -> Vec<(String, String, &'static str)> {
        let mut defects = Vec::new();
        let (verb, path) = (binding.method, binding.path);
        if !self.verbs.contains(&verb) {
            let help = format!("use {}", self.verbs.join(" or "));
            defects.push((format!("the HTTP method {verb}"), help, self.verb_rule));
        }
        match (self.has_body, binding.body) {
            (true, None) => {
                let help = "set `body`".to_owned();
                defects.push(("the missing HTTP body".to_owned(), help, self.body_rule));
            }
            (false, Some(body)) => {
                let help = "remove `body`: servers and proxies may drop it".to_owned();
                defects.push((format!("the HTTP body `{body}`"), help, self.body_rule));
            }
            _ => {}
        }
        if !self.path_end.is_empty() && !path.ends_with(self.path_end) {
            let help = format!("end it with `{}`", self.path_end);
            defects.push((format!("the HTTP path `{path}`"), help, self.path_rule));
        }
        defects
    }

    /// The field that a request lacks, and what it would be.
    fn find_lack(&self, request: Message<'_>) -> Option<(&'static str, &'static str)> {
        let (wanted, kind) = self.field?;
        let field = request.fields().find(|it| it.name() == wanted);
        let (is_there, what) = match kind {
            RequestFieldKind::Text => {
                (field.is_some_and(|it| it.ty() == Type::Scalar(Scalar::String)), "string")
            }
            RequestFieldKind::Mask => {
                let ty = field.and_then(|it| it.message_type());
                (ty.is_some_and(|it| it.full_name() == "google.protobuf.FieldMask"), "field mask")
            }
            // Requests for one each may stand in the place of names.
            RequestFieldKind::Many => (
                request.fields().any(|it| {
                    [wanted, "requests"].contains(&it.name())
                        && it.cardinality() == Cardinality::Repeated
                }),
                "repeated field",
            ),
        };
        (!is_there).then_some((wanted, what))
    }
}
