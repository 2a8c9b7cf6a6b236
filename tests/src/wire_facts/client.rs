//! Scripted peers that answer as the official agents do, met by our client.
