//! Transport tokio: TCP by tokio's TcpStream, a task for each connection. Wires echo and stream.

use netdyno_kit::flow::{describe, ClientFlow, ServerFlow, Work};
use netdyno_kit::net::{addresses_of, listen, Allowed};
use netdyno_kit::{json, Client, Counts, Failure, Load, Program, Server, Setup, Transport, Value};
use netdyno_kit_tokio::{drive, runtime_option, serve, Engine};
use tokio::net::TcpStream;

struct Tokio;

impl Transport for Tokio {
    fn describe(&self) -> Value {
        describe(json!({"name": "tokio", "doc": "tokio's TcpStream, a task per connection",
            "options": [runtime_option(), {"name": "read_buffer", "type": "bytes", "unit": "B", "default": 0, "min": 0, "max": 64 << 20,
                "grid": ["4KiB", "64KiB", "256KiB"],
                "doc": "read buffer of each connection; 0 takes the size of what comes within 4 KiB (client: 512 B) and 64 KiB (streams: 128 KiB)"}]}))
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let (work, engine, buffer) = begin(setup)?;
        let listeners = listen(setup)?;
        let ready = json!({"addresses": addresses_of(&listeners), "options": {"runtime": setup.text("runtime"), "read_buffer": buffer}});
        engine.accept(listeners, Allowed::new(setup)?, move |mut stream| async move {
            serve(&mut stream, ServerFlow::new(work), buffer).await;
        })?;
        Ok(Box::new(End { work, ready }))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (work, engine, buffer) = begin(setup)?;
        let load = Load::new(setup)?;
        let conns = work.connect(setup, load)?;
        Ok(Box::new(Ends { work, engine, load, buffer, conns }))
    }
}

fn begin(setup: &Setup) -> Result<(&'static Work, &'static Engine, usize), Failure> {
    let work = Work::new(setup)?;
    let buffer = match setup.int("read_buffer") {
        0 => work.buffer(setup.is_server()),
        n => n as usize,
    };
    Ok((work, Engine::new(setup)?, buffer))
}

struct End {
    work: &'static Work,
    ready: Value,
}

impl Server for End {
    fn ready(&self) -> Value {
        self.ready.clone()
    }
    fn counts(&self) -> Counts {
        self.work.counts()
    }
}

struct Ends {
    work: &'static Work,
    engine: &'static Engine,
    load: &'static Load,
    buffer: usize,
    conns: Vec<std::net::TcpStream>,
}

impl Client for Ends {
    fn load(&self) -> &'static Load {
        self.load
    }

    fn run(&mut self) -> Result<(), Failure> {
        let (work, engine, load, buffer) = (self.work, self.engine, self.load, self.buffer);
        let mut active = self.conns.drain(..load.active()).collect::<Vec<_>>().into_iter();
        let kept: &'static _ = Box::leak(Box::new(std::sync::Mutex::new(Vec::new()))); // open until the process ends
        engine.run(load, |i| {
            let conn = active.next();
            async move {
                let Some(conn) = conn else { return Ok(()) };
                conn.set_nonblocking(true)?;
                let mut stream = TcpStream::from_std(conn)?;
                let ended = drive(&mut stream, ClientFlow::new(work, load.slots(i)), load, engine.alarm(i), buffer).await;
                if ended.is_ok() {
                    kept.lock().unwrap_or_else(|e| e.into_inner()).push(stream);
                }
                ended
            }
        })
    }
}

static WORKER: Program = Program {
    name: "netdyno-worker-tokio",
    version: env!("CARGO_PKG_VERSION"),
    libraries: &[("tokio", "1.54.1")],
    transports: &[&Tokio],
};

fn main() {
    WORKER.main()
}
