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
