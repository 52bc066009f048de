//! Agreement: do expressions and templates mean the same as in minijinja, except for what [`DIFFERENCES`] lists?

use super::*;
use crate::value::values;
use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, Value as Jinja};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Where our engine fails and minijinja returns a value: a part of our message, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    ("this calculation takes numbers", "a truth or text in a calculation is a mistake"),
    ("`+` takes", "so is a sum of two kinds"),
    ("have no order", "only numbers and texts have an order: a condition on an absent value denies"),
    ("is not finite", "no limit holds for a number that is not finite"),
    ("too large for 64 bits", "JSON has no such number"),
    ("the keys of a map must be texts", "JSON has no such table"),
    ("the step of a slice", "engines differ in what a slice backwards leaves out"),
    ("the bounds of a slice", "only whole numbers are places"),
    ("nothing is divisible by 0", "a division by 0 is a mistake"),
    ("`map` takes the arguments", "minijinja ignores them"),
    ("`loop` ", "only the members of a loop that packs use"),
    ("takes no argument", "arguments are checked when the expression is read"),
    ("nested at most", "values are bounded in depth"),
    ("this takes too many steps", "evaluations are bounded"),
    ("this takes too much memory", "evaluations are bounded in bytes"),
];

/// How many random texts are tried; a nightly run raises the number.
fn cases(usual: u32) -> ProptestConfig {
    #[expect(clippy::disallowed_methods, reason = "the environment sets how many texts are tried")]
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .map_or(usual, |cases: u32| cases.max(usual));
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4096, ..ProptestConfig::default() }
}

fn to_jinja(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(truth) => Jinja::from(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Jinja::from(whole),
            (_, Some(whole)) => Jinja::from(whole),
            _ => Jinja::from(number.as_f64()),
        },
        Value::String(text) => Jinja::from(text.clone()),
        Value::Array(items) => Jinja::from_object(items.iter().map(to_jinja).collect::<Vec<_>>()),
        Value::Object(members) => {
            Jinja::from_pairs(members.iter().map(|(name, value)| (name.to_owned(), to_jinja(value))))
        }
    }
}

