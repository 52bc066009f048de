//! Shell lines: which programs does the filter `command` find in a line, and which lines does it refuse?

use super::*;
use proptest::prelude::*;

fn split_with(line: impl Into<Value>, arguments: &str) -> Result<Value, String> {
    let line = line.into();
    let expression = Expression::parse(&spanned(&format!("line | command{arguments}"))).expect("an expression");
    expression.value(&Scope::new().with("line", &line)).map_err(|failure| failure.message)
}

/// The commands of a line, with everything that a pack can ask for.
fn split(line: impl Into<Value>) -> Result<Value, String> {
    split_with(line, "(assignments=true, redirects=true, globs=true)")
}

fn texts(line: &str) -> Result<Vec<String>, String> {
    let commands = split(line)?;
    let texts = commands.as_array().into_iter().flatten().filter_map(|command| command.get("text")?.as_str());
    Ok(texts.map(str::to_owned).collect())
}

#[track_caller]
fn check_line(line: &str, expected: &[&str]) {
    assert_eq!(texts(line), Ok(expected.iter().map(|text| (*text).to_owned()).collect()), "{line:?}");
}

/// Checks that the whole line is refused, and for the right reason.
#[track_caller]
fn check_opaque(line: &str, reason: &str) {
    let message = split(line).expect_err(line);
    assert!(message.contains(reason), "{line:?}: {message}");
}

#[test]
fn each_simple_command_is_an_entry() {
    let expected = json!([
        {
            "name": "git", "program": "/usr/bin/git", "args": ["commit", "-m", "it's done"],
            "text": "/usr/bin/git commit -m 'it'\\''s done'", "assignments": { "LANG": "C", "A": "b c" }, "redirects": [], "globs": [],
        },
        {
            "name": "cat", "program": "cat", "args": ["src/*.rs"], "text": "cat src/*.rs", "assignments": {},
            "redirects": [{ "operator": ">>", "target": "a b", "descriptor": null }, { "operator": ">", "target": "e", "descriptor": 2 }],
            "globs": ["src/*.rs"],
        },
    ]);
    let line = "LANG=C A='b c' /usr/bin/git commit -m \"it's done\" 2>&1 && cat src/*.rs >> 'a b' 2>e";
    assert_eq!(split(line), Ok(expected));
}

#[test]
fn every_operator_separates() {
    check_line("ls", &["ls"]);
    check_line("  ls\t-la  ", &["ls -la"]);
    check_line("ls && rm x", &["ls", "rm x"]);
    check_line("ls&&rm x", &["ls", "rm x"]);
    check_line("ls || rm x", &["ls", "rm x"]);
    check_line("ls ; rm x", &["ls", "rm x"]);
    check_line("ls;rm x;", &["ls", "rm x"]);
    check_line("ls | rm x", &["ls", "rm x"]);
    check_line("ls|rm x", &["ls", "rm x"]);
    check_line("ls & rm x", &["ls", "rm x"]);
    check_line("ls & rm x &", &["ls", "rm x"]);
    check_line("ls\nrm x", &["ls", "rm x"]);
    check_line("\n\nls\n\nrm x\n", &["ls", "rm x"]);
    check_line("ls &&\n\n rm x", &["ls", "rm x"]);
    check_line("ls |\nrm x", &["ls", "rm x"]);
    check_line("a && b || c; d & e | f\ng", &["a", "b", "c", "d", "e", "f", "g"]);
    check_line("a;\nb &\nc", &["a", "b", "c"]);
}

