use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, find_lost_endpoint};
use abide_schema::{Element, Service};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "service-host-changed",
    summary: "a service whose default host (`google.api.default_host`) changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("service-host-changed.md"),
    check: Check::Change(ChangeCheck::Service(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Service<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Service) else { return };
    let setting = OptionSetting::of(holders, |it| it.custom("google.api.default_host"));
    let (was, is) = setting.values();
    if was == is {
        return;
    }
    let service = holders.1.phrase();
    let finding = if was.is_empty() {
        sink.setting(
            &setting,
            format!("{service} now has the default host {is}", is = backtick(&is)),
        )
    } else if is.is_empty() {
        sink.setting(
            &setting,
            format!("{service} no longer has the default host {was}", was = backtick(&was)),
        )
    } else {
        let message = format!(
            "the default host of {service} changed from {was} to {is}",
            was = backtick(&was),
            is = backtick(&is)
        );
        sink.setting(&setting, message)
    };
    if !was.is_empty() {
        let lost = change.both().and_then(|(old, new)| find_lost_endpoint(old, new));
        finding.source_of_client(lost);
        finding.why("clients in use still call the host that they were generated with");
    }
    finding.changed(was, is);
}
