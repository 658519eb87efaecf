//! The field numbers of descriptor.proto.

macro_rules! numbers {
    ($($module:ident { $($name:ident = $number:literal,)* })*) => {$(
        pub(crate) mod $module {
            $(pub(crate) const $name: u32 = $number;)*
        }
    )*};
}

numbers! {
    file_set {
        FILE = 1,
    }
    file {
        NAME = 1,
        PACKAGE = 2,
        DEPENDENCY = 3,
        MESSAGE = 4,
        ENUM = 5,
        SERVICE = 6,
        EXTENSION = 7,
        OPTIONS = 8,
        SOURCE_INFO = 9,
        PUBLIC_DEPENDENCY = 10,
        WEAK_DEPENDENCY = 11,
        SYNTAX = 12,
        EDITION = 14,
        OPTION_DEPENDENCY = 15,
    }
    message {
        NAME = 1,
        FIELD = 2,
        NESTED = 3,
        ENUM = 4,
        EXTENSION_RANGE = 5,
        EXTENSION = 6,
        OPTIONS = 7,
        ONEOF = 8,
        RESERVED_RANGE = 9,
        RESERVED_NAME = 10,
        VISIBILITY = 11,
    }
    field {
        NAME = 1,
        EXTENDEE = 2,
        NUMBER = 3,
        LABEL = 4,
        TYPE = 5,
        TYPE_NAME = 6,
        DEFAULT = 7,
        OPTIONS = 8,
        ONEOF = 9,
        JSON_NAME = 10,
        PROTO3_OPTIONAL = 17,
    }
    oneof {
        NAME = 1,
        OPTIONS = 2,
    }
    enumeration {
        NAME = 1,
        VALUE = 2,
        OPTIONS = 3,
        RESERVED_RANGE = 4,
        RESERVED_NAME = 5,
        VISIBILITY = 6,
    }
    value {
        NAME = 1,
        NUMBER = 2,
        OPTIONS = 3,
    }
    service {
        NAME = 1,
        METHOD = 2,
        OPTIONS = 3,
    }
    method {
        NAME = 1,
        INPUT = 2,
        OUTPUT = 3,
        OPTIONS = 4,
        CLIENT_STREAMING = 5,
        SERVER_STREAMING = 6,
    }
    range {
        START = 1,
        END = 2,
        OPTIONS = 3,
    }
    options {
        PACKED = 2,
        MESSAGE_SET = 1,
        MAP_ENTRY = 7,
        FEATURES_OF_ONEOF = 1,
        FEATURES_OF_ENUM = 7,
        FEATURES_OF_MESSAGE = 12,
        FEATURES_OF_FIELD = 21,
        FEATURES_OF_FILE = 50,
        UNINTERPRETED = 999,
    }
    source_info {
        LOCATION = 1,
    }
    location {
        PATH = 1,
        SPAN = 2,
        LEADING = 3,
        TRAILING = 4,
        DETACHED = 6,
    }
}
