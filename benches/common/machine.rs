//! The machine that modelled benchmarks run on.

use talisman::simulation::{Machine, Way};

/// Hosts of one core on a fast network; the figures are stated, not measured.
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
        near: way,
        far: way,
        slice_ns: 1_000_000,
        wake_ns: 0,
    }
}
