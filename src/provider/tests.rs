//! Tests of provider: which parts are read, and what is refused?
//!
//! In: messages of each provider.
//! Out: nothing.
//! Never: judges a reply.

use super::*;
