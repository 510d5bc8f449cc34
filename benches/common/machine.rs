//! The machine that modelled benchmarks and predictions run on: a cluster that there is not. Its parameters are stated, not measured.

use talisman::simulation::{Machine, Way};

/// Hosts of one node each, with one core, on a 100 Gbit/s network with switches: 2 µs between hosts, of which the wire and switches
/// have most, and 12.5 GB/s for each host in each direction.
pub fn machine() -> Machine {
    let way = Way {
        send_ns: 300.0,
        send_ns_per_byte: 0.05,
        receive_ns: 300.0,
        receive_ns_per_byte: 0.05,
        latency_ns: 2_000.0,
        line_ns_per_byte: 0.08,
    };
    Machine {
        nodes_per_host: 1,
        cores_per_host: 1,
        cores: Vec::new(),
        run_ns: 60.0,
        within: Way { send_ns: 20.0, receive_ns: 20.0, latency_ns: 100.0, ..Way::default() },
        near: Way { latency_ns: 300.0, line_ns_per_byte: 0.0, ..way },
        far: way,
        slice_ns: 1_000_000,
        wake_ns: 0,
    }
}
