//! Ports for servers that are started later, or by another process.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// Port of loopback that no other socket gets as long as this value exists: neither a listener on a free port, nor an
/// outgoing connection. A server that names the port can listen on it, also again after it has ended; connections are
/// refused as long as none does.
///
/// For programs under test that cannot report a port of their own choice, and for servers that are started after their
/// clients or restarted ([`Config::listen`](crate::Config::listen)).
///
/// The socket is bound and does not listen. Linux lets one socket listen beside it if that has `SO_REUSEADDR`, which
/// listeners of tokio, the standard library and Go set.
#[derive(Debug)]
pub struct ReservedPort {
    address: SocketAddr,
    _socket: TcpSocket,
}

impl ReservedPort {
    /// Reserves a free port. Needs no runtime.
    ///
    /// # Errors
    /// No port is free, or no file descriptor.
    pub fn new() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        Ok(Self { address: socket.local_addr()?, _socket: socket })
    }

    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn only_a_server_that_names_the_port_gets_it() {
        let reserved: Vec<_> = (0..200).map(|_| ReservedPort::new().unwrap()).collect();
        let ports: HashSet<u16> = reserved.iter().map(ReservedPort::port).collect();
        assert_eq!(ports.len(), reserved.len(), "no port twice");
        assert!(TcpStream::connect(reserved[0].address()).await.is_err(), "refused");
        for _ in 0..2 {
            // Also again, after the server has ended.
            let listener = TcpListener::bind(reserved[0].address()).await.unwrap();
            let (near, far) = tokio::join!(TcpStream::connect(reserved[0].address()), listener.accept());
            near.unwrap();
            far.unwrap();
            assert!(TcpListener::bind(reserved[0].address()).await.is_err(), "one server at a time");
        }
    }
}
