//! Any grammar is refused, or recognises a text within its budget of steps, with the same result for a text in pieces
//! as for the whole. A NUL byte separates the grammar from the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::grammar::{Grammar, Machine, Progress};
use rulebook::text::SourceId;

const STEPS: i64 = 100_000;

fuzz_target!(|data: &str| {
    let (source, text) = data.split_once('\0').unwrap_or((data, "<a b=\"c\">[ACTION_X]{\"d\": [1, 2]}</a>"));
    let Some(grammar) = Grammar::parse(SourceId::RESPONSE, source).value else { return };
    for name in ["open", "close", "payload", "a"] {
        let Some(rule) = grammar.rule(name) else { continue };
        let mut whole = Machine::new();
        whole.start(&grammar, rule, 0);
        let expected = whole.run(&grammar, text, true, &mut { STEPS });
        let mut pieces = Machine::new();
        pieces.start(&grammar, rule, 0);
        let mut steps = 2 * STEPS;
        let mut got = Progress::Pending;
        for (end, _) in text.char_indices().skip(1) {
            got = pieces.run(&grammar, &text[..end], false, &mut steps);
            if got != Progress::Pending {
                break;
            }
        }
        if got == Progress::Pending {
            got = pieces.run(&grammar, text, true, &mut steps);
        }
        if expected != Progress::Spent && got != Progress::Spent {
            assert_eq!(got, expected);
        }
    }
});
