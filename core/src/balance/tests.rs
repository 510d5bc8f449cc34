//! Balancing in a job of four PEs that is taken forward by hand.

use self::program::Main;
use super::message::Why;
use crate::balance::root::BalancingRootOnPe;
use crate::lab::{Frame, Lab};
use talisman_job::RunArgs;
use talisman_kernel::kind::Kind;
use talisman_kernel::message::service::Service;
use talisman_kernel::pe::{Here, Pe};

/// Elements that have been at sync three times, and then wait for nothing that comes.
mod program {
    use talisman::prelude::*;

    pub(super) const ALL: usize = 12;

    #[derive(Pup)]
    struct Element {
        state: Vec<u64>,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element { state: vec![7; 20] }
        }

        #[entry]
        fn never();

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
            for _ in 0..3 {
                cx.at_sync().await;
            }
            cx.when(Self::never).await;
            self.state[0]
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let elements: Array<Element> = Element::array(ALL as i32).new();
            elements.run().ignore();
            Main
        }
    }
}

/// Elements that always have a message each, so that the queue of no PE is ever empty.
mod busy {
    use talisman::prelude::*;

    pub(super) const ALL: usize = 400;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.me().go();
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            Element::array(ALL as i32).new().go();
            Main
        }
    }
}

fn lab(balancer: &str) -> Lab {
    Lab::with::<Main>(&RunArgs { balancer: balancer.into(), ..RunArgs::default() })
}

/// Elements on each PE.
fn elements(lab: &Lab) -> Vec<usize> {
    let on = |pe: &Pe| {
        // SAFETY: an object in a slot is live.
        let kinds = pe.slots.iter().map(|head| unsafe { head.as_ref() }.collection().chare.kind);
        kinds.filter(|kind| *kind == Kind::Array).count()
    };
    lab.pes.iter().map(on).collect()
}

fn want(lab: &Lab, why: Why) {
    let _here = Here::enter(&lab.pes[0]);
    lab.pes[0].want_balance(why, None);
}

#[test]
fn a_step_that_is_wanted_while_one_is_under_way_follows_it() {
    let mut lab = lab("rotate");
    lab.run(300);
    let before = lab.pes[0].node.job.balancing().len();
    for _ in 0..5 {
        want(&lab, Why::Request);
        lab.run(1);
    }
    lab.run(300);
    let steps = lab.pes[0].node.job.balancing();
    assert!((2..=5).contains(&(steps.len() - before)), "{} steps", steps.len() - before);
    assert_eq!(elements(&lab).iter().sum::<usize>(), program::ALL);
}

#[test]
fn a_step_does_not_wait_for_what_is_in_the_queues_of_pes() {
    for balancer in ["rotate", "greedy", "gossip"] {
        let mut lab = Lab::with::<busy::Main>(&RunArgs { balancer: balancer.into(), ..RunArgs::default() });
        lab.run(1000);
        assert!(lab.pes.iter().all(|pe| pe.waiting_messages() > 50), "each has enough to do");
        want(&lab, Why::Request);
        // A message a round is run on each PE: this is less than one has queued.
        lab.run(50);
        assert_eq!(lab.pes[0].node.job.balancing().len(), 1, "{balancer}");
    }
}

#[test]
fn what_a_step_knew_is_in_a_file() {
    let folder = std::env::temp_dir().join(format!("talisman-dump-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let options = RunArgs { balancer: "rotate".into(), lb_dump: Some(folder.clone()), ..RunArgs::default() };
    let mut lab = Lab::with::<Main>(&options);
    lab.run(500);
    let steps = lab.pes[0].node.job.balancing();
    assert_eq!(steps.len(), 3);
    for step in steps {
        assert_eq!((step.moves, step.refused), (program::ALL as u64, None), "it moves as without");
        let file = std::fs::read(folder.join(format!("step-{:06}.snapshot", step.number))).unwrap();
        let dump = talisman_lb::dump::Dump::from_bytes(&file).unwrap();
        assert_eq!((dump.step, dump.trigger.as_str()), (step.number.into(), "sync"));
        assert_eq!((dump.strategy.as_str(), dump.snapshot.pes.len()), ("rotate", 4));
        assert_eq!(dump.snapshot.objects.len(), program::ALL);
        assert!(dump.snapshot.objects.iter().all(|object| object.bytes >= 160), "sizes are measured");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The frames of balancing in a whole run.
fn recorded(balancer: &str) -> Vec<Frame> {
    let mut lab = lab(balancer);
    lab.run(500);
    lab.frames().iter().filter(|frame| frame.is_of(Service::Balancing)).cloned().collect()
}

#[test]
fn nothing_that_comes_from_outside_makes_a_pe_panic() {
    for balancer in ["rotate", "gossip", "diffusion"] {
        let frames = recorded(balancer);
        assert!(!frames.is_empty(), "{balancer}");
        for (number, frame) in frames.iter().enumerate().step_by(3) {
            for at in 6..frame.head.len() {
                let mut damaged = frame.clone();
                damaged.head[at] ^= 1 << ((at + number) % 8);
                let mut lab = lab(balancer);
                lab.run(number % 100);
                lab.inject(damaged);
                lab.inject(frame.clone());
                lab.run(60);
            }
        }
    }
}

#[test]
fn where_nothing_is_balanced_messages_of_balancing_are_refused() {
    let frames = recorded("rotate");
    let mut lab = lab("off");
    lab.run(300);
    frames.into_iter().for_each(|frame| lab.inject(frame));
    lab.run(300);
    assert_eq!((lab.how_it_ended(), lab.pes[0].node.job.balancing().len()), ((-1, None), 0));
}
