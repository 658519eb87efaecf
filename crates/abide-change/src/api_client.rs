//! Losses of clients that are generated from the annotations of `google.api`.
//!
//! The model is that of gapic-generator-python. It covers what annotations add to the
//! stubs of protoc: hosts, scopes, parameters, results and path helpers.

mod path_helpers;

use std::collections::BTreeSet;
use std::fmt;

use abide_schema::{Cardinality, Element, Field, Method, Scalar, Service, Type};

pub(crate) use self::path_helpers::{PathHelpers, find_lost_path_helper};
use crate::option::OptionOwner;
use crate::surface::Surface;
use crate::symbols::LostSymbol;

const OPERATION: &str = "google.longrunning.Operation";
const OPERATION_INFO: &str = "google.longrunning.operation_info";

fn describe_loss(words: String) -> LostSymbol {
    LostSymbol { surface: Surface::SourceGapic, symbol: words }
}

/// Returns what a client loses whose default host changed.
pub fn find_lost_endpoint(old: Service<'_>, new: Service<'_>) -> Option<LostSymbol> {
    let (was, is) = (read_default_host(old), read_default_host(new));
    let name = old.name();
    (was != "None" && was != is).then(|| {
        describe_loss(format!("`{name}Client.DEFAULT_ENDPOINT` changed from `{was}` to `{is}`"))
    })
}

/// The default host of a client as Python prints it.
fn read_default_host(service: Service<'_>) -> &str {
    let entry = OptionOwner::Element(Element::Service(service)).custom("google.api.default_host");
    entry.and_then(|it| it.value.as_str()).filter(|it| !it.is_empty()).unwrap_or("None")
}

/// Returns what a client loses that no longer asks for a scope.
pub fn describe_lost_scope(old: Service<'_>, scope: &str) -> LostSymbol {
    describe_loss(format!("`{}Transport.AUTH_SCOPES` no longer has `{scope}`", old.name()))
}

/// The parameter that calls lose with a signature: one that no other signature has.
pub fn find_lost_parameter(
    old: Method<'_>,
    new: Method<'_>,
    signature: &str,
) -> Option<LostSymbol> {
    let (was, is) = (collect_parameters(old), collect_parameters(new));
    let path = split_signature(signature).find(|it| was.contains(it) && !is.contains(it))?;
    let name = path.rsplit('.').next().unwrap_or(path);
    Some(describe_loss(format!("`{}` lost its parameter `{name}`", format_call(old))))
}

/// Returns what a call returned and no longer does, if either is more than the response.
pub fn find_lost_result(old: Method<'_>, new: Method<'_>) -> Option<LostSymbol> {
    let was = CallResult::of(old)?;
    match CallResult::of(new) {
        None => Some(describe_loss(format!("`{}` can no longer be generated", format_call(old)))),
        Some(CallResult::Response(_)) if matches!(was, CallResult::Response(_)) => None,
        Some(is) if was == is => None,
        Some(is) => {
            Some(describe_loss(format!("`{}` changed from `{was}` to `{is}`", format_call(old))))
        }
    }
}

