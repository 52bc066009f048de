//! Any text is refused as a message of a provider, or is judged by every pack, with every byte in the ledger.
#![no_main]

mod packs;

use libfuzzer_sys::fuzz_target;
use rulebook::{Options, Provider, Reply};

fuzz_target!(|data: &str| {
    for provider in Provider::ALL {
        let Ok(reply) = Reply::read(provider, data).into_result() else { continue };
        packs::each(|program, session| packs::check(&program.judge(session, &reply, &Options::default())));
    }
});
