//! Matrix Market.
#![no_main]

armix_fuzz::target!("x.mtx");
