//! Transport quinn: wire quic, what echo and stream put on a TCP connection on streams of QUIC, by quinn on
//! tokio.

use netdyno_kit::flow::{Work, FEATURES};
use netdyno_kit::net::{connect_failure, listen_addresses, listen_failure, routes, Allowed, Route, PATIENCE};
use netdyno_kit::{driving, json, serving, Alarm, Client, Failure, Kind, Load, Program, Server, Setup, Transport, Value};
use netdyno_kit_tokio::{drive, runtime_option, serve, verify, Engine};
use netdyno_requests::{Acceptor, Connector};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, Incoming, RecvStream, SendStream, ServerConfig, TokioRuntime, TransportConfig, VarInt};
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::future::Future;
use std::task::Poll;
use tokio::io::Join;
use tokio::net::UdpSocket;

const PROTOCOL: &str = "netdyno";

struct Quinn;

impl Transport for Quinn {
    fn describe(&self) -> Value {
        let size = |name: &str, doc: &str| {
            json!({"name": name, "type": "bytes", "unit": "B", "default": 0, "min": 0, "max": 1i64 << 30, "doc": format!("{doc}; 0 is quinn's default")})
        };
        json!({"name": "quinn", "doc": "QUIC by quinn on tokio, a stream for each slot", "wire": "quic", "roles": ["server", "client"],
            "delivery": "chunks", "codecs": ["bytes"], "encrypted": true, "udp": true,
            "features": ([&["tls"], &FEATURES[..]].concat()),
            "options": [runtime_option(), size("stream_window", "a stream's window"), size("connection_window", "a connection's window"),
                {"name": "max_streams", "type": "int", "default": 100, "min": 1, "max": 1 << 20, "roles": ["server"], "doc": "most streams of a client on a connection"},
                {"name": "gso", "type": "bool", "default": true, "grid": ["true", "false"], "doc": "several datagrams in a send (UDP_SEGMENT)"}]})
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let (work, engine, allowed) = (Work::new(setup)?, Engine::new(setup)?, Allowed::new(setup)?);
        let config = server_config(setup)?;
        let mut addresses = Vec::new();
        for (i, address) in listen_addresses(setup)?.into_iter().enumerate() {
            let config = config.clone();
            let endpoint = engine.block(i, async move { Endpoint::server(config, address) })?.map_err(|e| listen_failure(address, &e))?;
            addresses.push(endpoint.local_addr()?.to_string());
            let allowed = allowed.clone();
            engine.spawn(i, async move {
                while let Some(incoming) = endpoint.accept().await {
                    if allowed.admits(incoming.remote_address().ip()) {
                        tokio::spawn(attend(incoming, work, engine.alarm(i)));
                    } else {
                        incoming.refuse();
                    }
                }
            });
        }
        Ok(serving(json!({"addresses": addresses}), || work.counts()))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (work, engine, load) = (Work::new(setup)?, Engine::new(setup)?, Load::new(setup)?);
        let (routes, config) = (routes(setup)?, client_config(setup)?);
        let n = routes.len();
        let lines: &'static [Mutex<Option<Line>>] = Box::leak((0..n).map(|_| Mutex::new(None)).collect());
        engine.open(n, |i| {
            let (route, config) = (routes[i], config.clone());
            async move {
                let line = open(i, n, route, config, work, load).await?;
                *lines[i].lock().unwrap_or_else(|e| e.into_inner()) = Some(line);
                Ok(())
            }
        })?;
        load.open_connections.store(n as i64, Relaxed);
        let streams = load.active() * load.plan().in_flight as usize;
        let take = |i: usize| lines[i].lock().unwrap_or_else(|e| e.into_inner()).as_mut().and_then(|l| l.streams.pop());
        let run = move || engine.run_slots(load, |i, slot| {
            let stream = take(i);
            async move {
                let Some(mut stream) = stream else { return Ok(()) };
                let ended = drive(&mut stream, work, std::slice::from_ref(slot), load, engine.alarm(i)).await;
                if let (Ok(()), Some(line)) = (&ended, lines[i].lock().unwrap_or_else(|e| e.into_inner()).as_mut()) {
                    line.streams.push(stream); // open until the process ends
                }
                ended
            }
        });
        Ok(Box::new(driving(load, run).having_verified((streams + n - load.active()) as i64)))
    }
}

fn transport(setup: &Setup) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    let given = |option: &str| Some(setup.int(option) as u32).filter(|n| *n > 0).map(VarInt::from_u32);
    given("stream_window").map(|n| config.stream_receive_window(n));
    given("connection_window").map(|n| config.receive_window(n));
    given("max_streams").map(|n| config.max_concurrent_bidi_streams(n));
    config.enable_segmentation_offload(setup.flag("gso"));
    config.keep_alive_interval(Some(std::time::Duration::from_secs(10))); // idle connections stay
    Arc::new(config)
}

fn refused(e: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::Setup, format!("prepare QUIC's TLS: {e}"))
}

fn server_config(setup: &Setup) -> Result<ServerConfig, Failure> {
    let tls = Acceptor::config(setup, PROTOCOL)?.ok_or_else(|| refused("setup.tls is absent"))?;
    let crypto = QuicServerConfig::try_from(tls).map_err(refused)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport(setup));
    Ok(config)
}

