//! The ways on which clients get resources: gRPC, long polling, and files.

mod client_status;
mod conversation;
mod file_out;
mod grpc;
mod health_checks;
mod readiness;
mod reflection;
mod rest;
mod services;

pub(crate) use self::file_out::{check_output_folder, write_on_change};
pub(crate) use self::grpc::DiscoveryServices;
pub(crate) use self::rest::routes;
