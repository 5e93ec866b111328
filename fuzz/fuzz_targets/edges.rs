//! Edge lists.
#![no_main]

armix_fuzz::target!("x.edges");
