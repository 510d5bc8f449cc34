//! Every message of the derive and of `#[pup_object]`, as people see it.
//!
//! `TRYBUILD=overwrite cargo test -p talisman-pup --test compile_fail` writes the `.stderr` files anew.

#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
