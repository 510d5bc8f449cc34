//! Logarithms of the gamma function, which leave its sign in a variable (`signgam`): the rank's.

use std::arch::naked_asm;
use std::ffi::c_int;

use super::{current, functions};

functions! {
    "lgamma" => lgamma,
    "gamma" => lgamma,
    "lgammaf" => lgammaf,
    "gammaf" => lgammaf,
    "lgammal" => lgammal,
    "gammal" => lgammal,
}

unsafe extern "C" {
    fn lgamma_r(x: f64, sign: *mut c_int) -> f64;
    fn lgammaf_r(x: f32, sign: *mut c_int) -> f32;
    fn lgammal_r();
}

extern "C" fn sign() -> *mut c_int {
    // SAFETY: the running rank's state.
    unsafe { (*current()).variables.sign_of_gamma }
}

extern "C" fn lgamma(x: f64) -> f64 {
    // SAFETY: the rank's variable.
    unsafe { lgamma_r(x, sign()) }
}

extern "C" fn lgammaf(x: f32) -> f32 {
    // SAFETY: as above.
    unsafe { lgammaf_r(x, sign()) }
}

/// A long double, which Rust has not: in memory behind the return address.
#[unsafe(naked)]
unsafe extern "C" fn lgammal() {
    naked_asm!(
        "sub rsp, 24",
        "fld tbyte ptr [rsp + 32]",
        "fstp tbyte ptr [rsp]",
        "call {sign}",
        "mov rdi, rax",
        "call [rip + {real}@GOTPCREL]",
        "add rsp, 24",
        "ret",
        sign = sym sign,
        real = sym lgammal_r,
    )
}