#[test]
fn quotes_and_escapes_are_taken_off() {
    check_line("'rm' -rf x", &["rm -rf x"]);
    check_line("\"rm\" x", &["rm x"]);
    check_line("r\\m x", &["rm x"]);
    check_line("\\rm x", &["rm x"]);
    check_line("r'm' x", &["rm x"]);
    check_line("r\"\"m x", &["rm x"]);
    check_line("''rm x", &["rm x"]);
    check_line("rm '-rf' \"x\"", &["rm -rf x"]);
    check_line(
        "echo 'a && rm x; b | c & $(d) `e` > f * ? # ! {1,2}'",
        &["echo 'a && rm x; b | c & $(d) `e` > f * ? # ! {1,2}'"],
    );
    check_line("echo \"a && b; c | d > e 'f' * ? # (g) {h}\"", &[r"echo 'a && b; c | d > e '\''f'\'' * ? # (g) {h}'"]);
    check_line("echo a\\ b\\;c\\&\\|", &["echo 'a b;c&|'"]);
    check_line("echo \\$HOME '$HOME' \"\\$HOME\"", &["echo '$HOME' '$HOME' '$HOME'"]);
    check_line("echo \"a\\nb\"", &["echo 'a\\nb'"]);
    check_line("echo \"a\\\"b\\\\\"", &["echo 'a\"b\\'"]);
    check_line("echo ''", &["echo ''"]);
    check_line("echo '' \"\" a''", &["echo '' '' a"]);
    check_line("git commit -m 'one\ntwo'", &["git commit -m 'one\ntwo'"]);
    check_line("git commit -m \"one\n\ntwo; rm x\"", &["git commit -m 'one\n\ntwo; rm x'"]);
    check_line("echo 'é \u{a0} →'", &["echo 'é \u{a0} →'"]);
    check_line("git 'diff --cached'", &["git 'diff --cached'"]);
    check_line(
        "find . \\( -name '*.rs' -o -name x \\) ! -path y",
        &["find . '(' -name '*.rs' -o -name x ')' '!' -path y"],
    );
}

#[test]
fn ordinary_lines_are_split() {
    check_line("npm run test -- --watch=false", &["npm run test -- --watch=false"]);
    check_line("cargo test --lib expression::shell", &["cargo test --lib expression::shell"]);
    check_line("git show HEAD~1:src/a.rs HEAD^", &["git show HEAD~1:src/a.rs HEAD^"]);
    check_line("git log --format=%h -5", &["git log --format=%h -5"]);
    check_line("curl -s https://example.org/a_b/c.json", &["curl -s https://example.org/a_b/c.json"]);
    check_line("docker run \\\n  --rm \\\n  alpine:3 ls", &["docker run --rm alpine:3 ls"]);
    check_line("[ -f a ] && cat a", &["[ -f a ]", "cat a"]);
    check_line("test ! -e a", &["test '!' -e a"]);
    check_line("sed -i 's/a$/b/' x", &["sed -i 's/a$/b/' x"]);
    check_line("./run.sh a", &["./run.sh a"]);
    check_line("../bin/run a", &["../bin/run a"]);
    check_line("/bin/rm x", &["/bin/rm x"]);
    check_line("g++ -O2 a.c", &["g++ -O2 a.c"]);
    check_line("find . -name x", &["find . -name x"]);
    check_line("fd -H --extension rs", &["fd -H --extension rs"]);
    check_line("echo a#b x!=y", &["echo 'a#b' 'x!=y'"]);
    check_line("echo a !", &["echo a '!'"]);
    check_line("cd src && ls", &["cd src", "ls"]);
    check_line("python3 -c 'print(1)'", &["python3 -c 'print(1)'"]);
}

