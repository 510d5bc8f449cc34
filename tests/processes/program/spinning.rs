//! An entry that does not return.

use talisman::prelude::*;

#[derive(Pup)]
pub struct Spinner;

#[chare(group)]
impl Spinner {
    #[init]
    fn new() -> Self {
        Spinner
    }

    /// On the last PE, for ever.
    #[entry]
    pub fn spin(&mut self, cx: &mut Cx<Self>) -> u32 {
        if cx.pe() == cx.pes() - 1 {
            writeln!(cx.output(), "under way");
            loop {
                std::hint::spin_loop();
            }
        }
        1
    }
}

pub fn start() -> Group<Spinner> {
    Spinner::group().new()
}
