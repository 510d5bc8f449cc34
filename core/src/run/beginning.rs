//! How a program begins, as often as it has to: after the loss of a node before the first checkpoint, it does so anew.

use std::borrow::Cow;

use crate::chare::{Args, MainChare};
use crate::entry::pack_args;
use crate::pe::{Here, Pe};
use crate::registry::main_chare_of;

/// What makes the job's first message on the first PE. The arguments are kept packed, as they would come from another node.
pub(crate) fn beginning<C: MainChare, A: Args>(args: A) -> impl Fn(&Pe) {
    let init = &C::INITS[0];
    let packed = pack_args(&init.args, args, || "the program's options".into());
    move |pe| {
        let _here = Here::enter(pe);
        let words = init.args.read(Cow::Borrowed(&packed)).expect("arguments are read as they are packed");
        pe.send_create_of(main_chare_of(C::KEY), pe.view().first(), init, words, None);
    }
}