#[test]
fn assignments_and_env_are_taken_off() {
    let assigned = |line| Ok::<_, String>(split(line)?[0]["assignments"].clone());
    for line in ["X=1 rm x", "env X=1 rm x", "/usr/bin/env X=1 rm x", "env env X=1 rm x", "env 'X=1' rm x"] {
        check_line(line, &["rm x"]);
        assert_eq!(assigned(line), Ok(json!({ "X": "1" })), "{line}");
    }
    check_line("env", &["env"]);
    check_line("env rm x", &["rm x"]);
    check_line("A=1 B='2 3' env C= rm x", &["rm x"]);
    assert_eq!(assigned("A=1 B='2 3' env C= rm x"), Ok(json!({ "A": "1", "B": "2 3", "C": "" })));
    check_line("echo X=1", &["echo X=1"]);
    check_opaque("X=1", "an assignment without a program");
    check_opaque("X=1; rm x", "an assignment without a program");
    check_opaque("X=1 Y=2 && rm x", "an assignment without a program");
    check_opaque("'X'=1 rm x", "unusual name");
    check_opaque("X\\=1 rm x", "unusual name");
    check_opaque("X+=1 rm x", "unusual name");
    check_opaque("1X=1 rm x", "unusual name");
    check_opaque("X[0]=1 rm x", "`[`");
    check_opaque("X=* rm x", "a pattern");
    check_opaque("X=~/bin rm x", "`~`");
    check_opaque("PATH=a:~/bin rm x", "`~`");
    check_opaque("X=$Y rm x", "`$`");
    check_opaque("X=(a b) rm x", "`(`");
    check_opaque("env X=1", "`env` without a program");
    check_opaque("env -i rm x", "an option of `env`");
    check_opaque("env -S 'rm x'", "an option of `env`");
    check_opaque("env X=1 -S 'rm x'", "an option of `env`");
    check_opaque("env --split-string='rm x'", "an option of `env`");
    check_opaque("env -u X rm x", "an option of `env`");
    check_opaque("env - rm x", "an option of `env`");
    check_opaque("./env X=1 rm x", "`env`, which may not be the usual one");
    check_opaque("env X=* rm x", "a pattern");
    check_opaque("env sudo rm x", "`sudo`");
}

#[test]
fn redirections_are_named() {
    let redirects = |line| Ok::<_, String>(split(line)?[0]["redirects"].clone());
    let one = |operator: &str, target: &str, descriptor: Option<i64>| {
        Ok(json!([{ "operator": operator, "target": target, "descriptor": descriptor }]))
    };
    assert_eq!(redirects("ls > a"), one(">", "a", None));
    assert_eq!(redirects("ls >a"), one(">", "a", None));
    assert_eq!(redirects("ls>a"), one(">", "a", None));
    assert_eq!(redirects(">a ls"), one(">", "a", None));
    assert_eq!(redirects("> a ls -l"), one(">", "a", None));
    assert_eq!(redirects("ls >> a"), one(">>", "a", None));
    assert_eq!(redirects("ls >| a"), one(">|", "a", None));
    assert_eq!(redirects("ls <> a"), one("<>", "a", None));
    assert_eq!(redirects("ls < a"), one("<", "a", None));
    assert_eq!(redirects("ls 2>a"), one(">", "a", Some(2)));
    assert_eq!(redirects("ls 2 >a"), one(">", "a", None));
    assert_eq!(redirects("ls a2>a"), one(">", "a", None));
    assert_eq!(redirects("ls '2'>a"), one(">", "a", None));
    assert_eq!(redirects("ls > /etc/passwd"), one(">", "/etc/passwd", None));
    assert_eq!(redirects("ls > 'a b'"), one(">", "a b", None));
    assert_eq!(redirects("ls > /dev/tcp/example.org/80"), one(">", "/dev/tcp/example.org/80", None));
    check_line("ls 2 >a", &["ls 2"]);
    check_line("ls '2'>a b", &["ls 2 b"]);
    for line in ["ls 2>&1", "ls >&2", "ls 2>/dev/null", "ls > /dev/null 2>&1", "ls </dev/null", "ls 2>&-"] {
        assert_eq!(split_with(line, "").map(|commands| commands[0]["text"].clone()), Ok(json!("ls")), "{line}");
    }
    check_opaque("> a", "a redirection without a program");
    check_opaque("ls >", "a redirection without a target");
    check_opaque("ls > ; rm x", "a redirection without a target");
    check_opaque("ls > > a", "a redirection without a target");
    check_opaque("ls > ''", "a redirection without a target");
    check_opaque("ls > *", "a pattern");
    check_opaque("ls > $X", "`$`");
    check_opaque("ls &> a", "`&>`");
    check_opaque("ls &>> a", "`&>`");
    check_opaque("ls >& a", "another stream");
    check_opaque("ls 2>&1a", "another stream");
    check_opaque("ls 3>&1", "another stream");
    check_opaque("ls 10>a", "several digits");
    check_opaque("ls {fd}>a", "`{`");
    check_opaque("ls >! a", "`>!`");
    check_opaque("ls >>| a", "a redirection without a target");
    check_opaque("rm<1-5>b", "`<-`");
    check_opaque("ls << EOF\nrm x\nEOF", "a here-document");
    check_opaque("ls <<EOF\nrm x\nEOF", "a here-document");
    check_opaque("ls <<-EOF\nrm x\nEOF", "a here-document");
    check_opaque("cat <<< x", "a here-document");
}

