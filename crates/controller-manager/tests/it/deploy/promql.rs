//! The part of `PromQL` that `deploy/` uses: a parser that checks the types of arguments and rejects everything else.
//!
//! The published parsers are unmaintained, or depend on crates that are.

/// An expression. Parentheses and the order of operators are not kept: neither changes the labels of the result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Number,
    Selector(Selector),
    /// A selector with a range, such as `[5m]`.
    Range(Selector),
    Call {
        function: String,
        arguments: Vec<Expr>,
    },
    Aggregate {
        by: Vec<String>,
        inner: Box<Expr>,
    },
    Binary(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector {
    pub(super) metric: String,
    /// Names of the labels in matchers.
    pub(super) matchers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Scalar,
    Vector,
    Range,
}

/// Functions, and the types of their arguments and results.
const FUNCTIONS: &[(&str, &[Type], Type)] = &[
    ("absent", &[Type::Vector], Type::Vector),
    ("changes", &[Type::Range], Type::Vector),
    ("histogram_quantile", &[Type::Scalar, Type::Vector], Type::Vector),
    ("increase", &[Type::Range], Type::Vector),
    ("max_over_time", &[Type::Range], Type::Vector),
    ("min_over_time", &[Type::Range], Type::Vector),
    ("rate", &[Type::Range], Type::Vector),
    ("time", &[], Type::Scalar),
];
const AGGREGATIONS: [&str; 5] = ["avg", "count", "max", "min", "sum"];
/// Longer operators first.
const OPERATORS: [&str; 13] = ["==", "!=", ">=", "<=", ">", "<", "+", "-", "*", "/", "and", "or", "unless"];

impl Expr {
    pub(super) fn parse(text: &str) -> Result<Expr, String> {
        let mut parser = Parser { rest: text.trim_start() };
        let expression = parser.binary()?;
        if !parser.rest.is_empty() {
            return Err(format!("unexpected {:?}", parser.rest));
        }
        if expression.type_of() == Type::Range {
            return Err("a range is not a result".to_owned());
        }
        Ok(expression)
    }

    pub(super) fn selectors(&self) -> Vec<&Selector> {
        match self {
            Expr::Number => Vec::new(),
            Expr::Selector(selector) | Expr::Range(selector) => vec![selector],
            Expr::Call { arguments, .. } => arguments.iter().flat_map(Expr::selectors).collect(),
            Expr::Aggregate { inner, .. } => inner.selectors(),
            Expr::Binary(left, right) => [left.selectors(), right.selectors()].concat(),
        }
    }

    fn type_of(&self) -> Type {
        match self {
            Expr::Number => Type::Scalar,
            Expr::Selector(_) | Expr::Aggregate { .. } => Type::Vector,
            Expr::Range(_) => Type::Range,
            Expr::Call { function, .. } => {
                FUNCTIONS.iter().find(|(name, ..)| name == function).map_or(Type::Vector, |it| it.2)
            }
            Expr::Binary(left, right) => match (left.type_of(), right.type_of()) {
                (Type::Scalar, Type::Scalar) => Type::Scalar,
                _ => Type::Vector,
            },
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Consumes `token` and the white space after it. A word must not continue.
    fn skip(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        if token.ends_with(is_of_word) && rest.starts_with(is_of_word) {
            return false;
        }
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.skip(token) { Ok(()) } else { Err(format!("expected {token:?} at {:?}", self.rest)) }
    }

    fn word(&mut self) -> Result<String, String> {
        let end = self.rest.find(|it| !is_of_word(it)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() || word.starts_with(|it: char| it.is_ascii_digit()) {
            return Err(format!("expected a name at {:?}", self.rest));
        }
        self.rest = rest.trim_start();
        Ok(word.to_owned())
    }

    /// Items in parentheses or braces, separated by commas.
    fn list<T>(
        &mut self,
        [open, close]: [&str; 2],
        item: impl Fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.skip(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn binary(&mut self) -> Result<Expr, String> {
        let mut left = self.operand()?;
        while OPERATORS.iter().any(|operator| self.skip(operator)) {
            let right = self.operand()?;
            if [&left, &right].iter().any(|it| it.type_of() == Type::Range) {
                return Err("an operator is applied to a range".to_owned());
            }
            left = Expr::Binary(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, String> {
        if self.skip("(") {
            let inner = self.binary()?;
            return self.expect(")").map(|()| inner);
        }
        let number = self.rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(self.rest.len());
        if number > 0 {
            let (digits, rest) = self.rest.split_at(number);
            digits.parse::<f64>().map_err(|error| format!("{digits}: {error}"))?;
            self.rest = rest.trim_start();
            return Ok(Expr::Number);
        }
        let name = self.word()?;
        if AGGREGATIONS.contains(&name.as_str()) {
            return self.aggregate();
        }
        if self.rest.starts_with('(') {
            return self.call(name);
        }
        self.selector(name)
    }

    /// An aggregation; `by` is before or after the expression.
    fn aggregate(&mut self) -> Result<Expr, String> {
        let mut by = self.by()?;
        self.expect("(")?;
        let inner = Box::new(self.binary()?);
        self.expect(")")?;
        if by.is_none() {
            by = self.by()?;
        }
        if inner.type_of() != Type::Vector {
            return Err(format!("an aggregation of a {:?}", inner.type_of()));
        }
        Ok(Expr::Aggregate { by: by.unwrap_or_default(), inner })
    }

    fn by(&mut self) -> Result<Option<Vec<String>>, String> {
        if self.skip("by") { self.list(["(", ")"], Parser::word).map(Some) } else { Ok(None) }
    }

    fn call(&mut self, function: String) -> Result<Expr, String> {
        let Some((_, expected, _)) = FUNCTIONS.iter().find(|(name, ..)| *name == function) else {
            return Err(format!("{function}: no such function here"));
        };
        let arguments = self.list(["(", ")"], Parser::binary)?;
        let types: Vec<Type> = arguments.iter().map(Expr::type_of).collect();
        if types != *expected {
            return Err(format!("{function} of {types:?}, expected {expected:?}"));
        }
        Ok(Expr::Call { function, arguments })
    }

    fn selector(&mut self, metric: String) -> Result<Expr, String> {
        let mut matchers = Vec::new();
        if self.rest.starts_with('{') {
            matchers = self.list(["{", "}"], Parser::matcher)?;
        }
        let selector = Selector { metric, matchers };
        if !self.skip("[") {
            return Ok(Expr::Selector(selector));
        }
        let (range, rest) = self.rest.split_once(']').ok_or("a range without an end")?;
        let is_duration = range.strip_suffix(['s', 'm', 'h', 'd']).is_some_and(|it| it.parse::<u32>().is_ok());
        if !is_duration {
            return Err(format!("{range:?} is not a duration"));
        }
        self.rest = rest.trim_start();
        Ok(Expr::Range(selector))
    }

    /// Returns the label of a matcher.
    fn matcher(&mut self) -> Result<String, String> {
        let label = self.word()?;
        if !["=~", "!~", "!=", "="].iter().any(|operator| self.skip(operator)) {
            return Err(format!("expected an operator at {:?}", self.rest));
        }
        let value = self.rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (value, rest) = value.ok_or_else(|| format!("expected a string at {:?}", self.rest))?;
        if value.contains('\\') {
            return Err(format!("{value:?}: escapes are not supported here"));
        }
        self.rest = rest.trim_start();
        Ok(label)
    }
}

fn is_of_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_' || it == ':'
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{Expr, Selector};

    #[test]
    fn selectors_and_labels_are_found() {
        let text =
            "histogram_quantile(0.99, sum by (name, le) (rate(a_bucket{job=\"x\", pod=~\"y|z\"}[5m]))) > 2 * b + 1";
        let expression = Expr::parse(text).expect("valid");
        let selector = |metric: &str, matchers: &[&str]| Selector {
            metric: metric.to_owned(),
            matchers: matchers.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert_eq!(expression.selectors(), [&selector("a_bucket", &["job", "pod"]), &selector("b", &[])]);
        let (before, after) = (Expr::parse("sum by (a) (b)"), Expr::parse("sum(b) by (a)"));
        assert_eq!(before, after);
    }

    #[rstest]
    #[case::open("sum(a", "expected \")\"")]
    #[case::closed("sum(a))", "unexpected \")\"")]
    #[case::trailing("a b", "unexpected \"b\"")]
    #[case::no_operand("a >", "expected a name")]
    #[case::no_value("a{job=}", "expected a string")]
    #[case::no_operator("a{job}", "expected an operator")]
    #[case::no_duration("rate(a[5])", "not a duration")]
    #[case::unknown("rte(a[5m])", "no such function")]
    #[case::without_range("rate(a)", "rate of [Vector], expected [Range]")]
    #[case::too_few("histogram_quantile(a)", "expected [Scalar, Vector]")]
    #[case::range("a[5m]", "a range is not a result")]
    #[case::range_in_operator("a[5m] > 1", "applied to a range")]
    #[case::range_in_sum("sum(a[5m])", "an aggregation of a Range")]
    #[case::other_labels("sum without (a) (b)", "expected \"(\"")]
    fn mistakes_are_errors(#[case] text: &str, #[case] expected: &str) {
        let error = Expr::parse(text).expect_err("a mistake");
        assert!(error.contains(expected), "{error}");
    }
}
