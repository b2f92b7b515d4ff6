import FoundationEssentials
import Glibc

/// The system's description of an error that Foundation met at a file, as ``systemReason()`` gives that of the latest error.
func systemReason(of error: any Error) -> String {
    let cause = (error as? CocoaError)?.underlying as? POSIXError
    return cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
}
