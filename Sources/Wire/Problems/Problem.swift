/// An error as the wire carries it: `application/problem+json` (RFC 9457).
public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The media type of a problem.
    package static let contentType = "application/problem+json"
    static let typePrefix = "urn:freshet:problem:"

    /// The kind of problem.
    public var code: ProblemCode
    /// The HTTP status; the code's own unless framing demands another.
    public var status: Int
    /// The error, its place, and how to correct it.
    public var detail: String
    /// The record as it is now, if a precondition failed and there is one.
    public var current: Record?
    /// The number that the server expects next, if a write's number skipped one.
    public var expected: Int64?
    /// The right that the request lacks.
    public var needs: Need?
    /// How the reader of another history can continue, if the new one begins with what that history had.
    public var continuation: Continuation?

    /// The position at which a reader continues in a new history that shares its beginning with the reader's.
    public struct Continuation: Hashable, Sendable {
        /// The last revision that both histories have. What the reader knows up to it holds in the new history too; what it knows
        /// beyond was lost.
        public var fork: Revision
        /// The reader's position in the new history, at most at ``fork``.
        public var cursor: Cursor

        /// A continuation.
        public init(fork: Revision, cursor: Cursor) {
            self.fork = fork
            self.cursor = cursor
        }
    }

    /// An operation, and the records of which it is to be allowed.
    public struct Need: Hashable, Sendable {
        /// The verb of a grant, for example `write`.
        public var may: String
        /// A namespace and a range of it, as a grant states them: `shop:carts/u7/*`.
        public var of: String

        /// A right.
        public init(may: String, of: String) {
            self.may = may
            self.of = of
        }
    }

    /// A problem; `status` is the code's own unless given.
    public init(_ code: ProblemCode, _ detail: String, status: Int? = nil, current: Record? = nil, expected: Int64? = nil) {
        self.code = code
        self.status = status ?? code.status
        self.detail = detail
        self.current = current
        self.expected = expected
    }

    /// Converts a ``WireError`` to the problem for the wire.
    package init(_ error: WireError) {
        switch error {
        case .invalidJSON, .unexpectedJSON: self.init(.invalidJSON, error.description)
        case .invalidNamespace, .invalidKey, .invalidClient: self.init(.invalidKey, error.description)
        case .tooMany: self.init(.tooLarge, error.description)
        case .invalidCursor: self.init(.invalidCursor, error.description)
        }
    }

    /// `code: detail`
    public var description: String { "\(code.text): \(detail)" }
}
