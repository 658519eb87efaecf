//! The functions of expressions, by the types of their arguments.
//!
//! Sources: the standard definitions of CEL, the extension `strings` of cel-go, and
//! the functions of protovalidate.

use super::types::CelType;

/// The type of a parameter or result.
#[derive(Clone, Copy, Debug)]
enum TypeSlot {
    /// Any type.
    Any,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    Type,
    /// A list with any items.
    List,
    ListOf(&'static TypeSlot),
    /// A map with any entries.
    Map,
}

use self::TypeSlot::{
    Any, Bool, Bytes, Double, Duration, Int, List, ListOf, Map, String, Timestamp, Type, Uint,
};

impl TypeSlot {
    fn cel_type(self) -> CelType {
        match self {
            Any => CelType::Dyn,
            Bool => CelType::Bool,
            Int => CelType::Int,
            Uint => CelType::Uint,
            Double => CelType::Double,
            String => CelType::String,
            Bytes => CelType::Bytes,
            Duration => CelType::Duration,
            Timestamp => CelType::Timestamp,
            Type => CelType::Type,
            List => CelType::list(CelType::Dyn),
            ListOf(item) => CelType::list(item.cel_type()),
            Map => CelType::map(CelType::Dyn, CelType::Dyn),
        }
    }
}

/// One way to call a function.
struct Overload {
    name: &'static str,
    /// True if the first parameter stands before the name.
    member: bool,
    parameters: &'static [TypeSlot],
    result: TypeSlot,
}

impl Overload {
    /// Returns true if it takes arguments of these types.
    fn takes(&self, arguments: &[CelType]) -> bool {
        self.parameters.len() == arguments.len()
            && arguments.iter().zip(self.parameters).all(|(it, slot)| it.fits(&slot.cel_type()))
    }
}

const fn member(name: &'static str, parameters: &'static [TypeSlot], result: TypeSlot) -> Overload {
    Overload { name, member: true, parameters, result }
}

const fn global(name: &'static str, parameters: &'static [TypeSlot], result: TypeSlot) -> Overload {
    Overload { name, member: false, parameters, result }
}

const OVERLOADS: &[Overload] = &[
    global("size", &[String], Int),
    global("size", &[Bytes], Int),
    global("size", &[List], Int),
    global("size", &[Map], Int),
    member("size", &[String], Int),
    member("size", &[Bytes], Int),
    member("size", &[List], Int),
    member("size", &[Map], Int),
    // Conversions.
    global("bool", &[Bool], Bool),
    global("bool", &[String], Bool),
    global("bytes", &[Bytes], Bytes),
    global("bytes", &[String], Bytes),
    global("double", &[Double], Double),
    global("double", &[Int], Double),
    global("double", &[String], Double),
    global("double", &[Uint], Double),
    global("duration", &[Duration], Duration),
    global("duration", &[String], Duration),
    global("dyn", &[Any], Any),
    global("int", &[Double], Int),
    global("int", &[Duration], Int),
    global("int", &[Int], Int),
    global("int", &[String], Int),
    global("int", &[Timestamp], Int),
    global("int", &[Uint], Int),
    global("string", &[Bool], String),
    global("string", &[Bytes], String),
    global("string", &[Double], String),
    global("string", &[Duration], String),
    global("string", &[Int], String),
    global("string", &[String], String),
    global("string", &[Timestamp], String),
    global("string", &[Uint], String),
    global("timestamp", &[Int], Timestamp),
    global("timestamp", &[String], Timestamp),
    global("timestamp", &[Timestamp], Timestamp),
    global("type", &[Any], Type),
    global("uint", &[Double], Uint),
    global("uint", &[Int], Uint),
    global("uint", &[String], Uint),
    global("uint", &[Uint], Uint),
    // Texts.
    global("matches", &[String, String], Bool),
    member("matches", &[String, String], Bool),
    member("contains", &[String, String], Bool),
    member("contains", &[Bytes, Bytes], Bool),
    member("startsWith", &[String, String], Bool),
    member("startsWith", &[Bytes, Bytes], Bool),
    member("endsWith", &[String, String], Bool),
    member("endsWith", &[Bytes, Bytes], Bool),
    member("charAt", &[String, Int], String),
    member("format", &[String, List], String),
    member("indexOf", &[String, String], Int),
    member("indexOf", &[String, String, Int], Int),
    member("join", &[ListOf(&String)], String),
    member("join", &[ListOf(&String), String], String),
    member("lastIndexOf", &[String, String], Int),
    member("lastIndexOf", &[String, String, Int], Int),
    member("lowerAscii", &[String], String),
    member("replace", &[String, String, String], String),
    member("replace", &[String, String, String, Int], String),
    member("reverse", &[String], String),
    member("split", &[String, String], ListOf(&String)),
    member("split", &[String, String, Int], ListOf(&String)),
    global("strings.quote", &[String], String),
    member("substring", &[String, Int], String),
    member("substring", &[String, Int, Int], String),
    member("trim", &[String], String),
    member("upperAscii", &[String], String),
    // Times.
    member("getDate", &[Timestamp], Int),
    member("getDate", &[Timestamp, String], Int),
    member("getDayOfMonth", &[Timestamp], Int),
    member("getDayOfMonth", &[Timestamp, String], Int),
    member("getDayOfWeek", &[Timestamp], Int),
    member("getDayOfWeek", &[Timestamp, String], Int),
    member("getDayOfYear", &[Timestamp], Int),
    member("getDayOfYear", &[Timestamp, String], Int),
    member("getFullYear", &[Timestamp], Int),
    member("getFullYear", &[Timestamp, String], Int),
    member("getHours", &[Duration], Int),
    member("getHours", &[Timestamp], Int),
    member("getHours", &[Timestamp, String], Int),
    member("getMilliseconds", &[Duration], Int),
    member("getMilliseconds", &[Timestamp], Int),
    member("getMilliseconds", &[Timestamp, String], Int),
    member("getMinutes", &[Duration], Int),
    member("getMinutes", &[Timestamp], Int),
    member("getMinutes", &[Timestamp, String], Int),
    member("getMonth", &[Timestamp], Int),
    member("getMonth", &[Timestamp, String], Int),
    member("getSeconds", &[Duration], Int),
    member("getSeconds", &[Timestamp], Int),
    member("getSeconds", &[Timestamp, String], Int),
    // protovalidate.
    global("getField", &[Any, String], Any),
    member("isEmail", &[String], Bool),
    member("isHostAndPort", &[String, Bool], Bool),
    member("isHostname", &[String], Bool),
    member("isInf", &[Double], Bool),
    member("isInf", &[Double, Int], Bool),
    member("isIp", &[String], Bool),
    member("isIp", &[String, Int], Bool),
    member("isIpPrefix", &[String], Bool),
    member("isIpPrefix", &[String, Bool], Bool),
    member("isIpPrefix", &[String, Int], Bool),
    member("isIpPrefix", &[String, Int, Bool], Bool),
    member("isNan", &[Double], Bool),
    member("isUri", &[String], Bool),
    member("isUriRef", &[String], Bool),
    member("unique", &[ListOf(&Bool)], Bool),
    member("unique", &[ListOf(&Bytes)], Bool),
    member("unique", &[ListOf(&Double)], Bool),
    member("unique", &[ListOf(&Int)], Bool),
    member("unique", &[ListOf(&String)], Bool),
    member("unique", &[ListOf(&Uint)], Bool),
];

/// Functions of cel-go's extensions that protovalidate does not have: lists, math, and sets.
const EXTENSIONS: &[Overload] = &[
    member("distinct", &[List], List),
    member("flatten", &[List], List),
    global("lists.range", &[Int], ListOf(&Int)),
    member("slice", &[List, Int, Int], List),
    member("sort", &[List], List),
    member("reverse", &[List], List),
    global("math.abs", &[Int], Int),
    global("math.abs", &[Double], Double),
    global("math.greatest", &[List], Any),
    global("math.greatest", &[Any, Any], Any),
    global("math.least", &[List], Any),
    global("math.least", &[Any, Any], Any),
    global("sets.contains", &[List, List], Bool),
    global("sets.equivalent", &[List, List], Bool),
    global("sets.intersects", &[List, List], Bool),
];

/// Which functions an expression can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionSet {
    /// Those that every runtime of protovalidate has.
    Validation,
    /// The extensions of cel-go as well.
    Rules,
}

