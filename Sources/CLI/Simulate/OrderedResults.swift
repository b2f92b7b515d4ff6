/// Puts results that come in any order into the order of their numbers.
struct OrderedResults<Element> {
    /// The number of the next element to give out.
    private(set) var next: UInt64
    private var waiting: [UInt64: Element] = [:]

    init(from first: UInt64) { next = first }

    /// The number of elements that wait for an earlier one.
    var count: Int { waiting.count }

    /// Inserts the element with a number.
    /// - Returns: the elements that are due now, in order; empty while an earlier one is missing.
    mutating func insert(_ element: Element, at number: UInt64) -> [Element] {
        waiting[number] = element
        var due: [Element] = []
        while let element = waiting.removeValue(forKey: next) {
            due.append(element)
            next &+= 1
        }
        return due
    }
}
