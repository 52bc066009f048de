//! stub
mod masks;
