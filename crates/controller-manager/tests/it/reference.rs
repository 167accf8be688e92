//! `docs/src/flags.md` says what the flags say.

use std::path::Path;

use endpoint_controller_manager::flag_reference;

/// `UPDATE_DOCS=1 cargo test -p endpoint-controller-manager reference` writes it anew.
#[test]
fn the_flag_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/flags.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, flag_reference()).expect("docs/src/flags.md can be written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/src/flags.md");
    assert_eq!(written, flag_reference(), "docs/src/flags.md is out of date, see this test");
}
