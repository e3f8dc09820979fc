//! A whole worker: transport mine on wires echo and stream, by std's sockets, a thread for each connection.

use netdyno_kit::blocking::{able, accept, run, serve};
use netdyno_kit::flow::{describe, Work, FEATURES};
use netdyno_kit::net::{addresses_of, listen, Allowed};
use netdyno_kit::{driving, json, serving, Client, Failure, Load, Program, Server, Setup, Transport, Value};

struct Mine;

impl Transport for Mine {
    fn describe(&self) -> Value {
        describe(json!({"name": "mine", "doc": "Blocking sockets, a thread per connection", "features": FEATURES[1..], "options": []}))
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let (work, allowed, listeners) = (Work::new(setup)?, Allowed::new(setup)?, listen(setup)?);
        let ready = json!({"addresses": addresses_of(&listeners)});
        for listener in listeners {
            accept(listener, allowed.clone(), move |conn| drop(serve(conn, work)));
        }
        Ok(serving(ready, || work.counts()))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (work, load) = (Work::new(setup)?, Load::new(setup)?);
        able(work, load)?;
        let mut conns = work.connect(setup, load)?;
        Ok(Box::new(driving(load, move || {
            let ended = run(&mut conns, work, load);
            std::mem::forget(conns); // open until the process ends
            ended
        })))
    }
}

static WORKER: Program = Program { name: "netdyno-worker-mine", version: "0.1.0", libraries: &[], transports: &[&Mine] };

fn main() {
    WORKER.main()
}