/// Patterns of packs tell options by the `-` at the start of a word.
#[test]
fn the_start_of_an_option_is_never_quoted() {
    check_line("git log '--output=x;y' \"--output=~a\"", &["git log --output=x';y' --output='~a'"]);
    check_line(r"git log --output=a\;b '-x y' '--é'", &["git log --output=a';b' -x' y' --'é'"]);
    check_line("git log '-' '--' '--stat' 'a -b'", &["git log - -- --stat 'a -b'"]);
}

#[test]
fn a_pattern_becomes_neither_program_nor_option() {
    let globs = |line| Ok::<_, String>(split(line)?[0]["globs"].clone());
    assert_eq!(globs("ls src/*.rs"), Ok(json!(["src/*.rs"])));
    assert_eq!(globs("ls a* b?c 'd*' e\\*"), Ok(json!(["a*", "b?c"])));
    assert_eq!(globs("grep -r --include=*.rs x"), Ok(json!(["--include=*.rs"])));
    assert_eq!(globs("ls 'a b'/*"), Ok(json!(["a b/*"])));
    check_line("ls src/*.rs 'src/*.rs'", &["ls src/*.rs 'src/*.rs'"]);
    for line in ["grep '--include='*.rs x", "git log --out\"put\"=x*", r"cat s\ecret*", "cat ma'in'*", "rm ''a*"] {
        check_opaque(line, "a pattern with quotes that it does not need");
    }
    check_opaque("*", "a pattern for a program");
    check_opaque("/bin/r? x", "a pattern for a program");
    check_opaque("/???/rm x", "a pattern for a program");
    check_opaque("env /bin/r? x", "a pattern");
    check_opaque("rm *", "an option");
    check_opaque("rm *.log", "an option");
    check_opaque("rm ''*", "an option");
    check_opaque("rm \"\"?f", "an option");
    check_opaque("rm -*", "an option");
    check_opaque("rm '-'*", "an option");
    check_opaque("rm ?rf", "an option");
    check_opaque("rm a/.*", "the folder above");
    check_opaque("rm .*", "the folder above");
    check_opaque("rm a/.?/b", "the folder above");
    check_opaque("rm [a]b", "`[`");
    check_opaque("rm a[b]", "`[`");
    check_opaque("rm {a,b}", "`{`");
    check_opaque("rm a{,b}", "`{`");
    check_opaque("rm @(a|b)", "`(`");
}

/// What a pack does not ask for is refused: it cannot bypass a condition that checks only programs and arguments.
#[test]
fn assignments_redirects_and_globs_are_refused_unless_requested() {
    for (line, name) in [("PATH=. ls", "assignments"), ("ls > a", "redirects"), ("ls a/*", "globs")] {
        let message = split_with(line, "").expect_err(line);
        assert!(message.contains(&format!("`{name}=true` is not given")), "{line}: {message}");
        assert!(split_with(line, &format!("({name}=true)")).is_ok(), "{line}");
        let others = ["assignments", "redirects", "globs"].into_iter().filter(|other| *other != name);
        let others = others.map(|other| format!("{other}=true")).collect::<Vec<_>>().join(", ");
        assert!(split_with(line, &format!("({others})")).is_err(), "{line}");
        assert!(split_with(format!("echo; {line}"), "").is_err(), "{line}");
    }
}

