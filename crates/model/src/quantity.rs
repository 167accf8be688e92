//! Resource quantities.

/// Parses a Kubernetes quantity in thousandths, rounded up as Go's `Quantity.MilliValue`: `4` is 4000, `3920m` is 3920,
/// `1.5k` is 1,500,000. `None` if the text is not a quantity, has more than 18 digits, or overflows an `i64`.
pub(crate) fn parse_milli(text: &str) -> Option<i64> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    // Numerator and denominator of the suffix in thousandths; exact for every suffix of the API.
    let (numerator, denominator): (i128, i128) = match suffix {
        "n" => (1, 1_000_000),
        "u" => (1, 1_000),
        "m" => (1, 1),
        "" => (1_000, 1),
        "k" => (1_000_000, 1),
        "M" => (1_000_000_000, 1),
        "G" => (1_000_000_000_000, 1),
        "T" => (1_000_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000_000, 1),
        "Ki" => (1_000 << 10, 1),
        "Mi" => (1_000 << 20, 1),
        "Gi" => (1_000 << 30, 1),
        "Ti" => (1_000 << 40, 1),
        "Pi" => (1_000 << 50, 1),
        "Ei" => (1_000 << 60, 1),
        _ => decimal_exponent(suffix)?,
    };
    let (mantissa, scale) = decimal(number)?;
    let dividend = mantissa.checked_mul(numerator)?;
    let divisor = scale.checked_mul(denominator)?;
    let floor = dividend.div_euclid(divisor);
    let ceil = if dividend.rem_euclid(divisor) == 0 { floor } else { floor + 1 };
    i64::try_from(ceil).ok()
}

fn decimal_exponent(suffix: &str) -> Option<(i128, i128)> {
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let power = 10i128.checked_pow(exponent.unsigned_abs())?;
    if exponent >= 0 { Some((power.checked_mul(1_000)?, 1)) } else { Some((1_000, power)) }
}

/// Splits a decimal number into mantissa and scale: `1.25` is 125 / 100.
fn decimal(number: &str) -> Option<(i128, i128)> {
    let (sign, digits) = match number.as_bytes().first()? {
        b'-' => (-1, &number[1..]),
        b'+' => (1, &number[1..]),
        _ => (1, number),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || all.len() > 18 || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let scale = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some((sign * all.parse::<i128>().ok()?, scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("4", Some(4_000))]
    #[case("0", Some(0))]
    #[case("3920m", Some(3_920))]
    #[case("0.5", Some(500))]
    #[case(".5", Some(500))]
    #[case("1.5k", Some(1_500_000))]
    #[case("2Ki", Some(2_048_000))]
    #[case("1e3", Some(1_000_000))]
    #[case("1E-3", Some(1))]
    #[case("100n", Some(1))]
    #[case("1500u", Some(2))]
    #[case("-1", Some(-1_000))]
    #[case("", None)]
    #[case("m", None)]
    #[case("1x", None)]
    #[case("1.2.3", None)]
    #[case("99999999999E", None)]
    #[case("1e99", None)]
    fn parses_quantities(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(parse_milli(text), expected);
    }
}
