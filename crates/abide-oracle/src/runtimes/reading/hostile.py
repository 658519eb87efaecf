"""Inputs that break readers, for `reading.Everything`: notation and text or bytes."""


def json_values():
    numbers = ["0", "-0", "1", "1.0", "1e0", "1.5", "-1", "2147483647", "2147483648", "-2147483648",
               "-2147483649", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
               "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
               "18446744073709551616", "1e400", "-1e400", "1e-400", "01", "1.", ".5", "+1", "0x10", "1_0",
               "NaN", "Infinity", "-Infinity", "1e2", "1E+2", "100e-2", "9007199254740993", "1e18",
               "123456789012345678901234567890", "0.1", "3.5e38", "3.4028235e+38", "1e39", "true", "null", "[1]", "{}"]
    quoted = ['"%s"' % it for it in numbers] + ['""', '" 1"', '"1 "', '"1\\u0000"', '"nan"', '"inf"',
                                                '"-NaN"', '"infinity"', '"\\u0661"', '"٣"']
    for field in ["fInt32", "fInt64", "fUint32", "fUint64", "fSint64", "fFixed32", "fDouble", "fFloat",
                  "wInt64", "wUint32", "wDouble", "wFloat", "fClosed", "oNumber"]:
        for value in numbers + quoted:
            yield '{"%s":%s}' % (field, value)
    for value in ["true", "false", '"true"', "1", "0", "null", "True", '""', "[]"]:
        yield '{"fBool":%s}' % value
        yield '{"wBool":%s}' % value
    for value in ['"CLOSED_ONE"', '"closed_one"', '"CLOSED_NEGATIVE"', '"1"', "1.5", "5", '"NO"', "null", '""',
                  "-1", "true", "[]"]:
        yield '{"fClosed":%s}' % value
        yield '{"rClosed":[%s]}' % value
        yield '{"mClosed":{"a":%s}}' % value
    for value in ['"YQ=="', '"YQ"', '"YQ="', '"-_8="', '"-_8"', '"+/8="', '"Y"', '""', '"YR=="', '"YQ==="',
                  '"!!"', '"Y Q=="', '"YQ==\\n"', "1", "null", '"YQ==YQ=="', '"=YQ="', '"é"']:
        yield '{"fBytes":%s}' % value
        yield '{"wBytes":%s}' % value
    for value in ["0s", "1s", "-1s", "1.5s", "-0.5s", "1", "s", "", "1.s", ".5s", "+1s", "1S", "1 s", " 1s",
                  "0.000000001s", "0.0000000001s", "315576000000s", "315576000001s", "-315576000000s",
                  "-315576000001s", "315576000000.999999999s", "1e3s", "0x1s", "1.5.5s", "--1s", "1m", "١s",
                  "-0s", "1.-5s", "1.5 s", "00001s", "1.5ss", "NaNs", "infs"]:
        yield '{"duration":"%s"}' % value
    yield '{"duration":1}'
    yield '{"duration":{"seconds":1}}'
    yield '{"duration":null}'
    for value in ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.5Z", "1970-01-01T00:00:00.123456789Z",
                  "1970-01-01T00:00:00.1234567890Z", "0001-01-01T00:00:00Z", "0000-12-31T23:59:59Z",
                  "9999-12-31T23:59:59.999999999Z", "10000-01-01T00:00:00Z", "1970-01-01T00:00:00+01:30",
                  "1970-01-01T00:00:00-23:59", "1970-01-01T00:00:00+24:00", "0001-01-01T00:00:00+00:01",
                  "1970-01-01t00:00:00z", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00", "1970-01-01",
                  "1970-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "1970-13-01T00:00:00Z",
                  "1970-01-01T24:00:00Z", "1970-01-01T23:59:60Z", "1970-1-1T0:0:0Z", "", "Z",
                  "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00ZZ", "1970-01-01T00:00:00+0130",
                  "-1970-01-01T00:00:00Z", "1970-01-01T00:00:00+1:30"]:
        yield '{"timestamp":"%s"}' % value
    for value in ["", "a", "a,b", "fooBar", "foo_bar", "a.b.cD", "foo3", "Foo", ",", "a,", " a", "a b", "foo__bar",
                  "é"]:
        yield '{"mask":"%s"}' % value
    yield '{"mask":["a"]}'
    for value in ["null", "true", "1", '"a"', "[]", "{}", '[1,[2],{"a":null}]', '{"a":{"b":[{}]}}', "NaN", '"NaN"',
                  "1e400", '{"a":1,"a":2}', '{"fields":{}}']:
        yield '{"value":%s}' % value
        yield '{"struct":%s}' % value
        yield '{"list":%s}' % value
        yield '{"rValue":[%s]}' % value
    T = "type.googleapis.com/"
    for value in ["{}", "null", '{"@type":"%sreading.Inner"}' % T, '{"@type":"%sreading.Inner","text":"a"}' % T,
                  '{"text":"a","@type":"%sreading.Inner"}' % T, '{"@type":"%sreading.Inner","no":1}' % T,
                  '{"@type":"%sreading.Inner","text":1}' % T, '{"@type":"%sno.Such"}' % T,
                  '{"@type":"reading.Inner"}', '{"@type":"/reading.Inner"}', '{"@type":"a/b/reading.Inner"}',
                  '{"@type":"example.com/reading.Inner","text":"a"}',
                  '{"@type":""}', '{"@type":1}', '{"@type":null}', '{"text":"a"}',
                  '{"@type":"%sreading.Inner","@type":"%sreading.Inner"}' % (T, T),
                  '{"@type":"%sreading.Inner","value":{"text":"a"}}' % T,
                  '{"@type":"%sgoogle.protobuf.Duration","value":"1s"}' % T,
                  '{"@type":"%sgoogle.protobuf.Duration","value":"1s","value":"2s"}' % T,
                  '{"@type":"%sgoogle.protobuf.Duration","value":"1s","x":1}' % T,
                  '{"@type":"%sgoogle.protobuf.Duration","value":1}' % T,
                  '{"@type":"%sgoogle.protobuf.Duration"}' % T,
                  '{"@type":"%sgoogle.protobuf.Duration","seconds":1}' % T,
                  '{"@type":"%sgoogle.protobuf.Empty"}' % T, '{"@type":"%sgoogle.protobuf.Empty","value":{}}' % T,
                  '{"@type":"%sgoogle.protobuf.Struct","value":{"a":1}}' % T,
                  '{"@type":"%sgoogle.protobuf.Value","value":null}' % T,
                  '{"@type":"%sgoogle.protobuf.Int64Value","value":"5"}' % T,
                  '{"@type":"%sgoogle.protobuf.Any","value":{"@type":"%sreading.Inner","text":"a"}}' % (T, T),
                  '{"@type":"%sreading.Strict"}' % T, '{"@type":"%sreading.Strict","id":1}' % T, '"x"', "[]",
                  '{"typeUrl":"%sreading.Inner","value":""}' % T]:
        yield '{"any":%s}' % value
        yield '{"rAny":[%s]}' % value
    for kind, keys in {
        "Int32": ["0", "-1", "2147483647", "2147483648", "1.0", "1e1", "a", "", " 1", "+1", "01", "0x1", "-0"],
        "Int64": ["9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.5"],
        "Uint32": ["4294967295", "4294967296", "-1", "-0"],
        "Uint64": ["18446744073709551615", "18446744073709551616"],
        "Sint32": ["-2147483648", "-2147483649"], "Sint64": ["-1"], "Fixed32": ["4294967295"],
        "Fixed64": ["18446744073709551615"], "Sfixed32": ["-1"], "Sfixed64": ["-1"],
        "Bool": ["true", "false", "True", "1", "0", ""], "String": ["", "a", "\\u0000", "é"],
    }.items():
        for key in keys:
            yield '{"m%s":{"%s":"x"}}' % (kind, key)
    for value in ["null", "[]", '{"a":null}', '{"a":"x","a":"y"}', '{"a":1}', '[{"key":"a","value":"b"}]', '"a"']:
        yield '{"mString":%s}' % value
    yield '{"mInt32":{"1":"a","01":"b"}}'
    yield '{"mInner":{"a":null}}'
    yield '{"mInner":{"a":{}}}'
    for text in ['{"oText":"a","oNumber":1}', '{"oText":"a","oText":"b"}', '{"oText":null,"oNumber":1}',
                 '{"oText":"a","o_text":"b"}', '{"oNull":null}', '{"oNull":null,"oText":"a"}', '{"oNull":"NULL_VALUE"}',
                 '{"oNull":0}', '{"oInner":{},"oText":"a"}', '{"fInt32":1,"fInt32":2}', '{"fInt32":1,"f_int32":2}',
                 '{"f_int32":1}', '{"fint32":1}', '{"another":1}', '{"with_json_name":1}', '{"withJsonName":1}',
                 '{"pair":{"left":1}}', '{"Pair":{"left":1}}', '{"item":[{"name":"a"}]}',
                 '{"[reading.ext_number]":5}', '{"[reading.ext_inner]":{"text":"a"}}', '{"[reading.ext_texts]":["a"]}',
                 '{"[reading.no_such]":5}', '{"[reading.extNumber]":5}', '{"extNumber":5}', '{"[reading.ext_number]":"x"}',
                 '{"rInt32":[1,null]}', '{"rInt32":1}', '{"rInt32":[[1]]}', '{"rInt32":null}', '{"rInt32":{}}',
                 '{"rInner":[null]}', '{"rInner":[{}]}', '{"rInner":{}}', '{"fInner":[]}', '{"fInner":""}',
                 '{"fInner":null}', '{"empty":{}}', '{"empty":{"a":1}}', '{"empty":null}', '{"no":1}', '{"":1}',
                 "{}", "[]", "null", "1", '"a"', "", " ", "{", "}", "{}{}", "{} x", "[{}]", "{,}", '{"fInt32":1,}',
                 '{"rInt32":[1,]}', '{"rInt32":[,1]}', '{"fInt32" 1}', '{"fInt32"}', "{fInt32:1}", "{'fInt32':1}",
                 '{"fInt32":1 "fInt64":2}', "// c\n{}", "/* c */{}", "{}\n\n", "\ufeff{}", '{"fInt32":1}\x00',
                 '{"fString":"\n"}', '{"fString":"\t"}', '{"fString":"\x7f"}', '{"fString":"\\x41"}',
                 '{"fString":"\\u00e9"}', '{"fString":"\\ud83d\\ude00"}', '{"fString":"\\ud83d"}',
                 '{"fString":"\\ude00"}', '{"fString":"\\ud83dx"}', '{"fString":"\\u00"}', '{"fString":"\\u00zz"}',
                 '{"fString":"\\/\\b\\f\\n\\r\\t\\"\\\\"}', "{\"fString\":\"\\'\"}", '{"fString":"a', '{"fString":1}',
                 '{"fString":true}', '{"fString":null}', '{"fString":["a"]}', '{"\\u0066Int32":1}']:
        yield text
    for levels in [10, 98, 99, 100, 101, 200, 10000]:
        yield '{"fInner":' * levels + "{}" + "}" * levels
        yield '{"value":' + "[" * levels + "]" * levels + "}"
        yield "[" * levels + "]" * levels
        yield '{"no":' + "[" * levels + "]" * levels + "}"
    big = "x" * 10_000_000
    yield '{"fString":"%s"}' % big
    yield '{"fInt32":%s}' % ("1" * 4000)
    yield '{"fDouble":%s}' % ("1" * 300)


