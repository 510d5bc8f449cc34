//! How a node comes from one line to the next: its PEs have taken their parts of a cut, which are held
//! twice, and are made anew from them.

use super::{Driver, FIRST, spare_of};
use crate::logged::task::{Answer, Task};
use talisman_base::view::View;
use talisman_control::logging::messages::FromMember;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::member::Member;
use talisman_ft::Version;
use talisman_ft::double::Contents;
use talisman_ft::logging::Membership;
use talisman_kernel::pe::turn::Command;

/// Cuts of which another launcher is told what they had cost.
const TOOK_MAX: usize = 1_000;

impl Driver<'_> {
    /// Whether anything is to be done about a cut, and that is done.
    pub(super) fn see_to_cut(&mut self) -> bool {
        self.see_to_given_up();
        let Some(version) = self.cut().filter(|_| self.runs() && !self.has_failed) else { return false };
        let is_new = self.member.next_version() != Some(version);
        if is_new {
            match self.image_of_cut(version) {
                Ok(image) => self.member.hold(image),
                Err(why) => self.fail(why),
            }
        }
        self.member.see_to_next();
        self.carry();
        is_new
    }

    /// A cut was given up, as there was no memory for a part: nobody needs what is held of it. If the part was one of this node, less is
    /// kept from the next line on, so that there is more memory at a cut.
    fn see_to_given_up(&mut self) {
        let all = self.seats.iter().map(|seat| seat.stand.given_up);
        let (version, _) = all.clone().max().unwrap_or_default();
        if version <= self.member.given_up() {
            return;
        }
        let is_own = all.into_iter().any(|given_up| given_up == (version, true));
        self.member.give_up(version);
        self.lending.give_up(version);
        if is_own {
            self.kept.lower();
        }
        if let Err(why) = self.kept.gave_up() {
            self.fail(why);
        }
    }

    /// The version of which all its PEs have taken their parts, which are at nothing else.
    fn cut(&self) -> Option<Version> {
        let mut cuts = self.seats.iter().map(|seat| seat.stand.cut.filter(|_| seat.is_ready()));
        let first = cuts.next()??;
        cuts.all(|cut| cut == Some(first)).then_some(first)
    }

    fn image_of_cut(&mut self, version: Version) -> Result<Image, String> {
        let states = self.ranks().map(|rank| match self.ask(rank, Task::Part(version)) {
            Answer::Part(part) => Ok(Beginning::Parts(part)),
            Answer::Failed(why) => Err(why),
            _ => Err(format!("PE {rank} of the node has no part of checkpoint {version}")),
        });
        let states = states.collect::<Result<Vec<_>, _>>()?;
        // They share the place where these are.
        self.contents = match self.ask(FIRST, Task::Contents(version)) {
            Answer::Contents(contents) => contents,
            Answer::Failed(why) => return Err(why),
            _ => Contents::default(),
        };
        let (number, results) = (self.of.task.number, self.of.job.results());
        let made_at = self.seats.iter().map(|seat| seat.stand.clock).max().unwrap_or(0);
        let view = self.member.membership().view.clone();
        Ok(Image::first(number, self.shape, made_at, states).taken_in(view).of_cut(version, results))
    }

    /// A cut is wanted, perhaps by somebody outside.
    pub(super) fn ask_for_cut(&mut self, from_outside: bool) {
        self.command(Command::Checkpoint { asked: from_outside.then_some(false), leaving: Vec::new() });
    }

    /// The cut of this version is committed: nobody goes back behind it. These are there from now on.
    pub(super) fn begin_line(&mut self, version: Version, membership: Membership) {
        self.gather();
        self.kept.count(&self.member, spare_of(&self.seats));
        if let Err(why) = self.compare_with_twin(version) {
            return self.fail(why);
        }
        self.end_pes(&membership);
        let former = self.member.line();
        let blank = Member::blank(self.of.task.number, self.shape, self.member.incarnation());
        match std::mem::replace(&mut self.member, blank).begin_line(version, membership) {
            Ok((member, image)) => {
                self.member = member;
                self.lending.begin_line(version);
                if !self.writing.is_of(former) {
                    self.of.store.give_up(former);
                }
                self.kept.begin_line();
                image.reported().iter().for_each(|(name, value)| self.of.job.record(name, value.clone()));
                self.wants_cut = false;
                self.enter(version);
                self.begin(image);
            }
            Err(why) => self.fail(why),
        }
    }

    /// This process is a node's that was not there before the line, in which these are: it fetches what it begins with when all know of it.
    pub(super) fn come_with_line(&mut self, version: Version, membership: Membership) {
        self.renew_node(&membership);
        let blank = Member::blank(self.of.task.number, self.shape, 0).in_line(version);
        self.member = self.placed(blank, membership);
        self.enter(version);
    }

    /// Its PEs go, with all that is in them and between them.
    fn end_pes(&mut self, next: &Membership) {
        self.discard_rings();
        let shelf = self.kept.shelf();
        self.ranks().for_each(|rank| _ = self.ask(rank, Task::EndInLine { shelf }));
        let first = self.member.membership().view.acting_for(0);
        if self.of.task.number == first
            && let Some(taken) = self.of.job.checkpoints().pop()
        {
            self.say(&FromMember::Took(Box::new(taken.clone())));
            if self.took.len() < TOOK_MAX {
                self.took.push(taken);
            }
        }
        self.renew_node(next);
    }

    /// Its next PEs are where these are there.
    fn renew_node(&mut self, next: &Membership) {
        match self.of.renew_node(&next.view) {
            Ok(node) => self.node = node,
            Err(why) => self.fail(why),
        }
    }

    /// What this node has of the line is to be on its disk.
    pub(super) fn write_line(&mut self, version: Version) {
        if self.member.line() != version {
            let wrong = Some(format!("node {} is not in that line any more", self.of.task.number));
            return self.say(&FromMember::Written { version, wrong });
        }
        let view = View::new(self.member.membership().view.clone(), self.shape.pes_per_node);
        let images = self.member.line_images();
        let mapped = self.lending.mapped(version);
        self.writing.begin((version, images, mapped), view, &self.of.store, &self.of.commands);
    }

    /// All have said how that went: what was written before it is not needed any more, or what was written of it is not.
    pub(super) fn end_writing(&mut self, version: Version, is_whole: bool) {
        self.writing.end();
        self.of.store.all_written(version, is_whole);
        if version != self.member.line() {
            self.of.store.give_up(version);
        }
    }

    /// It is in this line from now on: what others have sent in it already is taken.
    pub(super) fn enter(&mut self, line: Version) {
        self.links.enter(line);
        self.door.enter(line).into_iter().for_each(|came| self.take_in(came));
    }
}
