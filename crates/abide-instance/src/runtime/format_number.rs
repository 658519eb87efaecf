//! Numbers with six significant digits, as Envoy prints those of runtime layers.

/// The shortest of the plain and the scientific notation, as `%g` of C writes it.
pub(super) fn format_number(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string().to_ascii_lowercase();
    }
    // Rounding to six digits comes first: it may carry into another power of ten.
    let scientific = format!("{number:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or_default();
        return strip_zeros(&format!("{number:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip_zeros(mantissa), exponent.abs())
}

fn strip_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_have_six_digits() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (5.0, "5"),
            (5.9, "5.9"),
            (100_000.0, "100000"),
            (123_456.0, "123456"),
            (999_999.5, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (-2_147_483_648.0, "-2.14748e+09"),
            (2e9, "2e+09"),
            (0.123_456_7, "0.123457"),
            (0.000_1, "0.0001"),
            (0.000_01, "1e-05"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(super::format_number(number), expected);
        }
    }
}
