//! Every rule, in the order of ids.

use crate::finding::Applied;
use crate::policy::{CheckPlugin, Policy};
use crate::rule::{Rule, declare_plugin_rule, declared_rule};

/// Declares a module for each `rules/<id>.rs` and lists what they declare.
macro_rules! rules {
    ($($module:ident = $path:literal;)*) => {
        $(#[path = $path] mod $module;)*

        /// Every rule, in the order of ids.
        pub static RULES: &[&Rule] = &[$(&$module::RULE,)*];
    };
}

rules! {
    accepted_stale = "rules/accepted-stale.rs";
    addition_impossible = "rules/addition-impossible.rs";
    address_not_numeric = "rules/address-not-numeric.rs";
    alpha_too_old = "rules/alpha-too-old.rs";
    alpha_used = "rules/alpha-used.rs";
    arenas_changed = "rules/arenas-changed.rs";
    beta_depends_on_alpha = "rules/beta-depends-on-alpha.rs";
    both_old_and_new_set = "rules/both-old-and-new-set.rs";
    candidate_edited = "rules/candidate-edited.rs";
    candidate_path_taken = "rules/candidate-path-taken.rs";
    cluster_discovery_inconsistent = "rules/cluster-discovery-inconsistent.rs";
    cluster_weights_invalid = "rules/cluster-weights-invalid.rs";
    cluster_without_discovery = "rules/cluster-without-discovery.rs";
    comment_mark_unknown = "rules/comment-mark-unknown.rs";
    comment_missing = "rules/comment-missing.rs";
    compiler_warning = "rules/compiler-warning.rs";
    constraint_changed = "rules/constraint-changed.rs";
    constraint_example_refused = "rules/constraint-example-refused.rs";
    constraint_expression_invalid = "rules/constraint-expression-invalid.rs";
    constraint_loosened = "rules/constraint-loosened.rs";
    constraint_malformed = "rules/constraint-malformed.rs";
    constraint_misplaced = "rules/constraint-misplaced.rs";
    constraint_redundant = "rules/constraint-redundant.rs";
    constraint_tightened = "rules/constraint-tightened.rs";
    constraint_unproven = "rules/constraint-unproven.rs";
    constraint_unsatisfiable = "rules/constraint-unsatisfiable.rs";
    constraint_violated = "rules/constraint-violated.rs";
    conversion_missing = "rules/conversion-missing.rs";
    custom_option_changed = "rules/custom-option-changed.rs";
    default_invalid = "rules/default-invalid.rs";
    dependency_not_allowed = "rules/dependency-not-allowed.rs";
    dependency_not_latest = "rules/dependency-not-latest.rs";
    dependency_too_deep = "rules/dependency-too-deep.rs";
    deprecated_enum_value_used = "rules/deprecated-enum-value-used.rs";
    deprecated_field_used = "rules/deprecated-field-used.rs";
    deprecated_not_disallowed = "rules/deprecated-not-disallowed.rs";
    deprecated_past_removal = "rules/deprecated-past-removal.rs";
    deprecated_type_in_use = "rules/deprecated-type-in-use.rs";
    deprecated_type_used = "rules/deprecated-type-used.rs";
    deprecation_backdated = "rules/deprecation-backdated.rs";
    deprecation_comment_missing = "rules/deprecation-comment-missing.rs";
    deprecation_terms_changed = "rules/deprecation-terms-changed.rs";
    deprecation_version_malformed = "rules/deprecation-version-malformed.rs";
    deprecation_withdrawn = "rules/deprecation-withdrawn.rs";
    deprecation_without_replacement = "rules/deprecation-without-replacement.rs";
    deprecation_without_version = "rules/deprecation-without-version.rs";
    descriptor_accessor_removed = "rules/descriptor-accessor-removed.rs";
    descriptor_invalid = "rules/descriptor-invalid.rs";
    disallowed_enum_value_used = "rules/disallowed-enum-value-used.rs";
    disallowed_field_used = "rules/disallowed-field-used.rs";
    disallowed_not_deprecated = "rules/disallowed-not-deprecated.rs";
    disallowed_too_soon = "rules/disallowed-too-soon.rs";
    domain_claimed_twice = "rules/domain-claimed-twice.rs";
    drain_type_of_egress = "rules/drain-type-of-egress.rs";
    duplicate_key = "rules/duplicate-key.rs";
    edition_changed = "rules/edition-changed.rs";
    edition_invalid = "rules/edition-invalid.rs";
    element_deprecated = "rules/element-deprecated.rs";
    enum_added = "rules/enum-added.rs";
    enum_alias_allowed = "rules/enum-alias-allowed.rs";
    enum_first_value_changed = "rules/enum-first-value-changed.rs";
    enum_first_value_not_zero = "rules/enum-first-value-not-zero.rs";
    enum_invalid = "rules/enum-invalid.rs";
    enum_moved = "rules/enum-moved.rs";
    enum_number_reused = "rules/enum-number-reused.rs";
    enum_openness_changed = "rules/enum-openness-changed.rs";
    enum_primary_name_changed = "rules/enum-primary-name-changed.rs";
    enum_removed = "rules/enum-removed.rs";
    enum_renamed = "rules/enum-renamed.rs";
    enum_value_added = "rules/enum-value-added.rs";
    enum_value_json_name_changed = "rules/enum-value-json-name-changed.rs";
    enum_value_name_case = "rules/enum-value-name-case.rs";
    enum_value_number_changed = "rules/enum-value-number-changed.rs";
    enum_value_prefix_missing = "rules/enum-value-prefix-missing.rs";
    enum_value_removed = "rules/enum-value-removed.rs";
    enum_value_renamed = "rules/enum-value-renamed.rs";
    experimental_in_stable = "rules/experimental-in-stable.rs";
    extension_added = "rules/extension-added.rs";
    extension_declaration_changed = "rules/extension-declaration-changed.rs";
    extension_invalid = "rules/extension-invalid.rs";
    extension_moved = "rules/extension-moved.rs";
    extension_not_configured = "rules/extension-not-configured.rs";
    extension_range_removed = "rules/extension-range-removed.rs";
    extension_removed = "rules/extension-removed.rs";
    extension_renamed = "rules/extension-renamed.rs";
    feature_invalid = "rules/feature-invalid.rs";
    feature_list_invalid = "rules/feature-list-invalid.rs";
    field_added = "rules/field-added.rs";
    field_behavior_changed = "rules/field-behavior-changed.rs";
    field_behavior_missing = "rules/field-behavior-missing.rs";
    field_behavior_misused = "rules/field-behavior-misused.rs";
    field_behavior_refined = "rules/field-behavior-refined.rs";
    field_cardinality_changed = "rules/field-cardinality-changed.rs";
    field_default_changed = "rules/field-default-changed.rs";
    field_encoding_changed = "rules/field-encoding-changed.rs";
    field_format_changed = "rules/field-format-changed.rs";
    field_invalid = "rules/field-invalid.rs";
    field_json_name_changed = "rules/field-json-name-changed.rs";
    field_jstype_changed = "rules/field-jstype-changed.rs";
    field_lazy_changed = "rules/field-lazy-changed.rs";
    field_name_case = "rules/field-name-case.rs";
    field_named_descriptor = "rules/field-named-descriptor.rs";
    field_number_changed = "rules/field-number-changed.rs";
    field_number_reused = "rules/field-number-reused.rs";
    field_oneof_changed = "rules/field-oneof-changed.rs";
    field_presence_changed = "rules/field-presence-changed.rs";
    field_removed = "rules/field-removed.rs";
    field_renamed = "rules/field-renamed.rs";
    field_replaced = "rules/field-replaced.rs";
    field_required = "rules/field-required.rs";
    field_string_type_changed = "rules/field-string-type-changed.rs";
    field_type_changed = "rules/field-type-changed.rs";
    field_utf8_validation_changed = "rules/field-utf8-validation-changed.rs";
    file_added = "rules/file-added.rs";
    file_comment_missing = "rules/file-comment-missing.rs";
    file_name_case = "rules/file-name-case.rs";
    file_package_changed = "rules/file-package-changed.rs";
    file_removed = "rules/file-removed.rs";
    file_renamed = "rules/file-renamed.rs";
    filter_chain_ambiguous = "rules/filter-chain-ambiguous.rs";
    folder_shared_by_packages = "rules/folder-shared-by-packages.rs";
    foreign_type_used = "rules/foreign-type-used.rs";
    frozen_package_changed = "rules/frozen-package-changed.rs";
    generic_services_changed = "rules/generic-services-changed.rs";
    go_package_major_mismatch = "rules/go-package-major-mismatch.rs";
    group_declared = "rules/group-declared.rs";
    http_route_changed = "rules/http-route-changed.rs";
    http_route_major_mismatch = "rules/http-route-major-mismatch.rs";
    import_cycle = "rules/import-cycle.rs";
    import_invalid = "rules/import-invalid.rs";
    import_not_found = "rules/import-not-found.rs";
    import_public = "rules/import-public.rs";
    import_unused = "rules/import-unused.rs";
    imported_type_changed = "rules/imported-type-changed.rs";
    java_package_major_mismatch = "rules/java-package-major-mismatch.rs";
    java_utf8_validation_changed = "rules/java-utf8-validation-changed.rs";
    json_format_changed = "rules/json-format-changed.rs";
    json_name_conflict = "rules/json-name-conflict.rs";
    language_feature_changed = "rules/language-feature-changed.rs";
    list_without_pages = "rules/list-without-pages.rs";
    listener_address_claimed_twice = "rules/listener-address-claimed-twice.rs";
    listener_drains_abruptly = "rules/listener-drains-abruptly.rs";
    long_running_operation_changed = "rules/long-running-operation-changed.rs";
    lua_filter_used = "rules/lua-filter-used.rs";
    major_gap = "rules/major-gap.rs";
    major_outside_window = "rules/major-outside-window.rs";
    major_past_support = "rules/major-past-support.rs";
    malformed_value = "rules/malformed-value.rs";
    management_cluster_unknown = "rules/management-cluster-unknown.rs";
    message_added = "rules/message-added.rs";
    message_history_broken = "rules/message-history-broken.rs";
    message_moved = "rules/message-moved.rs";
    message_removed = "rules/message-removed.rs";
    message_renamed = "rules/message-renamed.rs";
    message_set_changed = "rules/message-set-changed.rs";
    method_added = "rules/method-added.rs";
    method_idempotency_changed = "rules/method-idempotency-changed.rs";
    method_invalid = "rules/method-invalid.rs";
    method_paging_changed = "rules/method-paging-changed.rs";
    method_removed = "rules/method-removed.rs";
    method_renamed = "rules/method-renamed.rs";
    method_request_type_changed = "rules/method-request-type-changed.rs";
    method_response_type_changed = "rules/method-response-type-changed.rs";
    method_signature_changed = "rules/method-signature-changed.rs";
    method_streaming = "rules/method-streaming.rs";
    method_streaming_changed = "rules/method-streaming-changed.rs";
    method_type_name_nonstandard = "rules/method-type-name-nonstandard.rs";
    method_types_shared = "rules/method-types-shared.rs";
    migration_name_taken = "rules/migration-name-taken.rs";
    mixed_majors = "rules/mixed-majors.rs";
    name_duplicated = "rules/name-duplicated.rs";
    name_misused = "rules/name-misused.rs";
    name_nonstandard = "rules/name-nonstandard.rs";
    name_not_found = "rules/name-not-found.rs";
    name_with_preposition = "rules/name-with-preposition.rs";
    naming_style_violated = "rules/naming-style-violated.rs";
    next_free_field_wrong = "rules/next-free-field-wrong.rs";
    node_identity_missing = "rules/node-identity-missing.rs";
    non_portable_notation = "rules/non-portable-notation.rs";
    number_duplicated = "rules/number-duplicated.rs";
    number_invalid = "rules/number-invalid.rs";
    numbers_unordered = "rules/numbers-unordered.rs";
    oauth_scopes_changed = "rules/oauth-scopes-changed.rs";
    older_major_of_itself = "rules/older-major-of-itself.rs";
    older_major_used = "rules/older-major-used.rs";
    one_definition = "rules/one-definition.rs";
    oneof_added = "rules/oneof-added.rs";
    oneof_invalid = "rules/oneof-invalid.rs";
    oneof_member_added = "rules/oneof-member-added.rs";
    oneof_removed = "rules/oneof-removed.rs";
    oneof_renamed = "rules/oneof-renamed.rs";
    optimize_for_changed = "rules/optimize-for-changed.rs";
    option_invalid = "rules/option-invalid.rs";
    option_retention_changed = "rules/option-retention-changed.rs";
    option_target_changed = "rules/option-target-changed.rs";
    option_unmatched = "rules/option-unmatched.rs";
    override_misspelt = "rules/override-misspelt.rs";
    override_not_boolean = "rules/override-not-boolean.rs";
    override_unused = "rules/override-unused.rs";
    override_used = "rules/override-used.rs";
    own_rule_failed = "rules/own-rule-failed.rs";
    package_added = "rules/package-added.rs";
    package_cycle = "rules/package-cycle.rs";
    package_name_case = "rules/package-name-case.rs";
    package_path_mismatch = "rules/package-path-mismatch.rs";
    package_pattern_unmatched = "rules/package-pattern-unmatched.rs";
    package_removed = "rules/package-removed.rs";
    package_renamed = "rules/package-renamed.rs";
    package_spread = "rules/package-spread.rs";
    package_status_contradictory = "rules/package-status-contradictory.rs";
    package_status_missing = "rules/package-status-missing.rs";
    package_version_malformed = "rules/package-version-malformed.rs";
    package_version_missing = "rules/package-version-missing.rs";
    package_version_not_last = "rules/package-version-not-last.rs";
    packaging_option_changed = "rules/packaging-option-changed.rs";
    packaging_options_differ = "rules/packaging-options-differ.rs";
    pattern_unmatched = "rules/pattern-unmatched.rs";
    promise_withdrawn = "rules/promise-withdrawn.rs";
    promotion_impossible = "rules/promotion-impossible.rs";
    public_import_removed = "rules/public-import-removed.rs";
    range_invalid = "rules/range-invalid.rs";
    reference_dangling = "rules/reference-dangling.rs";
    repeated_field_singular = "rules/repeated-field-singular.rs";
    replacement_unusable = "rules/replacement-unusable.rs";
    required_missing = "rules/required-missing.rs";
    reserved_removed = "rules/reserved-removed.rs";
    reserved_unpaired = "rules/reserved-unpaired.rs";
    reserved_used = "rules/reserved-used.rs";
    resource_changed = "rules/resource-changed.rs";
    resource_malformed = "rules/resource-malformed.rs";
    resource_name_claimed_twice = "rules/resource-name-claimed-twice.rs";
    resource_reference_changed = "rules/resource-reference-changed.rs";
    runtime_guard_unknown = "rules/runtime-guard-unknown.rs";
    runtime_invalid = "rules/runtime-invalid.rs";
    sensitive_mark_removed = "rules/sensitive-mark-removed.rs";
    service_added = "rules/service-added.rs";
    service_host_changed = "rules/service-host-changed.rs";
    service_moved = "rules/service-moved.rs";
    service_removed = "rules/service-removed.rs";
    service_renamed = "rules/service-renamed.rs";
    service_suffix_missing = "rules/service-suffix-missing.rs";
    setting_without_effect = "rules/setting-without-effect.rs";
    settings_contradictory = "rules/settings-contradictory.rs";
    stable_depends_on_unstable = "rules/stable-depends-on-unstable.rs";
    standard_method_malformed = "rules/standard-method-malformed.rs";
    string_length_in_bytes = "rules/string-length-in-bytes.rs";
    syntax_error = "rules/syntax-error.rs";
    syntax_missing = "rules/syntax-missing.rs";
    syntax_unexpected = "rules/syntax-unexpected.rs";
    terminal_filter_misplaced = "rules/terminal-filter-misplaced.rs";
    time_as_integer = "rules/time-as-integer.rs";
    too_many_majors = "rules/too-many-majors.rs";
    translation_loss = "rules/translation-loss.rs";
    two_candidates = "rules/two-candidates.rs";
    type_name_case = "rules/type-name-case.rs";
    type_nonstandard = "rules/type-nonstandard.rs";
    type_not_found = "rules/type-not-found.rs";
    unknown_enum_value = "rules/unknown-enum-value.rs";
    unknown_field = "rules/unknown-field.rs";
    unstable_type_named = "rules/unstable-type-named.rs";
    used_type_renamed = "rules/used-type-renamed.rs";
    version_not_bumped = "rules/version-not-bumped.rs";
    visibility_narrowed = "rules/visibility-narrowed.rs";
    waiver_expired = "rules/waiver-expired.rs";
    waiver_invalid = "rules/waiver-invalid.rs";
    waiver_unused = "rules/waiver-unused.rs";
    work_in_progress_used = "rules/work-in-progress-used.rs";
    wrapper_default_changed = "rules/wrapper-default-changed.rs";
    wrong_type = "rules/wrong-type.rs";
    zero_value_changeable = "rules/zero-value-changeable.rs";
    zero_value_not_unspecified = "rules/zero-value-not-unspecified.rs";
}

/// The rule with this id, of those that we declare.
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    RULES.binary_search_by(|rule| rule.id.cmp(id)).ok().map(|at| RULES[at])
}

