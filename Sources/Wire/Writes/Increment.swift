/// The amount of an increment, its place, and its conditions.
public struct Increment: Hashable, Sendable {
    /// The behaviour of an increment if there is no record.
    public enum OnMissing: Hashable, Sendable {
        /// It is rejected with `not-found`.
        case reject
        /// The record begins from this JSON, to which the amount is then added; `nil`: from 0 at the path.
        case create(from: [UInt8]?)
    }

    /// The path of the number; a missing member begins from 0.
    public var path: JSONPointer
    /// The amount to add.
    public var amount: JSONNumber
    /// The behaviour if there is no record.
    public var onMissing: OnMissing
    /// The least that the sum may be; `nil`: anything.
    public var minimum: JSONNumber?
    /// The most that the sum may be; `nil`: anything.
    public var maximum: JSONNumber?

    /// An increment; by default without bounds, and from 0 if there is no record.
    public init(
        path: JSONPointer, by amount: JSONNumber, onMissing: OnMissing = .create(from: nil), minimum: JSONNumber? = nil,
        maximum: JSONNumber? = nil
    ) {
        self.path = path
        self.amount = amount
        self.onMissing = onMissing
        self.minimum = minimum
        self.maximum = maximum
    }

    /// About how many bytes the increment takes.
    package var byteCount: Int {
        guard case .create(let initial?) = onMissing else { return path.description.utf8.count }
        return path.description.utf8.count + initial.count
    }

    /// Whether no number satisfies both bounds.
    package var hasCrossedBounds: Bool {
        guard let minimum, let maximum else { return false }
        return maximum < minimum
    }

    /// Applies the increment to a record's JSON; `nil` stands for no record. Servers and overlays share this rule.
    package func applied(to document: JSONDocument?) throws(IncrementFailure) -> JSONDocument {
        if let document { return try document.incrementing(self) }
        switch onMissing {
        case .reject: throw .missing
        case .create(nil): return try JSONDocument.incrementingNothing(self)
        case .create(let initial?):
            let document: JSONDocument
            do throws(WireError) { document = try JSONDocument(initial) } catch { throw .unfit(error.description) }
            return try document.incrementing(self)
        }
    }

    /// The sum, if it may be stored.
    func checked(_ sum: JSONNumber?) throws(IncrementFailure) -> JSONNumber {
        let place = "'\(path.description.shortened)'"
        guard let sum else {
            throw .outOfBounds(
                "the sum at \(place) is beyond the range of numbers: whole numbers go from -2^63 to 2^63-1. Put a smaller value first")
        }
        if let minimum, sum < minimum {
            throw .outOfBounds("the sum at \(place) would be \(sum), and 'min' is \(minimum). Add more, or lower 'min'")
        }
        if let maximum, maximum < sum {
            throw .outOfBounds("the sum at \(place) would be \(sum), and 'max' is \(maximum). Add less, or raise 'max'")
        }
        return sum
    }
}

/// Why an increment cannot be applied.
package enum IncrementFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no record, and the increment demands one.
    case missing
    /// The sum is outside the increment's bounds or beyond the range of numbers.
    case outOfBounds(String)
    /// The value at the path takes no increment.
    case unfit(String)

    /// The kind of problem that a server answers with.
    package var code: ProblemCode {
        switch self {
        case .missing: .notFound
        case .outOfBounds: .outOfBounds
        case .unfit: .invalidRequest
        }
    }

    /// The error, and how to correct it.
    package var description: String {
        switch self {
        case .missing:
            "there is no record, and the increment demands one ('onMissing' is 'reject'). Put the record, or send 'create' with the "
                + "'value' to begin from"
        case .outOfBounds(let text), .unfit(let text): text
        }
    }
}
