//! `--dashboard ADDRESS`: where a page about the job is served.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// An address as people write it: of this machine alone unless one is said, at a free port with 0.
///
/// # Errors
/// It is no address: what to write.
///
/// ```
/// use talisman_job::options::dashboard::dashboard_address;
///
/// assert_eq!(dashboard_address("8080"), dashboard_address("127.0.0.1:8080"));
/// assert!(dashboard_address("localhost").unwrap_err().contains("127.0.0.1:0"));
/// ```
pub fn dashboard_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| {
        format!("`{text}` is no address with a port; write for example 127.0.0.1:0, or a port alone")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        for (text, address) in [
            (":0", "127.0.0.1:0"),
            ("9000", "127.0.0.1:9000"),
            ("0.0.0.0:9000", "0.0.0.0:9000"),
            ("[::1]:9000", "[::1]:9000"),
        ] {
            assert_eq!(dashboard_address(text), Ok(address.parse().unwrap()));
        }
        for wrong in ["", ":", "70000", "::1", "example:80", "127.0.0.1"] {
            assert!(dashboard_address(wrong).unwrap_err().contains("127.0.0.1:0"), "{wrong}");
        }
    }
}
