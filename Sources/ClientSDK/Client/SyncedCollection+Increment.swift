internal import FreshetWire

extension SyncedCollection {
    /// Adds to a number in the record. Simultaneous increments of several devices all count. A missing member begins from 0.
    ///
    /// ```swift
    /// try await pages.increment("/visits", of: "home")
    /// try await products.increment("/stock", by: -1, of: "apple", min: 0)
    /// ```
    /// The bounds apply to the sum, on this device to the shown value and on the server to its value. A sum that only
    /// the server finds out of bounds is rejected with `out-of-bounds`, as is one past `Int64` for a whole number.
    ///
    /// - Parameters:
    ///   - path: a JSON pointer (RFC 6901) to the number; empty for the whole value.
    ///   - onMissing: the write's effect if the server has no record when it arrives.
    ///   - min: the minimum of the sum.
    ///   - max: the maximum of the sum.
    /// - Returns: the pending write, whose outcome can be awaited.
    /// - Throws: ``ClientError/cannotApply(_:)`` if the shown value cannot take the increment: nothing was written
    ///   then. ``ClientError/invalidConfiguration(_:)`` if `min` is above `max`, ``ClientError/notEncodable(_:)`` and
    ///   ``ClientError/invalidName(_:)``; failures as of ``setValue(_:forKey:onConflict:)``.
    @discardableResult
    public func increment(
        _ path: String, by amount: Int = 1, of id: String, onMissing: OnMissing<Value> = .rejectIfKnown, min: Int? = nil,
        max: Int? = nil
    ) async throws -> PendingWrite {
        func number(_ value: Int) -> JSONNumber { .integer(Int64(value)) }
        return try await increment(path, by: number(amount), of: id, onMissing, min.map(number), max.map(number))
    }

    /// As ``increment(_:by:of:onMissing:min:max:)-(_,Int,_,_,_,_)``, by a fraction; all numbers must be finite.
    @discardableResult
    public func increment(
        _ path: String, by amount: Double, of id: String, onMissing: OnMissing<Value> = .rejectIfKnown, min: Double? = nil,
        max: Double? = nil
    ) async throws -> PendingWrite {
        func number(_ value: Double) throws -> JSONNumber {
            guard value.isFinite else { throw ClientError.notEncodable("\(value) is no JSON number: an increment takes finite ones") }
            return .real(value)
        }
        return try await increment(path, by: number(amount), of: id, onMissing, min.map(number), max.map(number))
    }

    private func increment(
        _ path: String, by amount: JSONNumber, of id: String, _ onMissing: OnMissing<Value>, _ minimum: JSONNumber?,
        _ maximum: JSONNumber?
    ) async throws -> PendingWrite {
        let pointer: JSONPointer
        do {
            pointer = try JSONPointer(path)
        } catch {
            throw ClientError.invalidName("\(error)")
        }
        let increment = Increment(
            path: pointer, by: amount, onMissing: try rule(onMissing), minimum: minimum, maximum: maximum)
        guard !increment.hasCrossedBounds else {
            throw ClientError.invalidConfiguration("an increment's 'min' is above its 'max': no sum would do")
        }
        let rejectsIfGone = if case .rejectIfKnown = onMissing { true } else { false }
        return try await write(id, .increment(increment), .lastWriterWins, rejectsIfGone: rejectsIfGone)
    }

    private func rule(_ onMissing: OnMissing<Value>) throws -> Increment.OnMissing {
        switch onMissing {
        case .rejectIfKnown, .createFromZero: return .create(from: nil)
        case .reject: return .reject
        case .create(let value):
            let content = try codec.content(of: value)
            guard content.isJSON else {
                throw ClientError.notEncodable("an increment begins from JSON, and the collection's codec makes \(content.type)")
            }
            return .create(from: content.bytes)
        }
    }
}

/// The effect of an increment if the server has no record when it arrives.
public enum OnMissing<Value: Sendable>: Sendable {
    /// The increment is rejected if this device showed a record at the call, since that record has been removed.
    /// Otherwise the record begins from 0, with only the number. The default.
    case rejectIfKnown
    /// The increment is rejected with `not-found`. If the device knows that there is no record, the call throws.
    case reject
    /// The record begins from 0, with only the number; use it for records that consist of this number.
    case createFromZero
    /// The record begins from this value, to which the amount is added.
    case create(Value)
}

extension OnMissing: Equatable where Value: Equatable {}
