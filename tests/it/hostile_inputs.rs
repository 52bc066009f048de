//! Hostile inputs: which texts make a naive reader quadratic, exhaust a stack, or fill the memory?
//!
//! Shared by the tests of limits, the test of peak memory and the bench of time per byte.

#![allow(dead_code, reason = "each of its users takes what it needs")]

/// A hostile input: its name, and a function that makes a text of about `size` bytes.
pub(crate) type Input = (&'static str, fn(usize) -> String);

/// Every hostile input.
pub(crate) const INPUTS: &[Input] = &[
    ("nothing but <", |size| "<".repeat(size)),
    ("openers without an end", |size| repeat("<action ", size)),
    ("unclosed actions", |size| repeat("<action type=\"x\">", size)),
    ("openers in an attribute that nothing closes", |size| repeat("<b title=\"<action type='x'/>", size)),
    ("openers in attributes on one line", |size| repeat("<b title=\"<action type='x'/>\">x</b> ", size)),
    ("openers in unclosed attributes of a message", |size| {
        format!("<message>{}</message>", repeat("<b title=\"<action type='x'/> <b title='", size))
    }),
    ("unclosed fields", |size| format!("<action type=\"x\">{}", repeat("<a>", size))),
    ("unclosed fields, then the closer", |size| format!("<action type=\"x\">{}</action>", repeat("<a>", size))),
    ("unclosed fields, no two alike", |size| {
        let fields: String = (0..size / 8).map(|number| format!("<f{number:x}>")).collect();
        format!("<action type=\"x\">{fields}</action>")
    }),
    ("fields, no two alike", |size| {
        let fields: String = (0..size / 20).map(|number| format!("<f{number:x}>1</f{number:x}>")).collect();
        format!("<action type=\"query_notebook\">{fields}</action>")
    }),
    ("closers without an end", |size| format!("<action type=\"x\">{}", repeat("</action a='b' ", size))),
    ("closers in attributes of closers", |size| {
        format!("<action type=\"x\">{}", repeat("</action a='</action ' b=\"</action\" ", size))
    }),
    ("a closer that never ends", |size| format!("<action type=\"x\"></action{}", repeat(" a='</action '", size))),
    ("unclosed actions with unclosed fields", |size| repeat("<action type=\"x\"><a>", size)),
    ("actions in the fields of an action", |size| {
        format!("<action type=\"x\">{}</action>", repeat("<a><action type=\"y\">1</action></a>", size))
    }),
    ("actions in fields of actions", |size| {
        format!("{}{}", repeat("<action type=\"x\"><a>", size * 3 / 5), repeat("</a></action>", size * 2 / 5))
    }),
    ("closers before their fields", |size| {
        format!("<action type=\"x\">{}{}</action>", repeat("</a>", size / 2), repeat("<a>", size / 2))
    }),
    ("tags", |size| repeat("[ACTION_X]", size)),
    ("tags and braces", |size| repeat("[ACTION_X]{", size)),
    ("tags and open strings", |size| repeat("[ACTION_X]{\"", size)),
    ("tags behind fences, and open strings", |size| repeat("```\n[ACTION_X]{\"", size)),
    ("bold tags and braces", |size| repeat("**[ACTION_X]{", size)),
    ("marks of quoted lines in one line", |size| repeat("> x ", size)),
    ("a tag and braces", |size| format!("[ACTION_X]{}", "{".repeat(size))),
    ("tags and more braces than are followed", |size| repeat(&format!("[ACTION_X]{}", "{".repeat(90)), size)),
    ("tags and more braces than are followed, closed", |size| {
        repeat(&format!("[ACTION_X]{}{}", "{".repeat(90), "}".repeat(90)), size)
    }),
    ("a tag and brackets", |size| format!("[ACTION_X]{{\"a\":{}", "[".repeat(size))),
    ("a tag and nested objects", |size| {
        format!("[ACTION_X]{}1{}", repeat("{\"a\":", size * 5 / 6), "}".repeat(size / 6))
    }),
    ("a tag and nested lists", |size| format!("[ACTION_X]{{\"a\":{}{}}}", "[".repeat(size / 2), "]".repeat(size / 2))),
    ("a tag and blanks", |size| format!("[ACTION_X]{}", " ".repeat(size))),
    ("a tag, a brace and blank lines", |size| {
        format!("[ACTION_X]{{{}", repeat(" \n", size).replace(" \n \n", " x\n x\n"))
    }),
    ("a tag and a list", |size| format!("[ACTION_INGEST_DOC]{{\"a\":[{}0]}}", repeat("0,", size))),
    ("a tag and a lenient list", |size| format!("[ACTION_INGEST_DOC]{{\"a\":[{}0,]}}", repeat("0,", size))),
    ("a tag and many keys", |size| {
        let keys: Vec<String> = (0..size / 12).map(|number| format!("\"k{number:x}\":0")).collect();
        format!("[ACTION_INGEST_DOC]{{{}}}", keys.join(","))
    }),
    ("a tag and one key", |size| format!("[ACTION_INGEST_DOC]{{{}\"k\":0}}", repeat("\"k\":0,", size))),
    ("a tag and escapes", |size| format!("[ACTION_X]{{\"a\":\"{}\"}}", repeat("\\\"", size))),
    ("quotes that close no key", |size| {
        format!("\"course_of_action\": {}", repeat("\\\"### Files Updated This Cycle:\n", size))
    }),
    ("one long name", |size| "M".repeat(size)),
    ("names without a label", |size| repeat("Maya Chen ", size)),
    ("a label without an end", |size| format!("Maya Chen ({}", "x".repeat(size))),
    ("labels without an end", |size| repeat("Maya Chen (\n", size)),
    ("speakers in a line", |size| repeat("Maya Chen (BA): ", size)),
    ("speakers", |size| repeat("Maya Chen (BA): \n", size)),
    ("blank lines before a speaker", |size| format!("{}Maya Chen (BA): x", " \n".repeat(size / 2))),
    ("braces", |size| "{".repeat(size)),
    ("brackets", |size| "[".repeat(size)),
    ("braces in an action", |size| format!("<action type=\"x\">{}</action>", "{".repeat(size))),
    ("brackets in an action", |size| format!("<action type=\"x\">{}</action>", "[".repeat(size))),
    ("actions and open strings", |size| repeat("<action type=x>{\"", size)),
    ("actions and open strings of both kinds", |size| repeat("<action type=x>{\"<action type=x>{'", size)),
    ("a string that never closes, and actions", |size| {
        format!("<action type=x>{{\"a\": \"{}", repeat("<action type=x>", size))
    }),
    ("actions in the strings of an action", |size| {
        format!("<action type=x>[{}0]</action>", repeat("\"<action type=x></action>\",", size))
    }),
    ("actions and attributes that never close", |size| repeat("<action type=x><a b=\"", size)),
    ("attributes that never close in an action", |size| format!("<action type=x>{}", repeat("<a b='<c d=\"", size))),
    ("a list in an action", |size| {
        format!("<action type=\"query_notebook\">{{\"a\":[{}0]}}</action>", repeat("0,", size))
    }),
    ("a list that breaks off in an action", |size| {
        format!("<action type=\"query_notebook\">{{\"a\":[{}</action>", repeat("0,", size))
    }),
    ("comments in an action", |size| format!("<action type=\"query_notebook\">{{{}</action>", repeat("/*x*/", size))),
    ("words between commas", |size| {
        format!(
            "<action type=\"start_tournament\"><passage>p</passage><agents>{}</agents></action>",
            repeat("a,", size)
        )
    }),
    ("one field many times", |size| {
        format!("<action type=\"start_tournament\"><passage>p</passage>{}</action>", repeat("<agents>a</agents>", size))
    }),
    ("nested fields", |size| {
        let (open, close) = (repeat("<a>", size / 2), repeat("</a>", size / 2));
        format!("<action type=\"write_template\"><template>theme</template><content>{open}{close}</content></action>")
    }),
    ("double quotes", |size| "\"".repeat(size)),
    ("single quotes", |size| "'".repeat(size)),
    ("quotes in openers", |size| repeat("<message a=\"", size)),
    ("crossing quotes in openers", |size| repeat("<message a=\"'<action b='\">", size)),
    ("an opener that never ends", |size| format!("<message {}", repeat("a='b' ", size))),
    ("attributes", |size| format!("<message {}>x</message>", repeat("a=b ", size))),
    ("attributes, no two alike", |size| {
        let attributes: String = (0..size / 10).map(|number| format!(" a{number:x}=1")).collect();
        format!("<message{attributes}>x</message>")
    }),
    ("openers in an attribute", |size| format!("<message a=\"{}\">", repeat("<message>", size))),
    ("backticks", |size| "`".repeat(size)),
    ("tildes", |size| "~".repeat(size)),
    ("backticks of all lengths, falling", |size| runs(size, true)),
    ("backticks of all lengths, rising", |size| runs(size, false)),
    ("code spans that never close", |size| repeat("` `` ", size)),
    ("fences", |size| repeat("```\n", size)),
    ("fences with words", |size| repeat("```a\n", size)),
    ("fences of all lengths", |size| runs(size, true).replace(' ', "\n")),
    ("fences of both kinds", |size| repeat("```a\n~~~b\n", size)),
    ("runs for fences in one line", |size| repeat("```)", size)),
    ("reasoning whose end does not count", |size| format!("assistantanalysis{}", repeat(" assistantfinal ", size))),
    ("braces behind quotes", |size| repeat("\"}\\\"message\": {", size)),
    ("a fence on one line", |size| format!("```{}", "x".repeat(size))),
    ("a fence that never closes, and openers", |size| format!("```\n{}", repeat("<message>\n", size))),
    ("openers in a fence", |size| format!("x\n```\n{}```\n", repeat("<message>\n", size))),
    ("openers in code spans", |size| repeat("`<message>` ", size)),
    ("openers in lines of one code span", |size| format!("`{}`", repeat("<message>\n", size))),
    ("blank lines", |size| "\n".repeat(size)),
    ("blank lines in a message", |size| format!("<message>{}", "\n".repeat(size))),
    ("blanks", |size| " ".repeat(size)),
    ("blanks in a message", |size| format!("<message>x{}", " ".repeat(size))),
    ("calls", |size| repeat("<action type=\"run_health_check\"/>", size)),
    ("calls that fit", |size| {
        repeat("<action type=\"query_notebook\"><notebook_id>n</notebook_id><query>q</query></action>\n", size)
    }),
    ("tagged calls that fit", |size| {
        repeat("[ACTION_CREATE_CRITIQUE_PAGE]{\"page\":{\"title\":\"t\",\"content\":\"c\"}}\n", size)
    }),
    ("calls in a message", |size| {
        format!("<message>{}</message>", repeat("<action type=\"run_health_check\"/>x", size))
    }),
    ("unclosed calls in a message", |size| format!("<message>{}</message>", repeat("<action type=\"x\">", size))),
    ("alternating unclosed blocks", |size| repeat("<message><thinking>", size)),
    ("alternating unclosed blocks of three kinds", |size| repeat("<message><content_update><action>", size)),
    ("openers in thinking", |size| format!("<thinking>{}</thinking>", repeat("<message>", size))),
    ("openers in content", |size| format!("<content_update target=a>{}</content_update>", repeat("<action>", size))),
    ("closers", |size| repeat("</message>", size)),
    ("closers of actions", |size| repeat("</action>", size)),
    ("closers in a message", |size| format!("<message>{}", repeat("</action>", size))),
    ("messages", |size| repeat("<message>x</message>", size)),
    ("messages and stray text", |size| repeat("<message>x</message>y", size)),
    ("nested messages and actions", |size| {
        format!("{}{}", repeat("<message><action>", size / 2), repeat("</action></message>", size / 2))
    }),
    ("entities", |size| format!("<message>{}</message>", repeat("&lt;", size))),
    ("ampersands", |size| format!("<message>{}</message>", "&".repeat(size))),
    ("entities that trip a guardrail", |size| {
        format!("<message>{}It seems perhaps maybe</message>", repeat("&amp;", size))
    }),
    ("an unbound tag", |size| repeat("<messages>", size)),
    ("names that go on", |size| format!("<message{}", "e".repeat(size))),
    ("one line", |size| repeat("All happy families are alike; ", size)),
    ("one line in a message", |size| {
        format!("<message>{}</message>", repeat("She felt that it was, perhaps, suddenly. ", size))
    }),
    ("openers of files", |size| repeat("<file path=\"a.ts\">\n", size)),
    ("openers of files, no two alike", |size| {
        (0..size / 24).map(|number| format!("<file path=\"{number:x}.ts\">\n")).collect()
    }),
    ("one file many times", |size| repeat("<file path=\"a.ts\">\nx\n</file>\n", size)),
    ("files, each twice", |size| {
        let files: String =
            (0..size / 70).map(|number| format!("<file path=\"{number:x}.ts\">\nx\n</file>\n")).collect();
        files.repeat(2)
    }),
    ("loose closers in a file", |size| format!("<file path=\"a.ts\">\n{}", repeat("x</file>", size))),
    ("loose closers in lines of a file", |size| format!("<file path=\"a.ts\">\n{}", repeat("x</file>\n", size))),
    ("loose closers in a summary", |size| format!("<summary>\n{}", repeat("x</summary>\n", size))),
    ("closers of paths in a file", |size| format!("<file path=\"a.ts\">\n{}", repeat("</a/b.ts>\n", size))),
    ("closers of files", |size| repeat("</file>", size)),
    ("closers of files, fences and rules", |size| {
        format!("<file path=\"a.ts\">\n</file>\n{}", repeat("</file>\n```\n***\n", size))
    }),
    ("paths", |size| repeat("<src/a.ts>\n", size)),
    ("paths on one line", |size| repeat("<src/a.ts>", size)),
    ("a path that never ends", |size| format!("<src/{}", repeat("a b.", size))),
    ("paths and files by turns", |size| repeat("<src/a.ts>\n<file path=\"b.ts\">\n", size)),
    ("fences in a file", |size| format!("<file path=\"a.ts\">\n{}</file>", repeat("```\n", size))),
    ("fences in an unclosed file", |size| format!("```\n<file path=\"a.ts\">\n{}", repeat("```\n", size))),
    ("fences that turn", |size| format!("```xml\n{}", repeat("<src/a.ts>\n``````xml\n", size))),
    ("rules", |size| repeat("***\n", size)),
    ("rules and fences before a file", |size| format!("{}<file path=\"a.ts\">", repeat("***\n```\n", size))),
    ("headers", |size| repeat("### Course of Action\n", size)),
    ("headers on one line", |size| repeat("### Course of Action ", size)),
    ("hashes", |size| "#".repeat(size)),
    ("asterisks", |size| "*".repeat(size)),
    ("a header that never ends", |size| format!("### {}", repeat("Course of: Action ", size))),
    ("bold words", |size| repeat("**Course of ", size)),
    ("a fence, blank lines and unclosed files", |size| {
        format!("```\n{}{}", "\n".repeat(size / 2), repeat("<file path=\"a.ts\">\n", size / 2))
    }),
    ("a list of files", |size| format!("### Files Updated This Cycle:\n{}", repeat("* `a.ts`\n", size))),
    ("a list of files, no two alike", |size| {
        let files: String = (0..size / 12).map(|number| format!("* `{number:x}.ts`\n")).collect();
        format!("<file path=\"a.ts\">\n</file>\n### Files Updated This Cycle:\n{files}")
    }),
    ("a file in many folders", |size| format!("<file path=\"{}a.ts\">\n</file>", repeat("a/", size))),
    ("wrappers", |size| repeat("<response a>\n</response a>\n", size)),
    ("ends of reasoning", |size| repeat("assistantfinal]\n", size)),
    ("reasoning that never ends", |size| format!("analysis\n{}", repeat("<file path=\"a.ts\">\n", size))),
    ("a byte order mark", |size| repeat("\u{feff}", size)),
    ("a carriage return", |size| "\r".repeat(size)),
    ("wide characters", |size| repeat("\u{1f642}", size)),
    ("an object and quotes", |size| format!("{{\"message\":{}", "\"".repeat(size))),
    ("an object and lists of strings", |size| format!("{{\"message\":{}", repeat("[\"", size))),
    ("members without names", |size| format!("{{\"message\":1{}}}", repeat(",\"a\":1", size))),
    ("members without names in an entry", |size| format!("{{\"calls\":[{{\"a\":1{}}}]}}", repeat(",\"a\":1", size))),
    ("one member many times", |size| format!("{{\"message\":1{}}}", repeat(",\"message\":\"x\"", size))),
    ("members in members", |size| repeat("{\"message\":", size)),
    ("lists in members", |size| repeat("{\"calls\":[", size)),
    ("entries", |size| format!("{{\"calls\":[{}]}}", repeat("{\"action\":\"add\",\"params\":{\"n\":1}},", size))),
    ("entries that are empty", |size| format!("{{\"calls\":[{{}}{}]}}", repeat(",{}", size))),
    ("entries without braces", |size| format!("{{\"calls\":[{}]}}", repeat("\"action\":\"add\",", size))),
    ("entries with braces too many", |size| format!("{{\"calls\":[{{\"action\":1{}", "}".repeat(size))),
    ("brackets too many", |size| format!("{{\"message\":1{}", "]".repeat(size))),
    ("commas too many", |size| format!("{{\"message\":1{}", ",".repeat(size))),
    ("words between members", |size| format!("{{\"message\":1{}", repeat(",x", size))),
    ("line breaks in a string", |size| format!("{{\"message\":\"{}\"}}", repeat("a\n", size))),
    ("backslashes in a string", |size| format!("{{\"message\":\"{}\",}}", repeat("\\d", size))),
    ("quotes in a string", |size| format!("{{\"message\":\"{}\"}}", repeat("a\" b", size))),
    ("members in a body", |size| {
        format!("{{\"data\":{{\"files\":[{{\"path\":\"a\",\"content\":\"{}", repeat("a\", \"k\": 1", size))
    }),
    ("ends in a body", |size| {
        format!("{{\"data\":{{\"files\":[{{\"path\":\"a\",\"content\":\"{}", repeat("\"}]}", size))
    }),
    ("open comments in an object", |size| format!("{{\"message\":1{}", repeat("/*,", size))),
    ("comments in an object", |size| format!("{{\"message\":1{}", repeat("a//,", size))),
    ("objects", |size| repeat("{\"a\":1}", size)),
    ("broken objects", |size| repeat("{\"message\":x}", size)),
    ("objects that open", |size| repeat("{\"", size)),
    ("fences and names", |size| repeat("```\"a\":", size)),
    ("a deep member", |size| format!("{{\"message\":1,\"data\":{}", "[".repeat(size))),
    ("a member escaped twice", |size| format!("{{\"message\":\"{}\"}}", repeat("\\\\n", size))),
    ("no characters at all", |size| repeat("\0", size)),
];

fn repeat(piece: &str, size: usize) -> String {
    piece.repeat((size / piece.len()).max(1))
}

/// Runs of backticks with spaces between them, no two of the same length, up to `size` bytes.
fn runs(size: usize, falling: bool) -> String {
    let mut lengths: Vec<usize> = (1..=300).collect();
    if falling {
        lengths.reverse();
    }
    let round: String = lengths.iter().map(|length| "`".repeat(*length) + " ").collect();
    let mut text = round.repeat(size / round.len() + 1);
    text.truncate(size);
    text
}
