use std::time::Instant;
use taipan_frontend::vm::{HostBuilder, Policy, Script, spawn_engine_thread};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let code = spawn_engine_thread("run", move || {
        let t = Instant::now();
        let script = Script::open(&path).unwrap();
        let host = HostBuilder::new(Policy::user()).native_module(taipan_frontend::torch::definition).argv(vec![path]).build().unwrap();
        if std::env::var("TIME").is_ok() {
            eprintln!("host {:?}", t.elapsed());
        }
        let r = host.run(&script);
        host.finish();
        match r {
            Ok(c) => c,
            Err(e) => {
                eprintln!("{e}");
                1
            }
        }
    })
    .unwrap()
    .join()
    .unwrap();
    std::process::exit(code);
}
