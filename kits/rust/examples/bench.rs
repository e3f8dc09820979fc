//! What `next` and `done` take together, in ns, in a closed and in an open loop: the least of some rounds.

use netdyno_kit::{json, now, Load, Setup};

fn main() {
    for (name, plan) in [("closed loop", json!({"connections": 1})), ("open loop", json!({"connections": 1, "rate": 1e9}))] {
        let setup = json!({"role": "client", "seed": 1, "load": plan, "exchange": {"up_bytes": 100, "down_bytes": 100}});
        let setup: Setup = serde_json::from_value(setup).expect("a setup");
        let load = Load::new(&setup).expect("a load");
        load.start(now());
        load.open(now());
        let slot = &load.slots(0)[0];
        const EACH: i64 = 200_000;
        let mut rounds: Vec<f64> = (0..30)
            .map(|_| {
                let from = now();
                for i in 0..EACH {
                    let sent = slot.next(from + i).unwrap_or(0);
                    slot.goes_out();
                    slot.done(sent, from + i + 20_000, 100);
                }
                (now() - from) as f64 / EACH as f64
            })
            .collect();
        rounds.sort_by(f64::total_cmp);
        println!("{name}: next + done take {:.1} ns (median of 30 rounds; {:.1} to {:.1})", rounds[15], rounds[0], rounds[29]);
    }
}
