//! Proxy: which messages pass between a client and a server?
//!
//! In: the messages of both sides, one by one.
//! Out: [`Route`]s: the messages to send to each side.
//! Never: reads or writes a stream; lets a call pass that the pack does not permit, or lists a tool that no permit
//! names.

use crate::decision::{self, Decision};
use rulebook::prompt::Export;
use rulebook::{Program, Session, Tools};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

/// The prefix of the ids of the proxy's own requests.
const OWN: &str = "rulebook-";

/// A message for one side.
#[derive(Debug)]
pub(super) enum Route {
    Client(Value),
    Server(Value),
}

/// A request of the proxy itself.
enum Request {
    /// To the server: list its tools.
    List,
    /// To the client: ask a person about this call, which is pending under the id `waits`.
    Confirm { call: Value, waits: String },
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
    is_listed: bool,
    /// Whether the client can ask a person (`elicitation`).
    asks: bool,
    /// The ids of the client's requests for a list of tools.
    lists: BTreeSet<String>,
    /// The proxy's own requests that are not answered yet, and the number of the next one.
    own: BTreeMap<String, Request>,
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
            is_listed: false,
            asks: false,
            lists: BTreeSet::new(),
            own: BTreeMap::new(),
            next: 1,
        }
    }

    /// Whether a message is a call of a tool.
    pub(super) fn is_call(message: &Value) -> bool {
        method(message) == Some("tools/call")
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

    /// The answer to a line that is not JSON.
    pub(super) fn unreadable(&self, why: &str) -> Vec<Route> {
        vec![Route::Client(failure(Value::Null, -32700, &format!("this is not JSON: {why}")))]
    }

    /// The messages that follow from a message of the client.
    pub(super) fn pass_client(&mut self, message: Value) -> Vec<Route> {
        let id = message.get("id").cloned();
        if !message.is_object() {
            let why = "a message is one JSON object; send those of a batch one by one";
            return vec![Route::Client(failure(Value::Null, -32600, why))];
        }
        match (method(&message), id) {
            (Some("tools/call"), Some(id)) => self.call(message, id),
            // A call without an id has no answer, so a refusal could not be reported.
            (Some("tools/call"), None) => self.note("a call without an id is not passed on"),
            (Some("tools/list"), Some(id)) => {
                self.lists.insert(id.to_string());
                vec![Route::Server(message)]
            }
            (Some("initialize"), _) => {
                self.asks = message.pointer("/params/capabilities/elicitation").is_some();
                vec![Route::Server(message)]
            }
            (Some("notifications/initialized"), _) => vec![Route::Server(message), self.list(None)],
            (None, Some(id)) => match id.as_str().and_then(|id| self.own.remove(id)) {
                Some(Request::Confirm { call, waits }) => self.answered(&message, call, &waits),
                Some(Request::List) => Vec::new(),
                None => vec![Route::Server(message)],
            },
            _ => vec![Route::Server(message)],
        }
    }

    /// The messages that follow from a message of the server.
    pub(super) fn pass_server(&mut self, mut message: Value) -> Vec<Route> {
        if !message.is_object() {
            return self.note("a message of the server that is not one JSON object is not passed on");
        }
        if method(&message).is_some() {
            let changed = method(&message) == Some("notifications/tools/list_changed");
            let refreshed = changed.then(|| {
                self.is_listed = false;
                self.tools.clear();
                self.list(None)
            });
            return refreshed.into_iter().chain([Route::Client(message)]).collect();
        }
        let Some(id) = message.get("id").cloned() else { return vec![Route::Client(message)] };
        if let Some(own) = id.as_str().filter(|id| matches!(self.own.get(*id), Some(Request::List))) {
            self.own.remove(own);
            return self.take_page(&mut message);
        }
        let is_list = self.lists.remove(&id.to_string());
        self.is_listed |= is_list && message.pointer("/result/nextCursor").is_none();
        if is_list && let Some(Value::Array(tools)) = message.pointer_mut("/result/tools") {
            // A client may ask for the list before the proxy has received its own, so the proxy learns the tools from
            // this one, too.
            self.learn(tools.clone());
            let permitted = self.permitted();
            tools.retain(|tool| name(tool).is_some_and(|name| permitted.contains(&self.named(name))));
        }
        vec![Route::Client(message)]
    }

    /// Asks the server for a page of its tools; without a cursor, for the first one.
    fn list(&mut self, cursor: Option<&str>) -> Route {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let id = self.own(Request::List);
        Route::Server(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params }))
    }

    /// Reads a page of the server's tools, and asks for the next one if there is one.
    fn take_page(&mut self, message: &mut Value) -> Vec<Route> {
        if let Some(Value::Array(tools)) = message.pointer_mut("/result/tools").map(Value::take) {
            self.learn(tools);
        }
        if let Some(cursor) = message.pointer("/result/nextCursor").and_then(Value::as_str) {
            return vec![self.list(Some(cursor))];
        }
        self.is_listed = true;
        Vec::new()
    }

    /// Adds tools of the server to the program. A tool that is known is replaced.
    fn learn(&mut self, tools: Vec<Value>) {
        for mut tool in tools {
            let Some(own) = name(&tool).map(|name| self.named(name)) else { continue };
            if let Some(name) = tool.get_mut("name") {
                *name = own.clone().into();
            }
            self.tools.retain(|known| name(known) != Some(&own));
            self.tools.push(tool);
        }
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
    fn named(&self, tool: &str) -> String {
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
    fn own(&mut self, request: Request) -> String {
        let id = format!("{OWN}{}-{:016x}", self.next, RandomState::new().hash_one(self.next));
        self.next += 1;
        self.own.insert(id.clone(), request);
        id
    }

    /// Judges a call.
    fn call(&mut self, message: Value, id: Value) -> Vec<Route> {
        let Some(tool) = message.pointer("/params/name").and_then(Value::as_str).map(|tool| self.named(tool)) else {
            return vec![Route::Client(failure(id, -32602, "a call names its tool: `params.name` is a text"))];
        };
        let arguments = message.pointer("/params/arguments").filter(|given| !given.is_null());
        let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
        let (decision, outcome) = decision::judge(&self.program, &self.session, &tool, &arguments);
        let before = std::mem::replace(&mut self.session, outcome.session);
        let mut routes = match decision {
            Decision::Allow(judged) => vec![Route::Server(with_arguments(message, judged))],
            Decision::Deny(why) => vec![Route::Client(refusal(id, &why))],
            Decision::Ask { id: waits, question, .. } if self.asks => vec![self.ask(message, waits, &question)],
            Decision::Ask { question, .. } => {
                // No person can confirm the call, so it does not become pending.
                self.session = before.clone();
                vec![Route::Client(refusal(id, &decision::without_a_person(&question)))]
            }
        };
        routes.extend(self.changed(&before));
        routes
    }

    /// Asks the person about a call that is pending under `waits`.
    fn ask(&mut self, call: Value, waits: String, question: &str) -> Route {
        let own = self.own(Request::Confirm { call, waits });
        let schema = json!({ "type": "object", "properties": {} });
        let params = json!({ "message": question, "requestedSchema": schema });
        Route::Client(json!({ "jsonrpc": "2.0", "id": own, "method": "elicitation/create", "params": params }))
    }

    /// Continues a pending call once a person has answered.
    fn answered(&mut self, answer: &Value, call: Value, waits: &str) -> Vec<Route> {
        let id = call.get("id").cloned().unwrap_or_default();
        let yes = answer.pointer("/result/action").and_then(Value::as_str) == Some("accept");
        let before = self.session.clone();
        let decide = if yes { Program::confirm } else { Program::decline };
        let outcome = decide(&self.program, &self.session, waits);
        let decision = decision::of(&outcome);
        self.session = outcome.session;
        let mut routes = match decision {
            Decision::Allow(judged) if yes => vec![Route::Server(with_arguments(call, judged))],
            Decision::Deny(why) if yes => vec![Route::Client(refusal(id, &why))],
            // The question has changed since.
            Decision::Ask { id: waits, question, .. } if yes => vec![self.ask(call, waits, &question)],
            _ => vec![Route::Client(refusal(id, "not carried out: a person said no"))],
        };
        routes.extend(self.changed(&before));
        routes
    }

    /// The notification that the list of tools has changed, if the mode has.
    fn changed(&self, before: &Session) -> Option<Route> {
        (before.mode != self.session.mode)
            .then(|| Route::Client(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })))
    }
}

fn method(message: &Value) -> Option<&str> {
    message.get("method")?.as_str()
}

fn name(tool: &Value) -> Option<&str> {
    tool.get("name")?.as_str()
}

/// The call with the arguments that were judged. A repair may have changed them.
fn with_arguments(mut call: Value, judged: Value) -> Value {
    if let Some(params) = call.get_mut("params").and_then(Value::as_object_mut) {
        params.insert("arguments".to_owned(), judged);
    }
    call
}

/// The result of a tool that tells a model why the call was not carried out.
fn refusal(id: Value, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": why }], "isError": true } })
}

fn failure(id: Value, code: i64, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}
