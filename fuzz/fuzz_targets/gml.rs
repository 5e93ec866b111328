//! GML.
#![no_main]

armix_fuzz::target!("x.gml");
