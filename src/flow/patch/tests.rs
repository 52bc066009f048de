//! Patches: what is read of each form, and what is a fault?
//!
//! In: small patches.
//! Out: nothing.
//! Never: looks at effects.

use super::*;
use std::fmt::Write as _;

/// A patch in short: one line for each file and hunk.
fn brief(text: &str, file: Option<&str>) -> String {
    let files = match parse(text, file) {
        Ok(files) => files,
        Err(fault) => return fault.to_string(),
    };
    let mut out = String::new();
    for FilePatch { key, change, to } in files {
        match change {
            FileChange::Add { text, executable } => {
                let mode = if executable { " x" } else { "" };
                writeln!(out, "add {key}{mode} {text:?}").unwrap();
            }
            FileChange::Delete { text: None } => writeln!(out, "delete {key}").unwrap(),
            FileChange::Delete { text: Some(text) } => writeln!(out, "delete {key} {text:?}").unwrap(),
            FileChange::Update(hunks) => {
                for Hunk { find, put, line, after, end } in hunks {
                    let line = line.map(|line| format!(" at {line}")).unwrap_or_default();
                    let after: String = after.iter().map(|after| format!(" after {after:?}")).collect();
                    let end = if end { " at the end" } else { "" };
                    writeln!(out, "edit {key}{line}{after}{end} {find:?} {put:?}").unwrap();
                }
            }
        }
        if let Some(to) = to {
            writeln!(out, "move {key} {to}").unwrap();
        }
    }
    out
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(brief(text, None), expected);
}

#[test]
fn a_unified_diff_is_read_by_the_signs_of_its_lines() {
    let diff =
        "--- a/x.rs\n+++ b/x.rs\n@@ -7,99 +7,1 @@ fn f() {\n one\n-two\n+2\n+3\n\n four\n@@ -20 +20 @@\n-a\n+b\n";
    let found =
        "edit x.rs at 7 \"one\\ntwo\\n\\nfour\\n\" \"one\\n2\\n3\\n\\nfour\\n\"\nedit x.rs at 21 \"a\\n\" \"b\\n\"\n";
    check(diff, found);
    check(&diff.replace('\n', "\r\n"), found);
    check(&format!("Here it is:\n\n{diff}"), found);
    check(&format!("```diff\n{diff}```\n"), found);
}

#[test]
fn the_headers_of_git_add_delete_and_move() {
    check(
        "diff --git a/s.sh b/s.sh\nnew file mode 100755\nindex 000..111\n--- /dev/null\n+++ b/s.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+ls\n\
         diff --git a/e b/e\nnew file mode 100644\n\
         diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git a/p q b/r\nsimilarity index 90%\nrename from p q\nrename to r\n--- a/p q\n+++ b/r\n@@ -1 +1 @@\n-x\n+y\n\
         diff --git a/m b/n\nsimilarity index 100%\nrename from m\nrename to n\n",
        "add s.sh x \"#!/bin/sh\\nls\\n\"\nadd e \"\"\ndelete old \"x\\n\"\nedit p q at 1 \"x\\n\" \"y\\n\"\nmove p q r\nmove m n\n",
    );
    check(
        "--- \"a/\\303\\244 b\"\t2020-01-01\n+++ \"b/\\303\\244 b\"\n@@ -1 +1 @@\n-x\n+y\n",
        "edit ä b at 1 \"x\\n\" \"y\\n\"\n",
    );
    check("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-x\n+y\n", "edit a/x at 1 \"x\\n\" \"y\\n\"\n");
}

/// Nothing is guessed: no header counts more than the others.
#[test]
fn headers_of_git_that_disagree_are_a_fault() {
    let hunk = "@@ -1 +1 @@\n-x\n+y\n";
    for (headers, why) in [
        ("diff --git a/f b/g\nrename from h\nrename to k\n--- a/f\n+++ b/g\n", "do not agree"),
        ("diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/h\n", "do not agree"),
        ("diff --git a/f b/g\nrename from f\nrename to h\n", "do not agree"),
        ("diff --git a/f b/g\n--- a/f\n+++ b/f\n", "do not agree"),
        ("diff --git a/f b/f\n--- a/g\n+++ b/g\n", "do not agree"),
        ("diff --git a/f b/f\nrename from f\nrename from g\nrename to h\n", "do not agree"),
        ("diff --git a/f b/g\nrename from f\n--- a/f\n+++ b/g\n", "one is missing"),
        ("diff --git a/f b/f\nnew file mode 100644\n--- a/f\n+++ b/f\n", "do not agree"),
        ("diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/g\n", "do not agree"),
        ("diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ b/f\n", "do not agree"),
        ("diff --git a/f b/g\nnew file mode 100644\nrename from f\nrename to g\n", "do not agree"),
    ] {
        let fault = parse(&format!("{headers}{hunk}"), None).unwrap_err();
        assert!(fault.why.contains(why), "{headers:?}: {fault}");
    }
    // The prefixes of Git are no part of a name, whichever it was told to write.
    for headers in [
        "diff --git f g\nrename from f\nrename to g\n--- f\n+++ g\n",
        "diff --git i/f w/g\nrename from f\nrename to g\n--- i/f\n+++ w/g\n",
        "diff --git \"a/f\" b/g\nrename from f\nrename to \"g\"\n--- a/f\n+++ b/g\n",
    ] {
        check(&format!("{headers}{hunk}"), "edit f at 1 \"x\\n\" \"y\\n\"\nmove f g\n");
    }
    check(
        "diff --git \"a/\\303\\244 \\\" b\" \"b/c d\"\nrename from \"\\303\\244 \\\" b\"\nrename to c d\n",
        "move ä \" b c d\n",
    );
}

