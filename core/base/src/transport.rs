//! The transports that link nodes: one enum and one table, which everything else takes its words from.
//!
//! To add a transport, add an arm to [`Transport`] and a row to [`TRANSPORTS`], and a folder to `core/transport/src/`
//! whose connector has an arm in `connector.rs` there.

use serde::{Deserialize, Serialize};

/// How two nodes are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Transport {
    /// Connections over the network.
    Tcp,
    /// Memory that the nodes of a host share.
    Shm,
    /// Sockets of the host.
    Unix,
}

/// How the first link between two nodes comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// One node dials the other. A connection that breaks is made anew.
    Dialled,
    /// Both nodes inherit what it goes through from the process that starts them. It cannot break, and cannot be made
    /// later.
    Inherited,
}

/// What is said of a transport, and where it can be used.
#[derive(Debug)]
pub struct Row {
    pub transport: Transport,
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as an option of the command line.
    pub help: &'static str,
    /// Whether it links nodes of one host.
    pub within_host: bool,
    /// Whether it links nodes of different hosts: by way of the network, where it can be encrypted and has an address.
    pub between_hosts: bool,
    pub setup: Setup,
}

/// All transports, in the order of the help.
pub static TRANSPORTS: &[Row] = &[
    Row {
        transport: Transport::Tcp,
        name: "tcp",
        help: "TCP connections, also within a host",
        within_host: true,
        between_hosts: true,
        setup: Setup::Dialled,
    },
    Row {
        transport: Transport::Shm,
        name: "shm",
        help: "Shared memory between nodes of one host, TCP between hosts",
        within_host: true,
        between_hosts: false,
        setup: Setup::Inherited,
    },
    Row {
        transport: Transport::Unix,
        name: "unix",
        help: "Unix-domain sockets between nodes of one host, TCP between hosts",
        within_host: true,
        between_hosts: false,
        setup: Setup::Dialled,
    },
];

/// How the nodes of one host are linked. Nodes of different hosts are linked by [`Transport::BETWEEN_HOSTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportChoice {
    /// All by one transport.
    One(Transport),
    /// For tests: every other pair by [`Transport::WITHIN_HOST`], the rest as between hosts.
    Mixed,
}

impl Transport {
    /// What links the nodes of a host unless something else is asked for.
    pub const WITHIN_HOST: Transport = Transport::Shm;
    /// What links nodes of different hosts, and nodes that join later with all others.
    pub const BETWEEN_HOSTS: Transport = Transport::Tcp;

    /// What is said of it.
    ///
    /// # Panics
    /// It has no row, which a test excludes.
    pub fn row(self) -> &'static Row {
        TRANSPORTS.iter().find(|row| row.transport == self).expect("each transport has a row")
    }

    /// Whether its links are connections that one node dials.
    pub fn is_dialled(self) -> bool {
        self.row().setup == Setup::Dialled
    }

    /// Whether its links go through what nodes inherit.
    pub fn is_inherited(self) -> bool {
        self.row().setup == Setup::Inherited
    }
}

impl TransportChoice {
    /// What links these two nodes of a host.
    pub fn between(self, one: u32, other: u32) -> Transport {
        match self {
            TransportChoice::One(transport) => transport,
            TransportChoice::Mixed if (one + other).is_multiple_of(2) => Transport::WITHIN_HOST,
            TransportChoice::Mixed => Transport::BETWEEN_HOSTS,
        }
    }

    /// Whether links of nodes on one host go over the network, some at least.
    pub fn uses_network(self) -> bool {
        match self {
            TransportChoice::One(transport) => transport.row().between_hosts,
            TransportChoice::Mixed => true,
        }
    }
}

impl Default for TransportChoice {
    fn default() -> Self {
        Transport::WITHIN_HOST.into()
    }
}

impl From<Transport> for TransportChoice {
    fn from(transport: Transport) -> Self {
        TransportChoice::One(transport)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transport_has_one_row_and_one_name() {
        for row in TRANSPORTS {
            let such = |is_such: &dyn Fn(&&Row) -> bool| TRANSPORTS.iter().filter(is_such).count();
            assert_eq!(such(&|other| other.transport == row.transport), 1, "rows of {:?}", row.transport);
            assert_eq!(such(&|other| other.name == row.name), 1, "rows named {}", row.name);
            assert!(row.within_host, "a transport is chosen for the nodes of a host");
        }
    }

    #[test]
    fn those_that_are_taken_without_being_chosen_can_do_what_they_are_taken_for() {
        assert!(Transport::BETWEEN_HOSTS.row().between_hosts);
        assert!(Transport::BETWEEN_HOSTS.is_dialled(), "nodes join later");
        assert!(Transport::WITHIN_HOST.row().within_host);
    }

    #[test]
    fn mixed_pairs_agree_on_both_sides() {
        for (one, other) in (0..4).flat_map(|one| (0..4).map(move |other| (one, other))) {
            let mixed = TransportChoice::Mixed;
            assert_eq!(mixed.between(one, other), mixed.between(other, one));
        }
        assert_eq!(
            [1, 2].map(|node| TransportChoice::Mixed.between(0, node)),
            [Transport::Tcp, Transport::Shm]
        );
    }
}
