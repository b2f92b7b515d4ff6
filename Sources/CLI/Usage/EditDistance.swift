/// The distance between two words.
enum EditDistance {
    /// The least number of characters to insert, delete, replace or swap with their neighbour: the optimal string alignment distance.
    /// O(n · m) in the lengths.
    static func between(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        // The rows of the table for two characters fewer, one fewer, and all characters so far.
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            current.reserveCapacity(right.count + 1)
            for column in 1...right.count {
                let isSame = left[row - 1] == right[column - 1]
                var least = min(last[column - 1] + (isSame ? 0 : 1), last[column] + 1, current[column - 1] + 1)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    least = min(least, beforeLast[column - 2] + 1)
                }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
