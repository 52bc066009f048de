//! Any JSON is refused as a session, or is one that can be written, read again and used. `resume_lossy` always returns
//! one.
#![no_main]

mod packs;

use libfuzzer_sys::fuzz_target;
use rulebook::Value;

fuzz_target!(|data: &str| {
    let Ok(stored) = serde_json::from_str::<Value>(data) else { return };
    packs::each(|program, _| {
        let (session, _) = program.resume_lossy(stored.clone());
        let written = serde_json::to_value(&session).expect("a session is JSON");
        let again = program.resume(Value::from(written.clone())).expect("a session that was written can be read");
        assert_eq!(serde_json::to_value(&again).expect("a session is JSON"), written);
        packs::check(&program.run(&session, "<message>Hello</message>"));
        if let Ok(strict) = program.resume(stored.clone()) {
            packs::check(&program.run(&strict, "<message>Hello</message>"));
        }
    });
});