#[test]
fn shell_expansions_are_refused() {
    check_opaque("echo $(rm x)", "`$`");
    check_opaque("echo \"$(rm x)\"", "`$`");
    check_opaque("echo `rm x`", "a substitution");
    check_opaque("echo \"`rm x`\"", "a substitution");
    check_opaque("$(echo rm) x", "`$`");
    check_opaque("echo $((1+1))", "`$`");
    check_opaque("echo $X", "`$`");
    check_opaque("echo ${X:-rm}", "`$`");
    check_opaque("echo \"$X\"", "`$`");
    check_opaque("echo \"${X}\"", "`$`");
    check_opaque("$X", "`$`");
    check_opaque("$0 x", "`$`");
    check_opaque("rm$IFS-rf$IFS/", "`$`");
    check_opaque("echo $'\\x72m'", "`$`");
    check_opaque("$'rm' x", "`$`");
    check_opaque("$\"rm\" x", "`$`");
    check_opaque("echo a$", "`$`");
    check_opaque("diff <(ls) <(rm x)", "`(`");
    check_opaque("tee >(rm x)", "`(`");
    check_opaque("~/bin/rm x", "`~`");
    check_opaque("rm ~", "`~`");
    check_opaque("rm ~root/x", "`~`");
    check_opaque("rm a:~/x", "`~`");
    check_opaque("=rm x", "`=`");
    check_opaque("echo =rm", "`=`");
    check_opaque("!!", "`!`");
    check_opaque("echo !$", "`!`");
    check_opaque("echo \"!rm\"", "`!`");
    check_opaque("echo \"a!\"", "`!`");
    check_opaque("!rm", "`!`");
    check_opaque("^a^b", "`^`");
    check_opaque("ls # rm x", "`#`");
    check_opaque("#", "`#`");
    check_opaque("# comment\nls", "`#`");
}

#[test]
fn structures_and_groups_are_refused() {
    check_opaque("(rm x)", "`(`");
    check_opaque("{ rm x; }", "`{`");
    check_opaque("if true; then rm x; fi", "`if`");
    check_opaque("for f in a b; do rm x; done", "`for`");
    check_opaque("while true; do rm x; done", "`while`");
    check_opaque("until false; do rm x; done", "`until`");
    check_opaque("case x in x) rm x;; esac", "`)`");
    check_opaque("select x in a; do rm x; done", "`select`");
    check_opaque("ls; then rm x", "`then`");
    check_opaque("f() { rm x; }; f", "`(`");
    check_opaque("function f { rm x; }", "`{`");
    check_opaque("[[ -f a ]]", "`[`");
    check_opaque("((1))", "`(`");
    check_opaque("! rm x", "unusual name");
    check_opaque("time rm x", "`time`");
    check_opaque("coproc rm x", "`coproc`");
    check_opaque("repeat 3 rm x", "`repeat`");
    check_opaque("- rm x", "unusual name");
    check_opaque("noglob rm x", "`noglob`");
}

#[test]
fn programs_that_run_others_are_refused() {
    for name in [
        "eval", "source", "exec", "command", "builtin", "alias", "unalias", "trap", "hash", "enable", "set", "export",
        "read", "sudo", "doas", "nohup", "time", "nice", "timeout", "xargs", "parallel", "setsid", "stdbuf", "watch",
        "strace", "su", "ssh", "chroot", "flock", "busybox", "systemd-run", "script", "bash", "sh", "dash", "zsh",
        "ksh", "fish", "pwsh", "cmd",
    ] {
        check_opaque(&format!("{name} rm x"), &format!("`{name}`, which"));
        check_opaque(&format!("ls && /usr/bin/{name} rm x"), &format!("`{name}`, which"));
        check_opaque(&format!("X=1 {} rm x", name.to_uppercase()), &format!("`{name}`, which"));
        assert!(split(json!([name, "rm", "x"])).is_err(), "{name}");
    }
    check_opaque("bash -c 'rm x'", "`bash`");
    check_opaque("sh -c \"rm x\"", "`sh`");
    check_opaque("echo 'rm x' | sh", "`sh`");
    check_opaque("bash <a", "`bash`");
    check_opaque("bash.exe -c 'rm x'", "`bash`");
    check_opaque("ls | xargs rm", "`xargs`");
    check_opaque("find . -exec rm {} +", "`{`");
    check_opaque("find . -exec rm '{}' \\;", "`find`");
    check_opaque("find . -execdir rm x \\;", "`find`");
    check_opaque("find . -ok rm x \\;", "`find`");
    check_opaque("find . '-exec' rm x \\;", "`find`");
    check_opaque("fd . -x rm", "`fd`");
    check_opaque("fd . -HX rm", "`fd`");
    check_opaque("fd . --exec-batch rm", "`fd`");
    check_opaque(". ./x", "unusual name");
    check_opaque("'eval' rm", "`eval`");
    check_opaque("e\\val rm", "`eval`");
    check_opaque("test -v 'a[$(rm x)]'", "`test`");
    check_opaque("[ -v 'a[$(rm x)]' ]", "`[`");
    check_opaque("printf -v 'a[$(rm x)]' y", "`printf`");
    check_opaque("printf '-va[0]' y", "`printf`");
}

