//! For the tests of agents and of stores.

pub mod store;
