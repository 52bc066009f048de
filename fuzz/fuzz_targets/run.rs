//! Any bytes have an outcome, in every mode of every pack, and the ledger adds up to their number.
#![no_main]

mod packs;

use libfuzzer_sys::fuzz_target;
use rulebook::Options;

fuzz_target!(|response: &[u8]| {
    packs::each(|program, session| packs::check(&program.run_with(session, response, &Options::default())));
});