/// Every rule of a policy: ours, and behind them those that its `abide.toml` declares.
pub fn rules_of(policy: &Policy) -> impl Iterator<Item = &'static Rule> {
    let declared = policy.own_rules.iter().map(|it| declared_rule(*it));
    RULES.iter().copied().chain(declared)
}

/// The rule of a policy with this id.
pub fn find_rule_of(policy: &Policy, id: &str) -> Option<&'static Rule> {
    let declared = || policy.own_rules.iter().map(|it| declared_rule(*it));
    let own = || declared().find(|it| it.id == id);
    find_rule(id).or_else(own).or_else(|| find_plugin_rule(&policy.plugins, id))
}

/// The rule of a plugin with this id. Only the plugin knows which it has.
pub(crate) fn find_plugin_rule(plugins: &[CheckPlugin], id: &str) -> Option<&'static Rule> {
    let plugin = plugins.iter().find(|it| it.has_rule(id))?;
    Some(declare_plugin_rule(id, plugin.severity))
}

/// The fix that the findings of a rule can have.
#[derive(Clone, Copy, Debug)]
pub struct FixInfo {
    /// The rule.
    pub rule: &'static Rule,
    /// When `--fix` applies it: findings for which a person has to decide have it with `Never`.
    pub applied: Applied,
    /// What it does: a lower-case phrase that begins with a verb.
    pub does: &'static str,
}