#[test]
fn a_removed_line_may_look_like_a_header() {
    check(
        "--- q.sql\n+++ q.sql\n@@ -1,3 +1,2 @@\n a\n--- note\n-- b\n+c\n",
        "edit q.sql at 1 \"a\\n-- note\\n- b\\n\" \"a\\nc\\n\"\n",
    );
    let two = "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+2\n--- b\n+++ b\n@@ -1 +1 @@\n-1\n+2\n";
    check(two, "edit a at 1 \"1\\n\" \"2\\n\"\nedit b at 1 \"1\\n\" \"2\\n\"\n");
}

#[test]
fn a_file_may_end_without_a_line_break() {
    let no = "\\ No newline at end of file";
    check(&format!("--- a\n+++ a\n@@ -1 +1 @@\n-x\n{no}\n+y\n"), "edit a at 1 \"x\" \"y\\n\"\n");
    // The new text can only be at the end of the file.
    check(&format!("--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n{no}\n"), "edit a at 1 at the end \"x\\n\" \"y\"\n");
    check(&format!("--- a\n+++ a\n@@ -1 +1 @@\n-x\n{no}\n+y\n{no}\n"), "edit a at 1 \"x\" \"y\"\n");
    check(&format!("--- a\n+++ a\n@@ -1 +1,2 @@\n-x\n{no}\n+x\n+y\n{no}\n\n"), "edit a at 1 \"x\" \"x\\ny\"\n");
    check(&format!("--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-z\n{no}\n{no}\n+y\n"), "edit a at 1 \"x\\nz\" \"x\\ny\\n\"\n");
    for lines in [
        format!("-x\n+y\n{no}\n z\n"),
        format!("-x\n{no}\n z\n+y\n"),
        format!("-x\n{no}\n-z\n+y\n"),
        format!("+y\n{no}\n+z\n-x\n"),
        format!(" x\n+y\n{no}\n\n z\n"),
        format!(" x\n{no}\n+y\n"),
        format!("-x\n+y\n{no}\n@@ -5 +5 @@\n-a\n+b\n"),
        format!("+y\n{no}\n-x\n@@ -5 +5 @@\n-a\n+b\n"),
    ] {
        let fault = parse(&format!("--- a\n+++ a\n@@ -1,2 +1,2 @@\n{lines}"), None).unwrap_err();
        assert!(fault.why.contains("the last of the file"), "{lines}: {fault}");
    }
    let new = format!("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n{no}\n@@ -0,0 +2 @@\n+y\n");
    assert_eq!(brief(&new, None), format!("{} (line 6)", hunk::AFTER_THE_END));
    let first = parse(&format!("--- a\n+++ a\n@@ -1 +1 @@\n{no}\n-x\n+y\n"), None).unwrap_err();
    assert_eq!(first.line, 4);
    check(&format!("--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n z\n{no}\n"), "edit a at 1 \"x\\nz\" \"y\\nz\"\n");
}

#[test]
fn a_begin_patch_is_read_with_its_headings() {
    check(
        "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n+two\n*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: d.txt\n\
         @@ class A\n@@ def f():\n-x\n+y\n@@\n z\n+end\n*** End of File\n*** Update File: e\n-1\n+2\n*** End Patch\n",
        "add a.txt \"one\\n\\ntwo\\n\"\ndelete b.txt\nedit c.txt after \"class A\" after \"def f():\" \"x\\n\" \"y\\n\"\n\
         edit c.txt at the end \"z\\n\" \"z\\nend\\n\"\nmove c.txt d.txt\nedit e \"1\\n\" \"2\\n\"\n",
    );
    check("*** Begin Patch\n*** Update File: a\n+last\n*** End Patch", "edit a \"\" \"last\\n\"\n");
    check("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch", "move a b\n");
    check("*** Begin Patch\n*** Update File: a\n\n@@\n-x\n+y\n\n*** End Patch", "edit a \"x\\n\" \"y\\n\"\n");
}

