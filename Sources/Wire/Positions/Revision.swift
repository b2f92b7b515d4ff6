/// A place in a namespace's single order of writes: 1 … 2^53−1, so that it survives JSON numbers in every language.
/// ``zero`` stands before the first write.
public struct Revision: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number itself, 0 … 2^53−1.
    public let number: Int64

    /// Before any write; as `ifRevision` it means "only if there is no record".
    public static let zero = Revision(unchecked: 0)
    /// The last one there can be: 2^53−1.
    public static let maximum = Revision(unchecked: (1 << 53) - 1)

    /// `nil` unless `number` is within 0 … 2^53−1.
    public init?(_ number: Int64) {
        guard (0...Self.maximum.number).contains(number) else { return nil }
        self.number = number
    }

    private init(unchecked number: Int64) { self.number = number }

    /// The one after this; `nil` after ``maximum``.
    public var next: Revision? { Revision(number + 1) }

    /// The decimal number.
    public var description: String { String(number) }

    /// By number.
    public static func < (left: Revision, right: Revision) -> Bool { left.number < right.number }
}
