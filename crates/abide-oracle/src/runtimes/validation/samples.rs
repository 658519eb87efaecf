//! Values that rules of validation tell apart.

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Cardinality, Field, MessageId, Scalar, Tree, Type};

use super::draw::Numbers;

/// Values of a type: the empty one, and others that rules treat differently.
pub(super) fn generate_messages(tree: &Tree, ty: MessageId, numbers: &mut Numbers) -> Vec<Message> {
    let message = tree.message(ty);
    let mut all = vec![Message::new(ty)];
    let fields: Vec<Field<'_>> = message.fields().collect();
    for _ in 0..24 {
        let mut value = Message::new(ty);
        for field in &fields {
            if fields.len() > 1 && numbers.below(3) == 0 {
                continue;
            }
            let count = match field.cardinality() {
                Cardinality::Singular => 1,
                Cardinality::Repeated | Cardinality::Map => numbers.below(4),
            };
            for _ in 0..count {
                let one = generate_value(tree, *field, numbers);
                value.entries.extend(one.map(|one| Entry::new(field.id, one)));
            }
        }
        all.push(value);
    }
    all
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "abc",
    "abcd",
    "ab",
    "bc",
    "b",
    "ABC",
    "a c",
    "\u{e9}",
    "\u{20ac}\u{20ac}",
    "\u{1d11e}",
    "12",
    "a1b2",
    "\n",
    "a@b.c",
    "a@b",
    "A.b+c@d-e.fg",
    "@b",
    "a@",
    "a b@c",
    "a@-b",
    "<a@b.c>",
    "a..b@c.d",
    "\"a\"@b.c",
    "a@b.c ",
    "a@b_c",
    "example.com",
    "example.com.",
    "-a.b",
    "a-.b",
    "a..b",
    "1.2",
    "a.1",
    "1",
    "a_b",
    ".",
    "localhost",
    "1.2.3.4",
    "01.2.3.4",
    "256.1.1.1",
    "1.2.3",
    "::",
    "::1",
    "1::2::3",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7:8",
    "::ffff:1.2.3.4",
    "[::1]",
    "12345::",
    "http://a.b/c",
    "http://a",
    "a:b",
    "http://a b",
    "//a/b",
    "/a/b",
    "a/b",
    "?q",
    "#f",
    "http://[::1]:80/",
    "http://a:x/",
    "http://%zz",
    "%41",
    "http://a/\u{e9}",
    "1a:b",
    "a:b#c#d",
    "mailto:a@b.c",
    "http://u@h:1/p?q#f",
    "123e4567-e89b-12d3-a456-426614174000",
    "123E4567e89b12d3a456426614174000",
    "123e4567-e89b-12d3-a456-42661417400",
    "{123e4567-e89b-12d3-a456-426614174000}",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "81ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01arz3ndektsv4rrffq69g5fav",
    "01ARZ3NDEKTSV4RRFFQ69G5FAI",
    ":authority",
    "x-header",
    "x header",
    "a\tb",
    "a\u{7f}",
    "a\r",
    "a\u{0}",
    ":",
    "a:",
    "a.b.C_1",
    ".a.b",
    "a.",
    "1.a",
    ".1",
    "1.2.3.4/24",
    "1.2.3.0/24",
    "0.0.0.0/0",
    "1.2.3.4/33",
    "1.2.3.4/024",
    "::/0",
    "1::/16",
    "1::1/16",
    "::1/129",
    "1.2.3.4/",
    "/24",
    "fe80::1%a/64",
    "a:80",
    "a:65536",
    "a:080",
    "a:0",
    "1.2.3.4:5",
    "[::1]:5",
    "::1:5",
    "[::1]",
    "a",
    "a:b:1",
    "[1.2.3.4]:5",
    "[fe80::1%a]:5",
];

fn generate_value(tree: &Tree, field: Field<'_>, numbers: &mut Numbers) -> Option<Value> {
    let small = |numbers: &mut Numbers| {
        *numbers.of(&[-5i64, -4, -3, 0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, i64::MIN, i64::MAX])
    };
    Some(match field.ty() {
        Type::Message(ty) => {
            let message = tree.message(ty);
            let mut value = Message::new(ty);
            let time = message.full_name().starts_with("google.protobuf.");
            for inner in message.fields() {
                let one = match (time, inner.name()) {
                    (true, "nanos") => Value::I32(*numbers.of(&[0, 0, 1, 500_000_000])),
                    (true, "seconds") => Value::I64(*numbers.of(&[0, 0, 1, 4, 5, 5, 6, 9, 10])),
                    (true, "type_url") => Value::String(
                        (*numbers.of(&["", "type.googleapis.com/a.B", "type.googleapis.com/a.C"]))
                            .into(),
                    ),
                    _ => generate_value(tree, inner, numbers)?,
                };
                value.entries.push(Entry::new(inner.id, one));
            }
            Value::Message(Box::new(value))
        }
        Type::Enum(_) => Value::Enum(*numbers.of(&[0, 1, 2, 3, 5, -1])),
        Type::Unresolved => return None,
        Type::Scalar(scalar) => match scalar {
            Scalar::Bool => Value::Bool(numbers.below(2) == 1),
            Scalar::String => Value::String((*numbers.of(TEXTS)).into()),
            Scalar::Bytes => {
                let size = *numbers.of(&[0usize, 1, 4, 5, 15, 16, 17]);
                match numbers.below(3) {
                    0 => Value::Bytes(vec![0xff; size].into()),
                    _ => Value::Bytes(
                        numbers
                            .of(&["", "a", "abc", "abcd", "ab\u{ff}", "b", "cab", "zz"])
                            .as_bytes()
                            .into(),
                    ),
                }
            }
            Scalar::Double => Value::F64(generate_float(numbers)),
            Scalar::Float => Value::F32(generate_float(numbers) as f32),
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => Value::I32(small(numbers) as i32),
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(small(numbers)),
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(small(numbers) as u32),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(small(numbers) as u64),
        },
    })
}

fn generate_float(numbers: &mut Numbers) -> f64 {
    *numbers.of(&[
        -5.0,
        -4.0,
        -0.5,
        0.0,
        0.5,
        1.0,
        3.0,
        3.5,
        5.0,
        5.0,
        7.0,
        9.0,
        1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ])
}
