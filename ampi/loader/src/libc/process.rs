//! Functions that make something for the whole process: a locale, time zones, modules that know users and hosts.
//!
//! While a rank runs, `malloc` gives memory of the rank. What the C library keeps for good must not be there: it would
//! leave with that rank. So these functions run between two calls of a hook ([`super::Hooks::process_memory`]).

use std::arch::naked_asm;

use super::pause::process_memory;

/// What they return to a program is the process's, too, and does not move: results of the kinds that are used at once.
macro_rules! outside {
    ($($name:literal => $function:ident,)*) => {
        pub(super) fn symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                _ => None,
            }
        }
        mod real {
            unsafe extern "C" {
                $(#[link_name = $name] pub fn $function();)*
            }
        }
        $(
            /// Keeps all registers that arguments and results are in. There are no more than six arguments.
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    "call {begin}",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
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
    "setlocale" => setlocale,
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
    "iconv_open" => iconv_open,
    "iconv_close" => iconv_close,
    "tzset" => tzset,
    "mktime" => mktime,
    "timelocal" => timelocal,
    "strftime" => strftime,
    "localtime_r" => localtime_r,
    "gmtime_r" => gmtime_r,
    "ctime_r" => ctime_r,
    "strerror" => strerror,
    "strsignal" => strsignal,
    "getpwnam" => getpwnam,
    "getpwuid" => getpwuid,
    "getpwnam_r" => getpwnam_r,
    "getpwuid_r" => getpwuid_r,
    "getgrnam" => getgrnam,
    "getgrgid" => getgrgid,
    "getgrouplist" => getgrouplist,
    "getaddrinfo" => getaddrinfo,
    "freeaddrinfo" => freeaddrinfo,
    "gethostbyname" => gethostbyname,
    "gethostbyaddr" => gethostbyaddr,
    "getservbyname" => getservbyname,
    "openlog" => openlog,
    "closelog" => closelog,
    "backtrace" => backtrace,
    "setpwent" => setpwent,
    "endpwent" => endpwent,
}
