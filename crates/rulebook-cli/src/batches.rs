//! Batches: how are the lines of a file of any length processed on several threads?
//!
//! In: the lines, and the work for each.
//! Out: the results, passed on in the order of the lines.
//! Never: reads more than a few batches ahead of the results passed on, however long one takes.

use super::Error;
use rulebook_fs::{InputLine, LineReader};
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::{Mutex, mpsc};

/// How many batches per thread are read ahead of the results passed on.
const BATCHES_AHEAD: usize = 4;
/// The most lines of a batch, and the bytes after which it ends. A batch has several lines because to pass one on costs
/// more than to judge a short answer.
const BATCH: (usize, usize) = (32, 64 << 10);

/// The lines in numbered batches. Each batch is read only with a permit.
struct Feed<R> {
    lines: LineReader<R>,
    permits: mpsc::Receiver<()>,
    number: usize,
}

impl<R: BufRead> Feed<R> {
    /// The next batch; `None` at the end, or when there are no more permits because a result could not be passed on.
    fn next(&mut self) -> io::Result<Option<(usize, Vec<InputLine>)>> {
        if self.permits.recv().is_err() {
            return Ok(None);
        }
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH.0
            && bytes < BATCH.1
            && let Some(line) = self.lines.next_line()?
        {
            bytes += line.bytes.as_ref().map_or(0, Vec::len);
            batch.push(line);
        }
        self.number += 1;
        Ok(Some((self.number, batch)).filter(|(_, batch)| !batch.is_empty()))
    }
}

/// Does `work` for each line on several threads, and passes the results to `take`. Beyond the first few batches, one is
/// read only after an earlier one has been taken.
pub(super) fn each<R: BufRead + Send, T: Send>(
    lines: LineReader<R>,
    jobs: usize,
    work: impl Fn(InputLine) -> Option<T> + Sync,
    mut take: impl FnMut(T) -> Result<(), Error>,
) -> Result<(), Error> {
    let (permit, permits) = mpsc::channel();
    for _ in 0..jobs.saturating_mul(BATCHES_AHEAD) {
        _ = permit.send(());
    }
    let feed = Mutex::new(Feed { lines, permits, number: 0 });
    let next = || feed.lock().map_or(Ok(None), |mut feed| feed.next());
    let job = |done: mpsc::Sender<io::Result<(usize, Vec<T>)>>| {
        loop {
            let batch = match next() {
                Ok(Some((number, batch))) => Ok((number, batch.into_iter().filter_map(&work).collect())),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let failed = batch.is_err();
            if done.send(batch).is_err() || failed {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let (done, results) = mpsc::channel();
        for _ in 0..jobs {
            let done = done.clone();
            scope.spawn(|| job(done));
        }
        drop(done);
        // Dropped when this closure ends for whatever reason: the threads then get no more permits, and stop.
        let permit = permit;
        let mut waiting = BTreeMap::new();
        let mut due = 1;
        for batch in results {
            let (number, batch) = batch.map_err(|error| Error::Failed(format!("cannot read the answers: {error}")))?;
            waiting.insert(number, batch);
            while let Some(batch) = waiting.remove(&due) {
                due += 1;
                batch.into_iter().try_for_each(&mut take)?;
                _ = permit.send(());
            }
        }
        Ok(())
    })
}
