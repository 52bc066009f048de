//! Opaque: which programs run other programs that their arguments name?
//!
//! In: the name of a program, and its arguments.
//! Out: the reason, if they do not determine which programs run.
//! Never: guarantees that all other programs run nothing else: an interpreter does what its script contains.

use super::lexer::ShellFault;
use super::simple::base_name;

/// Reserved words, and builtins that evaluate texts or change the meaning of later words, in alphabetical order.
const SHELL: [&str; 69] = [
    "-", ".", "alias", "autoload", "bind", "builtin", "case", "command", "compgen", "complete", "coproc", "declare",
    "disable", "do", "done", "elif", "else", "emulate", "enable", "end", "esac", "eval", "exec", "export", "fc", "fi",
    "float", "for", "foreach", "function", "hash", "hist", "if", "in", "integer", "jobs", "let", "local", "mapfile",
    "nameref", "nocorrect", "noglob", "print", "read", "readarray", "readonly", "rehash", "repeat", "sched", "select",
    "set", "setopt", "shopt", "source", "then", "time", "trap", "typeset", "unalias", "unfunction", "unset",
    "unsetopt", "until", "vared", "while", "zcompile", "zmodload", "zpty", "zstyle",
];

/// Programs that run the program in their arguments, in alphabetical order.
const CARRIERS: [&str; 67] = [
    "apptainer", "arch", "at", "batch", "busybox", "bwrap", "caffeinate", "capsh", "catchsegv", "cgexec", "chpst",
    "chroot", "chrt", "crontab", "daemonize", "dbus-run-session", "doas", "eatmydata", "entr", "expect", "fakechroot",
    "fakeroot", "faketime", "firejail", "flock", "gdb", "gosu", "ionice", "linux32", "linux64", "ltrace", "nice",
    "nohup", "nsenter", "numactl", "parallel", "perf", "pkexec", "prlimit", "proot", "proxychains", "proxychains4",
    "rlwrap", "rr", "run-parts", "runuser", "sandbox-exec", "script", "sem", "setarch", "setpriv", "setsid", "ssh",
    "ssh-agent", "start-stop-daemon", "stdbuf", "strace", "su", "sudo", "systemd-run", "taskset", "timeout", "toybox",
    "unbuffer", "unshare", "watch", "xargs",
];

/// Programs that read commands, in alphabetical order.
const SHELLS: [&str; 18] = [
    "ash", "bash", "cmd", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu", "powershell", "pwsh", "rbash",
    "sh", "tcsh", "xonsh", "zsh",
];

/// Fails if it cannot be known what a program with these arguments runs.
pub(super) fn opaque(program: &str, args: &[String]) -> Result<(), ShellFault> {
    // On a file system that ignores case, `SUDO` runs `sudo`.
    let name = base_name(program).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let is_listed = |list: &[&str]| list.binary_search(&name).is_ok();
    let has = |part: &dyn Fn(&str) -> bool| args.iter().any(|arg| part(arg));
    let reason = match name {
        _ if is_listed(&SHELL) => "the shell itself evaluates",
        _ if is_listed(&CARRIERS) => "runs what its arguments name",
        _ if is_listed(&SHELLS) => "reads commands",
        // The caller has skipped `env` and its usual paths: this one is at another path, and may be another program.
        "env" if !args.is_empty() => "may not be the usual one",
        "find" if has(&|arg| arg.starts_with("-exec") || arg.starts_with("-ok")) => "runs what its arguments name",
        "fd" | "fdfind" if has(&runs_found) => "runs what its arguments name",
        // With `-v`, they take the name of a variable, and shells evaluate an array index in that name, which can run a
        // command.
        "[" | "printf" | "test" if has(&|arg| arg.starts_with("-v") || arg.contains(['$', '`'])) => {
            "may evaluate its arguments"
        }
        _ => return Ok(()),
    };
    Err(format!("`{name}`, which {reason}").into())
}

/// Whether this option of `fd` runs a program for each file.
fn runs_found(arg: &str) -> bool {
    match arg.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.starts_with("-exec"),
        Some(short) => short.contains(['x', 'X']),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_is_sorted() {
        for list in [SHELL.as_slice(), &CARRIERS, &SHELLS] {
            assert!(list.is_sorted(), "{:?}", list.windows(2).find(|pair| !pair.is_sorted()));
        }
    }
}
