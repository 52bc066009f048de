//! The host's view: what can an application ask of a program?
//!
//! In: a pack, loaded; sessions, answers, the words of a user.
//! Out: every method of [`Program`] for hosts, in the order in which a host needs them.
//! Never: does the work: each method calls the module that does.

use crate::diagnostic::{Checked, Diagnostic, Faults};
use crate::outcome::{Heard, Miss, Options, Outcome, Prompt, Reader};
use crate::program::{Limits, Program};
use crate::prompt::{Export, Request, Turn};
use crate::provider::Reply;
use crate::session::Session;
use crate::surface::{Folder, Tools};
use crate::value::Value;

impl Program {
    /// Reads, checks and compiles a pack. One run finds all faults; there is never a partial program.
    ///
    /// Schemas and patterns are compiled on first use; `rulebook check` compiles all schemas.
    ///
    /// ```
    /// use rulebook::{Folder, Program};
    ///
    /// let pack = r#"
    /// [pack]
    /// name = "greeter"
    /// [dialects.plain]
    /// grammar = "tags"
    /// blocks.message = { role = "message" }
    /// "#;
    /// let program = Program::load(&Folder::new("greeter", [("pack.toml", pack)])).value.unwrap();
    /// let outcome = program.run(&program.session(), "<message>Hello!</message>");
    /// assert_eq!(outcome.message, "Hello!");
    /// ```
    pub fn load(folder: &Folder) -> Checked<Program> {
        Self::load_folder(folder)
    }

