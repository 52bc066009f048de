//! Roots: can paths in answers start with the declared root?
//!
//! In: `root` of `[pack]`.
//! Out: a finding for each root that is not an absolute path.
//! Never: checks whether the folder exists: the model knows it by this path, on whatever machine.

use crate::diagnostic::{Code, Diagnostic};
use crate::surface::Surface;
use crate::text::excerpt;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    for root in surface.about.iter().flat_map(|about| &about.root.0) {
        let path = root.value.trim();
        let mut letters = path.chars();
        let is_drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':');
        if path.starts_with(['/', '\\'])
            || (is_drive && path.get(2..).is_some_and(|rest| rest.starts_with(['/', '\\'])))
        {
            continue;
        }
        let message = format!("the root `{}` is no absolute path", excerpt(path, 60));
        let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, root.at, message);
        diagnostics.push(fault.with_help("paths in answers that are relative are below the root already"));
    }
}
