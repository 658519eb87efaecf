//! Java.

use abide_schema::{Edition, File, to_camel_case};

use super::table::{LanguageTable, Packaging, PackagingOption, ScalarNames};
use crate::surface::Surface;

/// Java. Keywords are `kReservedNames` of the generator, to which extensions and
/// methods append an underscore. Members are `kForbiddenWordList`: names whose
/// accessors would hide accessors that every message has.
pub(crate) const JAVA: LanguageTable = LanguageTable {
    name: "Java",
    packaging: &[
        PackagingOption { name: "java_multiple_files", derived: Packaging::False },
        PackagingOption { name: "java_outer_classname", derived: Packaging::OuterClass },
        PackagingOption { name: "java_package", derived: Packaging::Package },
    ],
    keywords: &[
        "abstract",
        "assert",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "final",
        "finally",
        "float",
        "for",
        "goto",
        "if",
        "implements",
        "import",
        "instanceof",
        "int",
        "interface",
        "long",
        "native",
        "new",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "short",
        "static",
        "strictfp",
        "super",
        "switch",
        "synchronized",
        "this",
        "throw",
        "throws",
        "transient",
        "try",
        "void",
        "volatile",
        "while",
        "true",
        "false",
        "null",
    ],
    members: &[
        "Class",
        "DefaultInstanceForType",
        "ParserForType",
        "SerializedSize",
        "AllFields",
        "DescriptorForType",
        "InitializationErrorString",
        "UnknownFields",
        "CachedSize",
    ],
    scalars: ScalarNames {
        double: "double",
        float: "float",
        int64: "long",
        uint64: "long",
        int32: "int",
        uint32: "int",
        boolean: "boolean",
        string: "String",
        bytes: "com.google.protobuf.ByteString",
    },
    boxed: ScalarNames {
        double: "Double",
        float: "Float",
        int64: "Long",
        uint64: "Long",
        int32: "Integer",
        uint32: "Integer",
        boolean: "Boolean",
        string: "String",
        bytes: "com.google.protobuf.ByteString",
    },
    ..LanguageTable::new(Surface::SourceJava)
};

/// Returns the name of the class that Java generates for a file. Source:
/// `GetFileImmutableClassName` of the Java generator.
pub fn name_java_outer_class(file: File<'_>) -> String {
    if let Some((name, _)) = file.string_option("java_outer_classname") {
        return name.to_owned();
    }
    let keeps_old_default = find_file_feature(file, "use_old_outer_classname_default");
    if keeps_old_default.unwrap_or(file.decl().edition < Edition::Edition2024) {
        return file.default_java_outer_class();
    }
    format!("{}Proto", to_camel_case(file.stem(), true))
}

fn find_file_feature(file: File<'_>, name: &str) -> Option<bool> {
    let features = file.options()?.get_message(file.tree, "features")?;
    let java = features.find_extension(file.tree, "pb.java")?.value.as_message()?;
    java.get_bool(file.tree, name)
}
