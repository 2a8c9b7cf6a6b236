//! What A2A agents and clients need on kagent.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "server")]
pub mod byo;
#[cfg(feature = "server")]
pub mod caller;
pub mod card;
#[cfg(feature = "client")]
pub mod client;
pub mod config;
pub mod hitl;
pub mod part;
#[cfg(feature = "server")]
pub mod tool;
pub mod uri;
pub mod usage;

#[cfg(feature = "client")]
pub use a2a_client;
pub use a2a_proto;
#[cfg(feature = "server")]
pub use a2a_server;
