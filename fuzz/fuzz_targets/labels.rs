//! Label files.
#![no_main]

armix_fuzz::target!("labels");
