use super::*;

fn entry(name: &str, message: &str) -> TypeEntry {
    TypeEntry {
        name: name.to_owned(),
        messages: [None, Some(message.to_owned())],
        ..TypeEntry::default()
    }
}

/// What is wrong with entries, as `NUMBER KEY: MESSAGE`.
fn wrong(added: &[TypeEntry]) -> Vec<String> {
    let wrong = Types::with(added).expect_err("something is wrong");
    wrong.iter().map(|it| format!("{} {:?}: {}", it.entry, it.key, it.message)).collect()
}

#[test]
fn a_kind_is_that_of_the_type_url_in_both_majors() {
    let types = Types::default();
    for ty in types.iter() {
        for major in [2, 3] {
            let Some(url) = ty.type_url(major) else { continue };
            let (found, its_major) = types.of(&url).expect("it is one of the types");
            assert_eq!((found.kind, its_major), (ty.kind, major), "{url}");
        }
    }
    for nothing in [
        "envoy.config.cluster.v3.Cluster",
        "type.googleapis.com/envoy.api.v2.Auth.Secret",
        "type.googleapis.com/",
    ] {
        assert_eq!(types.kind(nothing), Kind::OTHER, "{nothing}");
    }
}

#[test]
fn the_constants_are_the_kinds_of_the_built_in_types() {
    let types = Types::default();
    let found: Vec<(Kind, &str)> = types.iter().map(|it| (it.kind, &*it.entry.name)).collect();
    let expected = [
        (Kind::CLUSTER, "cds"),
        (Kind::ENDPOINTS, "eds"),
        (Kind::LISTENER, "lds"),
        (Kind::SCOPED_ROUTES, "srds"),
        (Kind::ROUTES, "rds"),
        (Kind::VIRTUAL_HOST, "vhds"),
        (Kind::SECRET, "sds"),
        (Kind::EXTENSION, "ecds"),
        (Kind::RUNTIME, "rtds"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_added_type_is_sent_where_its_entry_says() {
    let after = |name: &str, message: &str, after: &str| TypeEntry {
        after: Some(after.to_owned()),
        ..entry(name, message)
    };
    let added = [
        entry("last", "a.Last"),
        after("filters", "a.Filters", "lds"),
        after("chains", "a.Chains", "lds"),
        after("inner", "a.Inner", "filters"),
    ];
    let types = Types::with(&added).expect("nothing is wrong");
    let names: Vec<&str> = types.iter().map(|it| &*it.entry.name).collect();
    assert_eq!(
        names,
        [
            "cds", "eds", "lds", "filters", "inner", "chains", "srds", "rds", "vhds", "sds",
            "ecds", "rtds", "last"
        ]
    );
    assert!(types.iter().is_sorted_by_key(|it| it.kind));
    // What others are is not changed by it.
    assert_eq!(
        types.kind("type.googleapis.com/envoy.config.route.v3.VirtualHost"),
        Kind::VIRTUAL_HOST
    );
    let filters = types.kind("type.googleapis.com/a.Filters");
    assert!(Kind::LISTENER < filters && filters < Kind::SCOPED_ROUTES);
    assert_eq!(types.get(filters).map(|it| &*it.entry.name), Some("filters"));
}

#[test]
fn what_contradicts_itself_or_others_is_named() {
    let taken = TypeEntry {
        services: [None, Some("envoy.service.cluster.v3.ClusterDiscoveryService".to_owned())],
        methods: Some("Clusters".to_owned()),
        rest: Some("clusters".to_owned()),
        is_whole: true,
        is_awaited: true,
        ..entry("cds", "envoy.config.cluster.v3.Cluster")
    };
    assert_eq!(
        wrong(&[entry("fine", "a.Fine"), taken]),
        [
            "1 Name: another type is called `cds`",
            "1 Message(1): `envoy.config.cluster.v3.Cluster` is the message of `cds`",
            "1 Service(1): `envoy.service.cluster.v3.ClusterDiscoveryService` has these methods for `cds`",
            "1 Rest: `clusters` is the path of `cds`",
            "1 Awaited: clients that get all resources at once do not wait for one: a type is not both \
             `whole` and `awaited`",
        ]
    );
    let mut odd = entry("A b", "a..B");
    odd.services = [Some("Lonely".to_owned()), None];
    odd.rest = Some("a/b".to_owned());
    odd.after = Some("later".to_owned());
    odd.warmed_by = Some("nobody".to_owned());
    odd.required_by = vec!["field".to_owned(), "a.*.x".to_owned(), "a.B.c".to_owned()];
    odd.referred_by = vec!["a.B.c".to_owned()];
    assert_eq!(
        wrong(&[odd, entry("later", "a.Later")]),
        [
            "0 Name: a name has lower-case letters, digits, `-` and `_`, and begins with a letter",
            "0 Message(1): `a..B` is not the full name of a message",
            "0 Service(0): `Lonely` is not the full name of a service",
            "0 Service(0): a service of v2 needs a `v2_message`",
            "0 Service(0): a service needs `methods`, which `Stream` and `Delta` stand before",
            "0 Rest: the end of a path has lower-case letters, digits, `-` and `_`",
            "0 After: no type before this one is called `later`",
            "0 WarmedBy: no type is called `nobody`",
            "0 RequiredBy(0): `field` is not a field: write it as MESSAGE.FIELD",
            "0 RequiredBy(1): `a.*.x` has to end with the names of a message and of its field",
            "0 ReferredBy(0): `a.B.c` names a resource of `A b` already",
        ]
    );
}

#[test]
fn what_is_warmed_up_with_is_sent_later() {
    let warmed = |by: &str| TypeEntry { warmed_by: Some(by.to_owned()), ..entry("pool", "a.Pool") };
    assert_eq!(wrong(&[warmed("cds")]), ["0 WarmedBy: `cds` must be sent after it: see `after`"]);
    assert_eq!(wrong(&[warmed("pool")]), ["0 WarmedBy: `pool` must be sent after it: see `after`"]);
    let types = Types::with(&[warmed("tables"), entry("tables", "a.Tables")]).expect("fine");
    let tables = types.kind("type.googleapis.com/a.Tables");
    assert_eq!(types.of("type.googleapis.com/a.Pool").and_then(|it| it.0.warmed_by), Some(tables));
}

#[test]
fn fields_are_found_by_the_messages_that_have_them() {
    let mut table = entry("tables", "a.Table");
    table.required_by = vec!["a.v*.Pool.table".to_owned()];
    let types = Types::with(&[table]).expect("fine");
    let found = |message: &str| -> Vec<String> {
        types.referring(message).map(|it| it.field.clone()).collect()
    };
    assert_eq!(found("a.v1.Pool"), ["table"]);
    assert_eq!(found("b.v1.Pool"), [""; 0]);
    assert_eq!(found("envoy.api.v2.route.RouteAction"), ["cluster"]);
    assert_eq!(found("envoy.config.route.v3.WeightedCluster.ClusterWeight"), ["name"]);
}

#[test]
fn the_number_of_types_has_an_end() {
    let many: Vec<TypeEntry> =
        (0..=MAX_ADDED + 1).map(|it| entry(&format!("t{it}"), &format!("a.T{it}"))).collect();
    assert_eq!(wrong(&many), ["1000 Name: at most 1000 types may be added"]);
    assert!(Types::with(&many[..MAX_ADDED]).is_ok());
}
