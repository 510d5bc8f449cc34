//! What leaves a node: frames and words to others, words to the launcher.

use std::time::Duration;

use super::{Driver, FIRST, spare_of};
use crate::logged::task::{Answer, Task};
use talisman_control::logging::fragments::pieces_of;
use talisman_control::logging::messages::{FromMember, Said};
use talisman_control::protocol::{Stop, ToLauncher};
use talisman_core::logging::mark::Differs;
use talisman_core::logging::wire;
use talisman_core::logging::words::{self, Out, Word};
use talisman_ft::NodeId;
use talisman_ft::event::Event;
use talisman_job::job::End;
use talisman_kernel::pe::turn::Command;
use talisman_kernel::port::Sent;
use talisman_store::memory_probe::would_be_given;

/// So often it is looked how much is kept.
const LOOK_AT_MEMORY: Duration = Duration::from_millis(100);

/// The memory of a longer ride is not kept for the next one.
const RIDE_MAX: usize = 4 << 10;

impl Driver<'_> {
    /// What the PE of this rank was given is logged, and what it has said and sent leaves as far as it may.
    pub(super) fn collect(&mut self, rank: u32, said: Vec<words::Said>, sent: &mut Vec<Sent>) {
        for said in said {
            if !matches!(said, words::Said::End(_)) || !self.of.commands.is_stopped() {
                self.member.say(rank, said);
            }
        }
        for sent in sent.drain(..) {
            self.member.send(rank, sent);
        }
        self.settle();
    }

    /// What follows from what the node has done or heard.
    pub(super) fn settle(&mut self) {
        if self.member.holds_frames() {
            // Others wait for them.
            self.member.flush();
        }
        self.member.release();
        let seats = &self.seats;
        if self.member.is_guided()
            && self.all_are_ready()
            && let Err(why) = self.member.tell_if_at_horizon(|rank| seats[rank as usize].stand.may_run)
        {
            self.fail(why);
        }
        self.carry();
    }

    pub(super) fn carry(&mut self) {
        if !self.member.has_out() {
            return;
        }
        let (mut first_that_differs, mut answered) = (None, false);
        let mut outs = std::mem::take(&mut self.outs);
        self.member.swap_out(&mut outs);
        for out in outs.drain(..) {
            match out {
                Out::Letter(rank, to, letter) => {
                    self.links.send_letter((to, rank), &letter);
                    if letter.ride.capacity() <= RIDE_MAX {
                        self.member.has_left(letter);
                    }
                }
                Out::Word(to, between, word) => self.send_word(to, between, &word),
                Out::Report(event) => report_of(event).into_iter().for_each(|word| self.say(&word)),
                Out::Say(rank, number, said) => {
                    self.say(&FromMember::Said { rank, number, said: said_as(said) });
                }
                // The loop looks.
                Out::Wake(_) => {}
                Out::Begin(image) => self.begin_again(*image),
                Out::Holds(version, session, membership) => {
                    let contents = self.contents.clone();
                    self.say(&FromMember::Holds { version, session, membership, contents });
                }
                Out::AskRoom(of, version, bytes) => {
                    // The part itself, and what its frames take on their way. What is mapped takes none.
                    let bytes = usize::try_from(bytes + bytes / 8).unwrap_or(usize::MAX);
                    // What is handed over is sent.
                    let is_mapped =
                        self.is_near(of) && self.lending.may_map(of) && !self.member.expects_others();
                    answered = true;
                    self.member.has_room(of, version, is_mapped || would_be_given(bytes));
                }
                Out::CannotKeep(version) => self.command(Command::CannotKeep(version)),
                Out::Unreadable(why) => self.fail(why),
                Out::Differs(differs) => _ = first_that_differs.get_or_insert(differs),
            }
        }
        self.outs = outs;
        first_that_differs.into_iter().for_each(|differs| self.end_as_it_differs(differs));
        if answered {
            self.carry();
        }
    }

    /// Parts for a keeper on the same host stay where they are.
    fn send_word(&mut self, to: NodeId, between: wire::Between, word: &Word) {
        if let Word::Image(image) = word
            && !self.lending.is_whole(image)
        {
            return self.fail(format!("the image of node {} is not what it was", image.of));
        }
        let written = match wire::write(between, word) {
            Ok(written) => written,
            Err(why) => return self.fail(why),
        };
        let lent = match word {
            Word::Next(image) if self.is_near(to) => self.lending.lend(&self.of.store, to, image, &written),
            _ => None,
        };
        match lent {
            Some(lent) => self.links.send_lent(to, lent),
            None => self.links.send_word(to, written),
        }
    }

    /// Whether that node was on this host when this process began.
    fn is_near(&self, node: NodeId) -> bool {
        self.of.task.host.nodes.contains(&node)
    }

    /// The program breaks the rule: a PE that runs again has sent something else.
    fn end_as_it_differs(&mut self, differs: Box<Differs>) {
        if self.has_failed {
            return;
        }
        let described = match self.ask(FIRST, Task::Describe(differs.clone())) {
            Answer::Described(described) => described,
            _ => String::new(),
        };
        self.fail(differs.message(&described));
    }

    pub(super) fn say(&mut self, word: &FromMember) {
        match pieces_of(word) {
            Ok(pieces) => {
                pieces.into_iter().for_each(|piece| self.of.control.send(ToLauncher::Logging(piece)));
            }
            Err(error) => self.fail(format!("the launcher cannot be told: {error}")),
        }
    }

    /// Another leads from now on: where this node is.
    pub(super) fn introduce(&mut self) {
        let standing = Box::new(self.member.introduce());
        let (end, took) = (self.finishing.clone(), self.took.clone());
        self.say(&FromMember::Standing { standing, end, took });
    }

    /// The keeper is sent what is new, if it has not been for so long.
    pub(super) fn flush_log(&mut self, every: Duration) {
        if self.at.saturating_duration_since(self.flushed) >= every && self.member.wants_flush() {
            self.flushed = self.at;
            self.member.flush();
            self.member.release();
            self.carry();
        }
    }

    pub(super) fn tell_of_memory(&mut self) {
        if self.at.saturating_duration_since(self.looked) < LOOK_AT_MEMORY {
            return;
        }
        self.looked = self.at;
        if let Some(limit) = self.kept.runs_short(&self.member, spare_of(&self.seats), would_be_given) {
            self.wants_cut = true;
            let (kept, limit) = (self.kept.bytes() >> 20, limit >> 20);
            let line = "hardly any more memory is given by the system: a checkpoint is taken, and";
            self.of.job.warn(format!("{kept} MiB of messages and logs are kept here, and {line} {limit} MiB may be kept from then on"));
        }
        let kept = self.member.kept_bytes();
        if kept >= self.tell_from {
            self.tell_from = 2 * kept;
            let line = "MiB of messages and logs are kept here for lost nodes, until the next checkpoint";
            self.of.job.warn(format!("{} {line} (--ft logging, --ckpt-every)", kept >> 20));
        }
    }

    pub(super) fn flush_links(&mut self) {
        let (_, lost) = self.links.flush();
        self.give_up(lost);
    }

    /// The job ends, and all that the program has said here is printed. What a PE is at may say something.
    pub(super) fn finish(&mut self) {
        let is_finished = self.finishing.is_some()
            && self.member.is_live()
            && !self.is_any_out()
            && !self.member.has_unprinted();
        if is_finished && !std::mem::replace(&mut self.has_finished, true) {
            let results = self.of.job.results();
            self.say(&FromMember::Finished(results));
        }
    }
}

fn said_as(said: words::Said) -> Said {
    match said {
        words::Said::Line(line) => Said::Line(line),
        words::Said::End(End { status, message }) => Said::End(Stop { status, message }),
    }
}

/// What a node reports, as it goes to the launcher.
fn report_of(event: Event) -> Option<FromMember> {
    match event {
        Event::Held(_, session, holdings) => Some(FromMember::Held(session, holdings)),
        Event::Announced(_, session) => Some(FromMember::Announced(session)),
        Event::AtHorizon(_, session) => Some(FromMember::AtHorizon(session)),
        Event::Covered(_, session) => Some(FromMember::Covered(session)),
        _ => None,
    }
}