fn client_config(setup: &Setup) -> Result<ClientConfig, Failure> {
    let tls = Connector::config(setup, PROTOCOL)?.ok_or_else(|| refused("setup.tls is absent"))?;
    let crypto = QuicClientConfig::try_from(tls).map_err(refused)?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport(setup));
    Ok(config)
}

/// Serves a connection: each of its streams by a task.
async fn attend(incoming: Incoming, work: &'static Work, alarm: &'static Alarm) {
    let Ok(connection) = incoming.await else { return };
    while let Ok((send, receive)) = connection.accept_bi().await {
        let connection = connection.clone();
        tokio::spawn(async move {
            let mut stream = tokio::io::join(receive, send);
            serve(&mut stream, work, alarm).await;
            // Who sends what it may not is left, as on TCP.
            let (_, mut send) = stream.into_inner();
            if send.finish().is_err() {
                connection.close(VarInt::from_u32(1), b"the stream broke");
            }
        });
    }
}

type Stream = Join<RecvStream, SendStream>;

/// A connection of a client, with a stream for each slot.
struct Line {
    _endpoint: Endpoint,
    _connection: Connection,
    streams: Vec<Stream>,
}

/// Ends when the kernel says that nothing listens there, which it tells connected sockets alone: quinn's are
/// not. A server drops the byte that it gets.
async fn nothing_listens(route: Route) {
    let own = SocketAddr::new(route.source.unwrap_or(if route.peer.is_ipv4() { [0, 0, 0, 0].into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() }), 0);
    let asked = async {
        let socket = UdpSocket::bind(own).await?;
        socket.connect(route.peer).await?;
        socket.send(&[0]).await?;
        socket.recv(&mut [0; 8]).await
    };
    match asked.await {
        Err(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {}
        _ => std::future::pending().await,
    }
}

/// Closes a connection whose datagrams go where nothing listens any more: quinn does not hear of it.
async fn watch(connection: Connection, route: Route) {
    let (mut came, mut went) = (0, 0);
    while connection.close_reason().is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
        let stats = connection.stats();
        let silent = stats.udp_rx.datagrams == came && stats.udp_tx.datagrams > went;
        if stats.udp_rx.datagrams > came {
            (came, went) = (stats.udp_rx.datagrams, stats.udp_tx.datagrams);
        }
        let probing = tokio::time::timeout(std::time::Duration::from_millis(100), nothing_listens(route));
        if silent && probing.await.is_ok() {
            connection.close(VarInt::from_u32(1), b"nothing listens there");
        }
    }
}

async fn open(i: usize, of: usize, route: Route, config: ClientConfig, work: &'static Work, load: &'static Load) -> Result<Line, Failure> {
    let failed = |e: &dyn std::fmt::Display, kind| Failure::new(kind, format!("connect {} of {of} to {}: {e}", i + 1, route.peer));
    let any = if route.peer.is_ipv4() { [0, 0, 0, 0].into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    // A connected socket, as each connection has one: the kernel tells it when nothing listens any more.
    let refused = |e| connect_failure(i, of, &route, &e);
    let socket = std::net::UdpSocket::bind(SocketAddr::new(route.source.unwrap_or(any), 0)).map_err(refused)?;
    socket.connect(route.peer).map_err(refused)?;
    let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime)).map_err(refused)?;
    let connecting = endpoint.connect_with(config, route.peer, &route.peer.ip().to_string()).map_err(|e| failed(&e, Kind::Setup))?;
    let (mut connecting, mut probing) = (std::pin::pin!(connecting), std::pin::pin!(nothing_listens(route)));
    let first = std::future::poll_fn(|cx| {
        if probing.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(failed(&"connection refused: nothing listens there", Kind::Peer)));
        }
        connecting.as_mut().poll(cx).map(Ok)
    });
    let within = tokio::time::timeout(std::time::Duration::from_secs(5), first).await;
    let silent = "no datagram comes back: nothing speaks QUIC there, or something drops UDP";
    let connection = within.map_err(|_| failed(&silent, Kind::Timeout))??.map_err(|e| failed(&e, Kind::Peer))?;
    tokio::spawn(watch(connection.clone(), route));
    let mut streams = Vec::new();
    for _ in 0..load.slots(i).len().max(1) {
        let within = tokio::time::timeout(PATIENCE, connection.open_bi()).await;
        let few = "the server does not take as many streams as exchanges in flight; raise opt.server.max_streams";
        let (send, receive) = within.map_err(|_| failed(&few, Kind::Setup))?.map_err(|e| failed(&e, Kind::Peer))?;
        let mut stream = tokio::io::join(receive, send);
        verify(&mut stream, work, i, load.first(i).up).await?;
        streams.push(stream);
    }
    Ok(Line { _endpoint: endpoint, _connection: connection, streams })
}

static WORKER: Program = Program {
    name: "netdyno-worker-quinn",
    version: env!("CARGO_PKG_VERSION"),
    libraries: &[("quinn", "0.11.12"), ("tokio", "1.54.1"), ("rustls", "0.23")],
    transports: &[&Quinn],
};

fn main() {
    WORKER.main()
}
