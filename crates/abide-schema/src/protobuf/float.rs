//! Doubles as floats.

/// The float for a double. Doubles just above the largest float become the
/// largest float, up to and including the one half-way to the next power of two,
/// which rounding makes infinite. Source: `SafeDoubleToFloat` of protobuf.
pub(crate) fn to_nearest_float(value: f64) -> f32 {
    const ROUNDS_TO_MAX: f64 = 3.402_823_567_797_336_6e38;
    if value.abs() == ROUNDS_TO_MAX {
        return f32::MAX.copysign(value as f32);
    }
    value as f32
}