impl Rule {
    /// The fix that its findings can have.
    pub fn fix_info(&self) -> Option<&'static FixInfo> {
        REMEDIES.iter().find(|it| it.rule.id == self.id)
    }
}

/// The rules whose findings can be fixed, in the order of ids.
pub static REMEDIES: &[FixInfo] = &[
    new_fix_info(&accepted_stale::RULE, Applied::Always, "deletes the line of `abide.accepted`"),
    new_fix_info(&comment_mark_unknown::RULE, Applied::Never, "writes the nearest known mark"),
    new_fix_info(&disallowed_not_deprecated::RULE, Applied::Always, "adds `deprecated = true`"),
    new_fix_info(&enum_value_name_case::RULE, Applied::IfCompatible, RENAMES),
    new_fix_info(&enum_value_prefix_missing::RULE, Applied::IfCompatible, RENAMES),
    new_fix_info(&enum_value_removed::RULE, Applied::Always, RESERVES),
    new_fix_info(&field_name_case::RULE, Applied::IfCompatible, RENAMES),
    new_fix_info(&field_removed::RULE, Applied::Always, RESERVES),
    new_fix_info(&import_invalid::RULE, Applied::Always, "removes the repeated import"),
    new_fix_info(&import_not_found::RULE, Applied::Always, "spells the path as the file is called"),
    new_fix_info(
        &import_unused::RULE,
        Applied::Always,
        "removes the import, unless it has a comment",
    ),
    new_fix_info(&name_not_found::RULE, Applied::Always, "imports the file that declares the name"),
    new_fix_info(&next_free_field_wrong::RULE, Applied::Always, "writes the number in the comment"),
    new_fix_info(&option_invalid::RULE, Applied::Always, "imports the file that declares the name"),
    new_fix_info(&reserved_removed::RULE, Applied::Always, "reserves them again"),
    new_fix_info(&syntax_missing::RULE, Applied::Always, "adds `syntax = \"proto2\";`"),
    new_fix_info(&syntax_unexpected::RULE, Applied::Always, "carries the file to a later edition"),
    new_fix_info(&waiver_unused::RULE, Applied::Always, "removes a waiver in a comment"),
    new_fix_info(&zero_value_not_unspecified::RULE, Applied::Never, RENAMES),
];

