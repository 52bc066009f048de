//! `rulebook mcp`: which messages pass between a client and a server of the Model Context Protocol?
//!
//! In: a pack, and the command that starts a server; on standard input the messages of a client, one on each line.
//! Out: on standard output the messages that the client may read; a refusal for each call that is not permitted.
//! Never: passes on a message byte for byte: it is serialized again, so that no two parsers read it in different ways.
//!
//! The transport is `stdio` of the protocol:
//! <https://modelcontextprotocol.io/specification/2025-06-18/basic/transports>.

mod message;
mod proxy;

use super::json_text::rewritten;
use super::session::{SessionArguments, clock};
use super::unique::Unique;
use super::{CommandOutput, Error, Format, OpenedPack, Status};
use proxy::{Proxy, Route};
use rulebook_fs::io_reason;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest message, in bytes.
const MAX_MESSAGE: u64 = 1 << 26;

/// How long a call waits until the server has listed its tools, and how long the server may run after the client has
/// gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often to check whether the server has ended.
const STEP: Duration = Duration::from_millis(10);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  rulebook mcp lamp -- cat < /dev/null\n\nOf the effects of the pack, only changes of the session are carried out; the server carries out the call."
)]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    #[command(flatten)]
    session: SessionArguments,
    /// The tool `read` of the server is `mcp__NAME__read` for the pack, as coding assistants call it
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The command that starts the server, and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<String>,
}

/// The state that the threads of both directions share.
struct Shared {
    proxy: Mutex<Proxy>,
    /// Notified after each message of the server: it may have listed its tools.
    listed: Condvar,
    /// The server's standard input; `None` once the client has gone.
    server: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
}

/// Locks a mutex. If a thread has panicked with the lock, its data is still consistent.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Sends each message to its side. A side that has gone is skipped.
    fn send(&self, routes: Vec<Route>) {
        for route in routes {
            match route {
                Route::Client(message) => _ = write_line(&mut io::stdout().lock(), &message),
                Route::Server(message) => {
                    let mut server = locked(&self.server);
                    let written = server.as_mut().map(|server| write_line(server, &message));
                    if written.is_some_and(|written| written.is_err()) {
                        *server = None;
                    }
                }
            }
        }
    }
}

/// Writes a message anew, so that the other side sees one message on one line, wherever it ends its lines.
fn write_line(to: &mut impl Write, message: &str) -> io::Result<()> {
    to.write_all((rewritten(message)? + "\n").as_bytes())?;
    to.flush()
}

/// Calls `each` for every line up to the end: with its JSON and its text, or with the reason why it is not JSON.
fn lines(from: impl Read, mut each: impl FnMut(Result<(Value, String), String>)) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(MAX_MESSAGE + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(read) if read as u64 > MAX_MESSAGE => {
                each(Err(format!("a message has more than {MAX_MESSAGE} bytes")));
                return;
            }
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => each(match String::from_utf8(line) {
                Ok(line) => {
                    let line = line.trim_end_matches(['\r', '\n']);
                    let message = serde_json::from_str::<Unique>(line).and_then(|_| serde_json::from_str(line));
                    message.map(|message| (message, line.to_owned())).map_err(|error| error.to_string())
                }
                Err(_) => Err("it is not UTF-8".to_owned()),
            }),
        }
    }
}

pub(super) fn mcp(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let format = Format::default();
    let opened = OpenedPack::open_with(&arguments.pack, None, format)?;
    let program = opened.program(format)?.clone();
    let session = arguments.session.open(&program, format, Some(clock()))?;
    let mut server = start(&arguments.server)?;
    let (Some(from_server), to_server) = (server.stdout.take(), server.stdin.take()) else {
        return Err(Error::Failed("the server has no standard output".to_owned()));
    };
    let shared = Arc::new(Shared {
        proxy: Mutex::new(Proxy::new(program, session, arguments.name.as_deref())),
        listed: Condvar::new(),
        server: Mutex::new(to_server),
        child: Mutex::new(server),
    });
    // This thread may block in a read for ever, so it is not joined: the process ends when the server does.
    let of_client = Arc::clone(&shared);
    thread::spawn(move || client(&of_client));
    lines(from_server, |message| {
        let mut proxy = locked(&shared.proxy);
        let routes = match message {
            Ok((message, line)) => proxy.pass_server(message, line),
            Err(why) => proxy.note(&format!("the server wrote what is no message: {why}")),
        };
        drop(proxy);
        shared.listed.notify_all();
        shared.send(routes);
    });
    match ended(&shared) {
        Some(status) if status.success() => Ok(CommandOutput::new(String::new(), Status::Clean)),
        Some(status) => Err(Error::Failed(format!("`{}` ended: {status}", arguments.server.join(" ")))),
        None => Err(Error::Failed(format!("`{}` did not end, and was killed", arguments.server.join(" ")))),
    }
}

/// Passes on the messages of the client, until it has gone.
fn client(shared: &Shared) {
    lines(io::stdin().lock(), |message| {
        let mut proxy = locked(&shared.proxy);
        if message.as_ref().is_ok_and(|(message, _)| Proxy::is_call(message)) {
            let waited = shared.listed.wait_timeout_while(proxy, PATIENCE, |proxy| !proxy.is_listed());
            proxy = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let routes = match message {
            Ok((message, line)) => proxy.pass_client(message, line),
            Err(why) => proxy.unreadable(&why),
        };
        drop(proxy);
        shared.send(routes);
    });
    *locked(&shared.server) = None;
    _ = ended(shared);
}

fn start(command: &[String]) -> Result<Child, Error> {
    let [program, arguments @ ..] = command else {
        return Err(Error::Failed("name the command of the server behind `--`".to_owned()));
    };
    let started = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    started.map_err(|error| Error::Failed(format!("cannot start `{program}`: {}", io_reason(&error))))
}

/// Waits for the end of a server whose input or output is closed. `None` if it did not end and was killed.
fn ended(shared: &Shared) -> Option<ExitStatus> {
    for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
        match locked(&shared.child).try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => {}
            Err(_) => break,
        }
        thread::sleep(STEP);
    }
    let mut child = locked(&shared.child);
    _ = child.kill();
    _ = child.wait();
    None
}