#[test]
fn broken_lines_are_refused() {
    for line in ["", " ", "\n", "\t\n \n"] {
        check_opaque(line, "no command");
    }
    for line in [
        "; ls", "& ls", "&& ls", "| ls", "ls ;; rm x", "ls && && rm x", "ls & & rm x", "ls |& rm x", "ls &| rm x",
        "ls\n&& rm x",
    ] {
        check_opaque(line, "an operator without a command before it");
    }
    for line in ["ls &&", "ls ||\n", "ls |"] {
        check_opaque(line, "an operator without a command behind it");
    }
    for line in ["echo 'a", "echo \"a", "echo \"a\\\"", "echo a'", "'", "\"", "ls 'a\nrm x"] {
        check_opaque(line, "a quote that is not closed");
    }
    check_opaque("ls \\", "a backslash at the end");
    check_opaque("l\\\ns", "continued within a word");
    check_opaque("ls &\\\n& rm x", "continued within a word");
    check_opaque("echo \"a\\\nb\"", "continued within quotes");
    check_opaque("ls\r\nrm x", "U+000D");
    check_opaque("ls\rrm x", "U+000D");
    check_opaque("ls \0 rm", "U+0000");
    check_opaque("ls '\0'", "U+0000");
    check_opaque("ls \"\u{1b}[2K\"", "U+001B");
    check_opaque("ls\u{b}rm", "U+000B");
    check_opaque("ls\u{c}rm", "U+000C");
    check_opaque("ls\u{7f}", "U+007F");
    check_opaque("ls\u{85}rm", "U+0085");
    check_opaque("ls\u{a0}rm", "not ASCII");
    check_opaque("ls\u{2003}rm", "not ASCII");
    check_opaque("ls\u{3000}rm", "not ASCII");
    check_opaque("ls\u{200b}rm", "not ASCII");
    check_opaque("ls\u{2028}rm", "not ASCII");
    check_opaque("\u{feff}ls", "not ASCII");
    check_opaque("ls \\\u{a0}", "not ASCII");
    check_opaque("ls \u{ff1b} rm", "not ASCII");
    check_opaque("r\u{43c} x", "not ASCII");
    check_opaque("'r\u{43c}' x", "unusual name");
    check_opaque("'' x", "unusual name");
    check_opaque("'a b' x", "unusual name");
    check_opaque("/ x", "unusual name");
    check_opaque("/bin/ x", "unusual name");
    check_opaque(".. x", "unusual name");
    check_opaque("-x", "unusual name");
    check_opaque("%1", "unusual name");
    check_opaque("] x", "unusual name");
}

#[test]
fn a_list_is_one_command_that_no_shell_reads() {
    let words = json!(["git", "commit", "-m", "a && $(b)", "*"]);
    let commands = split(words).unwrap();
    assert_eq!(commands[0]["args"], json!(["commit", "-m", "a && $(b)", "*"]));
    assert_eq!(commands[0]["text"], json!("git commit -m 'a && $(b)' '*'"));
    assert_eq!(commands[0]["globs"], json!([]));
    assert_eq!(split(json!(["env", "X=1", "rm"])).map(|commands| commands[0]["name"].clone()), Ok(json!("rm")));
    for (words, part) in [
        (json!([]), "without a program"),
        (json!(["bash", "-lc", "ls"]), "`bash`"),
        (json!(["X=1", "ls"]), "unusual name"),
        (json!(["ls", 1]), "a list of texts"),
        (json!(["ls", "\0"]), "U+0000"),
        (json!(1), "a text or a list of texts"),
        (json!(null), "a text or a list of texts"),
        (json!({ "ls": 1 }), "a text or a list of texts"),
    ] {
        let message = split(words.clone()).unwrap_err();
        assert!(message.contains(part), "{words}: {message}");
    }
}

