internal import FreshetFaultProxy
internal import FreshetPlatform

extension TestKit {
    /// The effect of a fault on a request or its answer.
    public struct Fault: Hashable, Sendable {
        let effect: FaultEffect

        private init(_ effect: FaultEffect) { self.effect = effect }

        /// The request is lost: it has no effect, and the connection ends.
        public static let dropRequest = Fault(.dropRequest)
        /// The acknowledgement is lost: the request takes effect, and the connection ends without an answer.
        public static let dropReply = Fault(.dropReply)
        /// The request takes effect, and the connection ends after half of the answer's body.
        public static let cut = Fault(.cutReply)
        /// The request arrives twice, and is answered once.
        public static let duplicate = Fault(.duplicate)
        /// The request arrives later by this duration, up to a minute, or when the faults are cleared.
        public static func delayRequest(_ duration: Duration) -> Fault {
            Fault(.delayRequest(milliseconds: Int(clamping: duration.clampedMilliseconds)))
        }
        /// The request takes effect, and its answer comes later by this duration, up to a minute.
        public static func delayReply(_ duration: Duration) -> Fault {
            Fault(.delayReply(milliseconds: Int(clamping: duration.clampedMilliseconds)))
        }
        /// The request has no effect and is answered with this status, 400 to 599, such as 503. `retryAfter` is whole seconds.
        public static func answer(_ status: Int, retryAfter: Int = 0) -> Fault { Fault(.answer(status: status, retryAfter: retryAfter)) }
        /// The request has no effect and is never answered; its connection stays open until the faults are cleared, and then ends.
        public static let freeze = Fault(.freeze)
    }

    /// The kinds of requests that a fault can match.
    public struct Requests: Hashable, Sendable {
        let target: FaultTarget

        private init(_ target: FaultTarget) { self.target = target }

        /// All of the others.
        public static let any = Requests(.any)
        /// Polls for changes.
        public static let changes = Requests(.changes)
        /// The numbered writes of devices.
        public static let writes = Requests(.writes)
        /// Reads of many records at once: a device verifies its records with them after a reset.
        public static let reads = Requests(.reads)
        /// Reads of one record: a device fetches a record with one that it does not have.
        public static let records = Requests(.records)
        /// Reads of a client's progress: after a reset a device asks which of its writes the server has.
        public static let clients = Requests(.clients)
        /// Invalidations.
        public static let invalidations = Requests(.invalidations)
    }

    /// How often a fault applies: a number, or all requests until the faults are cleared.
    public enum Times: Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// This many requests, at least 1.
        case count(Int)
        /// All requests until ``TestKit/clearFaults()``.
        case untilCleared

        /// This many requests.
        public init(integerLiteral value: Int) { self = .count(value) }
    }

    /// A fault that was armed.
    public struct ActiveFault: Hashable, Sendable {
        let identifier: Int
        let description: String
    }
}
