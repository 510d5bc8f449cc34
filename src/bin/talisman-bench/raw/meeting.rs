//! How two processes of a job come to a TCP connection of their own: one listens, and says where and what word it wants to hear.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::raw::addresses;

/// How long either waits for the other, and for each address that it tries.
const PATIENCE: Duration = Duration::from_secs(5);
const EACH: Duration = Duration::from_secs(1);
/// Between two looks whether somebody has come.
const LOOK: Duration = Duration::from_millis(1);

/// So many bytes nobody guesses.
type Word = [u8; 16];

/// Where one of the two listens.
pub struct Door {
    listener: TcpListener,
    port: u16,
    word: Word,
}

impl Door {
    /// At all addresses of this host.
    pub fn open() -> io::Result<Door> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let mut word = Word::default();
        getrandom::fill(&mut word).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Door { listener, port, word })
    }

    /// The word, the port, and all addresses of this host, the loopback's last.
    pub fn address(&self) -> String {
        let word: String = self.word.iter().map(|byte| format!("{byte:02x}")).collect();
        let own = addresses::of_this_host().into_iter().chain([IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        let all: Vec<String> = own.map(|address| address.to_string()).collect();
        format!("{word} {} {}", self.port, all.join(" "))
    }

    /// The one who knows the word. Others are not listened to for long.
    pub fn accept(self) -> io::Result<TcpStream> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.listener.accept() {
                Ok((stream, _)) if knows(&stream, &self.word) => return Ok(stream),
                Ok(_stranger) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOK),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(ErrorKind::TimedOut, "nobody has come who knows the word"))
    }
}

fn knows(mut stream: &TcpStream, word: &Word) -> bool {
    let mut said = Word::default();
    let heard = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(EACH)));
    heard.and_then(|()| stream.read_exact(&mut said)).is_ok() && said == *word
}

/// Goes to where a door is, by one of its host's addresses.
pub fn dial(address: &str) -> io::Result<TcpStream> {
    let unreadable =
        || io::Error::new(ErrorKind::InvalidData, format!("`{address}` is no address of a door"));
    let mut words = address.split(' ');
    let word = words.next().and_then(word_of).ok_or_else(unreadable)?;
    let port: u16 = words.next().and_then(|port| port.parse().ok()).ok_or_else(unreadable)?;
    let hosts: Vec<IpAddr> = words.filter_map(|host| host.parse().ok()).collect();
    let mut last = unreadable();
    for host in hosts {
        let met = TcpStream::connect_timeout(&SocketAddr::new(host, port), EACH).and_then(|mut stream| {
            stream.write_all(&word)?;
            Ok(stream)
        });
        match met {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn word_of(text: &str) -> Option<Word> {
    let mut word = Word::default();
    let is_long_enough = text.len() == 2 * word.len() && text.is_ascii();
    for (at, byte) in word.iter_mut().enumerate().filter(|_| is_long_enough) {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    is_long_enough.then_some(word)
}