#[test]
fn conditions_on_commands_are_short() {
    let holds = |line: &str, condition: &str| {
        let line = Value::from(line);
        let expression = Expression::parse(&spanned(condition)).expect("a condition");
        expression.value(&Scope::new().with("line", &line)).map(|value| value == json!(true))
    };
    let allowed = "line | command | rejectattr('text', 'matching', '^(git (diff|status)|ls)( |$)') | count == 0";
    assert_eq!(holds("git diff --stat && ls -la", allowed), Ok(true));
    assert_eq!(holds("git diff --stat && git push", allowed), Ok(false));
    assert_eq!(holds("git 'diff --stat'", allowed), Ok(false));
    assert!(holds("git diff $(rm x)", allowed).is_err());
    assert!(holds("", allowed).is_err());
    let denied = "'rm' in line | command | map(attribute='name')";
    assert_eq!(holds("ls; /bin/rm x", denied), Ok(true));
    assert_eq!(holds("ls; echo rm", denied), Ok(false));
}

/// A line of the maximum length is parsed to its end, or refused; a longer one is not parsed.
#[test]
fn hostile_lines_are_read_without_recursion() {
    let parts = ["\"", "\\", "(", "$(", "{ ", "if ", "a|", "\\\n", " ", "\n", "<", ">", "a=", "*", "!", "&", "(("];
    for part in parts {
        assert!(split(part.repeat((32 << 10) / part.len())).is_err(), "{part:?}");
    }
    let words = split("'a' ".repeat(8 << 10)).unwrap();
    assert_eq!(words[0]["args"].as_array().map(<[_]>::len), Some((8 << 10) - 1));
    assert_eq!(texts(&"a;".repeat(2 << 10)).map(|texts| texts.len()), Ok(2 << 10));
    assert!(split("a;".repeat(16 << 10)).unwrap_err().contains("too much memory"));
    check_opaque(&"a".repeat((32 << 10) + 1), "more than 32768 bytes");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn every_program_of_a_line_of_safe_words_comes_out(
        commands in prop::collection::vec(prop::collection::vec("[a-z][a-z0-9_./-]{0,6}x", 1..5), 1..8),
        operators in prop::collection::vec(prop::sample::select(vec![" && ", "||", " ; ", ";", " | ", "|", " & ", "\n", " &&\n"]), 8),
        quotes in prop::collection::vec(prop::sample::select(vec!["", "'", "\""]), 40),
    ) {
        let mut quotes = quotes.into_iter().cycle();
        let mut line = String::new();
        for (words, operator) in commands.iter().zip(&operators) {
            line.push_str(if line.is_empty() { "" } else { operator });
            let words: Vec<String> = words.iter().zip(&mut quotes).map(|(word, quote)| format!("{quote}{word}{quote}")).collect();
            line.push_str(&words.join(" "));
        }
        let expected: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
        prop_assert_eq!(texts(&line), Ok(expected));
    }

    #[test]
    fn any_text_is_split_or_refused(line in prop_oneof![any::<String>(), "[ a-c'\"\\\\$`(){};&|<>\n*?=~#!/.2-]{0,40}"]) {
        if let Ok(commands) = split(line.as_str()) {
            for command in commands.as_array().into_iter().flatten() {
                let text = command["text"].as_str().unwrap();
                // The text of a command parses as the same command again.
                let again = split(text).map_err(|message| TestCaseError::fail(format!("{text:?}: {message}")))?;
                prop_assert_eq!(&again[0]["args"], &command["args"]);
                prop_assert_eq!(&again[0]["program"], &command["program"]);
                prop_assert_eq!(&again[0]["text"], &command["text"]);
            }
        }
    }
}