const RENAMES: &str = "renames it";
const RESERVES: &str = "reserves the number and the name";

const fn new_fix_info(rule: &'static Rule, applied: Applied, does: &'static str) -> FixInfo {
    FixInfo { rule, applied, does }
}

/// The rule about rules of `abide.toml` that could not judge something.
pub(crate) static OWN_RULE_FAILED: &Rule = &own_rule_failed::RULE;

/// The rule about lines of `abide.accepted` that accept nothing.
pub(crate) static ACCEPTED_STALE: &Rule = &accepted_stale::RULE;

/// The rule about imported types that broke.
pub(crate) static IMPORTED_TYPE_CHANGED: &Rule = &imported_type_changed::RULE;

/// The rule about waivers whose last day is over.
pub(crate) static WAIVER_EXPIRED: &Rule = &waiver_expired::RULE;

/// The rule about comments that would be waivers and are none.
pub(crate) static WAIVER_INVALID: &Rule = &waiver_invalid::RULE;

/// The rule about waivers that match nothing.
pub(crate) static WAIVER_UNUSED: &Rule = &waiver_unused::RULE;

/// The rules about what other commands write when the tree changes, as after a fix.
pub(crate) static AFTER_FIXES: &[&Rule] = &[&version_not_bumped::RULE, &candidate_edited::RULE];

