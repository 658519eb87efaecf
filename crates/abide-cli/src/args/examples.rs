//! Ends of help texts: examples, and the meaning of the exit status.

pub(super) const EXIT_STATUS: &str = "\
Exit status: 0 if nothing is at error level, 1 if there are findings at error level, \
2 if abide could not do its work.";

pub(super) const START: &str = "\
Examples:
  abide init                         write an abide.toml
  abide check                        check the tree that abide.toml names
  abide check --against git:main...  also report what changed since main
  abide explain field-removed        say what a rule checks, and how to fix it
  abide help check                   more about a command, with examples";

pub(super) const CHECK: &str = "\
Examples:
  abide check                           check the tree that abide.toml names
  abide check proto -I third_party      check a folder; imports are in another
  abide check git:HEAD~1                check a revision
  abide check --against git:main...     also report what changed since main
  abide check --changed                 only what the next commit changes; for hooks
  abide check --format github           print annotations for a pull request
  abide check --report sarif=abide.sarif --report html=abide.html
  abide check --statistics              how often each rule reports
  abide check --select field-removed,import-unused --limit 10
  abide check --against git:main... --fix   fix what can be fixed, as reserving numbers
  abide check --accept                  record today's findings, report later ones";

pub(super) const CHANGED: &str = "\
With --changed, abide reports exactly what it would report without it, but only in the packages that \
a change reaches: those of the files that differ from the old tree, committed or not, those of all \
files that import these, directly or not, and those about which abide.lock records something else. \
Findings in other packages, in abide.toml and in abide.accepted are left to a run without --changed. \
If abide.toml, abide.accepted or a list of features changed, everything is reported.";

pub(super) const LINT: &str = "\
Examples:
  abide lint                                      lint the configured tree
  abide lint --select PACKAGE_VERSION_SUFFIX      one rule, here by its name in buf
  abide lint proto --preset google                lint a folder with another preset
  abide lint --fix                                fix what can be fixed
  abide lint --diff                               show what --fix would change
  abide lint --format sarif --output lint.sarif   write a report for code scanning";

pub(super) const BREAKING: &str = "\
Examples:
  abide breaking --against git:main...                       since the merge base
  abide breaking --against api-v1.tar.gz                     since an archive
  abide breaking --against git:v1.4 --changes                compatible changes too
  abide breaking --against \"git:every(v1.*)\"                 since all releases in use
  abide breaking --against git:main... --surface wire,json   ignore generated code
  abide breaking --against git:v1.4 --format markdown        write release notes";

pub(super) const UPGRADE: &str = "\
Examples:
  abide upgrade                          list what would be written
  abide upgrade --diff                   show the candidates as a patch
  abide upgrade --write                  write them into the tree
  abide upgrade --write --overwrite      the same, and discard edits made by hand
  abide upgrade --check                  fail if those in the tree are out of date
  abide upgrade --package acme.user.v1 --out /tmp/next
  abide upgrade --mapping mapping.json   write where each type and member went";

pub(super) const RELEASE: &str = "\
Examples:
  abide release               list what the release would write
  abide release --diff        show what the release would change
  abide release --write       make the release in the tree
  abide release --write --outside-window
  abide release --check       fail if there is anything to release";

pub(super) const BUMP: &str = "\
Examples:
  abide bump --against git:v1.4          show the version each package needs
  abide bump --against git:v1.4 --write  record versions and hashes
  abide bump --check                     for CI: fail if something is not recorded
  abide bump --diff                      show what --write would write
  abide bump --write --from-history      begin with the versions and days that git knows";

pub(super) const GRAPH: &str = "\
Examples:
  abide graph --output packages.html     a page to zoom, filter and focus: for many packages
  abide graph --output packages.svg      a drawing, for few
  abide graph --format mermaid           for Markdown on GitHub
  abide graph | dot -Tpdf > packages.pdf";

pub(super) const BUILD: &str = "\
The set is equal to protoc's byte for byte, but for the comments and places in the well-known types: Abide \
has its own copies of them. With -I and the folder of protoc's copies, these are equal, too.

Examples:
  abide build -o api.binpb               a descriptor set in the wire format
  abide build -o api.json.gz             the same as JSON, compressed
  abide build git:v1.4 -o v1.4.binpb     the descriptors of a release";

pub(super) const HASH: &str = "\
A hash changes when the meaning changes: names, numbers, types, resolved features, options. It \
does not change with comments, layout, the order of declarations, notation, or which file of the \
package an element is in. The `own` hash covers the element itself, the `closure` hash also \
everything reachable from it.

Examples:
  abide hash
  abide hash --package acme.user.v1      with its messages
  abide hash --facts acme.user.v1.User   print what is hashed
  abide hash --fields                    list the elements instead

To see why a hash changed, compare what is hashed:
  diff <(abide hash git:main --facts acme.user.v1.User) \\
       <(abide hash --facts acme.user.v1.User)";

pub(super) const ABOUT_HISTORY: &str = "\
abide walks the first parents of HEAD, oldest commit first, and judges a merge as one change \
against its first parent. It judges every commit by today's policy and waivers, as of the day \
the commit was made. It shows the version that the commit records, in abide.lock or as a file \
option. Where none is recorded, it adds up the bumps of all commits so far.

Verdicts:
  none        the meaning did not change
  compatible  the meaning changed, and no user breaks
  breaking    a break that the policy or a waiver allows
  refused     a break that the policy does not allow
  unlinked    the package has link errors

Examples:
  abide history
  abide history --since v1.4
  abide history --path proto/acme/user
  abide history --format html --output history.html
  abide history --fields                 when each field appeared, and when it was removed
  abide history --every 'v*'             what each release breaks of all releases before it

Exit status: 0 if the history was shown, even if it has breaks; 2 if abide could not do its work, \
or only a part of it because objects are missing.";

pub(super) const EXPLAIN: &str = "\
Examples:
  abide explain field-removed
  abide explain buf:PACKAGE_NO_IMPORT_CYCLE   a rule by its name in buf
  abide explain FIELD_NO_DELETE               the same without the tool
  abide explain dependencies                  the rules of a group
  abide explain waivers                       how a finding is waived
  abide explain abide.toml                    every key of the configuration
  abide explain --all --format json           every page, for programs";

pub(super) const RULES: &str = "\
Examples:
  abide rules                            as the nearest abide.toml sets them
  abide rules --preset envoy             as a preset sets them
  abide rules --format json
  abide rules test                       run the examples of each [[rule]] in abide.toml

Exit status: 0; 1 if an example fails; 2 if abide could not do its work.";

pub(super) const INIT: &str = "\
Examples:
  abide init                             for the current folder
  abide init api --preset google         for another folder, with another preset
  abide init --strict                    with every rule, whoever would break
  abide init --from buf.yaml             take over the settings of buf
  abide init --annotations third_party   write Abide's annotations for protoc";

pub(super) const SERVE: &str = "\
Examples:
  abide serve --help                                  what abide-serve offers
  abide serve --resources resources --api api         serve a folder to every client
  abide serve check --resources resources --api api   say what a server would refuse";
