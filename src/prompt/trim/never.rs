//! `never`: what makes this layer shorter?
//!
//! In: nothing.
//! Out: nothing.
//! Never: makes a layer shorter. Where the rest cannot give way either, the prompt is an error that names the layer.

pub(super) fn trim() {}
