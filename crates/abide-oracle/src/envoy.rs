//! Instances, runtime layers, translations and shutdowns beside a real Envoy.

pub(crate) mod instances;
pub(crate) mod runtime;
pub(crate) mod shutdown;
pub(crate) mod translate;
