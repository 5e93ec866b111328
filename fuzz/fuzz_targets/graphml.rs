//! GraphML.
#![no_main]

armix_fuzz::target!("x.graphml");