    /// This program with other limits. Values that are too large are reduced to what is possible: see [`Limits`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits.granted();
        self
    }

    /// This program, for a host with these tools.
    ///
    /// A tool with the name of an action is that action, with the parameters that the action declares, or those of the
    /// tool if the action declares none. A table whose name is a pattern, such as `[actions."mcp__*"]`, declares every
    /// tool whose name matches it. A tool that no table declares is unknown: a call of it has no effect, even in a mode
    /// that permits `*`. A name that matches a pattern, but is not among these tools, is unknown as well.
    ///
    /// If its tools change, a host calls this again on the program that [`Program::load`] returned; the pack is not
    /// compiled again. Texts of tools are values in prompts, never markup. A tool whose name or schema cannot be used
    /// is left out, with a finding.
    #[must_use]
    pub fn with_tools(&self, tools: &Tools) -> Checked<Program> {
        self.compile_tools(tools)
    }

    /// The name of the pack.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version of the pack, if it declares one. A host may store it with its sessions.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The names of the modes, in the order of declaration.
    pub fn modes(&self) -> impl Iterator<Item = &str> {
        self.mode_names()
    }

    /// The names of the actions, in the order of declaration.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.action_names()
    }

    /// A new session: the start mode, and the initial value of everything.
    #[must_use]
    pub fn session(&self) -> Session {
        self.first_session()
    }

    /// A session that a host has stored as `{ "mode", "state", "now", "ids", "pending", "resolved" }`. Missing values get their
    /// initial values, and computed values are computed again.
    ///
    /// # Errors
    ///
    /// `pack/session-misfit` for a mode or a value that the pack does not have, and for each value that is not valid
    /// against its schema.
    pub fn resume(&self, stored: impl Into<Value>) -> Result<Session, Faults> {
        self.resume_whole(stored)
    }

    /// The same as [`Program::resume`], for a session that may be older than the pack. A value that is not valid is
    /// replaced by its initial value, and a mode that the pack no longer has by the start mode. A diagnostic reports
    /// each of these.
    ///
    /// ```
    /// use rulebook::{Folder, Program, Value};
    /// use serde_json::json;
    ///
    /// let pack = r#"
    /// [pack]
    /// name = "desk"
    /// [dialects.tagged]
    /// grammar = "tags"
    /// blocks  = { message = { role = "message" } }
    /// [state]
    /// notes = { type = "array", default = [] }
    /// turns = { type = "integer", default = 0 }
    /// "#;
    /// let program = Program::load(&Folder::new("desk", [("pack.toml", pack)])).into_result()?;
    /// let stored_json = json!({ "state": { "notes": ["Tea"], "turns": "three", "reader": "Ada" } });
    /// assert!(program.resume(&stored_json).is_err());
    ///
    /// let (session, found) = program.resume_lossy(&stored_json);
    /// assert_eq!(Value::from(&session.state), json!({ "notes": ["Tea"], "turns": 0 }));
    /// assert_eq!(found.len(), 2);
    /// assert!(found.iter().any(|fault| fault.message == "the pack's state has no `reader`"));
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    pub fn resume_lossy(&self, stored: impl Into<Value>) -> (Session, Vec<Diagnostic>) {
        self.resume_what_is_valid(stored)
    }

    /// Assembles what a model reads next. If it cannot be sent, there are no messages, and an error gives the reason.
    #[must_use]
    pub fn prompt(&self, session: &Session, request: &Request) -> Prompt {
        self.assemble_prompt(session, request)
    }

    /// The value of the parameter `what` of an API request, for answers in the mode `name`, and a diagnostic for each
    /// rule that it cannot express; an error if the pack does not have the mode. With `strict`, it keeps to the subset
    /// of JSON Schema that servers enforce while a model writes.
    pub fn export(&self, name: &str, what: Export, strict: bool) -> Checked<Value> {
        self.export_for_api(name, what, strict)
    }

    /// Reads and judges one response. Any `response` gives an outcome.
    #[must_use]
    pub fn run(&self, session: &Session, response: &str) -> Outcome {
        self.judge_text(session, response)
    }

    /// The same as [`Program::run`] with options, for bytes that may not be UTF-8.
    #[must_use]
    pub fn run_with(&self, session: &Session, response: &[u8], options: &Options) -> Outcome {
        self.judge_bytes(session, response, options)
    }

    /// Starts to read a response that arrives in pieces. [`Reader::new`] does the same for a host that has program and
    /// reader in one struct.
    #[must_use]
    pub fn reader(&self, session: &Session, options: &Options) -> Reader<&Program> {
        Reader::new(self, session, options)
    }

    /// Reads and judges a reply that has parts: texts, reasoning and native tool calls. Any reply gives an outcome.
    ///
    /// The texts are read by the dialects of the mode; a text in which none of them finds anything is the message. The
    /// arguments of a call are read like a JSON payload, and the call is judged like one that is written in the text,
    /// so that both have the same outcome. Effects follow the order of the parts.
    ///
    /// A place in the outcome names its part: 0 is the text, `n` the arguments of the `n`-th call; the pieces of
    /// reasoning follow. The ledger counts the bytes of all parts.
    #[must_use]
    pub fn judge(&self, session: &Session, reply: &Reply, options: &Options) -> Outcome {
        self.judge_reply(session, reply, options)
    }

    /// Carries out a pending call: a person has confirmed the request `id` of [`Session::pending`].
    ///
    /// The call is judged again, by the current mode and state of the session: if it is no longer permitted, it has no
    /// effect. Its parameters are those that the model gave. In any case the session of the outcome no longer has the
    /// request, so that it counts once; other requests stay pending. Rules on `reply` do not run, and `reply` in an
    /// effect has this call alone. If no call waits under `id`, the outcome is refused, and a finding says so.
    ///
    /// ```
    /// use rulebook::{Folder, Program, Provider, Reply, outcome::Verdict};
    ///
    /// let pack = r#"
    /// [pack]
    /// name = "desk"
    /// [actions.refund]
    /// params  = { amount = { type = "number", required = true } }
    /// effects = [{ emit = "refund", value = "{{ params.amount }}" }]
    /// [modes.chat]
    /// permits = [{ action = "refund", confirm = "Refund {{ params.amount }}?" }]
    /// "#;
    /// let program = Program::load(&Folder::new("desk", [("pack.toml", pack)])).into_result()?;
    /// let answer = r#"{"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
    ///     "function": {"name": "refund", "arguments": "{\"amount\": 5}"}}]}"#;
    /// let reply = Reply::read(Provider::Openai, answer).into_result()?;
    /// let asked = program.judge(&program.session(), &reply, &Default::default());
    /// assert_eq!(asked.calls[0].verdict, Verdict::Pending);
    /// assert_eq!(asked.session.pending["p-1"].question, "Refund 5?");
    /// assert!(asked.effects.is_empty());
    ///
    /// let done = program.confirm(&asked.session, "p-1");
    /// assert_eq!(done.calls[0].id.as_deref(), Some("call_1"));
    /// assert_eq!(done.effects.len(), 1);
    /// assert!(program.confirm(&done.session, "p-1").effects.is_empty());
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    #[must_use]
    pub fn confirm(&self, session: &Session, id: &str) -> Outcome {
        self.resolve_pending(session, id, true, &Options::default())
    }

    /// Removes a pending call: a person has declined the request `id` of [`Session::pending`]. The call is dropped with
    /// a finding, so that [`Outcome::tool_results`] answers it. If no call waits under `id`, the outcome is refused,
    /// and a finding says so.
    #[must_use]
    pub fn decline(&self, session: &Session, id: &str) -> Outcome {
        self.resolve_pending(session, id, false, &Options::default())
    }

    /// The outcome of an answer whose effects do not apply to the files as they are: a text to replace is not in its
    /// file, or occurs several times, or the file does not exist. A host that carries out edits first checks whether
    /// all of them apply. If one does not, it carries out none of them, and rejects the outcome.
    ///
    /// `session` is the one before the answer, and is also the session of the new outcome; `options` are those of the
    /// run. The answer is refused, or the model is asked again, by the pack's strategies for `edit-not-found`,
    /// `edit-ambiguous` and `edit-conflict`. [`Outcome::tool_results`] then gives the reason to the call that asked for
    /// the edit.
    ///
    /// ```
    /// # use rulebook::{Folder, Program, Options};
    /// # use rulebook::outcome::{FileLines, Miss, MissKind, Status};
    /// # let pack = r#"
    /// # [pack]
    /// # name = "editor"
    /// # [dialects.tags]
    /// # grammar = "tags"
    /// # blocks = { edit = { role = "call", name = "edit", payload = "tags" } }
    /// # [actions.edit]
    /// # params = { path = { type = "string" }, old = { type = "string" }, new = { type = "string" } }
    /// # effects = [{ edit = "{{ params.path }}", find = "{{ params.old }}", put = "{{ params.new }}" }]
    /// # [modes.code]
    /// # permits = ["edit"]
    /// # [degradation]
    /// # edit-not-found = "ask-again"
    /// # "#;
    /// # let program = Program::load(&Folder::new("editor", [("pack.toml", pack)])).into_result()?;
    /// let session = program.session();
    /// let answer = "<edit><path>a.txt</path><old>teh</old><new>the</new></edit>";
    /// let outcome = program.run(&session, answer);
    /// let similar = FileLines { line: 7, text: "Then the end.".to_owned() };
    /// let miss = Miss { effect: 0, kind: MissKind::NotFound, at: vec![similar] };
    /// let outcome = program.reject(&session, outcome, &[miss], &Options::default());
    /// assert_eq!(outcome.status, Status::Refused);
    /// assert!(outcome.effects.is_empty());
    /// assert!(outcome.ask_again.unwrap().contains("Then the end."));
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    #[must_use]
    pub fn reject(&self, session: &Session, outcome: Outcome, misses: &[Miss], options: &Options) -> Outcome {
        self.reject_misses(session, outcome, misses, options)
    }

    /// Starts a session: what follows before the first message. Of the options, only `trace` has an effect.
    #[must_use]
    pub fn start(&self, session: &Session, options: &Options) -> Heard {
        self.start_session(session, options)
    }

    /// Classifies the message of a user, and returns what follows from it. Any `text` gives a result. Of the options,
    /// only `trace` has an effect.
    ///
    /// ```
    /// # use rulebook::{Folder, Program};
    /// # let pack = r#"
    /// # [pack]
    /// # name = "x"
    /// # [dialects.d]
    /// # grammar = "tags"
    /// # blocks.message = { role = "message" }
    /// # [[inputs]]
    /// # class = "thanks"
    /// # matches = '(?i)\bthank'
    /// # ask = "welcome"
    /// # [messages.welcome]
    /// # says = "You are welcome."
    /// # "#;
    /// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).value.unwrap();
    /// let heard = program.hear(&program.session(), "Thanks a lot", &Default::default());
    /// assert_eq!(heard.class.as_deref(), Some("thanks"));
    /// assert_eq!(heard.say, ["You are welcome."]);
    /// ```
    #[must_use]
    pub fn hear(&self, session: &Session, text: &str, options: &Options) -> Heard {
        self.hear_message(session, text, options)
    }

    /// The turn for an answer of which only the text is left, whole or without its markup. It is read in the session's
    /// mode, or else in the first mode whose dialects find a block in it. A text without any block is a message.
    ///
    /// A host that has the outcome uses [`Turn::answer`], which reads nothing.
    ///
    /// ```
    /// use rulebook::prompt::Turn;
    /// # use rulebook::{Folder, Program};
    /// # let pack = "[pack]\nname = \"x\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = { thinking = { role = \"thinking\" }, message = { role = \"message\" } }";
    /// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).into_result()?;
    /// let (session, answer) = (program.session(), "<thinking>Sly.</thinking><message>Hello.</message>");
    ///
    /// let turn = program.turn(&session, answer);
    /// assert_eq!(turn.content, "Hello.");
    /// assert_eq!(turn, Turn::answer(&program.run(&session, answer)));
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    #[must_use]
    pub fn turn(&self, session: &Session, answer: &str) -> Turn {
        self.turn_of_text(session, answer)
    }
}

impl Checked<Program> {
    /// The program for a host with these tools, with the findings about both; see [`Program::with_tools`].
    #[doc(hidden)]
    #[must_use]
    pub fn with_tools(mut self, tools: &Tools) -> Self {
        let Some(program) = self.value else { return self };
        let with_tools = program.with_tools(tools);
        self.diagnostics.extend(with_tools.diagnostics);
        Self { value: with_tools.value, diagnostics: self.diagnostics, sources: with_tools.sources }
    }
}
