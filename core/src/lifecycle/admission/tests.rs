//! Insertions from outside that race with the end of their array, in a job of four PEs that is taken forward by hand.

use self::program::Main;
use super::Admissions;
use crate::lab::Lab;
use crate::lifecycle::admission::AdmissionsOnPe;

/// The members of a group insert into an array, one element after the other, while the main chare destroys it.
mod program {
    use talisman::prelude::*;

    #[derive(Pup)]
    pub struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }
    }

    #[derive(Pup)]
    struct Inserter;

    #[chare(group)]
    impl Inserter {
        #[init]
        fn new() -> Self {
            Inserter
        }

        #[entry]
        fn grow(&mut self, cx: &mut Cx<Self>, blocks: Array<Block>, left: i32) {
            blocks.insert(1000 * cx.pe() as i32 + left).new();
            if left > 0 {
                cx.group().on(cx.pe()).grow(blocks, left - 1);
                // So that others hear of the insertion.
                cx.group().on((cx.pe() + 1) % cx.pes()).nothing();
            }
        }

        #[entry]
        fn nothing(&mut self) {}
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let blocks = Block::array(4).new();
            blocks.done_inserting();
            Inserter::group().new().grow(blocks, 100);
            blocks.destroy();
            Main
        }
    }
}

#[test]
fn nobody_waits_for_an_array_that_was_destroyed_to_admit_an_insertion() {
    let mut lab = Lab::new::<Main>();
    let mut were_open = false;
    for _ in 0..2000 {
        lab.run(1);
        were_open |= lab.pes.iter().any(|pe| pe.admissions_open.get());
    }
    assert!(were_open, "some were made before the end of the array was known");
    for pe in &lab.pes {
        let Admissions { open, admitted, held, asked, .. } = pe.admissions();
        assert!(!pe.admissions_open.get() && open.borrow().is_empty(), "PE {}: {:?}", pe.id, open.borrow());
        assert!(admitted.borrow().is_empty(), "PE {}: {:?}", pe.id, admitted.borrow());
        assert!(held.borrow().is_empty() && asked.borrow().is_empty(), "PE {}", pe.id);
    }
}
