//! What a user sees who gets it wrong: each program in `programs/` must fail with the errors in its `.stderr`.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test --workspace --test compile_fail`, and read the difference.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("programs/*.rs");
}
