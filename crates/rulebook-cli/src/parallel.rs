//! Parallel work: how are these items processed on all cores?
//!
//! In: items, and the work for each.
//! Out: the results, in the order of the items; after two seconds a progress bar on the terminal.
//! Never: lets the order of the work affect the results.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// After this time, the progress bar appears.
const PATIENCE: Duration = Duration::from_secs(2);

/// Does `work` for each item; `what` names the items on the progress bar.
pub(super) fn each<T: Sync, R: Send>(what: &'static str, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {eta} left");
    let bar = ProgressBar::with_draw_target(Some(items.len() as u64), ProgressDrawTarget::hidden())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what);
    let next = AtomicUsize::new(0);
    let job = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return done };
            done.push((number, work(item)));
            bar.inc(1);
            if bar.is_hidden() && bar.elapsed() > PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    };
    let jobs = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(items.len());
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(job)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|fault| resume_unwind(fault))).collect()
    });
    bar.finish_and_clear();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}
