//! The bytes that the official clients send, met by our agent, each test named by the number of its fact.
//!
//! What the official agents send is met by our client in its own tests, where the scripted peers are.