#[test]
fn hunks_alone_belong_to_the_file_that_is_named_elsewhere() {
    assert_eq!(brief("@@ -1 +1 @@\n-x\n+y\n", Some("src/a")), "edit src/a at 1 \"x\\n\" \"y\\n\"\n");
    check("@@ -1 +1 @@\n-x\n+y\n", "a hunk comes before the `---` and `+++` of its file (line 1)");
}

#[test]
fn what_is_not_of_the_format_is_a_fault_at_its_line() {
    for (text, line, why) in [
        ("", 1, "changes no file"),
        ("just words", 1, "changes no file"),
        ("*** Begin Patch\n*** Update File: a\n-x\n+y\n", 4, "no `*** End Patch`"),
        ("*** Begin Patch\n*** End Patch\nls", 3, "nothing follows"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", 3, "begins with `+`"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", 2, "no lines follow"),
        ("*** Begin Patch\nx\n*** End Patch", 2, "comes before the lines"),
        ("*** Begin Patch\n*** Update File: a\n x\n*** End Patch", 3, "changes nothing"),
        ("--- a\n+++ a\n@@ -1 +1 @@\nx\n", 4, "begins with a space"),
        ("--- a\n+++ a\n@@ -1 +1 @@\n", 3, "no lines"),
        ("--- a\n+++ a\n", 1, "no hunk"),
        ("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", 1, "two files"),
        ("--- a\n+++ a\n-x\n+y\n", 3, "outside every hunk"),
        ("--- a\n+++ a\n@@ -5,0 +6 @@\n+y\n", 1, "it is unknown where"),
        ("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n x\n+y\n", 1, "new file begins with `+`"),
        ("diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", 2, "mode of a file"),
        ("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a\n", 2, "a link"),
        ("diff --git a/a b/a\nindex 1..2\nBinary files a/a and b/a differ\n", 3, "binary"),
    ] {
        let fault = parse(text, None).unwrap_err();
        assert!(fault.line == line && fault.why.contains(why), "{text:?}: {fault}");
    }
}

#[test]
fn blocks_say_what_to_find_and_what_to_put_there() {
    let blocks =
        "<<<<<<< SEARCH\na\n=======\nb\n\n>>>>>>> REPLACE\n\n```\n------- SEARCH\nc\n=======\n+++++++ REPLACE\n";
    let found = "edit x \"a\\n\" \"b\\n\\n\"\nedit x \"c\\n\" \"\"\n";
    for blocks in
        [blocks.to_owned(), blocks.replace('\n', "\r\n"), format!("```\n{blocks}```\n"), blocks.replace('=', "")]
    {
        let wanted = if blocks.contains('=') { found } else { "the block lacks its `=======` (line 6)" };
        assert_eq!(brief(&blocks, Some("x")), wanted);
    }
    let noted = "<<<<<<< SEARCH\n:start_line:3\n-------\na\n=======\nb\n>>>>>>> REPLACE";
    assert_eq!(brief(noted, Some("x")), "edit x at 3 \"a\\n\" \"b\\n\"\n");
    let marks = "<<<<<<< SEARCH\n\\=======\n=======\n\\>>>>>>> REPLACE\n>>>>>>> REPLACE";
    assert_eq!(brief(marks, Some("x")), "edit x \"=======\\n\" \">>>>>>> REPLACE\\n\"\n");
    let new = "<<<<<<< SEARCH\n=======\na\n>>>>>>> REPLACE";
    assert_eq!(brief(new, Some("x")), "add x \"a\\n\"\n");
}

#[test]
fn blocks_that_could_mean_two_things_are_faults() {
    let whole = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    assert_eq!(brief(whole, None), "nothing says which file these blocks are about (line 1)");
    let faults = [
        ("<<<<<<< SEARCH\na\n=======\nb\n", "the block lacks its `>>>>>>> REPLACE` (line 4)"),
        (
            "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n",
            "a second line of `=`: which one divides the block? (line 5)",
        ),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "the block lacks its `=======` (line 3)"),
        ("<<<<<<< SEARCH\na\n=======\na\n>>>>>>> REPLACE\n", "this block changes nothing (line 1)"),
    ];
    for (text, why) in faults {
        assert_eq!(brief(text, Some("x")), why);
    }
    let between = format!("{whole}and then\n{whole}");
    let why = "a block begins with `<<<<<<< SEARCH`, and nothing may come between two blocks (line 6)";
    assert_eq!(brief(&between, Some("x")), why);
}
