//! What ranks read that is neither in their memory nor a message. Where nodes log what they are given (`--ft logging`), a
//! rank that does again what it did gets the same.

use talisman::testing::world;
use talisman_ampi::slot::on_process_heap;

/// Two words, such as a time.
pub fn words(read: [u64; 2]) -> [u64; 2] {
    let [first, second] = read;
    let (first, second) = on_process_heap(|| world(|| (first, second)));
    [first, second]
}

/// Bytes that `read` puts into the place, whose number it returns; a negative one if there are none.
pub fn bytes(place: &mut [u8], read: impl FnOnce(&mut [u8]) -> isize) -> isize {
    on_process_heap(|| {
        let (count, bytes): (i64, Vec<u8>) = world(|| {
            let count = read(place);
            let bytes = place.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default();
            (count as i64, bytes.to_vec())
        });
        // It may have been read by the process that was lost.
        let known = bytes.len().min(place.len());
        place[..known].copy_from_slice(&bytes[..known]);
        count as isize
    })
}
