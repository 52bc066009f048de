//! Proxy: which messages pass between a client and a server?
//!
//! In: the messages of both sides, one by one.
//! Out: [`Route`]s: the messages to send to each side.
//! Never: reads or writes a stream; lets a call pass that the pack does not permit, or lists a tool that no permit
//! names.

use crate::decision::{self, Decision};
use crate::json_text::with_member;
use crate::mcp::message::{self, CALL};
use rulebook::prompt::Export;
use rulebook::{Program, Session, Tools};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

/// The prefix of the ids of the proxy's own requests.
const OWN: &str = "rulebook-";

/// The maximum number of pages of tools that are read.
const MAX_PAGES: usize = 1_000;

/// A message for one side, as a line of JSON.
#[derive(Debug)]
pub(super) enum Route {
    Client(String),
    Server(String),
}

/// A request of the proxy itself.
enum Request {
    /// To the server: list its tools.
    List,
    /// To the client: ask a person about this call, which is pending under this id.
    Confirm { call: Call, pending_id: String },
    /// To the client: a question about a call that the client has cancelled since.
    Cancelled,
}

/// A call of a tool: its id, and the line with the message.
struct Call {
    id: Value,
    line: String,
}

/// The state of the proxy.
pub(super) struct Proxy {
    /// The program of the pack alone, without the tools of the server.
    pack: Program,
    program: Program,
    session: Session,
    /// The prefix of the server's tools in the pack, such as `mcp__NAME__`; empty without `--name`.
    prefix: String,
    /// The tools that the server has listed so far.
    tools: Vec<Value>,
    /// The number of pages that the proxy has read.
    pages: usize,
    is_listed: bool,
    /// Whether the client can ask a person (`elicitation`).
    can_elicit: bool,
    /// The proxy's own requests that are not answered yet, and the number of the next one.
    requests: BTreeMap<String, Request>,
    next: usize,
}

impl Proxy {
    pub(super) fn new(pack: Program, session: Session, name: Option<&str>) -> Self {
        Self {
            program: pack.clone(),
            pack,
            session,
            prefix: name.map(|name| format!("mcp__{name}__")).unwrap_or_default(),
            tools: Vec::new(),
            pages: 0,
            is_listed: false,
            can_elicit: false,
            requests: BTreeMap::new(),
            next: 1,
        }
    }

    /// Whether a message is a call of a tool.
    pub(super) fn is_call(message: &Value) -> bool {
        method(message) == Some(CALL)
    }

    /// Whether the tools of the server are known.
    pub(super) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Prints a note on standard error; sends no message.
    pub(super) fn note(&self, words: &str) -> Vec<Route> {
        let pen = rulebook_report::Pen::default();
        _ = std::io::Write::write_all(&mut anstream::stderr(), pen.trouble(words).as_bytes());
        Vec::new()
    }

    /// The answer to a line that cannot be read.
    pub(super) fn unreadable(&self, why: &str) -> Vec<Route> {
        vec![Route::Client(failure(Value::Null, -32700, &format!("this is no message: {why}")))]
    }

    /// The messages that follow from a message of the client, with its line.
    pub(super) fn pass_client(&mut self, message: Value, line: String) -> Vec<Route> {
        let id = message.get("id").cloned();
        if let Some(fault) = message::fault(&message).or_else(|| message::fault_of_client(&message)) {
            // The id of an answer is one of the server's.
            let is_answer = message.get("result").or(message.get("error")).is_some();
            let id = id.filter(|_| !is_answer).unwrap_or_default();
            return vec![Route::Client(failure(id, fault.code, &fault.why))];
        }
        match (method(&message), id) {
            (Some(CALL), Some(id)) => self.call(&message, Call { id, line }),
            // A call without an id has no answer, so a refusal could not be reported.
            (Some(CALL), None) => self.note("a call without an id is not passed on"),
            (Some("initialize"), _) => {
                self.can_elicit = message.pointer("/params/capabilities/elicitation").is_some();
                vec![Route::Server(line)]
            }
            (Some("notifications/initialized"), _) => vec![Route::Server(line), self.list(None)],
            (Some("notifications/cancelled"), _) => self.cancelled(&message, line),
            (None, Some(id)) => match id.as_str().and_then(|id| self.requests.remove(id)) {
                Some(Request::Confirm { call, pending_id }) => self.answered(&message, call, &pending_id),
                Some(Request::List | Request::Cancelled) => Vec::new(),
                None => vec![Route::Server(line)],
            },
            _ => vec![Route::Server(line)],
        }
    }

