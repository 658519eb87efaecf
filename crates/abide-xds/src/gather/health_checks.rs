//! The time that the first round of active health checks takes.

use std::time::Duration;

use abide_schema::Tree;
use abide_schema::value::Message;

/// The time that the first round of a cluster's active health checks takes at most; `None` without any.
///
/// The first check of an endpoint begins after a random part of `initial_jitter` and ends with its answer
/// or after `timeout`. `interval` lies between checks, and no other one is waited for. The endpoints of a
/// cluster are checked side by side. The same fields are in majors 2 and 3 of Envoy's API.
pub(super) fn find_first_round(tree: &Tree, message: &Message) -> Option<Duration> {
    let full_name = tree.message(message.ty).full_name();
    if !full_name.starts_with("envoy.") || !full_name.ends_with(".Cluster") {
        return None;
    }
    let checks = message.get_all(tree, "health_checks").filter_map(|it| it.value.as_message());
    let rounds = checks.map(|check| {
        let time = |field| {
            check.get_message(tree, field).map_or(Duration::ZERO, |it| read_duration(tree, it))
        };
        time("initial_jitter").saturating_add(time("timeout"))
    });
    rounds.max()
}

/// The time that a `google.protobuf.Duration` stands for; none if it is negative.
fn read_duration(tree: &Tree, message: &Message) -> Duration {
    let number = |field| message.get(tree, field).and_then(|it| it.value.as_i64()).unwrap_or(0);
    let seconds = u64::try_from(number("seconds")).unwrap_or(0);
    let nanos = u32::try_from(number("nanos")).unwrap_or(0);
    Duration::new(seconds, nanos.min(999_999_999))
}
