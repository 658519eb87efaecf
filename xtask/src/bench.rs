//! stub
use crate::*;
pub(crate) fn run(_: &Place, _: usize, _: Option<&std::path::Path>) -> Result<bool> { Ok(true) }
pub(crate) fn measure(_: &[OsString]) -> Result<()> { Ok(()) }
