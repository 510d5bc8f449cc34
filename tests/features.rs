//! Every feature of the programming model, in every manner of running: each module is about one part of it.

#![allow(dead_code, missing_docs)]

mod common;

mod features {
    mod again;
    mod arrays;
    mod balancing;
    mod blamed;
    mod callbacks;
    mod checkpoints;
    mod destroy;
    mod drops;
    mod ends;
    mod flows;
    mod groups;
    mod holding;
    mod insertion;
    mod late;
    mod leaving;
    mod limits;
    mod logging;
    mod lost;
    mod membership;
    mod migration;
    mod placement;
    mod priorities;
    mod quiet;
    mod reductions;
    mod replay;
    mod sections;
    mod shared;
    mod singles;
    mod statistics;
    mod stuck;
    mod undelivered;
    mod values;
}
