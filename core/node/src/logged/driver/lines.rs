//! How a node comes from one line to the next: its PE has taken its part of a cut, which is held twice, and is made anew from it.

use super::{Driver, RANK};
use talisman_control::logging::messages::FromMember;
use talisman_core::checkpoint::cut::CutOnPe;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::member::Member;
use talisman_ft::Version;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::Here;
use talisman_kernel::pe::turn::Command;

impl Driver<'_> {
    /// Whether anything is to be done about a cut, and that is done.
    pub(super) fn see_to_cut(&mut self) -> bool {
        let Some(pe) = self.pe.as_ref().filter(|_| self.runs() && !self.has_failed) else { return false };
        let Some(version) = pe.has_cut() else { return false };
        let is_new = self.member.next_version() != Some(version);
        if is_new {
            match pe.part_of_cut(version) {
                Ok(parts) => {
                    pe.drop_cut(version);
                    let (number, results) = (self.of.task.number, self.of.job.results());
                    let states = vec![Beginning::Parts(parts)];
                    let image = Image::first(number, self.shape, self.clock.get(), states);
                    self.member.hold(image.of_cut(version, results));
                }
                Err(error) => self.fail(format!("its part of checkpoint {version} is gone: {error}")),
            }
        }
        self.member.see_to_next();
        self.carry();
        is_new
    }

    /// A cut is wanted, perhaps by somebody outside.
    pub(super) fn ask_for_cut(&mut self, from_outside: bool) {
        self.command(Command::Checkpoint { asked: from_outside.then_some(false), leaving: Vec::new() });
    }

    /// Somebody beside the PEs asks for something.
    pub(super) fn command(&mut self, command: Command) {
        self.set_clock();
        if let Some(pe) = &self.pe {
            let _here = Here::enter(pe);
            caught(pe, || pe.command(command));
        }
        self.idle_turns = 0;
        self.collect();
    }

    /// The cut of this version is committed: nobody goes back behind it.
    pub(super) fn begin_line(&mut self, version: Version) {
        self.kept.count(&self.member);
        self.end_pe();
        let blank = Member::blank(self.of.task.number, self.shape, self.member.incarnation());
        match std::mem::replace(&mut self.member, blank).begin_line(version) {
            Ok((member, image)) => {
                self.member = member;
                self.kept.begin_line();
                self.idle_turns = 0;
                self.wants_cut = false;
                self.enter(version);
                self.begin(&image);
            }
            Err(why) => self.fail(why),
        }
    }

    /// Its PE goes, with all that is in it.
    fn end_pe(&mut self) {
        self.set_clock();
        let Some(pe) = self.pe.take() else { return };
        pe.end_cut();
        self.totals.add(&pe.stats.totals());
        drop(pe);
        if RANK == self.of.task.number
            && let Some(taken) = self.of.job.checkpoints().pop()
        {
            self.say(&FromMember::Took(taken.into()));
        }
        if let Err(why) = self.of.renew_node() {
            self.fail(why);
        }
    }

    /// It is in this line from now on: what others have sent in it already is taken.
    pub(super) fn enter(&mut self, line: Version) {
        self.links.enter(line);
        self.door.enter(line).into_iter().for_each(|came| self.take_in(came));
    }
}
