//! Scenarios of the whole, over real sockets on each binding and in process.
#![cfg(test)]

mod harness;

mod agent_router;
mod boundary;
mod cancel;
mod coverage;
mod doctor;
mod endings;
mod faults;
mod hitl;
mod in_process;
mod kagent;
mod limits;
mod messages;
mod observe;
mod principals;
mod races;
mod requests;
mod sending;
mod session;
mod shutdown;
mod streams;
mod stress;
mod tools;
mod ui_rules;
mod usage;
