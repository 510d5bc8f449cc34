//! Classes of errors (MPI-3.1, 8.4). Codes are classes: the interfaces number them differently.

use std::ffi::c_int;

use talisman_ampi::comm::{TooMany, UnknownCommunicator};
use talisman_ampi::datatype::{BuildError, UnknownDatatype};
use talisman_ampi::engine::{StartError, UnknownRequest};
use talisman_ampi::op::UnknownOp;
use talisman_ampi::process::PerformError;
use talisman_ampi::rank::CallError;

macro_rules! classes {
    ($($class:ident $name:literal $text:literal $mpich:literal $openmpi:literal $standard:literal;)*) => {
        /// A class of errors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Class {
            $(#[doc = $text] $class,)*
        }

        /// All classes: class, name, text, the numbers of MPICH, Open MPI and the standard.
        pub const CLASSES: &[(Class, &str, &str, c_int, c_int, c_int)] =
            &[$((Class::$class, $name, $text, $mpich, $openmpi, $standard),)*];
    };
}

classes! {
    Buffer "MPI_ERR_BUFFER" "invalid buffer" 1 1 1;
    Count "MPI_ERR_COUNT" "invalid count" 2 2 2;
    Type "MPI_ERR_TYPE" "invalid datatype" 3 3 3;
    Tag "MPI_ERR_TAG" "invalid tag" 4 4 4;
    Comm "MPI_ERR_COMM" "invalid communicator" 5 5 5;
    Rank "MPI_ERR_RANK" "invalid rank" 6 6 6;
    Root "MPI_ERR_ROOT" "invalid root" 7 8 8;
    Group "MPI_ERR_GROUP" "invalid group" 8 9 9;
    Op "MPI_ERR_OP" "invalid operation, or one that these values do not have" 9 10 10;
    Topology "MPI_ERR_TOPOLOGY" "invalid topology" 10 11 11;
    Dims "MPI_ERR_DIMS" "invalid dimensions" 11 12 12;
    Arg "MPI_ERR_ARG" "invalid argument" 12 13 13;
    Unknown "MPI_ERR_UNKNOWN" "unknown error" 13 14 14;
    Truncate "MPI_ERR_TRUNCATE" "message longer than the buffer" 14 15 15;
    Other "MPI_ERR_OTHER" "no rank calls, or the call is not possible now" 15 16 16;
    Intern "MPI_ERR_INTERN" "error of the runtime" 16 17 17;
    InStatus "MPI_ERR_IN_STATUS" "the error is in a status" 17 18 19;
    Pending "MPI_ERR_PENDING" "request that has not ended" 18 19 18;
    Request "MPI_ERR_REQUEST" "invalid request" 19 7 7;
    Info "MPI_ERR_INFO" "invalid info object" 28 34 34;
    InfoKey "MPI_ERR_INFO_KEY" "key of an info object too long" 29 31 31;
    InfoValue "MPI_ERR_INFO_VALUE" "value of an info object too long" 30 33 33;
    InfoNokey "MPI_ERR_INFO_NOKEY" "key that an info object does not have" 31 32 32;
    Name "MPI_ERR_NAME" "name that was not published" 33 38 38;
    NoMem "MPI_ERR_NO_MEM" "no memory left" 34 39 39;
    UnsupportedOperation "MPI_ERR_UNSUPPORTED_OPERATION" "operation that is not supported" 44 52 55;
    Keyval "MPI_ERR_KEYVAL" "invalid key of attributes" 48 36 36;
    File "MPI_ERR_FILE" "invalid file" 27 30 30;
    Win "MPI_ERR_WIN" "invalid window" 45 53 56;
    Size "MPI_ERR_SIZE" "invalid size" 51 49 52;
    Disp "MPI_ERR_DISP" "invalid displacement" 52 26 26;
    Access "MPI_ERR_ACCESS" "no permission" 20 20 20;
    Amode "MPI_ERR_AMODE" "invalid mode of access" 21 21 21;
    BadFile "MPI_ERR_BAD_FILE" "invalid name of a file" 22 23 23;
    Conversion "MPI_ERR_CONVERSION" "error in a conversion" 23 25 25;
    DupDatarep "MPI_ERR_DUP_DATAREP" "data representation that is there already" 24 27 27;
    FileExists "MPI_ERR_FILE_EXISTS" "file that is there already" 25 28 28;
    FileInUse "MPI_ERR_FILE_IN_USE" "file in use" 26 29 29;
    Io "MPI_ERR_IO" "error of input or output" 32 35 35;
    NotSame "MPI_ERR_NOT_SAME" "arguments that differ between ranks" 35 40 40;
    NoSpace "MPI_ERR_NO_SPACE" "no space left" 36 41 41;
    NoSuchFile "MPI_ERR_NO_SUCH_FILE" "no such file" 37 42 42;
    Port "MPI_ERR_PORT" "invalid port" 38 43 43;
    Quota "MPI_ERR_QUOTA" "quota exceeded" 39 44 44;
    ReadOnly "MPI_ERR_READ_ONLY" "file or file system that is read-only" 40 45 45;
    Service "MPI_ERR_SERVICE" "invalid name of a service" 41 48 51;
    Spawn "MPI_ERR_SPAWN" "processes cannot be started" 42 50 53;
    UnsupportedDatarep "MPI_ERR_UNSUPPORTED_DATAREP" "data representation that is not supported" 43 51 54;
    Base "MPI_ERR_BASE" "invalid base of a window" 46 24 24;
    Locktype "MPI_ERR_LOCKTYPE" "invalid type of a lock" 47 37 37;
    RmaConflict "MPI_ERR_RMA_CONFLICT" "conflicting accesses to a window" 49 46 47;
    RmaSync "MPI_ERR_RMA_SYNC" "wrong synchronisation of a window" 50 47 50;
    Assert "MPI_ERR_ASSERT" "invalid assertion" 53 22 22;
    RmaRange "MPI_ERR_RMA_RANGE" "memory that is not of the window" 55 68 48;
    RmaAttach "MPI_ERR_RMA_ATTACH" "memory that cannot be attached" 56 69 46;
    RmaShared "MPI_ERR_RMA_SHARED" "memory that cannot be shared" 57 71 49;
    RmaFlavor "MPI_ERR_RMA_FLAVOR" "wrong flavor of a window" 58 70 57;
    Session "MPI_ERR_SESSION" "invalid session" 75 78 60;
    ToolsNotInitialized "MPI_T_ERR_NOT_INITIALIZED" "tools have not begun" 60 55 1003;
    ToolsInvalid "MPI_T_ERR_INVALID" "invalid argument of a tool" 74 72 1006;
    ToolsInvalidIndex "MPI_T_ERR_INVALID_INDEX" "invalid index" 62 57 1007;
    ToolsInvalidSession "MPI_T_ERR_INVALID_SESSION" "invalid session of a tool" 67 62 1009;
    ToolsInvalidHandle "MPI_T_ERR_INVALID_HANDLE" "invalid handle of a tool" 64 59 1010;
    ToolsInvalidName "MPI_T_ERR_INVALID_NAME" "name that nothing has" 73 73 1011;
    ToolsCvarSetNever "MPI_T_ERR_CVAR_SET_NEVER" "variable that cannot be set" 69 64 1015;
}