/// The rule about packages without a version, which `unversioned` of `[packages]` answers.
pub static VERSION_MISSING: &Rule = &package_version_missing::RULE;

/// The rules about the folders of packages.
pub static OF_FOLDERS: &[&Rule] = &[&package_path_mismatch::RULE, &package_spread::RULE];

/// The rules about names, folders and options that others rely on, each with what a tree that
/// breaks it has: only a break of its users could mend it.
pub static MENDED_BY_BREAKS: &[(&Rule, &str)] = &[
    (
        &package_path_mismatch::RULE,
        "These packages are in other folders than their names say. To move a file breaks who \
         imports it.",
    ),
    (
        &package_spread::RULE,
        "The files of these packages are in several folders. To move a file breaks who imports it.",
    ),
    (
        &package_version_malformed::RULE,
        "The versions of these packages have a form of their own. A new name breaks who uses them.",
    ),
    (
        &package_version_not_last::RULE,
        "The versions of these packages are not at the end. A new name breaks who uses them.",
    ),
    (
        &older_major_of_itself::RULE,
        "These packages use types of their earlier majors. Other types break who uses them.",
    ),
    (
        &package_cycle::RULE,
        "These packages use each other. To move a type to another package breaks who uses it.",
    ),
    (&major_gap::RULE, "The majors before these packages are not in the tree, or never were."),
    (
        &go_package_major_mismatch::RULE,
        "The Go packages of these have another major. Another path breaks who imports them.",
    ),
    (
        &java_package_major_mismatch::RULE,
        "The Java packages of these have another major. Another name breaks who imports them.",
    ),
    (
        &http_route_major_mismatch::RULE,
        "The HTTP routes of these have another major. Another route breaks who calls them.",
    ),
];