/// The value as JSON; `None` if JSON cannot represent it.
fn from_jinja(value: &Jinja) -> Option<Value> {
    Some(match value.kind() {
        ValueKind::Undefined | ValueKind::None => Value::Null,
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number if value.is_integer() => match i64::try_from(value.clone()) {
            Ok(whole) => whole.into(),
            Err(_) => u64::try_from(value.clone()).ok()?.into(),
        },
        ValueKind::Number => Value::Number(crate::value::Number::from_f64(f64::try_from(value.clone()).ok()?)?),
        ValueKind::String => value.as_str()?.into(),
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().ok()?.map(|item| from_jinja(&item)).collect::<Option<Vec<_>>>()?.into()
        }
        ValueKind::Map => {
            let names = value.try_iter().ok()?;
            let member = |name: Jinja| Some((name.as_str()?.to_owned(), from_jinja(&value.get_item(&name).ok()?)?));
            Value::Object(names.map(member).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Replaces tuples and lazy iterators by lists, at any depth.
fn listed(value: Jinja) -> Result<Jinja, Error> {
    Ok(match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            Jinja::from_object(value.try_iter()?.map(listed).collect::<Result<Vec<_>, _>>()?)
        }
        ValueKind::Undefined => Jinja::from(()),
        ValueKind::Invalid => return Err(Error::new(ErrorKind::InvalidOperation, value.to_string())),
        _ => value,
    })
}

/// minijinja, adapted to what `docs/pack` specifies: an absent value is `none`, filters take `none` for an empty value,
/// it prints as nothing, and other values print as JSON. Pairs are lists, the names of a table can be reversed, and a
/// boolean cannot be divided.
fn oracle() -> Environment<'static> {
    // Filters that apply other filters must apply the adapted ones.
    let mut inner = Environment::new();
    let others = super::super::filters().filter(|name| !APPLYING.contains(name)).collect::<Vec<_>>();
    adapt(&mut inner, &others, Environment::new);
    let mut environment = inner.clone();
    adapt(&mut environment, &APPLYING, move || inner.clone());
    environment
}

/// The oracle and the values of its scope, made once.
static ORACLE: LazyLock<(Environment<'static>, Jinja)> = LazyLock::new(|| (oracle(), context(&world())));

/// The filters that apply other filters or tests.
const APPLYING: [&str; 5] = ["map", "reject", "rejectattr", "select", "selectattr"];

fn adapt(environment: &mut Environment<'static>, filters: &[&'static str], plain: impl Fn() -> Environment<'static>) {
    let syntax = minijinja::syntax::SyntaxConfig::builder().keep_trailing_newline(true).build();
    environment.set_syntax(syntax.unwrap());
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
    for &name in filters {
        let nothing: Option<fn() -> Jinja> = match name {
            "capitalize" | "indent" | "lower" | "replace" | "string" | "title" | "trim" | "upper" => {
                Some(|| Jinja::from(""))
            }
            "dictsort" | "items" => Some(|| Jinja::from_pairs(Vec::<(Jinja, Jinja)>::new())),
            "abs" | "attr" | "bool" | "d" | "default" | "float" | "int" | "round" | "shows" | "tojson" | "xml" => None,
            _ => Some(|| Jinja::from_object(Vec::<Jinja>::new())),
        };
        let plain = plain();
        environment.add_filter(name, move |args: Rest<ValueOrKwargs>| {
            let mut args = args.into_values();
            let absent = args.first().is_some_and(|base| base.is_none() || base.is_undefined());
            match (absent, nothing, args.first_mut()) {
                (true, Some(nothing), Some(base)) => match name {
                    "capitalize" | "indent" | "lower" | "replace" | "string" | "title" | "trim" | "upper" | "lines"
                    | "split" => return Ok(nothing()),
                    _ => *base = nothing(),
                },
                (true, None, Some(base)) if matches!(name, "d" | "default") => *base = Jinja::UNDEFINED,
                (_, _, Some(base)) if name == "reverse" && base.kind() == ValueKind::Map => {
                    *base = Jinja::from_object(base.try_iter()?.collect::<Vec<_>>());
                }
                _ => {}
            }
            if matches!(name, "d" | "default") {
                return default(&args);
            }
            plain.empty_state().apply_filter(name, &args).and_then(listed)
        });
    }
    environment.add_filter("absent", |value: Jinja| if value.is_undefined() { Jinja::from(()) } else { value });
    // Ours is a list, as in Python's Jinja: there, it `is sequence`.
    environment.add_function("range", |lower: isize, upper: Option<isize>, step: Option<isize>| {
        let range = minijinja::functions::range(lower, upper, step)?;
        range.try_iter().map(|items| Jinja::from_object(items.collect::<Vec<_>>()))
    });
    environment.add_test("defined", |value: &Jinja| !value.is_none() && !value.is_undefined());
    environment.add_test("undefined", |value: &Jinja| value.is_none() || value.is_undefined());
    environment.add_test("iterable", |value: &Jinja| !value.is_none() && value.try_iter().is_ok());
    environment.add_test("in", |value: &Jinja, holder: &Jinja| match holder.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(false),
        ValueKind::String if value.is_none() => Ok(false),
        ValueKind::String => Ok(holder.as_str().unwrap().contains(&value.to_string())),
        ValueKind::Map => Ok(value.as_str().is_some() && !holder.get_item(value)?.is_undefined()),
        ValueKind::Seq | ValueKind::Iterable => Ok(holder.try_iter()?.any(|item| item == *value)),
        _ => Err(Error::new(ErrorKind::InvalidOperation, "no container")),
    });
    for (name, ends) in [("startingwith", false), ("endingwith", true)] {
        environment.add_test(name, move |one: &Jinja, other: &Jinja| {
            let texts = one.as_str().zip(other.as_str());
            texts.is_some_and(|(one, other)| if ends { one.ends_with(other) } else { one.starts_with(other) })
        });
    }
    environment.add_test("divisibleby", |one: &Jinja, other: &Jinja| {
        let numbers = [one, other].iter().all(|value| value.kind() == ValueKind::Number);
        if numbers && f64::try_from(other.clone())? == 0.0 {
            return Err(Error::new(ErrorKind::InvalidOperation, "a division by 0"));
        }
        Ok(numbers && minijinja::tests::is_divisibleby(one, other))
    });
    environment.set_formatter(|out, _, value| {
        let text = match value.kind() {
            ValueKind::Undefined | ValueKind::None => String::new(),
            ValueKind::Number | ValueKind::String => value.to_string(),
            _ => from_jinja(value).ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "no JSON"))?.to_string(),
        };
        out.write_str(&text).map_err(Error::from)
    });
}

