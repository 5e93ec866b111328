//! graph-tool.
#![no_main]

armix_fuzz::target!("x.gt");