    /// A call that still waits for a person is cancelled here: the server has never seen it.
    fn cancelled(&mut self, message: &Value, line: String) -> Vec<Route> {
        let id = message.pointer("/params/requestId");
        let is_it = |request: &Request| matches!(request, Request::Confirm { call, .. } if Some(&call.id) == id);
        let Some(request) = self.requests.values_mut().find(|request| is_it(request)) else {
            return vec![Route::Server(line)];
        };
        if let Request::Confirm { pending_id, .. } = std::mem::replace(request, Request::Cancelled) {
            self.session = self.program.decline(&self.session, &pending_id).session;
        }
        Vec::new()
    }

    /// The messages that follow from a message of the server, with its line.
    pub(super) fn pass_server(&mut self, mut message: Value, line: String) -> Vec<Route> {
        if let Some(fault) = message::fault(&message) {
            return self.note(&format!("what the server wrote is not passed on: {}", fault.why));
        }
        if method(&message).is_some() {
            let changed = method(&message) == Some("notifications/tools/list_changed");
            let refreshed = changed.then(|| {
                self.is_listed = false;
                self.tools.clear();
                self.pages = 0;
                self.list(None)
            });
            return refreshed.into_iter().chain([Route::Client(line)]).collect();
        }
        let id = message.get("id").and_then(Value::as_str);
        if let Some(id) = id.filter(|id| matches!(self.requests.get(*id), Some(Request::List))).map(str::to_owned) {
            self.requests.remove(&id);
            return self.take_page(&mut message);
        }
        // No other result has tools. The id is not compared: a client might take `2.0` for its `2`.
        let is_last = message.pointer("/result/nextCursor").is_none();
        let Some(Value::Array(tools)) = message.pointer("/result/tools") else { return vec![Route::Client(line)] };
        // A client may ask for the list before the proxy has received its own, so the proxy learns the tools from this
        // one, too.
        self.add(tools.clone());
        self.compile();
        self.is_listed |= is_last;
        let permitted = self.permitted();
        let is_permitted = |tool: &Value| name(tool).is_some_and(|name| permitted.contains(&self.name_in_pack(name)));
        let listed: Vec<bool> = tools.iter().map(is_permitted).collect();
        match with_tools(&line, &listed) {
            Ok(line) => vec![Route::Client(line)],
            Err(error) => self.note(&format!("a list of tools is not passed on: {error}")),
        }
    }