def text_values():
    for field in ["f_int32", "f_int64", "f_uint32", "f_uint64", "f_sint64", "f_fixed32"]:
        for value in ["0", "-0", "1", "-1", "- 1", "+1", "2147483647", "2147483648", "-2147483648", "-2147483649",
                      "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
                      "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
                      "18446744073709551616", "0x10", "0X1f", "-0x10", "010", "08", "1.0", "1e1", "1f", "'1'", "true",
                      "1u", "[1]", "", "0x", "1 2", "CLOSED_ONE"]:
            yield "%s: %s" % (field, value)
    for field in ["f_double", "f_float"]:
        for value in ["0", "-0", "1", "1.5", "-1.5", "- 1.5", "1.5f", "1.5F", "1f", ".5", "5.", "1e5", "1e400",
                      "-1e400", "1e-400", "inf", "-inf", "Inf", "INF", "infinity", "-Infinity", "nan", "NaN", "-nan",
                      "inff", "0x10", "010", "1e", "1e+", "'1'", "true", "1.5.5", "3.5e38", "1e39",
                      "123456789012345678901234567890", "00.5", "01.5", "1_0", "infin"]:
            yield "%s: %s" % (field, value)
    for value in ["true", "false", "True", "False", "t", "f", "1", "0", "2", "TRUE", "'true'", "01", "0x1", "00", "T",
                  "-1", "yes", "-0"]:
        yield "f_bool: %s" % value
    for value in ["CLOSED_ONE", "1", "-1", "5", "'CLOSED_ONE'", "closed_one", "CLOSED_NEGATIVE", "0x1", "1.0", "NO",
                  "-CLOSED_ONE", "01"]:
        yield "f_closed: %s" % value
        yield "r_closed: [%s]" % value
    for value in ["'a'", '"a"', "'a' 'b'", "'a'\"b\"", "'a'\n# c\n'b'", "a", "'a\nb'", "'\\n\\t\\r\\'\\\"\\\\'", "'\\a\\b\\f\\v\\?'",
                  "'\\x41'", "'\\x4'", "'\\x'", "'\\X41'", "'\\101'", "'\\1'", "'\\400'", "'\\377'", "'\\u0041'",
                  "'\\U0001f600'", "'\\u12'", "'\\ud83d\\ude00'", "'\\ud83d'", "'\\U00110000'", "'\\q'", "'\\", "'a",
                  "'\\x411'", "'\\u00e9'", "''", "'é'", "'#'", "'//'", "1", "true", "['a']", "'\\0'", "'\\08'",
                  "'\\xff'", "'\\U0000d83d'"]:
        yield "f_string: %s" % value
        yield "f_bytes: %s" % value
        yield "r_string: %s" % value
    for text in ["", " ", "# only a comment", "#\n#", "f_int32: 1 # c", "f_int32: 1 f_int64: 2", "f_int32: 1, f_int64: 2",
                 "f_int32: 1; f_int64: 2", "f_int32: 1,", "f_int32: 1;", "f_int32: 1;;", ",f_int32: 1",
                 "f_int32: 1,, f_int64: 2", "f_int32 1", "f_int32", "f_int32:", "f_int32: 1 f_int32: 2", "f_int32:1f_int64:2",
                 "// c\nf_int32: 1", "/* c */ f_int32: 1", "f_int32: 1 // c", "fInt32: 1", "no: 1", "no { a: 1 }", "no: [1, 2]",
                 "21: 5", "f_inner { text: 'a' }", "f_inner: { text: 'a' }", "f_inner < text: 'a' >", "f_inner: < text: 'a' >",
                 "f_inner { text: 'a' >", "f_inner < text: 'a' }", "f_inner {", "f_inner }", "f_inner { } }", "f_inner: 1",
                 "f_inner: 'a'", "f_inner {} f_inner {}", "f_inner [{}]", "f_inner: [{}]", "f_inner { inner { inner { } } }",
                 "f_inner {;}", "f_inner {,}", "f_inner { text: 'a'; }", "r_inner {} r_inner {}", "r_inner: [{}, {}]",
                 "r_inner [{}, {}]", "r_inner: [{}, 1]", "r_inner: []", "r_inner []", "r_inner: [<>]", "r_inner: [{},]",
                 "r_int32: 1 r_int32: 2", "r_int32: [1, 2]", "r_int32: []", "r_int32: [1,]", "r_int32: [,1]", "r_int32: [1 2]",
                 "r_int32 [1]", "r_int32: [[1]]", "r_int32: [1] r_int32: 2", "f_int32: [1]", "f_int32: [1, 2]", "f_int32: []",
                 "r_packed: [1, 2]", "Pair { left: 1 }", "pair { left: 1 }", "Pair: { left: 1 }", "PAIR { left: 1 }",
                 "Item { name: 'a' } Item { name: 'b' }", "item { name: 'a' }", "Item [{ name: 'a' }]",
                 "[reading.ext_number]: 5", "[reading.ext_inner] { text: 'a' }", "[reading.ext_inner]: { text: 'a' }",
                 "[reading.ext_texts]: 'a'", "[reading.ext_texts]: ['a', 'b']", "[reading . ext_number]: 5", "[ reading.ext_number ]: 5",
                 "[reading.no_such]: 5", "[.reading.ext_number]: 5", "[reading.ext_number: 5", "ext_number: 5",
                 "[reading.ext_number]: 'x'", "[reading.ext_number]: 1 [reading.ext_number]: 2", "[reading/ext_number]: 5",
                 "o_text: 'a' o_number: 1", "o_text: 'a' o_text: 'b'", "o_number: 0 o_text: 'a'", "o_null: NULL_VALUE",
                 "m_int32 { key: 1 value: 'a' }", "m_int32: [{ key: 1 value: 'a' }, { key: 2 }]", "m_int32 { key: 1 } m_int32 { key: 1 value: 'b' }",
                 "m_int32 { value: 'a' }", "m_int32 {}", "m_int32 { key: 1 key: 2 }", "m_int32: { key: 1 value: 'a' no: 1 }",
                 "m_int32 { key: 'a' }", "m_bool { key: true value: 'a' }", "m_bool { key: 1 }", "m_string { key: 'a' value: 'b' }",
                 "m_string { key: 'a' value: 'b' } m_string { key: 'a' value: 'c' }", "m_inner { key: 'a' }",
                 "m_inner { key: 'a' value { text: 'b' } }", "m_inner { key: 'a' value: {} }", "m_closed { key: 'a' value: CLOSED_ONE }",
                 "m_closed { key: 'a' value: 9 }", "m_uint64 { key: 18446744073709551615 }", "m_uint64 { key: -1 }",
                 "any { [type.googleapis.com/reading.Inner] { text: 'a' } }", "any { [type.googleapis.com/reading.Inner]: { text: 'a' } }",
                 "any { [type.googleapis.com/reading.Inner] < text: 'a' > }", "any { [type.googleapis.com/no.Such] { } }",
                 "any { [type.googleprod.com/reading.Inner] { text: 'a' } }", "any { [example.com/reading.Inner] { text: 'a' } }",
                 "any { [a.b/c.d/reading.Inner] { } }", "any { [type.googleapis.com/a.b/reading.Inner] { } }",
                 "any { [reading.Inner] { } }", "any { [/reading.Inner] { } }",
                 "any { type_url: 'type.googleapis.com/reading.Inner' value: '\\n\\001a' }", "any { type_url: 'x' value: 'y' }",
                 "any { type_url: 'type.googleapis.com/reading.Inner' value: '\\n' }", "any {}",
                 "any { [type.googleapis.com/reading.Inner] { no: 1 } }", "any { [type.googleapis.com/reading.Inner] { } type_url: 'a' }",
                 "any { [type.googleapis.com/reading.Inner] { } [type.googleapis.com/reading.Inner] { } }",
                 "any { [type.googleapis.com/reading.Strict] { } }", "any { [type.googleapis.com/reading.Strict] { id: 1 } }",
                 "any { [type.googleapis.com/google.protobuf.Duration] { seconds: 1 } }", "[type.googleapis.com/reading.Inner] { }",
                 "duration { seconds: 1 nanos: -1 }", "duration: '1s'", "timestamp { seconds: 999999999999999 }", "mask { paths: 'Foo' }",
                 "value { null_value: NULL_VALUE }", "value { string_value: 'a' bool_value: true }", "struct { fields { key: 'a' value { } } }",
                 "w_int32 { value: 1 }", "w_int32: 1", "empty {}", "empty { a: 1 }", "\ufefff_int32: 1", "f_int32: 1\x00", "f_int32:\x0b1",
                 "f_int32:\x0c1", "f_int32\u00a0: 1", "{ f_int32: 1 }", "f_int32 = 1", "f_int32 :: 1", "$", "a-b: 1", "1a: 1",
                 "f_string: 'a' f_int32: 1 'b'"]:
        yield text
    for levels in [10, 98, 99, 100, 101, 200, 10000]:
        yield "f_inner { inner { " + "inner { " * levels + "}" * levels + " } }"
        yield "no { " * levels + "}" * levels
    yield "f_string: '%s'" % ("x" * 10_000_000)
    yield "f_int32: %s" % ("1" * 4000)


