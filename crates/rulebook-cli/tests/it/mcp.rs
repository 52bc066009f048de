//! The proxy before an MCP server: does only what the pack permits reach the server?

use crate::command::{at_terminal, folder};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const PACK: &str = r#"
[pack]
name = "desk"
[state.reads]
type = "integer"
default = 0
[actions."mcp__box__*"]
[actions.mcp__box__read]
params = { path = { type = "string", required = true }, lines = { type = "integer" }, after = { type = "number" } }
effects = [{ set = "reads", value = "{{ state.reads + 1 }}" }, { go = "writing", when = "state.reads >= 2" }]
[modes.reading]
exits   = ["writing"]
permits = [
    { action = "mcp__box__read", when = "params.path is startingwith('notes/')", advice = "Read below notes/." },
    { action = "mcp__box__drop", confirm = "Drop {{ params.name }}?" },
]
[modes.writing]
final   = true
permits = ["mcp__box__write"]
[degradation]
invalid-payload = ["coerce", "drop"]
"#;

/// A server that notes each line, and lists its tools on two pages.
const SERVER: &str = r#"
while IFS= read -r line; do
  printf '%s\n' "$line" >> server.log
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"capabilities":{"tools":{}}}}\n' "$id" ;;
    *'"method":"odd"'*) printf '{"jsonrpc": "2.0",\r"id":%s,\t"result":{"b":1.50,"a":[1e2, 123456789012345678901234567890]}}\n' "$id" ;;
    *'"cursor":"2"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"drop","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}},{"name":"hidden","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"read","inputSchema":{"type":"object"}},{"name":"write","inputSchema":{"type":"object"}}],"nextCursor":"2"}}\n' "$id" ;;
    *'"method":"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id" ;;
  esac
done
"#;

/// A client of the proxy.
struct Client {
    folder: PathBuf,
    proxy: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn start(name: &str, capabilities: &Value) -> Self {
        let folder = folder(name);
        fs::write(folder.join("pack.toml"), PACK).unwrap();
        fs::write(folder.join("server.sh"), SERVER).unwrap();
        let mut command = at_terminal(&folder, &["mcp", ".", "--name", "box", "--", "sh", "server.sh"]);
        let mut proxy = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (proxy.stdin.take(), BufReader::new(proxy.stdout.take().unwrap()));
        let mut client = Self { folder, proxy, to, from };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities });
        client.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert_eq!(client.next()["id"], 0);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.next_line()).unwrap()
    }

    fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    /// Calls a tool, and returns the next message to the client.
    fn call(&mut self, id: usize, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        self.next()
    }

    fn list(&mut self, cursor: Option<&str>) -> Vec<String> {
        self.send(&json!({ "jsonrpc": "2.0", "id": "l", "method": "tools/list", "params": { "cursor": cursor } }));
        let list = self.next();
        list["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// All that the server saw, once the client has gone.
    fn log(mut self) -> String {
        self.to = None;
        assert!(self.proxy.wait().unwrap().success());
        fs::read_to_string(self.folder.join("server.log")).unwrap()
    }

    /// The calls that the server saw, once the client has gone.
    fn end(self) -> Vec<Value> {
        let log = self.log();
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["method"] == "tools/call").map(|line| line["params"].clone()).collect()
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[cfg(unix)]
#[test]
fn a_client_sees_and_calls_only_what_the_mode_permits() {
    let mut client = Client::start("mcp-permits", &json!({}));
    // The first call waits until the tools of all pages are known.
    let refused = client.call(1, "read", json!({ "path": "/etc/passwd" }));
    assert_eq!(refused["result"]["isError"], true);
    assert!(text(&refused).contains("Read below notes/."), "{refused}");
    assert_eq!((client.list(None), client.list(Some("2"))), (vec!["read".to_owned()], vec!["drop".to_owned()]));
    assert_eq!(text(&client.call(2, "read", json!({ "path": "notes/a", "lines": "3" }))), "done");
    for (tool, arguments) in [("hidden", json!({})), ("write", json!({})), ("nothing", json!({})), ("read", json!([1]))]
    {
        assert_eq!(client.call(3, tool, arguments)["result"]["isError"], true, "{tool}");
    }
    // The server might read a number with more digits than the judged one.
    let far = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"path\":\"notes/a\",\"after\":9007199254740993.0}}}";
    writeln!(client.to.as_mut().unwrap(), "{far}").unwrap();
    assert!(text(&client.next()).contains("`9007199254740993.0` has more digits"));
    // This client cannot ask a person.
    assert!(text(&client.call(4, "drop", json!({ "name": "a" }))).contains("Drop a?"));
    // The second `read` changes the mode, and with it the list of tools.
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "read", "arguments": { "path": "notes/b" } } }));
    let mut both = [client.next(), client.next()];
    both.sort_by_key(|message| message.get("id").is_some());
    assert_eq!(both[0]["method"], "notifications/tools/list_changed");
    assert_eq!(client.list(None), ["write"]);
    // The server gets the coerced arguments.
    let calls = client.end();
    assert_eq!(
        calls,
        [
            json!({ "name": "read", "arguments": { "path": "notes/a", "lines": 3 } }),
            json!({ "name": "read", "arguments": { "path": "notes/b" } })
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_call_waits_for_a_person_where_the_client_can_ask_one() {
    let mut client = Client::start("mcp-asks", &json!({ "elicitation": {} }));
    for (answer, expected) in [("decline", "a person said no"), ("cancel", "a person said no"), ("accept", "done")] {
        let asked = client.call(1, "drop", json!({ "name": "a" }));
        assert_eq!(
            (asked["method"].as_str(), asked["params"]["message"].as_str()),
            (Some("elicitation/create"), Some("Drop a?"))
        );
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": answer, "content": {} } });
        client.send(&answer);
        assert!(text(&client.next()).contains(expected));
        // A second answer of the person has no effect.
        client.send(&answer);
    }
    assert_eq!(client.end(), [json!({ "name": "drop", "arguments": { "name": "a" } })]);
}

#[cfg(unix)]
#[test]
fn only_a_result_that_accepts_is_a_yes() {
    let mut client = Client::start("mcp-no", &json!({ "elicitation": {} }));
    let error = json!({ "code": 1, "message": "no" });
    for answer in [
        json!({ "error": error, "result": { "action": "accept", "content": {} } }),
        json!({ "error": null, "result": { "action": "accept", "content": {} } }),
        json!({ "error": error }),
        json!({ "result": { "action": "Accept" } }),
        json!({ "result": { "action": ["accept"] } }),
        json!({ "result": "accept" }),
    ] {
        let mut answer = answer;
        answer["id"] = client.call(1, "drop", json!({ "name": "a" }))["id"].clone();
        client.send(&answer);
        assert!(text(&client.next()).contains("a person said no"), "{answer}");
    }
    assert!(client.end().is_empty());
}

#[cfg(unix)]
#[test]
fn several_calls_wait_and_one_can_be_cancelled() {
    let mut client = Client::start("mcp-several", &json!({ "elicitation": {} }));
    let asked: Vec<Value> =
        (1..4).map(|id| client.call(id, "drop", json!({ "name": id.to_string() }))["id"].clone()).collect();
    let cancelled = json!({ "requestId": 2 });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    for (id, is_answered) in asked.into_iter().zip([true, false, true]) {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "accept", "content": {} } }));
        assert!(!is_answered || text(&client.next()) == "done");
    }
    let dropped = |name: &str| json!({ "name": "drop", "arguments": { "name": name } });
    assert_eq!(client.end(), [dropped("1"), dropped("3")]);
}

