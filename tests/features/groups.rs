//! Groups: a member on every PE; nodegroups: a member on every node.

use talisman::prelude::*;

#[derive(Pup)]
struct Member {
    heard: u32,
}

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member { heard: 0 }
    }

    #[entry]
    fn tell(&mut self, cx: &mut Cx<Self>, n: u32) {
        assert_eq!(cx.index(), cx.pe());
        self.heard += n;
    }

    #[entry]
    fn tell_here(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.group().here().tell(100);
        1
    }

    #[entry]
    fn heard(&mut self) -> u32 {
        self.heard
    }
}

#[derive(Pup)]
struct OfNode {
    visitors: u32,
}

#[chare(nodegroup)]
impl OfNode {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        assert_eq!(cx.index(), cx.node());
        OfNode { visitors: 0 }
    }

    #[entry(ack)]
    fn visit(&mut self, cx: &mut Cx<Self>, from: u32) {
        assert_eq!(cx.node(), from);
        self.visitors += 1;
    }

    #[entry]
    fn visitors(&mut self) -> u32 {
        self.visitors
    }
}

#[derive(Pup)]
struct Visitor;

#[chare(group)]
impl Visitor {
    #[init]
    fn new() -> Self {
        Visitor
    }

    #[entry]
    async fn visit(&mut self, cx: &mut Cx<Self>, to: Group<OfNode>) {
        to.here().visit(cx.node()).await;
        cx.barrier().await;
    }

    #[entry]
    fn done(&mut self) -> u32 {
        1
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let members: Group<Member> = Member::group().new();
    members.tell(1);
    members.on(cx.pes() - 1).tell(10);
    let told: u32 = members.tell_here().reduce(Sum).await;
    assert_eq!(told, cx.pes());
    cx.quiescence().await;
    let mut expected: Vec<u32> = vec![101; cx.pes() as usize];
    *expected.last_mut().unwrap() += 10;
    let heard: Vec<u32> = members.heard().reduce(Concat).await;
    assert_eq!(heard, expected);

    let nodes: Group<OfNode> = OfNode::group().new();
    Visitor::group().new().visit(nodes);
    cx.quiescence().await;
    let visitors: Vec<u32> = nodes.visitors().reduce(Concat).await;
    assert_eq!(visitors, vec![cx.pes() / cx.nodes(); cx.nodes() as usize]);
    writeln!(cx.output(), "everybody heard");
}

#[test]
fn have_a_member_everywhere() {
    crate::common::same_with_all_nodes::<__Main, _>(|| (), &["everybody heard"]);
}

mod moving {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Member;

    #[chare(group)]
    impl Member {
        #[init]
        fn new() -> Self {
            Member
        }

        #[entry]
        fn leave(&mut self, cx: &mut Cx<Self>) {
            cx.migrate_to(0);
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Member::group().new().on(cx.pes() - 1).leave();
        cx.quiescence().await;
    }

    #[test]
    fn members_stay_where_they_are() {
        let parts = ["belongs to its PE", "Member[", "leave", "groups.rs"];
        // The panic is in the runtime, and told of the program's line that called it.
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts[..3]);
    }
}

mod losing {
    use talisman::prelude::*;

    /// Keeps what it was given, and what a lost one had.
    #[derive(Pup)]
    struct Purse {
        coins: u64,
    }

    #[chare(group)]
    impl Purse {
        #[init]
        fn new() -> Self {
            Purse { coins: 0 }
        }

        #[entry]
        fn give(&mut self, coins: u64) {
            self.coins += coins;
        }

        #[entry]
        fn coins(&mut self) -> u64 {
            self.coins
        }

        #[lost]
        fn inherit(&mut self, cx: &mut Cx<Self>, other: Self) {
            assert!(cx.index() == cx.pe());
            self.coins += other.coins;
        }
    }

    /// Of those that are lost nothing is left; the others do not wait for them.
    #[derive(Pup)]
    struct Walker {
        steps: u64,
    }

    #[chare(group)]
    impl Walker {
        #[init]
        fn new() -> Self {
            Walker { steps: 0 }
        }

        #[entry]
        async fn walk(&mut self, cx: &mut Cx<Self>, steps: u64, then: Callback<u64>) {
            for _ in 0..steps {
                cx.barrier().await;
                self.steps += 1;
            }
            cx.contribute(self.steps, Min, then);
        }

        #[entry]
        fn steps(&mut self) -> u64 {
            self.steps
        }
    }

    #[derive(Pup)]
    struct OfNode {
        visits: u64,
    }

    #[chare(nodegroup)]
    impl OfNode {
        #[init]
        fn new() -> Self {
            OfNode { visits: 0 }
        }

        #[entry(ack)]
        fn visit(&mut self) {
            self.visits += 1;
        }

        #[entry]
        fn visits(&mut self) -> u64 {
            self.visits
        }

        #[lost]
        fn inherit(&mut self, other: Self) {
            self.visits += other.visits;
        }
    }

    #[derive(Pup)]
    struct Main {
        walked: u64,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            Walker::group().new().walk(10, cx.callback(Self::walked));
            cx.me().run();
            Main { walked: 0 }
        }

        #[entry]
        fn walked(&mut self, steps: u64) {
            self.walked = steps;
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let purses: Group<Purse> = Purse::group().new();
            let nodes: Group<OfNode> = OfNode::group().new();
            for round in 0..10u64 {
                for pe in 0..cx.pes() {
                    purses.on(pe).give(1);
                }
                for node in 0..cx.nodes() {
                    nodes.on(node).visit().await;
                }
                let coins: u64 = purses.coins().reduce(Sum).await;
                assert!(coins <= (round + 1) * u64::from(cx.pes()), "{coins} in round {round}");
            }
            cx.quiescence().await;
            let coins: u64 = purses.coins().reduce(Sum).await;
            assert_eq!(coins, 10 * u64::from(cx.pes()));
            let visits: u64 = nodes.visits().reduce(Sum).await;
            assert_eq!(visits, 10 * u64::from(cx.nodes()));
            writeln!(cx.output(), "walked {}", self.walked);
            cx.exit();
        }
    }

    #[test]
    fn members_leave_what_they_have_if_somebody_wants_it() {
        crate::common::same_everywhere::<Main, _>(|| (), &["walked 10"]);
        for seed in 0..60 {
            let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[1, 2, 3]][seed as usize % 5];
            let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
            let tested = test.going_back(seed * 17, lost).run::<Main>(());
            crate::common::assert_ended_well(&format!("without {lost:?}, seed {seed}"), &tested);
            assert_eq!(tested.output, ["walked 10"]);
        }
    }
}
