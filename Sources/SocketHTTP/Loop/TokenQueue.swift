/// The tokens of connections that wait, first in, first out. Each operation is O(1), amortised.
struct TokenQueue {
    private var tokens: [UInt64] = []
    /// The tokens before this index have been removed.
    private var first = 0

    var isEmpty: Bool { first == tokens.count }
    var count: Int { tokens.count - first }

    mutating func append(_ token: UInt64) { tokens.append(token) }

    /// Removes and returns the first token; `nil` if there is none.
    mutating func removeFirst() -> UInt64? {
        guard first < tokens.count else { return nil }
        let token = tokens[first]
        first += 1
        if first == tokens.count || (first >= 1_024 && 2 * first >= tokens.count) {
            tokens.removeFirst(first)
            first = 0
        }
        return token
    }
}
