//! A whole worker: transport mine on wires echo and stream, by std's sockets, a thread for each connection.

use netdyno_kit::blocking::{able, accept, run, serve};
use netdyno_kit::flow::Work;
use netdyno_kit::net::{addresses_of, listen, Allowed};
use netdyno_kit::{json, Client, Counts, Failure, Load, Program, Server, Setup, Transport, Value};
use std::net::TcpStream;

struct Mine;

impl Transport for Mine {
    fn describe(&self) -> Value {
        json!({"name": "mine", "doc": "Blocking sockets, a thread per connection", "wire": "echo", "roles": ["server", "client"],
            "delivery": "chunks", "codecs": ["bytes"], "features": ["stream-up", "stream-down", "sizes", "arrivals"], "options": []})
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let (work, allowed, listeners) = (Work::new(setup)?, Allowed::new(setup)?, listen(setup)?);
        let addresses = addresses_of(&listeners);
        for listener in listeners {
            accept(listener, allowed.clone(), move |conn| drop(serve(conn, work)));
        }
        Ok(Box::new(MyServer { work, addresses }))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (work, load) = (Work::new(setup)?, Load::new(setup)?);
        able(work, load)?;
        let conns = work.connect(setup, load)?;
        Ok(Box::new(MyClient { work, load, conns }))
    }
}

struct MyServer {
    work: &'static Work,
    addresses: Vec<String>,
}

impl Server for MyServer {
    fn ready(&self) -> Value {
        json!({"addresses": self.addresses})
    }

    fn counts(&self) -> Counts {
        self.work.counts()
    }
}

struct MyClient {
    work: &'static Work,
    load: &'static Load,
    conns: Vec<TcpStream>,
}

impl Client for MyClient {
    fn load(&self) -> &'static Load {
        self.load
    }

    fn run(&mut self) -> Result<(), Failure> {
        run(&mut self.conns, self.work, self.load)
    }
}

static WORKER: Program = Program { name: "netdyno-worker-mine", version: "0.1.0", libraries: &[], transports: &[&Mine] };

fn main() {
    WORKER.main()
}
