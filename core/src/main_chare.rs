//! The job's first message, which makes the main chare. After the loss of a node before the first checkpoint it is sent anew.

use std::borrow::Cow;

use crate::chare::{Args, Chare, MainChare};
use talisman_kernel::entry_info::pack_args;
use talisman_kernel::message::send_options::SendOptions;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::registry::main_chare_of;

/// What makes the job's first message on the first PE. The arguments are kept packed, as they would come from another node.
pub fn beginning<C: MainChare, A: Args>(args: A) -> impl Fn(&Pe) {
    let init = &C::INITS[0];
    let packed = pack_args(&init.args, args, || "the program's options".into());
    move |pe| {
        let _here = Here::enter(pe);
        let words = init.args.read(Cow::Borrowed(&packed)).expect("arguments are read as they are packed");
        pe.send_create_of(main_chare_of(C::KEY), pe.view().first(), init, words, SendOptions::default());
    }
}

/// The job's first message: its main chare is made on the first PE.
pub fn create_main<C: Chare, A: Args>(pe: &Pe, args: A) {
    let _here = Here::enter(pe);
    pe.send_create(main_chare_of(C::KEY), pe.view().first(), &C::INITS[0], args, SendOptions::default());
}
