//! Functions that make something for the whole process: locales, modules that know users and hosts.
//!
//! While a rank runs, `malloc` gives memory of the rank. What the C library keeps for good must not be there: it would
//! leave with that rank. So these functions run between two calls of a hook ([`super::Hooks::process_memory`]).

use std::arch::naked_asm;
use std::cell::Cell;

use super::pause::process_memory;

pub(super) fn symbol(name: &str) -> Option<usize> {
    outside(name).or_else(|| outside_with_many(name))
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
    "setmntent" => setmntent,
    "getmntent" => getmntent,
    "endmntent" => endmntent,
    "sem_open" => sem_open,
    "sem_close" => sem_close,
    "aio_read" => aio_read,
    "aio_read64" => aio_read64,
    "aio_write" => aio_write,
    "aio_write64" => aio_write64,
    "aio_fsync" => aio_fsync,
    "lio_listio" => lio_listio,
    "lio_listio64" => lio_listio64,
    "endttyent" => endttyent,
    "setttyent" => setttyent,
    "getttynam" => getttynam,
    "getttyent" => getttyent,
    "herror" => herror,
    "fgetspent" => fgetspent,
    "fgetgrent" => fgetgrent,
    "fgetpwent" => fgetpwent,
    "getpass" => getpass,
    "re_exec" => re_exec,
    "re_comp" => re_comp,
    "fmtmsg" => fmtmsg,
    "addseverity" => addseverity,
    "ether_ntohost" => ether_ntohost,
    "ether_hostton" => ether_hostton,
    "innetgr" => innetgr,
    "endnetgrent" => endnetgrent,
    "getnetgrent_r" => getnetgrent_r,
    "getnetgrent" => getnetgrent,
    "setnetgrent" => setnetgrent,
    "endaliasent" => endaliasent,
    "setaliasent" => setaliasent,
    "getaliasent" => getaliasent,
    "getaliasbyname_r" => getaliasbyname_r,
    "getaliasbyname" => getaliasbyname,
    "initgroups" => initgroups,
    "getgrent_r" => getgrent_r,
    "getpwent_r" => getpwent_r,
    "endspent" => endspent,
    "setspent" => setspent,
    "getspent_r" => getspent_r,
    "getspent" => getspent,
    "getspnam_r" => getspnam_r,
    "getspnam" => getspnam,
    "endusershell" => endusershell,
    "setusershell" => setusershell,
    "getusershell" => getusershell,
    "endservent" => endservent,
    "endprotoent" => endprotoent,
    "endnetent" => endnetent,
    "endhostent" => endhostent,
    "setservent" => setservent,
    "setprotoent" => setprotoent,
    "setnetent" => setnetent,
    "sethostent" => sethostent,
    "getservent_r" => getservent_r,
    "getprotoent_r" => getprotoent_r,
    "getnetent_r" => getnetent_r,
    "gethostent_r" => gethostent_r,
    "getservent" => getservent,
    "getprotoent" => getprotoent,
    "getnetent" => getnetent,
    "gethostent" => gethostent,
    "getnetbyname_r" => getnetbyname_r,
    "getnetbyaddr" => getnetbyaddr,
    "getnetbyname" => getnetbyname,
    "getprotobynumber_r" => getprotobynumber_r,
    "getprotobyname_r" => getprotobyname_r,
    "getprotobynumber" => getprotobynumber,
    "getservbyport_r" => getservbyport_r,
    "getservbyname_r" => getservbyname_r,
    "gethostbyname_r" => gethostbyname_r,
    "gethostbyname2" => gethostbyname2,
}

thread_local! {
    /// To where the function returns that runs.
    static RETURN: Cell<usize> = const { Cell::new(0) };
}

extern "C" fn begin_and_keep(to: usize) {
    process_memory(true);
    RETURN.set(to);
}

extern "C" fn end_and_return() -> usize {
    process_memory(false);
    RETURN.get()
}

/// To where the C library comes back in the place of the caller: what it has returned stays.
#[unsafe(naked)]
unsafe extern "C" fn after() {
    naked_asm!(
        "sub rsp, 16",
        "mov [rsp], rax",
        "call {end}",
        "mov r11, rax",
        "mov rax, [rsp]",
        "add rsp, 16",
        "jmp r11",
        end = sym end_and_return,
    )
}

/// The same with any number of arguments: those on the stack have to stay where they are.
macro_rules! outside_with_many {
    ($($name:literal => $function:ident,)*) => {
        fn outside_with_many(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                _ => None,
            }
        }
        mod real_with_many {
            unsafe extern "C" {
                $(#[link_name = $name] pub fn $function();)*
            }
        }
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                naked_asm!(
                    $crate::libc::save_arguments!(),
                    "mov rdi, [rsp + 56]",
                    "call {begin}",
                    $crate::libc::restore_arguments!(),
                    "lea r11, [rip + {after}]",
                    "mov [rsp], r11",
                    "jmp [rip + {real}@GOTPCREL]",
                    begin = sym begin_and_keep,
                    after = sym after,
                    real = sym real_with_many::$function,
                )
            }
        )*
    };
}

outside_with_many! {
    "getnameinfo" => getnameinfo,
    "gethostbyname2_r" => gethostbyname2_r,
    "gethostbyaddr_r" => gethostbyaddr_r,
    "getnetbyaddr_r" => getnetbyaddr_r,
}
