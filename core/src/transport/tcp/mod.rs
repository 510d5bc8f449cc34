//! Links over TCP: between hosts, and between nodes of one host when asked for.
