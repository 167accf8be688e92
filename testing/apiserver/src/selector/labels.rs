//! Parser of label selectors such as `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>3`.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::SelectorError;
use crate::field::FieldErrors;
use crate::names::check_qualified_name;

/// Requirements on labels; an object must satisfy all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<LabelRequirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct LabelRequirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    Exists,
    Absent,
    In(Vec<String>),
    /// Also satisfied by objects without the label.
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|LabelRequirement { key, operator }| {
            let value = labels.get(key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match operator {
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Operator::Greater(limit) => number().is_some_and(|number| number > *limit),
                Operator::Less(limit) => number().is_some_and(|number| number < *limit),
            }
        })
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parser = Parser { rest: text };
        let mut requirements = Vec::new();
        if parser.peek() == Lexeme::End {
            return Ok(Self::default());
        }
        loop {
            requirements.push(parser.requirement()?);
            match parser.next() {
                Lexeme::End => return Ok(Self(requirements)),
                Lexeme::Symbol(",") => {}
                found => return Err(SelectorError(format!("found '{found}', expected: ',' or 'end of string'"))),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lexeme<'a> {
    Word(&'a str),
    Symbol(&'static str),
    End,
}

impl std::fmt::Display for Lexeme<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(text) | Self::Symbol(text) => f.write_str(text),
            Self::End => Ok(()),
        }
    }
}

/// Symbols precede their prefixes.
const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Lexeme<'a> {
        Parser { rest: self.rest }.next()
    }

    fn next(&mut self) -> Lexeme<'a> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return Lexeme::End;
        }
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| self.rest.starts_with(symbol)) {
            self.rest = &self.rest[symbol.len()..];
            return Lexeme::Symbol(symbol);
        }
        let end = self.rest.find(|c: char| c.is_whitespace() || "=!(),><".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Lexeme::Word(word)
    }

    fn requirement(&mut self) -> Result<LabelRequirement, SelectorError> {
        if self.peek() == Lexeme::Symbol("!") {
            self.next();
            return Ok(LabelRequirement { key: self.key()?, operator: Operator::Absent });
        }
        let key = self.key()?;
        let operator = match self.peek() {
            Lexeme::End | Lexeme::Symbol(",") => Operator::Exists,
            _ => match self.next() {
                Lexeme::Symbol("=" | "==") => Operator::In(vec![self.value()?]),
                Lexeme::Symbol("!=") => Operator::NotIn(vec![self.value()?]),
                Lexeme::Word("in") => Operator::In(self.values()?),
                Lexeme::Word("notin") => Operator::NotIn(self.values()?),
                Lexeme::Symbol(">") => Operator::Greater(self.number()?),
                Lexeme::Symbol("<") => Operator::Less(self.number()?),
                found => {
                    let expected = "in, notin, =, ==, !=, gt, lt";
                    return Err(SelectorError(format!("found '{found}', expected: {expected}")));
                }
            },
        };
        Ok(LabelRequirement { key, operator })
    }

    fn key(&mut self) -> Result<String, SelectorError> {
        let Lexeme::Word(key) = self.next() else {
            return Err(SelectorError("expected an identifier".to_owned()));
        };
        let mut errors = FieldErrors::default();
        check_qualified_name("key", key, &mut errors);
        if errors.is_empty() { Ok(key.to_owned()) } else { Err(SelectorError(errors.to_string())) }
    }

    /// Parses one value, which can be empty: `a=` selects objects with an empty label value.
    fn value(&mut self) -> Result<String, SelectorError> {
        match self.peek() {
            Lexeme::Word(word) => {
                self.next();
                Ok(word.to_owned())
            }
            Lexeme::End | Lexeme::Symbol("," | ")") => Ok(String::new()),
            Lexeme::Symbol(found) => Err(SelectorError(format!("found '{found}', expected: a value"))),
        }
    }

    fn number(&mut self) -> Result<i64, SelectorError> {
        let value = self.value()?;
        value.parse().map_err(|_| SelectorError(format!("'{value}' is not an integer")))
    }

    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        match self.next() {
            Lexeme::Symbol("(") => {}
            found => return Err(SelectorError(format!("found '{found}' expected: '('"))),
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            match self.next() {
                Lexeme::Symbol(",") => {}
                Lexeme::Symbol(")") => return Ok(values),
                found => return Err(SelectorError(format!("found '{found}', expected: ',' or ')'"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", true)]
    #[case("app=web", true)]
    #[case("app==web,tier=front", true)]
    #[case("app = web , tier", true)]
    #[case("app!=web", false)]
    #[case("missing!=web", true)]
    #[case("app in (api,web)", true)]
    #[case("app in (api)", false)]
    #[case("app notin (api, db)", true)]
    #[case("missing notin (x)", true)]
    #[case("missing in (x)", false)]
    #[case("!missing", true)]
    #[case("!app", false)]
    #[case("empty=", true)]
    #[case("app=", false)]
    #[case("weight>3,weight<10", true)]
    #[case("weight>7", false)]
    #[case("app>3", false)]
    #[case("kubernetes.io/service-name=web", true)]
    fn label_selectors_match_labels(#[case] selector: &str, #[case] expect: bool) {
        let labels =
            [("app", "web"), ("tier", "front"), ("empty", ""), ("weight", "7"), ("kubernetes.io/service-name", "web")]
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect();
        assert_eq!(selector.parse::<LabelSelector>().unwrap().matches(&labels), expect);
    }

    #[rstest]
    #[case("=web")]
    #[case("app in web")]
    #[case("app in (web")]
    #[case("app web")]
    #[case("app=web,")]
    #[case("!")]
    #[case("-bad=1")]
    #[case("a>x")]
    #[case("app=!x")]
    fn invalid_label_selectors_are_rejected(#[case] selector: &str) {
        selector.parse::<LabelSelector>().unwrap_err();
    }
}