/// The repeated field of the response that a paged method walks through.
pub fn find_paged_field(method: Method<'_>) -> Option<Field<'_>> {
    let (input, output) = (method.input()?, method.output()?);
    let decl = method.decl();
    input.field_named("page_token").filter(|it| is_page_token(*it))?;
    output.field_named("next_page_token").filter(|it| is_page_token(*it))?;
    // The size of old APIs goes first.
    let size = input.field_named("max_results").or_else(|| input.field_named("page_size"));
    size.filter(|it| is_page_size(*it))?;
    let is_unary = !decl.client_streaming && !decl.server_streaming;
    output.fields().find(|it| is_unary && it.cardinality() != Cardinality::Singular)
}

fn is_page_token(field: Field<'_>) -> bool {
    field.cardinality() == Cardinality::Singular && field.ty() == Type::Scalar(Scalar::String)
}

/// Returns true if a field may hold the size of a page: an integer, or one in a wrapper.
fn is_page_size(field: Field<'_>) -> bool {
    match field.ty() {
        Type::Scalar(scalar) => is_integer(scalar),
        _ => {
            let wrapper = field.message_type().map(|it| it.name());
            matches!(wrapper, Some("UInt32Value" | "Int32Value"))
        }
    }
}

fn is_integer(scalar: Scalar) -> bool {
    !matches!(
        scalar,
        Scalar::Double | Scalar::Float | Scalar::Bool | Scalar::String | Scalar::Bytes
    )
}

/// The full name of the response or metadata type of a long-running operation: `part` is
/// its field in the annotation. It is written in full or relative to the package.
pub fn resolve_operation_type(method: Method<'_>, part: &str) -> Option<String> {
    let entry = OptionOwner::Element(Element::Method(method)).part(OPERATION_INFO, part)?;
    let written = entry.value.as_str().filter(|it| !it.is_empty())?;
    let package = method.package().name();
    let relative = !written.contains('.') && !package.is_empty();
    Some(if relative { format!("{package}.{written}") } else { written.to_owned() })
}

/// The result of a call, as the generator types it.
#[derive(PartialEq, Eq)]
enum CallResult {
    /// A future, with the types of the response and the metadata.
    Operation(String, String),
    /// An iterator over the pages, with the field that it walks through.
    Pager(String),
    Response(String),
}

impl CallResult {
    /// `None` if the generator refuses the method.
    fn of(method: Method<'_>) -> Option<CallResult> {
        let output = method.output()?.full_name();
        let has_info =
            OptionOwner::Element(Element::Method(method)).custom(OPERATION_INFO).is_some();
        if output == OPERATION && has_info {
            let response = resolve_operation_type(method, "response_type")?;
            let metadata = resolve_operation_type(method, "metadata_type")?;
            return Some(CallResult::Operation(response, metadata));
        }
        Some(match find_paged_field(method) {
            Some(field) => CallResult::Pager(field.relative_name()),
            None => CallResult::Response(output),
        })
    }
}

impl fmt::Display for CallResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallResult::Operation(response, metadata) => {
                write!(f, "Operation[{response}, {metadata}]")
            }
            CallResult::Pager(field) => write!(f, "Pager[{field}]"),
            CallResult::Response(message) => f.write_str(message),
        }
    }
}

/// The fields of the request that a call takes as parameters, by their paths.
fn collect_parameters(method: Method<'_>) -> BTreeSet<&str> {
    if method.decl().client_streaming {
        return BTreeSet::new();
    }
    let signatures =
        OptionOwner::Element(Element::Method(method)).collect_custom("google.api.method_signature");
    let paths = signatures.into_iter().filter_map(|it| it.value.as_str()).flat_map(split_signature);
    paths.filter(|it| is_parameter(method, it)).collect()
}

fn split_signature(signature: &str) -> impl Iterator<Item = &str> {
    signature.split(',').map(str::trim).filter(|it| !it.is_empty())
}

/// Returns true if a path leads to a field that clients set by itself. A request of another package
/// is not wrapped, so only its scalars are.
fn is_parameter(method: Method<'_>, path: &str) -> bool {
    let mut message = method.input();
    let mut last = None;
    for name in path.split('.') {
        last = message.and_then(|it| it.fields().find(|it| it.name() == name));
        message = last.and_then(Field::message_type);
    }
    let is_wrapped =
        method.input().is_some_and(|it| it.package().name() == method.package().name());
    last.is_some_and(|it| is_wrapped || matches!(it.ty(), Type::Scalar(_)))
}

/// `UsersClient.get_user`.
fn format_call(method: Method<'_>) -> String {
    format!("{}Client.{}", method.service().name(), to_snake_case(method.name()))
}

/// A name in the snake case of the generator. A run of capitals is one word.
fn to_snake_case(name: &str) -> String {
    let bytes = name.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, character) in name.char_indices() {
        let before = at.checked_sub(1).map(byte);
        let is_after_lower = before.is_some_and(|it| it.is_ascii_lowercase());
        let [next, second, third] = [1, 2, 3].map(|distance| byte(at + distance));
        let begins = if character.is_ascii_uppercase() {
            is_after_lower || next.is_ascii_lowercase() && before.is_some_and(|it| it != b'_')
        } else {
            let two = second.is_ascii_uppercase() && !third.is_ascii_lowercase();
            let is_capital = next.is_ascii_uppercase() && (two || at + 2 == bytes.len());
            character.is_ascii_digit() && is_after_lower && is_capital
        };
        if begins {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::to_snake_case;

    #[test]
    fn names_are_split_as_the_generator_does() {
        for (name, snake) in [
            ("GetUser", "get_user"),
            ("IAMPolicy", "iam_policy"),
            ("ListV2Users", "list_v2_users"),
            ("user_Name", "user_name"),
            ("Enable2FA", "enable_2fa"),
            ("Print3M", "print_3m"),
            ("a2FAo", "a2f_ao"),
            ("get", "get"),
        ] {
            assert_eq!(to_snake_case(name), snake);
        }
    }
}