def byte_values():
    yield from [b"", b"\x00", b"\x08", b"\x08\x01", b"\x0b", b"\x0c", b"\x0e\x01", b"\x0f\x01", b"\x18\x01",
                b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x18" + b"\xff" * 10, b"\x18" + b"\x80" * 9 + b"\x01",
                b"\x18" + b"\x80" * 10 + b"\x01", b"\x18\xff\xff\xff\xff\x7f", b"\x72\x01\xff", b"\x72\x03\xed\xa0\x80", b"\x7a\x01\xff",
                b"\x72\x05ab", b"\x72\xff\xff\xff\xff\x0f", b"\x68\x02", b"\x68\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", b"\x80\x01\x05",
                b"\x80\x01\x01", b"\xa8\x01\x01\xa8\x01\x02", b"\xaa\x01\x02\x01\x02", b"\xca\x01\x02\x01\x02", b"\xc8\x01\x01",
                b"\xaa\x01\x01\x80", b"\x93\x01\x08\x01\x94\x01", b"\x93\x01\x08\x01", b"\x93\x01\x08\x01\x9c\x01", b"\x92\x01\x02\x08\x01",
                b"\xfa\x01\x05\x08\x01\x12\x01a", b"\xfa\x01\x03\x12\x01a", b"\xfa\x01\x00", b"\xfa\x01\x07\x08\x01\x12\x01a\x18\x05",
                b"\xfa\x01\x05\x08\x01\x12\x01a\xfa\x01\x05\x08\x01\x12\x01b", b"\xe2\x02\x05\x0a\x01a\x10\x09", b"\xe2\x02\x05\x0a\x01a\x10\x01",
                b"\x9a\x03\x01a\xa0\x03\x05", b"\xa0\x03\x05\x9a\x03\x01a", b"\x8a\x01\x03\x0a\x01a\x8a\x01\x03\x0a\x01b", b"\x8a\x01\x02\x0a\x05",
                b"\xa0\x06\x05", b"\xaa\x06\x03\x0a\x01a", b"\xb2\x06\x01a", b"\xf8\x3f\x05", b"\xf8\xff\xff\xff\x0f\x01", b"\x80\x80\x80\x80\x10\x01",
                b"\x09" + b"\x00" * 7, b"\x15\x00\x00\xc0\x7f", b"\x1d\x00\x00\x00\x00", b"\x1a\x01\x01", b"\xfb\xff\xff\xff\x0f\xfc\xff\xff\xff\x0f"]
    for levels in [10, 98, 99, 100, 101, 200]:
        inner = b""
        for _ in range(levels):
            size = len(inner)
            length = b""
            while size >= 0x80:
                length += bytes([size & 0x7F | 0x80])
                size >>= 7
            inner = b"\x12" + length + bytes([size]) + inner
        size = len(inner)
        length = b""
        while size >= 0x80:
            length += bytes([size & 0x7F | 0x80])
            size >>= 7
        yield b"\x8a\x01" + length + bytes([size]) + inner
        yield b"\xfb\x3f" * levels + b"\xfc\x3f" * levels
    yield b"\x7a\x80\xad\xe2\x04" + b"x" * 10_000_000


def all_cases():
    for text in json_values():
        yield "json", text.encode()
    for raw in [b'{"fString":"\xff"}', b'{"fString":"\xed\xa0\x80"}', b'{"\xff":1}', b"\xff\xfe{\x00}\x00", b'{"fString":"\xc0\x80"}']:
        yield "json", raw
    for text in text_values():
        yield "text", text.encode()
    for raw in [b"f_string: '\xff'", b"f_bytes: '\xff'", b"# \xff\nf_int32: 1", b"f_string: '\xed\xa0\x80'"]:
        yield "text", raw
    for raw in byte_values():
        yield "binary", raw