    /// Asks the server for a page of its tools; without a cursor, for the first one.
    fn list(&mut self, cursor: Option<&str>) -> Route {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let id = self.add_request(Request::List);
        Route::Server(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params }).to_string())
    }

    /// Reads a page of the server's tools, and asks for the next one if there is one.
    fn take_page(&mut self, message: &mut Value) -> Vec<Route> {
        if let Some(Value::Array(tools)) = message.pointer_mut("/result/tools").map(Value::take) {
            self.add(tools);
        }
        self.pages += 1;
        let cursor = message.pointer("/result/nextCursor").and_then(Value::as_str);
        if let Some(cursor) = cursor.filter(|_| self.pages < MAX_PAGES) {
            return vec![self.list(Some(cursor))];
        }
        if cursor.is_some() {
            _ = self.note(&format!("the tools of the server have more than {MAX_PAGES} pages: the others are unknown"));
        }
        self.compile();
        self.is_listed = true;
        Vec::new()
    }

    /// Adds tools of the server. A tool that is known is replaced.
    fn add(&mut self, tools: Vec<Value>) {
        for mut tool in tools {
            let Some(name_in_pack) = name(&tool).map(|name| self.name_in_pack(name)) else { continue };
            if let Some(name) = tool.get_mut("name") {
                *name = name_in_pack.clone().into();
            }
            self.tools.retain(|known| name(known) != Some(&name_in_pack));
            self.tools.push(tool);
        }
    }

    /// Gives the program the tools of the server.
    fn compile(&mut self) {
        let list = json!({ "tools": self.tools }).to_string();
        let read = Tools::read(&list);
        let tools = read.value.map(|tools| self.pack.with_tools(&tools));
        let faults: Vec<String> = read.diagnostics.iter().map(|one| one.message.to_string()).collect();
        if !faults.is_empty() {
            self.note(&format!("of the tools of the server: {}", faults.join("; ")));
        }
        if let Some(program) = tools.and_then(|checked| checked.value) {
            self.program = program;
        }
    }

    /// The name of a tool in the pack.
    fn name_in_pack(&self, tool: &str) -> String {
        format!("{}{tool}", self.prefix)
    }

    /// The names of the tools that permits of the mode name.
    fn permitted(&self) -> BTreeSet<String> {
        let exported = self.program.export(&self.session.mode, Export::OpenaiTools, false).value;
        let exported = exported.and_then(|list| serde_json::to_value(list).ok()).unwrap_or_default();
        let name = |tool: &Value| tool.pointer("/function/name").and_then(Value::as_str).map(str::to_owned);
        exported.as_array().into_iter().flatten().filter_map(name).collect()
    }

    /// The id of a request of the proxy. The other side cannot guess it: an answer to a question of the server must not
    /// count as one to a question of the proxy.
    fn add_request(&mut self, request: Request) -> String {
        let id = format!("{OWN}{}-{:016x}", self.next, RandomState::new().hash_one(self.next));
        self.next += 1;
        self.requests.insert(id.clone(), request);
        id
    }

    /// Judges a call.
    fn call(&mut self, message: &Value, call: Call) -> Vec<Route> {
        let Some(tool) = message.pointer("/params/name").and_then(Value::as_str).map(|tool| self.name_in_pack(tool))
        else {
            return vec![Route::Client(failure(call.id, -32602, "a call names its tool: `params.name` is a text"))];
        };
        let arguments = call.arguments().unwrap_or("{}");
        let (decision, outcome) = decision::judge(&self.program, &self.session, &tool, arguments);
        let before = std::mem::replace(&mut self.session, outcome.session);
        // Each call is an answer of its own, but those that a person is being asked about go on waiting.
        for request in self.requests.values() {
            if let Request::Confirm { pending_id, .. } = request
                && let Some(call) = before.pending.get(pending_id)
            {
                self.session.pending.entry(pending_id.clone()).or_insert_with(|| call.clone());
            }
        }
        let mut routes = match decision {
            Decision::Allow(judged) => vec![call.with_arguments(&judged)],
            Decision::Deny(why) => vec![Route::Client(refusal(call.id, &why))],
            Decision::Ask { id: pending_id, question, .. } if self.can_elicit => {
                vec![self.ask(call, pending_id, &question)]
            }
            Decision::Ask { question, .. } => {
                // No person can confirm the call, so it does not become pending.
                self.session = before.clone();
                vec![Route::Client(refusal(call.id, &decision::without_a_person(&question)))]
            }
        };
        routes.extend(self.changed(&before));
        routes
    }

    /// Asks the person about a pending call.
    fn ask(&mut self, call: Call, pending_id: String, question: &str) -> Route {
        let id = self.add_request(Request::Confirm { call, pending_id });
        let schema = json!({ "type": "object", "properties": {} });
        let params = json!({ "message": question, "requestedSchema": schema });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
        Route::Client(message.to_string())
    }

    /// Continues a pending call once a person has answered.
    fn answered(&mut self, answer: &Value, call: Call, pending_id: &str) -> Vec<Route> {
        // An answer with an error is none, whatever result is beside it.
        let is_error = answer.get("error").is_some();
        let yes = !is_error && answer.pointer("/result/action").and_then(Value::as_str) == Some("accept");
        let before = self.session.clone();
        let decide = if yes { Program::confirm } else { Program::decline };
        let outcome = decide(&self.program, &self.session, pending_id);
        let decision = decision::of(&outcome);
        self.session = outcome.session;
        let mut routes = match decision {
            Decision::Allow(judged) if yes => vec![call.with_arguments(&judged)],
            Decision::Deny(why) if yes => vec![Route::Client(refusal(call.id, &why))],
            // The question has changed since.
            Decision::Ask { id: pending_id, question, .. } if yes => vec![self.ask(call, pending_id, &question)],
            _ => vec![Route::Client(refusal(call.id, "not carried out: a person said no"))],
        };
        routes.extend(self.changed(&before));
        routes
    }

    /// The notification that the list of tools has changed, if the mode has.
    fn changed(&self, before: &Session) -> Option<Route> {
        (before.mode != self.session.mode).then(|| {
            Route::Client(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string())
        })
    }
}