/// The rule about versions that are not recorded.
pub(crate) static VERSION_NOT_BUMPED: &Rule = &version_not_bumped::RULE;

/// The rules about numbers and names that are taken again; the ledger of
/// `abide.lock` knows more of them than the old tree.
pub(crate) static FIELD_NUMBER_REUSED: &Rule = &field_number_reused::RULE;
pub(crate) static ENUM_NUMBER_REUSED: &Rule = &enum_number_reused::RULE;

/// The rules about new full names; what the ledger knows of the old one it then
/// knows of the new one.
pub(crate) static MESSAGE_RENAMED: &Rule = &message_renamed::RULE;
pub(crate) static ENUM_RENAMED: &Rule = &enum_renamed::RULE;

/// The rule about alphas that must be promoted or removed; a release names what
/// it finds.
pub static ALPHA_TOO_OLD: &Rule = &alpha_too_old::RULE;

/// The rule about services that only the old side has.
pub static SERVICE_REMOVED: &Rule = &service_removed::RULE;

/// The rule that joins the findings about two fields with the same number.
pub(crate) static REPLACED: &Rule = &field_replaced::RULE;

/// The rule that joins what else changed of a field with another number: by these rules.
pub(crate) static FIELD_NUMBER_CHANGED: &Rule = &field_number_changed::RULE;
pub(crate) static FIELD_SHAPE_RULES: &[&Rule] =
    &[&field_cardinality_changed::RULE, &field_type_changed::RULE];

