//! What ranks read that is neither in their memory nor a message. Where what nodes are given is kept (`--ft logging`,
//! `--record`), a rank that does again what it did gets the same.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use talisman::testing::{world, world_bytes};
use talisman_ampi::rank;
use talisman_ampi::slot::on_process_heap;
use talisman_loader::libc::ReadBytes;

/// The variables of this process, which another one need not have. The rank may take them elsewhere: all of it is on its heap.
pub fn variables() -> BTreeMap<OsString, OsString> {
    let read = || std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect();
    let of_process: Vec<(Vec<u8>, Vec<u8>)> = on_process_heap(|| world(read));
    let own = |bytes: &Vec<u8>| OsString::from_vec(bytes.to_vec());
    of_process.iter().map(|(name, value)| (own(name), own(value))).collect()
}

/// Two words, such as a time.
pub fn words(read: &mut dyn FnMut() -> [u64; 2]) -> [u64; 2] {
    let read = || {
        let [first, second] = read();
        (first, second)
    };
    let (first, second) = or_end(|| world(read));
    [first, second]
}

/// Bytes that `read` puts into the place, whose number it returns; a negative one if there are none.
pub fn bytes(place: &mut [u8], read: &mut ReadBytes<'_>) -> isize {
    or_end(|| world_bytes(place, |place| read(place) as i64) as isize)
}

/// One that asks for something else than it asked for then ends the job: nothing can be thrown through the program.
fn or_end<T>(work: impl FnOnce() -> T) -> T {
    let done = on_process_heap(|| {
        catch_unwind(AssertUnwindSafe(work)).map_err(|why| {
            let text =
                why.downcast_ref::<String>().map_or("it does not do again what it did", String::as_str);
            text.to_owned()
        })
    });
    done.unwrap_or_else(|why| rank::end_job(1, &why))
}
