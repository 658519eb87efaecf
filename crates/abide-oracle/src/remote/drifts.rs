//! A tree with what descriptors can hold, and what servers may have that it has not, or the reverse.

/// The files of the tree. Every one is reached from a service.
pub(super) const FILES: &[(&str, &str)] = &[
    ("acme/user/v1/user.proto", USER),
    ("acme/type/v1/type.proto", TYPE),
    ("acme/old/v1/old.proto", OLD),
];

/// The only service of the tree.
pub(super) const SERVICE: &str = "acme.user.v1.Users";

const USER: &str = "edition = \"2023\";

package acme.user.v1;

import \"acme/old/v1/old.proto\";
import \"acme/type/v1/type.proto\";
import \"google/protobuf/duration.proto\";
import \"google/protobuf/timestamp.proto\";

option java_package = \"com.acme.user.v1\";

message User {
  reserved 90 to 99, 1000;
  reserved gone;
  string id = 1;
  string name = 2 [features.field_presence = IMPLICIT];
  repeated int32 numbers = 3;
  map<string, Address> addresses = 4;
  oneof contact {
    string phone = 5;
    Address visit = 6;
  }
  Role role = 7;
  google.protobuf.Timestamp since = 8;
  acme.type.v1.Money balance = 9;
  message Address {
    string street = 1;
    User owner = 2 [features.message_encoding = DELIMITED];
  }
}

enum Role {
  ROLE_UNSPECIFIED = 0;
  ROLE_USER = 1 [deprecated = true];
}

message GetUserRequest {
  string id = 1 [json_name = \"identifier\"];
  google.protobuf.Duration patience = 2;
}

message WatchRequest {
  acme.old.v1.Old old = 1;
}

service Users {
  rpc GetUser(GetUserRequest) returns (User) {
    option idempotency_level = NO_SIDE_EFFECTS;
  }
  rpc Watch(stream WatchRequest) returns (stream User);
}
";

const TYPE: &str = "syntax = \"proto3\";

package acme.type.v1;

message Money {
  optional int64 units = 1;
  Currency currency = 2;
}

enum Currency {
  CURRENCY_UNSPECIFIED = 0;
  CURRENCY_EUR = 1;
}
";

const OLD: &str = "syntax = \"proto2\";

package acme.old.v1;

message Old {
  required string id = 1;
  optional int32 count = 2 [default = 7];
  optional group Part = 3 {
    optional bytes data = 1 [default = \"\\001x\"];
  }
  extensions 100 to 200;
}

extend Old {
  optional string more = 100;
}
";

/// Something that one side has and the other does not.
pub(super) struct Drift {
    /// The line after which it stands, in one of the files.
    after: &'static str,
    /// Its line.
    line: &'static str,
    /// The end of its full name.
    pub(super) element: &'static str,
}

impl Drift {
    /// The files with it.
    pub(super) fn files(&self) -> Vec<(&'static str, &'static str)> {
        let add =
            |text: &str| text.replacen(self.after, &format!("{}{}", self.after, self.line), 1);
        FILES.iter().map(|(path, text)| (*path, &*add(text).leak())).collect()
    }
}

const fn drift(after: &'static str, line: &'static str, element: &'static str) -> Drift {
    Drift { after, line, element }
}

pub(super) const DRIFTS: &[Drift] = &[
    drift("  Role role = 7;\n", "  string mail = 20;\n", "User.mail"),
    drift("  Role role = 7;\n", "  repeated string tags = 21;\n", "User.tags"),
    drift("  Role role = 7;\n", "  map<string, int32> marks = 22;\n", "User.marks"),
    drift("  Role role = 7;\n", "  Address home = 23;\n", "User.home"),
    drift("  Role role = 7;\n", "  Role second = 24;\n", "User.second"),
    drift("  Role role = 7;\n", "  google.protobuf.Duration age = 25;\n", "User.age"),
    drift("    string phone = 5;\n", "    string fax = 26;\n", "User.fax"),
    drift("    string street = 1;\n", "    string city = 3;\n", "Address.city"),
    drift("  ROLE_UNSPECIFIED = 0;\n", "  ROLE_GUEST = 2;\n", "ROLE_GUEST"),
    drift("service Users {\n", "  rpc Drop(GetUserRequest) returns (User);\n", "Users.Drop"),
    drift("service Users {\n", "  rpc List(WatchRequest) returns (stream User);\n", "Users.List"),
    drift("  google.protobuf.Duration patience = 2;\n", "  bool fresh = 3;\n", "Request.fresh"),
    drift("  Currency currency = 2;\n", "  int32 nanos = 3;\n", "Money.nanos"),
    drift("  CURRENCY_UNSPECIFIED = 0;\n", "  CURRENCY_USD = 2;\n", "CURRENCY_USD"),
    drift("  optional int32 count = 2 [default = 7];\n", "  optional bool done = 4;\n", "Old.done"),
];
