//! How the official SDKs behave on the wire, replayed without them, each test named by the number of its fact.

mod agent;
mod client;
