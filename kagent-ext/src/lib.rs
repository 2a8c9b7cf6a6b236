//! What A2A agents and clients need on kagent.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod config;
pub mod hitl;
pub mod part;
pub mod uri;
pub mod usage;

pub use a2a_proto;