#[cfg(unix)]
#[test]
fn invalid_json_rpc_messages_are_not_forwarded() {
    let mut client = Client::start("mcp-broken", &json!({}));
    let wrong = [
        ("no JSON", -32700),
        ("[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\"}]", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {}}", -32602),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": [\"tools/call\"], \"params\": {}}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/Call\", \"params\": {}}", -32601),
        // A server might be lenient about names.
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call \", \"params\": {}}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"\\ttools/call\", \"params\": {}}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools\\u0000/call\", \"params\": {}}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"toolſ/call\", \"params\": {}}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tоols/call\", \"params\": {}}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"Method\": \"tools/call\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"Method\": \"tools/call\", \"params\": {}}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"paramſ\": {}}", -32600),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"read\", \"Name\": \"hidden\", \"arguments\": {\"path\": \"notes/a\"}}}",
            -32602,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"read\", \"arguments\": {\"path\": \"notes/a\"}, \"Arguments\": {}}}",
            -32602,
        ),
        // It is a request or an answer, but not both or neither.
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"result\": {}}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1}", -32600),
        // The server might use the first of two values.
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"method\": \"ping\"}", -32700),
    ];
    for (line, code) in wrong {
        writeln!(client.to.as_mut().unwrap(), "{line}").unwrap();
        assert_eq!(client.next()["error"]["code"], code);
    }
    client.send(&json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "read", "arguments": { "path": "notes/a" } } }));
    assert!(client.end().is_empty());
}

/// Some servers end a line at each `\r`, or at a separator of Unicode: what is between two of them would be a
/// message that nobody has judged.
#[cfg(unix)]
#[test]
fn each_message_is_written_anew_on_one_line_with_its_numbers_and_its_order() {
    let mut client = Client::start("mcp-anew", &json!({}));
    let inner = "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"hidden\"}}";
    for line in [
        format!("{{\"jsonrpc\": \"2.0\", \"id\": 7, \"meth\\u006fd\": \"odd\", \"params\": {{\"x\": [\r{inner}\r], \"e\": \"\u{2028}\u{85}\"}}}}"),
        "{\"method\": \"tools/call\",\r\"params\": {\"_meta\": {\"z\": 1.50, \"y\": 123456789012345678901234567890},\r\"name\": \"read\", \"arguments\": {\"path\":\r\"notes/\\u0061\", \"lines\": \"3\"}}, \"id\": 8}".to_owned(),
        "{\"method\": \"tools/call\", \"params\": {\"name\": \"read\", \"arguments\": {\"path\": \"notes/b\",\r\"lines\": 3}}, \"id\": 9}".to_owned(),
    ] {
        writeln!(client.to.as_mut().unwrap(), "{line}").unwrap();
    }
    let odd = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"b\":1.50,\"a\":[1e2,123456789012345678901234567890]}}\n";
    let messages: Vec<String> = (0..4).map(|_| client.next_line()).collect();
    assert!(messages.iter().any(|message| message == odd), "{messages:?}");
    let log = client.log();
    let expected = [
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"odd\",\"params\":{{\"x\":[{inner}],\"e\":\"\\u2028\\u0085\"}}}}"),
        "{\"method\":\"tools/call\",\"params\":{\"_meta\":{\"z\":1.50,\"y\":123456789012345678901234567890},\"name\":\"read\",\"arguments\":{\"lines\":3,\"path\":\"notes/a\"}},\"id\":8}".to_owned(),
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"path\":\"notes/b\",\"lines\":3}},\"id\":9}".to_owned(),
    ];
    for line in expected {
        assert!(log.lines().any(|own| own == line), "{line}\n{log}");
    }
    assert!(!log.contains('\r'), "{log}");
}