/// The filter `default`: `default(none)` means the same as `default` without a value.
fn default(args: &[Jinja]) -> Result<Jinja, Error> {
    let (args, named): (&[Jinja], Kwargs) = minijinja::value::from_args(args)?;
    let [base, rest @ ..] = args else { return Err(Error::from(ErrorKind::MissingArgument)) };
    let other = rest.first().cloned().or(named.get("default_value")?).filter(|other| !other.is_none());
    let lax = rest.get(1).cloned().or(named.get("boolean")?).map_or(Ok(false), bool::try_from)?;
    named.assert_all_used()?;
    let absent = base.is_undefined() || base.is_none() || (lax && !base.is_true());
    Ok(if absent { other.unwrap_or_else(|| Jinja::from("")) } else { base.clone() })
}

/// An expression to be compared. minijinja needs some words that our language does not.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(String),
    /// A path or subscript that may be absent.
    Part(Box<Tree>, String),
    /// A filter, a test or another suffix.
    Suffix(Box<Tree>, String),
    Prefix(&'static str, Box<Tree>),
    Binary(Box<Tree>, &'static str, Box<Tree>),
    Choice(Box<[Tree; 3]>),
    List(Vec<Tree>),
    Table(Vec<(&'static str, Tree)>),
}

impl Tree {
    fn text(&self, ours: bool) -> String {
        let text = |tree: &Tree| tree.text(ours);
        match self {
            Tree::Leaf(leaf) => leaf.clone(),
            Tree::Part(base, part) if ours => format!("({}){part}", text(base)),
            Tree::Part(base, part) => format!("((({}){part})|absent)", text(base)),
            Tree::Suffix(base, suffix) => format!("(({}) {suffix})", text(base)),
            Tree::Prefix(sign, inner) => format!("({sign} {})", text(inner)),
            Tree::Binary(one, "in", other) if !ours => format!("(({}) is in({}))", text(one), text(other)),
            Tree::Binary(one, "not in", other) if !ours => format!("(({}) is not in({}))", text(one), text(other)),
            Tree::Binary(one, sign @ ("in" | "not in"), other) => format!("(({}) {sign} ({}))", text(one), text(other)),
            Tree::Binary(one, sign, other) => format!("{} {sign} {}", text(one), text(other)),
            Tree::Choice(parts) => {
                let [then, test, other] = &**parts;
                format!("({} if {} else {})", text(then), text(test), text(other))
            }
            Tree::List(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
            Tree::Table(members) => {
                let members: Vec<String> =
                    members.iter().map(|(name, tree)| format!("'{name}': {}", text(tree))).collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }
}

/// Values of every kind, as an expression spells them.
const KINDS: [&str; 22] = [
    "none",
    "params.nil",
    "true",
    "false",
    "0",
    "3",
    "-2",
    "2.5",
    "params.f",
    "1e300",
    "state.big",
    "''",
    "'a b'",
    "params.title",
    "'1'",
    "[]",
    "[1, 'x', none]",
    "params.list",
    "[[2, 'b'], [1, 'a']]",
    "{}",
    "{'b': 1, 'a': none}",
    "state.profiles",
];

const BINARY: [&str; 18] =
    ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"];

/// Filters, tests, subscripts and slices.
const SUFFIXES: &[&str] = &[
    "| abs",
    "| attr('a')",
    "| attr(0)",
    "| batch(2)",
    "| batch(2, 'x')",
    "| bool",
    "| capitalize",
    "| chain([1])",
    "| chain({'z': 1})",
    "| count",
    "| d",
    "| d('x')",
    "| default(3, true)",
    "| default(default_value=3)",
    "| dictsort",
    "| dictsort(reverse=true)",
    "| dictsort(by='value')",
    "| first",
    "| float",
    "| float(7)",
    "| float(default=7)",
    "| indent",
    "| indent(2, true)",
    "| indent(width=1, blank=true)",
    "| int",
    "| int(7)",
    "| int(default=7)",
    "| int(0, 16)",
    "| items",
    "| join",
    "| join(', ')",
    "| join(d='-')",
    "| join('+', attribute='0')",
    "| last",
    "| length",
    "| lines",
    "| list",
    "| lower",
    "| map('string')",
    "| map('int')",
    "| map('default', 1)",
    "| map('upper')",
    "| map(attribute='0')",
    "| map(attribute='a', default='n')",
    "| max",
    "| min",
    "| max(attribute='0')",
    "| reject('string')",
    "| reject('in', [1])",
    "| reject",
    "| rejectattr('0')",
    "| replace('a', 'bb')",
    "| replace('', '-')",
    "| reverse",
    "| round",
    "| round(1)",
    "| round(-1)",
    "| round(1, 'ceil')",
    "| round(method='floor')",
    "| select",
    "| select('string')",
    "| select('eq', 1)",
    "| select('>', 0)",
    "| selectattr('0')",
    "| selectattr('0', 'eq', 2)",
    "| slice(2)",
    "| slice(2, 'x')",
    "| sort",
    "| sort(reverse=true)",
    "| sort(attribute='0')",
    "| sort(case_sensitive=true)",
    "| sort(attribute='1, 0')",
    "| split",
    "| split('a')",
    "| split('a', 1)",
    "| split(none, 1)",
    "| split('')",
    "| string",
    "| sum",
    "| sum(start=1)",
    "| sum(attribute='0')",
    "| title",
    "| trim",
    "| trim('a')",
    "| trim('a\"')",
    "| unique",
    "| unique(attribute='0')",
    "| unique(case_sensitive=true)",
    "| upper",
    "| zip([1, 2])",
    "| zip",
    "is boolean",
    "is defined",
    "is divisibleby 2",
    "is divisibleby(1.5)",
    "is endingwith 'b'",
    "is eq 1",
    "is equalto('a b')",
    "is even",
    "is false",
    "is float",
    "is ge(1)",
    "is greaterthan 1",
    "is gt 1",
    "is in [1, 'a b']",
    "is in('a b c')",
    "is in({'a': 1})",
    "is int",
    "is integer",
    "is iterable",
    "is le 1",
    "is lessthan('b')",
    "is lower",
    "is lt 1",
    "is mapping",
    "is ne none",
    "is none",
    "is not none",
    "is number",
    "is odd",
    "is sequence",
    "is startingwith 'a'",
    "is string",
    "is true",
    "is not true",
    "is undefined",
    "is upper",
    "[1:]",
    "[:-1]",
    "[::2]",
    "[-2:9:1]",
    "[none:2]",
];

const PARTS: [&str; 9] = [".a", ".title", "['b']", "[0]", ".1", "[-1]", "[7]", "[1.0]", "['a' ~ '']"];

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => prop::sample::select(vec![
            "params.key", "params.n", "params.f", "params.yes", "params.list", "params.title", "state.turns", "state.big",
            "state.profiles", "state.profiles.p1.pages", "state.work_order", "state.selected", "item.x", "item.title", "text",
        ]),
        3 => prop::sample::select(KINDS.to_vec()),
        1 => prop::sample::select(vec!["1", "1.5", "1e3", "'p1'", "false", "range(3)", "range(5, 1, -2)", "[1, 'x']", "{'a': 1}"]),
    ]
    .prop_map(|leaf| Tree::Leaf(leaf.to_owned()));
    leaf.prop_recursive(5, 24, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (boxed(), prop::sample::select(BINARY.to_vec()), boxed()).prop_map(|(one, sign, other)| Tree::Binary(one, sign, other)),
            5 => (boxed(), prop::sample::select(SUFFIXES.to_vec())).prop_map(|(of, suffix)| Tree::Suffix(of, suffix.to_owned())),
            1 => (boxed(), prop::sample::select(PARTS.to_vec())).prop_map(|(of, part)| Tree::Part(of, part.to_owned())),
            1 => (boxed(), prop::sample::select(vec!["not", "-"])).prop_map(|(of, sign)| Tree::Prefix(sign, of)),
            1 => [inner.clone(), inner.clone(), inner.clone()].prop_map(|parts| Tree::Choice(Box::new(parts))),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Tree::List),
            1 => inner.clone().prop_map(|tree| Tree::Table(vec![("a", tree)])),
        ]
    })
}

/// A template to be compared, in our spelling or in that of minijinja.
#[derive(Debug, Clone)]
enum Text {
    Words(&'static str),
    Print(Tree),
    Set(&'static str, Tree),
    If(Tree, Vec<Text>, Vec<Text>),
    For(&'static str, Tree, Option<Tree>, Vec<Text>, Vec<Text>),
}

impl Text {
    fn text(&self, ours: bool) -> String {
        let all = |texts: &[Text]| texts.iter().map(|text| text.text(ours)).collect::<String>();
        match self {
            Text::Words(words) => (*words).to_owned(),
            Text::Print(tree) => format!("<{{{{ {} }}}}>", tree.text(ours)),
            Text::Set(name, tree) => format!("{{% set {name} = {} %}}", tree.text(ours)),
            Text::If(test, then, other) => {
                format!("{{% if {} %}}{}{{% else %}}{}{{% endif %}}", test.text(ours), all(then), all(other))
            }
            Text::For(names, items, when, body, other) => {
                let when = when.as_ref().map_or_else(String::new, |when| format!(" if ({})", when.text(ours)));
                // In minijinja, `loop.last` is never true in a loop over the characters of a text.
                let list = if ours { "" } else { " | list" };
                let items = format!("({}){list}", items.text(ours));
                format!("{{% for {names} in ({items}){when} %}}{}{{% else %}}{}{{% endfor %}}", all(body), all(other))
            }
        }
    }
}

fn texts() -> impl Strategy<Value = Text> {
    let named = prop::sample::select(vec![
        "x",
        "k",
        "v",
        "loop.index",
        "loop.index0",
        "loop.first",
        "loop.last",
        "loop.length",
        "[x, k] | join('+')",
        "state.turns | int",
        "['7', 3] | map('int') | sort(reverse=true)",
        "x is string",
        "(v or '') | string | trim",
    ]);
    let named = named.prop_map(|leaf| Tree::Suffix(Box::new(Tree::Leaf(leaf.to_owned())), "| absent".to_owned()));
    let part = (prop::sample::select(vec!["x", "v", "k"]), prop::sample::select(PARTS.to_vec()))
        .prop_map(|(name, part)| Tree::Part(Box::new(Tree::Leaf(name.to_owned())), part.to_owned()));
    let value = prop_oneof![3 => named, 1 => part, 2 => trees()].boxed();
    let each = prop::sample::select(vec![
        "params.list",
        "state.profiles",
        "state.profiles | items",
        "state.work_order | items | selectattr('1.status', 'eq', 'open')",
        "state.profiles.p1.pages",
        "[1, 'a', none]",
        "[[1, 2], ['a', none]]",
        "'ab'",
        "[]",
        "{}",
    ])
    .prop_map(|leaf| Tree::Leaf(leaf.to_owned()))
    .boxed();
    let words = prop::sample::select(vec![
        " a ",
        "\n",
        "{#- c -#}",
        "{# c #} ",
        "{% raw %}{{ x }}{% endraw %}",
        "  {%- if true -%} \n b {%- endif %}",
    ]);
    let leaf = prop_oneof![
        words.prop_map(Text::Words),
        value.clone().prop_map(Text::Print),
        (prop::sample::select(vec!["x", "k"]), value.clone()).prop_map(|(name, value)| Text::Set(name, value)),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..4);
        let names = prop::sample::select(vec!["x", "k, v", "(k, v)"]);
        prop_oneof![
            (value.clone(), body(), body()).prop_map(|(test, then, other)| Text::If(test, then, other)),
            (
                names,
                prop_oneof![3 => each.clone(), 1 => value.clone()],
                prop::option::of(value.clone()),
                body(),
                body()
            )
                .prop_map(|(names, items, when, body, other)| Text::For(names, items, when, body, other)),
        ]
    })
}

/// The context for minijinja: the names of the scope, and those that a statement may not have bound yet, as `none`.
fn context(world: &Value) -> Jinja {
    let names = ["x", "k", "v", "loop"].map(|name| (name.to_owned(), Jinja::from(())));
    let world = world.as_object().into_iter().flatten().map(|(name, value)| (name.to_owned(), to_jinja(value)));
    Jinja::from_pairs(world.chain(names))
}

/// Compares our result with that of the oracle. An error describes the difference.
fn verdict(what: &str, ours: Result<Value, String>, theirs: Result<Option<Value>, String>) -> Result<(), String> {
    match (ours, theirs) {
        (Ok(ours), Ok(Some(theirs))) if ours == theirs => Ok(()),
        (Ok(ours), Ok(theirs)) => Err(format!("{what} is {ours}, not {theirs:?}")),
        (Ok(ours), Err(message)) => Err(format!("{what} is {ours}, and fails there: {message}")),
        (Err(_), Ok(None) | Err(_)) => Ok(()),
        (Err(message), Ok(Some(theirs))) => match DIFFERENCES.iter().any(|(part, _)| message.contains(part)) {
            true => Ok(()),
            false => Err(format!("{what} fails, and is {theirs} there: {message}")),
        },
    }
}

/// Compares the value of an expression.
fn compare(world: &Value, tree: &Tree) -> Result<(), String> {
    let (oracle, context) = &*ORACLE;
    let (text, other) = (tree.text(true), tree.text(false));
    let ours = Expression::parse(&spanned(&text)).map_err(|fault| fault.message.to_string());
    let ours = ours.and_then(|ours| ours.value(&scope(world)).map_err(|failure| failure.message));
    let theirs = oracle.compile_expression(&other).and_then(|theirs| theirs.eval(context));
    verdict(&text, ours, theirs.map(|theirs| from_jinja(&theirs)).map_err(|error| error.to_string()))
}

#[test]
fn every_operator_filter_and_test_means_what_it_means_in_minijinja() {
    assert!(DIFFERENCES.len() <= 15);
    let world = world();
    let leaf = |text: &str| Box::new(Tree::Leaf(text.to_owned()));
    let mut trees = Vec::new();
    for one in KINDS {
        trees.extend(SUFFIXES.iter().map(|suffix| Tree::Suffix(leaf(one), (*suffix).to_owned())));
        trees.extend(PARTS.iter().map(|part| Tree::Part(leaf(one), (*part).to_owned())));
        trees.extend(["not", "-"].map(|sign| Tree::Prefix(sign, leaf(one))));
        for other in KINDS {
            trees.extend(BINARY.map(|sign| Tree::Binary(leaf(one), sign, leaf(other))));
        }
    }
    let wrong: Vec<String> = trees.iter().filter_map(|tree| compare(&world, tree).err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), trees.len(), wrong.join("\n"));
}

/// As in minijinja, a minus binds tighter than a filter, and `not` less tightly.
#[test]
fn filters_bind_between_minus_and_not() {
    let (oracle, context) = &*ORACLE;
    for (text, expected) in [("-3 | abs", json!(3)), ("not [] | length", json!(true)), ("2 * -3 | abs", json!(6))] {
        let theirs = oracle.compile_expression(text).and_then(|theirs| theirs.eval(context));
        assert_eq!(theirs.ok().and_then(|theirs| from_jinja(&theirs)), Some(expected.clone()), "{text}");
        let ours = Expression::parse(&spanned(text)).expect(text).value(&Scope::new());
        assert_eq!(ours, Ok(expected), "{text}");
    }
}

/// Every filter and test of the tables is in the lists that are compared, except for those that only our language has,
/// or defines in another way.
#[test]
fn every_filter_and_test_is_tried() {
    let tried = |before: &str, name: &str| {
        SUFFIXES.iter().any(|suffix| {
            suffix.strip_prefix(before).is_some_and(|rest| {
                rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
            })
        })
    };
    let missing: Vec<&str> = super::super::filters().filter(|name| !tried("| ", name)).collect();
    assert_eq!(missing, ["command", "shows", "tojson", "xml"]);
    let missing: Vec<&str> = super::super::predicates().filter(|name| !tried("is ", name)).collect();
    assert_eq!(missing, ["!=", "<", "<=", "==", ">", ">=", "luhn", "matching"]);
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn an_expression_means_what_minijinja_makes_of_it(tree in trees()) {
        prop_assert_eq!(compare(&world(), &tree), Ok(()));
    }

}

proptest! {
    #![proptest_config(cases(2_500))]

    #[test]
    fn a_template_means_what_minijinja_makes_of_it(parts in prop::collection::vec(texts(), 2..4)) {
        let world = world();
        let text = |ours| parts.iter().map(|part| part.text(ours)).collect::<String>();
        let ours = Template::parse(&spanned(&text(true).replace(" | absent)", ")"))).map_err(|fault| fault.message.to_string());
        let ours = ours.and_then(|ours| ours.text(&scope_with_names(&world)).map_err(|failure| failure.message));
        let theirs = ORACLE.0.render_str(&text(false), &ORACLE.1);
        let theirs = theirs.map(|text| Some(Value::from(text))).map_err(|error| error.to_string());
        prop_assert_eq!(verdict(&text(true), ours.map(Value::from), theirs), Ok(()));
    }
}

/// The scope, in which the names that statements may bind later are `none`.
fn scope_with_names(world: &Value) -> Scope<'_> {
    ["x", "k", "v", "loop"].into_iter().fold(scope(world), |scope, name| scope.with_owned(name, Value::Null))
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// A path alone has the same value as inside an expression, which does not take the fast path.
    #[test]
    fn a_path_alone_means_what_it_means_in_an_expression(v in values()) {
        let scope = Scope::new().with("v", &v);
        for (alone, evaluated) in [("v", "[v] | first"), ("v.a", "([v] | first).a"), ("v[0]", "([v] | first)[0]")] {
            let parse = |text: &str| Expression::parse(&spanned(text)).expect(text);
            prop_assert_eq!(parse(alone).value(&scope), parse(evaluated).value(&scope));
            prop_assert_eq!(parse(alone).holds(&scope), parse(evaluated).holds(&scope));
            let print = |text: &str| Template::parse(&spanned(&format!("<{{{{ {text} }}}}>"))).expect(text).text(&scope);
            prop_assert_eq!(print(alone), print(evaluated));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n]{0,40}|(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}|for|if|x|in|end|set|raw|else|-|'|\"|\\\\u|[ .|()=1]){0,14}") {
        let world = world();
        if let Ok(template) = Template::parse(&spanned(&text)) {
            let _ = template.render(&scope(&world));
        }
        if let Ok(expression) = Expression::parse(&spanned(&text)) {
            let _ = expression.value(&scope(&world));
        }
    }
}
