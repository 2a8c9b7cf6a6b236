//! The bytes that the official clients send, met by our agent.
