//! Links through memory that the nodes of one host share.
