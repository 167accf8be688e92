//! The table of known programs in the book.

use std::fmt::Write as _;

use kube_endpoints_retire::{KnownProgram, Reading, programs};
use kube_endpoints_testing::book::assert_table;

#[test]
fn the_book_has_the_known_programs() {
    let mut table = String::from("| program | images | reads Endpoints | source |\n|---|---|---|---|\n");
    for program in programs() {
        let images: Vec<String> = program.images.iter().map(|image| format!("`{image}`")).collect();
        writeln!(
            table,
            "| {} | {} | {} | [source]({}) |",
            program.name,
            images.join(", "),
            reads(program),
            program.source
        )
        .expect("a String takes everything");
    }
    assert_table("retire", "programs", &table);
}

fn reads(program: &KnownProgram) -> String {
    let answer = match program.reads {
        Reading::Always => "yes",
        Reading::Perhaps => "perhaps",
        Reading::Own => "only its own, which it writes",
    };
    let before = program.before.as_ref().map(|before| format!(" before {before}")).unwrap_or_default();
    let flag = program.flag.as_ref().map(|flag| match flag.value.as_str() {
        "false" => format!(", without the flag `{}`", flag.name),
        value => format!(", unless the flag `{}` lacks `{value}`", flag.name),
    });
    format!("{answer}{before}{}", flag.unwrap_or_default())
}
