//! Runs the plugins that `abide.toml` names, if somebody allows it.
//!
//! A plugin is a program, and `abide.toml` comes with the tree: whoever checks the tree of a
//! stranger must not run what the stranger wrote.

use abide_lint::{CheckPlugin, Finding, build_plugin_finding};
use abide_schema::Tree;

use crate::plugin::host::run_plugin;
use crate::settings::Settings;

/// What plugins found, and what went wrong.
pub(super) struct PluginRun {
    /// The findings; `None` if no plugin ran.
    pub(super) findings: Option<Vec<Finding>>,
    /// One phrase for each defect of a plugin.
    pub(super) troubles: Vec<String>,
}

pub(super) fn run_plugins(
    settings: &Settings,
    is_allowed: bool,
    tree: &Tree,
    old: Option<&Tree>,
) -> PluginRun {
    let plugins = &settings.config.policy.plugins;
    let mut run = PluginRun { findings: None, troubles: Vec::new() };
    if plugins.is_empty() {
        return run;
    }
    if !is_allowed && !is_allowed_by_environment() {
        let names: Vec<String> = plugins.iter().map(|it| format!("`{}`", it.name)).collect();
        run.troubles.push(format!(
            "abide.toml names the plugins {}, which did not run: they are programs that come with \
             the tree; pass `--allow-plugins` if you trust it",
            names.join(", ")
        ));
        return run;
    }
    let mut findings = Vec::new();
    for plugin in plugins {
        let (found, trouble) = run_one(settings, plugin, tree, old);
        findings.extend(found);
        let trouble = trouble.map(|it| format!("the plugin `{}` failed: {it}", plugin.name));
        run.troubles.extend(trouble);
    }
    run.findings = Some(findings);
    run
}

/// Returns true if the user, whose environment no tree can set, allows plugins everywhere.
fn is_allowed_by_environment() -> bool {
    std::env::var_os("ABIDE_ALLOW_PLUGINS").is_some_and(|it| it == "1" || it == "true")
}

/// Runs a plugin. What it reports at places that exist is kept.
fn run_one(
    settings: &Settings,
    plugin: &CheckPlugin,
    tree: &Tree,
    old: Option<&Tree>,
) -> (Vec<Finding>, Option<String>) {
    let annotations = match run_plugin(&settings.folder, plugin, tree, old) {
        Ok(annotations) => annotations,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let (mut findings, mut trouble) = (Vec::new(), None);
    for annotation in annotations {
        match build_plugin_finding(plugin, &annotation, tree, old) {
            Ok(finding) => findings.push(finding),
            Err(error) => trouble = trouble.or(Some(error.to_string())),
        }
    }
    (findings, trouble)
}
