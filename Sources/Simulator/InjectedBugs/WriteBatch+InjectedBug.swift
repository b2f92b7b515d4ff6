import FreshetWire

extension WriteBatch {
    /// Increments lose their bounds, and begin from 0 where they demanded a record.
    mutating func removeConditions() {
        for place in writes.indices {
            guard case .increment(var increment) = writes[place].operation else { continue }
            (increment.minimum, increment.maximum) = (nil, nil)
            if increment.onMissing == .reject { increment.onMissing = .create(from: nil) }
            writes[place].operation = .increment(increment)
        }
    }

    /// Removes the nonces, without which a write cannot be distinguished from another one of the same number.
    mutating func removeNonces() {
        for place in writes.indices { writes[place].nonce = nil }
    }
}
