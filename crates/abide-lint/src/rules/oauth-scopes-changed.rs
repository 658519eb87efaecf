use std::collections::BTreeSet;

use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, describe_lost_scope};
use abide_schema::{Element, Service};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "oauth-scopes-changed",
    summary: "a service whose OAuth scopes (`google.api.oauth_scopes`) changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("oauth-scopes-changed.md"),
    check: Check::Change(ChangeCheck::Service(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Service<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Service) else { return };
    let setting = OptionSetting::of(holders, |it| it.custom("google.api.oauth_scopes"));
    let (was, is) = setting.values();
    let (before, after) = (parse_scopes(&was), parse_scopes(&is));
    let service = holders.1.phrase();
    for &scope in before.difference(&after) {
        let message = format!("{service} no longer lists the OAuth scope `{scope}`");
        let finding = sink.setting(&setting, message);
        finding.fact(scope).fact("removed");
        finding.source_of_client(change.old().map(|old| describe_lost_scope(old, scope)));
        finding.why("clients whose tokens have only this scope are refused");
    }
    for &scope in after.difference(&before) {
        let message = format!("{service} now lists the OAuth scope `{scope}`");
        sink.setting(&setting, message).fact(scope).fact("added");
    }
}

fn parse_scopes(list: &str) -> BTreeSet<&str> {
    list.split(',').map(str::trim).filter(|it| !it.is_empty()).collect()
}
