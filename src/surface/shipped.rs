//! Shipped packs: which dialects does Rulebook come with?
//!
//! In: `rules/reasoning` and the packs of `rules/dialects/`, included in the build.
//! Out: their folders, by the name that `use` has after `std:`.
//! Never: looks into a folder of the disk, or treats a shipped pack differently from any other that is used.

use super::Folder;
use crate::diagnostic::alternatives;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What comes before the name of a shipped pack in `use`.
const STD: &str = "std:";

macro_rules! packs {
    ($($folder:literal { $($name:literal: $($file:literal)*,)* })*) => {
        [$($(($name, &[$(($file, include_str!(concat!("../../", $folder, $name, "/", $file)))),*]),)*)*]
    };
}

/// The files of a pack: the path of each, and its text.
type ShippedFiles = &'static [(&'static str, &'static str)];

const PACKS: &[(&str, ShippedFiles)] = &packs! {
    "rules/" {
        "reasoning": "pack.toml" "grammar/closing.pest" "grammar/opening.pest" "grammar/reasoning.pest",
    }
    "rules/dialects/" {
        "aider": "pack.toml" "grammar/aider.pest",
        "anthropic-xml": "pack.toml",
        "bolt": "pack.toml",
        "cline": "pack.toml",
        "codex-patch": "pack.toml" "grammar/codex-patch.pest",
        "cohere": "pack.toml" "grammar/marks.pest",
        "deepseek-dsml": "pack.toml" "grammar/calls.pest" "grammar/parameters.pest",
        "deepseek-v3": "pack.toml" "grammar/tokens.pest",
        "deepseek-v3.1": "pack.toml" "grammar/tokens.pest",
        "dyad": "pack.toml",
        "functiongemma": "pack.toml" "grammar/calls.pest" "grammar/tokens.pest",
        "gemma": "pack.toml" "grammar/calls.pest" "grammar/marks.pest",
        "glm": "pack.toml" "grammar/arguments.pest" "grammar/calls.pest",
        "granite": "pack.toml" "grammar/marks.pest",
        "harmony": "pack.toml" "grammar/channels.pest",
        "hermes": "pack.toml" "grammar/tokens.pest",
        "hunyuan": "pack.toml" "grammar/tokens.pest",
        "internlm2": "pack.toml" "grammar/marks.pest",
        "kimi-k2": "pack.toml" "grammar/tokens.pest",
        "llama3-json": "pack.toml" "grammar/calls.pest",
        "llama3-tag": "pack.toml" "grammar/functions.pest",
        "minimax-m2": "pack.toml" "grammar/tokens.pest",
        "mistral": "pack.toml" "grammar/listed.pest" "grammar/named.pest" "grammar/thoughts.pest",
        "nemotron": "pack.toml" "grammar/tokens.pest",
        "phi-4": "pack.toml" "grammar/marks.pest",
        "pythonic": "pack.toml" "grammar/calls.pest" "grammar/tokens.pest",
        "qwen3-coder": "pack.toml" "grammar/functions.pest" "grammar/parameters.pest",
        "react": "pack.toml" "grammar/steps.pest",
        "seed-oss": "pack.toml" "grammar/functions.pest" "grammar/parameters.pest" "grammar/tokens.pest",
        "step3": "pack.toml" "grammar/tokens.pest",
        "unified-diff": "pack.toml" "grammar/unified-diff.pest",
        "whole-file": "pack.toml" "grammar/whole-file.pest",
        "xlam": "pack.toml" "grammar/lists.pest",
    }
};

static FOLDERS: LazyLock<BTreeMap<&str, Folder>> = LazyLock::new(|| {
    let folder = |(name, files): &(&'static str, ShippedFiles)| {
        (*name, Folder::new(format!("{STD}{name}"), files.iter().copied()))
    };
    PACKS.iter().map(folder).collect()
});

/// The name of a shipped pack in `use`, without `std:`; none for a path.
#[doc(hidden)]
pub fn std_name(path: &str) -> Option<&str> {
    path.strip_prefix(STD)
}

/// The shipped pack of this name.
#[doc(hidden)]
pub fn shipped_pack(name: &str) -> Option<&'static Folder> {
    FOLDERS.get(name)
}

/// The names of all shipped packs, sorted.
#[doc(hidden)]
pub fn shipped_packs() -> impl Iterator<Item = &'static str> {
    FOLDERS.keys().copied()
}

/// What to say to somebody who names a pack that is not shipped: those that are for the model or the parser of this
/// name, by the first lines of their files, or else the nearest names.
#[doc(hidden)]
#[must_use]
pub fn shipped_instead(name: &str) -> String {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let wanted = plain(name);
    let about = |name: &str| {
        let file =
            shipped_pack(name).and_then(|pack| pack.files.get("pack.toml")).map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(file).lines().take_while(|line| *line != "[pack]").map(plain).collect::<String>()
    };
    let reads: Vec<&str> = shipped_packs().filter(|name| wanted.len() > 2 && about(name).contains(&wanted)).collect();
    match reads.as_slice() {
        [] => alternatives(name, shipped_packs()).unwrap_or_default(),
        [one] => format!("`{one}` reads what that writes"),
        several => {
            format!("`{}` read what models of that name write: `rulebook explain std:NAME`", several.join("`, `"))
        }
    }
}