/// The rules whose findings in a file mean that its candidate would be wrong, or
/// would not compile.
pub(crate) static UPGRADE_RULES: &[&Rule] = &[
    &addition_impossible::RULE,
    &deprecated_type_in_use::RULE,
    &migration_name_taken::RULE,
    &promotion_impossible::RULE,
];

/// The rule about conversions, which a release asks.
pub(crate) static CONVERSION: &Rule = &conversion_missing::RULE;

/// The rule about additions, which stand in the candidates themselves.
pub(crate) static ADDITION: &Rule = &addition_impossible::RULE;

/// The rule about types that a candidate would use but not have.
pub(crate) static DEPRECATED_TYPE: &Rule = &deprecated_type_in_use::RULE;

/// The rule about changes of frozen packages, which `abide.lock` knows of too.
pub(crate) static FROZEN_CHANGED: &Rule = &frozen_package_changed::RULE;

/// The rule about imports of files that are not there.
pub(crate) static FILE_REMOVED: &Rule = &file_removed::RULE;
pub(crate) static PACKAGE_REMOVED: &Rule = &package_removed::RULE;

pub(crate) static IMPORT_NOT_FOUND: &Rule = &import_not_found::RULE;

/// The rules about changes of custom options.
pub(crate) static OPTION_RULES: &[&Rule] = &[
    &constraint_changed::RULE,
    &constraint_loosened::RULE,
    &constraint_tightened::RULE,
    &constraint_unproven::RULE,
    &custom_option_changed::RULE,
    &deprecation_terms_changed::RULE,
    &field_behavior_changed::RULE,
    &field_behavior_refined::RULE,
    &field_format_changed::RULE,
    &http_route_changed::RULE,
    &long_running_operation_changed::RULE,
    &method_signature_changed::RULE,
    &oauth_scopes_changed::RULE,
    &resource_changed::RULE,
    &resource_reference_changed::RULE,
    &sensitive_mark_removed::RULE,
    &service_host_changed::RULE,
];

/// The rule about names that are declared twice.
pub(crate) static NAME_DUPLICATED: &Rule = &name_duplicated::RULE;

/// The rules about the folders of packages.
pub(crate) static FOLDER_RULES: &[&Rule] = &[&package_path_mismatch::RULE, &package_spread::RULE];

/// The rule about new majors outside the window.
pub(crate) static EARLY_MAJOR: &Rule = &major_outside_window::RULE;

/// The rule about instances of the major before the newest one, which a run can allow.
pub static OLDER_MAJOR_USED: &Rule = &older_major_used::RULE;

/// The rules about deprecated elements that an instance uses, as far as it may.
pub static DEPRECATED_USES: &[&Rule] =
    &[&deprecated_enum_value_used::RULE, &deprecated_field_used::RULE, &deprecated_type_used::RULE];

/// The rule about overrides that decide, which a run can refuse.
pub static OVERRIDE_USED: &Rule = &override_used::RULE;
