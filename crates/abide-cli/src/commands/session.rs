//! A run of `abide check`, `abide lint` or `abide breaking`, in the order of its work: a request, the
//! inputs that it names, and the outputs.

mod inputs;
mod outputs;
mod plugins;
mod report_cache;
mod request;

pub(super) use self::inputs::CheckInputs;
pub(super) use self::outputs::leave_to_exit;
pub(super) use self::request::{CheckAction, CheckMode, CheckRequest};
