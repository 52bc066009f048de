//! WebAssembly: does the engine come to the same outcomes where pointers have 32 bits and nothing but memory is there?
//!
//! In: a suite, as a text in memory.
//! Out: its outcomes, as a text in memory.
//! Never: imports anything from its host.

#[path = "../../host/src/outcomes.rs"]
mod outcomes;

/// Room for a text of this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    Box::leak(vec![0_u8; bytes].into_boxed_slice()).as_mut_ptr()
}

/// The outcomes of the suite of `bytes` bytes at `suite`: the upper half of the result is where the text is, the lower
/// half how long it is. Nothing is freed: the host drops the whole memory.
///
/// # Safety
///
/// `suite` comes from [`room`], for as many bytes, all of which have been written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outcomes(suite: *const u8, bytes: usize) -> u64 {
    // SAFETY: that is what the caller must grant.
    let suite = unsafe { std::slice::from_raw_parts(suite, bytes) };
    let suite = std::str::from_utf8(suite).expect("a suite is UTF-8");
    let text = outcomes::of_suite(suite).expect("a suite is JSON").leak();
    ((text.as_ptr() as u64) << 32) | text.len() as u64
}

/// A seed for hash tables. It is always the same, because no outcome may depend on it.
///
/// # Safety
///
/// There are `bytes` bytes at `seed` that may be written.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(seed: *mut u8, bytes: usize) -> Result<(), getrandom::Error> {
    // SAFETY: that is what `getrandom` grants.
    unsafe { std::ptr::write_bytes(seed, 42, bytes) };
    Ok(())
}
