//! Functions that make something for the whole process: locales, modules that know users and hosts.
//!
//! While a rank runs, `malloc` gives memory of the rank. What the C library keeps for good must not be there: it would
//! leave with that rank. So these functions run between two calls of a hook ([`super::Hooks::process_memory`]).

use std::arch::naked_asm;

use super::pause::process_memory;

pub(super) fn symbol(name: &str) -> Option<usize> {
    outside(name)
}

/// What they return to a program is the process's, too, and does not move: results of the kinds that are used at once.
macro_rules! outside {
    ($($name:literal => $function:ident,)*) => {
        $crate::libc::passed_on!(outside: $($name => $function,)*);
        $(
            /// Keeps all registers that arguments and results are in. There are no more than six arguments.
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                naked_asm!(
                    $crate::libc::save_arguments!(),
                    "call {begin}",
                    $crate::libc::restore_arguments!(),
                    "sub rsp, 24",
                    "call [rip + {real}@GOTPCREL]",
                    "mov [rsp], rax",
                    "movsd [rsp + 8], xmm0",
                    "call {end}",
                    "mov rax, [rsp]",
                    "movsd xmm0, [rsp + 8]",
                    "add rsp, 24",
                    "ret",
                    begin = sym begin,
                    real = sym real::$function,
                    end = sym end,
                )
            }
        )*
    };
}

extern "C" fn begin() {
    process_memory(true);
}

extern "C" fn end() {
    process_memory(false);
}

outside! {
    "newlocale" => newlocale,
    "duplocale" => duplocale,
    "freelocale" => freelocale,
    "textdomain" => textdomain,
    "bindtextdomain" => bindtextdomain,
    "bind_textdomain_codeset" => bind_textdomain_codeset,
    "gettext" => gettext,
    "dgettext" => dgettext,
    "dcgettext" => dcgettext,
    "ngettext" => ngettext,
    "dngettext" => dngettext,
    "dcngettext" => dcngettext,
    "gmtime_r" => gmtime_r,
    "strerror" => strerror,
    "strerror_l" => strerror_l,
    "strsignal" => strsignal,
    "getpwnam_r" => getpwnam_r,
    "getpwuid_r" => getpwuid_r,
    "getgrnam_r" => getgrnam_r,
    "getgrgid_r" => getgrgid_r,
    "setgrent" => setgrent,
    "endgrent" => endgrent,
    "getlogin" => getlogin,
    "getlogin_r" => getlogin_r,
    "getgrouplist" => getgrouplist,
    "gethostbyname" => gethostbyname,
    "gethostbyaddr" => gethostbyaddr,
    "getservbyname" => getservbyname,
    "getservbyport" => getservbyport,
    "getprotobyname" => getprotobyname,
    "openlog" => openlog,
    "closelog" => closelog,
    "setpwent" => setpwent,
    "endpwent" => endpwent,
}
