//! How a datatype was made (MPI-3.1, 4.1.13).

use talisman_pup::Pup;

/// The call that has made a datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Combiner {
    /// None: it is predefined.
    Named,
    /// `MPI_Type_dup`.
    Dup,
    /// `MPI_Type_contiguous`.
    Contiguous,
    /// `MPI_Type_vector`.
    Vector,
    /// `MPI_Type_create_hvector`.
    Hvector,
    /// `MPI_Type_indexed`.
    Indexed,
    /// `MPI_Type_create_hindexed`.
    Hindexed,
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock,
    /// `MPI_Type_create_struct`.
    Struct,
    /// `MPI_Type_create_subarray`.
    Subarray,
    /// `MPI_Type_create_darray`.
    Darray,
    /// `MPI_Type_create_f90_real`.
    F90Real,
    /// `MPI_Type_create_f90_complex`.
    F90Complex,
    /// `MPI_Type_create_f90_integer`.
    F90Integer,
    /// `MPI_Type_create_resized`.
    Resized,
    /// `MPI_Type_create_hindexed_block`.
    HindexedBlock,
}

/// The call and what it was given, in the order of MPI's tables.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Envelope {
    /// Which call.
    pub combiner: Combiner,
    /// Whether its counts have 64 bits (`…_c`).
    pub is_large: bool,
    /// Numbers.
    pub integers: Vec<i64>,
    /// Displacements in bytes.
    pub addresses: Vec<i64>,
    /// Datatypes, by their handles.
    pub datatypes: Vec<u32>,
}

impl Envelope {
    /// Of what no call of the program has made.
    pub const NAMED: Envelope = Envelope {
        combiner: Combiner::Named,
        is_large: false,
        integers: Vec::new(),
        addresses: Vec::new(),
        datatypes: Vec::new(),
    };

    /// What the call was given, as `MPI_Type_get_contents_c` tells it.
    pub fn contents(&self) -> Contents {
        let Envelope { integers, addresses, .. } = self;
        if !self.is_large {
            return Contents {
                integers: integers.clone(),
                addresses: addresses.clone(),
                ..Contents::default()
            };
        }
        // These have numbers that are no counts around their counts.
        let counts = match self.combiner {
            Combiner::Subarray => 1..integers.len().saturating_sub(1).max(1),
            Combiner::Darray => 3..3 + integers.get(2).map_or(0, |dimensions| *dimensions as usize),
            _ => 0..integers.len(),
        };
        let (before, rest) = integers.split_at(counts.start.min(integers.len()));
        let (counts, behind) = rest.split_at(counts.len().min(rest.len()));
        Contents {
            integers: [before, behind].concat(),
            addresses: Vec::new(),
            counts: [counts, addresses].concat(),
        }
    }
}

/// What a call was given, by what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Numbers of 32 bits.
    pub integers: Vec<i64>,
    /// Displacements in bytes.
    pub addresses: Vec<i64>,
    /// Counts and displacements of 64 bits.
    pub counts: Vec<i64>,
}
