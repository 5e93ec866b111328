//! Pajek.
#![no_main]

armix_fuzz::target!("x.net");
