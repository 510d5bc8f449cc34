//! Raw TCP: non-blocking sockets, both sides polling.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use super::polling::Looks;

/// Small messages written together, and the bytes that a header would take from the limit of each: none has been found to need fewer.
const TOGETHER: u64 = 64;
const HEADER: usize = 32;

/// A connection set up as the runtime's are.
pub struct Tcp {
    socket: TcpStream,
    batch: Vec<u8>,
}

impl Tcp {
    pub fn over(socket: TcpStream) -> io::Result<Tcp> {
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        // The runtime's choice for loopback, since BBR halves large messages there: the limit must have it too.
        if socket.peer_addr()?.ip().is_loopback() {
            rustix::net::sockopt::set_tcp_congestion(&socket, "cubic")
                .or_else(|_| rustix::net::sockopt::set_tcp_congestion(&socket, "reno"))?;
        }
        Ok(Tcp { socket, batch: Vec::new() })
    }

    pub fn has_come(&self) -> bool {
        self.socket.peek(&mut [0]).is_ok()
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let mut looks = Looks::default();
        let mut written = 0;
        while written < bytes.len() {
            written += now(self.socket.write(&bytes[written..]), &mut looks);
        }
    }

    pub fn read(&mut self, room: &mut [u8]) {
        let mut looks = Looks::default();
        let mut read = 0;
        while read < room.len() {
            read += now(self.socket.read(&mut room[read..]), &mut looks);
        }
    }

    pub fn pour(&mut self, messages: u64, bytes: usize) {
        let batch = vec![1; TOGETHER as usize * (bytes + HEADER)];
        for first in (0..messages).step_by(TOGETHER as usize) {
            self.write(&batch[..(messages - first).min(TOGETHER) as usize * (bytes + HEADER)]);
        }
    }

    pub fn drink(&mut self, messages: u64, bytes: usize) {
        self.batch.resize(16 << 10, 0);
        let mut looks = Looks::default();
        let mut left = messages as usize * (bytes + HEADER);
        while left > 0 {
            let room = left.min(self.batch.len());
            left -= now(self.socket.read(&mut self.batch[..room]), &mut looks);
        }
    }
}

/// How much went; nothing if the socket was not ready.
fn now(done: io::Result<usize>, looks: &mut Looks) -> usize {
    match done {
        Ok(0) => panic!("the other process has gone"),
        Ok(bytes) => {
            *looks = Looks::default();
            bytes
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            looks.in_vain();
            0
        }
        Err(error) => panic!("the other process cannot be reached: {error}"),
    }
}
