//! `abide plugin`.

use std::process::ExitCode;

use crate::args::{PluginArgs, PluginTool};
use crate::plugin::Plugin;

pub(super) fn plugin(args: &PluginArgs) -> ExitCode {
    match &args.tool {
        PluginTool::Buf(tool) => Plugin::Buf.run(&tool.args),
        PluginTool::Protoc(tool) => Plugin::Protoc.run(&tool.args),
    }
}