impl FunctionSet {
    fn overloads(self) -> impl Iterator<Item = &'static Overload> {
        let more: &[Overload] = match self {
            FunctionSet::Validation => &[],
            FunctionSet::Rules => EXTENSIONS,
        };
        OVERLOADS.iter().chain(more)
    }

    /// The names of all functions, some of them more than once.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.overloads().map(|it| it.name)
    }

    /// Returns true if there is a function with this name, whatever its arguments are.
    pub(super) fn has(self, name: &str) -> bool {
        self.names().any(|it| it == name)
    }

    /// The type of a call; `None` if no function takes these arguments. The target of a
    /// call of a member is its first argument.
    pub(super) fn find_result(
        self,
        name: &str,
        member: bool,
        arguments: &[CelType],
    ) -> Option<CelType> {
        let named = self.overloads().filter(|it| it.name == name && it.member == member);
        let results = named.filter(|it| it.takes(arguments)).map(|it| it.result.cel_type());
        results.reduce(|a, b| if a == b { a } else { CelType::Dyn })
    }
}

/// Returns true if any set has a function with this name, whatever its arguments are.
pub(super) fn is_function(name: &str) -> bool {
    FunctionSet::Rules.has(name)
}

/// The type of an operator; `None` if it does not take these operands.
pub(super) fn find_operator(name: &str, operands: &[CelType]) -> Option<CelType> {
    use CelType as T;
    let numeric = |it: &T| [T::Int, T::Uint, T::Double].iter().any(|number| it.fits(number));
    match (name, operands) {
        ("!_", [it]) => it.fits(&T::Bool).then_some(T::Bool),
        ("-_", [it]) => find_arithmetic(it, it, &[T::Int, T::Double]),
        ("_?_:_", [condition, yes, no]) => {
            (condition.fits(&T::Bool) && yes.fits(no)).then(|| yes.clone().or(no.clone()))
        }
        ("_==_" | "_!=_", [a, b]) => a.fits(b).then_some(T::Bool),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => {
            let ordered = [T::Bool, T::String, T::Bytes, T::Duration, T::Timestamp];
            let alike = ordered.iter().any(|it| a.fits(it) && b.fits(it));
            (alike || numeric(a) && numeric(b)).then_some(T::Bool)
        }
        ("@in", [item, T::List(among)]) => item.fits(among).then_some(T::Bool),
        ("@in", [item, T::Map(keys, _)]) => item.fits(keys).then_some(T::Bool),
        ("@in", [_, T::Dyn]) => Some(T::Bool),
        ("_[_]", [T::List(item), index]) => index.fits(&T::Int).then(|| (**item).clone()),
        ("_[_]", [T::Map(key, value), index]) => index.fits(key).then(|| (**value).clone()),
        ("_[_]", [T::Dyn, _]) => Some(T::Dyn),
        ("_+_", [T::List(a), T::List(b)]) => {
            a.fits(b).then(|| T::list((**a).clone().or((**b).clone())))
        }
        ("_+_", [list @ T::List(_), T::Dyn] | [T::Dyn, list @ T::List(_)]) => Some(list.clone()),
        ("_+_", [T::Timestamp, it] | [it, T::Timestamp]) => {
            it.fits(&T::Duration).then_some(T::Timestamp)
        }
        ("_+_", [a, b]) => {
            let adds = [T::Int, T::Uint, T::Double, T::String, T::Bytes, T::Duration];
            find_arithmetic(a, b, &adds)
        }
        ("_-_", [T::Timestamp, T::Timestamp]) => Some(T::Duration),
        ("_-_", [T::Timestamp, T::Duration]) => Some(T::Timestamp),
        ("_-_", [T::Timestamp, T::Dyn] | [T::Dyn, T::Timestamp]) => Some(T::Dyn),
        ("_-_", [a, b]) => find_arithmetic(a, b, &[T::Int, T::Uint, T::Double, T::Duration]),
        ("_*_" | "_/_", [a, b]) => find_arithmetic(a, b, &[T::Int, T::Uint, T::Double]),
        ("_%_", [a, b]) => find_arithmetic(a, b, &[T::Int, T::Uint]),
        _ => None,
    }
}

/// The one of these types that both operands have.
fn find_arithmetic(a: &CelType, b: &CelType, types: &[CelType]) -> Option<CelType> {
    let fitting = types.iter().filter(|it| a.fits(it) && b.fits(it)).cloned();
    fitting.reduce(|_, _| CelType::Dyn)
}

/// Returns true if a name is that of an operator in a syntax tree.
pub(super) fn is_operator(name: &str) -> bool {
    name.contains('_') && !name.chars().any(char::is_alphanumeric) || name == "@in"
}