impl Class {
    /// Its name in MPI, and a text for people.
    pub fn text(self) -> (&'static str, &'static str) {
        let (_, name, text, ..) = CLASSES[self as usize];
        (name, text)
    }
}

impl From<UnknownCommunicator> for Class {
    fn from(_: UnknownCommunicator) -> Class {
        Class::Comm
    }
}

impl From<TooMany> for Class {
    fn from(_: TooMany) -> Class {
        Class::NoMem
    }
}

impl From<UnknownDatatype> for Class {
    fn from(_: UnknownDatatype) -> Class {
        Class::Type
    }
}

impl From<UnknownOp> for Class {
    fn from(_: UnknownOp) -> Class {
        Class::Op
    }
}

impl From<UnknownRequest> for Class {
    fn from(_: UnknownRequest) -> Class {
        Class::Request
    }
}

impl From<StartError> for Class {
    fn from(_: StartError) -> Class {
        Class::Request
    }
}

impl From<BuildError> for Class {
    fn from(_: BuildError) -> Class {
        Class::Arg
    }
}

impl From<CallError> for Class {
    fn from(error: CallError) -> Class {
        match error {
            CallError::NoRank | CallError::InOperation => Class::Other,
            CallError::Perform(error) => error.into(),
        }
    }
}

impl From<PerformError> for Class {
    fn from(error: PerformError) -> Class {
        match error {
            PerformError::Datatype(_) => Class::Type,
            PerformError::Op(_) | PerformError::Unfit(_) | PerformError::NoPairs => Class::Op,
            PerformError::NoFunction { .. } => Class::Op,
            PerformError::OutOfBounds(_) | PerformError::NoMemory { .. } => Class::Buffer,
            PerformError::NoScratch { .. } => Class::Intern,
            PerformError::NoWindow { .. } => Class::Win,
            PerformError::OutOfWindow { .. } | PerformError::NotAsMany { .. } => Class::RmaRange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CLASSES;

    #[test]
    fn each_number_is_used_once() {
        let columns = CLASSES.iter().map(|row| [row.3, row.4, row.5]).collect::<Vec<_>>();
        for column in 0..3 {
            let mut numbers: Vec<i32> = columns.iter().map(|row| row[column]).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), CLASSES.len());
        }
    }

    #[test]
    fn rows_stand_in_the_order_of_classes() {
        assert!((0..).zip(CLASSES).all(|(at, row)| row.0 as usize == at));
    }
}
