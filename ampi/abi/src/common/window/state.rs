//! What a program asks of a window, and tells of it (MPI-4.1, 12.2.6, 12.2.7, 7.7.3 and 7.8).

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use super::{known_window, window};
use crate::common::call::{known_or_null, local};
use crate::common::communicator::{name_from, put_text, text_of};
use crate::common::{group, info};

crate::common::calls! {
    "Win_get_group" win_get_group<>(handle: A::Handle, to: *mut A::Handle) in handle => {
        let number = known_window::<A>(handle)?;
        let communicator = local(|process| Ok(window(process, number)?.communicator))?;
        group::make::<A>(to, |process| Ok(process.comms.get(communicator)?.group().clone()))
    };
    "Win_set_name" win_set_name<>(handle: A::Handle, name: *const u8) in handle => {
        let (number, name) = (known_window::<A>(handle)?, text_of(name)?);
        local(|process| {
            window(process, number)?.name = String::from_utf8_lossy(name).into_owned();
            Ok(())
        })
    };
    "Win_get_name" win_get_name<>(handle: A::Handle, name: *mut u8, len: *mut c_int) in handle => {
        let number = known_window::<A>(handle)?;
        let (text, n) = name_from::<128>(|process| Ok(window(process, number)?.name.as_str()))?;
        put_text(name, A::NAME_ROOM[0], len, &text[..n])
    };
    "Win_set_info" win_set_info<>(handle: A::Handle, hints: A::Handle) in handle => {
        let number = known_window::<A>(handle)?;
        match known_or_null::<A>(Kind::Info, hints)? {
            None => Ok(()),
            Some(hints) => local(|process| {
                let hints = info::copy_of(process, hints)?;
                window(process, number)?.hints = hints;
                Ok(())
            }),
        }
    };
    "Win_get_info" win_get_info<>(handle: A::Handle, to: *mut A::Handle) in handle => {
        let number = known_window::<A>(handle)?;
        info::make::<A>(to, |process| Ok(window(process, number)?.hints.clone()))
    };
}

/// What programs attach to windows.
pub mod attributes {
    use std::ffi::c_int;

    use talisman_ampi::comm::Value;
    use talisman_ampi::objects::Kind;

    use crate::common::attribute::{Bearer, create, delete, free, get, set};
    use crate::common::call::put;

    crate::common::calls! {
        "Win_create_keyval" win_create_keyval<>(copy: u64, delete: u64, keyval: *mut c_int, extra: u64) => {
            put(keyval, create::<A>(copy, delete, extra)?)
        };
        "Win_free_keyval" win_free_keyval<>(keyval: *mut c_int) => free::<A>(keyval);
        "Win_set_attr" win_set_attr<>(handle: A::Handle, keyval: c_int, value: u64) in handle => {
            set::<A>(Bearer::of::<A>(Kind::Win, handle)?, keyval, Value::address(value))
        };
        "Win_get_attr" win_get_attr<>(
            handle: A::Handle, keyval: c_int, value: *mut u64, flag: *mut c_int,
        ) in handle => get::<A>(Bearer::of::<A>(Kind::Win, handle)?, keyval, value, flag);
        "Win_delete_attr" win_delete_attr<>(handle: A::Handle, keyval: c_int) in handle => {
            delete::<A>(Bearer::of::<A>(Kind::Win, handle)?, keyval)
        };
    }
}
