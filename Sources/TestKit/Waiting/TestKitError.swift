public import FreshetServer
public import FreshetWire

/// The errors of a kit itself. Devices throw `ClientError`.
public enum TestKitError: Error, Hashable, Sendable {
    /// The server could not start. The error says how to fix the problem.
    case serverFailed(RecordServerError)
    /// The kit was closed, or its server stopped. Make another kit.
    case closed
    /// A namespace, device, collection or id breaks the rules for names. Correct it as the text says.
    case invalidName(String)
    /// The kit has a device of this name. Give each a different name.
    case nameTaken(String)
    /// The device belongs to another kit. Use one that this kit has made.
    case unknownDevice(String)
    /// A fault has an invalid value. Correct it as the text says.
    case invalidFault(String)
    /// A value is not of the type asked for, or could not be encoded.
    case notCodable(String)
    /// The server refused a call of the backend. The problem says why.
    case refused(Problem)
    /// The server's store failed. The text says how.
    case storeFailed(String)
    /// Some devices still wait. Check which, and for what; clear the faults that block them, or allow more time.
    case notIdle(after: Duration, waits: [Wait], faults: [String])
    /// A fault has not matched as often as expected. Check that such a request is made at all.
    case faultNotMatched(after: Duration, fault: String, matches: Int)

    /// The reason why one device is not at rest.
    public struct Wait: Hashable, Sendable {
        /// The device's name.
        public var device: String
        /// The condition that the device waits for.
        public var reason: String
    }
}

extension TestKitError: CustomStringConvertible {
    /// The complete message, with how to fix the problem.
    public var description: String {
        switch self {
        case .serverFailed(let error): "the server could not start: \(error)"
        case .closed: "the kit was closed, or its server stopped: make a new one"
        case .invalidName(let text): text
        case .nameTaken(let name): "the kit has a device '\(name)' already: give each another name"
        case .unknownDevice(let name): "'\(name)' is no device of this kit: use one that this kit has made"
        case .invalidFault(let text): "no fault can be so: \(text)"
        case .notCodable(let text): text
        case .refused(let problem): "the server refused it: \(problem)"
        case .storeFailed(let text): "the server's store failed: \(text)"
        case .notIdle(let limit, let waits, let faults):
            """
            not everything has drained within \(limit):
            \(waits.map { "  \($0.device): \($0.reason)" }.joined(separator: "\n"))
            \(faults.isEmpty ? "No fault is armed: give it more time." : "Clear the faults that block it with clearFaults(). These are still armed:")
            \(faults.map { "  \($0)" }.joined(separator: "\n"))
            """
        case .faultNotMatched(let limit, let fault, let matches):
            "within \(limit) the fault '\(fault)' has matched only \(matches) requests: look whether such a request is made"
        }
    }
}
