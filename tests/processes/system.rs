//! What the system knows of processes, and the rights that these tests have.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, socket_with, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal};

/// The children of a process, the oldest first.
pub fn children(pid: i32) -> Vec<i32> {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) else { return Vec::new() };
    text.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// All processes with this in their environment. One that has ended has none.
pub fn marked(variable: &str) -> Vec<i32> {
    processes().filter(|pid| is_marked(*pid, variable)).collect()
}

/// Whether a process has this in its environment.
pub fn is_marked(pid: i32, variable: &str) -> bool {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    // Most of the machine's processes have it nowhere, which is seen without looking at their variables one by one.
    text.contains(variable) && text.split('\0').any(|known| known == variable)
}

/// All processes with such a variable in their environment.
pub fn marked_by(is_it: impl Fn(&str) -> bool) -> Vec<i32> {
    processes().filter(|pid| environment(*pid).iter().any(|known| is_it(known))).collect()
}

/// All of the machine.
fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The environment of a process, as others see it.
pub fn environment(pid: i32) -> Vec<String> {
    words(&format!("/proc/{pid}/environ"))
}

/// The arguments of a process, as others see them.
pub fn arguments(pid: i32) -> Vec<String> {
    words(&format!("/proc/{pid}/cmdline"))
}

fn words(file: &str) -> Vec<String> {
    let bytes = fs::read(file).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Sends a signal to a process of ours, which may be gone.
pub fn signal(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).expect("it is the id of a process");
    let _ = rustix::process::kill_process(pid, signal);
}

/// The letter of its state: `T` if it is stopped.
pub fn state(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.trim_start().chars().next()
}

/// A number of `/proc/PID/status`, in its unit: `VmHWM` in KiB.
pub fn status(pid: i32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How many descriptors it has.
pub fn descriptors(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// A TCP socket of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Its descriptor there.
    pub number: i32,
    pub address: SocketAddr,
    pub listens: bool,
    pub connected: bool,
}

/// All TCP sockets of a process.
pub fn sockets(pid: i32) -> Vec<Socket> {
    let numbers = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |number: &str| {
        let target = fs::read_link(format!("/proc/{pid}/fd/{number}")).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
    };
    let table = fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let rows: Vec<(u64, SocketAddr, String)> = table.lines().skip(1).filter_map(row).collect();
    let of = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.to_owned();
        let inode = inode(&number)?;
        let (_, address, state) = rows.iter().find(|(known, ..)| *known == inode)?;
        let number = number.parse().ok()?;
        Some(Socket { number, address: *address, listens: state == "0A", connected: state == "01" })
    };
    numbers.filter_map(of).collect()
}

/// Inode, local address and state of a line of `/proc/net/tcp`.
fn row(line: &str) -> Option<(u64, SocketAddr, String)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (address, port) = fields.get(1)?.split_once(':')?;
    let address = Ipv4Addr::from(u32::from_str_radix(address, 16).ok()?.swap_bytes());
    let port = u16::from_str_radix(port, 16).ok()?;
    let inode = fields.get(9)?.parse().ok()?;
    Some((inode, SocketAddr::new(IpAddr::V4(address), port), fields.get(3)?.to_string()))
}

/// A descriptor of another process, as our own.
pub fn take_descriptor(pid: i32, number: i32) -> rustix::io::Result<OwnedFd> {
    let process = rustix::process::pidfd_open(Pid::from_raw(pid).expect("a process"), PidfdFlags::empty())?;
    rustix::process::pidfd_getfd(process.as_fd(), number, PidfdGetfdFlags::empty())
}

/// To change other processes' mounts and sockets.
pub fn rights() -> Option<String> {
    static MAY: OnceLock<bool> = OnceLock::new();
    let may = || {
        let mut unshare = Command::new("unshare");
        let unshare = unshare.args(["--mount", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
        rustix::process::geteuid().is_root() && unshare.status().is_ok_and(|status| status.success())
    };
    (!MAY.get_or_init(may))
        .then(|| "only root may change other processes' mounts and connections, or hear what they say".into())
}

/// Hears all that is said over loopback.
pub struct Sniffer(OwnedFd);

/// What a node said at first to a port, packet by packet.
pub type FirstWords = (SocketAddr, Vec<Vec<u8>>);

impl Sniffer {
    pub fn new() -> Sniffer {
        // All of IPv4, in the byte order of the network.
        let protocol = std::num::NonZero::new(u32::from(0x0800u16.to_be())).map(Protocol::from_raw);
        let socket = socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::NONBLOCK, protocol);
        let socket = socket.expect("root may listen to packets");
        sockopt::set_socket_recv_buffer_size_force(&socket, 64 << 20).expect("root may have much memory");
        Sniffer(socket)
    }

    /// What was said since then by those who connected to these ports, of each only its first few packets.
    pub fn first_words(&self, ports: &[SocketAddr]) -> Vec<FirstWords> {
        let mut all: Vec<(SocketAddr, SocketAddr, u32, Vec<Vec<u8>>)> = Vec::new();
        self.hear(|from, to, sequence, said| {
            if !ports.contains(&to) || said.is_empty() {
                return;
            }
            match all.iter_mut().find(|known| (known.0, known.1) == (from, to)) {
                // Each packet is seen twice: as it leaves, and as it arrives.
                Some((.., last, words)) if sequence.wrapping_sub(*last) as i32 > 0 && words.len() < 3 => {
                    *last = sequence;
                    words.push(said.to_vec());
                }
                Some(_) => {}
                None => all.push((from, to, sequence, vec![said.to_vec()])),
            }
        });
        all.into_iter().map(|(_, to, _, words)| (to, words)).collect()
    }

    /// How many bytes were said since then to or from these ports, and whether this was among them.
    pub fn has_heard(&self, ports: &[SocketAddr], text: &[u8]) -> (usize, bool) {
        let (mut bytes, mut found) = (0, false);
        self.hear(|from, to, _, said| {
            if ports.contains(&to) || ports.contains(&from) {
                bytes += said.len();
                found |= said.windows(text.len()).any(|part| part == text);
            }
        });
        (bytes, found)
    }

    fn hear(&self, mut f: impl FnMut(SocketAddr, SocketAddr, u32, &[u8])) {
        let mut bytes = vec![0; 128 << 10];
        while let Ok((length, _)) = rustix::net::recv(&self.0, &mut bytes[..], RecvFlags::DONTWAIT) {
            if let Some((from, to, sequence, said)) = packet(&bytes[..length]) {
                f(from, to, sequence, said);
            }
        }
    }
}

/// Sender, receiver, sequence number and contents of a TCP packet.
fn packet(bytes: &[u8]) -> Option<(SocketAddr, SocketAddr, u32, &[u8])> {
    let ip_length = usize::from(bytes.first()? & 15) * 4;
    let tcp = bytes.get(ip_length..)?;
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(at..at + 4)?).ok()?));
    let port = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
    if bytes.get(9) != Some(&6) {
        return None;
    }
    let (from, to) = ((address(12)?, port(0)?).into(), (address(16)?, port(2)?).into());
    let sequence = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
    Some((from, to, sequence, tcp.get(usize::from(tcp.get(12)? >> 4) * 4..)?))
}
