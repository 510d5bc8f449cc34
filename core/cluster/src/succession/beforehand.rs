//! What is seen to before a job over several hosts begins, for the case that its launcher is lost.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::fd::AsRawFd;

use super::estate::{Estate, Legacy, Site};
use crate::remote::host::Start;
use crate::remote::session::Heir;
use crate::standby::Pledge;
use crate::takeover::streams::Streams;
use talisman_control::hosts::Share;
use talisman_control::plan::{Plan, numbers_of_nodes};

/// The order in which hosts take the launcher's place: its own is the first, whether it has nodes or not.
pub fn ranks(shares: &[Share]) -> Vec<u32> {
    let first = shares.iter().position(|share| share.host.is_local());
    let mut next = 1..;
    let rank = |place| if Some(place) == first { Some(0) } else { next.next() };
    (0..shares.len()).filter_map(rank).collect()
}

/// What the agent of each host is told for the case that the launcher is lost, by their ranks.
pub fn estates(shares: &[Share], ranks: &[u32], plan: &Plan) -> Vec<Estate> {
    let site = |number, share: &Share| {
        let (name, slots, nodes) = (share.host.to_string(), share.host.slots, numbers_of_nodes(share, plan));
        Site { number, name, slots, nodes }
    };
    let numbered = (0..).zip(shares).zip(ranks);
    let mut sites: BTreeMap<u32, Site> =
        numbered.map(|((number, share), rank)| (*rank, site(number, share))).collect();
    sites.entry(0).or_insert_with(|| site(shares.len() as u32, &Share::here(0)));
    let sites: Vec<Site> = sites.into_values().collect();
    let of = |rank| Estate {
        job: plan.job,
        secret: plan.secret.clone(),
        tls: plan.tls,
        nodes: plan.nodes,
        hosts: plan.hosts.clone(),
        names: plan.names.clone(),
        checkpoint_dirs: plan.keeping.checkpoint_dirs.clone(),
        restart: plan.keeping.restart.clone(),
        silence: plan.silence,
        sites: sites.clone(),
        rank,
        legacy: None,
    };
    (0..sites.len() as u32).map(of).collect()
}

/// How an agent is started that can take the launcher's place; that of this host has what this process prints to.
///
/// # Errors
/// The system gives no port or descriptor.
pub fn inherit(start: Start, mut estate: Estate, pledge: &Option<Pledge>) -> io::Result<Start> {
    let mut begin = start.begin;
    let mut heir = None;
    if start.share.host.is_local() {
        let door = match begin.address {
            Some(address) => TcpListener::bind((address, 0)),
            // Others reach it where ssh comes from.
            None => TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
                .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))),
        }?;
        let streams = Streams::of_this_process()?;
        let (launcher, door_number) = (std::process::id(), door.as_raw_fd());
        let pledge_number = pledge.as_ref().map(Pledge::number);
        estate.legacy = Some(Legacy {
            launcher,
            door: door_number,
            streams: streams.numbers(),
            spool: streams.spool(),
            pledge: pledge_number,
        });
        begin.address = begin.address.or(Some(Ipv4Addr::LOCALHOST.into()));
        heir = Some(Heir { door, streams, pledge: pledge.clone() });
    }
    begin.estate = Some(estate);
    Ok(Start { begin, heir, ..start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launcher::drawn;
    use talisman_control::hosts::Hosts;
    use talisman_job::RunArgs;

    fn sites(text: &str) -> Vec<(u32, String, std::ops::Range<u32>)> {
        let hosts = Hosts::parse(text).expect("lines of hosts");
        let shares = hosts.distribute(hosts.slots(), hosts.slots()).expect("there is room");
        let plan = Plan::new(drawn().expect("random numbers"), &RunArgs::default(), &shares, Vec::new());
        let estates = estates(&shares, &ranks(&shares), &plan);
        assert!((0..).zip(&estates).all(|(rank, estate)| estate.rank == rank));
        estates[0].sites.iter().map(|site| (site.number, site.name.clone(), site.nodes.clone())).collect()
    }

    #[test]
    fn the_launchers_host_is_the_first_with_nodes_or_without() {
        let of = |number, name: &str, nodes| (number, name.to_owned(), nodes);
        assert_eq!(sites("a slots=2\nb"), [of(2, "localhost", 0..0), of(0, "a", 0..2), of(1, "b", 2..3)]);
        let own = "localhost (10.0.0.1)";
        let with_own = sites("a slots=2\nlocalhost slots=3 address=10.0.0.1\nb");
        assert_eq!(with_own, [of(1, own, 2..5), of(0, "a", 0..2), of(2, "b", 5..6)]);
    }

    #[test]
    fn processes_that_wait_are_no_nodes_of_their_host() {
        let hosts = Hosts::parse("a slots=2\nb slots=2").expect("lines of hosts");
        let shares = hosts.distribute(4, 4).expect("there is room");
        let of_nodes: Vec<Share> = shares.iter().map(|share| share.without_last(&shares, 1)).collect();
        let options = RunArgs { nodes: 3, spares: 1, max_nodes: Some(6), ..RunArgs::default() };
        let plan = Plan::new(drawn().expect("random numbers"), &options, &of_nodes, Vec::new());
        let estate = &estates(&shares, &ranks(&shares), &plan)[0];
        let nodes: Vec<_> = estate.sites.iter().map(|site| site.nodes.clone()).collect();
        assert_eq!((nodes, estate.nodes), (vec![0..0, 0..2, 2..3], 6));
    }
}