impl Call {
    /// The arguments, as they are written; `None` if there are none.
    fn arguments(&self) -> Option<&str> {
        let call: WrittenCall<'_> = serde_json::from_str(&self.line).ok()?;
        call.params.arguments.map(RawValue::get).filter(|written| *written != "null")
    }

    /// The call for the server, with the arguments that were judged. Those that nothing has changed stay as they are
    /// written, with all digits and the order of their members.
    fn with_arguments(self, judged: &Value) -> Route {
        let written = self.arguments().and_then(|written| serde_json::from_str::<Value>(written).ok());
        if written.as_ref() == Some(judged) {
            return Route::Server(self.line);
        }
        match with_member(&self.line, &["params", "arguments"], &judged.to_string()) {
            Ok(line) => Route::Server(line),
            Err(error) => Route::Client(failure(self.id, -32600, &format!("this is no call: {error}"))),
        }
    }
}

/// A call as it was written, of which only the arguments are read.
#[derive(Deserialize)]
struct WrittenCall<'l> {
    #[serde(borrow)]
    params: WrittenParams<'l>,
}

#[derive(Deserialize)]
struct WrittenParams<'l> {
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
}

/// A list of tools as it was written.
#[derive(Deserialize)]
struct WrittenList<'l> {
    #[serde(borrow)]
    result: WrittenTools<'l>,
}

#[derive(Deserialize)]
struct WrittenTools<'l> {
    #[serde(borrow)]
    tools: Vec<&'l RawValue>,
}

/// The list of tools in a line, with only those for which `listed` is true.
fn with_tools(line: &str, listed: &[bool]) -> serde_json::Result<String> {
    let list: WrittenList<'_> = serde_json::from_str(line)?;
    let listed = list.result.tools.iter().zip(listed).filter(|(_, listed)| **listed);
    let tools: Vec<&str> = listed.map(|(tool, _)| tool.get()).collect();
    with_member(line, &["result", "tools"], &format!("[{}]", tools.join(",")))
}

fn method(message: &Value) -> Option<&str> {
    message.get("method")?.as_str()
}

fn name(tool: &Value) -> Option<&str> {
    tool.get("name")?.as_str()
}

/// The result of a tool that tells a model why the call was not carried out.
fn refusal(id: Value, why: &str) -> String {
    let result = json!({ "content": [{ "type": "text", "text": why }], "isError": true });
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn failure(id: Value, code: i64, why: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } }).to_string()
}
